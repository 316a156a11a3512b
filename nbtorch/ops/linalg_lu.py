"""Linear algebra: LU and least squares."""
from ..core import dtype as dt
from ..core.op import composite, op
from ..core.results import named_result
from .linalg import (
    FP32,
    _solve_triangular,
    check_equation,
    check_loop,
    check_square,
    check_tensor,
    failure,
    is_vector,
    joint_batch,
    linalg_composite,
    solve_triangular,
)
from .linalg_spectral import _pinv_grad, pinv_op

# ---- LU


def _permuted(X, rows, back=False):
    """Rows of X in the order of a factorisation, or put back."""
    if back:
        rows = rows.argsort(-1)
    batch = joint_batch(X.shape[:-2], rows.shape[:-1])
    X = X.expand(*batch, *X.shape[-2:])
    return X.gather(-2, rows.unsqueeze(-1).expand(X.shape))


def _unit_lower(LU, k):
    L = LU[..., :, :k].tril(-1)
    from .create import eye
    return L + eye(LU.shape[-2], k, dtype=LU.dtype, device=LU.device)


def _lu_grad(g, LU, pivots):
    """From P^T A = L U. The part beyond the square one hands its gradient on to the square one first."""
    from .join import cat
    m, n = LU.shape[-2:]
    k = min(m, n)
    L, U = _unit_lower(LU, k), LU[..., :k, :].triu()
    L1, U1 = L[..., :k, :], U[..., :, :k]
    gL, gU = g[..., :k, :k].tril(-1), g[..., :k, :k].triu()
    wide = tall = None
    if n > k:
        gU2 = g[..., :k, k:]
        wide = _solve_triangular(L1.mH, gU2, True, True)
        gL = gL - wide @ U[..., :, k:].mH
    if m > k:
        gL2 = g[..., k:, :k]
        tall = solve_triangular(U1.mH, gL2, upper=False, left=False)
        gU = gU - L[..., k:, :].mH @ tall
    inner = (L1.mH @ gL).tril(-1) + (gU @ U1.mH).triu()
    inner = _solve_triangular(L1.mH, inner, True, True)
    result = solve_triangular(U1.mH, inner, upper=False, left=False)
    if wide is not None:
        result = cat([result, wide], -1)
    if tall is not None:
        result = cat([result, tall], -2)
    return _permuted(result, _rows(pivots, m), back=True)


_lu_factor = op("_linalg_lu_factor(A)", "lu_factor", node="LinalgLuFactorEx", nondiff=("pivots", "info"),
                returns="linalg_lu_factor_ex LU pivots info", vjp={"A": _lu_grad})
_rows = op("_lu_rows(pivots, m: int)", "lu_rows")


def _factored(what, A, pivot):
    check_tensor(what.replace(".", "_").removeprefix("torch_"), A=A)
    if A.dim() < 2:
        raise RuntimeError(f"{what}: Expected tensor with 2 or more dimensions. Got size: {list(A.shape)} instead")
    check_loop("lu_cpu", A)
    if not pivot:
        raise RuntimeError("linalg.lu_factor: LU without pivoting is not implemented on the CPU")
    return _lu_factor(A)


def _raise_zero(what, info):
    found = failure(info)
    if found:
        raise RuntimeError(f"torch.linalg.{what}: {found[0]}U[{found[1]},{found[1]}] is zero and using it on lu_solve would "
                           "result in a division by zero. If you still want to perform the factorization, consider calling "
                           "linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)")


@linalg_composite("lu_factor(A, *, pivot: bool=True)")
def lu_factor(A, pivot):
    """L and U of P L U = A in one matrix, and the row exchanges. Raises RuntimeError where U has a zero.

    https://docs.pytorch.org/docs/stable/generated/torch.linalg.lu_factor.html
    """
    LU, pivots, info = _factored("torch.lu_factor", A, pivot)
    _raise_zero("lu_factor", info)
    return named_result(("linalg_lu_factor", "LU", "pivots"), (LU, pivots))


@linalg_composite("lu_factor_ex(A, *, pivot: bool=True, check_errors: bool=False)")
def lu_factor_ex(A, pivot, check_errors):
    """lu_factor with the number of the first zero on U's diagonal instead of an error.

    https://docs.pytorch.org/docs/stable/generated/torch.linalg.lu_factor_ex.html
    """
    result = _factored("torch.lu_factor", A, pivot)
    if check_errors:
        _raise_zero("lu_factor_ex", result[2])
    return result


def _matrix_of(rows, dtype):
    """The permutation matrix P with P^T A = A[rows]."""
    from .create import arange
    here = arange(rows.shape[-1], device=rows.device)
    return (rows.unsqueeze(-2) == here.unsqueeze(-1)).to(dtype)


def _unpacked(LU, pivots):
    m, n = LU.shape[-2:]
    k = min(m, n)
    return _matrix_of(_rows(pivots, m), LU.dtype), _unit_lower(LU, k), LU[..., :k, :].triu()


@linalg_composite("lu(A, *, pivot: bool=True)")
def lu(A, pivot):
    """P, L and U with P L U = A.

    https://docs.pytorch.org/docs/stable/generated/torch.linalg.lu.html
    """
    LU, pivots, _ = _factored("linalg.lu", A, pivot)
    return named_result(("linalg_lu", "P", "L", "U"), _unpacked(LU, pivots))


@composite("lu_unpack(LU_data, LU_pivots, unpack_data: bool=True, unpack_pivots: bool=True)", on="torch")
def lu_unpack(LU_data, LU_pivots, unpack_data, unpack_pivots):
    """P, L and U of what lu_factor returned; the parts not asked for come back empty.

    https://docs.pytorch.org/docs/stable/generated/torch.lu_unpack.html
    """
    check_tensor("lu_unpack", LU_data=LU_data, LU_pivots=LU_pivots)
    if unpack_pivots and LU_pivots.dtype is not dt.int32:
        raise RuntimeError("torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype.\n"
                           "Note: this function is intended to be used with the output produced by torch.linalg.lu_factor")
    if LU_data.dim() < 2:
        raise RuntimeError("torch.lu_unpack: Expected tensor with 2 or more dimensions. Got size: "
                           f"{list(LU_data.shape)} instead")
    m, n = LU_data.shape[-2:]
    P = L = U = LU_data.new_empty((0,))
    if unpack_pivots:
        a = LU_pivots._a
        if a.size and (a.min() < 1 or a.max() > m):
            raise RuntimeError("pivots passed to lu_unpack must be between 1 and LU.size(-2) inclusive."
                               "Did you properly pass the result of lu_factor?")
        P = _matrix_of(_rows(LU_pivots, m), LU_data.dtype)
    if unpack_data:
        L, U = _unit_lower(LU_data, min(m, n)), LU_data[..., :min(m, n), :].triu()
    return named_result(("lu_unpack", "P", "L", "U"), (P, L, U))


def _solve_with(LU, pivots, B, adjoint):
    """A X = B, or A^H X = B, for A = P L U."""
    rows = _rows(pivots, LU.shape[-2])
    if adjoint:
        Y = _solve_triangular(LU.mH, _solve_triangular(LU.mH, B, False, False), True, True)
        return _permuted(Y, rows, back=True)
    Y = _permuted(B, rows)
    return _solve_triangular(LU, _solve_triangular(LU, Y, False, True), True, False)


def _solved(LU, pivots, B, left, adjoint):
    what = "linalg.lu_solve"
    check_tensor("linalg_lu_solve", LU=LU, pivots=pivots, B=B)
    if LU.dtype.category < 2:
        raise RuntimeError(f"{what}: Expected a floating point or complex tensor as input. Got {dt.scalar_name(LU.dtype)}")
    if LU.dtype is not B.dtype:
        raise RuntimeError(f"{what}: Expected LU and B to have the same dtype, but found LU of type "
                           f"{dt.scalar_name(LU.dtype)} and B of type {dt.scalar_name(B.dtype)} instead")
    if pivots.dtype is not dt.int32:
        raise RuntimeError(f"{what}: pivots should be a Tensor of scalar type torch.int32")
    check_square(what, LU, "LU")
    check_equation(what, LU, B, left)
    if pivots.shape[-1] != LU.shape[-1]:
        raise RuntimeError(f"{what}: Number of pivots per batch should be same as the dimension of the matrix")
    if pivots.shape[:-1] != LU.shape[:-2]:
        raise RuntimeError(f"{what}: Expected LU.shape[:-1] and pivots.shape to be the same, but got pivots with shape "
                           f"{list(pivots.shape)} instead")
    check_loop("linalg_lu_solve_cpu", LU)
    if left:
        return _solve_with(LU, pivots, B, adjoint)
    return _solve_with(LU, pivots, B.mH, not adjoint).mH


@linalg_composite("lu_solve(LU, pivots, B, *, left: bool=True, adjoint: bool=False)")
def linalg_lu_solve(LU, pivots, B, left, adjoint):
    """X with A X = B (or X A = B, or with A^H) from the result of lu_factor.

    https://docs.pytorch.org/docs/stable/generated/torch.linalg.lu_solve.html
    """
    return _solved(LU, pivots, B, left, adjoint)


@composite("lu_solve(input, LU_data, LU_pivots)", amp=FP32)
def lu_solve(input, LU_data, LU_pivots):
    """X with A X = input from the result of lu_factor.

    https://docs.pytorch.org/docs/stable/generated/torch.lu_solve.html
    """
    return _solved(LU_data, LU_pivots, input, True, False)


# ---- least squares

def _lstsq_grads(g, A, B):
    """The solution is pinv(A) B wherever it is differentiable."""
    P = pinv_op(A, None, None, False)
    return _pinv_grad(g @ B.mH, A, P), P.mH @ g


_lstsq = op("_linalg_lstsq(A, B, rcond: float, driver: str)", "lstsq", node="LinalgLstsq",
            nondiff=("rank", "singular_values"), returns="linalg_lstsq solution rank singular_values",
            vjp={("A", "B"): _lstsq_grads})
_DRIVERS = ("gels", "gelsy", "gelsd", "gelss")


def _check_lstsq(A, B, driver):
    what = "torch.linalg.lstsq"
    check_tensor("linalg_lstsq", input=A, b=B)
    for name, t, least in (("input", A, 2), ("other", B, 1)):
        if t.dim() < least:
            raise RuntimeError(f"{what}: {name} must have at least {least} dimension{'s' if least > 1 else ''}.")
    if A.dtype is not B.dtype:
        raise RuntimeError(f"{what}: Expected input and other to have the same dtype, but got input's dtype "
                           f"{dt.scalar_name(A.dtype)} and other's dtype {dt.scalar_name(B.dtype)}")
    if driver not in _DRIVERS:
        raise RuntimeError(f"{what}: parameter `driver` should be one of ({', '.join(_DRIVERS)})")
    if A.dtype.category < 2 or A.dtype.itemsize == 2:
        raise RuntimeError("This function doesn't handle types other than float and double")
    side = -1 if is_vector(A, B) else -2
    if B.dim() < -side or B.shape[side] != A.shape[-2]:
        raise RuntimeError(f"{what}: input.size(-2) should match other.size({side})")


@linalg_composite("lstsq(input, b, rcond=None, *, driver=None)", amp=FP32)
def lstsq(input, b, rcond, driver):
    """X that minimises the Frobenius norm of input X - b, with residuals, rank and singular values by driver.

    https://docs.pytorch.org/docs/stable/generated/torch.linalg.lstsq.html
    """
    driver = "gelsy" if driver is None else driver
    _check_lstsq(input, b, driver)
    vector = is_vector(input, b)
    B = b.unsqueeze(-1) if vector else b
    batch = joint_batch(input.shape[:-2], B.shape[:-2])
    A = input.expand(*batch, *input.shape[-2:])
    B = B.expand(*batch, *B.shape[-2:])
    m, n = A.shape[-2:]
    if rcond is None:
        rcond = _eps(A.dtype) * max(m, n)
    X, rank, values = _lstsq(A, B, float(rcond), driver)
    empty = input.new_empty((0,), dtype=input.dtype.to_real())
    residuals = input.reshape(-1)[:0].abs()                   # nothing, but tracked as residuals are
    if m > n and driver != "gelsy" and (driver == "gels" or bool((rank == n).all())):
        difference = A @ X - B
        residuals = difference.abs().square().sum(-2)
    if vector:
        X = X.squeeze(-1)
    if driver == "gels":
        rank = rank.new_empty((0,))
    return named_result(("linalg_lstsq", "solution", "residuals", "rank", "singular_values"),
                        (X, residuals, rank, values if driver in ("gelsd", "gelss") else empty))


def _eps(dtype):
    return 2.0 ** (-23 if dtype.to_real() is dt.float32 else -52)
