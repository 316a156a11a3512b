"""Linear algebra: what the ops of this family share, and solving: Cholesky, triangles, inverse, determinants.

Formulas follow from differentiating the defining equation of each factorisation; `mH` is the conjugate transpose.
"""
from ..backend.kernels.linalg import LinAlgError
from ..core import dtype as dt
from ..core.op import composite, op
from ..core.results import named_result
from ..core.tensor import Tensor

FP32 = {"cpu": "fp32"}                            # PyTorch's autocast list on the CPU has most of this family


def linalg_op(sig, kernel, **fields):
    """A record of torch.linalg; its own name starts with linalg_, as PyTorch's does."""
    name = sig.partition("(")[0]
    fields.setdefault("doc", f"See https://docs.pytorch.org/docs/stable/generated/torch.linalg.{name}.html")
    return op(sig, kernel, on="linalg", key="linalg_" + name, **fields)


def linalg_composite(sig, **fields):
    """A composite of torch.linalg."""
    return composite(sig, on="linalg", key="linalg_" + sig.partition("(")[0], **fields)


# ---- what arguments must be

def check_tensor(function, **named):
    """TypeError unless every argument is a tensor; they are the first ones, in order."""
    for i, (name, t) in enumerate(named.items()):
        if not isinstance(t, Tensor):
            raise TypeError(f"{function}(): argument '{name}' (position {i + 1}) must be Tensor, not {type(t).__name__}")


def check_matrix(what, t, name="A"):
    """At least two dimensions."""
    if not isinstance(t, Tensor):
        check_tensor(what.replace(".", "_"), **{name: t})
    if t._a.ndim < 2:
        raise RuntimeError(f"{what}: The input tensor {name} must have at least 2 dimensions.")


def check_square(what, t, name="A"):
    """Square matrices."""
    check_matrix(what, t, name)
    m, n = t._a.shape[-2:]
    if m != n:
        raise RuntimeError(f"{what}: {name} must be batches of square matrices, but they are {m} by {n} matrices")


def check_floats(what, t, low=True):
    """A floating point or complex dtype; with low=False none of the half types."""
    d = t.dtype if isinstance(t, Tensor) else t
    if d.category < 2:
        raise RuntimeError(f"{what}: Expected a floating point or complex tensor as input. Got {dt.scalar_name(d)}")
    if not low and d.itemsize == 2:
        raise RuntimeError(f"{what}: Low precision dtypes not supported. Got {dt.scalar_name(d)}")


def check_loop(kernel, t):
    """The error of a LAPACK kernel that knows single and double precision only."""
    if t.dtype.category < 2 or t.dtype.itemsize == 2:
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{dt.scalar_name(t.dtype)}'")


def check_same(what, A, B):
    """Equal dtypes."""
    if A.dtype is not B.dtype:
        raise RuntimeError(f"{what}: Expected A and B to have the same dtype, but found A of type "
                           f"{dt.scalar_name(A.dtype)} and B of type {dt.scalar_name(B.dtype)} instead")


def joint_batch(a, b):
    """The shape two batch shapes broadcast to. Raises RuntimeError."""
    n = max(len(a), len(b))
    a, b = (1,) * (n - len(a)) + tuple(a), (1,) * (n - len(b)) + tuple(b)
    for i, (x, y) in enumerate(zip(a, b)):
        if x != y and x != 1 and y != 1:
            raise RuntimeError(f"The size of tensor a ({x}) must match the size of tensor b ({y}) at non-singleton "
                               f"dimension {i}")
    return tuple(y if x == 1 else x for x, y in zip(a, b))


def check_equation(what, A, B, left):
    """Sizes that fit A X = B or X A = B."""
    check_square(what, A)
    check_matrix(what, B, "B")
    a, b = A._a.shape, B._a.shape
    if a[-2] != b[-2] if left else a[-1] != b[-1]:
        raise RuntimeError(f"{what}: Incompatible shapes of A and B for the equation {'AX = B' if left else 'XA = B'} "
                           f"({a[-2]}x{a[-1]} and {b[-2]}x{b[-1]})")
    joint_batch(a[:-2], b[:-2])


def failure(info):
    """("(Batch element 3): ", number) of the first matrix for which a factorisation stopped; None if none did."""
    a = info._a
    if not a.any():
        return None
    for i, value in enumerate(a.reshape(-1).tolist()):
        if value:
            return (f"(Batch element {i}): " if a.ndim else ""), value


def raise_singular(what, info):
    """LinAlgError if some matrix has no inverse."""
    found = failure(info)
    if found:
        raise LinAlgError(f"{what}: {found[0]}The diagonal element {found[1]} is zero, the inversion could not be "
                          "completed because the input matrix is singular.")


def is_vector(A, B):
    """Whether B of an equation A X = B is a vector, or a batch of vectors, rather than matrices."""
    return B._a.ndim == 1 or B._a.ndim == A._a.ndim - 1 and tuple(B._a.shape) == tuple(A._a.shape[:-1])


# ---- Cholesky

def _cholesky_grad(g, L, upper):
    if upper:
        g, L = g.mH, L.mH
    inner = L.mH @ g
    inner = (inner.tril() + inner.tril(-1).mH) * 0.5
    left = solve_triangular(L.mH, inner, upper=True)
    return solve_triangular(L, left, upper=False, left=False)


_cholesky = op("_linalg_cholesky(A, upper: bool=False)", "cholesky_ex", node="LinalgCholeskyEx", nondiff=("info",),
               returns="linalg_cholesky_ex L info", vjp={"A": _cholesky_grad})


def factor(what, A, upper, loop_only=False):
    """(factor, info), arguments checked; `what` names the function in errors."""
    check_square(what, A)
    if not loop_only:
        check_floats(what, A)
    check_loop("cholesky_cpu", A)
    return _cholesky(A, upper)


def raise_indefinite(what, info):
    """LinAlgError if some matrix is not positive-definite."""
    found = failure(info)
    if found:
        raise LinAlgError(f"{what}: {found[0]}The factorization could not be completed because the input is not "
                          f"positive-definite (the leading minor of order {found[1]} is not positive-definite).")


@linalg_composite("cholesky(input, *, upper: bool=False)", amp=FP32)
def cholesky(input, upper):
    """Factor L with A = L L^H of Hermitian positive-definite matrices (or U with A = U^H U).

    Raises LinAlgError if a matrix is not positive-definite.
    https://docs.pytorch.org/docs/stable/generated/torch.linalg.cholesky.html
    """
    L, info = factor("linalg.cholesky", input, upper)
    raise_indefinite("linalg.cholesky", info)
    return L


@linalg_composite("cholesky_ex(input, *, upper: bool=False, check_errors: bool=False)", amp=FP32)
def cholesky_ex(input, upper, check_errors):
    """cholesky with the order of the first non-positive minor instead of an error.

    https://docs.pytorch.org/docs/stable/generated/torch.linalg.cholesky_ex.html
    """
    result = factor("linalg.cholesky", input, upper)
    if check_errors:
        raise_indefinite("linalg.cholesky_ex", result[1])
    return result


# ---- triangles

def _triangle_grads(gX, A, out, upper, unitriangular):
    gB = _solve_triangular(A.mH, gX, not upper, unitriangular)
    return triangle(-(gB @ out.mH), upper, unitriangular), gB


def triangle(X, upper, strict):
    """One triangle of X, without the diagonal when strict."""
    return X.triu(int(strict)) if upper else X.tril(-int(strict))


_solve_triangular = op("_linalg_solve_triangular(A, B, upper: bool, unitriangular: bool=False)", "solve_triangular",
                       node="LinalgSolveTriangular",
                       vjp={("A", "B"): lambda g, A, out, upper, unitriangular:
                            _triangle_grads(g, A, out, upper, unitriangular)})


@linalg_composite("solve_triangular(input, B, *, upper: bool, left: bool=True, unitriangular: bool=False)")
def solve_triangular(input, B, upper, left, unitriangular):
    """X with A X = B (or X A = B) for triangular A; zeros on the diagonal give infinities.

    https://docs.pytorch.org/docs/stable/generated/torch.linalg.solve_triangular.html
    """
    check_tensor("linalg_solve_triangular", input=input, B=B)
    check_equation("linalg.solve_triangular", input, B, left)
    check_loop("triangular_solve_cpu", input)
    if B.dtype is not input.dtype:
        B = B.to(input.dtype)
    if left:
        return _solve_triangular(input, B, upper, unitriangular)
    return _solve_triangular(input.mT, B.mT, not upper, unitriangular).mT


# ---- general matrices

def _solve_grads(g, A, result):
    gB = _solve(A.mH, g)[0]
    return -(gB @ result.mH), gB


_solve = op("_linalg_solve(A, B)", "solve_ex", node="LinalgSolveEx", nondiff=("info",),
            returns="linalg_solve_ex result info", vjp={("A", "B"): _solve_grads})


def solved(A, B, left):
    """(solution, info) with all arguments checked."""
    what = "linalg.solve"
    check_tensor("linalg_solve", A=A, B=B)
    check_floats(what, A)
    check_same(what, A, B)
    check_square(what, A)
    vector = is_vector(A, B)
    matrix = B.unsqueeze(-1) if vector else B
    check_equation(what, A, matrix, left)
    if vector and not left:
        raise RuntimeError("linalg.solve: Vector broadcasting of the left hand side is not supported for left=False. In "
                           "this case linalg.solve is equivalent to B / A.squeeze(-1)")
    check_loop("lu_cpu", A)
    if not left:
        X, info = _solve(A.mT, matrix.mT)
        return X.mT, info
    X, info = _solve(A, matrix)
    return (X.squeeze(-1) if vector else X), info


def _raise_unsolvable(what, info):
    found = failure(info)
    if found:
        raise LinAlgError(f"{what}: {found[0]}The solver failed because the input matrix is singular.")


@linalg_composite("solve(A, B, *, left: bool=True)", amp=FP32)
def solve(A, B, left):
    """X with A X = B (or X A = B); B may be a vector. Raises LinAlgError for singular A.

    https://docs.pytorch.org/docs/stable/generated/torch.linalg.solve.html
    """
    X, info = solved(A, B, left)
    _raise_unsolvable("torch.linalg.solve", info)
    return X


@linalg_composite("solve_ex(A, B, *, left: bool=True, check_errors: bool=False)")
def solve_ex(A, B, left, check_errors):
    """solve with the number of the first zero pivot instead of an error.

    https://docs.pytorch.org/docs/stable/generated/torch.linalg.solve_ex.html
    """
    X, info = solved(A, B, left)
    if check_errors:
        _raise_unsolvable("torch.linalg.solve_ex", info)
    return named_result(("linalg_solve_ex", "result", "info"), (X, info))


_inv = op("_linalg_inv(A)", "inv_ex", node="LinalgInvEx", nondiff=("info",), returns="linalg_inv_ex inverse info",
          vjp={"A": lambda g, inverse: -(inverse.mH @ g @ inverse.mH)})


def inverse_of(A):
    """(inverse, info) with arguments checked."""
    check_tensor("linalg_inv", A=A)
    check_square("linalg.inv", A)
    check_floats("linalg.inv", A, low=False)
    return _inv(A)


@linalg_composite("inv(A)", amp=FP32)
def inv(A):
    """Inverse of square matrices. Raises LinAlgError for singular ones.

    https://docs.pytorch.org/docs/stable/generated/torch.linalg.inv.html
    """
    X, info = inverse_of(A)
    raise_singular("linalg.inv", info)
    return X


@linalg_composite("inv_ex(A, *, check_errors: bool=False)", amp=FP32)
def inv_ex(A, check_errors):
    """inv with the number of the first zero pivot instead of an error.

    https://docs.pytorch.org/docs/stable/generated/torch.linalg.inv_ex.html
    """
    result = inverse_of(A)
    if check_errors:
        raise_singular("linalg.inv_ex", result[1])
    return result


# ---- determinants

# Where a determinant is zero, its derivative is a matrix of cofactors that no inverse gives. Exact to second order.
_cofactor_grad = op("_cofactor_grad(grad, A)", "cofactor_grad")
_cofactor = op("_cofactor(A)", "cofactor", vjp={"A": lambda g, A: _cofactor_grad(g, A)})


def _det_grad(g, A, out):
    g = g.unsqueeze(-1).unsqueeze(-1)
    if (out._a == 0).any():
        return g * _cofactor(A)
    return (g * out.conj().unsqueeze(-1).unsqueeze(-1)) * _inv(A)[0].mH


def _check_det(A):
    check_tensor("linalg_det", A=A)
    check_square("linalg.det", A)
    check_floats("linalg.det", A)
    check_loop("lu_cpu", A)


det = linalg_op("det(A)", "det", check=_check_det, vjp={"A": _det_grad})


def _slogdet_grad(gs, A, sign):
    turn, size = gs
    weight = None if size is None else size
    if turn is not None and sign.is_complex():
        twist = (turn.conj() * sign).imag * -1j
        weight = twist if weight is None else weight + twist
    return None if weight is None else weight.unsqueeze(-1).unsqueeze(-1) * _inv(A)[0].mH


def _check_slogdet(A):
    check_tensor("linalg_slogdet", A=A)
    check_square("linalg.slogdet", A)
    check_floats("linalg.slogdet", A, low=False)


slogdet = linalg_op("slogdet(A)", "slogdet", check=_check_slogdet, returns="linalg_slogdet sign logabsdet",
                    vjp={"A": _slogdet_grad})
