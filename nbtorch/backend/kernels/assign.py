"""Copies, conversions, fills."""
from ..arrays import cast
from ..registry import kernel


def _order(xp, a, memory_format):
    if memory_format is not None and memory_format.name.startswith("channels_last") and a.ndim == 4 + ("3d" in memory_format.name):
        back = (0, a.ndim - 1, *range(1, a.ndim - 1))
        return xp.ascontiguousarray(a.transpose(0, *range(2, a.ndim), 1)).transpose(back)
    return None


def _dense(xp, a):
    """A copy without gaps or overlaps, dimension order kept (NumPy's 'K' for dense input)."""
    if any(n > 1 and s == 0 for n, s in zip(a.shape, a.strides)):
        return xp.array(a, order="C")
    return a.copy(order="K")


@kernel("clone")
def clone(xp, a, memory_format=None):
    """A copy; preserve_format keeps the dimension order, contiguous_format gives C order."""
    if memory_format is None or memory_format.name == "preserve_format":
        return _dense(xp, a)
    ordered = _order(xp, a, memory_format)
    if ordered is not None:
        return ordered.copy(order="K") if ordered.base is a else ordered
    return a.copy(order="C")


@kernel("copy")
def copy(xp, a, src, non_blocking=False):
    """`src` as a copy in the dtype and shape of `a`."""
    if not hasattr(src, "dtype"):
        return xp.full(a.shape, src, a.dtype)
    if a.dtype != src.dtype:
        src = cast(src, a.dtype.name)
    try:
        return xp.broadcast_to(src, a.shape)
    except ValueError:
        raise RuntimeError(_mismatch(src.shape, a.shape)) from None


def _mismatch(source, target):
    for back in range(1, max(len(source), len(target)) + 1):
        n = source[-back] if back <= len(source) else 1
        m = target[-back] if back <= len(target) else 1
        if n != m and n != 1:
            where = max(len(source), len(target)) - back
            return (f"The size of tensor a ({m}) must match the size of tensor b ({n}) at non-singleton dimension {where}")
    return f"output with shape {list(target)} doesn't match the broadcast shape {list(source)}"


@kernel("fill")
def fill(xp, a, value):
    """An array like `a` filled with one number."""
    if hasattr(value, "dtype"):
        if value.ndim:
            raise RuntimeError(f"fill_ only supports 0-dimension value tensor but got tensor with {value.ndim} dimensions.")
        value = cast(value, a.dtype.name)
        return xp.full(a.shape, value, a.dtype)
    return xp.full(a.shape, xp.asarray(value).astype(a.dtype), a.dtype)


@kernel("zero")
def zero(xp, a):
    """Zeros like `a`."""
    return xp.zeros(a.shape, a.dtype)


@kernel("to_copy")
def to_copy(xp, a, dtype=None, device=None, memory_format=None):
    """A copy in another dtype, on another device."""
    if device is not None and device.type == "cuda" and xp.__name__ == "numpy":
        import cupy
        a = cupy.asarray(a)
    elif device is not None and device.type == "cpu" and xp.__name__ == "cupy":
        a = xp.asnumpy(a)
    out = a if dtype is None else cast(a, dtype.name)
    if out is a or out.base is not None:
        out = _dense(xp, out)
    ordered = _order(xp, out, memory_format)
    return out if ordered is None else ordered


@kernel("sum_to")
def sum_to(xp, a, shape):
    """Sum over the dimensions that broadcasting to a.shape added or stretched."""
    extra = a.ndim - len(shape)
    axes = tuple(range(extra)) + tuple(i + extra for i, n in enumerate(shape) if n == 1 and a.shape[i + extra] != 1)
    wide = a.astype(xp.float32) if a.dtype.itemsize == 2 else a
    out = wide.sum(axes) if axes else wide.copy()
    return xp.asarray(out).reshape(shape).astype(a.dtype)


@kernel("full_like_value")
def full_like_value(xp, a, value):
    """A dense array like `a` holding one number."""
    return xp.full(a.shape, value, a.dtype)


@kernel("conj")
def conj(xp, a):
    """The complex conjugate."""
    return xp.conjugate(a) if a.dtype.kind == "c" else a.copy()
