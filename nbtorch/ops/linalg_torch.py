"""Linear algebra under the names of torch itself, older than torch.linalg."""
import math
import warnings

from ..core import dtype as dt
from ..core.op import composite, op
from ..core.results import named_result
from . import linalg as basic
from .linalg import FP32, check_floats, check_loop, check_square, check_tensor
from .linalg_lu import lu_factor_ex
from .linalg_spectral import decompose, pseudo_inverse
from .linalg_spectral import qr as linalg_qr
from .pointwise import where


@composite("inverse(input)", amp=FP32)
def inverse(input):
    """See torch.linalg.inv."""
    return basic.inv(input)


@composite("pinverse(input, rcond: float=1e-15)", amp=FP32, out=False)
def pinverse(input, rcond):
    """Moore-Penrose inverse; singular values up to rcond times the largest count as zero."""
    return pseudo_inverse(input, 0.0, rcond, False)


@composite("det(input)", out=False)
def det(input):
    """See torch.linalg.det."""
    return basic.det(input)


@composite("slogdet(input)")
def slogdet(input):
    """See torch.linalg.slogdet."""
    return named_result(("slogdet", "sign", "logabsdet"), basic.slogdet(input))


@composite("logdet(input)", out=False)
def logdet(input):
    """Logarithm of determinants; NaN where a real one is negative.

    https://docs.pytorch.org/docs/stable/generated/torch.logdet.html
    """
    check_square("logdet", input)
    check_floats("logdet", input, low=False)
    sign, size = basic.slogdet(input)
    if sign.is_complex():
        return sign.log() + size
    return where(sign == -1.0, math.nan, size)


@composite("cholesky(input, upper: bool=False)", amp=FP32)
def cholesky(input, upper):
    """See torch.linalg.cholesky."""
    L, info = basic.factor("cholesky", input, upper, loop_only=True)
    basic.raise_indefinite("cholesky", info)
    return L


def _cholesky_solve_grads(g, L, out, upper):
    gB = _cholesky_solve(g, L, upper)
    common = gB @ out.mH
    common = common + common.mH
    return gB, -(L @ common) if upper else -(common @ L)


_cholesky_solve = op("_cholesky_solve(input, L, upper: bool=False)", "cholesky_solve", node="CholeskySolve",
                     vjp={("input", "L"): _cholesky_solve_grads})


@composite("cholesky_solve(input, L, upper: bool=False)", amp=FP32)
def cholesky_solve(input, L, upper):
    """X with A X = input, where A = L L^H (or L^H L for an upper factor).

    https://docs.pytorch.org/docs/stable/generated/torch.cholesky_solve.html
    """
    check_tensor("cholesky_solve", input=input, L=L)
    for name, t in (("b", input), ("u", L)):
        if t.dim() < 2:
            raise RuntimeError(f"{name} should have at least 2 dimensions, but has {t.dim()} dimensions instead")
    if input.dtype is not L.dtype:
        raise RuntimeError(f"Expected b and A to have the same dtype, but found b of type {dt.scalar_name(input.dtype)} and "
                           f"A of type {dt.scalar_name(L.dtype)} instead.")
    _check_sizes("cholesky_solve", input, L)
    check_loop("cholesky_solve_cpu", input)
    return _cholesky_solve(input, L, upper)


def _check_sizes(what, b, A):
    if A.shape[-1] != A.shape[-2]:
        raise RuntimeError(f"A must be batches of square matrices, but they are {A.shape[-2]} by {A.shape[-1]} matrices")
    if A.shape[-1] != b.shape[-2]:
        raise RuntimeError(f"Incompatible matrix sizes for {what}: each A matrix is {A.shape[-1]} by {A.shape[-1]} but each "
                           f"b matrix is {b.shape[-2]} by {b.shape[-1]}")
    basic.joint_batch(b.shape[:-2], A.shape[:-2])


@composite("cholesky_inverse(input, upper: bool=False)", amp=FP32)
def cholesky_inverse(input, upper):
    """Inverse of A = L L^H (or L^H L for an upper factor) from its factor.

    Raises LinAlgError for a zero on the diagonal.
    https://docs.pytorch.org/docs/stable/generated/torch.cholesky_inverse.html
    """
    check_square("cholesky_inverse", input)
    check_loop("cholesky_inverse_out_cpu", input)
    basic.raise_singular("cholesky_inverse", _first_zero(input))
    from .create import eye
    identity = eye(input.shape[-1], dtype=input.dtype, device=input.device)
    return _cholesky_solve(identity.expand(input.shape), input, upper)


def _first_zero(L):
    """Per matrix the number of the first zero on its diagonal, counted from 1 (0: none)."""
    zero = L.detach().diagonal(0, -2, -1) == 0
    if not zero.shape[-1]:
        return zero.new_zeros(zero.shape[:-1], dtype=dt.int32)
    return (zero.int().argmax(-1) + 1) * zero.any(-1)


@composite("triangular_solve(input, A, upper: bool=True, transpose: bool=False, unitriangular: bool=False)", amp=FP32)
def triangular_solve(input, A, upper, transpose, unitriangular):
    """X with A X = input for triangular A, and a copy of A.

    https://docs.pytorch.org/docs/stable/generated/torch.triangular_solve.html
    """
    check_tensor("triangular_solve", input=input, A=A)
    for name, t in (("b", input), ("A", A)):
        if t.dim() < 2:
            raise RuntimeError(f"torch.triangular_solve: Expected {name} to have at least 2 dimensions, but it has "
                               f"{t.dim()} dimensions instead")
    _check_sizes("triangular_solve", input, A)
    check_loop("triangular_solve_cpu", input)
    matrix = A.mT if transpose else A
    X = basic._solve_triangular(matrix, input, upper != transpose, unitriangular)
    batch = basic.joint_batch(input.shape[:-2], A.shape[:-2])
    return named_result(("triangular_solve", "solution", "cloned_coefficient"),
                        (X, A.expand(*batch, *A.shape[-2:]).clone()))


@composite("qr(input, some: bool=True)", amp=FP32)
def qr(input, some):
    """See torch.linalg.qr; the reduced factors unless some=False."""
    return named_result(("qr", "Q", "R"), linalg_qr(input, "reduced" if some else "complete"))


@composite("svd(input, some: bool=True, compute_uv: bool=True)", amp=FP32)
def svd(input, some, compute_uv):
    """U, S and V with input = U diag(S) V^H; see torch.linalg.svd."""
    check_tensor("svd", input=input)
    if input.dim() < 2:
        raise RuntimeError(f"linalg.svd: input should have at least 2 dimensions, but has {input.dim()} dimensions instead")
    if compute_uv:
        U, S, Vh = decompose(input, not some)
        return named_result(("svd", "U", "S", "V"), (U, S, Vh.mH))
    from .linalg_spectral import singular_values
    batch, (m, n) = tuple(input.shape[:-2]), input.shape[-2:]
    return named_result(("svd", "U", "S", "V"), (input.new_zeros((*batch, m, m)), singular_values(input),
                                                 input.new_zeros((*batch, n, n))))


def _check_geqrf(input):
    check_tensor("geqrf", input=input)
    if input.dim() < 2:
        raise RuntimeError("torch.geqrf: input must have at least 2 dimensions.")
    check_loop("geqrf_cpu", input)


geqrf = op("geqrf(input)", "geqrf", check=_check_geqrf, amp=FP32, returns="geqrf a tau")


@composite("lu(input, pivot: bool=True, get_infos: bool=False)", out=False)
def lu(input, pivot, get_infos):
    """Packed LU factors and row exchanges (and the first zero pivots); deprecated for torch.linalg.lu_factor."""
    warnings.warn("torch.lu is deprecated in favor of torch.linalg.lu_factor / torch.linalg.lu_factor_ex and will be "
                  "removed in a future PyTorch release.", UserWarning, stacklevel=3)
    LU, pivots, info = lu_factor_ex(input, pivot=pivot)
    if get_infos:
        return named_result(("_lu_with_info", "LU", "pivots", "info"), (LU, pivots, info))
    return LU, pivots


# ---- of low rank

def _basis(A, q, niter):
    """Orthonormal columns that nearly span A's range, from q random combinations of its columns.

    N. Halko, P.-G. Martinsson, J. A. Tropp, SIAM Review 53 (2011), algorithm 4.4
    """
    from .random import randn
    Q = linalg_qr(A @ randn(A.shape[-1], q, dtype=A.dtype, device=A.device))[0]
    for _ in range(niter):
        Q = linalg_qr(A.mH @ Q)[0]
        Q = linalg_qr(A @ Q)[0]
    return Q


@composite("svd_lowrank(A, q: int=6, niter: int=2, M: Tensor=None)", on="torch", out=False)
def svd_lowrank(A, q, niter, M):
    """The q largest singular values of A - M and their vectors (U, S, V), by random projection.

    https://docs.pytorch.org/docs/stable/generated/torch.svd_lowrank.html
    """
    if M is not None:
        A = A - M.broadcast_to(A.shape)
    swap = A.shape[-2] < A.shape[-1]
    A = A.mH if swap else A
    Q = _basis(A, q, niter)
    U, S, Vh = decompose(Q.mH @ A, False)
    U, V = Q @ U, Vh.mH
    return (V, S, U) if swap else (U, S, V)


@composite("pca_lowrank(A, q=None, center: bool=True, niter: int=2)", on="torch", out=False)
def pca_lowrank(A, q, center, niter):
    """Principal components of the rows of A as (U, S, V), by random projection.

    https://docs.pytorch.org/docs/stable/generated/torch.pca_lowrank.html
    """
    least = min(A.shape[-2:])
    q = min(6, least) if q is None else q
    if not 0 <= q <= least:
        raise ValueError(f"q(={q}) must be non-negative integer and not greater than min(m, n)={least}")
    if niter < 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    return svd_lowrank(A - A.mean(-2, True) if center else A, q, niter, None)
