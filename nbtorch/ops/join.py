"""Joining, stacking, repeating, rolling, flipping, diagonals and triangles."""

from ..core.op import OPS, alias, composite, op
from ..core.tensor import Tensor, dim_index
from . import rules
from .split import _split_sizes
from .view import _diagonal_backward


def _cat_grads(g, tensors_shape, dim):
    real = [s for s in tensors_shape if tuple(s) != (0,)]
    if not real:
        return [g.new_zeros(s) for s in tensors_shape]
    dim = dim_index(dim, len(real[0]))
    parts = iter(_split_sizes(g, tuple(s[dim] for s in real), dim))
    return [g.new_zeros((0,)) if tuple(s) == (0,) else next(parts) for s in tensors_shape]


_CPU_WIDEST = {"cpu": "promote", "cuda": "promote"}
cat = op("cat(tensors: list, dim: int=0)", "concatenate", rule=rules.promote, amp=_CPU_WIDEST, on="torch", out="apart",
         vjp={"tensors": _cat_grads})
alias("concat", cat)
alias("concatenate", cat)
stack = op("stack(tensors: list, dim: int=0)", "stack", rule=rules.promote, amp=_CPU_WIDEST, on="torch",
           vjp={"tensors": lambda g, dim: g.unbind(dim)})


def _raised(n):
    """A function that gives a tensor at least n dimensions, as atleast_nd does."""
    def raised(t):
        if t.dim() >= n:
            return t
        if t.dim() == 0:
            return t.reshape((1,) * n)
        if n == 2:
            return t.unsqueeze(0)
        return t.unsqueeze(0).unsqueeze(-1) if t.dim() == 1 else t.unsqueeze(-1)
    return raised


def _atleast(n):
    def body(tensors):
        return _raised(n)(tensors[0]) if len(tensors) == 1 else tuple(map(_raised(n), tensors))
    body.__doc__ = f"With at least {n} dimension{'s' * (n > 1)}."
    return composite(f"atleast_{n}d(*tensors)", on="torch", out=False)(body)


atleast_1d, atleast_2d, atleast_3d = _atleast(1), _atleast(2), _atleast(3)


def _some(tensors, name, n=0):
    tensors = list(tensors)
    if not tensors:
        raise RuntimeError(f"{name} expects a non-empty TensorList")
    return [_raised(n)(t) for t in tensors] if n else tensors


@composite("hstack(tensors)", on="torch")
def hstack(tensors):
    """Joined along the second dimension (the first for vectors)."""
    tensors = _some(tensors, "hstack", 1)
    return cat(tensors, 0 if tensors[0].dim() == 1 else 1)


@composite("vstack(tensors)", on="torch")
def vstack(tensors):
    """Joined along the first dimension, vectors as rows."""
    return cat(_some(tensors, "vstack", 2), 0)


alias("row_stack", vstack)


@composite("dstack(tensors)", on="torch")
def dstack(tensors):
    """Joined along the third dimension."""
    return cat(_some(tensors, "dstack", 3), 2)


@composite("column_stack(tensors)", on="torch")
def column_stack(tensors):
    """Joined as columns: vectors become n x 1 matrices."""
    return cat([t.reshape(t.numel(), 1) if t.dim() <= 1 else t for t in _some(tensors, "column_stack")], 1)


@composite("block_diag(*tensors)", on="torch", out=False)
def block_diag(tensors):
    """Matrices on the diagonal of a larger one."""
    blocks = []
    for i, t in enumerate(tensors):
        if t.dim() > 2:
            raise RuntimeError(
                f"torch.block_diag: Input tensors must have 2 or fewer dimensions. Input {i} has {t.dim()} "
                "dimensions"
            )
        blocks.append(atleast_2d(t))
    columns, before, rows = sum(b.shape[1] for b in blocks), 0, []
    for b in blocks:
        after = columns - before - b.shape[1]
        rows.append(cat([b.new_zeros((b.shape[0], before)), b, b.new_zeros((b.shape[0], after))], 1))
        before += b.shape[1]
    return cat(rows, 0) if rows else OPS["zeros"].function(1, 0)


# ---- repeating

def _repeat_grad(g, input_shape, repeats):
    shape = (1,) * (len(repeats) - len(input_shape)) + tuple(input_shape)
    split = [n for r, m in zip(repeats, shape) for n in (r, m)]
    return g.reshape(split).sum(tuple(range(0, 2 * len(repeats), 2))) if repeats else g


repeat = op("repeat(input, *repeats)", "repeat", on="method", out=False, vjp={"input": _repeat_grad})


@composite("tile(input, *dims)", out=False)
def tile(input, dims):
    """repeat, with leading ones where fewer numbers than dimensions are given."""
    return repeat(input, *(1,) * (input.dim() - len(dims)), *dims)


_repeat_positions = op("_repeat_positions(repeats)", "repeat_positions")


@composite("repeat_interleave(input, repeats=None, dim=None, *, output_size=None)", out=False)
def repeat_interleave(input, repeats, dim, output_size):
    """Each element repeated; with one argument, positions repeated that often."""
    if repeats is None:
        if input.dim() != 1:
            raise RuntimeError("repeat_interleave only accept 1D vector as repeat")
        return _repeat_positions(input)
    if dim is None:
        input, dim = input.reshape(-1), 0
    dim = dim_index(dim, input.dim())
    input = input if input.dim() else input.reshape(1)
    n = input.shape[dim]
    if isinstance(repeats, (list, tuple)):
        repeats = OPS["zeros"].function(0).new_tensor(repeats)
    if not isinstance(repeats, Tensor):
        if repeats < 0:
            raise RuntimeError("repeats can not be negative")
        wide = input.unsqueeze(dim + 1)
        shape = list(wide.shape)
        shape[dim + 1] = repeats
        return wide.expand(shape).clone().flatten(dim, dim + 1)
    if repeats.dtype.name not in ("int64", "int32"):
        raise RuntimeError("repeats has to be Long or Int tensor")
    if repeats.dim() > 1 or repeats.numel() not in (1, n):
        raise RuntimeError("repeats must have the same size as input along dim, but got repeats.size(0) = "
                           f"{repeats.numel()} and input.size({dim}) = {n}" if repeats.dim() <= 1 else
                           "repeats must be 0-dim or 1-dim tensor")
    return input.index_select(dim, _repeat_positions(repeats.reshape(-1).expand(n)))


# ---- turning

roll = op("roll(input, shifts: tuple, dims=())", "roll", out=False,
          vjp={"input": lambda g, shifts, dims: g.roll(
              -shifts if isinstance(shifts, int) else tuple(-s for s in shifts), dims)})
flip = op("flip(input, *dims)", "flip", out=False, vjp={"input": lambda g, dims: g.flip(dims)})


@composite("fliplr(input)", out=False)
def fliplr(input):
    """Columns in reverse order."""
    if input.dim() < 2:
        raise RuntimeError("Input must be >= 2-d.")
    return flip(input, 1)


@composite("flipud(input)", out=False)
def flipud(input):
    """Rows in reverse order."""
    if input.dim() < 1:
        raise RuntimeError("Input must be >= 1-d.")
    return flip(input, 0)


@composite("rot90(input, k: int=1, dims=(0, 1))", out=False)
def rot90(input, k, dims):
    """Turned by k right angles in the plane of two dimensions."""
    if len(dims) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    if input.dim() < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {input.dim()}")
    a, b = (dim_index(d, input.dim()) for d in dims)
    if a == b:
        raise RuntimeError(f"expected rotation dims to be different, but got dim0 = {dims[0]} and dim1 = {dims[1]}")
    k %= 4
    if k == 0:
        return input.clone()
    if k == 2:
        return flip(input, a, b)
    return flip(input, b).transpose(a, b) if k == 1 else flip(input, a).transpose(a, b)


# ---- diagonals and triangles

tril = op("tril(input, diagonal: int=0)", "tril", inplace=True, vjp={"input": lambda g, diagonal: g.tril(diagonal)})
triu = op("triu(input, diagonal: int=0)", "triu", inplace=True, vjp={"input": lambda g, diagonal: g.triu(diagonal)})


@composite("diag_embed(input, offset: int=0, dim1: int=-2, dim2: int=-1)", out=False)
def diag_embed(input, offset, dim1, dim2):
    """Matrices with the last dimension of the input on a diagonal."""
    if not input.dim():
        raise IndexError("Dimension out of range: diag_embed needs at least one dimension")
    ndim, n = input.dim() + 1, input.shape[-1] + abs(offset)
    a, b = dim_index(dim1, ndim), dim_index(dim2, ndim)
    if a == b:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    batch = iter(input.shape[:-1])
    shape = tuple(n if d in (a, b) else next(batch) for d in range(ndim))
    return _diagonal_backward(input, shape, offset, a, b)


@composite("diag(input, diagonal: int=0)")
def diag(input, diagonal):
    """A matrix with a vector on its diagonal, or a copy of a matrix's diagonal."""
    if input.dim() == 1:
        return diag_embed(input, diagonal)
    if input.dim() != 2:
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {input.dim()}D")
    return input.diagonal(diagonal).clone()


@composite("diagflat(input, offset: int=0)", out=False)
def diagflat(input, offset):
    """A matrix with all elements on its diagonal."""
    return diag_embed(input.reshape(-1), offset)


# ---- grids

@composite("meshgrid(*tensors, indexing=None)", on="torch", out=False)
def meshgrid(tensors, indexing):
    """Coordinate grids of 1-d tensors."""
    if indexing is None:
        import warnings
        warnings.warn("torch.meshgrid: in an upcoming release, it will be required to pass the indexing argument.",
                      UserWarning, stacklevel=3)
    tensors = list(tensors[0]) if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else list(tensors)
    if not tensors:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    if indexing not in (None, "ij", "xy"):
        raise RuntimeError(f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}')
    for t in tensors:
        if t.dim() > 1:
            raise RuntimeError(f"torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: {t}")
        if t.dtype is not tensors[0].dtype:
            raise RuntimeError("torch.meshgrid expects all tensors to have the same dtype")
    shape = tuple(t.numel() for t in tensors)
    grids = [t.reshape((1,) * i + (-1,) + (1,) * (len(shape) - i - 1)).expand(shape) for i, t in enumerate(tensors)]
    return tuple(g.transpose(0, 1) for g in grids) if indexing == "xy" and len(grids) >= 2 else tuple(grids)


@composite("cartesian_prod(*tensors)", on="torch", out=False)
def cartesian_prod(tensors):
    """All combinations of the elements of 1-d tensors, one row each."""
    for t in tensors:
        if t.dim() != 1:
            raise RuntimeError(f"Expect a 1D vector, but got shape {list(t.shape)}")
    if len(tensors) == 1:
        return tensors[0]
    return stack([t.reshape(-1) for t in meshgrid(*tensors, indexing="ij")], 1)


_combinations = op("_combinations(n: int, r: int, with_replacement: bool)", "combinations")


@composite("combinations(input, r: int=2, with_replacement: bool=False)", out=False)
def combinations(input, r, with_replacement):
    """All r-element combinations of a 1-d tensor, one row each."""
    if input.dim() != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {list(input.shape)}")
    if r < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r}")
    if r == 0:
        return input.new_empty((0,))
    return input[_combinations(input.shape[0], r, with_replacement)]


_triangle_indices = op("_triangle_indices(row: int, col: int, offset: int, upper: bool)", "triangle_indices")


def _triangle(name, upper):
    def body(row, col, offset, dtype, device, layout, pin_memory):
        if row < 0 or col < 0:
            raise RuntimeError(f"{'row' if row < 0 else 'col'} must be non-negative, got {row if row < 0 else col}")
        return _triangle_indices(row, col, offset, upper).to(device, dtype)
    body.__doc__ = f"Coordinates of the {'upper' if upper else 'lower'} triangle of a row x col matrix."
    return composite(f"{name}(row: int, col: int, offset: int=0, *, dtype=None, device=None, layout=None, "
                     "pin_memory: bool=False)", on="torch", out=False)(body)


tril_indices, triu_indices = _triangle("tril_indices", False), _triangle("triu_indices", True)
