"""Factorisations of and solvers for stacks of matrices. NumPy's batched LAPACK gives the values; SciPy's routines for
single matrices give what NumPy lacks (LU, the place where a factorisation broke down)."""
import itertools
import math

from ..registry import kernel


class LinAlgError(RuntimeError):
    """A matrix is singular, not positive-definite, or an iteration did not converge."""


def _h(a):
    return a.swapaxes(-1, -2).conj()


def _dense(xp, a):
    return xp.ascontiguousarray(a) if a.ndim else a


def _lapack(name, *arrays):
    from scipy.linalg.lapack import get_lapack_funcs
    return get_lapack_funcs((name,), arrays)[0]


def _host(xp, *arrays):
    """The arrays as NumPy arrays: SciPy's single-matrix routines run on the CPU."""
    return [a if xp.__name__ == "numpy" else a.get() for a in arrays]


def _each(batch):
    return itertools.product(*map(range, batch))


# ---- Cholesky

@kernel("cholesky_ex")
def cholesky_ex(xp, a, upper=False):
    """Cholesky factor and, per matrix, the order of the first leading minor that is not positive (0: none)."""
    lower = _h(a) if upper else a
    try:
        factor, info = xp.linalg.cholesky(lower), xp.zeros(a.shape[:-2], xp.int32)
    except xp.linalg.LinAlgError:
        factor, info = _cholesky_each(xp, lower)
    return (_dense(xp, _h(factor)) if upper else factor), info


def _cholesky_each(xp, a):
    import numpy as np
    host, = _host(xp, a)
    factor, info = np.empty(a.shape, a.dtype), np.zeros(a.shape[:-2], np.int32)
    potrf = _lapack("potrf", host)
    for i in _each(a.shape[:-2]):
        factor[i], info[i] = potrf(host[i], lower=1, clean=1)
    return xp.asarray(factor), xp.asarray(info)


# ---- LU, solving, inverse

@kernel("lu_factor")
def lu_factor(xp, a):
    """L and U packed in one matrix, row exchanges counted from 1, and the first zero on U's diagonal (0: none)."""
    import numpy as np
    host, = _host(xp, a)
    m, n = a.shape[-2:]
    packed = np.empty(a.shape, a.dtype)
    pivots = np.empty((*a.shape[:-2], min(m, n)), np.int32)
    info = np.zeros(a.shape[:-2], np.int32)
    if packed.size:
        getrf = _lapack("getrf", host)
        for i in _each(a.shape[:-2]):
            packed[i], pivots[i], info[i] = getrf(host[i])
        pivots += 1
    return xp.asarray(packed), xp.asarray(pivots), xp.asarray(info)


@kernel("lu_rows")
def lu_rows(xp, pivots, m):
    """The row order that the exchanges lead to: A[rows] = L U."""
    flat = pivots.reshape(math.prod(pivots.shape[:-1]), pivots.shape[-1])
    rows = xp.tile(xp.arange(m), (flat.shape[0], 1))
    every = xp.arange(flat.shape[0])
    for i in range(flat.shape[1]):
        j = flat[:, i] - 1
        here, there = rows[every, i].copy(), rows[every, j].copy()
        rows[every, i], rows[every, j] = there, here
    return rows.reshape(*pivots.shape[:-1], m)


def _stack(xp, a, b):
    """Both with the same batch dimensions."""
    batch = a.shape[:-2] if a.shape[:-2] == b.shape[:-2] else xp.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    return xp.broadcast_to(a, batch + a.shape[-2:]), xp.broadcast_to(b, batch + b.shape[-2:])


@kernel("solve_ex")
def solve_ex(xp, a, b):
    """X with A X = B, and per matrix the first zero pivot (0: none)."""
    if a.shape[:-2] != b.shape[:-2]:
        a, b = _stack(xp, a, b)
    try:
        return xp.linalg.solve(a, b), xp.zeros(a.shape[:-2], xp.int32)
    except xp.linalg.LinAlgError:
        return _solve_each(xp, a, b)


@kernel("inv_ex")
def inv_ex(xp, a):
    """Inverses, and per matrix the first zero pivot (0: none)."""
    try:
        return xp.linalg.inv(a), xp.zeros(a.shape[:-2], xp.int32)
    except xp.linalg.LinAlgError:
        return _solve_each(xp, *_stack(xp, a, xp.eye(a.shape[-1], dtype=a.dtype)))


def _solve_each(xp, a, b):
    """By LU, without stopping at zero pivots: infinity and NaN appear where they are divided by."""
    packed, pivots, info = lu_factor(xp, a)
    rows = lu_rows(xp, pivots, a.shape[-1])
    permuted = xp.take_along_axis(b, rows[..., None], -2)
    return solve_triangular(xp, packed, solve_triangular(xp, packed, permuted, False, True), True, False), info


@kernel("solve_triangular")
def solve_triangular(xp, a, b, upper, unit):
    """X with A X = B, A read as a triangle."""
    a, b = _stack(xp, a, b)
    if not b.size:
        return xp.zeros(b.shape, b.dtype)
    count = math.prod(b.shape[:-2])
    if xp.__name__ != "numpy" or count > b.shape[-2]:
        return _substitute(xp, a, b, upper, unit)
    from scipy.linalg.blas import get_blas_funcs
    trsm, = get_blas_funcs(("trsm",), (a, b))
    out = xp.empty(b.shape, b.dtype)
    for i in _each(b.shape[:-2]):
        # A's transpose has the memory order BLAS reads without a copy
        out[i] = trsm(1.0, a[i].T, b[i], lower=int(upper), trans_a=1, diag=int(unit))
    return out


def _substitute(xp, a, b, upper, unit):
    """Row by row over the whole stack: for many small matrices."""
    x, n = xp.empty(b.shape, b.dtype), b.shape[-2]
    for i in range(n - 1, -1, -1) if upper else range(n):
        known = slice(i + 1, n) if upper else slice(0, i)
        row = b[..., i, :] - (a[..., i:i + 1, known] @ x[..., known, :])[..., 0, :]
        x[..., i, :] = row if unit else row / a[..., i, i, None]
    return x


@kernel("lstsq")
def lstsq(xp, a, b, rcond, driver):
    """Least-squares solutions, ranks and singular values."""
    m, n = a.shape[-2:]
    batch, k = a.shape[:-2], min(m, n)
    x, rank = xp.zeros((*batch, n, b.shape[-1]), a.dtype), xp.zeros(batch, xp.int64)
    values = xp.zeros((*batch, k), a.real.dtype)
    if a.size and b.shape[-1]:
        for i in _each(batch):
            x[i], _, rank[i], values[i] = xp.linalg.lstsq(a[i], b[i], rcond)
    return x, rank, values


# ---- determinants

@kernel("det")
def det(xp, a):
    """Determinants."""
    return xp.asarray(xp.linalg.det(a), a.dtype)


@kernel("slogdet")
def slogdet(xp, a):
    """Sign and logarithm of the size of determinants."""
    sign, size = xp.linalg.slogdet(a)
    return xp.asarray(sign, a.dtype), xp.asarray(size, a.real.dtype)


def _other_products(xp, s, pairs):
    """Products of all entries of the last dimension but one (or, with pairs, but two)."""
    n = s.shape[-1]
    keep = ~xp.eye(n, dtype=bool)
    mask = keep[:, None, :] & keep[None, :, :] if pairs else keep
    return xp.where(mask, s[(..., *[None] * (mask.ndim - 1), slice(None))], xp.ones((), s.dtype)).prod(-1)


def _turned(xp, a):
    u, s, vh = xp.linalg.svd(a)
    return u, s, vh, (xp.linalg.det(u) * xp.linalg.det(vh))[..., None, None]


@kernel("cofactor")
def cofactor(xp, a):
    """Conjugated cofactors: the derivative of the determinant, defined for singular matrices too."""
    u, s, vh, turn = _turned(xp, a)
    return (u * _other_products(xp, s, False)[..., None, :]) @ vh * turn.conj()


@kernel("cofactor_grad")
def cofactor_grad(xp, g, a):
    """Gradient of `cofactor`: in the basis of singular vectors its derivative is bilinear in the other singular
    values, so that no inverse is needed."""
    u, s, vh, turn = _turned(xp, a)
    n = (_h(u) @ g @ _h(vh)) * turn
    others = _other_products(xp, s, True)
    eye = xp.eye(a.shape[-1], dtype=bool)
    diagonal = n.diagonal(0, -2, -1)
    sums = (xp.where(eye, xp.zeros((), s.dtype), others) @ diagonal[..., None])[..., 0]
    w = xp.where(eye, sums[..., None, :], -others * n.swapaxes(-1, -2))
    return u @ w.conj() @ vh


# ---- orthogonal factors

@kernel("qr")
def qr(xp, a, mode):
    """Q and R; an empty Q in mode "r"."""
    if mode == "r":
        return xp.zeros((0,), a.dtype), xp.linalg.qr(a, mode="r")
    q, r = xp.linalg.qr(a, mode=mode)
    return q, r


@kernel("geqrf")
def geqrf(xp, a):
    """R above, Householder vectors below the diagonal, and their factors."""
    h, tau = xp.linalg.qr(a, mode="raw")
    return _dense(xp, h.swapaxes(-1, -2)), tau


@kernel("householder_product")
def householder_product(xp, v, tau):
    """The first columns of the product of reflections I - tau v v^H, v with ones on the diagonal and zeros above."""
    m, n = v.shape[-2:]
    q = xp.broadcast_to(xp.eye(m, n, dtype=v.dtype), v.shape).copy()
    for i in reversed(range(tau.shape[-1])):
        w = v[..., i:, i:i + 1].copy()
        w[..., 0, 0] = 1
        q[..., i:, :] -= tau[..., i, None, None] * w * (_h(w) @ q[..., i:, :])
    return q


@kernel("cholesky_solve")
def cholesky_solve(xp, b, factor, upper):
    """X with A X = B for A = L L^H, or U^H U."""
    lower = _h(factor) if upper else factor
    return solve_triangular(xp, _h(lower), solve_triangular(xp, lower, b, False, False), True, False)
