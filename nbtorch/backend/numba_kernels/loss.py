"""Negative log likelihood: which calls the compiled loops take."""
import numpy as np

from ._common import SMALL, code, fits, flat, same


def _takes(a, target, weight):
    return (a.ndim == 2 and a.size >= SMALL and fits(a) and target.dtype == np.int64 and target.flags.c_contiguous
            and target.shape == a.shape[:1] and (weight is None or same(a, weight)))


def _outside(target, row):
    if row >= 0:
        raise IndexError(f"Target {int(target[row])} is out of bounds.")


def nll_loss(logp, target, weight, reduction, ignore_index):
    """(loss, total weight) of log probabilities (batch, classes)."""
    if not _takes(logp, target, weight):
        return NotImplemented
    loss, total = np.empty(target.shape, logp.dtype), np.zeros(1, logp.dtype)
    _outside(target, code("loss").nll_loss[logp.dtype.char](
        logp, target, total if weight is None else weight, weight is not None, ignore_index, loss, total))
    total = total[0]
    if reduction == "none":
        return loss, np.asarray(total)
    summed = loss.sum()
    if reduction == "mean":
        summed = summed / total if total else summed * logp.dtype.type(np.nan)
    return np.asarray(summed), np.asarray(total)


def nll_loss_backward(grad, target, weight, total, input_shape, reduction, ignore_index):
    """The gradient of the log probabilities: zero but for the target of each example."""
    if len(input_shape) != 2 or not fits(grad) or total.dtype != grad.dtype:
        return NotImplemented
    out = np.empty(input_shape, grad.dtype)
    if not _takes(out, target, weight) or (reduction == "mean" and not total):
        return NotImplemented
    _outside(target, code("loss").nll_loss_backward[grad.dtype.char](
        flat(grad), grad.ndim > 0, target, flat(grad) if weight is None else weight, weight is not None, ignore_index,
        1 / total.item() if reduction == "mean" else 1.0, out))
    return out
