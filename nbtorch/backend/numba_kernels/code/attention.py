"""The softmax inside attention, in place on a block of scores (heads, rows, columns), and its derivative.

`causal`: row r sees the columns up to r; the others are 0 and never looked at. A row that sees nothing but -inf is 0.
"""
import numpy as np

from . import math
from .jit import compiled


@compiled("void(T[:,:,::1], T, uint8)")
def scores_softmax(scores, scale, causal):
    zero = scores.dtype.type(0)
    for h in range(scores.shape[0]):
        for r in range(scores.shape[1]):
            seen = min(r + 1, scores.shape[2]) if causal else scores.shape[2]
            x, rest = scores[h, r, :seen], scores[h, r, seen:]
            top = x[0] * scale
            for i in range(x.size):
                v = x[i] * scale
                x[i] = v
                top = math.larger(top, v)
            base = zero if top == -np.inf else top
            total = zero
            for i in range(x.size):
                e = math.exp(x[i] - base)
                x[i] = e
                total += e
            inverse = zero if total == 0 else 1 / total
            for i in range(x.size):
                x[i] *= inverse
            for i in range(rest.size):
                rest[i] = 0


@compiled("void(T[:,:,::1], T[:,:,::1], T, uint8)")
def scores_slopes(scores, p, scale, causal):
    """scores = p * (scores - sum(scores * p)) * scale"""
    zero = scores.dtype.type(0)
    for h in range(scores.shape[0]):
        for r in range(scores.shape[1]):
            seen = min(r + 1, scores.shape[2]) if causal else scores.shape[2]
            x, y, rest = scores[h, r, :seen], p[h, r, :seen], scores[h, r, seen:]
            total = zero
            for i in range(x.size):
                total += x[i] * y[i]
            for i in range(x.size):
                x[i] = y[i] * (x[i] - total) * scale
            for i in range(rest.size):
                rest[i] = 0
