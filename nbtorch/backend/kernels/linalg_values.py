"""Singular values, eigenvalues, pseudo-inverses and the exponential of stacks of matrices."""
from ..registry import kernel
from ._common import is_half, narrow, wide
from .linalg import LinAlgError


def _finite(xp, a, name):
    if not xp.isfinite(a).all():
        raise LinAlgError(f"{name}: The algorithm failed to converge because the input matrix contained non-finite "
                          "values.")


def _failed(name):
    return LinAlgError(f"{name}: The algorithm failed to converge because the input matrix is ill-conditioned or has "
                       "too many repeated eigenvalues (error code: 1).")


@kernel("svd")
def svd(xp, a, full_matrices):
    """U, S and V^H."""
    _finite(xp, a, "linalg.svd")
    try:
        return tuple(xp.linalg.svd(a, full_matrices))
    except xp.linalg.LinAlgError:
        raise _failed("linalg.svd") from None


@kernel("svdvals")
def svdvals(xp, a):
    """Singular values, largest first."""
    _finite(xp, a, "linalg.svd")
    try:
        return xp.linalg.svd(a, compute_uv=False)
    except xp.linalg.LinAlgError:
        raise _failed("linalg.svd") from None


@kernel("eigh")
def eigh(xp, a, UPLO):
    """Eigenvalues of Hermitian matrices, smallest first, and eigenvectors."""
    try:
        values, vectors = xp.linalg.eigh(a, UPLO)
        return values, vectors
    except xp.linalg.LinAlgError:
        if xp.isfinite(a).all():
            raise _failed("linalg.eigh") from None
        return xp.full(a.shape[:-1], xp.nan, a.real.dtype), xp.full(a.shape, xp.nan, a.dtype)


@kernel("eigvalsh")
def eigvalsh(xp, a, UPLO):
    """Eigenvalues of Hermitian matrices, smallest first."""
    try:
        return xp.linalg.eigvalsh(a, UPLO)
    except xp.linalg.LinAlgError:
        if xp.isfinite(a).all():
            raise _failed("linalg.eigh") from None
        return xp.full(a.shape[:-1], xp.nan, a.real.dtype)


def _general(xp, a, name, function):
    if not xp.isfinite(a).all():
        raise RuntimeError(f"torch.linalg.{name}: input tensor should not contain infs or NaNs.")
    try:
        return function(a)
    except xp.linalg.LinAlgError:
        raise _failed(f"linalg.{name}") from None


@kernel("eig")
def eig(xp, a):
    """Complex eigenvalues and eigenvectors."""
    kind = xp.result_type(a.dtype, xp.complex64)
    values, vectors = _general(xp, a, "eig", xp.linalg.eig)
    return values.astype(kind), vectors.astype(kind)


@kernel("eigvals")
def eigvals(xp, a):
    """Complex eigenvalues."""
    return _general(xp, a, "eigvals", xp.linalg.eigvals).astype(xp.result_type(a.dtype, xp.complex64))


@kernel("pinv")
def pinv(xp, a, atol, rtol, hermitian):
    """Pseudo-inverses: singular values up to max(atol, rtol * the largest) count as zero."""
    if not a.size:
        return xp.zeros((*a.shape[:-2], a.shape[-1], a.shape[-2]), a.dtype)
    if hermitian:
        s, u = eigh(xp, a, "L")
        v, size = u, xp.abs(s)
    else:
        u, s, vh = svd(xp, a, False)
        v, size = vh.swapaxes(-1, -2).conj(), s
    keep = size > _limit(xp, size, max(a.shape[-2:]), atol, rtol)
    inverse = xp.where(keep, 1 / xp.where(keep, s, xp.ones((), s.dtype)), xp.zeros((), s.dtype))
    return (v * inverse[..., None, :]) @ u.swapaxes(-1, -2).conj()


@kernel("rank")
def rank(xp, size, atol, rtol, side):
    """How many singular values (or sizes of eigenvalues) exceed max(atol, rtol * the largest)."""
    if not size.shape[-1]:
        return xp.zeros(size.shape[:-1], xp.int64)
    return xp.asarray((size > _limit(xp, size, side, atol, rtol)).sum(-1), xp.int64)


def _limit(xp, size, side, atol, rtol):
    """Up to where singular values count as zero; `side` is the longer side of the matrices."""
    atol, rtol = (t[..., None] if getattr(t, "ndim", 0) else t for t in (atol, rtol))
    if rtol is None:
        usual = float(xp.finfo(size.dtype).eps) * side
        rtol = usual if atol is None else xp.where(xp.asarray(atol) > 0, 0.0, usual)
    return xp.maximum(xp.asarray(0.0 if atol is None else atol), rtol * size.max(-1, keepdims=True))


# ---- functions of matrices

# numerator of the Pade approximant of exp of degree 13, and up to which 1-norm it is exact in double precision
# (N. J. Higham, SIAM J. Matrix Anal. Appl. 26, 2005)
_PADE = (64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800, 129060195264000, 10559470521600,
         670442572800, 33522128640, 1323241920, 40840800, 960960, 16380, 182, 1)
_REACH = 5.371920351148152


@kernel("matrix_exp")
def matrix_exp(xp, a):
    """exp of square matrices by scaling, a Pade approximant and squaring."""
    z = wide(xp, a)
    if not z.size:
        return a.copy()
    double = z.astype(xp.complex128 if z.dtype.kind == "c" else xp.float64)
    size = xp.asarray(xp.abs(double).sum(-2).max(-1))
    usable = xp.isfinite(size)
    safe = xp.where(usable, size, xp.zeros((), size.dtype))
    squarings = xp.maximum(xp.ceil(xp.log2(xp.maximum(safe, _REACH) / _REACH)), 0).astype(xp.int64)
    x = xp.where(usable[..., None, None], double, xp.zeros((), double.dtype)) / (2.0 ** squarings)[..., None, None]
    result = _pade(xp, x)
    for i in range(int(squarings.max())):
        result = xp.where((squarings > i)[..., None, None], result @ result, result)
    result = xp.where(usable[..., None, None], result, xp.full((), xp.nan, result.dtype))
    return narrow(xp, result, a) if is_half(a) else result.astype(a.dtype)


def _pade(xp, x):
    eye = xp.eye(x.shape[-1], dtype=x.dtype)
    x2 = x @ x
    x4 = x2 @ x2
    x6 = x4 @ x2
    b = [float(c) for c in _PADE]
    odd = x @ (x6 @ (b[13] * x6 + b[11] * x4 + b[9] * x2) + b[7] * x6 + b[5] * x4 + b[3] * x2 + b[1] * eye)
    even = x6 @ (b[12] * x6 + b[10] * x4 + b[8] * x2) + b[6] * x6 + b[4] * x4 + b[2] * x2 + b[0] * eye
    return xp.linalg.solve(even - odd, even + odd)
