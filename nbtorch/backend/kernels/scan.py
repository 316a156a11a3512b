"""Running sums, products and extremes along a dimension."""
from ..registry import kernel
from ._common import narrow, wide
from ._dims import wrap_dim
from .reduce import as_dtype


def _running(name, ufunc):
    @kernel(name)
    def run(xp, a, dim, dtype=None):
        a, axis = as_dtype(xp, a, dtype), wrap_dim(dim, a.ndim)
        if a.dtype.kind in "iub" and dtype is None:
            a = a.astype(xp.int64)
        if a.ndim == 0:
            return a.copy()
        if a.dtype.kind == "b":
            return xp.logical_or.accumulate(a, axis) if name == "cumsum" else xp.logical_and.accumulate(a, axis)
        z = wide(xp, a)
        work = {"f": xp.float64, "c": xp.complex128}.get(z.dtype.kind, z.dtype)
        return getattr(xp, name)(z, axis, work).astype(a.dtype)
    run.__doc__ = f"Running {ufunc}, in double precision as PyTorch accumulates."


_running("cumsum", "sum")
_running("cumprod", "product")


def _extreme(name, ufunc):
    @kernel(name)
    def run(xp, a, dim):
        axis = wrap_dim(dim, a.ndim)
        if a.ndim == 0:
            return a.copy(), xp.zeros((), xp.int64)
        if not a.size:
            return a.copy(), xp.zeros(a.shape, xp.int64)
        best = getattr(xp, ufunc).accumulate(a, axis)
        steps = xp.arange(a.shape[axis]).reshape((-1,) + (1,) * (a.ndim - axis - 1))
        new = a == best
        if a.dtype.kind not in "iub":
            new = new | xp.isnan(a)
        return best, xp.maximum.accumulate(xp.where(new, steps, 0), axis).astype(xp.int64)
    run.__doc__ = f"Running {ufunc} and where it was found (the last of equals)."


_extreme("cummax", "maximum")
_extreme("cummin", "minimum")


@kernel("logcumsumexp")
def logcumsumexp(xp, a, dim):
    """Logarithm of the running sum of exponentials."""
    axis = wrap_dim(dim, a.ndim)
    if a.ndim == 0 or not a.size:
        return a.copy()
    z = wide(xp, a)
    if z.dtype.kind == "c":
        from .gamma import logaddexp
        moved = xp.moveaxis(z, axis, 0)
        out = xp.empty(moved.shape, z.dtype)
        out[0] = moved[0]
        for i in range(1, len(moved)):
            out[i] = logaddexp(xp, out[i - 1], moved[i])
        return xp.ascontiguousarray(xp.moveaxis(out, 0, axis))
    return narrow(xp, xp.logaddexp.accumulate(z.astype(xp.float64), axis), a)
