"""Resizing and padding along the spatial dimensions. Every mode is a sum of few neighbours, one dimension at a time."""
import math

from ..registry import kernel
from ._common import narrow, wide

SIZES = {"linear": 2, "cubic": 4, "lanczos": 6}   # taps of a filter at its own scale


def _scale(n_in, n_out, scale, align_corners):
    """Step in the input for one step in the output."""
    if align_corners:
        return (n_in - 1) / (n_out - 1) if n_out > 1 else 0.0
    return 1.0 / scale if scale is not None and scale > 0 else n_in / n_out


def _nearest(xp, n_in, n_out, scale, exact):
    # float32, because PyTorch computes these positions in float32 and the rounding decides the neighbour
    step = xp.float32(_scale(n_in, n_out, scale, False))
    position = (xp.arange(n_out).astype(xp.float32) + xp.float32(0.5 if exact else 0)) * step
    return xp.minimum(xp.floor(position).astype(xp.int64), n_in - 1)[:, None], None


def _linear(xp, n_in, n_out, scale, align_corners, dtype):
    position = xp.arange(n_out).astype(dtype)
    step = dtype.type(_scale(n_in, n_out, scale, align_corners))
    position = position * step if align_corners else xp.maximum((position + dtype.type(0.5)) * step - dtype.type(0.5),
                                                                0)
    low = xp.minimum(position.astype(xp.int64), n_in - 1)
    high = xp.minimum(low + 1, n_in - 1)
    part = (position - low).astype(dtype)
    return xp.stack([low, high], 1), xp.stack([1 - part, part], 1)


def _cubic_weight(xp, x, a):
    x = abs(x)
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    return xp.where(x <= 1, near, xp.where(x < 2, far, 0))


def _cubic(xp, n_in, n_out, scale, align_corners, dtype):
    position = xp.arange(n_out).astype(dtype)
    step = dtype.type(_scale(n_in, n_out, scale, align_corners))
    position = position * step if align_corners else (position + dtype.type(0.5)) * step - dtype.type(0.5)
    low = xp.floor(position)
    part = position - low
    taps = xp.arange(-1, 3)
    weights = _cubic_weight(xp, part[:, None] - taps[None, :].astype(dtype), -0.75).astype(dtype)
    return xp.clip(low.astype(xp.int64)[:, None] + taps[None, :], 0, n_in - 1), weights


def _filter(xp, mode, x):
    if mode == "linear":
        return xp.maximum(1 - abs(x), 0)
    if mode == "cubic":
        return _cubic_weight(xp, x, -0.5)
    return xp.where(abs(x) < 3, xp.sinc(x) * xp.sinc(x / 3), 0)


def _antialiased(xp, mode, n_in, n_out, scale, align_corners, dtype):
    """Taps of a filter stretched when shrinking, so that every input counts."""
    step = _scale(n_in, n_out, scale, align_corners)
    support = SIZES[mode] / 2 * max(step, 1.0)
    inverse = 1 / step if step >= 1 else 1.0
    centre = step * (xp.arange(n_out) + 0.5)
    first = xp.maximum((centre - support + 0.5).astype(xp.int64), 0)
    last = xp.minimum((centre + support + 0.5).astype(xp.int64), n_in)
    taps = xp.arange(max(int((last - first).max()), 1))
    index = first[:, None] + taps[None, :]
    weights = _filter(xp, mode, (index - centre[:, None] + 0.5) * inverse)
    weights = xp.where(index < last[:, None], weights, 0)
    weights = weights / weights.sum(1, keepdims=True)
    return xp.minimum(index, n_in - 1), weights.astype(dtype)


def taps(xp, mode, n_in, n_out, scale, align_corners, antialias, dtype):
    """(index, weight): output i is the sum over t of weight[i, t] * input[index[i, t]]; weight None means one tap."""
    if mode in ("nearest", "nearest-exact"):
        return _nearest(xp, n_in, n_out, scale, mode == "nearest-exact")
    if antialias:
        return _antialiased(xp, mode, n_in, n_out, scale, align_corners, dtype)
    return (_linear if mode == "linear" else _cubic)(xp, n_in, n_out, scale, align_corners, dtype)


def _matrix(xp, index, weight, n_in, dtype):
    matrix = xp.zeros((index.shape[0], n_in), dtype)
    rows = xp.arange(index.shape[0])
    for t in range(index.shape[1]):
        column = index[:, t]
        matrix[rows, column] += 1 if weight is None else weight[:, t]
    return matrix


def _forward_axis(xp, a, axis, index, weight):
    if weight is None:
        return xp.take(a, index[:, 0], axis)
    shape = [1] * a.ndim
    shape[axis] = index.shape[0]
    if index.shape[1] > 4:
        matrix = _matrix(xp, index, weight, a.shape[axis], a.dtype)
        return xp.moveaxis(xp.matmul(xp.moveaxis(a, axis, -1), matrix.swapaxes(0, 1)), -1, axis)
    out = xp.take(a, index[:, 0], axis) * weight[:, 0].reshape(shape)
    for t in range(1, index.shape[1]):
        out += xp.take(a, index[:, t], axis) * weight[:, t].reshape(shape)
    return out


def _computed(xp, a):
    """Whole numbers (uint8 images) are interpolated in float32."""
    return a.astype(xp.float32) if a.dtype.kind in "iu" else wide(xp, a)


@kernel("resize")
def resize(xp, a, mode, out_size, scales, align_corners, antialias):
    """`a` (batch, channels, *space) resized to out_size; mode is nearest, nearest-exact, linear, cubic or lanczos."""
    nearest = mode in ("nearest", "nearest-exact")
    out = a if nearest else _computed(xp, a)
    real = out.real.dtype
    for i, n_out in enumerate(out_size):
        axis, n_in = i + 2, out.shape[i + 2]
        same = mode != "nearest" and antialias is False and n_in == n_out and scales[i] is None
        if same or (nearest and n_in == n_out and scales[i] in (None, 1.0)):
            continue
        out = _forward_axis(xp, out, axis, *taps(xp, mode, n_in, n_out, scales[i], align_corners, antialias, real))
    if a.dtype.kind in "iu" and not nearest:
        import numpy as np
        limits = np.iinfo(a.dtype)
        out = xp.clip(xp.rint(out), limits.min, limits.max)
    return xp.array(out, a.dtype, order="C")


@kernel("resize_backward")
def resize_backward(xp, grad, input_shape, mode, scales, align_corners, antialias):
    """The adjoint of resize."""
    out = wide(xp, grad)
    for i, n_in in enumerate(input_shape[2:]):
        axis, n_out = i + 2, out.shape[i + 2]
        index, weight = taps(xp, mode, n_in, n_out, scales[i], align_corners, antialias, out.real.dtype)
        if weight is None and n_out % n_in == 0 and bool((index[:, 0] == xp.arange(n_out) // (n_out // n_in)).all()):
            split = (*out.shape[:axis], n_in, n_out // n_in, *out.shape[axis + 1:])
            out = out.reshape(split).sum(axis + 1)
            continue
        matrix = _matrix(xp, index, weight, n_in, out.dtype)
        out = xp.moveaxis(xp.matmul(xp.moveaxis(out, axis, -1), matrix), -1, axis)
    return narrow(xp, xp.ascontiguousarray(out), grad)


# ---- padding; `pad` has (before, after) of the last dimension first, as in torch.nn.functional.pad

def _pairs(a, pad):
    """(axis, before, after) for every padded axis."""
    return [(a.ndim - 1 - i, pad[2 * i], pad[2 * i + 1]) for i in range(len(pad) // 2)]


@kernel("constant_pad_nd")
def constant_pad_nd(xp, a, pad, value):
    """`a` with `value` around it; negative sizes cut."""
    shape, source, target = list(a.shape), [slice(None)] * a.ndim, [slice(None)] * a.ndim
    for axis, before, after in _pairs(a, pad):
        shape[axis] += before + after
        source[axis] = slice(max(-before, 0), a.shape[axis] - max(-after, 0))
        target[axis] = slice(max(before, 0), shape[axis] - max(after, 0))
    if all(p <= 0 for p in pad):
        return xp.array(a[tuple(source)], order="C")
    # a kept dimension order (channels last) costs nothing here
    out = xp.full(tuple(shape), value, a.dtype)
    out[tuple(target)] = a[tuple(source)]
    return out


def _indices(xp, n, before, after, mode):
    """Which element of a dimension of size n each padded position shows."""
    position = xp.arange(-before, n + after)
    if mode == "replicate":
        return xp.clip(position, 0, n - 1)
    if mode == "circular":                        # negative sizes cut first, and what is left goes round
        start = max(-before, 0)
        return start + (position - start) % max(n - start - max(-after, 0), 1)
    position = abs(position)
    return xp.where(position >= n, 2 * (n - 1) - position, position)


@kernel("pad_mirror")
def pad_mirror(xp, a, pad, mode):
    """`a` padded with elements of its own: mode reflect, replicate or circular."""
    for axis, before, after in _pairs(a, pad):
        if before or after:
            a = xp.take(a, _indices(xp, a.shape[axis], before, after, mode), axis)
    return xp.array(a, order="C")


@kernel("pad_mirror_backward")
def pad_mirror_backward(xp, grad, input_shape, pad, mode):
    """The adjoint of pad_mirror."""
    out = wide(xp, grad)
    for axis, before, after in _pairs(grad, pad):
        if not (before or after):
            continue
        n = input_shape[axis]
        index = _indices(xp, n, before, after, mode)
        moved = xp.moveaxis(out, axis, 0)
        start = max(before, 0)
        middle = slice(start, start + n - max(-before, 0) - max(-after, 0))
        total = xp.zeros((n, *moved.shape[1:]), out.dtype)
        first = int(index[start]) if index.size > start else 0
        total[first:first + middle.stop - middle.start] += moved[middle]
        for i in [*range(middle.start), *range(middle.stop, index.size)]:
            total[int(index[i])] += moved[i]
        out = xp.moveaxis(total, 0, axis)
    return narrow(xp, xp.ascontiguousarray(out), grad)


# ---- patches

def _patch_size(size, kernel_size, dilation, padding, stride):
    return tuple((n + 2 * p - d * (k - 1) - 1) // s + 1
                 for n, k, d, p, s in zip(size, kernel_size, dilation, padding, stride))


@kernel("im2col")
def im2col(xp, a, kernel_size, dilation, padding, stride):
    """Patches of images (batch, channels, height, width) as columns (batch, channels * kernel, positions)."""
    from .conv import _padded, _windows
    out_size = _patch_size(a.shape[2:], kernel_size, dilation, padding, stride)
    windows = _windows(xp, _padded(xp, a, padding), kernel_size, out_size, stride, dilation, 1)
    return xp.array(windows.reshape(a.shape[0], a.shape[1] * math.prod(kernel_size), math.prod(out_size)))


@kernel("col2im")
def col2im(xp, columns, output_size, kernel_size, dilation, padding, stride):
    """Columns (batch, channels * kernel, positions) added up at their places in images; the adjoint of im2col."""
    from .conv import _at, _offsets
    like, columns = columns, wide(xp, columns)
    out_size = _patch_size(output_size, kernel_size, dilation, padding, stride)
    batch, channels = columns.shape[0], columns.shape[1] // math.prod(kernel_size)
    columns = columns.reshape(batch, channels, *kernel_size, *out_size)
    out = xp.zeros((batch, channels, *(n + 2 * p for n, p in zip(output_size, padding))), columns.dtype)
    for offset in _offsets(kernel_size):
        out[(Ellipsis,) + _at(offset, stride, dilation, out_size)] += columns[(slice(None),) * 2 + offset]
    inner = (Ellipsis,) + tuple(slice(p, p + n) for p, n in zip(padding, output_size))
    return narrow(xp, xp.ascontiguousarray(out[inner]), like)
