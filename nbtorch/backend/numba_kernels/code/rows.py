"""Softmax, its logarithm and layer norm over the rows of a matrix. `*_split` divides the rows among `n` threads.

A row of only -inf gives NaN, as in PyTorch: -inf - -inf is NaN. NaN anywhere in a row reaches the whole row.
"""
from math import log, sqrt

from numba import prange

from . import math
from .jit import compiled, part


@part
def _softmax(a, out):
    for r in range(a.shape[0]):
        x, y = a[r], out[r]
        top = x[0]
        for i in range(x.size):
            top = math.larger(top, x[i])
        total = top - top
        for i in range(x.size):
            e = math.exp(x[i] - top)
            y[i] = e
            total += e
        scale = 1 / total
        for i in range(y.size):
            y[i] *= scale


@part
def _log_softmax(a, out):
    for r in range(a.shape[0]):
        x, y = a[r], out[r]
        top = x[0]
        for i in range(x.size):
            top = math.larger(top, x[i])
        total = top - top
        for i in range(x.size):
            total += math.exp(x[i] - top)
        shift = log(total)
        for i in range(x.size):
            y[i] = (x[i] - top) - shift


@part
def _softmax_backward(g, out, dx):
    for r in range(g.shape[0]):
        u, y, z = g[r], out[r], dx[r]
        total = u[0] * 0
        for i in range(u.size):
            total += u[i] * y[i]
        for i in range(u.size):
            z[i] = y[i] * (u[i] - total)


@part
def _log_softmax_backward(g, out, dx):
    for r in range(g.shape[0]):
        u, y, z = g[r], out[r], dx[r]
        total = u[0] * 0
        for i in range(u.size):
            total += u[i]
        for i in range(u.size):
            z[i] = u[i] - math.exp(y[i]) * total


_TWO, _THREE = "void(T[:,::1], T[:,::1])", "void(T[:,::1], T[:,::1], T[:,::1])"


@compiled(_TWO)
def softmax(a, out):
    _softmax(a, out)


@compiled(_TWO.replace("(", "(int64, "), parallel=True)
def softmax_split(n, a, out):
    for k in prange(n):
        lo, hi = a.shape[0] * k // n, a.shape[0] * (k + 1) // n
        _softmax(a[lo:hi], out[lo:hi])


@compiled(_TWO)
def log_softmax(a, out):
    _log_softmax(a, out)


@compiled(_THREE)
def softmax_backward(g, out, dx):
    _softmax_backward(g, out, dx)


@compiled(_THREE.replace("(", "(int64, "), parallel=True)
def softmax_backward_split(n, g, out, dx):
    for k in prange(n):
        lo, hi = g.shape[0] * k // n, g.shape[0] * (k + 1) // n
        _softmax_backward(g[lo:hi], out[lo:hi], dx[lo:hi])


@compiled(_THREE)
def log_softmax_backward(g, out, dx):
    _log_softmax_backward(g, out, dx)


# ---------------------------------------------------------------- layer norm

@part
def _layer_norm(a, weight, bias, eps, out, means, rstds):
    for r in range(a.shape[0]):
        x, y = a[r], out[r]
        n = x.size
        total = x[0] * 0
        for i in range(n):
            total += x[i]
        mean = total / n
        spread = x[0] * 0
        for i in range(n):
            d = x[i] - mean
            spread += d * d
        rstd = 1 / sqrt(spread / n + eps)
        means[r] = mean
        rstds[r] = rstd
        m, s = means[r], rstds[r]
        for i in range(n):
            y[i] = (x[i] - m) * s * weight[i] + bias[i]


@compiled("void(T[:,::1], T[::1], T[::1], float64, T[:,::1], T[::1], T[::1])")
def layer_norm(a, weight, bias, eps, out, means, rstds):
    _layer_norm(a, weight, bias, eps, out, means, rstds)


@compiled("void(int64, T[:,::1], T[::1], T[::1], float64, T[:,::1], T[::1], T[::1])", parallel=True)
def layer_norm_split(n, a, weight, bias, eps, out, means, rstds):
    for k in prange(n):
        lo, hi = a.shape[0] * k // n, a.shape[0] * (k + 1) // n
        _layer_norm(a[lo:hi], weight, bias, eps, out[lo:hi], means[lo:hi], rstds[lo:hi])


@part
def _layer_norm_backward(g, a, means, rstds, weight, dx, dw, db):
    for r in range(a.shape[0]):
        u, x, z, m, s = g[r], a[r], dx[r], means[r], rstds[r]
        n = x.size
        first = m * 0
        second = m * 0
        for i in range(n):
            h = (x[i] - m) * s
            gw = u[i] * weight[i]
            first += gw
            second += gw * h
            dw[i] += u[i] * h
            db[i] += u[i]
        first /= n
        second /= n
        for i in range(n):
            h = (x[i] - m) * s
            z[i] = s * (u[i] * weight[i] - first - h * second)


@compiled("void(T[:,::1], T[:,::1], T[::1], T[::1], T[::1], T[:,::1], T[:,::1], T[:,::1])")
def layer_norm_backward(g, a, means, rstds, weight, dx, dw, db):
    _layer_norm_backward(g, a, means, rstds, weight, dx, dw[0], db[0])


@compiled("void(int64, T[:,::1], T[:,::1], T[::1], T[::1], T[::1], T[:,::1], T[:,::1], T[:,::1])", parallel=True)
def layer_norm_backward_split(n, g, a, means, rstds, weight, dx, dw, db):
    for k in prange(n):
        lo, hi = a.shape[0] * k // n, a.shape[0] * (k + 1) // n
        _layer_norm_backward(g[lo:hi], a[lo:hi], means[lo:hi], rstds[lo:hi], weight, dx[lo:hi], dw[k], db[k])
