"""Scaled dot-product attention, one block of heads at a time so that the scores stay in cache."""
import math

from ..registry import kernel
from ._common import narrow, quiet, wide

BLOCK_BYTES = 1 << 20


def _block(scores_shape, itemsize):
    """Heads per block."""
    return max(1, BLOCK_BYTES // max(1, math.prod(scores_shape[-2:]) * itemsize))



def _softmax_rows(xp, scores):
    """In place; a row of -inf only gives zeros."""
    top = scores.max(-1, keepdims=True)
    top = xp.where(top == -math.inf, scores.dtype.type(0), top)
    scores -= top
    xp.exp(scores, scores)
    total = scores.sum(-1, keepdims=True)
    total = xp.where(total == 0, total.dtype.type(1), total)
    scores /= total


@kernel("attention")
def attention(xp, query, key, value, mask, is_causal, scale):
    """(out, probabilities). query (*, L, E), key (*, S, E), value (*, S, Ev) with equal leading dimensions; mask
    broadcasts to (*, L, S): bool (True takes part) or added to the scores."""
    like, lead = query, query.shape[:-2]
    q, k, v = (wide(xp, a).reshape(-1, *a.shape[-2:]) for a in (query, key, value))
    heads, rows, columns = q.shape[0], q.shape[1], k.shape[1]
    probabilities = xp.empty((heads, rows, columns), q.dtype)
    out = xp.empty((heads, rows, v.shape[2]), q.dtype)
    if mask is not None:
        mask = xp.broadcast_to(mask, (*lead, rows, columns)).reshape(-1, rows, columns)
    blocked = xp.triu(xp.full((rows, columns), -math.inf, q.dtype), 1) if is_causal else None
    step = _block((rows, columns), q.itemsize)
    with quiet(xp):
        for b in range(0, heads if out.size or probabilities.size else 0, step):
            part = slice(b, b + step)
            scores = xp.matmul(q[part], k[part].swapaxes(1, 2))
            scores *= q.dtype.type(scale)
            if blocked is not None:
                scores += blocked
            if mask is not None and mask.dtype == bool:
                scores = xp.where(mask[part], scores, scores.dtype.type(-math.inf))
            elif mask is not None:
                scores += wide(xp, mask[part])
            if columns:
                _softmax_rows(xp, scores)
            probabilities[part] = scores
            out[part] = xp.matmul(scores, v[part])
    shape = (*lead, rows)
    return (narrow(xp, out, like).reshape(*shape, v.shape[2]),
            narrow(xp, probabilities, like).reshape(*shape, columns))


@kernel("attention_backward")
def attention_backward(xp, grad, query, key, value, mask, probabilities, is_causal, scale):
    """Gradients of query, key and value."""
    g, q, k, v, p = (wide(xp, a).reshape(-1, *a.shape[-2:]) for a in (grad, query, key, value, probabilities))
    gq, gk, gv = xp.empty(q.shape, q.dtype), xp.empty(k.shape, q.dtype), xp.empty(v.shape, q.dtype)
    step = _block(p.shape, q.itemsize)
    for b in range(0, q.shape[0], step):
        part = slice(b, b + step)
        scores = xp.matmul(g[part], v[part].swapaxes(1, 2))
        weighted = scores * p[part]
        scores -= weighted.sum(-1, keepdims=True)
        scores *= p[part]
        scores *= q.dtype.type(scale)
        gq[part] = xp.matmul(scores, k[part])
        gk[part] = xp.matmul(scores.swapaxes(1, 2), q[part])
        gv[part] = xp.matmul(p[part].swapaxes(1, 2), g[part])
    return (narrow(xp, gq, query).reshape(query.shape), narrow(xp, gk, key).reshape(key.shape),
            narrow(xp, gv, value).reshape(value.shape))
