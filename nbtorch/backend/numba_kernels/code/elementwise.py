"""One pass over flat arrays. `*_split` divides them among `n` threads."""
import numpy as np
from numba import prange

from . import math
from .jit import compiled, part

_SLOPE, _CUBIC = np.float32(0.7978845608028654), np.float32(0.044715)
_HALF, _ONE, _THREE = np.float32(0.5), np.float32(1.0), np.float32(3.0)


@part
def _relu(a, out):
    zero = a.dtype.type(0)
    for i in range(a.size):
        x = a[i]
        out[i] = x if x > zero or x != x else zero  # not max(): NaN stays NaN


@compiled("void(int64, T[::1], T[::1])", parallel=True)
def relu_split(n, a, out):
    for k in prange(n):
        lo, hi = a.size * k // n, a.size * (k + 1) // n
        _relu(a[lo:hi], out[lo:hi])


@part
def _threshold_backward(g, a, limit, out):
    zero = a.dtype.type(0)
    for i in range(a.size):
        out[i] = zero if a[i] <= limit else g[i]


@compiled("void(T[::1], T[::1], T, T[::1])")
def threshold_backward(g, a, limit, out):
    _threshold_backward(g, a, limit, out)


@compiled("void(int64, T[::1], T[::1], T, T[::1])", parallel=True)
def threshold_backward_split(n, g, a, limit, out):
    for k in prange(n):
        lo, hi = a.size * k // n, a.size * (k + 1) // n
        _threshold_backward(g[lo:hi], a[lo:hi], limit, out[lo:hi])


@compiled("void(T[::1], uint8[::1], T, T[::1])")
def scale_mask(a, mask, scale, out):
    for i in range(a.size):
        out[i] = a[i] * mask[i] * scale


@part
def _gelu(a, out):
    for i in range(a.size):
        x = a[i]
        out[i] = x * math.normal(x)[0]


@compiled("void(T[::1], T[::1])")
def gelu(a, out):
    _gelu(a, out)


@compiled("void(int64, T[::1], T[::1])", parallel=True)
def gelu_split(n, a, out):
    for k in prange(n):
        lo, hi = a.size * k // n, a.size * (k + 1) // n
        _gelu(a[lo:hi], out[lo:hi])


@part
def _gelu_backward(g, a, out):
    for i in range(a.size):
        x = a[i]
        below, bell = math.normal(x)
        out[i] = g[i] * (below + x * bell)


@compiled("void(T[::1], T[::1], T[::1])")
def gelu_backward(g, a, out):
    _gelu_backward(g, a, out)


@compiled("void(int64, T[::1], T[::1], T[::1])", parallel=True)
def gelu_backward_split(n, g, a, out):
    for k in prange(n):
        lo, hi = a.size * k // n, a.size * (k + 1) // n
        _gelu_backward(g[lo:hi], a[lo:hi], out[lo:hi])


@compiled("void(T[::1], T[::1])")
def gelu_tanh(a, out):
    for i in range(a.size):
        x = a[i]
        out[i] = _HALF * x * (_ONE + math.tanh(_SLOPE * (x + _CUBIC * x * x * x)))


@compiled("void(T[::1], T[::1], T[::1])")
def gelu_tanh_backward(g, a, out):
    for i in range(a.size):
        x = a[i]
        t = math.tanh(_SLOPE * (x + _CUBIC * x * x * x))
        steep = _SLOPE * (_ONE + _THREE * _CUBIC * x * x)
        out[i] = g[i] * _HALF * ((_ONE + t) + x * (_ONE - t * t) * steep)


@compiled("void(float32[::1], uint16[::1])")
def to_bfloat16(a, out):
    for i in range(a.size):
        out[i] = math.round_bfloat16(a[i])
