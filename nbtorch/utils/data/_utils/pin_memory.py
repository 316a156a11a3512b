"""Batches in page-locked memory, from which copies to a GPU can run beside other work."""

import collections.abc

from ....core.tensor import Tensor
from .collate import _like_mapping, _like_sequence


def pin_memory(data, device=None):
    """`data` with every tensor in it pinned; objects with a ``pin_memory`` method pin themselves."""
    if isinstance(data, Tensor) or hasattr(data, "pin_memory"):
        return data.pin_memory()
    if isinstance(data, (str, bytes)):
        return data
    if isinstance(data, collections.abc.Mapping):
        return _like_mapping(data, {key: pin_memory(value, device) for key, value in data.items()})
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*(pin_memory(value, device) for value in data))
    if isinstance(data, tuple):
        return [pin_memory(value, device) for value in data]
    if isinstance(data, collections.abc.Sequence):
        return _like_sequence(data, [pin_memory(value, device) for value in data])
    return data
