"""Files in and out for vision: the boundary at which NumPy arrays become tensors."""
from .bundled import read_bundled

__all__ = ["read_bundled"]
