"""Functions NumPy lacks, through scipy.special (cupyx.scipy.special), and a few tests of single elements."""
from ..registry import kernel
from ._common import narrow, special, wide
from .pointwise import dtype_of, through_float32


def _from_special(name, function=None):
    @kernel(name)
    @through_float32
    def run(xp, a):
        return xp.asarray(getattr(special(xp), function or name)(a))
    return run


erf, erfc, erfinv = _from_special("erf"), _from_special("erfc"), _from_special("erfinv")
i0, i1, i0e, i1e = (_from_special(name) for name in ("i0", "i1", "i0e", "i1e"))


@kernel("lgamma")
@through_float32
def lgamma(xp, a):
    """log |gamma(a)|; infinite at negative infinity."""
    return xp.asarray(special(xp).gammaln(a))


@kernel("digamma")
@through_float32
def digamma(xp, a):
    """Logarithmic derivative of gamma; at 0 minus infinity with the sign of the zero, NaN at negative integers."""
    value = special(xp).digamma(a)
    zero = xp.copysign(xp.asarray(float("inf"), a.dtype), -a)
    value = xp.where(a == 0, zero, value)
    return xp.asarray(xp.where((a < 0) & (a == xp.floor(a)), xp.asarray(float("nan"), a.dtype), value))


@kernel("polygamma")
@through_float32
def polygamma(xp, a, n):
    """n-th derivative of digamma."""
    if n == 0:
        return digamma(xp, a)
    if n == 1:                                    # reflected below 1/2, where zeta is not defined
        low = a < 0.5
        above = special(xp).zeta(a.dtype.type(2), xp.where(low, 1 - a, a))
        return xp.asarray(xp.where(low, (xp.pi / xp.sin(xp.pi * a)) ** 2 - above, above).astype(a.dtype))
    sign = 1.0 if n % 2 else -1.0
    factor = sign * float(special(xp).gamma(n + 1.0))
    return xp.asarray((factor * special(xp).zeta(a.dtype.type(n + 1), a)).astype(a.dtype))


@kernel("sinc")
@through_float32
def sinc(xp, a):
    """sin(pi a) / (pi a), 1 at 0."""
    z = a * xp.pi
    return xp.asarray(xp.where(z == 0, xp.ones((), a.dtype), xp.sin(z) / xp.where(z == 0, xp.ones((), a.dtype), z)))


@kernel("xlogy")
def xlogy(xp, a, b):
    """a * log(b), 0 where a is 0 unless b is NaN."""
    dtype = dtype_of(a, b)
    x, y = (wide(xp, xp.asarray(v, dtype)) for v in (a, b))
    result = xp.where((x == 0) & ~xp.isnan(y), xp.zeros((), x.dtype), x * xp.log(y))
    return narrow(xp, xp.asarray(result), dtype)


def _gamma_pair(name, function):
    @kernel(name)
    def run(xp, a, b):
        dtype = dtype_of(a, b)
        x, y = (wide(xp, xp.asarray(v, dtype)) for v in (a, b))
        return narrow(xp, xp.asarray(getattr(special(xp), function)(x, y)), dtype)
    return run


igamma, igammac = _gamma_pair("igamma", "gammainc"), _gamma_pair("igammac", "gammaincc")


# ---- where NumPy's own function differs from PyTorch's

@kernel("logaddexp_any")
def logaddexp(xp, a, b):
    """log(exp(a) + exp(b)), complex numbers included."""
    if dtype_of(a, b).kind != "c":
        return xp.logaddexp(a, b)
    larger = a.real >= b.real
    high, low = xp.where(larger, a, b), xp.where(larger, b, a)
    result = high + xp.log1p(xp.exp(low - high))
    return xp.where(xp.isinf(high.real) & (high == low) & (high.real < 0), high, result)


@kernel("heaviside_any")
def heaviside(xp, a, values):
    """0 below zero, 1 above, `values` at zero; whole numbers too."""
    one, zero = xp.ones((), a.dtype), xp.zeros((), a.dtype)
    step = xp.where(a > zero, one, zero) if a.dtype.kind != "b" else a
    return xp.asarray(xp.where(a == zero, values, step))


@kernel("square_any")
def square(xp, a):
    """a * a; bool gives int64 as a power does."""
    return xp.square(a.astype(xp.int64) if a.dtype.kind == "b" else a)


@kernel("deg2rad_any")
def deg2rad(xp, a):
    """Degrees to radians."""
    return narrow(xp, xp.asarray(wide(xp, a) * (xp.pi / 180)), a)


@kernel("rad2deg_any")
def rad2deg(xp, a):
    """Radians to degrees."""
    return narrow(xp, xp.asarray(wide(xp, a) * (180 / xp.pi)), a)


@kernel("lcm_abs")
def lcm(xp, a, b):
    """Least common multiple, never negative."""
    return xp.abs(xp.lcm(a, b))


@kernel("isreal")
def isreal(xp, a):
    """Whether the imaginary part is zero."""
    return xp.asarray(a.imag == 0) if a.dtype.kind == "c" else xp.ones(a.shape, bool)


@kernel("isposinf")
def isposinf(xp, a):
    """a == +inf."""
    return xp.asarray(a == float("inf")) if a.dtype.kind not in "biu" else xp.zeros(a.shape, bool)


@kernel("isneginf")
def isneginf(xp, a):
    """a == -inf."""
    return xp.asarray(a == float("-inf")) if a.dtype.kind not in "biu" else xp.zeros(a.shape, bool)


@kernel("signbit_any")
def signbit(xp, a):
    """Whether the sign bit is set; whole numbers: whether negative."""
    return xp.asarray(a < 0) if a.dtype.kind in "biu" else xp.signbit(a)
