"""Batch norm: which calls the compiled loops over channels take."""
import numpy as np

from ._common import SMALL, code, empty_like, fits, same, threads

SHORT = 8             # positions of a channel; shorter rows leave the loops idle


def _positions(a):
    return a.size // (a.shape[0] * a.shape[1]) if a.size else 0


def _takes(a, *others):
    return a.ndim > 2 and a.size >= SMALL and _positions(a) >= SHORT and fits(a) and same(
        a, *[o for o in others if o is not None])


def batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps):
    """(out, mean, rstd) in training, moving the running statistics in place."""
    if not training or not _takes(input, weight, bias):
        return NotImplemented
    dtype, channels = input.dtype, input.shape[1]
    a = input.reshape(input.shape[0], channels, -1)
    out, (mean, variance, rstd) = empty_like(input), np.empty((3, channels), dtype)
    arguments = (a, np.ones(channels, dtype) if weight is None else weight,
                 np.zeros(channels, dtype) if bias is None else bias, eps, out.reshape(a.shape), mean, variance, rstd)
    loops, n = code("channels"), min(threads(input.size), channels)
    if n > 1:
        loops.batch_norm_split[dtype.char](n, *arguments)
    else:
        loops.batch_norm[dtype.char](*arguments)
    count = a.shape[0] * a.shape[2]
    if running_mean is not None:
        _move(running_mean, mean, momentum)
    if running_var is not None:
        _move(running_var, variance * (count / max(1, count - 1)), momentum)
    return out, mean.copy(), rstd.copy()


def _move(running, value, momentum):
    running[...] = (1 - momentum) * running + (momentum * value).astype(running.dtype)


def batch_norm_backward(grad, input, weight, mean, rstd, training):
    """(gradient of input, of weight, of bias) in training."""
    if not training or not _takes(input, grad, weight, mean, rstd):
        return NotImplemented
    dtype, channels = input.dtype, input.shape[1]
    a, out = input.reshape(input.shape[0], channels, -1), empty_like(input)
    dw, db = np.empty(channels, dtype), np.empty(channels, dtype)
    arguments = (grad.reshape(a.shape), a, np.ones(channels, dtype) if weight is None else weight, mean, rstd,
                 out.reshape(a.shape), dw, db)
    loops, n = code("channels"), min(threads(input.size), channels)
    if n > 1:
        loops.batch_norm_backward_split[dtype.char](n, *arguments)
    else:
        loops.batch_norm_backward[dtype.char](*arguments)
    return out, dw, db
