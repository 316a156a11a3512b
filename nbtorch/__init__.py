"""nbtorch: PyTorch's API on NumPy and CuPy, made to be seen into. `import nbtorch as torch`."""
from . import core
from .core.device import (Size, channels_last, channels_last_3d, contiguous_format, device, layout, memory_format,
                          preserve_format, sparse_coo, strided)
from .core.dtype import DTYPES as _DTYPES, ALIASES as _DTYPE_ALIASES
from .core.dtype import dtype, finfo, get_default_dtype, iinfo
from .core.modes import (enable_grad, inference_mode, is_grad_enabled, is_inference_mode_enabled, no_grad,
                         set_default_device, set_grad_enabled)
from .core import dispatch as _dispatch, inplace as _inplace, engine as _engine
from .core.tensor import Tensor
from .core.interop import as_tensor, from_dlpack, from_numpy, legacy_types as _legacy_types, tensor
from . import ops
from .ops.bind import public as _public

__version__ = "0.1.0"
globals().update({d.name: d for d in _DTYPES})
globals().update(_DTYPE_ALIASES)
globals().update(_public("torch"))
globals().update(_legacy_types())
