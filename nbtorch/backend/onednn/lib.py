"""The oneDNN library: where it is looked for, and the part of its C API (version 3) that is used here.

https://oneapi-src.github.io/oneDNN/group_dnnl_api.html. Enumeration values used are the ones that have been the
same in every 3.x release; blocked layouts are never named but asked for with `any`, because their numbers moved.
"""
import ctypes
import functools
import os
import sys

import numpy as np

from .. import threads

F16, BF16, F32 = 1, 2, 3                          # dnnl_data_type_t
FORWARD, BACKWARD_DATA, BACKWARD_WEIGHTS = 64, 160, 192
CONVOLUTION_DIRECT = 1
SRC, DST, WEIGHTS, BIAS, SCRATCHPAD = 1, 17, 33, 41, 80
DIFF_SRC, DIFF_DST, DIFF_WEIGHTS, DIFF_BIAS = 129, 145, 161, 169
QUERY_IMPL, QUERY_SRC, QUERY_DIFF_SRC, QUERY_WEIGHTS, QUERY_DIFF_WEIGHTS = 8, 129, 130, 131, 132
QUERY_DST, QUERY_DIFF_DST, QUERY_SCRATCHPAD = 133, 134, 136
RUNTIMES = {1: "sequential", 2: "OpenMP", 4: "TBB", 8: "threadpool", 256: "SYCL"}

Dims = ctypes.c_int64 * 12
_P, _I = ctypes.c_void_p, ctypes.c_int
_OUT, _DIMS = ctypes.POINTER(_P), ctypes.POINTER(ctypes.c_int64)


class Argument(ctypes.Structure):
    """dnnl_exec_arg_t: which argument of a primitive, and the memory object given for it."""

    _fields_ = [("argument", _I), ("memory", _P)]


class _Version(ctypes.Structure):
    _fields_ = [("major", _I), ("minor", _I), ("patch", _I), ("hash", ctypes.c_char_p),
                ("cpu_runtime", ctypes.c_uint), ("gpu_runtime", ctypes.c_uint)]


class Unsupported(Exception):
    """oneDNN has no implementation of this problem (or gave an error for it)."""


_SIGNATURES = {
    "engine_create": (_OUT, _I, ctypes.c_size_t),
    "stream_create": (_OUT, _P, ctypes.c_uint),
    "memory_desc_create_with_strides": (_OUT, _I, _DIMS, _I, _DIMS),
    "memory_desc_create_with_tag": (_OUT, _I, _DIMS, _I, _I),
    "memory_desc_destroy": (_P,),
    "memory_desc_equal": (_P, _P),
    "memory_create": (_OUT, _P, _P, _P),
    "memory_destroy": (_P,),
    "memory_set_data_handle": (_P, _P),
    "primitive_attr_create": (_OUT,),
    "primitive_attr_destroy": (_P,),
    "primitive_attr_set_scratchpad_mode": (_P, _I),
    "primitive_attr_set_post_ops": (_P, _P),
    "post_ops_create": (_OUT,),
    "post_ops_destroy": (_P,),
    "post_ops_append_sum": (_P, ctypes.c_float, ctypes.c_int32, _I),
    "post_ops_append_eltwise": (_P, _I, ctypes.c_float, ctypes.c_float),
    "convolution_forward_primitive_desc_create": (_OUT, _P, _I, _I, _P, _P, _P, _P, _DIMS, _DIMS, _DIMS, _DIMS, _P),
    "convolution_backward_data_primitive_desc_create":
        (_OUT, _P, _I, _P, _P, _P, _DIMS, _DIMS, _DIMS, _DIMS, _P, _P),
    "convolution_backward_weights_primitive_desc_create":
        (_OUT, _P, _I, _P, _P, _P, _P, _DIMS, _DIMS, _DIMS, _DIMS, _P, _P),
    "matmul_primitive_desc_create": (_OUT, _P, _P, _P, _P, _P, _P),
    "reorder_primitive_desc_create": (_OUT, _P, _P, _P, _P, _P),
    "primitive_desc_query": (_P, _I, _I, _P),
    "primitive_desc_destroy": (_P,),
    "primitive_create": (_OUT, _P),
    "primitive_destroy": (_P,),
    "primitive_execute": (_P, _P, _I, _P),
}


def _names():
    if sys.platform == "win32":
        return ("dnnl.dll",)
    return ("libdnnl.3.dylib", "libdnnl.dylib") if sys.platform == "darwin" else ("libdnnl.so.3", "libdnnl.so")


def _candidates():
    """Paths and names worth trying, cheapest look-up first."""
    chosen = os.environ.get("NBTORCH_ONEDNN")
    if chosen:
        yield chosen
        return
    names = _names()
    prefixes = [sys.prefix, os.environ.get("CONDA_PREFIX"), sys.base_prefix]
    for prefix in dict.fromkeys(p for p in prefixes if p):
        for folder in (("Library", "bin"), ("bin",)) if sys.platform == "win32" else (("lib",), ("lib64",)):
            for name in names:
                path = os.path.join(prefix, *folder, name)
                if os.path.exists(path):
                    yield path
    yield from _from_wheels(names)
    yield from names                              # the loader's own search path
    from ctypes.util import find_library
    found = find_library("dnnl")
    if found:
        yield found


def _from_wheels(names):
    """Libraries that installed distributions say they brought (pip --user, --target and other layouts)."""
    from importlib import metadata
    for package in ("onednn-cpu-gomp", "onednn-cpu-tbb", "onednn-cpu-iomp"):
        try:
            files = metadata.files(package) or ()
        except metadata.PackageNotFoundError:
            continue
        for file in files:
            if file.name in names:
                yield os.path.realpath(str(file.locate()))


class Library:
    """A loaded oneDNN with its engine and stream. `call(name, *args)` raises Unsupported on a bad status."""

    def __init__(self, path):
        dll = ctypes.CDLL(path)
        # short calls keep the GIL: releasing and taking it back costs as much as they do
        quick = ctypes.PyDLL(None, handle=dll._handle)
        dll.dnnl_version.restype = ctypes.POINTER(_Version)
        version = dll.dnnl_version().contents
        self.path, self.version = path, (version.major, version.minor, version.patch)
        self.runtime = RUNTIMES.get(version.cpu_runtime, "none" if not version.cpu_runtime else "SYCL")
        if version.major != 3:
            raise OSError(f"{path} is oneDNN {version.major}.{version.minor}, version 3 is needed")
        if self.runtime in ("none", "SYCL"):
            raise OSError(f"{path} is built for the {self.runtime} CPU runtime")
        self._calls = {}
        for name, types in _SIGNATURES.items():
            function = getattr(dll if name in ("primitive_execute", "primitive_create") else quick, "dnnl_" + name)
            function.argtypes, function.restype = types, _I
            self._calls[name] = function
        self.execute = self._calls["primitive_execute"]
        self.point = self._calls["memory_set_data_handle"]
        self._query_md = quick.dnnl_primitive_desc_query_md
        self._query_md.argtypes, self._query_md.restype = (_P, _I, _I), _P
        self.size = quick.dnnl_memory_desc_get_size
        self.size.argtypes, self.size.restype = (_P,), ctypes.c_size_t
        self.isa = dll.dnnl_get_effective_cpu_isa()
        self.set_threads = getattr(dll, "omp_set_num_threads", None) if self.runtime == "OpenMP" else None
        if self.set_threads is not None:
            self.set_threads.argtypes, self.set_threads.restype = (_I,), None
            if hasattr(dll, "kmp_set_blocktime"):
                dll.kmp_set_blocktime(0)          # Intel's OpenMP spins for 200 ms after each parallel region
        self.engine = self.make("engine_create", 1, 0)
        self.stream = self.make("stream_create", self.engine, 1)

    def call(self, name, *args):
        status = self._calls[name](*args)
        if status:
            raise Unsupported(f"dnnl_{name} returned {status}")

    def make(self, name, *args):
        """Call a function that writes a new handle to its first argument; return the handle."""
        handle = _P()
        self.call(name, ctypes.byref(handle), *args)
        return handle.value

    def free(self, kind, handle):
        self._calls[kind + "_destroy"](handle)

    def equal(self, a, b):
        """Whether two memory descriptors are the same layout of the same shape."""
        return bool(self._calls["memory_desc_equal"](a, b))

    def layout(self, pd, what):
        """The memory descriptor a primitive descriptor chose (owned by it)."""
        return self._query_md(pd, what, 0)

    def implementation(self, pd):
        """Name of the implementation behind a primitive descriptor."""
        text = ctypes.c_char_p()
        self.call("primitive_desc_query", pd, QUERY_IMPL, 0, ctypes.byref(text))
        return text.value.decode()


@functools.lru_cache(None)
def find():
    """(the loaded Library or None, why there is none)."""
    reasons = []
    for path in _candidates():
        try:
            loaded = Library(path)
        except (OSError, AttributeError, Unsupported) as error:
            reasons.append(str(error))
            continue
        threads.add_pool("oneDNN", loaded.set_threads is not None, loaded.set_threads)
        return loaded, ""
    return None, reasons[0] if reasons else "no oneDNN 3 library (libdnnl) found; pip install 'nbtorch[fast]' brings one"


def library():
    """The Library in use. Raises OSError where there is none."""
    loaded, reason = find()
    if loaded is None:
        raise OSError(reason)
    return loaded


def _address_by_interface(array):
    return array.__array_interface__["data"][0]


def _address_by_layout():
    """Reads the data pointer where NumPy's ABI keeps it, right behind the object head: 0.2 us against 1.5."""
    read, head = ctypes.c_void_p.from_address, object.__basicsize__

    def address(array):
        return read(id(array) + head).value

    probe = np.arange(7)[3:]
    try:
        return address if address(probe) == _address_by_interface(probe) else _address_by_interface
    except (TypeError, ValueError):
        return _address_by_interface


address = _address_by_layout() if sys.implementation.name == "cpython" else _address_by_interface
