"""From a list of samples to a batch."""

import collections.abc
import copy
import re

import numpy as np

from .... import ops
from ....core.dtype import float64
from ....core.interop import as_tensor
from ....core.interop import tensor as make_tensor
from ....core.tensor import Tensor

_TEXT_OR_OBJECT = re.compile(r"[SaUO]")
_BAD_TYPE = "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"


def default_convert(data):
    """NumPy arrays become tensors, in dicts, lists and tuples too; everything else stays as it is."""
    if isinstance(data, Tensor):
        return data
    if isinstance(data, (np.ndarray, np.generic)):
        return data if _TEXT_OR_OBJECT.search(data.dtype.str) else as_tensor(data)
    if isinstance(data, collections.abc.Mapping):
        return _like_mapping(data, {key: default_convert(data[key]) for key in data})
    if isinstance(data, tuple):
        parts = [default_convert(value) for value in data]
        return type(data)(*parts) if hasattr(data, "_fields") else parts  # a plain tuple becomes a list, as in PyTorch
    if isinstance(data, collections.abc.Sequence) and not isinstance(data, (str, bytes)):
        return _like_sequence(data, [default_convert(value) for value in data])
    return data


def _like_mapping(original, values):
    """`values` in a mapping of the type of `original`, or in a dict where that cannot be made."""
    try:
        if isinstance(original, collections.abc.MutableMapping):
            clone = copy.copy(original)  # keeps what else the object holds
            clone.update(values)
            return clone
        return type(original)(values)
    except TypeError:
        return values


def _like_sequence(original, values):
    """`values` in a sequence of the type of `original`, or in a list where that cannot be made."""
    try:
        if isinstance(original, collections.abc.MutableSequence):
            clone = copy.copy(original)
            for at, value in enumerate(values):
                clone[at] = value
            return clone
        return type(original)(values)
    except TypeError:
        return values


def collate_tensor_fn(batch, *, collate_fn_map=None):
    """Stacks tensors."""
    return ops.stack(batch, 0)


def collate_numpy_array_fn(batch, *, collate_fn_map=None):
    """Stacks NumPy arrays into a tensor. Raises TypeError for arrays of text or objects."""
    if _TEXT_OR_OBJECT.search(batch[0].dtype.str):
        raise TypeError(_BAD_TYPE.format(batch[0].dtype))
    return collate([as_tensor(array) for array in batch], collate_fn_map=collate_fn_map)


def collate_numpy_scalar_fn(batch, *, collate_fn_map=None):
    """A tensor of NumPy scalars."""
    return as_tensor(np.asarray(batch))


def collate_float_fn(batch, *, collate_fn_map=None):
    """A float64 tensor of Python floats."""
    return make_tensor(batch, dtype=float64)


def collate_int_fn(batch, *, collate_fn_map=None):
    """An int64 (or bool) tensor of Python numbers."""
    return make_tensor(batch)


def collate_str_fn(batch, *, collate_fn_map=None):
    """Texts stay a list."""
    return batch


default_collate_fn_map = {
    Tensor: collate_tensor_fn,
    np.ndarray: collate_numpy_array_fn,
    (np.bool_, np.number, np.object_): collate_numpy_scalar_fn,
    float: collate_float_fn,
    int: collate_int_fn,
    str: collate_str_fn,
    bytes: collate_str_fn,
}


def collate(batch, *, collate_fn_map=None):
    """Collates by the type of the first sample, using the functions in `collate_fn_map`; looks into containers.

    Raises TypeError for types nobody knows, RuntimeError for sequences of different lengths.
    """
    first = batch[0]
    kind = type(first)
    if collate_fn_map is not None:
        if kind in collate_fn_map:
            return collate_fn_map[kind](batch, collate_fn_map=collate_fn_map)
        for known, function in collate_fn_map.items():
            if isinstance(first, known):
                return function(batch, collate_fn_map=collate_fn_map)
    if isinstance(first, collections.abc.Mapping):
        values = {key: collate([sample[key] for sample in batch], collate_fn_map=collate_fn_map) for key in first}
        return _like_mapping(first, values)
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return kind(*(collate(column, collate_fn_map=collate_fn_map) for column in zip(*batch)))
    if isinstance(first, collections.abc.Sequence):
        size = len(first)
        if not all(len(sample) == size for sample in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        columns = [collate(column, collate_fn_map=collate_fn_map) for column in zip(*batch)]
        return columns if isinstance(first, tuple) else _like_sequence(first, columns)
    raise TypeError(_BAD_TYPE.format(kind))


def default_collate(batch):
    """Stacks tensors, arrays and numbers along a new first dimension; dicts, lists and tuples part by part."""
    return collate(batch, collate_fn_map=default_collate_fn_map)
