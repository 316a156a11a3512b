"""Joining, repeating, rolling, flipping, triangles."""
from ..registry import kernel
from ._dims import wrap_dim, wrap_dims


@kernel("concatenate")
def concatenate(xp, tensors, dim=0):
    """Arrays one after the other along a dimension; empty 1-d arrays are skipped, as in PyTorch."""
    if not tensors:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    for i, a in enumerate(tensors):
        if a.ndim == 0:
            raise RuntimeError(f"zero-dimensional tensor (at position {i}) cannot be concatenated")
    kept = [a for a in tensors if a.shape != (0,)]
    if not kept:
        return tensors[0].copy()
    dim, first = wrap_dim(dim, kept[0].ndim), kept[0]
    if len(kept) == 1:
        return kept[0].copy(order="C")
    try:
        return xp.concatenate(kept, dim)
    except ValueError:
        raise RuntimeError(_cat_error(tensors, first, dim)) from None


def _cat_error(tensors, first, dim):
    for i, a in enumerate(tensors):
        if a.ndim != first.ndim and a.shape != (0,):
            return f"Tensors must have same number of dimensions: got {first.ndim} and {a.ndim}"
        for d, (n, m) in enumerate(zip(first.shape, a.shape)):
            if d != dim and n != m and a.shape != (0,):
                return (
                    f"Sizes of tensors must match except in dimension {dim}. Expected size {n} but got size {m} for "
                    f"tensor number {i} in the list."
                )
    return "Sizes of tensors must match."


@kernel("stack")
def stack(xp, tensors, dim=0):
    """Arrays of one shape along a new dimension."""
    if not tensors:
        raise RuntimeError("stack expects a non-empty TensorList")
    for i, a in enumerate(tensors):
        if a.shape != tensors[0].shape:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(tensors[0].shape)} at entry 0 "
                f"and {list(a.shape)} at entry {i}"
            )
    return xp.ascontiguousarray(xp.stack(tensors, wrap_dim(dim, tensors[0].ndim + 1)))


@kernel("repeat")
def repeat(xp, a, repeats):
    """The whole array repeated along each dimension."""
    if len(repeats) < a.ndim:
        raise RuntimeError("Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor")
    if any(n < 0 for n in repeats):
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(repeats)}: {list(repeats)}")
    return xp.tile(a, tuple(repeats)) if repeats else a.copy()


@kernel("flip")
def flip(xp, a, dims):
    """A copy with dimensions reversed."""
    dims = wrap_dims(dims, a.ndim) if dims else ()
    return xp.ascontiguousarray(xp.flip(a, dims)) if dims and a.ndim else a.copy(order="K")


@kernel("roll")
def roll(xp, a, shifts, dims):
    """Elements moved along dimensions, wrapping around."""
    shifts = (shifts,) if isinstance(shifts, int) else tuple(shifts)
    dims = (dims,) if isinstance(dims, int) else tuple(dims or ())
    if not shifts:
        raise RuntimeError("`shifts` required")
    if not dims and len(shifts) == 1:
        return xp.roll(a, shifts[0])
    if len(shifts) != len(dims):
        raise RuntimeError(f"shifts and dimensions must align. shifts: {len(shifts)}, dims:{len(dims)}")
    if a.ndim == 0:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    return xp.roll(a, shifts, tuple(wrap_dim(d, a.ndim) for d in dims))


def _triangle(name, keep):
    @kernel(name)
    def run(xp, a, diagonal=0):
        if a.ndim < 2:
            raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")
        rows, columns = xp.arange(a.shape[-2])[:, None], xp.arange(a.shape[-1])[None, :]
        return xp.where(keep(columns - rows, diagonal), a, xp.zeros((), a.dtype))
    run.__doc__ = f"{name}: zeros on the other side of a diagonal."
    return run


tril = _triangle("tril", lambda offset, diagonal: offset <= diagonal)
triu = _triangle("triu", lambda offset, diagonal: offset >= diagonal)


@kernel("repeat_positions")
def repeat_positions(xp, repeats):
    """[0]*repeats[0] + [1]*repeats[1] + ..."""
    if (repeats < 0).any():
        raise RuntimeError("repeats can not be negative")
    return xp.repeat(xp.arange(repeats.size), repeats.reshape(-1))


@kernel("triangle_indices")
def triangle_indices(xp, row, col, offset, upper):
    """Coordinates of one triangle of a row x col matrix, row by row: a 2 x n array."""
    r, c = xp.arange(row)[:, None], xp.arange(col)[None, :]
    return xp.stack(xp.nonzero((c - r >= offset) if upper else (c - r <= offset))).astype(xp.int64)


@kernel("combinations")
def combinations(xp, n, r, with_replacement):
    """Positions of all r-element combinations of n things, one row each."""
    import itertools
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    return xp.asarray(list(choose(range(n), r)), xp.int64).reshape(-1, r)
