"""Reading and writing at given positions."""
from ..registry import kernel
from ._common import is_half
from ._dims import as_type, is_index, wrap_dim


def flat_add(xp, out, where, values):
    """out.flat[where] += values, repeated positions added up; half types accumulate in float32."""
    wide = out.astype(xp.float32) if is_half(out) else out
    flat = wide.reshape(-1)
    if wide.dtype.kind == "c" and xp.__name__ != "numpy":
        xp.add.at(flat.real, where.reshape(-1), values.reshape(-1).real)
        xp.add.at(flat.imag, where.reshape(-1), values.reshape(-1).imag)
    elif wide.dtype.kind == "b":
        flat[where.reshape(-1)[values.reshape(-1)]] = True
    else:
        xp.add.at(flat, where.reshape(-1), values.reshape(-1).astype(wide.dtype))
    return flat.reshape(out.shape).astype(out.dtype) if wide is not out else out


def check_range(xp, index, size, dim, negative=False):
    """Raise PyTorch's IndexError for positions outside a dimension."""
    if index.size:
        low, high = int(index.min()), int(index.max())
        if high >= size or low < (-size if negative else 0):
            bad = high if high >= size else low
            raise IndexError(f"index {bad} is out of bounds for dimension {dim} with size {size}")


def check_mask(mask, shape, dim):
    """Raise PyTorch's IndexError for a mask of another shape."""
    for j, n in enumerate(mask.shape):
        if dim + j >= len(shape) or shape[dim + j] != n:
            raise IndexError(f"The shape of the mask {list(mask.shape)} at index {j} does not match the shape of the "
                             f"indexed tensor {list(shape)} at index {dim + j}")


def positions(xp, shape, indices):
    """Index arrays as NumPy takes them, checked against `shape`: None is a whole dimension, masks become integers."""
    key, dim = [], 0
    for index in indices:
        if index is None:
            key.append(slice(None))
            dim += 1
        elif index.dtype.kind == "b" or index.dtype.kind == "u" and index.dtype.itemsize == 1:
            index = index.astype(bool) if index.dtype.kind != "b" else index
            check_mask(index, shape, dim)
            if index.ndim == 0:
                key.append(index)
            else:
                key.extend(index.nonzero())
                dim += index.ndim
        elif index.dtype.kind not in "iu":
            raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
        else:
            if dim >= len(shape):
                raise IndexError(f"too many indices for tensor of dimension {len(shape)}")
            check_range(xp, index, shape[dim], dim, negative=True)
            key.append(index)
            dim += 1
    return tuple(key)


def _mismatch(key, error):
    """PyTorch's words for index arrays that do not broadcast."""
    if "broadcast" not in str(error):
        return error
    shapes = ", ".join(str(list(k.shape)) for k in key if hasattr(k, "shape"))
    return IndexError("shape mismatch: indexing tensors could not be broadcast together with shapes " + shapes)


def _take(a, key):
    try:
        return a[key]
    except IndexError as error:
        raise _mismatch(key, error) from None


@kernel("index")
def index(xp, a, indices):
    """Elements at positions given by integer or bool arrays."""
    if len(indices) == 1 and indices[0] is not None and indices[0].dtype.kind == "b" and indices[0].shape == a.shape \
            and a.ndim:
        return a[indices[0]]
    return xp.ascontiguousarray(_take(a, positions(xp, a.shape, indices))) if a.ndim else \
        xp.array(_take(a, positions(xp, a.shape, indices)))


def _cells(xp, shape, indices):
    """Flat position of every element that indexing selects, in the shape of the result."""
    size = 1
    for n in shape:
        size *= n
    return _take(xp.arange(size).reshape(shape), positions(xp, shape, indices))


def _all_masks(indices):
    return all(i is None or i.dtype.kind == "b" for i in indices)


@kernel("index_backward_list")
def index_backward(xp, g, indices, shape):
    """Zeros with `g` added at the positions it was read from."""
    out = xp.zeros(shape, g.dtype)
    if _all_masks(indices):
        out[positions(xp, shape, indices)] = g
        return out
    if len(indices) == 1 and len(shape) > 1:
        return add_rows(
            xp, out, indices[0].reshape(-1) % max(shape[0], 1), g.reshape((indices[0].size,) + tuple(shape[1:]))
        )
    return flat_add(xp, out, _cells(xp, shape, indices), g)


def add_rows(xp, out, where, rows):
    """out[where] += rows along the first dimension: sorted, then one sum per run of equal positions."""
    if not where.size:
        return out
    order = xp.argsort(where, kind="stable") if xp.__name__ == "numpy" else xp.argsort(where)
    ordered = where[order]
    starts = xp.concatenate([xp.zeros(1, xp.int64), xp.flatnonzero(ordered[1:] != ordered[:-1]) + 1])
    if len(starts) == len(where):
        out[where] += rows
        return out
    if xp.__name__ != "numpy":
        xp.add.at(out, where, rows)
        return out
    wide = rows.astype(xp.float32) if is_half(rows) else rows
    sums = xp.add.reduceat(wide[order], starts, axis=0, dtype=wide.dtype)
    out[ordered[starts]] += sums.astype(out.dtype)
    return out


@kernel("index_put")
def index_put(xp, a, indices, values, accumulate=False, out=None):
    """A copy of `a` with `values` at the positions; with out= (which is `a`) written there."""
    if not hasattr(values, "dtype"):
        values = xp.asarray(values).astype(a.dtype)
    if values.dtype != a.dtype:
        names = {"float32": "Float", "float64": "Double", "int64": "Long", "float16": "Half", "bool": "Bool",
                 "int32": "Int", "bfloat16": "BFloat16", "uint8": "Byte"}
        raise RuntimeError("Index put requires the source and destination dtypes match, got "
                           f"{names.get(a.dtype.name, a.dtype.name)} for the destination and "
                           f"{names.get(values.dtype.name, values.dtype.name)} for the source.")
    if accumulate:
        cells = _cells(xp, a.shape, indices)
        sums = flat_add(xp, xp.array(a, order="C"), cells, _spread(xp, values, cells.shape))
        if out is not None:
            out[...] = sums
        return sums
    out = a.copy() if out is None else out
    full = len(indices) == 1 and indices[0] is not None and indices[0].dtype.kind == "b" and indices[0].shape == a.shape
    key = indices[0] if full and a.ndim else positions(xp, a.shape, indices)
    try:
        out[key] = values
    except IndexError as error:
        raise _mismatch(key, error) from None
    except ValueError:
        while values.ndim and values.shape[0] == 1:
            values = values[0]
        out[key] = _spread(xp, values, out[key].shape)
    return out


def _spread(xp, values, shape):
    try:
        return xp.broadcast_to(values, shape)
    except ValueError:
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(values.shape)} cannot be broadcast to indexing "
            f"result of shape {list(shape)}"
        ) from None


# ---- along one dimension

def _along(ndim, dim, what):
    return (slice(None),) * dim + (what,) if ndim else (what,)


@kernel("index_select")
def index_select(xp, a, index, dim):
    """Positions of one dimension."""
    if index.ndim > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    if not is_index(index):
        raise RuntimeError("index_select(): Expected dtype int32 or int64 for index")
    dim = wrap_dim(dim, a.ndim)
    check_range(xp, index, a.shape[dim] if a.ndim else 1, dim)
    if a.ndim == 0:
        return a.copy()
    return xp.take(a, index.reshape(-1), dim)


@kernel("index_add")
def index_add(xp, a, index, source, dim, alpha=1):
    """A copy of `a` with source added at positions of one dimension."""
    dim = wrap_dim(dim, a.ndim)
    _check_vector(a, index, source, dim, "index_add")
    check_range(xp, index, a.shape[dim] if a.ndim else 1, dim)
    if alpha != 1:
        source = source * as_type(xp, alpha, source.dtype)
    if a.ndim == 0:
        return xp.asarray(a + source.sum().astype(a.dtype))
    out = xp.ascontiguousarray(a.swapaxes(0, dim)) if dim else a.copy(order="C")
    out = out.copy() if out is a or out.base is not None else out
    add_rows(xp, out, index.reshape(-1), source.reshape(source.shape or (1,)).swapaxes(0, dim))
    return xp.ascontiguousarray(out.swapaxes(0, dim))


def _check_vector(a, index, source, dim, name):
    if index.ndim > 1:
        raise IndexError(f"{name}(): Index is supposed to be a vector, but got dim: {index.ndim} with type: Long and "
                         f"size: {list(index.shape)}")
    if not is_index(index):
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index but got: {index.dtype.name}")
    if source.dtype != a.dtype:
        raise RuntimeError(
            f"{name}(): self ({a.dtype.name}) and source ({source.dtype.name}) must have the same scalar type"
        )
    if source.ndim != a.ndim and a.ndim and source.ndim:
        raise RuntimeError(f"{name}(): Source/destination tensor must have same dimensionality")
    n = source.shape[dim] if source.ndim else 1
    if index.size != n:
        raise IndexError(f"{name}(): Number of indices ({index.size}) should be equal to source.size(dim): ({n}), for "
                         f"dim: {dim}")
    for d in range(a.ndim):
        if d != dim and source.ndim and source.shape[d] != a.shape[d]:
            raise RuntimeError(
                f"source tensor shape must match self tensor shape, excluding the specified dimension. Got "
                f"self.shape = {list(a.shape)} source.shape = {list(source.shape)}"
            )


@kernel("index_copy")
def index_copy(xp, a, index, source, dim):
    """A copy of `a` with source at positions of one dimension."""
    dim = wrap_dim(dim, a.ndim)
    _check_vector(a, index, source, dim, "index_copy_")
    check_range(xp, index, a.shape[dim] if a.ndim else 1, dim)
    out = a.copy()
    if a.ndim == 0:
        out[...] = source.reshape(())
    else:
        out[_along(a.ndim, dim, index.reshape(-1))] = source.reshape(source.shape or (1,))
    return out


@kernel("index_fill")
def index_fill(xp, a, index, value, dim):
    """A copy of `a` with one number at positions of one dimension."""
    dim = wrap_dim(dim, a.ndim)
    if not is_index(index):
        raise IndexError("index_fill_(): Expected dtype int64 for index.")
    if index.ndim > 1:
        raise IndexError("Index has to be a vector/scalar")
    if getattr(value, "ndim", 0):
        raise RuntimeError(f"index_fill_ only supports a 0-dimensional value tensor, but got tensor with {value.ndim} "
                           "dimension(s).")
    if isinstance(value, complex) and a.dtype.kind != "c":
        raise RuntimeError("index_fill_(): Converting complex Scalar to non-complex type is not supported")
    check_range(xp, index, a.shape[dim] if a.ndim else 1, dim, negative=True)
    out = a.copy()
    if a.ndim == 0:
        out[...] = value
    else:
        out[_along(a.ndim, dim, index.reshape(-1))] = value
    return out


# ---- the whole tensor as one line

@kernel("take")
def take(xp, a, index):
    """Elements of the flattened tensor."""
    if index.dtype.kind != "i" or index.dtype.itemsize != 8:
        raise RuntimeError(f"take(): Expected a long tensor for index, but got {index.dtype.name}")
    n = a.size
    if index.size and (n == 0 or int(index.max()) >= n or int(index.min()) < -n):
        raise IndexError("take(): tried to take from an empty tensor" if n == 0 else
                         f"out of range: tried to access index {int(index.max())} on a tensor of {n} elements.")
    return xp.asarray(a.reshape(-1)[index])


@kernel("put")
def put(xp, a, index, source, accumulate=False):
    """A copy of `a` with source at positions of the flattened tensor."""
    if index.dtype.kind != "i" or index.dtype.itemsize != 8:
        raise RuntimeError("put_(): Expected a long tensor for index")
    if source.dtype != a.dtype:
        raise RuntimeError("put_(): self and source expected to have the same dtype, but got "
                           f"self.dtype = {a.dtype.name} and source.dtype = {source.dtype.name}")
    if index.size != source.size:
        raise RuntimeError(
            f"put_(): Expected source and index to have the same number of elements, but got source.numel() "
            f"= {source.size}, index.numel() = {index.size}"
        )
    n = a.size
    if index.size and (n == 0 or int(index.max()) >= n or int(index.min()) < -n):
        raise IndexError(
            "put_(): tried to put elements into an empty tensor"
            if n == 0
            else f"out of range: tried to access index {int(index.max())} on a tensor of {n} elements."
        )
    out = a.copy(order="C")
    if accumulate:
        return flat_add(xp, out, index % max(n, 1), source)
    out.reshape(-1)[index.reshape(-1)] = source.reshape(-1)
    return out


@kernel("masked_scatter")
def masked_scatter(xp, a, mask, source):
    """A copy of `a` with the elements of source, in order, where the mask holds."""
    if mask.dtype.kind != "b":
        raise RuntimeError("masked_scatter_ only supports boolean masks, but got mask with dtype " + mask.dtype.name)
    if a.dtype != source.dtype:
        raise RuntimeError("masked_scatter: expected self and source to have same dtypes but got different ones")
    shape = xp.broadcast_shapes(a.shape, mask.shape) if xp.__name__ == "numpy" else xp.broadcast(a, mask).shape
    out, mask = xp.array(xp.broadcast_to(a, shape)), xp.broadcast_to(mask, shape)
    count = int(mask.sum())
    if count > source.size:
        raise RuntimeError("Number of elements of source < number of ones in mask")
    out[mask] = source.reshape(-1)[:count]
    return out


@kernel("masked_scatter_backward")
def masked_scatter_backward(xp, g, mask, shape):
    """Gradient of the source of masked_scatter."""
    out = xp.zeros(shape, g.dtype)
    taken = g[xp.broadcast_to(mask, g.shape)]
    out.reshape(-1)[:taken.size] = taken
    return out


@kernel("nonzero")
def nonzero(xp, a):
    """Coordinates of the elements that are not zero, one row each."""
    if a.ndim == 0:
        return xp.zeros((int(a != 0), 0), xp.int64)
    found = xp.nonzero(a)
    return xp.stack(found, 1).astype(xp.int64)


@kernel("one_position")
def one_position(xp, a, size, fill_value):
    """nonzero with a fixed number of rows, cut or filled up."""
    rows = nonzero(xp, a)[:size]
    out = xp.full((size, a.ndim), fill_value, xp.int64)
    out[:len(rows)] = rows
    return out
