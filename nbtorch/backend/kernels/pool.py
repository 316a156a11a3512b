"""Pooling in one to three dimensions by loops over the positions of the window.

Arrays are (batch, channels, *space).
"""
import math

from ..registry import kernel
from ._common import narrow, wide


def lowest(a):
    """The value no element is below."""
    if a.dtype.kind in "iu":
        import numpy as np
        return np.iinfo(a.dtype).min
    return a.dtype.type(-math.inf)


def _nan(xp, a):
    """Where `a` is NaN; whole numbers never are."""
    return xp.isnan(a) if a.dtype.kind == "f" else xp.zeros(a.shape, bool)


def offsets(kernel_size):
    """All positions of a window, last dimension fastest."""
    found = [()]
    for n in kernel_size:
        found = [f + (i,) for f in found for i in range(n)]
    return found


def place(offset, stride, dilation, out_size):
    """The slices of a padded array that window position `offset` meets."""
    return (Ellipsis,) + tuple(slice(k * d, k * d + (o - 1) * s + 1, s)
                               for k, s, d, o in zip(offset, stride, dilation, out_size))


def _padded(xp, a, padding, kernel_size, stride, dilation, out_size, fill):
    """`a` with `fill` around it, wide enough for every window (ceil_mode reaches beyond the padding)."""
    n = len(padding)
    size = [max(length + 2 * p, (o - 1) * s + d * (k - 1) + 1) for length, p, o, s, d, k in
            zip(a.shape[-n:], padding, out_size, stride, dilation, kernel_size)]
    if not any(padding) and tuple(size) == a.shape[-n:]:
        return a
    out = xp.full((*a.shape[:-n], *size), fill, a.dtype)
    out[(Ellipsis,) + tuple(slice(p, p + m) for p, m in zip(padding, a.shape[-n:]))] = a
    return out


def _along(xp, values, axis, n):
    return values.reshape([-1 if i == axis else 1 for i in range(n)])


def _flat_base(xp, space, out_size, kernel_size, stride, padding, dilation):
    """Flat index of each window's corner (may lie in the padding) and how far its first real element is from it."""
    n, base, first = len(space), 0, 0
    for i in range(n):
        step = math.prod(space[i + 1:])
        corner = xp.arange(out_size[i]) * stride[i] - padding[i]
        skip = xp.maximum(-(corner // dilation[i]), 0) * dilation[i]
        base = base + _along(xp, corner * step, i, n)
        first = first + _along(xp, skip * step, i, n)
    return base, first


def _max_pool(xp, a, kernel_size, stride, padding, dilation, out_size):
    n = len(kernel_size)
    a_wide = wide(xp, a)
    padded = _padded(xp, a_wide, padding, kernel_size, stride, dilation, out_size, lowest(a_wide))
    space = a.shape[-n:]
    base, first = _flat_base(xp, space, out_size, kernel_size, stride, padding, dilation)
    best = delta = None
    for offset in offsets(kernel_size):
        value = padded[place(offset, stride, dilation, out_size)]
        step = sum(k * d * math.prod(space[i + 1:]) for i, (k, d) in enumerate(zip(offset, dilation)))
        if best is None:
            best = value.copy()
            delta = xp.broadcast_to(first, best.shape).astype(xp.int64)
            better = _nan(xp, best)                 # NaN wins, and the last NaN is the one reported
        else:
            better = (value > best) | _nan(xp, value)
            xp.copyto(best, value, "same_kind", better)
        xp.copyto(delta, step, "same_kind", better)
    delta += base
    return narrow(xp, best, a), delta


@kernel("max_pool1d_with_indices")
@kernel("max_pool2d_with_indices")
@kernel("max_pool3d_with_indices")
def max_pool(xp, a, kernel_size, stride, padding, dilation, out_size):
    """(largest element of each window, its flat int64 position in the space of `a`)."""
    return _max_pool(xp, a, kernel_size, stride, padding, dilation, out_size)


@kernel("max_pool_backward")
def max_pool_backward(xp, grad, indices, input_shape):
    """Adds each element of grad at its window's position; a general scatter, since windows may overlap."""
    planes, size = math.prod(input_shape[:2]), math.prod(input_shape[2:])
    count = math.prod(indices.shape[2:])
    values, where = wide(xp, grad).reshape(planes, count), indices.reshape(planes, count)
    out = _scatter(xp, values, where, planes, size).reshape(input_shape)
    return out.astype(grad.dtype, copy=False)


def _scatter(xp, values, where, planes, size):
    """Sums of values (planes, k) at positions (planes, k) of zeros (planes, size)."""
    flat = (where + (xp.arange(planes) * size)[:, None]).reshape(-1)
    if values.dtype.kind == "f" and flat.size:
        return xp.bincount(flat, values.reshape(-1), planes * size).astype(values.dtype)
    out = xp.zeros(planes * size, values.dtype)
    xp.add.at(out, flat, values.reshape(-1))
    return out


@kernel("gather_windows")
def gather_windows(xp, a, indices):
    """The elements of `a` (batch, channels, *space) at the flat positions `indices` (batch, channels, *out)."""
    flat = a.reshape(*a.shape[:2], math.prod(a.shape[2:]))
    where = indices.reshape(*indices.shape[:2], math.prod(indices.shape[2:]))
    return xp.take_along_axis(flat, where, 2).reshape(indices.shape)


@kernel("max_unpool")
def max_unpool(xp, a, indices, space):
    """Zeros (batch, channels, *space) with the elements of `a` at the flat positions `indices`."""
    planes, size = math.prod(a.shape[:2]), math.prod(space)
    out = xp.zeros((planes * size,), a.dtype)
    flat = indices.reshape(planes, math.prod(indices.shape[2:])) + (xp.arange(planes) * size)[:, None]
    out[flat.reshape(-1)] = a.reshape(-1)
    return out.reshape(*a.shape[:2], *space)


def _counts(xp, space, kernel_size, stride, padding, out_size, include_pad, divisor):
    """The divisor of each window: a number, or an array over the output space."""
    if divisor is not None:
        return divisor
    n, total, varies = len(space), 1, False
    for i in range(n):
        start = xp.arange(out_size[i]) * stride[i] - padding[i]
        end = xp.minimum(start + kernel_size[i], space[i] + padding[i])
        if not include_pad:
            start, end = xp.maximum(start, 0), xp.minimum(end, space[i])
        length = end - start
        varies = varies or bool((length != kernel_size[i]).any())
        total = total * _along(xp, length, i, n)
    return total if varies else math.prod(kernel_size)


def _divide(a, count):
    if a.dtype.kind in "iu":
        whole = abs(a) // abs(count)              # PyTorch rounds whole numbers towards 0
        return ((a < 0) != (count < 0)) * -2 * whole + whole
    return (a / count).astype(a.dtype, copy=False)


@kernel("avg_pool1d")
@kernel("avg_pool2d")
@kernel("avg_pool3d")
def avg_pool(xp, a, kernel_size, stride, padding, out_size, include_pad, divisor):
    """The mean of each window."""
    like, a = a, wide(xp, a)
    ones = (1,) * len(kernel_size)
    count = _counts(xp, a.shape[-len(kernel_size):], kernel_size, stride, padding, out_size, include_pad, divisor)
    padded = _padded(xp, a, padding, kernel_size, stride, ones, out_size, 0)
    total = None
    for offset in offsets(kernel_size):
        part = padded[place(offset, stride, ones, out_size)]
        if total is None:
            total = part.copy()
        else:
            total += part
    return narrow(xp, _divide(total, count), like)


@kernel("avg_pool_backward")
def avg_pool_backward(xp, grad, input_shape, kernel_size, stride, padding, include_pad, divisor):
    """The adjoint of avg_pool."""
    n, like = len(kernel_size), grad
    out_size, space, ones = grad.shape[-n:], input_shape[-n:], (1,) * n
    grad = _divide(wide(xp, grad), _counts(xp, space, kernel_size, stride, padding, out_size, include_pad, divisor))
    size = [max(length + 2 * p, (o - 1) * s + k) for length, p, o, s, k in
            zip(space, padding, out_size, stride, kernel_size)]
    out = xp.zeros((*grad.shape[:-n], *size), grad.dtype)
    for offset in offsets(kernel_size):
        out[place(offset, stride, ones, out_size)] += grad
    inner = (Ellipsis,) + tuple(slice(p, p + m) for p, m in zip(padding, space))
    return narrow(xp, xp.ascontiguousarray(out[inner]), like)


def bins(size, out):
    """(starts, ends) of adaptive pooling: bin i covers floor(i size / out) to ceil((i + 1) size / out)."""
    starts = [i * size // out for i in range(out)]
    ends = [-(-(i + 1) * size // out) for i in range(out)]
    return starts, ends


def _bin_matrix(xp, size, out, dtype):
    """(out, size) averaging weights of each bin."""
    starts, ends = bins(size, out)
    matrix = xp.zeros((out, size), dtype)
    for i, (s, e) in enumerate(zip(starts, ends)):
        matrix[i, s:e] = 1 / (e - s)
    return matrix


def _apply(xp, matrix, a, axis):
    """Matrix times `a` along one axis."""
    moved = xp.matmul(xp.moveaxis(a, axis, -1), matrix.swapaxes(0, 1))
    return xp.moveaxis(moved, -1, axis)


@kernel("adaptive_avg_pool1d")
@kernel("adaptive_avg_pool2d")
@kernel("adaptive_avg_pool3d")
def adaptive_avg_pool(xp, a, out_size):
    """Means over bins that divide the space into `out_size` parts."""
    n, like = len(out_size), a
    a = wide(xp, a)
    if all(o == 1 for o in out_size) and a.size:
        return narrow(xp, a.mean(tuple(range(-n, 0)), keepdims=True), like)
    for i, o in enumerate(out_size):
        axis = a.ndim - n + i
        if o != a.shape[axis]:
            a = _apply(xp, _bin_matrix(xp, a.shape[axis], o, a.dtype), a, axis)
    return narrow(xp, xp.array(a, order="C"), like)


@kernel("adaptive_avg_pool_backward")
def adaptive_avg_pool_backward(xp, grad, input_shape):
    """The adjoint of adaptive_avg_pool."""
    like, lead = grad, 2
    grad = wide(xp, grad)
    for axis in range(lead, len(input_shape)):
        if grad.shape[axis] == 1:                 # one bin: the same share for everybody
            shape = list(grad.shape)
            shape[axis] = input_shape[axis]
            grad = xp.broadcast_to(grad / max(1, input_shape[axis]), tuple(shape))
        elif grad.shape[axis] != input_shape[axis]:
            matrix = _bin_matrix(xp, input_shape[axis], grad.shape[axis], grad.dtype)
            grad = _apply(xp, matrix.swapaxes(0, 1), grad, axis)
    return narrow(xp, xp.array(grad, order="C"), like)


@kernel("binned_max_pool")
def binned_max_pool(xp, a, starts, ends):
    """(largest element, flat position) of the boxes starts[i] to ends[i] along each spatial dimension."""
    n = len(starts)
    space, like = a.shape[-n:], a
    a = wide(xp, a)
    starts, ends = [xp.asarray(s) for s in starts], [xp.asarray(e) for e in ends]
    longest = [int((e - s).max()) if s.size else 0 for s, e in zip(starts, ends)]
    best = where = None
    for offset in offsets(longest):
        index = [_along(xp, xp.minimum(s + k, e - 1), i, n) for i, (s, e, k) in enumerate(zip(starts, ends, offset))]
        value = a[(Ellipsis, *index)]
        flat = sum(x * math.prod(space[i + 1:]) for i, x in enumerate(index))
        flat = xp.broadcast_to(flat, value.shape)
        if best is None:
            best, where = value.copy(), flat.astype(xp.int64)
        else:
            # boxes shorter than the longest repeat their last element, which is never better than itself
            better = (value > best) | (_nan(xp, value) & ~_nan(xp, best))
            xp.copyto(best, value, "same_kind", better)
            xp.copyto(where, flat, "same_kind", better)
    if best is None:
        shape = (*a.shape[:-n], *(s.size for s in starts))
        best, where = xp.zeros(shape, a.dtype), xp.zeros(shape, xp.int64)
    return narrow(xp, best, like), where
