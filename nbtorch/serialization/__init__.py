"""`torch.serialization`: checkpoints that PyTorch reads, and PyTorch's checkpoints read here without trust."""
from .reader import get_unsafe_globals_in_checkpoint, load
from .unpickler import add_safe_globals, clear_safe_globals, get_safe_globals, safe_globals
from .writer import save

__all__ = [
           "add_safe_globals",
           "clear_safe_globals",
           "get_safe_globals",
           "get_unsafe_globals_in_checkpoint",
           "load",
           "safe_globals",
           "save",
]
