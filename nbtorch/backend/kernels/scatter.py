"""gather and scatter: one index per element."""
from ..registry import kernel
from ._common import is_half
from ._dims import is_index, wrap_dim
from .index import flat_add


def _check(xp, a, index, dim, name, source=None):
    if index.size and not is_index(index):
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index")
    if source is not None and hasattr(source, "dtype") and source.dtype != a.dtype:
        raise RuntimeError(f"{name}(): Expected self.dtype to be equal to src.dtype")
    if not index.size:
        return
    if max(index.ndim, 1) != max(a.ndim, 1):
        raise RuntimeError("Index tensor must have the same number of dimensions as "
                           + ("input tensor" if name == "gather" else "self tensor"))
    shape, have = index.shape or (1,), a.shape or (1,)
    larger = [d for d, (n, m) in enumerate(zip(shape, have)) if d != dim and n > m]
    if larger:
        raise RuntimeError(f"Size does not match at dimension {larger[0]} expected index {list(index.shape)} to be no "
                           f"larger than self {list(a.shape)} apart from dimension {dim}")
    if source is not None and hasattr(source, "dtype") and source.ndim + index.ndim:
        if max(source.ndim, 1) != max(index.ndim, 1):
            raise RuntimeError("Index tensor must have the same number of dimensions as src tensor")
        if any(n > m for n, m in zip(shape, source.shape or (1,))):
            raise RuntimeError(
                f"Expected index {list(index.shape)} to be no larger than self {list(a.shape)} apart from "
                f"dimension {dim} and to be no larger size than src {list(source.shape)}"
            )
    low, high = int(index.min()), int(index.max())
    if low < 0 or high >= have[dim]:
        raise RuntimeError(f"index {high if high >= have[dim] else low} is out of bounds for dimension {dim} with size "
                           f"{have[dim]}")


def _corner(a, index, dim):
    """The part of `a` that index covers in the other dimensions."""
    return a[tuple(slice(None) if d == dim else slice(n) for d, n in enumerate(index.shape))]


@kernel("gather")
def gather(xp, a, index, dim, sparse_grad=False):
    """out[i][j] = a[index[i][j]][j] for dim 0, and so on."""
    dim = wrap_dim(dim, a.ndim)
    _check(xp, a, index, dim, "gather")
    if not index.size:
        return xp.zeros(index.shape, a.dtype)
    if a.ndim == 0 or index.ndim == 0:
        return a.reshape(-1)[index.reshape(-1)].reshape(index.shape)
    return xp.take_along_axis(_corner(a, index, dim), index, dim)


def _cells(xp, shape, index, dim):
    """Flat position in an array of `shape` of each element of index."""
    shape = shape or (1,)
    index = index.reshape(index.shape or (1,))
    step, cells = 1, None
    for d in range(len(shape) - 1, -1, -1):
        part = index if d == dim else xp.arange(index.shape[d]).reshape((-1,) + (1,) * (len(shape) - d - 1))
        cells = part * step if cells is None else cells + part * step
        step *= shape[d]
    return xp.broadcast_to(cells, index.shape)


def _source(xp, source, index, dtype):
    """The part of src that index covers, flattened."""
    if not hasattr(source, "dtype"):
        return xp.full(index.size, source, dtype)
    if source.ndim == 0 or index.ndim == 0:
        return source.reshape(-1)[:index.size]
    return source[tuple(slice(n) for n in index.shape)].reshape(-1)


@kernel("scatter")
def scatter(xp, a, index, src, dim, reduce=None):
    """A copy of `a` with src written (or added, multiplied) at the indices."""
    dim = wrap_dim(dim, a.ndim)
    _check(xp, a, index, dim, "scatter", src)
    if reduce not in (None, "add", "multiply"):
        raise RuntimeError("reduce argument must be either add or multiply.")
    out = a.copy(order="C")
    if not index.size:
        return out
    cells, values = _cells(xp, a.shape, index, dim).reshape(-1), _source(xp, src, index, a.dtype)
    if reduce == "add":
        return flat_add(xp, out, cells, values)
    if reduce == "multiply":
        return _combine(xp, out, cells, values, "prod")
    out.reshape(-1)[cells] = values
    return out


@kernel("scatter_add")
def scatter_add(xp, a, index, src, dim):
    """A copy of `a` with src added at the indices."""
    dim = wrap_dim(dim, a.ndim)
    _check(xp, a, index, dim, "scatter", src)
    out = a.copy(order="C")
    if not index.size:
        return out
    return flat_add(xp, out, _cells(xp, a.shape, index, dim), _source(xp, src, index, a.dtype))


def _combine(xp, out, cells, values, how):
    """out.flat[cells] = how(out.flat[cells], values), repeated positions in turn."""
    ufunc = {"prod": xp.multiply, "amax": xp.maximum, "amin": xp.minimum}[how]
    wide = out.astype(xp.float32) if is_half(out) else out
    ufunc.at(wide.reshape(-1), cells, values.astype(wide.dtype))
    return wide.astype(out.dtype) if wide is not out else out


@kernel("scatter_reduce")
def scatter_reduce(xp, a, index, src, dim, reduce, include_self=True):
    """A copy of `a` with src combined at the indices: sum, prod, mean, amax, amin."""
    dim = wrap_dim(dim, a.ndim)
    if reduce not in ("sum", "prod", "mean", "amax", "amin"):
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    if reduce == "mean" and a.dtype.kind == "b":
        raise NotImplementedError("\"scatter_gather_tensor_cpu_reduce_mean\" not implemented for 'Bool'")
    if reduce in ("amax", "amin") and a.dtype.kind == "c":
        raise NotImplementedError(f"\"scatter_gather_tensor_cpu_reduce_{reduce}\" not implemented for complex numbers")
    _check(xp, a, index, dim, "scatter", src)
    out = a.copy(order="C")
    if not index.size:
        return out
    cells, values = _cells(xp, a.shape, index, dim).reshape(-1), _source(xp, src, index, a.dtype)
    flat = out.reshape(-1)
    if not include_self:
        flat[cells] = _neutral(xp, reduce, a.dtype)
    if reduce in ("sum", "mean"):
        out = flat_add(xp, out, cells, values)
    else:
        out = _combine(xp, out, cells, values, reduce)
    if reduce == "mean":
        counts = xp.full(out.size, 1 if include_self else 0, xp.int64)
        xp.add.at(counts, cells, 1)
        counts = xp.maximum(counts, 1).reshape(out.shape)
        out = xp.floor_divide(out, counts.astype(out.dtype)) if out.dtype.kind in "iu" else \
            (out / counts.astype(out.real.dtype)).astype(out.dtype)
    return out


def _neutral(xp, reduce, dtype):
    if reduce in ("sum", "mean"):
        return 0
    if reduce == "prod":
        return 1
    if dtype.kind in "iu":
        return xp.iinfo(dtype).min if reduce == "amax" else xp.iinfo(dtype).max
    if dtype.kind == "b":
        return reduce == "amin"
    return float("-inf") if reduce == "amax" else float("inf")
