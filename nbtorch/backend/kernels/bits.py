"""Shifts, and taking floats apart."""
from ..registry import kernel
from ._common import narrow, wide
from .pointwise import dtype_of


def _shift_range(xp, a, b):
    """Shift amounts outside the width are undefined in C; PyTorch gives 0, or the sign for right shifts."""
    width = 8 * dtype_of(a, b).itemsize
    return (xp.asarray(b) < 0) | (xp.asarray(b) >= width), width


@kernel("left_shift")
def left_shift(xp, a, b):
    """a << b, 0 where b is out of range."""
    outside, _ = _shift_range(xp, a, b)
    dtype = dtype_of(a, b)
    shifted = xp.left_shift(xp.asarray(a, dtype), xp.where(outside, 0, b).astype(dtype))
    return xp.where(outside, xp.zeros((), dtype), shifted)


@kernel("right_shift")
def right_shift(xp, a, b):
    """a >> b, the sign where b is out of range."""
    outside, width = _shift_range(xp, a, b)
    dtype = dtype_of(a, b)
    last = width - 1
    amount = xp.where(outside, last, b).astype(dtype)
    shifted = xp.right_shift(xp.asarray(a, dtype), amount)
    return xp.where(outside, xp.zeros((), dtype), shifted) if dtype.kind == "u" else shifted


@kernel("frexp")
def frexp(xp, a):
    """Mantissa in [0.5, 1) and exponent."""
    mantissa, exponent = xp.frexp(wide(xp, a))
    return narrow(xp, xp.asarray(mantissa), a), xp.asarray(exponent).astype(xp.int32)
