"""New arrays: filled, counted, spaced."""
import math

from ..dtypes import numpy_dtype
from ..registry import kernel


@kernel("full_new")
def full_new(xp, shape, value, dtype):
    """An array of one number."""
    if value == 0 and not isinstance(value, complex):
        return xp.zeros(shape, numpy_dtype(dtype.name))
    target = numpy_dtype(dtype.name)
    if target.kind in "iub":
        return xp.full(shape, xp.asarray(value).astype(target), target)
    return xp.full(shape, value, target)


@kernel("empty_new")
def empty_new(xp, shape, dtype):
    """An uninitialised array."""
    return xp.empty(shape, numpy_dtype(dtype.name))


@kernel("empty_ordered")
def empty_ordered(xp, shape, order, dtype):
    """An uninitialised array whose dimensions lie in memory in `order`, slowest first."""
    a = xp.empty([shape[d] for d in order], numpy_dtype(dtype.name))
    return a.transpose([order.index(d) for d in range(len(order))])


@kernel("empty_gapped")
def empty_gapped(xp, shape, strides, dtype):
    """An uninitialised array with given strides (in elements)."""
    target = numpy_dtype(dtype.name)
    cells = 1 + sum((n - 1) * s for n, s in zip(shape, strides)) if all(shape) else 0
    return xp.ndarray(tuple(shape), target, xp.empty(cells, target), 0, tuple(s * target.itemsize for s in strides))


@kernel("arange")
def arange(xp, start, end, step, dtype):
    """start, start + step, ... below end; the count is computed in double precision."""
    target = numpy_dtype(dtype.name)
    if dtype.name == "int64":                     # PyTorch counts in whole numbers here, in double elsewhere
        start, end, step = int(start), int(end), int(step)
        if step == 0:
            raise RuntimeError("step must be nonzero")
        count = max(-((start - end) // step), 0)
    else:
        count = max(math.ceil((end - start) / step), 0)
    if target.kind in "iu":
        return xp.asarray(int(start) + xp.arange(count) * int(step)).astype(target)
    work = xp.float64 if target.kind != "c" else xp.complex128
    return (start + xp.arange(count, dtype=work) * step).astype(target)


@kernel("linspace")
def linspace(xp, start, end, steps, dtype):
    """Evenly spaced numbers, both ends included; symmetric around the middle as in PyTorch."""
    target = numpy_dtype(dtype.name)
    if steps == 0:
        return xp.empty(0, target)
    if steps == 1:
        return xp.full(1, start).astype(target)
    is_complex = target.kind == "c" or isinstance(start, complex) or isinstance(end, complex)
    work = xp.complex128 if is_complex else xp.float64
    if target.kind in "iu":
        start, end = int(start), int(end)
    step = (end - start) / (steps - 1)
    if target.name == "float32":
        step = float(xp.float32(step))
    i = xp.arange(steps, dtype=work)
    values = xp.where(i.real < steps // 2, start + step * i, end - step * (steps - 1 - i))
    return xp.trunc(values).astype(target) if target.kind in "iu" else values.astype(target)


@kernel("logspace")
def logspace(xp, start, end, steps, base, dtype):
    """base ** evenly spaced exponents."""
    target = numpy_dtype(dtype.name)
    work = xp.complex128 if target.kind == "c" else xp.float64
    if target.kind in "iu":                       # PyTorch truncates the ends but spaces them in floating point
        start, end = int(start), int(end)
    if steps == 1:
        return xp.full(1, work(base) ** start).astype(target)
    i = xp.arange(steps, dtype=work)
    step = (end - start) / (steps - 1) if steps > 1 else 0
    exponents = xp.where(i.real < steps // 2, start + step * i, end - step * (steps - 1 - i))
    return xp.power(work(base), exponents).astype(target)


@kernel("eye")
def eye(xp, n, m, dtype):
    """Ones on the diagonal."""
    return xp.eye(n, m, 0, numpy_dtype(dtype.name))


@kernel("empty_like_order")
def empty_like_order(xp, a, dtype, memory_format=None):
    """An uninitialised array in the dimension order of `a`, without gaps; or in a memory format."""
    name = getattr(memory_format, "name", "preserve_format")
    target = numpy_dtype(dtype.name)
    if name == "contiguous_format":
        return xp.empty(a.shape, target)
    if name.startswith("channels_last"):
        order = (0, *range(2, a.ndim), 1)
        return empty_ordered(xp, a.shape, order, dtype)
    if a.flags.c_contiguous or any(s == 0 and n > 1 for s, n in zip(a.strides, a.shape)):
        return xp.empty(a.shape, target)
    return xp.empty_like(a, target)


@kernel("complex")
def complex_(xp, real, imag):
    """Complex numbers from two parts."""
    out = xp.empty(xp.broadcast(real, imag).shape, xp.complex64 if real.dtype.itemsize <= 4 else xp.complex128)
    out.real, out.imag = real, imag
    return out


@kernel("polar")
def polar(xp, size, angle):
    """Complex numbers from absolute value and angle."""
    return complex_(xp, xp.asarray(size * xp.cos(angle)), xp.asarray(size * xp.sin(angle)))
