"""Kernels by name: which providers have one, in which order they are asked, and how often each answered.

A provider is `numpy` (generic code that takes the array module), `numba`, `onednn`, or `cupy`. A kernel that
returns NotImplemented declines the call and the next provider is asked.
"""
import ast
import functools
import importlib
import inspect
import os
import pathlib
import pkgutil
import threading

_GENERIC = {}                                     # name -> function(xp, ...)
_lock = threading.RLock()
_chains = {}                                      # (name, device) -> tuple of Kernel
PROVIDERS = {"onednn": "nbtorch.backend.onednn", "numba": "nbtorch.backend.numba_kernels"}   # asked in this order


class Kernel:
    """One provider's function for one kernel name, with its call count."""

    __slots__ = ("name", "provider", "function", "calls", "takes_out")

    def __init__(self, name, provider, function, takes_out=False):
        self.name, self.provider, self.function, self.takes_out = name, provider, function, takes_out
        self.calls = 0

    def __repr__(self):
        return f"<{self.provider} kernel {self.name}, {self.calls} calls>"


def kernel(name):
    """Register generic array code: `function(xp, *arrays, *attributes)` with xp = numpy or cupy."""
    def register(function):
        if name in _GENERIC:
            raise ValueError(f"kernel {name!r} is registered twice")
        _GENERIC[name] = function
        return function
    return register


@functools.lru_cache(None)
def _load_generic():
    from . import kernels
    for module in pkgutil.iter_modules(kernels.__path__):
        importlib.import_module(f"{kernels.__name__}.{module.name}")


def kernel_index(paths):
    """{function name: module} of the public functions in a provider's modules, read without importing them, so that a
    new kernel is one function in one file."""
    found = {}
    for folder in paths:
        for path in sorted(pathlib.Path(folder).glob("*.py")):
            if not path.name.startswith("_"):
                tree = ast.parse(path.read_text(encoding="utf-8"))
                found.update({node.name: path.stem for node in tree.body
                              if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")})
    return found


@functools.lru_cache(None)
def provider_state():
    """For each optional provider: (its package or None, why it is not in use)."""
    if os.environ.get("NBTORCH_KERNELS", "").strip() == "numpy":
        return {name: (None, "NBTORCH_KERNELS=numpy") for name in PROVIDERS}
    state = {}
    for name, path in PROVIDERS.items():
        package = importlib.import_module(path)
        ok, reason = package.available()
        state[name] = (package, "") if ok else (None, reason)
    return state


def _numpy_kernel(name):
    import numpy as np

    from .kernels.pointwise import UFUNCS
    if name in UFUNCS:
        return Kernel(name, "numpy", getattr(np, UFUNCS[name]), takes_out=True)
    if name in _GENERIC:
        takes_out = "out" in inspect.signature(_GENERIC[name]).parameters
        return Kernel(name, "numpy", functools.partial(_GENERIC[name], np), takes_out)
    return None


def _cupy_kernel(name):
    import cupy

    from .kernels.pointwise import UFUNCS
    if name in UFUNCS:
        return Kernel(name, "cupy", getattr(cupy, UFUNCS[name]), takes_out=True)
    return Kernel(name, "cupy", functools.partial(_GENERIC[name], cupy)) if name in _GENERIC else None


def _build(name, device):
    _load_generic()
    chain = []
    if device == "cpu":
        for provider, (package, _) in provider_state().items():
            if package is not None and name in package.INDEX:
                module = importlib.import_module(f"{package.__name__}.{package.INDEX[name]}")
                chain.append(Kernel(name, provider, getattr(module, name)))
        last = _numpy_kernel(name)
    else:
        last = _cupy_kernel(name)
    if last is not None:
        chain.append(last)
    if not chain:
        raise LookupError(f"no kernel named {name!r} for device {device!r}")
    return tuple(chain)


def kernels_for(name, device="cpu"):
    """The providers' kernels of this name, in the order they are asked. Raises LookupError if there are none."""
    chain = _chains.get((name, device))
    if chain is None:
        with _lock:
            chain = _chains.setdefault((name, device), _build(name, device))
    return chain


def run(name, *args, device="cpu"):
    """Call a kernel by name outside an op (serialization, tests): first provider that does not decline."""
    for entry in kernels_for(name, device):
        result = entry.function(*args)
        if result is not NotImplemented:
            entry.calls += 1
            return result
    raise NotImplementedError(f"every provider declined kernel {name!r}")


def generic_names():
    """Names of all generic kernels (for tests)."""
    _load_generic()
    return sorted(_GENERIC)


def counts():
    """Calls answered so far: {provider: {kernel name: calls}}."""
    table = {}
    for chain in list(_chains.values()):
        for entry in chain:
            if entry.calls:
                row = table.setdefault(entry.provider, {})
                row[entry.name] = row.get(entry.name, 0) + entry.calls
    return table


def reset_counts():
    """Set every call count to zero."""
    for chain in list(_chains.values()):
        for entry in chain:
            entry.calls = 0
