"""Losses that need more than arithmetic: negative log likelihood, squared error, and connectionist classification."""
import math

from ..registry import kernel
from ._common import narrow, quiet, wide


def _class_axis(logp):
    return 0 if logp.ndim == 1 else 1


def _picked(xp, target, classes, ignore_index):
    """(which targets count, targets with the ignored ones replaced by 0). Raises IndexError outside the classes."""
    target = target.astype(xp.int64)
    kept = target != ignore_index
    bad = kept & ((target < 0) | (target >= classes))
    if xp.__name__ == "numpy" and bad.any():
        raise IndexError(f"Target {int(target[bad].reshape(-1)[0])} is out of bounds.")
    return kept, xp.where(kept, target, 0)


def _weights(xp, weight, kept, index, dtype):
    """The weight of each target, 0 for ignored ones."""
    if weight is None:
        return kept.astype(dtype)
    return wide(xp, weight)[index].astype(dtype) * kept


@kernel("nll_loss")
def nll_loss(xp, logp, target, weight, reduction, ignore_index):
    """(loss, total weight) of log probabilities (classes), (batch, classes) or (batch, classes, *)."""
    a, axis = wide(xp, logp), _class_axis(logp)
    kept, index = _picked(xp, target, a.shape[axis], ignore_index)
    w = _weights(xp, weight, kept, index, a.dtype)
    if a.size:
        picked = xp.take_along_axis(a, xp.expand_dims(index, axis), axis).reshape(index.shape)
        loss = -xp.where(kept, picked, 0) * w
    else:
        loss = xp.zeros(index.shape, a.dtype)
    total = w.sum()
    if reduction == "none":
        return narrow(xp, xp.asarray(loss), logp), xp.asarray(total)
    loss = loss.sum()
    if reduction == "mean":
        with quiet(xp):
            loss = loss / total
    return narrow(xp, xp.asarray(loss), logp), xp.asarray(total)


@kernel("nll_loss_backward")
def nll_loss_backward(xp, grad, target, weight, total, input_shape, reduction, ignore_index):
    """The gradient of the log probabilities: zero but for the target of each example."""
    axis = 0 if len(input_shape) == 1 else 1
    g = wide(xp, grad)
    kept, index = _picked(xp, target, input_shape[axis], ignore_index)
    share = _weights(xp, weight, kept, index, g.dtype)
    if reduction == "mean":
        with quiet(xp):
            share = share / wide(xp, total)
    out = xp.zeros(input_shape, g.dtype)
    if out.size:
        values = xp.where(kept, xp.broadcast_to(-g * share, index.shape), 0).astype(g.dtype)
        xp.put_along_axis(out, xp.expand_dims(index, axis), xp.expand_dims(values, axis), axis)
    return narrow(xp, out, grad)


@kernel("mse_loss")
def mse_loss(xp, input, target, reduction):
    """(input - target)^2, its mean or its sum."""
    difference = wide(xp, input) - wide(xp, target)
    if reduction == "none":
        return narrow(xp, xp.asarray(difference * difference), input)
    flat = xp.ascontiguousarray(difference).reshape(-1)
    total = xp.dot(flat, flat)
    if reduction == "mean":
        with quiet(xp):
            total = xp.divide(total, difference.dtype.type(difference.size))
    return narrow(xp, xp.asarray(total), input)


@kernel("mse_loss_backward")
def mse_loss_backward(xp, grad, input, target, reduction):
    """2 * (input - target) * grad, divided by the number of elements for the mean."""
    out = wide(xp, input) - wide(xp, target)
    scale = wide(xp, grad) * (2 / max(1, out.size) if reduction == "mean" else 2)
    return narrow(xp, xp.asarray(out * scale), input)


@kernel("bce")
def bce(xp, input, target):
    """-(target log(input) + (1 - target) log(1 - input)), each logarithm at least -100."""
    a, t = wide(xp, input), wide(xp, target)
    with quiet(xp):
        loss = (t - 1) * xp.maximum(xp.log1p(-a), -100) - t * xp.maximum(xp.log(a), -100)
    return narrow(xp, xp.asarray(loss), input)


@kernel("bce_backward")
def bce_backward(xp, grad, input, target):
    """grad * (input - target) / (input * (1 - input)), the divisor at least 1e-12."""
    a = wide(xp, input)
    out = wide(xp, grad) * (a - wide(xp, target)) / xp.maximum((1 - a) * a, 1e-12)
    return narrow(xp, xp.asarray(out), input)


def _log_add(xp, *terms):
    """log(sum(exp(term))) elementwise, -inf where all terms are."""
    top = terms[0]
    for t in terms[1:]:
        top = xp.maximum(top, t)
    safe = xp.where(xp.isfinite(top), top, 0)
    return xp.log(sum(xp.exp(t - safe) for t in terms)) + safe


def _extended(xp, targets, target_lengths, blank):
    """(batch, 2 L + 1) labels with blanks between them, and where a step may skip the blank before a label."""
    batch, longest = targets.shape
    labels = xp.full((batch, 2 * longest + 1), blank, xp.int64)
    labels[:, 1::2] = targets
    skip = xp.zeros(labels.shape, bool)
    skip[:, 3::2] = targets[:, 1:] != targets[:, :-1]
    return labels, skip


def _shift(xp, a, n):
    out = xp.full(a.shape, -math.inf, a.dtype)
    if n > 0:
        out[:, n:] = a[:, :-n]
    else:
        out[:, :n] = a[:, -n:]
    return out


def _alphas(xp, emitted, skip, target_lengths):
    """log of the probability of every prefix: (time, batch, states)."""
    alpha = xp.full(emitted.shape, -math.inf, emitted.dtype)
    alpha[0, :, 0] = emitted[0, :, 0]
    if emitted.shape[2] > 1:
        alpha[0, :, 1] = xp.where(target_lengths > 0, emitted[0, :, 1], -math.inf)
    for t in range(1, emitted.shape[0]):
        before = alpha[t - 1]
        alpha[t] = emitted[t] + _log_add(xp, before, _shift(xp, before, 1),
                                         xp.where(skip, _shift(xp, before, 2), -math.inf))
    return alpha


@kernel("ctc_loss")
def ctc_loss(xp, log_probs, targets, input_lengths, target_lengths, blank, zero_infinity=False):
    """(negative log likelihood of each example, log of the prefix probabilities). log_probs (time, batch, classes);
    targets (batch, longest target), padded with any label; lengths (batch,)."""
    a = wide(xp, log_probs)
    labels, skip = _extended(xp, targets, target_lengths, blank)
    with quiet(xp):
        emitted = xp.take_along_axis(a, xp.broadcast_to(labels, (a.shape[0], *labels.shape)), 2)
        alpha = _alphas(xp, emitted, skip, target_lengths)
        rows = xp.arange(labels.shape[0])
        last = xp.maximum(input_lengths - 1, 0)
        final = alpha[last, rows, 2 * target_lengths]
        before = xp.where(target_lengths > 0, alpha[last, rows, xp.maximum(2 * target_lengths - 1, 0)], -math.inf)
        loss = -_log_add(xp, final, before)
        empty = xp.where(target_lengths == 0, xp.zeros_like(loss), xp.full_like(loss, math.inf))
        loss = xp.where(input_lengths == 0, empty, loss)
    return narrow(xp, loss, log_probs), alpha


@kernel("ctc_loss_backward")
def ctc_loss_backward(xp, grad, log_probs, targets, input_lengths, target_lengths, loss, alpha, blank, zero_infinity):
    """The gradient of log_probs, as PyTorch defines it: exp(log_probs) minus the share of each label."""
    a, time = wide(xp, log_probs), log_probs.shape[0]
    labels, skip = _extended(xp, targets, target_lengths, blank)
    batch, states = labels.shape
    rows, ends = xp.arange(batch), 2 * target_lengths
    ahead = _shift_skip(xp, skip)
    out = xp.zeros(a.shape, a.dtype)
    with quiet(xp):
        emitted = xp.take_along_axis(a, xp.broadcast_to(labels, (time, batch, states)), 2)
        beta = xp.full((batch, states), -math.inf, a.dtype)
        for t in range(time - 1, -1, -1):
            following = _log_add(xp, beta, _shift(xp, beta, -1), xp.where(ahead, _shift(xp, beta, -2), -math.inf))
            beta = following + emitted[t]
            starts = input_lengths - 1 == t
            fresh = xp.full(beta.shape, -math.inf, a.dtype)
            fresh[rows, ends] = emitted[t, rows, ends]
            previous = xp.maximum(ends - 1, 0)
            fresh[rows, previous] = xp.where(ends > 0, emitted[t, rows, previous], fresh[rows, previous])
            beta = xp.where(starts[:, None], fresh, beta)
            beta = xp.where((input_lengths - 1 < t)[:, None], -math.inf, beta)
            share = xp.exp(alpha[t] + beta - emitted[t] + wide(xp, loss)[:, None])
            share = xp.where(xp.isnan(beta) | (beta == -math.inf) | (alpha[t] == -math.inf), 0, share)
            for s in range(states):
                out[t, rows, labels[:, s]] -= share[:, s]
            out[t] += xp.exp(a[t])
        out *= wide(xp, grad)[None, :, None]
        impossible = xp.isinf(wide(xp, loss))
        out = xp.where(impossible[None, :, None], 0 if zero_infinity else math.nan, out)
    out = xp.where((xp.arange(time)[:, None] >= input_lengths[None, :])[:, :, None], 0, out)
    return narrow(xp, out, log_probs)


def _shift_skip(xp, skip):
    ahead = xp.zeros(skip.shape, bool)
    ahead[:, :-2] = skip[:, 2:]
    return ahead
