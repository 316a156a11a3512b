"""Dimensions as PyTorch counts and names them in errors, and views by strides."""
from ..arrays import offset_of, strided


def wrap_dim(dim, ndim):
    """A non-negative dimension; 0-d arrays count as having one. Raises IndexError with PyTorch's text."""
    n = max(ndim, 1)
    if not -n <= dim < n:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {dim})")
    return dim % n


def wrap_dims(dims, ndim):
    """Non-negative dimensions, each at most once; None or () is all of them."""
    if dims is None:
        return tuple(range(ndim))
    if isinstance(dims, int):
        return (wrap_dim(dims, ndim),) if ndim else (wrap_dim(dims, 0),)[:0]
    wrapped = tuple(wrap_dim(d, ndim) for d in dims)
    for i, d in enumerate(wrapped):
        if d in wrapped[:i]:
            raise RuntimeError(f"dim {d} appears multiple times in the list of dims")
    return (wrapped or tuple(range(ndim))) if ndim else ()


def as_type(xp, value, dtype):
    """A Python number as a scalar of a dtype; narrow integers wrap around, as conversions in C do."""
    return xp.asarray(value).astype(dtype)[()]


def is_index(a):
    """Whether an array is int64 or int32."""
    return a.dtype.kind == "i" and a.dtype.itemsize >= 4


def strided_view(xp, a, shape, strides):
    """A view of `a` with another shape and byte strides, as writable as `a`."""
    if xp.__name__ != "numpy":
        return xp.lib.stride_tricks.as_strided(a, shape, strides)
    try:
        return xp.ndarray(shape, a.dtype, a, 0, strides)
    except ValueError:                            # arrays with gaps lend no buffer: go through their owner
        return strided(a, shape, [s // a.itemsize for s in strides], offset_of(a))
