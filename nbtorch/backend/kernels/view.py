"""Views: other shapes and strides over the same memory, and the gradients of those that pick a part."""
import math

from ..arrays import strided
from ..dtypes import numpy_dtype
from ..registry import kernel
from ._dims import strided_view, wrap_dim


def infer_size(shape, size):
    """`shape` with its one -1 filled in. Raises RuntimeError with PyTorch's texts."""
    shape = tuple(int(n) for n in shape)
    if -1 in shape:
        if shape.count(-1) > 1:
            raise RuntimeError("only one dimension can be inferred")
        known = -math.prod(shape)
        if known == 0 and size == 0:
            raise RuntimeError(f"cannot reshape tensor of 0 elements into shape {list(shape)} because the unspecified "
                               "dimension size -1 can be any value and is ambiguous")
        if known and size % known == 0:
            return tuple(size // known if n == -1 else n for n in shape)
    elif math.prod(shape) == size and min(shape, default=0) >= 0:
        return shape
    bad = next((n for n in shape if n < -1), None)
    if bad is not None:
        raise RuntimeError(f"invalid shape dimension {bad} at index {shape.index(bad)} of shape {list(shape)}")
    raise RuntimeError(f"shape '{list(shape)}' is invalid for input of size {size}")


def fits(xp, a, shape):
    """`a` as `shape` without a copy, or None where that is impossible."""
    if a.flags.c_contiguous:
        return a.reshape(shape)
    try:
        return a.reshape(shape, copy=False)
    except ValueError:
        return None


@kernel("view")
def view(xp, a, size):
    """The same memory in another shape, or read as another dtype."""
    if len(size) == 1 and hasattr(size[0], "itemsize"):
        return view_dtype(a, size[0])
    viewed = fits(xp, a, infer_size(size, a.size))
    if viewed is None:
        raise RuntimeError("view size is not compatible with input tensor's size and stride (at least one dimension "
                           "spans across two contiguous subspaces). Use .reshape(...) instead.")
    return viewed


def view_dtype(a, dtype):
    """The bytes of `a` read as another dtype."""
    target = numpy_dtype(dtype.name)
    if a.ndim == 0 and target.itemsize != a.itemsize:
        raise RuntimeError(f"self.dim() cannot be 0 to view {a.dtype.name} as {dtype.name} (different element sizes)")
    if target.itemsize > a.itemsize:
        ratio = target.itemsize // a.itemsize
        if a.strides[-1] != a.itemsize:
            raise RuntimeError("self.stride(-1) must be 1 to view a tensor as a dtype of a different size")
        if a.shape[-1] % ratio:
            raise RuntimeError(f"self.size(-1) must be divisible by {ratio} to view as {dtype!r} (different element "
                               f"sizes), but got {a.shape[-1]}")
    return a.view(target)


@kernel("transpose")
def transpose(xp, a, dim0, dim1):
    """Two dimensions exchanged."""
    try:
        return a.swapaxes(dim0, dim1)
    except (IndexError, ValueError):              # AxisError: a dimension out of range, or no dimensions at all
        dim0, dim1 = wrap_dim(dim0, a.ndim), wrap_dim(dim1, a.ndim)
        return a[...]


@kernel("permute")
def permute(xp, a, dims):
    """Dimensions in another order."""
    if len(dims) != a.ndim:
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the length of "
            f"the desired ordering of dimensions i.e. input.dim() = {a.ndim} is not equal to len(dims) = "
            f"{len(dims)}"
        )
    order = tuple(wrap_dim(d, a.ndim) for d in dims)
    if len(set(order)) != len(order):
        raise RuntimeError("permute(): duplicate dims are not allowed.")
    return a.transpose(order) if a.ndim else a[...]


@kernel("squeeze")
def squeeze(xp, a, dim=None):
    """Without dimensions of size 1: all of them, or those named."""
    if dim is None:
        return a.reshape([n for n in a.shape if n != 1], copy=False) if 1 in a.shape else a[...]
    dims = {wrap_dim(d, a.ndim) for d in ((dim,) if isinstance(dim, int) else dim)}
    drop = tuple(d for d in sorted(dims) if a.ndim and a.shape[d] == 1)
    return a.squeeze(drop) if drop else a[...]


@kernel("unsqueeze")
def unsqueeze(xp, a, dim):
    """With a new dimension of size 1."""
    dim = wrap_dim(dim, a.ndim + 1)
    return a[(slice(None),) * dim + (None,)]


@kernel("expand")
def expand(xp, a, size):
    """Dimensions of size 1 repeated without copying; -1 keeps a size."""
    extra = len(size) - a.ndim
    if extra < 0:
        raise RuntimeError(
            f"expand(torch.{{}}{list(a.shape)}, size={list(size)}): the number of sizes provided "
            f"({len(size)}) must be greater or equal to the number of dimensions in the tensor ({a.ndim})"
        )
    shape, strides = [], []
    for i, n in enumerate(size):
        n, have = int(n), a.shape[i - extra] if i >= extra else 1
        if n == -1:
            if i < extra:
                raise RuntimeError(f"expand(torch.{{}}{list(a.shape)}, size={list(size)}): the expanded size of the "
                                   f"tensor (-1) isn't allowed in a leading, non-existing dimension {i}")
            n = have
        if n != have and have != 1:
            raise RuntimeError(
                f"The expanded size of the tensor ({n}) must match the existing size ({have}) at "
                f"non-singleton dimension {i}.  Target sizes: {list(size)}.  Tensor sizes: {list(a.shape)}"
            )
        if n < 0:
            raise RuntimeError(f"expand: the requested shape has negative size {n}")
        shape.append(n)
        strides.append(0 if i < extra or (have == 1 and n != 1) else a.strides[i - extra])
    return strided_view(xp, a, tuple(shape), tuple(strides))


@kernel("select")
def select(xp, a, dim, index):
    """One position of a dimension, which disappears."""
    if a.ndim == 0:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    dim, index = wrap_dim(dim, a.ndim), int(index)
    n = a.shape[dim]
    if not -n <= index < n:
        raise IndexError(f"select(): index {index} out of range for tensor of size {list(a.shape)} at dimension {dim}")
    return a[(slice(None),) * dim + (index, ...)]


@kernel("slice")
def slice_(xp, a, dim=0, start=None, end=None, step=1):
    """Every step-th position of a dimension."""
    if a.ndim == 0:
        raise RuntimeError("slice() cannot be applied to a 0-dim tensor.")
    if step <= 0:
        raise RuntimeError("slice step must be positive")
    return a[(slice(None),) * wrap_dim(dim, a.ndim) + (slice(start, end, step),)]


@kernel("split_sizes")
def split_sizes(xp, a, sizes, dim):
    """Neighbouring parts of the given sizes."""
    before, start, parts = (slice(None),) * dim, 0, []
    for n in sizes:
        parts.append(a[before + (slice(start, start + n),)])
        start += n
    return parts


@kernel("unbind")
def unbind(xp, a, dim=0):
    """Every position of a dimension."""
    if a.ndim == 0:
        raise RuntimeError("Dimension specified as 0 but tensor has no dimensions")
    before = (slice(None),) * wrap_dim(dim, a.ndim)
    return [a[before + (i, ...)] for i in range(a.shape[wrap_dim(dim, a.ndim)])]


@kernel("diagonal")
def diagonal(xp, a, offset=0, dim1=0, dim2=1):
    """The diagonal of two dimensions, as a new last dimension."""
    dim1, dim2 = wrap_dim(dim1, a.ndim), wrap_dim(dim2, a.ndim)
    if dim1 == dim2:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    n = max(
        min(a.shape[dim1], a.shape[dim2] - offset)
        if offset >= 0
        else min(a.shape[dim1] + offset, a.shape[dim2]),
        0,
    )
    corner = [slice(None)] * a.ndim
    if n:
        corner[dim1], corner[dim2] = slice(max(-offset, 0), None), slice(max(offset, 0), None)
    rest = [d for d in range(a.ndim) if d not in (dim1, dim2)]
    a = a[tuple(corner)]
    shape = tuple(a.shape[d] for d in rest) + (n,)
    return strided_view(xp, a, shape, tuple(a.strides[d] for d in rest) + (a.strides[dim1] + a.strides[dim2],))


@kernel("as_strided")
def as_strided(xp, a, size, stride, storage_offset=None):
    """Any shape and strides over the owner's memory."""
    if len(size) != len(stride):
        raise RuntimeError("mismatch in length of strides and shape")
    if any(s < 0 for s in stride):
        raise RuntimeError(f"as_strided: Negative strides are not supported at the moment, got strides: {list(stride)}")
    if storage_offset is None:
        from ..arrays import offset_of
        storage_offset = offset_of(a)
    return strided(a, tuple(size), tuple(stride), storage_offset)


@kernel("unfold")
def unfold(xp, a, dimension, size, step):
    """All windows of a dimension, as a new last dimension."""
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    if a.ndim == 0:
        if size > 1:
            raise RuntimeError(f"maximum size for tensor at dimension 0 is 1 but size is {size}")
        return a.reshape(1)[:size]
    dim = wrap_dim(dimension, a.ndim)
    if size < 0:
        raise RuntimeError(f"size is {size} but must be >= 0")
    if size > a.shape[dim]:
        raise RuntimeError(f"maximum size for tensor at dimension {dim} is {a.shape[dim]} but size is {size}")
    count = (a.shape[dim] - size) // step + 1
    shape = a.shape[:dim] + (count,) + a.shape[dim + 1:] + (size,)
    strides = a.strides[:dim] + (a.strides[dim] * step,) + a.strides[dim + 1:] + (a.strides[dim],)
    return strided_view(xp, a, shape, strides)


@kernel("real")
def real(xp, a):
    """Real parts."""
    return a.real


@kernel("imag")
def imag(xp, a):
    """Imaginary parts."""
    return a.imag


@kernel("view_as_real")
def view_as_real(xp, a):
    """Complex numbers as pairs in a last dimension of size 2."""
    part = a.real
    return strided_view(xp, part, a.shape + (2,), a.strides + (part.itemsize,)) if a.ndim and a.size else \
        a.reshape(a.shape + (1,)).view(part.dtype)


@kernel("view_as_complex")
def view_as_complex(xp, a):
    """Pairs in the last dimension as complex numbers."""
    if a.ndim == 0 or a.shape[-1] != 2:
        raise RuntimeError("Tensor must have a last dimension of size 2" if a.ndim else
                           "Input tensor must have one or more dimensions")
    if a.size and a.strides[-1] != a.itemsize:
        raise RuntimeError("Tensor must have a last dimension with stride 1")
    target = numpy_dtype({"float32": "complex64", "float64": "complex128"}.get(a.dtype.name, "bool"))
    if target.kind != "c":
        raise RuntimeError("view_as_complex is only supported for half, float and double tensors, but got a tensor of "
                           f"scalar type: {a.dtype.name.capitalize()}")
    if any(s % target.itemsize for n, s in zip(a.shape[:-1], a.strides) if n > 1):
        raise RuntimeError("Tensor must have a stride divisible by 2 for all but last dimension")
    return a.view(target).reshape(a.shape[:-1], copy=False)


# ---- gradients of views that show a part

@kernel("select_backward")
def select_backward(xp, g, shape, dim, index):
    """Zeros with `g` at one position of a dimension."""
    out = xp.zeros(shape, g.dtype)
    select(xp, out, dim, index)[...] = g
    return out


@kernel("slice_backward")
def slice_backward(xp, g, shape, dim, start, end, step):
    """Zeros with `g` at every step-th position of a dimension."""
    out = xp.zeros(shape, g.dtype)
    slice_(xp, out, dim, start, end, step)[...] = g
    return out


@kernel("diagonal_backward")
def diagonal_backward(xp, g, shape, offset, dim1, dim2):
    """Zeros with `g` on the diagonal."""
    out = xp.zeros(shape, g.dtype)
    diagonal(xp, out, offset, dim1, dim2)[...] = g
    return out


@kernel("unfold_backward")
def unfold_backward(xp, g, shape, dimension, size, step):
    """Windows added back to where they came from."""
    out = xp.zeros(shape, g.dtype)
    if not shape:
        return out + g.sum() if g.size else out
    windows = unfold(xp, out, dimension, size, step)
    for i in range(size):                         # one offset at a time: these never overlap themselves
        windows[..., i] += g[..., i]
    return out


@kernel("as_strided_backward")
def as_strided_backward(xp, g, a, size, stride, storage_offset=None):
    """Gradient of as_strided: summed per memory cell, then read in the layout of the input."""
    from ..arrays import offset_of
    start = offset_of(a)
    strides = [s // a.itemsize for s in a.strides]
    offset = start if storage_offset is None else storage_offset
    cells = 1 + max(offset + sum((n - 1) * s for n, s in zip(size, stride)),
                    start + sum((n - 1) * s for n, s in zip(a.shape, strides)), 0)

    def places(shape, steps, base):
        where = xp.full(shape, base, xp.int64)
        for d, (n, s) in enumerate(zip(shape, steps)):
            where += (xp.arange(n) * s).reshape((-1,) + (1,) * (len(shape) - d - 1))
        return where
    memory = xp.zeros(cells, g.dtype)
    if 0 not in size:
        xp.add.at(memory, places(tuple(size), stride, offset), g)
    if not a.size:
        return xp.zeros(a.shape, g.dtype)
    seen = places(a.shape, strides, start)
    counts = xp.zeros(cells, xp.int64)
    xp.add.at(counts, seen, 1)
    return (memory[seen] / counts[seen].astype(memory.real.dtype)).astype(g.dtype)
