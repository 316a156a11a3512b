"""Modules that hold other modules or parameters: Sequential, ModuleList, ModuleDict, ParameterList, ParameterDict."""

from collections import OrderedDict
from collections.abc import Iterable
from itertools import islice

from ._parameter_containers import ParameterDict, ParameterList, pairs_of, position
from .module import Module

__all__ = ["Container", "Sequential", "ModuleList", "ModuleDict", "ParameterList", "ParameterDict"]


class Container(Module):
    """The container of PyTorch 0.1; kept by name. Children are given as keyword arguments."""

    def __init__(self, **kwargs):
        super().__init__()
        for name, module in kwargs.items():
            self.add_module(name, module)


class Sequential(Module):
    """Runs its children in order, each on the output of the one before. Takes modules or one OrderedDict.

    https://docs.pytorch.org/docs/stable/generated/torch.nn.Sequential.html
    """

    def __init__(self, *args):
        super().__init__()
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            named = args[0].items()
        else:
            named = ((str(at), module) for at, module in enumerate(args))
        for name, module in named:
            self.add_module(name, module)

    def _key(self, index):
        return next(islice(self._modules, position(len(self), index), None))

    def _renumber(self, modules):
        self._modules = {str(at): module for at, module in enumerate(modules)}

    def __getitem__(self, index):
        if isinstance(index, slice):
            return type(self)(OrderedDict(list(self._modules.items())[index]))
        return self._modules[self._key(index)]

    def __setitem__(self, index, module):
        setattr(self, self._key(index), module)

    def __delitem__(self, index):
        keys = list(self._modules)[index] if isinstance(index, slice) else [self._key(index)]
        for key in keys:
            delattr(self, key)
        self._renumber(list(self._modules.values()))

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules.values())

    def __add__(self, other):
        if not isinstance(other, Sequential):
            raise ValueError(f"add operator supports only objects of Sequential class, but {type(other)} is given.")
        return Sequential(*self, *other)

    def __iadd__(self, other):
        if not isinstance(other, Sequential):
            raise ValueError(f"add operator supports only objects of Sequential class, but {type(other)} is given.")
        return self.extend(list(other))

    def _check_factor(self, times):
        if not isinstance(times, int):
            raise TypeError(f"unsupported operand type(s) for *: {type(self)} and {type(times)}")
        if times <= 0:
            raise ValueError(f"Non-positive multiplication factor {times} for {type(self)}")

    def __mul__(self, times):
        self._check_factor(times)
        return Sequential(*(list(self) * times))

    __rmul__ = __mul__

    def __imul__(self, times):
        self._check_factor(times)
        return self.extend(list(self) * (times - 1))

    def __dir__(self):
        return [key for key in super().__dir__() if not key.isdigit()]

    def forward(self, input):
        """`input` through every child."""
        for module in self._modules.values():
            input = module(input)
        return input

    def append(self, module):
        """Adds a child at the end; returns self."""
        self.add_module(str(len(self)), module)
        return self

    def insert(self, index, module):
        """Adds a child before position `index`; returns self. Raises IndexError, or AssertionError for no module."""
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        if not -len(self) <= index <= len(self):
            raise IndexError(f"Index out of range: {index}")
        modules = list(self)
        modules.insert(index if index >= 0 else index + len(self), module)
        self._renumber(modules)
        return self

    def extend(self, sequential):
        """Adds several children at the end; returns self."""
        for module in sequential:
            self.append(module)
        return self

    def pop(self, key):
        """Takes the child at `key` out and returns it."""
        module = self[key]
        del self[key]
        return module


class ModuleList(Module):
    """A list whose modules are registered.

    https://docs.pytorch.org/docs/stable/generated/torch.nn.ModuleList.html
    """

    def __init__(self, modules=None):
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def _key(self, index):
        return str(position(len(self), index))

    def __getitem__(self, index):
        if isinstance(index, slice):
            return type(self)(list(self._modules.values())[index])
        return self._modules[self._key(index)]

    def __setitem__(self, index, module):
        setattr(self, self._key(index), module)

    def __delitem__(self, index):
        keys = [str(at) for at in range(len(self))[index]] if isinstance(index, slice) else [self._key(index)]
        for key in keys:
            delattr(self, key)
        self._modules = {str(at): module for at, module in enumerate(self._modules.values())}

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules.values())

    def __iadd__(self, modules):
        return self.extend(modules)

    def __add__(self, other):
        combined = ModuleList()
        for at, module in enumerate([*self, *other]):
            combined.add_module(str(at), module)
        return combined

    def __dir__(self):
        return [key for key in super().__dir__() if not key.isdigit()]

    def __repr__(self):
        """Runs of equal modules are printed once, with their count."""
        runs = []  # [first, last, text]
        for at, module in enumerate(self):
            text = repr(module)
            if runs and runs[-1][2] == text:
                runs[-1][1] = at
            else:
                runs.append([at, at, text])
        if not runs:
            return self._get_name() + "()"
        lines = [
            f"({first}): {text}" if first == last else f"({first}-{last}): {last - first + 1} x {text}"
            for first, last, text in runs
        ]
        body = "\n  ".join(line.replace("\n", "\n  ") for line in lines)
        return f"{self._get_name()}(\n  {body}\n)"

    def insert(self, index, module):
        """Adds a module before position `index`."""
        modules = list(self)
        modules.insert(index, module)
        self._modules = {str(at): m for at, m in enumerate(modules)}

    def append(self, module):
        """Adds a module at the end; returns self."""
        self.add_module(str(len(self)), module)
        return self

    def pop(self, key):
        """Takes the module at `key` out and returns it."""
        module = self[key]
        del self[key]
        return module

    def extend(self, modules):
        """Adds several modules at the end; returns self. Raises TypeError for no iterable."""
        if not isinstance(modules, Iterable):
            raise TypeError(
                f"ModuleList.extend should be called with an iterable, but got {type(modules).__name__}"
            )
        for module in list(modules):
            self.append(module)
        return self


class ModuleDict(Module):
    """A dict whose modules are registered; keeps insertion order.

    https://docs.pytorch.org/docs/stable/generated/torch.nn.ModuleDict.html
    """

    def __init__(self, modules=None):
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key):
        return self._modules[key]

    def __setitem__(self, key, module):
        self.add_module(key, module)

    def __delitem__(self, key):
        del self._modules[key]

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules)

    def __contains__(self, key):
        return key in self._modules

    def clear(self):
        """Removes everything."""
        self._modules.clear()

    def pop(self, key):
        """Takes the module at `key` out and returns it."""
        module = self[key]
        del self[key]
        return module

    def keys(self):
        """The names."""
        return self._modules.keys()

    def items(self):
        """(name, module) pairs."""
        return self._modules.items()

    def values(self):
        """The modules."""
        return self._modules.values()

    def update(self, modules):
        """Adds or replaces modules from a mapping or an iterable of pairs."""
        for name, module in pairs_of("ModuleDict", modules, "ModuleDict.update"):
            self[name] = module
