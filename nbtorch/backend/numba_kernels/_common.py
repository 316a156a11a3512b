"""What the deciding half of every kernel needs: when to decline, how many threads to use, which code to load."""
import functools
import importlib

import numpy as np

SMALL = 1024          # elements; below this NumPy's calls cost less than loading and compiling a kernel
GRAIN = 32768         # elements a thread must get before waking it pays


@functools.lru_cache(None)
def code(name):
    """The module of compiled loops; this is what imports numba."""
    return importlib.import_module(f"{__package__}.code.{name}")


def fits(array, kinds="fd"):
    """Whether a compiled loop takes this array: one of the dtypes, C-contiguous, writable memory of its own order."""
    return array.dtype.char in kinds and array.flags.c_contiguous


def same(first, *others):
    """Whether all arrays have the dtype of `first` and are C-contiguous."""
    return all(a.dtype == first.dtype and a.flags.c_contiguous for a in others)


_budget = None


def threads(elements, grain=GRAIN):
    """How many threads to use for `elements`: 1 unless each gets at least `grain` of them."""
    if elements < 2 * grain:
        return 1
    global _budget
    if _budget is None:
        from ..threads import get_num_threads
        _budget = get_num_threads if _threads_are_ours() else lambda: 1
    n = min(_budget(), elements // grain)
    if n > 1:
        code("jit").start_threads()
    return n


def _threads_are_ours():
    """Without oneDNN the matrix products need OpenBLAS's own threads, and two pools on the same cores fight: then the
    compiled kernels stay on one thread."""
    from ..registry import provider_state
    return provider_state()["onednn"][0] is not None


def flat(array):
    """A one-dimensional view of a C-contiguous array."""
    return array.reshape(-1)


def empty_like(array):
    """Uninitialised, C-contiguous, of the same shape and dtype."""
    return np.empty(array.shape, array.dtype)
