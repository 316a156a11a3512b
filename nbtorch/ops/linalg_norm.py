"""Linear algebra: norms of vectors and matrices, condition numbers."""
import math

from ..core import dtype as dt
from ..core.op import composite
from ..core.tensor import dim_index
from .linalg import FP32, check_floats, check_matrix, check_square, check_tensor, failure, inverse_of, linalg_composite
from .linalg_spectral import singular_values
from .reduce import _norm as vector_norm_op

_DTYPE = {"cuda": "fp32_dtype"}


def _check_dtype(what, input, dtype):
    """The dtype to compute in must hold the input's."""
    if dtype is None:
        return
    check_floats(what, dtype)
    if dtype.is_complex != input.dtype.is_complex:
        kind = "complex" if input.dtype.is_complex else "real"
        raise RuntimeError(f"{what}: dtype should be {kind} for {kind} inputs, but got {dt.scalar_name(dtype)}")
    if dtype.itemsize < input.dtype.itemsize:
        raise RuntimeError(f"{what}: the dtype of the input ({dt.scalar_name(input.dtype)}) should be convertible without "
                           f"narrowing to the specified dtype ({dt.scalar_name(dtype)})")


def _dims(dim):
    return (dim,) if isinstance(dim, int) else tuple(dim)


def _check_empty(input, p, dim):
    """Smallest and largest of nothing do not exist."""
    if input._a.size or not (p < 0 or p == math.inf):
        return
    dims = () if dim is None else _dims(dim)
    name = f"{p:g}"
    if not dims:
        raise RuntimeError(f"linalg.vector_norm cannot compute the {name} norm on an empty tensor because the operation "
                           "does not have an identity")
    for d in dims:
        if input.shape[d] == 0:
            raise RuntimeError(f"linalg.vector_norm cannot compute the {name} norm on the dimension {d} because this "
                               "dimension is empty and the operation does not have an identity")


def norm_of_vectors(input, p, dim, keepdim, dtype):
    """vector_norm with arguments checked."""
    what = "linalg.vector_norm"
    check_floats(what, input)
    _check_dtype(what, input, dtype)
    if dim is not None:
        dims = [dim_index(d, input.dim()) for d in _dims(dim)]
        twice = next((d for i, d in enumerate(dims) if d in dims[:i]), None)
        if twice is not None:
            raise RuntimeError(f"dim {twice} appears multiple times in the list of dims")
    _check_empty(input, p, dim)
    return vector_norm_op(input, float(p), dim, keepdim, dtype)


@linalg_composite("vector_norm(input, ord: Number=2, dim=None, keepdim: bool=False, *, dtype=None)")
def vector_norm(input, ord, dim, keepdim, dtype):
    """Norm of order `ord` over some or all dimensions, taken as one vector.

    https://docs.pytorch.org/docs/stable/generated/torch.linalg.vector_norm.html
    """
    check_tensor("linalg_vector_norm", input=input)
    if isinstance(ord, str):
        raise TypeError("linalg_vector_norm(): argument 'ord' (position 2) must be Number, not str")
    return norm_of_vectors(input, ord, dim, keepdim, dtype)


def _unsupported(ord):
    return RuntimeError(f"linalg.matrix_norm: Order {ord if isinstance(ord, str) else format(ord, 'g')} not supported.")


@linalg_composite("matrix_norm(input, ord='fro', dim=(-2, -1), keepdim: bool=False, *, dtype=None)", amp=_DTYPE)
def matrix_norm(input, ord, dim, keepdim, dtype):
    """Frobenius ("fro"), nuclear ("nuc"), spectral (2, -2), column (1, -1) or row sum (inf, -inf) norm.

    https://docs.pytorch.org/docs/stable/generated/torch.linalg.matrix_norm.html
    """
    what = "linalg.matrix_norm"
    check_tensor("linalg_matrix_norm", input=input)
    check_matrix(what, input)
    dim = _dims(dim)
    if isinstance(ord, str):
        if ord not in ("fro", "nuc"):
            raise _unsupported(ord)
    elif abs(ord) not in (1, 2, math.inf):
        raise _unsupported(ord)
    check_floats(what, input, low=ord not in ("nuc", 2, -2))
    if len(dim) != 2:
        raise RuntimeError(f"{what}: dim must be a 2-tuple. Got {' '.join(map(str, dim))}")
    rows, columns = (dim_index(d, input.dim()) for d in dim)
    if rows == columns:
        raise RuntimeError(f"{what}: dims must be different. Got ({dim[0]}, {dim[1]})")
    _check_dtype(what, input, dtype)
    if ord == "fro":
        return norm_of_vectors(input, 2, (rows, columns), keepdim, dtype)
    A = input if dtype is None or dtype is input.dtype else input.to(dtype)
    if ord in ("nuc", 2, -2):
        return _spectral(A, ord, rows, columns, keepdim)
    over, across = (rows, columns) if abs(ord) == 1 else (columns, rows)
    sums = norm_of_vectors(A, 1, over, True, None)
    result = sums.amax(across, True) if ord > 0 else sums.amin(across, True)
    return result if keepdim else result.squeeze((rows, columns))


def _spectral(A, ord, rows, columns, keepdim):
    S = singular_values(A.movedim((rows, columns), (-2, -1)))
    result = S.sum(-1) if ord == "nuc" else S.amax(-1) if ord > 0 else S.amin(-1)
    if keepdim:
        for d in sorted((rows, columns)):
            result = result.unsqueeze(d)
    return result


@linalg_composite("norm(input, ord=None, dim=None, keepdim: bool=False, *, dtype=None)")
def norm(input, ord, dim, keepdim, dtype):
    """Vector norm, or matrix norm where `ord` is a word, or a number given for a matrix or two dimensions.

    https://docs.pytorch.org/docs/stable/generated/torch.linalg.norm.html
    """
    check_tensor("linalg_norm", input=input)
    if dim is not None:
        dim = _dims(dim)
        if len(dim) not in (1, 2):
            raise RuntimeError(f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {list(dim)}")
    elif ord is not None and input.dim() not in (1, 2):
        raise RuntimeError("linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got "
                           f"{input.dim()}D.")
    if isinstance(ord, str) or ord is not None and (len(dim) == 2 if dim is not None else input.dim() == 2):
        return matrix_norm(input, ord, (-2, -1) if dim is None else dim, keepdim, dtype=dtype)
    return norm_of_vectors(input, 2 if ord is None else ord, dim, keepdim, dtype)


@composite("nuclear_norm(input, dim=None, keepdim: bool=False)", on="torch", amp={"cuda": "fp32"})
def nuclear_norm(input, dim, keepdim):
    """Sum of singular values."""
    return matrix_norm(input, "nuc", (-2, -1) if dim is None else dim, keepdim)


@composite("frobenius_norm(input, dim, keepdim: bool=False)", on="torch", amp={"cuda": "fp32"})
def frobenius_norm(input, dim, keepdim):
    """Square root of the sum of squares over one or two dimensions."""
    return norm_of_vectors(input, 2, dim or None, keepdim, None)


@linalg_composite("cond(input, p=None)", amp=FP32)
def cond(input, p):
    """Condition number in a norm: the largest over the smallest singular value by default.

    https://docs.pytorch.org/docs/stable/generated/torch.linalg.cond.html
    """
    check_tensor("linalg_cond", input=input)
    if input.dim() < 2:
        raise RuntimeError("linalg.cond: The input tensor must have at least 2 dimensions.")
    if p not in (None, "fro", "nuc") and (isinstance(p, str) or abs(p) not in (1, 2, math.inf)):
        raise RuntimeError(f"linalg.cond got an invalid norm type: {p}")
    if p not in (None, 2, -2):
        check_square(f"linalg.cond(ord={p})", input)
    if not input._a.size and input.dtype.category >= 2:
        return input.new_zeros(input.shape[:-2], dtype=input.dtype.to_real())
    if p in (None, 2, -2):
        S = singular_values(input)
        return S[..., -1] / S[..., 0] if p == -2 else S[..., 0] / S[..., -1]
    inverse, info = inverse_of(input)
    singular = info != 0 if failure(info) else None
    if singular is None:
        return matrix_norm(input, p) * matrix_norm(inverse, p)
    usable = inverse.masked_fill(singular.unsqueeze(-1).unsqueeze(-1), 0)
    return (matrix_norm(input, p) * matrix_norm(usable, p)).masked_fill(singular, math.inf)
