"""Handles of hooks, under PyTorch's name for them."""

from ..nn.modules._hooks import BackwardHook, RemovableHandle

__all__ = ["BackwardHook", "RemovableHandle"]
