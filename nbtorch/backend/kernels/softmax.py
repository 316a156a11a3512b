"""Softmax and its logarithm along one dimension."""
from ..registry import kernel
from ._common import narrow, quiet, wide


def _prepare(xp, a, dtype):
    """(array to compute on, dtype of the result)."""
    if dtype is None:
        return wide(xp, a), a.dtype
    from ..dtypes import numpy_dtype
    target = numpy_dtype(dtype.name)
    return wide(xp, a if a.dtype == target else a.astype(target)), target


def _shifted(xp, a, dim):
    """a minus its maximum, on memory of its own. A row of -inf becomes NaN, as in PyTorch."""
    if a.dtype.kind == "c":
        return a - a.real.max(dim, keepdims=True)
    return a - a.max(dim, keepdims=True)


@kernel("softmax")
def softmax(xp, a, dim, dtype=None):
    """exp(a) / sum(exp(a)) along dim; computed in `dtype` (an object with a name) where given."""
    a, target = _prepare(xp, a, dtype)
    if a.size == 0 or a.ndim == 0:
        return (a * 0 + 1).astype(target)
    with quiet(xp):
        out = _shifted(xp, a, dim)
        xp.exp(out, out)
        out /= out.sum(dim, keepdims=True)
    return narrow(xp, out, target)


@kernel("softmax_backward")
def softmax_backward(xp, grad, result, dim):
    """result * (grad - sum(grad * result))."""
    if result.ndim == 0:
        return grad * 0
    like = result.dtype
    grad, result = wide(xp, grad), wide(xp, result)
    out = grad * result
    total = out.sum(dim, keepdims=True)
    out -= result * total
    return narrow(xp, out, like)


@kernel("log_softmax")
def log_softmax(xp, a, dim, dtype=None):
    """a - log(sum(exp(a))) along dim."""
    a, target = _prepare(xp, a, dtype)
    if a.size == 0 or a.ndim == 0:
        return (a * 0).astype(target)
    with quiet(xp):
        out = _shifted(xp, a, dim)
        out -= xp.log(xp.exp(out).sum(dim, keepdims=True))
    return narrow(xp, out, target)


@kernel("log_softmax_backward")
def log_softmax_backward(xp, grad, result, dim):
    """grad - exp(result) * sum(grad)."""
    if result.ndim == 0:
        return grad * 0
    like = result.dtype
    grad, result = wide(xp, grad), wide(xp, result)
    out = xp.exp(result)
    out *= grad.sum(dim, keepdims=True)
    xp.subtract(grad, out, out)
    return narrow(xp, out, like)
