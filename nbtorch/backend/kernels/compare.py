"""Comparisons that are no ufunc."""
from ..registry import kernel
from ._common import wide


@kernel("isclose")
def isclose(xp, a, b, rtol, atol, equal_nan=False):
    """Elements within atol + rtol * |b|; infinities only equal themselves."""
    x, y = wide(xp, a), wide(xp, b)
    if x.dtype.kind in "iub":
        x, y = x.astype(xp.float64), y.astype(xp.float64)
    near = (xp.abs(x - y) <= atol + rtol * xp.abs(y)) & xp.isfinite(x) & xp.isfinite(y)
    near = near | (x == y)
    return xp.asarray(near | (xp.isnan(x) & xp.isnan(y)) if equal_nan else near)


@kernel("isin")
def isin(xp, a, b, assume_unique=False, invert=False):
    """Which elements occur in b."""
    return xp.asarray(xp.isin(wide(xp, xp.asarray(a)), wide(xp, xp.asarray(b)), assume_unique, invert))
