"""Linear algebra: orthogonal factors, singular values, eigenvalues and what is made of them.

Singular and eigenvectors are defined up to a sign, or a phase when complex. Gradients exist for losses that do not
depend on it, and complex ones that do are refused, as in PyTorch.
"""
from ..core import dtype as dt
from ..core.modes import is_grad_enabled
from ..core.op import op
from ..core.tensor import Tensor
from . import rules
from .linalg import (
    FP32,
    check_floats,
    check_loop,
    check_matrix,
    check_square,
    check_tensor,
    linalg_composite,
    linalg_op,
)


def eye_like(X):
    """An identity matrix of the size and dtype of square matrices X."""
    from .create import eye
    return eye(X.shape[-1], dtype=X.dtype, device=X.device)


def with_diagonal(X, diagonal):
    """X with another main diagonal."""
    return X - X.diagonal(0, -2, -1).diag_embed() + diagonal.diag_embed()


def _gauge(diagonal, what):
    """Refuse a gradient that moves along the phase of complex vectors."""
    if diagonal.is_complex():
        a = diagonal._a.imag
        if a.size and not (abs(a) <= 1e-2).all():
            raise RuntimeError(f"{what} in the complex case are specified up to multiplication by e^{{i phi}}. The "
                               "specified loss function depends on this quantity, so it is ill-defined.")


def wants_grad(A):
    """Whether the call is going to be recorded."""
    return is_grad_enabled() and A.requires_grad


# ---- QR

def _square_qr_grad(gQ, gR, Q, R):
    M = 0
    if gR is not None:
        M = gR @ R.mH
    if gQ is not None:
        M = M - Q.mH @ gQ
    M = M.triu()
    M = M + M.mH
    diagonal = M.diagonal(0, -2, -1)
    M = with_diagonal(M, (diagonal.real.to(M.dtype) if M.is_complex() else diagonal) * 0.5)
    rhs = Q @ M
    if gQ is not None:
        rhs = gQ + rhs
    from .linalg import solve_triangular
    return solve_triangular(R.mH, rhs, upper=False, left=False)


def _qr_grad(gs, A, Q, R, mode):
    gQ, gR = gs
    m, n = A.shape[-2:]
    if mode == "r":
        raise RuntimeError("The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please "
                           "consider using mode='reduced' or mode='complete'.")
    if mode == "complete" and m > n:
        raise RuntimeError("The QR decomposition is not differentiable when mode='complete' and nrows > ncols.")
    if m >= n:
        return _square_qr_grad(gQ, gR, Q, R)
    # [A1 A2] = Q [R1 R2] with A1 square: R2 = Q^H A2 hands its gradient on to Q and A2
    gR1 = gR2 = None
    if gR is not None:
        gR1, gR2 = gR[..., :m], gR[..., m:]
        extra = A[..., m:] @ gR2.mH
        gQ = extra if gQ is None else gQ + extra
    g1 = _square_qr_grad(gQ, gR1, Q, R[..., :m])
    g2 = g1.new_zeros(A[..., m:].shape) if gR2 is None else Q @ gR2
    from .join import cat
    return cat([g1, g2], -1)


def _check_qr(A, mode):
    check_tensor("linalg_qr", A=A)
    check_matrix("linalg.qr", A)
    check_floats("linalg.qr", A)
    if mode not in ("reduced", "r", "complete"):
        raise RuntimeError(f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or "
                           "'complete'")
    check_loop("geqrf_cpu", A)


qr = linalg_op("qr(A, mode: str='reduced')", "qr", check=_check_qr, amp=FP32, returns="linalg_qr Q R",
               vjp={"A": _qr_grad})

# ---- singular values


def _svd_grad(gs, U, S, Vh):
    gU, gS, gVh = gs
    k = S.shape[-1]
    U, Vh = U[..., :k], Vh[..., :k, :]
    gU = None if gU is None else gU[..., :k]
    gVh = None if gVh is None else gVh[..., :k, :]
    if gU is None and gVh is None:
        return (U * gS.unsqueeze(-2)) @ Vh
    m, n = U.shape[-2], Vh.shape[-1]
    left = None if gU is None else _skew(U.mH @ gU)
    right = None if gVh is None else _skew(Vh @ gVh.mH)
    turn = left if right is None else right if left is None else left + right
    _gauge(turn.diagonal(0, -2, -1), "svd_backward: The singular vectors")
    S2 = S * S
    E = S2.unsqueeze(-2) - S2.unsqueeze(-1) + eye_like(Vh @ Vh.mH).to(S.dtype)
    diagonal = 0 if gS is None else gS.to(U.dtype)
    inner = 0
    if left is not None:
        inner = (left / E) * S.unsqueeze(-2)
        if U.is_complex():
            diagonal = diagonal + left.diagonal(0, -2, -1) / (2 * S)
    if right is not None:
        inner = inner + S.unsqueeze(-1) * (right / E)
    inner = with_diagonal(inner, diagonal if isinstance(diagonal, Tensor) else S.new_zeros(S.shape).to(U.dtype))
    outer = U @ inner
    if m > k and gU is not None:
        outer = outer + (gU - U @ (U.mH @ gU)) / S.unsqueeze(-2)
    result = outer @ Vh
    if n > k and gVh is not None:
        result = result + (U / S.unsqueeze(-2)) @ (gVh - (gVh @ Vh.mH) @ Vh)
    return result


def _skew(X):
    return X - X.mH


_svd = op("_linalg_svd(A, full_matrices: bool)", "svd", node="LinalgSvd", returns="linalg_svd U S Vh",
          vjp={"A": _svd_grad})
_svdvals = op("_linalg_svdvals(A)", "svdvals")


def decompose(A, full_matrices):
    """(U, S, V^H), arguments checked."""
    check_tensor("linalg_svd", A=A)
    check_matrix("linalg.svd", A)
    check_floats("linalg.svd", A)
    check_loop("linalg_svd_cpu", A)
    return _svd(A, full_matrices)


def _no_driver(what, driver):
    if driver is not None:
        raise RuntimeError(f"torch.linalg.{what}: keyword argument `driver=` is only supported on CUDA inputs with "
                           "cuSOLVER backend.")


@linalg_composite("svd(A, full_matrices: bool=True, *, driver=None)", amp=FP32)
def svd(A, full_matrices, driver):
    """A = U diag(S) Vh with S sorted, largest first.

    Raises LinAlgError for non-finite input.
    https://docs.pytorch.org/docs/stable/generated/torch.linalg.svd.html
    """
    _no_driver("svd", driver)
    return decompose(A, full_matrices)


@linalg_composite("svdvals(A, *, driver=None)", amp=FP32)
def svdvals(A, driver):
    """Singular values, largest first.

    https://docs.pytorch.org/docs/stable/generated/torch.linalg.svdvals.html
    """
    _no_driver("svd", driver)
    return singular_values(A)


def singular_values(A):
    """Singular values; the vectors are computed only where backward will need them."""
    if isinstance(A, Tensor) and wants_grad(A):
        return decompose(A, False)[1]
    check_tensor("linalg_svdvals", A=A)
    check_matrix("linalg.svd", A)
    check_floats("linalg.svd", A)
    check_loop("linalg_svd_cpu", A)
    return _svdvals(A)


# ---- eigenvalues

def _eigh_grad(gs, eigenvalues, eigenvectors):
    gL, gV = gs
    L, V = eigenvalues, eigenvectors
    if gV is None:
        return (V * gL.unsqueeze(-2)) @ V.mH
    inner = V.mH @ gV
    _gauge(inner.diagonal(0, -2, -1), "linalg_eigh_backward: The eigenvectors")
    E = L.unsqueeze(-2) - L.unsqueeze(-1) + eye_like(V).to(L.dtype)
    inner = _skew(inner) * 0.5 / E
    inner = with_diagonal(inner, L.new_zeros(L.shape).to(V.dtype) if gL is None else gL.to(V.dtype))
    return V @ inner @ V.mH


_eigh = op("_linalg_eigh(A, UPLO: str='L')", "eigh", node="LinalgEigh",
           returns="linalg_eigh eigenvalues eigenvectors", vjp={"A": _eigh_grad})
_eigvalsh = op("_linalg_eigvalsh(A, UPLO: str='L')", "eigvalsh")


def hermitian(A, UPLO):
    """The triangle to read, arguments checked."""
    check_square("linalg.eigh", A)
    check_loop("linalg_eigh_cpu", A)
    if UPLO not in ("L", "U", "l", "u"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    return UPLO.upper()


@linalg_composite("eigh(input, UPLO: str='L')", amp=FP32)
def eigh(input, UPLO):
    """Eigenvalues (smallest first) and eigenvectors of Hermitian matrices; one triangle is read.

    https://docs.pytorch.org/docs/stable/generated/torch.linalg.eigh.html
    """
    return _eigh(input, hermitian(input, UPLO))


@linalg_composite("eigvalsh(input, UPLO: str='L')", amp=FP32)
def eigvalsh(input, UPLO):
    """Eigenvalues of Hermitian matrices, smallest first.

    https://docs.pytorch.org/docs/stable/generated/torch.linalg.eigvalsh.html
    """
    UPLO = hermitian(input, UPLO)
    return _eigh(input, UPLO)[0] if wants_grad(input) else _eigvalsh(input, UPLO)


def _eig_grad(gs, eigenvalues, eigenvectors):
    from .linalg import solve
    gL, gV = gs
    L, V = eigenvalues, eigenvectors
    if gV is None:
        return solve(V.mH, gL.unsqueeze(-1) * V.mH)
    inner = V.mH @ gV
    diagonal = inner.diagonal(0, -2, -1)
    _gauge(diagonal, "linalg_eig_backward: The eigenvectors")
    inner = inner - V.mH @ (V * diagonal.real.unsqueeze(-2))
    E = (L.unsqueeze(-2) - L.unsqueeze(-1)).conj() + eye_like(V)
    inner = with_diagonal(inner / E, L.new_zeros(L.shape) if gL is None else gL)
    return solve(V.mH, inner @ V.mH)


_eig = op("_linalg_eig(A)", "eig", node="LinalgEig", returns="linalg_eig eigenvalues eigenvectors",
          vjp={"A": _eig_grad})
_eigvals = op("_linalg_eigvals(A)", "eigvals")


def _check_eig(what, A):
    check_square(what, A)
    if A.dtype.category < 2:
        raise RuntimeError(f"Unknown Complex ScalarType for {dt.scalar_name(A.dtype)}")
    check_loop("linalg_eig_out_cpu", A)


@linalg_composite("eig(input)", amp=FP32)
def eig(input):
    """Eigenvalues and eigenvectors of square matrices, complex and in no order.

    https://docs.pytorch.org/docs/stable/generated/torch.linalg.eig.html
    """
    _check_eig("linalg.eig", input)
    return _eig(input)


@linalg_composite("eigvals(input)", amp=FP32)
def eigvals(input):
    """Eigenvalues of square matrices, complex and in no order.

    https://docs.pytorch.org/docs/stable/generated/torch.linalg.eigvals.html
    """
    _check_eig("linalg.eigvals", input)
    return _eig(input)[0] if wants_grad(input) else _eigvals(input)


# ---- pseudo-inverse and rank

def _pinv_grad(g, A, P):
    """From dP = -P dA P + P P^H dA^H (1 - A P) + (1 - P A) dA^H P^H P."""
    Ph, gh = P.mH, g.mH
    return -(Ph @ g @ Ph) + (gh - A @ (P @ gh)) @ P @ Ph + Ph @ P @ (gh - (gh @ P) @ A)


pinv_op = op("_linalg_pinv(A, atol: Number=None, rtol: Number=None, hermitian: bool=False)", "pinv", node="LinalgPinv",
             rule=rules.same, vjp={"A": lambda g, A, out: _pinv_grad(g, A, out)})
_rank = op("_linalg_rank(sizes, atol: Number=None, rtol: Number=None, side: int=0)", "rank", rule=rules.same)


def pseudo_inverse(A, atol, rtol, hermitian_input):
    """Pseudo-inverse, arguments checked."""
    check_tensor("linalg_pinv", input=A)
    if A.dtype.category < 2 or A.dtype.itemsize == 2 or A.dim() < 2:
        raise RuntimeError(f"linalg.pinv({dt.scalar_name(A.dtype)}{{{list(A.shape)}}}): expected a tensor with 2 or more "
                           "dimensions of float, double, cfloat or cdouble types")
    if hermitian_input:
        check_square("linalg.eigh", A)
    return pinv_op(A, atol, rtol, hermitian_input)


@linalg_composite("pinv(input, rcond: Number=None, hermitian: bool=False, *, atol: Number=None, rtol: Number=None)")
def pinv(input, rcond, hermitian, atol, rtol):
    """Moore-Penrose inverse; singular values up to max(atol, rtol * the largest) count as zero.

    https://docs.pytorch.org/docs/stable/generated/torch.linalg.pinv.html
    """
    if rcond is not None:
        atol, rtol = 0.0, rcond
    return pseudo_inverse(input, atol, rtol, hermitian)


@linalg_composite("matrix_rank(input, tol: Number=None, hermitian: bool=False, *, atol: Number=None, rtol: Number=None)",
                  amp=FP32)
def matrix_rank(input, tol, hermitian, atol, rtol):
    """How many singular values exceed max(atol, rtol * the largest); `tol` is an absolute limit.

    https://docs.pytorch.org/docs/stable/generated/torch.linalg.matrix_rank.html
    """
    check_tensor("linalg_matrix_rank", input=input)
    check_matrix("torch.linalg.matrix_rank", input, "input")
    if input.dtype.category < 2 or input.dtype.itemsize == 2:
        raise RuntimeError("This function doesn't handle types other than float and double")
    if tol is not None:
        atol, rtol = tol, 0.0
    values = input.detach()
    sizes = eigvalsh(values).abs() if hermitian else singular_values(values)
    return _rank(sizes, atol, rtol, max(input.shape[-2:]))
