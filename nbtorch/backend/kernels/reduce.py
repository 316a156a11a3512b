"""Sums, means, extremes and norms over dimensions."""
from ..dtypes import numpy_dtype
from ..registry import kernel
from ._common import narrow, wide
from ._dims import wrap_dims

BLOCK = 512                                       # rows summed naively before partial sums are added pairwise


def as_dtype(xp, a, dtype):
    """`a` in the dtype asked for, if one was."""
    if dtype is None:
        return a
    target = numpy_dtype(dtype.name)
    if a.dtype.kind == "c" and target.kind != "c":
        a = a.real
    return a.astype(target) if a.dtype != target else a


def count_of(a, axes):
    """How many elements are reduced into one."""
    n = 1
    for d in axes:
        n *= a.shape[d]
    return n


def accurate_sum(xp, a, axes, keepdim):
    """Sum whose error does not grow with the number of rows: NumPy only sums pairwise along the fastest dimension."""
    if len(axes) == 1 and axes[0] == 0 and a.ndim > 1 and a.shape[0] > 2 * BLOCK and a.dtype.itemsize <= 8:
        partial = xp.add.reduceat(a, xp.arange(0, a.shape[0], BLOCK), 0) if xp.__name__ == "numpy" else a
        return partial.sum(0, keepdims=keepdim)
    return a.sum(axes, keepdims=keepdim)


@kernel("sum")
def sum_(xp, a, dim=None, keepdim=False, dtype=None):
    """Sum; whole numbers and bool in int64, half types accumulated in float32."""
    a, axes = as_dtype(xp, a, dtype), wrap_dims(dim, a.ndim)
    if a.dtype.kind in "iub":
        return (
            a.sum(
                axes,
                numpy_dtype(dtype.name) if dtype is not None and dtype.category else xp.int64,
                None,
                keepdim,
            )
            if dtype is None or dtype.category
            else a.any(axes, keepdims=keepdim)
        )
    return narrow(xp, xp.asarray(accurate_sum(xp, wide(xp, a), axes, keepdim)), a)


@kernel("mean")
def mean(xp, a, dim=None, keepdim=False, dtype=None):
    """Mean; NaN where nothing is averaged."""
    a, axes = as_dtype(xp, a, dtype), wrap_dims(dim, a.ndim)
    total = xp.asarray(accurate_sum(xp, wide(xp, a), axes, keepdim))
    n = count_of(a, axes)
    return narrow(xp, xp.asarray(total / total.real.dtype.type(n) if n else total * float("nan")), a)


@kernel("prod")
def prod(xp, a, dim=None, keepdim=False, dtype=None):
    """Product; whole numbers in int64."""
    a, axes = as_dtype(xp, a, dtype), wrap_dims(dim, a.ndim)
    if a.dtype.kind in "iub" and dtype is None:
        a = a.astype(xp.int64)
    if a.dtype.kind == "b":
        return xp.asarray(a.all(axes, keepdims=keepdim))
    return narrow(xp, xp.asarray(wide(xp, a).prod(axes, a.dtype if a.dtype.kind in "iu" else None, None, keepdim)), a)


@kernel("nansum")
def nansum(xp, a, dim=None, keepdim=False, dtype=None):
    """Sum with NaN as zero."""
    if a.dtype.kind in "fV":
        a = xp.where(xp.isnan(a), xp.zeros((), a.dtype), a)
    return sum_(xp, a, dim, keepdim, dtype)


def _variance(xp, a, axes, correction, keepdim):
    z = wide(xp, a)
    n = count_of(a, axes)
    centre = xp.asarray(accurate_sum(xp, z, axes, True)) / z.real.dtype.type(max(n, 1))
    off = z - centre
    squares = off.real * off.real + off.imag * off.imag if off.dtype.kind == "c" else off * off
    total = xp.asarray(accurate_sum(xp, squares, axes, keepdim))
    free = max(n - correction, 0)
    nan = total.dtype.type(float("nan"))
    result = total / total.dtype.type(free) if free else xp.where(total > 0, total.dtype.type(float("inf")), nan)
    if n == 0:
        result, centre = xp.full(total.shape, nan), centre * nan
    return xp.asarray(result.astype(total.dtype)), centre if keepdim else centre.reshape(total.shape)


def _real_like(a):
    return a.real.dtype if a.dtype.kind == "c" else a.dtype


@kernel("var")
def var(xp, a, dim, correction, keepdim=False):
    """Variance."""
    return narrow(xp, _variance(xp, a, wrap_dims(dim, a.ndim), correction, keepdim)[0], _real_like(a))


@kernel("std")
def std(xp, a, dim, correction, keepdim=False):
    """Standard deviation."""
    return narrow(
        xp, xp.asarray(xp.sqrt(_variance(xp, a, wrap_dims(dim, a.ndim), correction, keepdim)[0])), _real_like(a)
    )


# ---- extremes

def _refuse_empty(a, axes, name):
    if a.size == 0 and count_of(a, axes) == 0:
        if len(axes) == a.ndim and (a.ndim != 1):
            raise RuntimeError(f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the "
                               "reduction dim with the 'dim' argument.")
        bad = next(d for d in axes if a.shape[d] == 0)
        raise IndexError(f"{name}(): Expected reduction dim {bad} to have non-zero size.")


def _extreme(name, method, pick):
    @kernel(name)
    def run(xp, a, dim=None, keepdim=False):
        axes = wrap_dims(dim, a.ndim)
        _refuse_empty(a, axes, name)
        return xp.asarray(getattr(a, method)(axes, keepdims=keepdim))
    run.__doc__ = f"{method} over dimensions; NaN wins."

    @kernel(pick)
    def choose(xp, a, dim, keepdim=False):
        if a.ndim == 0:
            wrap_dims(dim, 0)
            return a.copy(), xp.zeros((), xp.int64)
        axis, = wrap_dims(dim, a.ndim)
        _refuse_empty(a, (axis,), method)
        where = xp.expand_dims(getattr(a, "arg" + method)(axis), axis)
        values = xp.take_along_axis(a, where, axis)
        where = where.astype(xp.int64)
        return (values, where) if keepdim else (values.reshape(_dropped(a, axis)), where.reshape(_dropped(a, axis)))
    choose.__doc__ = f"{method} of one dimension and where it is (the first of equals)."

    @kernel("arg" + method)
    def locate(xp, a, dim=None, keepdim=False):
        if dim is None:
            if not a.size:
                raise IndexError(
                    f"arg{method}(): Expected reduction dim to be specified for input.numel() == 0. Specify "
                    "the reduction dim with the 'dim' argument."
                )
            where = xp.asarray(getattr(a, "arg" + method)()).astype(xp.int64)
            return where.reshape((1,) * a.ndim) if keepdim else where
        if a.ndim == 0:
            wrap_dims(dim, 0)
            return xp.zeros((), xp.int64)
        axis, = wrap_dims(dim, a.ndim)
        _refuse_empty(a, (axis,), "arg" + method)
        where = xp.asarray(getattr(a, "arg" + method)(axis)).astype(xp.int64)
        return xp.expand_dims(where, axis) if keepdim else where
    locate.__doc__ = f"Where the {method} is."


def _dropped(a, axis):
    return a.shape[:axis] + a.shape[axis + 1:]


_extreme("amax", "max", "max_dim")
_extreme("amin", "min", "min_dim")


def _truth(name):
    @kernel(name)
    def run(xp, a, dim=None, keepdim=False):
        axes = wrap_dims(dim, a.ndim)
        if dim is not None and not isinstance(dim, int) and len(dim) == 0:
            axes = () if name == "none" else tuple(range(a.ndim))
        result = getattr(a if a.dtype.kind == "b" else a != 0, name)(axes, keepdims=keepdim)
        return xp.asarray(result).astype(xp.uint8) if a.dtype == xp.uint8 else result
    run.__doc__ = f"Whether {name} of the elements hold."


_truth("all")
_truth("any")


@kernel("count_nonzero")
def count_nonzero(xp, a, dim=None):
    """How many elements are not zero."""
    return xp.asarray((a != 0).sum(wrap_dims(dim, a.ndim), xp.int64))


# ---- norms and log-sums

@kernel("norm")
def norm(xp, a, p, dim, keepdim=False, dtype=None):
    """Vector norm of order p over dimensions."""
    a, axes = as_dtype(xp, a, dtype), wrap_dims(dim, a.ndim)
    z, real = wide(xp, a), _real_like(a)
    if p == 2:
        squares = z.real * z.real + z.imag * z.imag if z.dtype.kind == "c" else z * z
        return narrow(xp, xp.asarray(xp.sqrt(xp.asarray(accurate_sum(xp, squares, axes, keepdim)))), real)
    size = xp.abs(z)
    if p in (float("inf"), float("-inf")):
        if count_of(a, axes) == 0:
            if p < 0:
                raise RuntimeError(
                    "linalg.vector_norm cannot compute the -inf norm on an empty tensor because the operation "
                    "does not have an identity"
                )
            shape = tuple(1 if d in axes else n for d, n in enumerate(a.shape) if keepdim or d not in axes)
            return xp.zeros(shape, real)
        return narrow(xp, xp.asarray((size.max if p > 0 else size.min)(axes, keepdims=keepdim)), real)
    if p == 0:
        return narrow(xp, xp.asarray((size != 0).sum(axes, keepdims=keepdim)), real)
    if p == 1:
        return narrow(xp, xp.asarray(accurate_sum(xp, size, axes, keepdim)), real)
    total = xp.asarray(accurate_sum(xp, size ** size.dtype.type(p), axes, keepdim))
    return narrow(xp, xp.asarray(total ** total.dtype.type(1.0 / p)), real)


@kernel("logsumexp")
def logsumexp(xp, a, dim, keepdim=False):
    """log(sum(exp(a))), shifted by the largest element."""
    axes, z = wrap_dims(dim, a.ndim), wide(xp, a)
    if count_of(a, axes) == 0:
        total = xp.asarray(xp.exp(z).sum(axes, keepdims=keepdim))
        return narrow(xp, xp.log(total), a)
    top = xp.asarray(z.real.max(axes, keepdims=True))
    top = xp.where(xp.isfinite(top), top, xp.zeros((), top.dtype))
    total = xp.asarray(xp.log(xp.exp(z - top).sum(axes, keepdims=True)) + top)
    if not keepdim:
        total = total.reshape(tuple(n for d, n in enumerate(a.shape) if d not in axes))
    return narrow(xp, total, a)
