"""ParameterList and ParameterDict: containers whose parameters are registered."""

import operator
from collections import OrderedDict
from collections.abc import Iterable, Mapping

from ...core.tensor import Tensor
from ..parameter import Parameter
from .module import Module, typename


def position(count, index):
    """`index` as a non-negative int. Raises IndexError outside ``-count <= index < count``."""
    index = operator.index(index)
    if not -count <= index < count:
        raise IndexError(f"index {index} is out of range")
    return index % count


def pairs_of(kind, value, method):
    """(key, value) pairs of a mapping or of an iterable of pairs, with PyTorch's complaints."""
    if not isinstance(value, Iterable):
        raise TypeError(
            f"{method} should be called with an iterable of key/value pairs, but got {type(value).__name__}"
        )
    if isinstance(value, Mapping) or hasattr(value, "items"):
        yield from list(value.items())
        return
    for at, pair in enumerate(value):
        if not isinstance(pair, Iterable):
            raise TypeError(f"{kind} update sequence element #{at} should be Iterable; is{type(pair).__name__}")
        pair = list(pair)
        if len(pair) != 2:
            raise ValueError(f"{kind} update sequence element #{at} has length {len(pair)}; 2 is required")
        yield pair[0], pair[1]


def _as_held(value):
    """Plain tensors become parameters; everything else is kept as it is."""
    return Parameter(value) if isinstance(value, Tensor) and not isinstance(value, Parameter) else value


def _described(key, value, legacy):
    if not isinstance(value, Tensor):
        return f"  ({key}): Object of type: {type(value).__name__}"
    size = "x".join(str(n) for n in value.size())
    kind = "Parameter" if isinstance(value, Parameter) else "Tensor"
    place = "" if value.device.type == "cpu" else f" ({value.device})"
    return f"  ({key}): {kind} containing: [{typename(value) if legacy else value.dtype} of size {size}{place}]"


class ParameterList(Module):
    """A list whose parameters are registered; plain tensors become parameters, other values are just kept.

    https://docs.pytorch.org/docs/stable/generated/torch.nn.ParameterList.html
    """

    def __init__(self, values=None):
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return type(self)([self[at] for at in range(len(self))[index]])
        return getattr(self, str(position(len(self), index)))

    def __setitem__(self, index, param):
        setattr(self, str(position(len(self), index)), _as_held(param))

    def __len__(self):
        return self._size

    def __iter__(self):
        return iter(self[at] for at in range(len(self)))

    def __iadd__(self, values):
        return self.extend(values)

    def __dir__(self):
        return [key for key in super().__dir__() if not key.isdigit()]

    def append(self, value):
        """Adds a value at the end; returns self."""
        self._size += 1
        self[self._size - 1] = value
        return self

    def extend(self, values):
        """Adds several values at the end; returns self. Raises TypeError for no iterable."""
        if not isinstance(values, Iterable) or isinstance(values, Tensor):
            raise TypeError(
                f"ParameterList.extend should be called with an iterable, but got {type(values).__name__}"
            )
        for value in list(values):
            self.append(value)
        return self

    def extra_repr(self):
        return "\n".join(_described(at, value, legacy=False) for at, value in enumerate(self))

    def __call__(self, *args, **kwargs):
        raise RuntimeError("ParameterList should not be called.")


class ParameterDict(Module):
    """A dict whose parameters are registered; plain tensors become parameters, other values are just kept.

    https://docs.pytorch.org/docs/stable/generated/torch.nn.ParameterDict.html
    """

    def __init__(self, parameters=None):
        super().__init__()
        self._keys = {}
        if parameters is not None:
            self.update(parameters)

    def _attribute(self, key):
        if not isinstance(key, str):
            raise TypeError(
                "Index given to ParameterDict cannot be used as a key as it is "
                f"not a string (type is '{type(key).__name__}'). Open an issue on "
                "github if you need non-string keys."
            )
        return key

    def __getitem__(self, key):
        return getattr(self, self._attribute(key))

    def __setitem__(self, key, value):
        self._keys[key] = None
        setattr(self, self._attribute(key), _as_held(value))

    def __delitem__(self, key):
        del self._keys[key]
        delattr(self, self._attribute(key))

    def __len__(self):
        return len(self._keys)

    def __iter__(self):
        return iter(self._keys)

    def __reversed__(self):
        return reversed(list(self._keys))

    def __contains__(self, key):
        return key in self._keys

    def copy(self):
        """A new ParameterDict holding the same parameters."""
        return ParameterDict(OrderedDict((key, self[key]) for key in self._keys))

    def setdefault(self, key, default=None):
        """The value at `key`; `default` is put there first where it is missing."""
        if key not in self:
            self[key] = default
        return self[key]

    def clear(self):
        """Removes everything."""
        for key in list(self._keys):
            del self[key]

    def pop(self, key):
        """Takes the value at `key` out and returns it."""
        value = self[key]
        del self[key]
        return value

    def popitem(self):
        """Takes the last (key, value) pair out and returns it."""
        key = next(reversed(self))
        return key, self.pop(key)

    def get(self, key, default=None):
        """The value at `key`, or `default`."""
        return self[key] if key in self else default

    def fromkeys(self, keys, default=None):
        """A new ParameterDict with these keys, each holding `default`."""
        return ParameterDict((key, default) for key in keys)

    def keys(self):
        """The keys, in order of insertion."""
        return self._keys.keys()

    def items(self):
        """(key, value) pairs."""
        return ((key, self[key]) for key in self._keys)

    def values(self):
        """The values."""
        return (self[key] for key in self._keys)

    def update(self, parameters):
        """Adds or replaces values from a mapping or an iterable of pairs."""
        if isinstance(parameters, Mapping) and not isinstance(parameters, OrderedDict):
            parameters = sorted(parameters.items())  # PyTorch's order for mappings it takes to have none
        for key, value in pairs_of("ParameterDict", parameters, "ParametersDict.update"):
            self[key] = value

    def extra_repr(self):
        return "\n".join(_described(key, value, legacy=True) for key, value in self.items())

    def __call__(self, *args, **kwargs):
        raise RuntimeError("ParameterDict should not be called.")

    def __or__(self, other):
        merged = self.copy()
        merged.update(other)
        return merged

    def __ror__(self, other):
        merged = ParameterDict(other)
        merged.update(self)
        return merged

    def __ior__(self, other):
        self.update(other)
        return self
