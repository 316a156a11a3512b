"""Softmax, its logarithm, layer norm: which calls the compiled row loops take."""
import numpy as np

from ._common import SMALL, code, empty_like, fits, flat, same, threads


def _rows(a, dim):
    """Whether `a` is a stack of rows along `dim`, large enough."""
    return a.size >= SMALL and a.ndim and dim in (-1, a.ndim - 1) and fits(a)


def _plain(a, dtype):
    return dtype is None or dtype.name == a.dtype.name


def _run(name, arrays, *rest):
    """Call the loop over rows, split among threads where it exists and pays."""
    first = arrays[0]
    loops, n = code("rows"), threads(first.size)
    split = getattr(loops, name + "_split", None) if n > 1 else None
    shaped = [a.reshape(-1, first.shape[-1]) for a in arrays]
    if split is not None:
        split[first.dtype.char](n, *shaped, *rest)
    else:
        getattr(loops, name)[first.dtype.char](*shaped, *rest)
    return arrays[-1]


def softmax(a, dim, dtype=None):
    """exp(a) / sum(exp(a)) along the last dimension."""
    if not _rows(a, dim) or not _plain(a, dtype):
        return NotImplemented
    return _run("softmax", (a, empty_like(a)))


def log_softmax(a, dim, dtype=None):
    """a - log(sum(exp(a))) along the last dimension."""
    if not _rows(a, dim) or not _plain(a, dtype):
        return NotImplemented
    return _run("log_softmax", (a, empty_like(a)))


def softmax_backward(grad, result, dim):
    """result * (grad - sum(grad * result))."""
    if not _rows(result, dim) or not same(result, grad):
        return NotImplemented
    return _run("softmax_backward", (grad, result, empty_like(grad)))


def log_softmax_backward(grad, result, dim):
    """grad - exp(result) * sum(grad)."""
    if not _rows(result, dim) or not same(result, grad):
        return NotImplemented
    return _run("log_softmax_backward", (grad, result, empty_like(grad)))


def _filled(vector, size, value, dtype):
    return np.full(size, value, dtype) if vector is None else flat(vector)


def layer_norm(input, weight, bias, normalized_shape, eps):
    """(out, mean, rstd) over the last dimensions; mean and rstd keep the others and have size 1 there."""
    given = [v for v in (weight, bias) if v is not None]
    if input.size < SMALL or not fits(input) or not same(input, *given):
        return NotImplemented
    lead, dtype = input.ndim - len(normalized_shape), input.dtype
    shape = input.shape[:lead] + (1,) * len(normalized_shape)
    a = input.reshape(int(np.prod(shape)), -1)
    out, mean, rstd = empty_like(input), np.empty(shape, dtype), np.empty(shape, dtype)
    arguments = (a, _filled(weight, a.shape[1], 1, dtype), _filled(bias, a.shape[1], 0, dtype), eps,
                 out.reshape(a.shape), flat(mean), flat(rstd))
    loops, n = code("rows"), threads(input.size)
    if n > 1:
        loops.layer_norm_split[dtype.char](n, *arguments)
    else:
        loops.layer_norm[dtype.char](*arguments)
    return out, mean, rstd


def layer_norm_backward(grad, input, weight, mean, rstd, normalized_shape):
    """(gradient of input, of weight, of bias); weight may be None and counts as ones."""
    given = [v for v in (grad, weight, mean, rstd) if v is not None]
    if input.size < SMALL or not fits(input) or not same(input, *given):
        return NotImplemented
    dtype, inner = input.dtype, tuple(normalized_shape)
    a, n = input.reshape(mean.size, -1), threads(input.size)
    out, partial = empty_like(input), np.zeros((2, n, a.shape[1]), dtype)
    arguments = (grad.reshape(a.shape), a, flat(mean), flat(rstd), _filled(weight, a.shape[1], 1, dtype),
                 out.reshape(a.shape), partial[0], partial[1])
    loops = code("rows")
    if n > 1:
        loops.layer_norm_backward_split[dtype.char](n, *arguments)
    else:
        loops.layer_norm_backward[dtype.char](*arguments)
    sums = partial.sum(1)
    return out, sums[0].reshape(inner).copy(), sums[1].reshape(inner).copy()
