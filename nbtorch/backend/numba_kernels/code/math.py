"""exp, tanh, sigmoid and the normal distribution as LLVM can vectorise them: no calls, no branches.

numba's own ``math.exp`` is a call into libm, which keeps every loop around it scalar. Errors (float32, against exact):
exp below 1.5 units in the last place, sigmoid and tanh below 3. NaN goes through every one of them; infinities give the
limits. The coefficients are least-squares fits, reweighted towards the smallest largest error.
"""
import math

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

_FMA = ("contract",)

# Compiled apart from their callers: numba puts a caller's fast-math flags on every instruction of its module, and
# with leave to re-associate, LLVM would cancel the rounding steps below.
_exact = numba.njit(fastmath={"contract"}, nogil=True, error_model="numpy")

# exp(x) = 2**n * exp(r), |r| <= ln(2)/2. n is read from the low bits of x*log2(e) + 1.5*2**(mantissa bits).
_EXP = {
    types.float32: dict(
        bits=32, mantissa=23, bias=127, magic=12582912.0, low=-104.0, high=89.0,
        hi=0.693359375, lo=-2.12194440e-4,
        poly=[1.0, 1.0, 0.50000001, 0.16666513, 0.04166619, 0.0083696, 0.00139517]),
    types.float64: dict(
        bits=64, mantissa=52, bias=1023, magic=6755399441055744.0, low=-746.0, high=710.0,
        hi=0.693145751953125, lo=1.42860682030941723212e-6,
        poly=[1.0 / math.factorial(k) for k in range(14)]),
}


def _horner(builder, kind, x, coefficients):
    value = kind(coefficients[-1])
    for c in reversed(coefficients[:-1]):
        value = builder.fadd(builder.fmul(value, x, flags=_FMA), kind(c), flags=_FMA)
    return value


def _power_of_two(builder, n, table):
    """2**n as a product of two normal numbers, so that results below the normal range and overflow come out right."""
    whole, kind = ir.IntType(table["bits"]), _kind(table["bits"])
    half = builder.ashr(n, whole(1))
    parts = []
    for m in (half, builder.sub(n, half)):
        raised = builder.shl(builder.add(m, whole(table["bias"])), whole(table["mantissa"]))
        parts.append(builder.bitcast(raised, kind))
    return parts


def _kind(bits):
    return ir.FloatType() if bits == 32 else ir.DoubleType()


@intrinsic
def _exp(typingctx, x):
    if x not in _EXP:
        return None
    table = _EXP[x]

    def build(context, builder, signature, arguments):
        (value,) = arguments
        kind, whole = _kind(table["bits"]), ir.IntType(table["bits"])
        # comparisons written so that NaN is kept, not clamped
        for limit, test in ((table["low"], "<"), (table["high"], ">")):
            outside = builder.fcmp_ordered(test, value, kind(limit))
            value = builder.select(outside, kind(limit), value)
        shifted = builder.fadd(builder.fmul(value, kind(1.4426950408889634), flags=_FMA), kind(table["magic"]),
                               flags=_FMA)
        n = builder.fsub(shifted, kind(table["magic"]))
        r = builder.fsub(value, builder.fmul(n, kind(table["hi"]), flags=_FMA), flags=_FMA)
        r = builder.fsub(r, builder.fmul(n, kind(table["lo"]), flags=_FMA), flags=_FMA)
        magic_bits = builder.bitcast(kind(table["magic"]), whole)
        count = builder.sub(builder.bitcast(shifted, whole), magic_bits)
        first, second = _power_of_two(builder, count, table)
        return builder.fmul(builder.fmul(_horner(builder, kind, r, table["poly"]), first), second)

    return x(x), build


@_exact
def exp(x):
    """e**x for float32 and float64."""
    return _exp(x)


@intrinsic
def larger(typingctx, a, b):
    """The larger of two numbers of one type; NaN if either is (vectorises as a reduction, unlike ``max``)."""
    def build(context, builder, signature, arguments):
        kind = context.get_value_type(signature.return_type)
        name = "llvm.maximum.f32" if signature.return_type == types.float32 else "llvm.maximum.f64"
        function = builder.module.declare_intrinsic(name, (), ir.FunctionType(kind, (kind, kind)))
        return builder.call(function, arguments)

    return a(a, a), build


@intrinsic
def round_bfloat16(typingctx, x):
    """The bits of a float32 rounded to bfloat16, ties to even; NaN stays NaN. In 32-bit steps, which numba's own integer
    arithmetic (always 64 bits wide) would not give."""
    if x != types.float32:
        return None

    def build(context, builder, signature, arguments):
        (value,) = arguments
        whole, half = ir.IntType(32), ir.IntType(16)
        bits = builder.bitcast(value, whole)
        high = builder.lshr(bits, whole(16))
        odd = builder.and_(high, whole(1))
        rounded = builder.lshr(builder.add(builder.add(bits, whole(0x7FFF)), odd), whole(16))
        nan = builder.fcmp_unordered("uno", value, value)
        return builder.trunc(builder.select(nan, builder.or_(high, whole(0x40)), rounded), half)

    return types.uint16(x), build


@_exact
def sigmoid(x):
    """1 / (1 + e**-x)."""
    one = np.float32(1.0)
    return one / (one + _exp(-x))


@_exact
def tanh(x):
    """Hyperbolic tangent of a float32: an odd polynomial near 0, where the quotient would cancel."""
    one, two = np.float32(1.0), np.float32(2.0)
    size, square = abs(x), x * x
    near = np.float32(-0.00552855)
    near = near * square + np.float32(0.02048323)
    near = near * square + np.float32(-0.05369294)
    near = near * square + np.float32(0.13330899)
    near = near * square + np.float32(-0.33333263)
    near = x + x * square * near
    far = one - two / (_exp(two * size) + one)
    far = -far if x < np.float32(0.0) else far
    return near if size < np.float32(0.65) else far


@_exact
def normal(x):
    """(distribution function, density) of the standard normal at a float32.

    erfc(t) = exp(-t*t) * u * P(u) with u = 1 / (1 + t/2), on the side where nothing cancels; the density shares the exp.
    """
    one, half = np.float32(1.0), np.float32(0.5)
    bell = _exp(np.float32(-0.5) * x * x)
    u = one / (one + abs(x) * np.float32(0.35355339059327373))
    p = np.float32(0.02247647)
    p = p * u + np.float32(-0.17853106)
    p = p * u + np.float32(0.55865026)
    p = p * u + np.float32(-0.84255159)
    p = p * u + np.float32(0.56426433)
    p = p * u + np.float32(-0.1747278)
    p = p * u + np.float32(0.25181119)
    p = p * u + np.float32(0.23305298)
    p = p * u + np.float32(0.28352477)
    p = p * u + np.float32(0.28203045)
    tail = half * bell * u * p
    below = tail if x < np.float32(0.0) else one - tail
    return below, bell * np.float32(0.3989422804014327)
