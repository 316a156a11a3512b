"""PyTorch's float32 normals to the last bit: blocks of sixteen uniforms, eight radii and eight angles.

PyTorch's vector code computes the logarithm and the sine and cosine by the polynomials of the Cephes library
in float32 with fused multiply-adds. Here each of them is one float64 product and sum, rounded to float32: a
product of two float32 numbers is exact in float64. Numbers are kept as float64 arrays that hold float32
values, in buffers the cache can hold.
"""
import numpy as np

STEP = 8192                                       # elements at a time
_LOG = (7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1, -1.6668057665e-1,
        2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1)
_LN2_LOW, _LN2_HIGH, _SQRT_HALF = -2.12194440e-4, 0.693359375, 0.707106781186547524
_COS = (2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2)
_SIN = (-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1)
_QUARTER = (-0.78515625, -2.4187564849853515625e-4, -3.77489497744594108e-8)     # pi/4, in three parts
_FOUR_OVER_PI = 1.27323954473516


def _single(numbers):
    return tuple(float(np.float32(x)) for x in numbers)


_LOG, _COS, _SIN, _QUARTER = map(_single, (_LOG, _COS, _SIN, _QUARTER))
_LN2_LOW, _LN2_HIGH, _SQRT_HALF, _FOUR_OVER_PI, _TWO_PI = _single(
    (_LN2_LOW, _LN2_HIGH, _SQRT_HALF, _FOUR_OVER_PI, 2 * np.pi))


class _Work:
    """Buffers for one step."""

    def __init__(self, n):
        self.single = np.empty(n, np.float32)
        self.wide = [np.empty(n) for _ in range(6)]

    def round(self, a):
        """Round a float64 array to float32 values, in place."""
        single = self.single[:a.size]
        single[...] = a
        a[...] = single

    def fma(self, a, b, c):
        """a = a * b + c, rounded once."""
        a *= b
        a += c
        self.round(a)

    def mul(self, a, b):
        """a = a * b in float32."""
        a *= b
        self.round(a)


def _log(work, x):
    """Natural logarithm of the float32 values in x (0 < x <= 1), in place."""
    y, z, t = (w[:x.size] for w in work.wide[2:5])
    mantissa, exponent = np.frexp(x)
    below = mantissa < _SQRT_HALF
    exponent = exponent - below.astype(np.float64)
    np.multiply(mantissa, below, out=x)
    x += mantissa
    x -= 1.0                                      # exact: mantissa - 1, or twice the mantissa - 1
    np.multiply(x, x, out=z)
    work.round(z)
    y[...] = _LOG[0]
    for c in _LOG[1:]:
        work.fma(y, x, c)
    work.mul(y, x)
    np.multiply(exponent, _LN2_LOW, out=t)
    work.round(t)
    work.fma(y, z, t)
    z *= -0.5                                     # exact
    y += z
    work.round(y)
    x += y
    work.round(x)
    exponent *= _LN2_HIGH
    x += exponent
    work.round(x)
    return x


def _sine_cosine(work, x):
    """Sine and cosine of the float32 values in x (0 <= x < 2 pi); x is overwritten."""
    y, z, t = (w[:x.size] for w in work.wide[2:5])
    np.multiply(x, _FOUR_OVER_PI, out=y)
    work.round(y)
    octant = y.astype(np.int32)
    octant += 1
    octant &= -2
    y[...] = octant
    for c in _QUARTER:                            # x = y * c + x, rounded once
        np.multiply(y, c, out=t)
        x += t
        work.round(x)
    np.multiply(x, x, out=z)
    work.round(z)
    cosine, sine = y, t
    cosine[...] = _COS[0]
    for c in _COS[1:]:
        work.fma(cosine, z, c)
    work.mul(cosine, z)
    cosine *= z
    cosine -= z * 0.5                             # z / 2 is exact, so this is one rounding
    work.round(cosine)
    cosine += 1.0
    work.round(cosine)
    sine[...] = _SIN[0]
    for c in _SIN[1:]:
        work.fma(sine, z, c)
    work.mul(sine, z)
    work.fma(sine, x, x)
    plain = (octant & 2) == 0
    s, c = np.where(plain, sine, cosine), np.where(plain, cosine, sine)
    np.negative(s, out=s, where=(octant & 4) != 0)
    np.negative(c, out=c, where=((octant - 2) & 4) == 0)
    return s, c


def transform(u, mean=0.0, std=1.0):
    """Turn a flat float32 array of uniforms, a multiple of sixteen of them, into normals in place."""
    work = _Work(min(STEP, u.size) // 2)
    for start in range(0, u.size, STEP):
        block = u[start:start + STEP].reshape(-1, 2, 8)
        n = block.size // 2
        radius, angle = work.wide[0][:n], work.wide[1][:n]
        radius.reshape(-1, 8)[...] = np.float32(1) - block[:, 0]
        radius = np.sqrt(np.float32(-2) * _log(work, radius).astype(np.float32)).astype(np.float64)
        angle.reshape(-1, 8)[...] = block[:, 1]
        work.mul(angle, _TWO_PI)
        for place, part in enumerate(_sine_cosine(work, angle)):
            work.mul(part, radius)
            if std != 1 or mean != 0:
                work.fma(part, float(np.float32(std)), float(np.float32(mean)))
            block[:, 1 - place] = part.reshape(-1, 8)
    return u
