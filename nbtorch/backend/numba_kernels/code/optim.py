"""Optimizer steps in one pass over memory. `whole` runs on this thread, `split` over `n` threads in equal chunks.

The selects on flags stand inside the loops: they do not change from element to element, so the loops still vectorise,
and a weight decay of 0 never multiplies (0 * inf would be NaN).
"""
from math import sqrt

from numba import prange

from .jit import compiled, part


@part
def _adam(p, g, m, v, size, root, keep, b1, b2, c1, c2, wd, eps, maximize, penalty):
    for i in range(p.size):
        x = p[i] * keep
        d = g[i]
        d = -d if maximize else d
        d = d + wd * x if penalty else d
        a = m[i] + c1 * (d - m[i])
        b = v[i] * b2 + c2 * (d * d)
        m[i] = a
        v[i] = b
        p[i] = x - size * (a / (sqrt(b) / root + eps))


@part
def _amsgrad(p, g, m, v, w, size, root, keep, b1, b2, c1, c2, wd, eps, maximize, penalty):
    for i in range(p.size):
        x = p[i] * keep
        d = g[i]
        d = -d if maximize else d
        d = d + wd * x if penalty else d
        a = m[i] + c1 * (d - m[i])
        b = v[i] * b2 + c2 * (d * d)
        top = b if b > w[i] or b != b else w[i]
        m[i] = a
        v[i] = b
        w[i] = top
        p[i] = x - size * (a / (sqrt(top) / root + eps))


_ADAM = ", T, T, T, T, T, T, T, T, T, uint8, uint8)"


@compiled("void(T[::1], T[::1], T[::1], T[::1]" + _ADAM)
def adam(p, g, m, v, size, root, keep, b1, b2, c1, c2, wd, eps, maximize, penalty):
    _adam(p, g, m, v, size, root, keep, b1, b2, c1, c2, wd, eps, maximize, penalty)


@compiled("void(int64, T[::1], T[::1], T[::1], T[::1]" + _ADAM, parallel=True)
def adam_split(n, p, g, m, v, size, root, keep, b1, b2, c1, c2, wd, eps, maximize, penalty):
    for k in prange(n):
        lo, hi = p.size * k // n, p.size * (k + 1) // n
        _adam(p[lo:hi], g[lo:hi], m[lo:hi], v[lo:hi], size, root, keep, b1, b2, c1, c2, wd, eps, maximize, penalty)


@compiled("void(T[::1], T[::1], T[::1], T[::1], T[::1]" + _ADAM)
def amsgrad(p, g, m, v, w, size, root, keep, b1, b2, c1, c2, wd, eps, maximize, penalty):
    _amsgrad(p, g, m, v, w, size, root, keep, b1, b2, c1, c2, wd, eps, maximize, penalty)


@compiled("void(T[::1], T[::1], T, T, uint8)")
def sgd(p, g, lr, wd, maximize):
    for i in range(p.size):
        d = g[i]
        d = -d if maximize else d
        d = d + wd * p[i] if wd != 0 else d
        p[i] -= lr * d


@compiled("void(T[::1], T[::1], T[::1], T, T, T, T, uint8, uint8, uint8)")
def sgd_momentum(p, g, buffer, lr, momentum, damped, wd, nesterov, maximize, first):
    for i in range(p.size):
        d = g[i]
        d = -d if maximize else d
        d = d + wd * p[i] if wd != 0 else d
        b = d if first else buffer[i] * momentum + damped * d
        buffer[i] = b
        p[i] -= lr * (d + momentum * b if nesterov else b)


@compiled("void(T[::1], T[::1], T[::1], T, T, T, T, T, uint8)")
def rmsprop(p, g, square, lr, alpha, rest, eps, wd, maximize):
    for i in range(p.size):
        d = g[i]
        d = -d if maximize else d
        d = d + wd * p[i] if wd != 0 else d
        s = square[i] * alpha + rest * (d * d)
        square[i] = s
        p[i] -= lr * (d / (sqrt(s) + eps))


@compiled("void(T[::1], T[::1], T[::1], T, T, T, uint8)")
def adagrad(p, g, total, rate, wd, eps, maximize):
    for i in range(p.size):
        d = g[i]
        d = -d if maximize else d
        d = d + wd * p[i] if wd != 0 else d
        s = total[i] + d * d
        total[i] = s
        p[i] -= rate * (d / (sqrt(s) + eps))
