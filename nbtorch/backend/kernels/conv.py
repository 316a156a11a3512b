"""Convolution in one to three dimensions: patches gathered into columns, then matrix products.

Arrays are (batch, channels, *space). `transposed` exchanges the roles of input and output, so that only three
computations exist: `_forward`, `_to_images` (its adjoint in the images) and `_to_weights` (its adjoint in the weights).
"""
import math

from ..registry import kernel
from ._common import narrow, wide

COLUMN_BYTES = 64 << 20                           # largest buffer of gathered patches
FEW = 64                                          # output positions below which images share one product


def _prepared(xp, *arrays):
    return [wide(xp, a) for a in arrays]


def _padded(xp, a, padding):
    """A copy with zeros around the spatial dimensions (the array itself for no padding)."""
    if not any(padding):
        return a
    shape = a.shape[:2] + tuple(n + 2 * p for n, p in zip(a.shape[2:], padding))
    out = xp.zeros(shape, a.dtype)
    out[(slice(None), slice(None)) + tuple(slice(p, p + n) for p, n in zip(padding, a.shape[2:]))] = a
    return out


def _windows(xp, a, kernel_size, out_size, stride, dilation, groups):
    """A view (batch, groups, channels/groups, *kernel, *out) of a padded array."""
    a = xp.ascontiguousarray(a)
    batch, channels, *_ = a.shape
    s = a.strides
    per_group = channels // groups
    shape = (batch, groups, per_group, *kernel_size, *out_size)
    strides = (s[0], s[1] * per_group, s[1], *(d * t for d, t in zip(dilation, s[2:])),
               *(d * t for d, t in zip(stride, s[2:])))
    return xp.lib.stride_tricks.as_strided(a, shape, strides)


def _offsets(kernel_size):
    """Index tuples of all kernel positions."""
    found = [()]
    for n in kernel_size:
        found = [f + (i,) for f in found for i in range(n)]
    return found


def _at(offset, stride, dilation, out_size):
    """The slices of a padded image that kernel position `offset` meets."""
    return tuple(slice(k * d, k * d + (o - 1) * s + 1, s) for k, s, d, o in zip(offset, stride, dilation, out_size))


def _blocks(batch, rows, bytes_per_row):
    """(images, rows) slices whose columns fit the buffer."""
    per_image = max(1, rows * bytes_per_row)
    if per_image <= COLUMN_BYTES or rows <= 1:
        step = max(1, COLUMN_BYTES // per_image)
        for b in range(0, batch, step):
            yield slice(b, min(b + step, batch)), slice(0, rows)
    else:
        step = max(1, COLUMN_BYTES // bytes_per_row)
        for b in range(batch):
            for r in range(0, rows, step):
                yield slice(b, b + 1), slice(r, min(r + step, rows))


def _pointwise(kernel_size, stride, padding):
    return all(k == 1 for k in kernel_size) and all(s == 1 for s in stride) and not any(padding)


def _forward(xp, images, weight, stride, padding, dilation, groups, out_size):
    """Cross-correlation: (batch, out channels, *out_size)."""
    batch, (out_channels, per_group, *kernel_size) = images.shape[0], weight.shape
    depth = per_group * math.prod(kernel_size)
    matrix = xp.ascontiguousarray(weight).reshape(groups, out_channels // groups, depth)
    positions = math.prod(out_size)
    if _pointwise(kernel_size, stride, padding):
        columns = images.reshape(batch, groups, per_group, positions)
        return xp.matmul(matrix, columns).reshape(batch, out_channels, *out_size)
    padded = _padded(xp, images, padding)
    if per_group == 1 and groups > 1:
        return _depthwise(xp, padded, weight, stride, dilation, groups, out_size)
    windows = _windows(xp, padded, kernel_size, out_size, stride, dilation, groups)
    out = xp.empty((batch, groups, out_channels // groups, *out_size), images.dtype)
    n = len(kernel_size)
    row_bytes = groups * depth * (positions // max(1, out_size[0])) * images.itemsize
    for b, r in _blocks(batch, out_size[0], row_bytes):
        part = windows[(b, *(slice(None),) * (2 + n), r)]
        size = (r.stop - r.start, *out_size[1:])
        if positions >= FEW:
            columns = part.reshape(part.shape[0], groups, depth, math.prod(size))
            out[b, :, :, r] = xp.matmul(matrix, columns).reshape(part.shape[0], groups, -1, *size)
        else:
            columns = xp.moveaxis(part, 0, 2 + n).reshape(groups, depth, part.shape[0] * math.prod(size))
            product = xp.matmul(matrix, columns).reshape(groups, -1, part.shape[0], *size)
            out[b, :, :, r] = xp.moveaxis(product, 2, 0)
    return out.reshape(batch, out_channels, *out_size)


def _depthwise(xp, padded, weight, stride, dilation, groups, out_size):
    """One input channel per group: a sum over kernel positions is cheaper than tiny products."""
    batch, multiplier = padded.shape[0], weight.shape[0] // groups
    out = xp.zeros((batch, groups, multiplier, *out_size), padded.dtype)
    ones = (1,) * len(out_size)
    for offset in _offsets(weight.shape[2:]):
        w = weight[(slice(None), 0) + offset].reshape(1, groups, multiplier, *ones)
        patch = padded[(slice(None), slice(None)) + _at(offset, stride, dilation, out_size)]
        out += patch[:, :, None] * w
    return out.reshape(batch, groups * multiplier, *out_size)


def _to_images(xp, grad, weight, image_shape, stride, padding, dilation, groups):
    """The adjoint of `_forward` in the images."""
    batch, out_channels, *out_size = grad.shape
    per_group, *kernel_size = weight.shape[1:]
    positions = math.prod(out_size)
    matrix = xp.ascontiguousarray(weight).reshape(groups, out_channels // groups,
                                                  per_group * math.prod(kernel_size)).swapaxes(1, 2)
    flat = xp.ascontiguousarray(grad).reshape(batch, groups, out_channels // groups, positions)
    if _pointwise(kernel_size, stride, padding) and tuple(image_shape[2:]) == tuple(out_size):
        return xp.matmul(matrix, flat).reshape(image_shape)
    shape = (batch, groups, per_group) + tuple(n + 2 * p for n, p in zip(image_shape[2:], padding))
    out = xp.zeros(shape, grad.dtype)
    image_bytes = groups * per_group * math.prod(kernel_size) * positions * grad.itemsize
    step = max(1, COLUMN_BYTES // max(1, image_bytes))
    for b in range(0, batch, step):
        columns = xp.matmul(matrix, flat[b:b + step])
        columns = columns.reshape(columns.shape[0], groups, per_group, *kernel_size, *out_size)
        into = out[b:b + step]
        for offset in _offsets(kernel_size):
            into[(Ellipsis,) + _at(offset, stride, dilation, out_size)] += columns[(slice(None),) * 3 + offset]
    inner = (slice(None),) * 3 + tuple(slice(p, p + n) for p, n in zip(padding, image_shape[2:]))
    return xp.ascontiguousarray(out[inner]).reshape(image_shape)


def _to_weights(xp, grad, images, weight_shape, stride, padding, dilation, groups):
    """The adjoint of `_forward` in the weights."""
    batch, out_channels, *out_size = grad.shape
    per_group, *kernel_size = weight_shape[1:]
    n, depth, positions = len(out_size), per_group * math.prod(kernel_size), math.prod(out_size)
    grouped = grad.reshape(batch, groups, out_channels // groups, *out_size)
    windows = _windows(xp, _padded(xp, images, padding), kernel_size, out_size, stride, dilation, groups)
    total = xp.zeros((groups, out_channels // groups, depth), grad.dtype)
    row_bytes = groups * depth * (positions // max(1, out_size[0])) * grad.itemsize
    for b, r in _blocks(batch, out_size[0], row_bytes):
        part = windows[(b, *(slice(None),) * (2 + n), r)]
        inner = part.shape[0] * (r.stop - r.start) * math.prod(out_size[1:])
        columns = xp.moveaxis(part, 0, 2 + n).reshape(groups, depth, inner)
        rows = xp.moveaxis(grouped[b, :, :, r], 0, 2).reshape(groups, out_channels // groups, inner)
        total += xp.matmul(rows, columns.swapaxes(1, 2))
    return total.reshape(weight_shape)


def _out_size(image_size, kernel_size, stride, padding, dilation):
    return tuple((n + 2 * p - d * (k - 1) - 1) // s + 1
                 for n, k, s, p, d in zip(image_size, kernel_size, stride, padding, dilation))


def _transposed_size(size, kernel_size, stride, padding, dilation, output_padding):
    return tuple((n - 1) * s - 2 * p + d * (k - 1) + o + 1
                 for n, k, s, p, d, o in zip(size, kernel_size, stride, padding, dilation, output_padding))


@kernel("convolution")
@kernel("convolution_small")
def convolution(xp, input, weight, bias, stride, padding, dilation, transposed, output_padding, groups):
    """(batch, out channels, *out) of `input` (batch, channels, *space) and `weight`; see torch.nn.functional.conv2d."""
    like = input.dtype
    input, weight = _prepared(xp, input, weight)
    kernel_size = weight.shape[2:]
    if transposed:
        size = _transposed_size(input.shape[2:], kernel_size, stride, padding, dilation, output_padding)
        shape = (input.shape[0], weight.shape[1] * groups, *size)
        out = _to_images(xp, input, weight, shape, stride, padding, dilation, groups)
    else:
        size = _out_size(input.shape[2:], kernel_size, stride, padding, dilation)
        out = _forward(xp, input, weight, stride, padding, dilation, groups, size)
    if bias is not None:
        out += wide(xp, bias).reshape(-1, *(1,) * len(kernel_size))
    return narrow(xp, out, like)


@kernel("convolution_backward_input")
def convolution_backward_input(xp, grad, weight, input_shape, stride, padding, dilation, transposed, output_padding,
                               groups):
    """The adjoint of convolution in its input."""
    like = grad.dtype
    grad, weight = _prepared(xp, grad, weight)
    if transposed:
        out = _forward(xp, grad, weight, stride, padding, dilation, groups, tuple(input_shape[2:]))
    else:
        out = _to_images(xp, grad, weight, tuple(input_shape), stride, padding, dilation, groups)
    return narrow(xp, out, like)


@kernel("convolution_backward_weight")
def convolution_backward_weight(xp, grad, input, weight_shape, has_bias, stride, padding, dilation, transposed,
                                output_padding, groups):
    """(the adjoint of convolution in its weight, the gradient of the bias or None)."""
    like = grad.dtype
    grad, input = _prepared(xp, grad, input)
    images, outputs = (grad, input) if transposed else (input, grad)
    out = _to_weights(xp, outputs, images, tuple(weight_shape), stride, padding, dilation, groups)
    bias = grad.sum((0, *range(2, grad.ndim))) if has_bias else None
    return narrow(xp, out, like), None if bias is None else narrow(xp, bias, like)
