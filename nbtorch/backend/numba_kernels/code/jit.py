"""Compiles kernels at their first use, one dtype at a time, and keeps the machine code on disk.

Rules kept here: explicit signatures and one layout, so that a call never compiles by surprise; no ``nnan`` and no
``ninf`` (they delete checks for NaN); the disk cache does not look at compiler options, so a serial and a parallel
variant are two functions; on the ``workqueue`` layer one lock guards every parallel call, since two threads inside it
abort the process.
"""
import functools
import hashlib
import pathlib
import threading

import numba
from numba import types
from numba.core.caching import CompileResultCacheImpl, FunctionCache

from ...threads import add_pool, ensure

# Every licence of fast-math whose effect is rounding at most: NaN, infinity and comparisons keep their meaning.
FAST = ("contract", "reassoc", "nsz", "arcp", "afn")
_TYPES = {"f": types.float32, "d": types.float64}
_NAMES = {name: getattr(types, name) for name in ("float64", "int64", "uint8", "uint16", "float32", "void")}
_building = threading.RLock()


@functools.lru_cache(None)
def _stamp():
    """A digest of all kernel sources: numba looks only at the file of the function itself, not at what it calls."""
    digest = hashlib.sha256()
    for path in sorted(pathlib.Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.digest()


class _Files(CompileResultCacheImpl):
    """Where numba would keep the code (NUMBA_CACHE_DIR, __pycache__, the user's cache folder), with our stamp."""

    def __init__(self, function):
        super().__init__(function)
        self._locator.get_source_stamp = _stamp


class _Cache(FunctionCache):
    _impl_class = _Files


def _compile(function, signature, options):
    built = numba.njit(**options)(function)
    try:
        built._cache = _Cache(function)
        built.compile(signature)
    except (RuntimeError, OSError):  # no folder can be written: compile for this process only
        built = numba.njit(**options)(function)
        built.compile(signature)
    built.disable_compile()
    return built


class Compiled(dict):
    """``kernel[char](...)``: the machine code for the dtype with that character, compiled when first asked for."""

    __slots__ = ("function", "signature", "options")

    def __init__(self, function, signature, options):
        super().__init__()
        self.function, self.signature, self.options = function, signature, options

    def __missing__(self, char):
        with _building:
            if char not in self:
                self[char] = self._build(char)
            return self[char]

    def _build(self, char):
        parallel = self.options.get("parallel")
        if parallel:
            start_threads()
        # the text is a constant of this package; T stands for the dtype asked for
        signature = eval(self.signature, {"__builtins__": {}}, dict(_NAMES, T=_TYPES[char]))
        built = _compile(self.function, signature, self.options)
        return _one_by_one(built) if parallel and layer() == "workqueue" else built


def compiled(signature, parallel=False, fast=FAST):
    """Decorator: a function compiled later for ``signature``, in which ``T`` is the element type asked for."""
    options = {"fastmath": set(fast), "nogil": True, "error_model": "numpy", "boundscheck": False}
    if parallel:
        options["parallel"] = True
    return lambda function: Compiled(function, signature, options)


def part(function):
    """Decorator: a piece that kernels share; it is compiled into each of them."""
    return numba.njit(fastmath=set(FAST), nogil=True, error_model="numpy", boundscheck=False)(function)


_started = False
_turn = threading.Lock()


def start_threads():
    """Ask for the OpenMP pool, which oneDNN's GNU build shares; where there is none take numba's own."""
    global _started
    if _started:
        ensure()
        return
    if numba.config.THREADING_LAYER == "default":  # a user's own choice stands
        numba.config.THREADING_LAYER = "omp"
    try:
        numba.set_num_threads(numba.get_num_threads())  # launches the pool
    except ValueError:
        numba.config.THREADING_LAYER = "workqueue"
        numba.set_num_threads(numba.get_num_threads())
    _started = True
    add_pool("numba", numba.threading_layer() == "omp",
             lambda count: numba.set_num_threads(min(count, numba.config.NUMBA_NUM_THREADS)))


def layer():
    """Name of numba's threading layer, or None before the first parallel kernel."""
    return numba.threading_layer() if _started else None


def _one_by_one(function):
    def call(*arguments):
        with _turn:
            return function(*arguments)
    return call
