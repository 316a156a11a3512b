"""Max pooling: which calls the compiled loops over planes take."""
import math

import numpy as np

from ._common import SMALL, code, fits, threads


def max_pool2d_with_indices(a, kernel_size, stride, padding, dilation, out_size):
    """(largest element of each window, its flat int64 position in the plane)."""
    if a.size < SMALL or not fits(a) or a.ndim not in (3, 4):
        return NotImplemented
    height, width = a.shape[-2:]
    planes = a.reshape(-1, height, width)
    shape = (*a.shape[:-2], *out_size)
    out, where = np.empty(shape, a.dtype), np.empty(shape, np.int64)
    y, at = out.reshape(-1, *out_size), where.reshape(-1, *out_size)
    loops, char, n = code("pool"), a.dtype.char, threads(a.size)
    simple = (tuple(kernel_size), tuple(stride), tuple(dilation), tuple(padding)) == ((2, 2), (2, 2), (1, 1), (0, 0))
    if simple and 2 * out_size[0] <= height and 2 * out_size[1] <= width:
        if n > 1:
            loops.pairs_split[char](n, planes, y, at)
        else:
            loops.pairs[char](planes, y, at)
    else:
        loops.windows[char](planes, *kernel_size, *stride, *padding, *dilation, y, at)
    return out, where


def max_pool_backward(grad, indices, input_shape):
    """Adds each element of grad at its window's position."""
    if grad.size < SMALL or not fits(grad) or not indices.flags.c_contiguous or indices.dtype != np.int64:
        return NotImplemented
    count = math.prod(input_shape[:2])
    out = np.empty(input_shape, grad.dtype)
    arguments = (grad.reshape(count, -1), indices.reshape(count, -1), out.reshape(count, -1))
    loops, n = code("pool"), min(threads(out.size), count)
    if n > 1:
        loops.scatter_split[grad.dtype.char](n, *arguments)
    else:
        loops.scatter[grad.dtype.char](*arguments)
    return out
