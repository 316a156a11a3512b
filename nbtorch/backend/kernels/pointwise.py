"""Element by element: arithmetic, rounding, powers, clamps and bits. Dtypes are settled by the ops' rules."""
import math

from ..registry import kernel
from ._common import is_half, narrow, wide
from ._dims import as_type

# kernel name -> ufunc of numpy and cupy; these need no code of their own and write into out=
UFUNCS = {
    name: name
    for name in (
        "multiply",
        "true_divide",
        "negative",
        "exp",
        "exp2",
        "expm1",
        "log",
        "log10",
        "log2",
        "log1p",
        "sqrt",
        "square",
        "sin",
        "cos",
        "tan",
        "sinh",
        "cosh",
        "tanh",
        "arcsin",
        "arccos",
        "arctan",
        "arcsinh",
        "arccosh",
        "arctanh",
        "arctan2",
        "maximum",
        "minimum",
        "fmax",
        "fmin",
        "hypot",
        "logaddexp2",
        "copysign",
        "nextafter",
        "equal",
        "not_equal",
        "less",
        "less_equal",
        "greater",
        "greater_equal",
        "logical_and",
        "logical_or",
        "logical_xor",
        "logical_not",
        "bitwise_and",
        "bitwise_or",
        "bitwise_xor",
        "invert",
        "gcd",
        "isnan",
        "isinf",
        "isfinite",
    )
}


def is_int(a):
    return a.dtype.kind in "iu" if hasattr(a, "dtype") else isinstance(a, int)


def dtype_of(a, b):
    return a.dtype if hasattr(a, "dtype") else b.dtype


def through_float32(function):
    """Wrap a unary kernel body: half types are computed in float32 and rounded once."""
    def run(xp, a, *rest):
        return narrow(xp, function(xp, wide(xp, a), *rest), a)
    run.__name__, run.__doc__ = function.__name__, function.__doc__
    return run


# ---- addition

def _times(xp, a, b, alpha):
    """alpha * b, or PyTorch's error for an alpha of a higher category."""
    kind = dtype_of(a, b).kind
    if isinstance(alpha, bool) and kind != "b":
        raise RuntimeError("Boolean alpha only supported for Boolean results.")
    if isinstance(alpha, float) and kind in "biu":
        raise RuntimeError("For integral input tensors, argument alpha must not be a floating point number.")
    if isinstance(alpha, complex) and kind != "c":
        raise RuntimeError("For non-complex input tensors, argument alpha must not be a complex number.")
    return b * alpha if not hasattr(b, "dtype") else xp.multiply(b, as_type(xp, alpha, b.dtype))


@kernel("add")
def add(xp, a, b, alpha=1, out=None):
    """a + alpha * b; for bool arrays + is or."""
    return xp.add(a, b if alpha == 1 and alpha is not True else _times(xp, a, b, alpha), out=out)


@kernel("subtract")
def subtract(xp, a, b, alpha=1, out=None):
    """a - alpha * b."""
    return xp.subtract(a, b if alpha == 1 and alpha is not True else _times(xp, a, b, alpha), out=out)


@kernel("addcmul")
def addcmul(xp, a, b, c, value=1):
    """a + value * b * c."""
    product = xp.multiply(wide(xp, b), wide(xp, c))
    if value != 1:
        product = product * value
    return narrow(xp, xp.asarray(xp.add(wide(xp, a), product)), a)


@kernel("addcdiv")
def addcdiv(xp, a, b, c, value=1):
    """a + value * b / c."""
    ratio = xp.true_divide(wide(xp, b), wide(xp, c))
    if value != 1:
        ratio = ratio * value
    return narrow(xp, xp.asarray(xp.add(wide(xp, a), ratio)), a)


@kernel("lerp")
def lerp(xp, a, b, weight):
    """a + weight * (b - a), from whichever end is nearer, as PyTorch does for exact end points."""
    a32, b32, w = wide(xp, a), wide(xp, b), wide(xp, weight)
    low = abs(w) < 0.5
    if not hasattr(low, "dtype"):
        result = a32 + w * (b32 - a32) if low else b32 - (b32 - a32) * (1 - w)
    else:
        result = xp.where(low, a32 + w * (b32 - a32), b32 - (b32 - a32) * (1 - w))
    return narrow(xp, xp.asarray(result), a)


# ---- division

def _refuse_zero(xp, b):
    if (b == 0).any() if hasattr(b, "dtype") else b == 0:
        raise RuntimeError("ZeroDivisionError")


@kernel("floor_divide")
def floor_divide(xp, a, b):
    """Quotient rounded down; whole numbers divided by zero raise as in PyTorch."""
    if is_int(a) and is_int(b):
        _refuse_zero(xp, b)
        return xp.floor_divide(a, b)
    result = xp.floor_divide(wide(xp, a), wide(xp, b))
    return narrow(xp, xp.asarray(result), dtype_of(a, b))


@kernel("trunc_divide")
def trunc_divide(xp, a, b):
    """Quotient rounded towards zero."""
    if is_int(a) and is_int(b):
        _refuse_zero(xp, b)
        quotient = xp.asarray(xp.floor_divide(a, b))
        inexact = (xp.remainder(a, b) != 0) & ((xp.asarray(a) < 0) != (xp.asarray(b) < 0))
        return quotient + inexact.astype(quotient.dtype)
    result = xp.trunc(xp.true_divide(wide(xp, a), wide(xp, b)))
    return narrow(xp, xp.asarray(result), dtype_of(a, b))


@kernel("remainder")
def remainder(xp, a, b):
    """Rest of floor division: the sign of the divisor."""
    if is_int(a) and is_int(b):
        _refuse_zero(xp, b)
        return xp.remainder(a, b)
    return narrow(xp, xp.asarray(xp.remainder(wide(xp, a), wide(xp, b))), dtype_of(a, b))


@kernel("fmod")
def fmod(xp, a, b):
    """Rest of truncated division: the sign of the dividend."""
    if is_int(a) and is_int(b):
        _refuse_zero(xp, b)
        return xp.fmod(a, b)
    return narrow(xp, xp.asarray(xp.fmod(wide(xp, a), wide(xp, b))), dtype_of(a, b))


@kernel("reciprocal")
def reciprocal(xp, a):
    """1 / a."""
    return narrow(xp, xp.asarray(xp.true_divide(1, wide(xp, a))), a)


@kernel("rsqrt")
def rsqrt(xp, a):
    """1 / sqrt(a)."""
    return narrow(xp, xp.asarray(xp.true_divide(1, xp.sqrt(wide(xp, a)))), a)


# ---- powers

def _int_power(xp, a, b):
    """Whole powers, including negative exponents: only 1 and -1 survive those."""
    if not hasattr(b, "dtype"):
        if b < 0:
            raise RuntimeError("Integers to negative integer powers are not allowed.")
        return xp.power(a, b)
    if b.dtype.kind == "u" or not (b < 0).any():
        return xp.power(a, b)
    base = xp.asarray(a, dtype=b.dtype)
    plain = xp.power(base, xp.maximum(b, 0))
    sign = xp.where(b % 2 == 0, 1, -1)
    negative = xp.where(base == 1, 1, xp.where(base == -1, sign, 0))
    return xp.where(b < 0, negative, plain).astype(b.dtype)


@kernel("power")
def power(xp, a, b):
    """a ** b; squares and roots take the faster functions."""
    if is_int(a) and is_int(b):
        return _int_power(xp, a, b)
    if not hasattr(b, "dtype") and not isinstance(b, complex):
        if b == 2:
            return xp.square(a)
        if b == 0.5 and a.dtype.kind == "f" and not is_half(a):
            return xp.sqrt(a)
        if b == 3 and a.dtype.kind == "f" and not is_half(a):
            return a * a * a
        if a.dtype.name == "complex64":
            b = xp.complex64(b)
    result = xp.power(wide(xp, a), wide(xp, b))
    return narrow(xp, xp.asarray(result), dtype_of(a, b))


@kernel("logit")
def logit(xp, a, eps=None):
    """log(a / (1 - a)), the input clamped to [eps, 1 - eps] if eps is given."""
    z = wide(xp, a)
    if eps is not None:
        z = xp.minimum(xp.maximum(z, z.dtype.type(eps)), z.dtype.type(1 - eps))
    return narrow(xp, xp.asarray(xp.log(z / (1 - z))), a)


@kernel("sigmoid")
def sigmoid(xp, a):
    """1 / (1 + exp(-a)), in place in one buffer; an overflowing exp gives the right 0."""
    z = xp.asarray(xp.negative(wide(xp, a)))
    xp.exp(z, out=z)
    z += 1
    return narrow(xp, xp.asarray(xp.true_divide(1, z, out=z)), a)


# ---- rounding and signs

def _rounding(name, ufunc):
    @kernel(name)
    def run(xp, a):
        return a.copy() if a.dtype.kind in "biu" else getattr(xp, ufunc)(a)
    run.__doc__ = f"{name} of floats; whole numbers are returned as they are."
    return run


floor, ceil, trunc = _rounding("floor", "floor"), _rounding("ceil", "ceil"), _rounding("trunc", "trunc")


@kernel("round")
def round(xp, a, decimals=0):
    """Nearest whole number, ties to even; `decimals` moves the point first."""
    if a.dtype.kind in "iu":
        if decimals:
            raise NotImplementedError("\"round_cpu\" not implemented for whole numbers")
        return a.copy()
    if decimals == 0:
        return xp.rint(a)
    z, scale = wide(xp, a), 10.0 ** abs(decimals)
    moved = xp.rint(z * scale) / scale if decimals > 0 else xp.rint(z / scale) * scale
    return narrow(xp, xp.asarray(moved), a)


@kernel("frac")
@through_float32
def frac(xp, a):
    """a - trunc(a)."""
    return xp.asarray(a - xp.trunc(a))


@kernel("abs")
def absolute(xp, a):
    """Absolute value; real for complex input. bool has none to take."""
    return a.copy() if a.dtype.kind in "bu" else xp.abs(a)


@kernel("sign")
def sign(xp, a):
    """-1, 0 or 1. NumPy gives NaN for NaN, PyTorch 0."""
    if a.dtype.kind == "b":
        return a.copy()
    if a.dtype.kind in "iu":
        return xp.sign(a)
    return xp.asarray((a > 0).astype(a.dtype) - (a < 0).astype(a.dtype))


@kernel("sgn")
def sgn(xp, a):
    """a / |a| for complex numbers, 0 at 0."""
    if a.dtype.kind != "c":
        return sign(xp, a)
    size = xp.abs(a)
    return xp.asarray(a / xp.where(size == 0, 1, size).astype(size.dtype))


@kernel("angle")
def angle(xp, a):
    """Phase; for real input 0 or pi, NaN for NaN."""
    if a.dtype.kind == "c":
        return xp.arctan2(a.imag, a.real)
    pi = a.dtype.type(3.141592653589793)
    return xp.asarray(xp.where(xp.isnan(a), a, xp.where(a < 0, pi, a.dtype.type(0))).astype(a.dtype))


# ---- limits

@kernel("clamp")
def clamp(xp, a, low=None, high=None):
    """min(max(a, low), high); NaN stays NaN, and `high` wins where low > high."""
    if a.dtype.kind == "f" and all(limit is None or isinstance(limit, (int, float)) and not math.isnan(limit)
                                   for limit in (low, high)):
        inf = float("inf")                        # clip with two numbers is several times faster than maximum
        return xp.clip(a, -inf if low is None else low, inf if high is None else high)
    if low is not None:
        a = xp.maximum(a, low)
    return a if high is None else xp.minimum(a, high)


@kernel("clamp_backward")
def clamp_backward(xp, g, a, low=None, high=None):
    """The gradient where the input was inside the limits, edges included."""
    inside = True
    if low is not None:
        inside = a >= low
    if high is not None:
        inside = inside & (a <= high)
    return xp.asarray(xp.where(inside, g, xp.zeros((), g.dtype)))


@kernel("nan_to_num")
def nan_to_num(xp, a, nan=None, posinf=None, neginf=None):
    """Replace NaN and infinities by numbers, by default 0 and the dtype's largest."""
    if a.dtype.kind in "biu":
        return a.copy()
    if a.dtype.kind == "c":
        parts = [nan_to_num(xp, part, nan, posinf, neginf) for part in (a.real, a.imag)]
        result = xp.empty(a.shape, a.dtype)
        result.real, result.imag = parts
        return result
    top = 3.3895313892515355e38 if a.dtype.name == "bfloat16" else float(xp.finfo(a.dtype).max)
    kind = a.dtype.type
    result = xp.where(xp.isnan(a), kind(0 if nan is None else nan), a)
    result = xp.where(result == kind(float("inf")), kind(top if posinf is None else posinf), result)
    return xp.asarray(xp.where(result == kind(float("-inf")), kind(-top if neginf is None else neginf), result))


INTEGERS = {1: "i1", 2: "i2", 4: "i4", 8: "i8"}


def choose(xp, condition, a, b):
    """xp.where for a bool condition. Large dense operands are blended by their bits, since branching on a random mask
    costs ten times as much."""
    dtype = a.dtype
    if xp.__name__ != "numpy" or condition.size < 4096 or dtype != b.dtype or dtype.itemsize not in INTEGERS or not (
            condition.flags.c_contiguous and all(v.ndim == 0 or v.shape == condition.shape and v.flags.c_contiguous
                                                 for v in (a, b))):
        return xp.asarray(xp.where(condition, a, b))
    bits = INTEGERS[dtype.itemsize]
    take = condition.view("i1").astype(bits)
    xp.negative(take, out=take)                   # all bits set where the condition holds
    x, y = a.view(bits), b.view(bits)
    xp.bitwise_and(take, xp.bitwise_xor(x, y), out=take)
    return xp.bitwise_xor(take, y, out=take).view(dtype)


@kernel("where")
def where(xp, condition, a, b):
    """a where the condition holds, else b; the dtypes are equal, or one is a Python number."""
    if not hasattr(a, "dtype"):
        a = xp.asarray(a, b.dtype if hasattr(b, "dtype") else None)
    if not hasattr(b, "dtype"):
        b = xp.asarray(b, a.dtype)
    return choose(xp, condition if condition.dtype.kind == "b" else condition != 0, a, b)


@kernel("masked_fill")
def masked_fill(xp, a, mask, value):
    """a with `value` where the mask holds; shapes broadcast."""
    if not hasattr(value, "dtype"):
        value = xp.asarray(value)
    return choose(xp, mask, value.astype(a.dtype), a)
