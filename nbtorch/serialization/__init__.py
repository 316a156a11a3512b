"""`torch.serialization`: checkpoints that PyTorch reads, and PyTorch's checkpoints read here without trust."""
from . import hooks
from .reader import get_unsafe_globals_in_checkpoint, load
from .unpickler import add_safe_globals, clear_safe_globals, get_safe_globals, safe_globals
from .writer import save

hooks.install()

__all__ = ["save", "load", "add_safe_globals", "clear_safe_globals", "get_safe_globals", "safe_globals",
           "get_unsafe_globals_in_checkpoint"]
