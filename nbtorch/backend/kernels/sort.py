"""Sorting, ranks, counting and searching."""
from ..registry import kernel
from ._common import wide
from ._dims import wrap_dim


def _has_nan(a):
    return a.dtype.kind in "fV"


def order_of(xp, a, axis, descending):
    """Stable order along a dimension, NaN counted as the largest."""
    if a.dtype.kind == "V":                       # bfloat16 has no stable sort of its own
        a = wide(xp, a)
    if not descending:
        return xp.argsort(a, axis, "stable") if xp.__name__ == "numpy" else xp.argsort(a, axis)
    # descending and stable: sort the reversed line ascending, then reverse and count from the other end
    turned = xp.flip(a, axis)
    order = xp.argsort(turned, axis, "stable") if xp.__name__ == "numpy" else xp.argsort(turned, axis)
    return a.shape[axis] - 1 - xp.flip(order, axis)


@kernel("sort")
def sort(xp, a, dim=-1, descending=False, stable=False):
    """Values in order and where they were."""
    axis = wrap_dim(dim, a.ndim)
    if a.ndim == 0:
        return a.copy(), xp.zeros((), xp.int64)
    order = xp.ascontiguousarray(order_of(xp, a, axis, descending))
    return xp.take_along_axis(a, order, axis), order


@kernel("argsort")
def argsort(xp, a, dim=-1, descending=False, stable=False):
    """Where the values in order are."""
    axis = wrap_dim(dim, a.ndim)
    return xp.ascontiguousarray(order_of(xp, a, axis, descending)) if a.ndim else xp.zeros((), xp.int64)


@kernel("topk")
def topk(xp, a, k, dim=-1, largest=True, sorted=True):
    """The k largest (or smallest) values in order and where they are."""
    axis = wrap_dim(dim, a.ndim)
    n = a.shape[axis] if a.ndim else 1
    if not 0 <= k <= n:
        raise RuntimeError("selected index k out of range")
    if a.ndim == 0:
        return a.copy(), xp.zeros((), xp.int64)
    if xp.__name__ == "numpy" and 0 < k < n // 8 and a.dtype.kind != "V" and not (_has_nan(a) and xp.isnan(a).any()):
        order = _top_by_partition(xp, a, k, axis, largest)
    else:
        order = xp.take(order_of(xp, a, axis, largest), xp.arange(k), axis)
    order = xp.ascontiguousarray(order)
    return xp.take_along_axis(a, order, axis), order


def _top_by_partition(xp, a, k, axis, largest):
    """Only the k ends of a line are sorted."""
    n = a.shape[axis]
    part = xp.argpartition(a, n - k if largest else k - 1, axis)
    part = xp.take(part, xp.arange(n - k, n) if largest else xp.arange(k), axis)
    part = xp.sort(part, axis)                    # earlier positions first among equals
    order = order_of(xp, xp.take_along_axis(a, part, axis), axis, largest)
    return xp.take_along_axis(part, order, axis)


# ---- ranks

def _at(xp, a, order, axis, keepdim):
    values = xp.take_along_axis(a, order, axis)
    if not keepdim:
        shape = a.shape[:axis] + a.shape[axis + 1:]
        return values.reshape(shape), order.reshape(shape)
    return values, order


def _line(xp, a, axis, name):
    if a.shape[axis] == 0:
        raise IndexError(f"{name}(): Expected reduction dim {axis} to have non-zero size.")
    return order_of(xp, a, axis, False)


@kernel("kthvalue")
def kthvalue(xp, a, k, dim=-1, keepdim=False):
    """The k-th smallest value of a dimension and where it is."""
    axis = wrap_dim(dim, a.ndim)
    n = a.shape[axis] if a.ndim else 1
    if not 1 <= k <= n:
        raise RuntimeError("kthvalue(): selected number k out of range for dimension " + str(axis))
    if a.ndim == 0:
        return a.copy(), xp.zeros((), xp.int64)
    return _at(xp, a, xp.take(order_of(xp, a, axis, False), xp.arange(k - 1, k), axis), axis, keepdim)


def _median(xp, a, dim, keepdim, skip_nan, name):
    axis = wrap_dim(dim, a.ndim)
    if a.ndim == 0:
        return a.copy(), xp.zeros((), xp.int64)
    order, n = _line(xp, a, axis, name), a.shape[axis]
    middle = xp.full(a.shape[:axis] + (1,) + a.shape[axis + 1:], (n - 1) // 2)
    if _has_nan(a):
        nans = xp.expand_dims(xp.isnan(a).sum(axis), axis)
        if skip_nan:
            middle = xp.maximum((n - nans - 1) // 2, 0)
        else:                                     # the first NaN, which sorting put after all numbers
            middle = xp.where(nans > 0, n - nans, middle)
    return _at(xp, a, xp.take_along_axis(order, middle, axis), axis, keepdim)


@kernel("median_dim")
def median_dim(xp, a, dim, keepdim=False):
    """Lower median of a dimension and where it is; NaN wins."""
    return _median(xp, a, dim, keepdim, False, "median")


@kernel("nanmedian_dim")
def nanmedian_dim(xp, a, dim, keepdim=False):
    """Lower median without NaN."""
    return _median(xp, a, dim, keepdim, True, "nanmedian")


def _over_all(name, skip_nan):
    @kernel(name)
    def run(xp, a, dim=None, keepdim=False):
        if not a.size:
            return xp.full((), float("nan"), a.dtype) if _has_nan(a) else xp.full((), xp.iinfo(a.dtype).min, a.dtype)
        return _median(xp, a.reshape(-1), 0, False, skip_nan, name)[0]
    run.__doc__ = "Lower median of all elements."


_over_all("median_all", False)
_over_all("nanmedian_all", True)


@kernel("mode")
def mode(xp, a, dim=-1, keepdim=False):
    """The most frequent value of a dimension (the smallest of equals) and the last place it stands."""
    axis = wrap_dim(dim, a.ndim)
    if a.ndim == 0:
        return a.copy(), xp.zeros((), xp.int64)
    order = _line(xp, a, axis, "mode")
    lines, orders = xp.moveaxis(xp.take_along_axis(a, order, axis), axis, -1), xp.moveaxis(order, axis, -1)
    n = lines.shape[-1]
    steps = xp.arange(n)
    new = xp.concatenate([xp.ones(lines.shape[:-1] + (1,), bool), lines[..., 1:] != lines[..., :-1]], -1)
    run = steps - xp.maximum.accumulate(xp.where(new, steps, 0), -1)
    last = xp.argmax(run, -1)[..., None]          # the first longest run ends here; the sort was stable
    place = xp.take_along_axis(orders, last, -1)
    return _at(xp, a, xp.ascontiguousarray(xp.moveaxis(place, -1, axis)), axis, keepdim)


# ---- counting and searching

@kernel("unique")
def unique(xp, a, dim=None):
    """(sorted distinct values, position of each element among them, counts)."""
    shape = a.shape
    if dim is None:
        values, inverse, counts = xp.unique(wide(xp, a).reshape(-1), False, True, True)
        return values.astype(a.dtype), inverse.reshape(shape).astype(xp.int64), counts.astype(xp.int64)
    axis = wrap_dim(dim, a.ndim)
    if 0 in shape and shape[axis]:
        raise RuntimeError("There are 0 sized dimensions, and they aren't selected, so unique cannot be applied")
    if not shape[axis]:
        return a.copy(), xp.zeros(0, xp.int64), xp.zeros(0, xp.int64)
    values, inverse, counts = xp.unique(wide(xp, a), False, True, True, axis)
    return xp.ascontiguousarray(values.astype(a.dtype)), inverse.reshape(-1).astype(xp.int64), counts.astype(xp.int64)


@kernel("unique_consecutive")
def unique_consecutive(xp, a, dim=None):
    """The same for runs of equal neighbours."""
    shape = a.shape
    lines = a.reshape(-1) if dim is None else xp.moveaxis(a, wrap_dim(dim, a.ndim), 0)
    n = len(lines)
    if not n:
        return a.reshape(-1).copy() if dim is None else a.copy(), xp.zeros(shape if dim is None else 0, xp.int64), \
            xp.zeros(0, xp.int64)
    differs = lines[1:] != lines[:-1]
    differs = differs.any(tuple(range(1, lines.ndim))) if lines.ndim > 1 else differs
    starts = xp.concatenate([xp.zeros(1, xp.int64), xp.flatnonzero(differs) + 1])
    inverse = xp.concatenate([xp.zeros(1, xp.int64), xp.cumsum(differs).astype(xp.int64)])
    counts = xp.diff(xp.concatenate([starts, xp.asarray([n])])).astype(xp.int64)
    values = lines[starts]
    if dim is not None:
        values = xp.ascontiguousarray(xp.moveaxis(values, 0, wrap_dim(dim, a.ndim)))
    return values, inverse.reshape(shape) if dim is None else inverse, counts


@kernel("bincount")
def bincount(xp, a, weights=None, minlength=0):
    """How often each whole number from 0 on occurs, or the sum of its weights."""
    if a.ndim != 1 or a.dtype.kind not in "iu":
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if minlength < 0:
        raise RuntimeError("minlength should be >= 0")
    if a.size and int(a.min()) < 0:
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if weights is not None and weights.shape != a.shape:
        raise RuntimeError("weights should be 1-d and have the same length as input")
    if not a.size:
        return xp.zeros(minlength, xp.int64)
    counts = xp.bincount(a.astype(xp.int64), None if weights is None else weights.astype(xp.float64), minlength)
    return counts.astype(xp.int64) if weights is None else counts.astype(
        xp.float32 if weights.dtype == xp.float32 else xp.float64)


@kernel("searchsorted")
def searchsorted(xp, edges, values, sorter, out_int32=False, right=False):
    """Where values would be inserted to keep each line of edges in order."""
    kind = xp.int32 if out_int32 else xp.int64
    side = "right" if right else "left"
    scalar = not hasattr(values, "dtype")
    values = wide(xp, xp.asarray(values))
    edges = wide(xp, edges)
    if sorter is not None:
        edges = xp.take_along_axis(edges, sorter, -1)
    if not values.size:
        return xp.zeros(values.shape, kind)
    if edges.ndim == 1:
        return xp.asarray(xp.searchsorted(edges, values, side)).astype(kind)
    lines, asked = edges.reshape(-1, edges.shape[-1]), values.reshape(-1, values.shape[-1] if not scalar else 1)
    found = [xp.searchsorted(line, wanted, side) for line, wanted in zip(lines, asked)]
    return xp.stack(found).reshape(values.shape).astype(kind)


@kernel("histogram")
def histogram(xp, a, weight, bins, low, high, density):
    """Counts per bin and the edges; bins is a number or an array of edges."""
    flat = wide(xp, a).reshape(-1)
    edges = bins if hasattr(bins, "dtype") else xp.linspace(low, high, bins + 1).astype(a.dtype)
    counts, _ = xp.histogram(flat, edges, None, False, None if weight is None else weight.reshape(-1)) \
        if xp.__name__ == "numpy" else xp.histogram(flat, edges)
    counts = counts.astype(a.dtype)
    if density and counts.size:
        counts = (counts / xp.diff(edges) / counts.sum()).astype(a.dtype)
    return counts, xp.array(edges, a.dtype)


@kernel("histc")
def histc(xp, a, bins, low, high):
    """Counts of elements in equal bins between low and high; elements outside are ignored."""
    z = a.reshape(-1).astype(xp.float64)
    z = z[(z >= low) & (z <= high)]
    place = ((z - low) * (bins / (high - low))).astype(xp.int64)
    place = xp.minimum(place, bins - 1)
    return xp.bincount(place, None, bins).astype(a.dtype)


@kernel("histogram_edges")
def histogram_edges(xp, a, weight, edges, low, high, density):
    """Counts between given edges, and the edges."""
    return histogram(xp, a, weight, edges, low, high, density)
