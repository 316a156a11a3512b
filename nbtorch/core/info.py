"""Small questions about tensors and defaults: is_tensor, numel, set_default_dtype..."""
from . import dtype as dtypes
from .dtype import BY_NAME
from .modes import default_device
from .op import OPS
from .storage import Storage
from .tensor import Tensor


def is_tensor(obj):
    """Whether `obj` is a tensor."""
    return isinstance(obj, Tensor)


def is_storage(obj):
    """Whether `obj` is a storage."""
    return isinstance(obj, Storage)


def numel(input):
    """Number of elements."""
    return input.numel()


def is_floating_point(input):
    """Whether the dtype is a floating one."""
    return input.dtype.is_floating_point


def is_complex(input):
    """Whether the dtype is complex."""
    return input.dtype.is_complex


def is_nonzero(input):
    """Whether the one element is not zero. Raises RuntimeError for other sizes."""
    return bool(input)


def get_default_device():
    """The device factory functions use."""
    return default_device()


def set_default_dtype(d):
    """Set the dtype Python floats get. https://docs.pytorch.org/docs/stable/generated/torch.set_default_dtype.html"""
    dtypes.set_default_dtype(d)
    for record in OPS.values():                   # dtype rules asked for the default when the plans were made
        record.plans.clear()


def set_default_tensor_type(t):
    """Legacy form of set_default_dtype: takes torch.DoubleTensor or its name."""
    if isinstance(t, str):
        name = t.rsplit(".", 1)[-1].removesuffix("Tensor")
        d = next((x for x in BY_NAME.values() if dtypes.scalar_name(x) == name), None)
        if d is None:
            raise TypeError(f"invalid type name {t!r}")
    else:
        d = t.dtype
    set_default_dtype(d)
