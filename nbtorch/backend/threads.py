"""One thread budget for every library that computes: OpenBLAS (or MKL) under NumPy, oneDNN, numba.

Each of them brings a thread pool of its own, and two pools on the same cores fight: an OpenBLAS thread that waits
for work spins, and the others wait for the spinner (measured: a step 36 times slower than PyTorch's). So

* oneDNN's OpenMP build and numba's `omp` layer link the same libgomp and share one pool; while either is in use
  with more than one thread, NumPy's BLAS is held to one thread (products go to oneDNN instead);
* before those libraries are loaded, OPENBLAS_THREAD_TIMEOUT=4 and OMP_WAIT_POLICY=passive are put in the environment
  unless the user has set them, since both are read once, at load, and make a waiting thread sleep, not spin.

OpenMP keeps its limit per calling thread, so libraries on that pool call `ensure` before they start work.
"""
import ctypes
import functools
import os
import sys
import threading

_lock = threading.RLock()
_local = threading.local()
_budget = None                                    # decided at first use
_interop = None
_interop_fixed = False
_generation = 0                                   # bumped whenever a limit changes; threads compare it in `ensure`
_pools = {}                                       # name -> (does it share libgomp, function(threads) or None)


def prepare_environment():
    """Ask BLAS and OpenMP for sleeping waits where it is not too late and the user has not chosen."""
    if "numpy" not in sys.modules:
        os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")
    if not _openmp_loaded() and "OMP_WAIT_POLICY" not in os.environ and "GOMP_SPINCOUNT" not in os.environ:
        os.environ["OMP_WAIT_POLICY"] = "passive"


def _openmp_loaded():
    if not hasattr(os, "RTLD_NOLOAD"):
        return False
    try:
        ctypes.CDLL("libgomp.so.1", os.RTLD_NOLOAD | os.RTLD_NOW)
    except OSError:
        return False
    return True


def cores():
    """Cores this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0)) or 1
    return os.cpu_count() or 1


def _default():
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        first = os.environ.get(name, "").split(",")[0].strip()
        if first.isdigit() and int(first) > 0:
            return int(first)
    return cores()


def get_num_threads():
    """Threads that one operation may use."""
    return _budget if _budget is not None else _start()


def _start():
    with _lock:
        if _budget is None:
            _set(_default())
        return _budget


def _set(count):
    global _budget, _generation
    _budget = count
    _generation += 1
    _limit_blas()
    ensure()


def _positive(function, count):
    if type(count) is not int:
        raise RuntimeError(f"{function} expects an int, but got {type(count).__name__}")
    if count <= 0:
        raise RuntimeError(f"{function} expects a positive integer")
    return count


def set_num_threads(num):
    """Set the threads that one operation may use, for every library at once. Raises RuntimeError below 1."""
    _positive("set_num_threads", num)
    with _lock:
        _set(num)


def get_num_interop_threads():
    """Threads that may run independent operations at the same time."""
    return _interop or cores()


def set_num_interop_threads(num):
    """Set the threads for independent operations. Raises RuntimeError below 1, or at a second call."""
    global _interop, _interop_fixed
    _positive("set_num_interop_threads", num)
    with _lock:
        if _interop_fixed:
            raise RuntimeError("Error: cannot set number of interop threads after parallel work has started or "
                               "set_num_interop_threads called")
        _interop, _interop_fixed = num, True


def add_pool(name, shared, limit=None):
    """Tell the budget of a library with threads of its own.

    shared: whether it runs on libgomp's pool. limit: function(threads) that limits the calling thread, if any.
    """
    global _generation
    with _lock:
        _pools[name] = (shared, limit)
        _generation += 1
        if _budget is None:
            _start()
        else:
            _limit_blas()
        ensure()


def ensure():
    """Apply the budget in the calling thread; costs one comparison where that has been done."""
    if getattr(_local, "generation", -1) == _generation:
        return
    count, seen = get_num_threads(), _generation
    for _, limit in list(_pools.values()):
        if limit is not None:
            limit(count)
    _local.generation = seen


def one_pool():
    """Whether a libgomp pool is in use, so that NumPy's BLAS has to leave the threads to it."""
    return any(shared for shared, _ in _pools.values())


def _limit_blas():
    allowed = 1 if one_pool() else _budget
    for set_threads, _ in blas():
        set_threads(allowed)


@functools.lru_cache(None)
def blas():
    """(set, get) thread functions of each BLAS that NumPy is linked with; empty where none is known."""
    found = {}
    for path in _blas_paths():
        try:
            library = ctypes.PyDLL(path)
        except OSError:
            continue
        for setter, getter in _blas_names():
            try:
                functions = getattr(library, setter), getattr(library, getter)
            except AttributeError:
                continue
            functions[0].argtypes, functions[0].restype = (ctypes.c_int,), None
            functions[1].argtypes, functions[1].restype = (), ctypes.c_int
            found[ctypes.cast(functions[0], ctypes.c_void_p).value] = functions
            break
    return tuple(found.values())


def _blas_names():
    for prefix in ("scipy_openblas", "openblas"):
        for suffix in ("64_", ""):
            yield f"{prefix}_set_num_threads{suffix}", f"{prefix}_get_num_threads{suffix}"
    yield "MKL_Set_Num_Threads", "MKL_Get_Max_Threads"


def _blas_paths():
    """Libraries to look in: NumPy's own extension (the loader follows its dependencies), then bundled files."""
    import numpy as np
    from numpy._core import _multiarray_umath
    yield _multiarray_umath.__file__
    package = os.path.dirname(np.__file__)
    for folder in (package + ".libs", os.path.join(package, ".dylibs")):
        if os.path.isdir(folder):
            yield from (os.path.join(folder, name) for name in sorted(os.listdir(folder)) if "openblas" in name)


def describe():
    """What `show_config` says of threads: the budget, each pool, and why a library is limited."""
    count = get_num_threads()
    rows = {"threads": count, "interop threads": get_num_interop_threads(), "cores": cores(),
            "blas threads": [get() for _, get in blas()],
            "pools": {name: "libgomp, shared" if shared else "own pool" if limit else "own pool, not limited"
                      for name, (shared, limit) in _pools.items()}}
    for name in ("OPENBLAS_THREAD_TIMEOUT", "OMP_WAIT_POLICY", "OMP_NUM_THREADS"):
        rows[name] = os.environ.get(name, "not set")
    if one_pool() and count > 1:
        rows["note"] = "NumPy's BLAS is held to one thread because oneDNN or numba has the pool"
    elif not blas():
        rows["note"] = "NumPy's BLAS has no known way to limit its threads"
    return rows
