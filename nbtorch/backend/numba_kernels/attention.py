"""Scaled dot-product attention: NumPy's products, with everything between them in one compiled pass."""
import numpy as np

from ._common import SMALL, code

BLOCK_BYTES = 1 << 20


def _takes(*arrays):
    char = arrays[0].dtype.char
    return char in "fd" and all(a.dtype.char == char for a in arrays)


def _heads(a):
    return a.reshape(-1, *a.shape[-2:])


def _parts(heads, rows, columns, itemsize):
    """Slices of heads whose scores stay in the cache."""
    step = max(1, BLOCK_BYTES // (rows * columns * itemsize))
    return [slice(b, min(b + step, heads)) for b in range(0, heads, step)]


def attention(query, key, value, mask, is_causal, scale):
    """(out, probabilities); see the generic kernel for the shapes."""
    if mask is not None or not _takes(query, key, value):
        return NotImplemented
    q, k, v = _heads(query), _heads(key), _heads(value)
    heads, rows, columns = q.shape[0], q.shape[1], k.shape[1]
    if heads * rows * columns < SMALL:
        return NotImplemented
    probabilities, out = np.empty((heads, rows, columns), q.dtype), np.empty((heads, rows, v.shape[2]), q.dtype)
    softmax = code("attention").scores_softmax[q.dtype.char]
    with np.errstate(all="ignore"):
        for part in _parts(heads, rows, columns, q.itemsize):
            scores = np.matmul(q[part], k[part].swapaxes(1, 2), probabilities[part])
            softmax(scores, scale, is_causal)
            np.matmul(scores, v[part], out[part])
    lead = query.shape[:-1]
    return out.reshape(*lead, v.shape[2]), probabilities.reshape(*lead, columns)


def attention_backward(grad, query, key, value, mask, probabilities, is_causal, scale):
    """Gradients of query, key and value."""
    if not _takes(grad, query, key, value, probabilities) or probabilities.size < SMALL:
        return NotImplemented
    g, q, k, v = _heads(grad), _heads(query), _heads(key), _heads(value)
    p = np.ascontiguousarray(_heads(probabilities))
    gq, gk, gv = np.empty(q.shape, q.dtype), np.empty(k.shape, q.dtype), np.empty(v.shape, q.dtype)
    slopes = code("attention").scores_slopes[q.dtype.char]
    parts = _parts(*p.shape, q.itemsize)
    room = np.empty((parts[0].stop, *p.shape[1:]), q.dtype)
    for part in parts:
        scores = np.matmul(g[part], v[part].swapaxes(1, 2), room[:part.stop - part.start])
        slopes(scores, p[part], scale, is_causal)
        np.matmul(scores, k[part], gq[part])
        np.matmul(scores.swapaxes(1, 2), q[part], gk[part])
        np.matmul(p[part].swapaxes(1, 2), g[part], gv[part])
    return gq.reshape(query.shape), gk.reshape(key.shape), gv.reshape(value.shape)
