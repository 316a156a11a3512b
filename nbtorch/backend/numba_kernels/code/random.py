"""Normals in blocks of sixteen and Fisher-Yates swaps. No fast-math here: the normals are PyTorch's to the last bit."""
import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from .jit import compiled

_F = np.float32
_plain = numba.njit(nogil=True, error_model="numpy", boundscheck=False)


@intrinsic
def _fma(typingctx, a, b, c):
    def build(context, builder, signature, arguments):
        kind = ir.FloatType()
        function = builder.module.declare_intrinsic("llvm.fma.f32", (), ir.FunctionType(kind, (kind, kind, kind)))
        return builder.call(function, arguments)

    return types.float32(types.float32, types.float32, types.float32), build


@intrinsic
def _bits(typingctx, x):
    def build(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], ir.IntType(32))

    return types.int32(types.float32), build


@intrinsic
def _number(typingctx, x):
    def build(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], ir.FloatType())

    return types.float32(types.int32), build


@_plain
def _log(x):
    """Cephes' logarithm of 0 < x <= 1 in float32."""
    bits = _bits(x)
    exponent = _F(np.int32(bits >> np.int32(23)) - np.int32(126))
    mantissa = _number(np.int32((bits & np.int32(0x7fffff)) | np.int32(0x3f000000)))
    below = mantissa < _F(0.707106781186547524)
    exponent = exponent - _F(1) if below else exponent
    x = (mantissa - _F(1)) + (mantissa if below else _F(0))
    z = x * x
    y = _F(7.0376836292e-2)
    y = _fma(y, x, _F(-1.1514610310e-1))
    y = _fma(y, x, _F(1.1676998740e-1))
    y = _fma(y, x, _F(-1.2420140846e-1))
    y = _fma(y, x, _F(1.4249322787e-1))
    y = _fma(y, x, _F(-1.6668057665e-1))
    y = _fma(y, x, _F(2.0000714765e-1))
    y = _fma(y, x, _F(-2.4999993993e-1))
    y = _fma(y, x, _F(3.3333331174e-1))
    y = _fma(y * x, z, exponent * _F(-2.12194440e-4))
    y = _fma(-z, _F(0.5), y)
    return _fma(exponent, _F(0.693359375), x + y)


@_plain
def _sine_cosine(x):
    """Cephes' sine and cosine of 0 <= x < 2 pi in float32."""
    octant = (np.int32(x * _F(1.27323954473516)) + np.int32(1)) & np.int32(-2)
    y = _F(octant)
    x = _fma(y, _F(-0.78515625), x)
    x = _fma(y, _F(-2.4187564849853515625e-4), x)
    x = _fma(y, _F(-3.77489497744594108e-8), x)
    z = x * x
    c = _fma(_F(2.443315711809948e-5), z, _F(-1.388731625493765e-3))
    c = _fma(c, z, _F(4.166664568298827e-2))
    c = _fma(c * z, z, -(z * _F(0.5))) + _F(1)
    s = _fma(_F(-1.9515295891e-4), z, _F(8.3321608736e-3))
    s = _fma(s, z, _F(-1.6666654611e-1))
    s = _fma(s * z, x, x)
    plain = (octant & np.int32(2)) == 0
    sine, cosine = (s if plain else c), (c if plain else s)
    sine = -sine if (octant & np.int32(4)) != 0 else sine
    cosine = -cosine if ((octant - np.int32(2)) & np.int32(4)) == 0 else cosine
    return sine, cosine


HALF = 512                                        # radii at a time: the loops between the two copies vectorise


@compiled("void(float32[::1], float32, float32)", fast=())
def normal_blocks(u, mean, std):
    """Uniforms to normals in place, sixteen at a time: eight radii, eight angles."""
    radius, angle = np.empty(HALF, np.float32), np.empty(HALF, np.float32)
    for first in range(0, u.size, 2 * HALF):
        n = min(HALF, (u.size - first) // 2)
        for i in range(n):
            at = first + 16 * (i >> 3) + (i & 7)
            radius[i] = _F(1) - u[at]
            angle[i] = u[at + 8]
        for i in range(n):
            r = np.sqrt(_F(-2) * _log(radius[i]))
            sine, cosine = _sine_cosine(_F(6.283185307179586) * angle[i])
            radius[i] = _fma(r * cosine, std, mean)
            angle[i] = _fma(r * sine, std, mean)
        for i in range(n):
            at = first + 16 * (i >> 3) + (i & 7)
            u[at] = radius[i]
            u[at + 8] = angle[i]


@compiled("void(int64[::1], int64[::1])", fast=())
def shuffle(order, offsets):
    """Fisher-Yates from the front."""
    for i in range(offsets.size):
        j = i + offsets[i]
        kept = order[i]
        order[i] = order[j]
        order[j] = kept
