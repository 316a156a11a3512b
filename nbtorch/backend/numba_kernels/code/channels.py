"""Batch norm over (batch, channels, positions), by channel. `*_split` divides the channels among `n` threads.

The sums run over one pass, shifted by the channel's first element so that squares of a far-off mean do not swallow the
variance, and are added up in double precision row by row.
"""
from math import sqrt

from numba import prange

from .jit import compiled, part


@part
def _sums(a, c, shift):
    first, second = 0.0, 0.0
    for b in range(a.shape[0]):
        x = a[b, c]
        s = shift * 0
        q = shift * 0
        for i in range(x.size):
            d = x[i] - shift
            s += d
            q += d * d
        first += s
        second += q
    return first, second


@part
def _channel_forward(a, c, weight, bias, eps, out, means, variances, rstds):
    n = a.shape[0] * a.shape[2]
    shift = a[0, c, 0]
    first, second = _sums(a, c, shift)
    mean = first / n
    variance = second / n - mean * mean
    variance = variance if variance > 0 or variance != variance else 0.0  # not max(): NaN stays NaN
    rstds[c] = 1 / sqrt(variance + eps)
    means[c] = shift + mean
    variances[c] = variance
    middle, scale, offset = means[c], rstds[c] * weight[c], bias[c]
    for b in range(a.shape[0]):
        x, y = a[b, c], out[b, c]
        for i in range(x.size):
            y[i] = (x[i] - middle) * scale + offset


_FORWARD = "T[:,:,::1], T[::1], T[::1], float64, T[:,:,::1], T[::1], T[::1], T[::1])"


@compiled("void(" + _FORWARD)
def batch_norm(a, weight, bias, eps, out, means, variances, rstds):
    for c in range(a.shape[1]):
        _channel_forward(a, c, weight, bias, eps, out, means, variances, rstds)


@compiled("void(int64, " + _FORWARD, parallel=True)
def batch_norm_split(n, a, weight, bias, eps, out, means, variances, rstds):
    for k in prange(n):
        for c in range(a.shape[1] * k // n, a.shape[1] * (k + 1) // n):
            _channel_forward(a, c, weight, bias, eps, out, means, variances, rstds)


@part
def _channel_backward(g, a, c, weight, means, rstds, dx, dw, db):
    n = a.shape[0] * a.shape[2]
    mean, rstd = means[c], rstds[c]
    total, along = 0.0, 0.0
    for b in range(a.shape[0]):
        u, x = g[b, c], a[b, c]
        s = mean * 0
        q = mean * 0
        for i in range(x.size):
            s += u[i]
            q += u[i] * (x[i] - mean)
        total += s
        along += q
    db[c] = total
    dw[c] = along * rstd
    scale = rstd * weight[c]
    slope, level = dw[c] * rstd / n, db[c] / n
    for b in range(a.shape[0]):
        u, x, z = g[b, c], a[b, c], dx[b, c]
        for i in range(x.size):
            z[i] = (u[i] - level - (x[i] - mean) * slope) * scale


_BACKWARD = "T[:,:,::1], T[:,:,::1], T[::1], T[::1], T[::1], T[:,:,::1], T[::1], T[::1])"


@compiled("void(" + _BACKWARD)
def batch_norm_backward(g, a, weight, means, rstds, dx, dw, db):
    for c in range(a.shape[1]):
        _channel_backward(g, a, c, weight, means, rstds, dx, dw, db)


@compiled("void(int64, " + _BACKWARD, parallel=True)
def batch_norm_backward_split(n, g, a, weight, means, rstds, dx, dw, db):
    for k in prange(n):
        for c in range(a.shape[1] * k // n, a.shape[1] * (k + 1) // n):
            _channel_backward(g, a, c, weight, means, rstds, dx, dw, db)
