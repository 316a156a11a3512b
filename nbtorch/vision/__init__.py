"""torchvision parts: datasets (more follows)."""
from . import datasets, io

__all__ = ["datasets", "io"]
