"""nbtorch: PyTorch's API on NumPy and CuPy, made to be seen into. `import nbtorch as torch`.

Importing loads the tensor core and NumPy; torch.nn, torch.optim and the other namespaces load when first named.
"""
import importlib as _importlib
import math as _math

from . import backend as _backend
from .core import dispatch as _dispatch, engine as _engine, inplace as _inplace, pickling as _pickling
from .core.device import (Size, channels_last, channels_last_3d, contiguous_format, device, layout, memory_format,
                          preserve_format, sparse_coo, sparse_csr, strided)
from .core.dtype import ALIASES as _DTYPE_ALIASES, DTYPES as _DTYPES
from .core.dtype import dtype, finfo, get_default_dtype, iinfo
from .core.generator import Generator
from .core.info import (get_default_device, is_complex, is_floating_point, is_nonzero, is_storage, is_tensor, numel,
                        set_default_dtype, set_default_tensor_type)
from .core.interop import as_tensor, asarray, from_dlpack, from_numpy, frombuffer, legacy_types as _legacy_types, tensor
from .core.modes import (enable_grad, inference_mode, is_grad_enabled, is_inference_mode_enabled, no_grad,
                         set_default_device, set_grad_enabled)
from .core.tensor import Tensor
from .core.tensor_str import set_printoptions
from .core.untyped import TypedStorage, UntypedStorage
from . import ops as _ops
from .ops.bind import public as _public
from .random import (default_generator, fork_rng, get_rng_state, initial_seed, manual_seed, seed, set_rng_state)
from .version import __version__

globals().update({d.name: d for d in _DTYPES})
globals().update(_DTYPE_ALIASES)
globals().update(_public("torch"))
globals().update(_legacy_types())
e, inf, nan, pi, newaxis = _math.e, _math.inf, _math.nan, _math.pi, None

_NOT_YET = frozenset("accelerator compile compiler export fft fx func hub jit library masked monitor mtia multiprocessing "
                     "nested onnx overrides package quantization return_types signal sparse stft testing types vmap "
                     "distributions set_float32_matmul_precision use_deterministic_algorithms".split())
_SUBMODULES = ("amp", "autograd", "backends", "cpu", "cuda", "distributed", "linalg", "nn", "optim",
               "profiler", "random", "serialization", "special", "utils", "vision", "notebook", "version")
_LAZY = {
    "save": "serialization", "load": "serialization",
    "autocast": "amp", "is_autocast_enabled": "amp", "set_autocast_enabled": "amp", "get_autocast_dtype": "amp",
    "set_autocast_dtype": "amp", "is_autocast_cache_enabled": "amp", "set_autocast_cache_enabled": "amp",
    "clear_autocast_cache": "amp", "is_autocast_cpu_enabled": "amp", "get_autocast_gpu_dtype": "amp",
    "get_autocast_cpu_dtype": "amp", "is_autocast_available": "amp",
    "set_num_threads": "backend.threads", "get_num_threads": "backend.threads",
    "set_num_interop_threads": "backend.threads", "get_num_interop_threads": "backend.threads",
    "show_config": "config",
    "is_anomaly_enabled": "autograd", "is_anomaly_check_nan_enabled": "autograd",
    "load_ipython_extension": "notebook", "unload_ipython_extension": "notebook",
}


def __getattr__(name):
    if name in _LAZY:
        value = getattr(_importlib.import_module(f"{__name__}.{_LAZY[name]}"), name)
    elif name in _SUBMODULES:
        return _importlib.import_module(f"{__name__}.{name}")
    else:
        import difflib
        names = {n for n in globals() if not n.startswith("_")} | set(_LAZY) | set(_SUBMODULES)
        near = [] if name in _NOT_YET else difflib.get_close_matches(name, names, 3, 0.75)
        hint = f" Near it: {', '.join(near)}." if near else ""
        raise AttributeError(f"nbtorch has no torch.{name} yet." if name in _NOT_YET else
                             f"module 'torch' has no attribute '{name}' in nbtorch.{hint}")
    globals()[name] = value
    return value


def __dir__():
    return sorted({n for n in globals() if not n.startswith("_")} | set(_LAZY) | set(_SUBMODULES) | {"__version__"})
