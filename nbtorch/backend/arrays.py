"""The few array manipulations the core needs below the ops: owners, strides, copies, scalars."""
import contextvars

import numpy as np

from .dtypes import NAMES, code_of, numpy_dtype

ndarray = np.ndarray


def module_of(array):
    """numpy, or cupy for a CuPy array (only ever seen when cupy is already imported)."""
    if isinstance(array, np.ndarray):
        return np
    import cupy
    return cupy


def quiet_runner():
    """A caller `run(function, *args)` under which NumPy raises no floating-point warnings.

    NumPy keeps its error state in a context variable, so a prepared context costs nothing per call where np.errstate
    costs a microsecond, and the user's own settings stay untouched. One runner per thread: a context cannot be entered
    twice at once.
    """
    context = contextvars.copy_context()
    context.run(np.seterr, all="ignore")
    return context.run


def as_array(value):
    """A 0-d array of a NumPy scalar that a reduction returned."""
    return np.asarray(value)


def on_device(value):
    """Whether a kernel's result is a device array rather than a NumPy scalar or Python number."""
    return hasattr(value, "__cuda_array_interface__")


def owner_of(array):
    """The array that owns the memory `array` looks at (NumPy collapses chains of views)."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def owned(array):
    """`array` itself when it fills its owner, else a copy, so that no hidden larger buffer stays alive."""
    owner = owner_of(array)
    if owner is not array and (owner.nbytes != array.nbytes or any(s < 0 for s in array.strides)):
        return array.copy()
    return array


def cast(array, name):
    """A copy (or the array itself) as dtype `name`; complex to real drops the imaginary part silently."""
    dtype = numpy_dtype(name)
    if array.dtype == dtype:
        return array
    if array.dtype.kind == "c" and dtype.kind != "c":
        array = array.real
    if array.dtype.kind in "fV" and dtype.kind in "iub":
        with np.errstate(invalid="ignore"):
            return array.astype(dtype)
    if dtype.itemsize <= 4 and array.dtype.kind in "fc" and dtype.itemsize < array.dtype.itemsize:
        with np.errstate(over="ignore"):
            return array.astype(dtype)
    return array.astype(dtype)


def empty(shape, name):
    """An uninitialised C-contiguous array."""
    return np.empty(shape, numpy_dtype(name))


def full(shape, value, name):
    """An array filled with a number."""
    return np.full(shape, value, numpy_dtype(name))


def strided(array, shape, strides, offset):
    """A view over the owner of `array`: strides and offset in elements. Raises RuntimeError outside its memory."""
    owner = owner_of(array)
    size = array.itemsize
    last = offset + sum((n - 1) * s for n, s in zip(shape, strides)) if all(shape) else offset
    if offset < 0 or any(s < 0 for s in strides) or (last + 1) * size > owner.nbytes and all(shape):
        raise RuntimeError(f"setStorage: sizes {list(shape)}, strides {list(strides)}, storage offset {offset}, and itemsize "
                           f"{size} requiring a storage size of {(last + 1) * size} are out of bounds for storage of "
                           f"size {owner.nbytes}")
    flat = flat_bytes(owner)
    if not all(shape):
        return np.empty(shape, array.dtype)
    return np.ndarray(shape, array.dtype, flat, offset * size, tuple(s * size for s in strides))


def flat_bytes(owner):
    """The owner's memory as one uint8 array, in memory order."""
    if owner.flags.c_contiguous:
        return owner.reshape(-1).view(np.uint8)
    order = sorted(range(owner.ndim), key=lambda d: -owner.strides[d])
    return owner.transpose(order).reshape(-1).view(np.uint8)


def offset_of(array):
    """Storage offset of a view in elements."""
    return (array.__array_interface__["data"][0] - owner_of(array).__array_interface__["data"][0]) // array.itemsize


def overlaps_itself(array):
    """True when one memory location is seen through several indices (expanded dimensions)."""
    return array.size > 0 and any(n > 1 and s == 0 for n, s in zip(array.shape, array.strides))


def is_contiguous(array):
    """C-contiguous."""
    return array.flags.c_contiguous


def dense_like(array):
    """Whether `array` covers its memory without gaps or overlaps in some dimension order."""
    expected = array.itemsize
    for stride, size in sorted((s, n) for s, n in zip(array.strides, array.shape) if n != 1):
        if stride != expected:
            return False
        expected *= size
    return True


def code(array):
    """The dtype code of an array."""
    return code_of(array)


def write(target, value):
    """`target[...] = value` with PyTorch's silent narrowing; nothing to do for a kernel that wrote `target` itself."""
    if value is target:
        return
    if getattr(value, "dtype", None) is not None and value.dtype != target.dtype:
        value = cast(value, NAMES[code_of(target)])
    target[...] = value


def from_list(values, name):
    """A 1-d array of Python numbers."""
    return np.array(values, numpy_dtype(name))


def pinned(array):
    """A copy in page-locked memory. Not verified on a GPU."""
    import cupyx
    out = cupyx.empty_pinned(array.shape, array.dtype)
    out[...] = array
    return out


def canonical_strides(shape, strides):
    """NumPy may report any stride for sizes 0 and 1; give those PyTorch would."""
    fixed, step, empty = list(strides), 1, 0 in shape
    for d in range(len(shape) - 1, -1, -1):
        if empty or shape[d] == 1 and strides[d] <= 0:
            fixed[d] = step
        step = fixed[d] * max(shape[d], 1)
    return tuple(fixed)


def channels_order(memory_format, ndim):
    """Order of dimensions in memory of a channels-last format."""
    expected = {"channels_last": 4, "channels_last_3d": 5}[memory_format.name]
    return (0, *range(2, ndim), 1) if ndim == expected else tuple(range(ndim))


def may_overlap(a, b):
    """Whether two arrays look at some common stretch of memory."""
    return np.may_share_memory(a, b)
