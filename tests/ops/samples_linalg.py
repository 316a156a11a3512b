"""Samples of linear algebra. Singular and eigenvectors are compared in test_linalg.py: they have no unique sign."""
from .harness import Arg, K, samples

FLOATS = "float64 float32 complex64 complex128 float16 bfloat16 int64"
PRECISE = ("float64", "float32", "complex64", "complex128")
TWO = "float64 complex128"


def positive(m, *shape):
    """Hermitian positive-definite matrices."""
    a = m(*shape).array
    if m.dtype.startswith(("float16", "bfloat16", "int")):
        return m(*shape)
    n = a.shape[-1]
    h = a @ a.swapaxes(-1, -2).conj()
    for i in range(n):
        h[..., i, i] += 1
    return Arg(h.astype(a.dtype), True)


def regular(m, *shape):
    """Well-conditioned square matrices."""
    a = m(*shape)
    if not m.dtype.startswith(("int", "uint", "bool")):
        for i in range(min(shape[-2:])):
            a.array[..., i, i] += 3
    return a


def lower(m, *shape):
    """Lower-triangular matrices, well away from singular."""
    import numpy as np
    a = regular(m, *shape)
    return Arg(np.tril(a.array), a.differentiable)


def singular(m, n):
    """A matrix of rank n - 1."""
    a = m(n, n)
    a.array[-1] = a.array[0]
    return a


@samples("linalg_cholesky", "linalg_cholesky_ex", "cholesky", dtypes=FLOATS)
def cholesky(m):
    yield (positive(m, 3, 3),)
    yield positive(m, 2, 3, 3), K(upper=True)
    if m.dtype in PRECISE:                        # torch lets an empty half-precision matrix through
        yield (m(0, 3, 3),)
    yield (m(2, 3),)
    yield (m(3),)


@samples("cholesky_solve", dtypes=FLOATS)
def with_factor(m):
    yield m(3, 2), lower(m, 3, 3)
    yield m(2, 3, 1), lower(m, 3, 3)
    yield m(3, 2), lower(m, 2, 3, 3), True
    yield m(2, 2), lower(m, 3, 3)
    yield m(3), lower(m, 3, 3)


# torch 2.13 is off by tenths for complex factors here; test_linalg.py compares those with the inverse
@samples("cholesky_inverse", dtypes="float64 float32 float16 bfloat16 int64")
def from_factor(m):
    yield (lower(m, 3, 3),)
    yield (lower(m, 2, 3, 3),)
    yield (m(2, 3),)


@samples("triangular_solve", dtypes=FLOATS)
def triangular(m):
    yield m(3, 2), regular(m, 3, 3)
    yield m(3, 2), regular(m, 2, 3, 3), False
    yield m(3, 2), regular(m, 3, 3), True, True
    yield m(3, 2), regular(m, 3, 3), False, False, True
    yield m(2, 2), regular(m, 3, 3)


@samples("linalg_solve_triangular", dtypes=FLOATS)
def triangles(m):
    yield regular(m, 3, 3), m(3, 2), K(upper=True)
    yield regular(m, 2, 3, 3), m(3, 2), K(upper=False)
    yield regular(m, 8, 1, 2, 2), m(3, 2, 1), K(upper=True)
    yield regular(m, 3, 3), m(2, 3), K(upper=False, left=False)
    yield regular(m, 3, 3), m(3, 2), K(upper=True, unitriangular=True)
    yield regular(m, 3, 3), m(2, 2), K(upper=True)
    yield regular(m, 3, 3), m(3), K(upper=True)


@samples("linalg_solve", "linalg_solve_ex", dtypes=FLOATS)
def equations(m):
    yield regular(m, 3, 3), m(3)
    yield regular(m, 3, 3), m(3, 2)
    yield regular(m, 2, 3, 3), m(2, 3)
    yield regular(m, 2, 3, 3), m(3, 2)
    yield regular(m, 3, 3), m(2, 3), K(left=False)
    yield regular(m, 3, 3), m(2)
    yield m(2, 3), m(2)


@samples("linalg_inv", "linalg_inv_ex", "inverse", "linalg_det", "det", "linalg_slogdet", "slogdet", "logdet", dtypes=FLOATS)
def squares(m):
    yield (regular(m, 3, 3),)
    yield (regular(m, 2, 3, 3),)
    if m.dtype in PRECISE:
        yield (m(2, 0, 0),)
    yield (m(2, 3),)
    yield (m(3),)


@samples("linalg_lu_factor", "linalg_lu_factor_ex", "linalg_lu", "lu", dtypes=FLOATS)
def factors(m):
    yield (m(3, 3),)
    yield (m(2, 3, 4),)
    yield (m(4, 2),)
    yield m(3, 3), K(pivot=False)
    yield (m(3),)


def _packed(m, *shape):
    return regular(m, *shape), Arg(_exchanges(shape), False)


def _exchanges(shape):
    import numpy as np
    n = shape[-1]
    return np.broadcast_to(np.minimum(np.arange(n) + 2, n), shape[:-1]).astype("int32").copy()


@samples("linalg_lu_solve", dtypes=FLOATS)
def packed_equations(m):
    yield *_packed(m, 3, 3), m(3, 2)
    yield *_packed(m, 2, 3, 3), m(3, 2), K(adjoint=True)
    yield *_packed(m, 3, 3), m(2, 3), K(left=False)
    yield *_packed(m, 3, 3), m(2, 3), K(left=False, adjoint=True)
    yield *_packed(m, 3, 3), m(2, 2)


@samples("lu_solve", dtypes=FLOATS)
def old_packed(m):
    yield m(3, 2), *_packed(m, 3, 3)
    yield m(2, 3, 2), *_packed(m, 2, 3, 3)


@samples("lu_unpack", dtypes=TWO)
def unpacked(m):
    yield _packed(m, 3, 3)
    yield *_packed(m, 3, 3), K(unpack_pivots=False)
    yield *_packed(m, 3, 3), K(unpack_data=False)


@samples("linalg_lstsq", dtypes=FLOATS)
def least(m):
    yield m(5, 3), m(5, 2)
    yield m(3, 5), m(3, 2)
    yield m(2, 5, 3), m(2, 5)
    yield m(5, 3), m(5, 2), K(driver="gelsd")
    yield m(5, 3), m(5, 2), K(driver="gels")
    yield m(5, 3), m(4, 2)


@samples("linalg_qr", dtypes=FLOATS)
def orthogonal(m):
    yield (m(4, 3),)
    yield (m(2, 3, 4),)
    yield m(3, 3), "complete"
    yield m(4, 3), "complete"
    yield m(4, 3), "r"
    yield (m(0, 3),)
    yield m(3, 3), "x"
    yield (m(3),)


@samples("qr", dtypes=FLOATS)
def old_orthogonal(m):
    yield (m(4, 3),)
    yield m(3, 3), False


@samples("geqrf", dtypes=FLOATS)
def reflected(m):
    yield (m(4, 3),)
    yield (m(2, 3, 4),)
    yield (m(3),)


@samples("linalg_householder_product", "orgqr", dtypes=FLOATS)
def reflections(m):
    yield m(4, 3), m(3)
    yield m(2, 4, 3), m(2, 2)
    yield m(3, 4), m(3)
    yield m(4, 3), m(4)


@samples("ormqr", dtypes=TWO)
def times_reflections(m):
    yield m(4, 3), m(3), m(4, 2)
    yield m(4, 3), m(3), m(2, 4), False
    yield m(4, 4), m(4), m(4, 2), True, True
    yield m(4, 3), m(3), m(3, 2)


@samples("linalg_svd", "svd", "svd_lowrank", "pca_lowrank", dtypes=TWO, values=False, grad=False)
def singular_vectors(m):
    yield (m(6, 7),)
    yield (m(2, 7, 6),)


@samples("linalg_eigh", dtypes=TWO, values=False, grad=False)
def hermitian_vectors(m):
    yield (positive(m, 3, 3),)
    yield positive(m, 2, 3, 3), "U"
    yield (m(2, 3),)


@samples("linalg_eig", dtypes=TWO, values=False, grad=False)
def vectors(m):
    yield (m(3, 3),)
    yield (m(2, 3),)


@samples("linalg_eigvalsh", dtypes=FLOATS)
def hermitian_values(m):
    yield (positive(m, 3, 3),)
    yield positive(m, 2, 3, 3), "U"
    yield positive(m, 3, 3), "x"
    yield (m(2, 3),)


@samples("linalg_eigvals", dtypes=FLOATS, values=False, grad=False)
def general_values(m):
    yield (m(3, 3),)


@samples("linalg_svdvals", dtypes=FLOATS)
def singular_values(m):
    yield (m(3, 4),)
    yield (m(2, 4, 3),)
    if m.dtype in PRECISE:
        yield (m(0, 3),)
    yield (m(3),)


@samples("linalg_pinv", dtypes=FLOATS)
def pseudo(m):
    yield (m(3, 4),)
    yield (m(2, 4, 3),)
    yield m(3, 3), K(rtol=1e-3)
    yield positive(m, 3, 3), K(hermitian=True)
    yield m(3, 3), 1e-3
    yield m(2, 3, 3), K(atol=m.fixed("float64", 2, low=0.01, high=0.02))
    yield (m(0, 3),)
    yield (m(3),)


@samples("pinverse", dtypes=FLOATS)
def old_pseudo(m):
    yield (m(3, 4),)


@samples("linalg_matrix_rank", dtypes=FLOATS)
def ranks(m):
    yield (m(3, 4),)
    yield (singular(m, 3),)
    yield m(2, 3, 3), 1.5
    yield positive(m, 3, 3), K(hermitian=True, atol=0.1)
    yield (m(3),)


@samples("linalg_cond", dtypes=FLOATS)
def conditions(m):
    for p in (None, 2, -2):
        yield m(3, 4), p
    for p in ("fro", "nuc", 1, -1, float("inf"), float("-inf")):
        yield regular(m, 3, 3), p
    if m.dtype in PRECISE:
        yield m(2, 0, 0), 1
    yield m(2, 3), 1
    yield m(3, 3), "x"
    yield (m(3),)


@samples("linalg_matrix_norm")
def matrix_norms(m):
    for p in ("fro", "nuc", 1, -1, 2, -2, float("inf"), float("-inf")):
        yield m(3, 4), p
    yield m(2, 3, 4), "nuc", (0, 2), True
    yield m(2, 3, 4), 1, (2, 0), True
    yield m(3, 4), 3
    yield m(3, 4), "fro", (0, 0)
    yield (m(3),)


@samples("linalg_norm", "linalg_vector_norm")
def norms(m):
    yield (m(3, 4),)
    yield m(3, 4), 3, 1
    yield m(3), 1
    yield m(3, 4), float("inf"), 0, True
    yield m(2, 3, 4), 2, (0, 2)
    yield m(0), -1
    yield m(3, 4), 2, 5


@samples("nuclear_norm", dtypes=TWO)
def nuclear(m):
    yield (m(3, 4),)
    yield m(2, 3, 4), (0, 1), True


@samples("frobenius_norm", dtypes=TWO)
def frobenius(m):
    yield m(3, 4), (0, 1)
    yield m(3, 4), 1, True


@samples("matrix_power", "linalg_matrix_power")
def powers(m):
    for n in (0, 1, 2, 5):
        yield m(2, 3, 3), n
    yield regular(m, 3, 3), -2
    yield m(2, 3), 2


@samples("matrix_exp", "linalg_matrix_exp", dtypes="float64 complex128 float32 complex64 int64")
def exponentials(m):
    yield (m(3, 3),)
    yield (m(2, 2, 2, low=-20, high=20),)
    yield (m(2, 0, 0),)
    yield (m(2, 3),)


@samples("linalg_multi_dot", dtypes=FLOATS)
def chains(m):
    yield ([m(2, 3), m(3, 4), m(4, 2)],)
    yield ([m(3), m(3, 4), m(4)],)
    yield ([m(2, 3), m(3)],)
    yield ([m(2, 3)],)
    yield ([m(2, 3), m(2, 3)],)


@samples("linalg_vecdot")
def dots(m):
    yield m(2, 3), m(2, 3)
    yield m(2, 3), m(2, 1), K(dim=0)
    yield m(2, 3), m(3, 3)


@samples("linalg_cross")
def crosses(m):
    yield m(2, 3), m(2, 3)
    yield m(3, 2), m(3, 2), K(dim=0)
    yield m(2, 3), m(1, 3)
    yield m(2, 2), m(2, 2)


@samples("linalg_diagonal")
def diagonals(m):
    yield (m(2, 3, 4),)
    yield m(3, 4), K(offset=1)
    yield (m(3),)


@samples("linalg_vander")
def vandermonde(m):
    yield (m(3),)
    yield m(2, 3), K(N=4)
    yield m(3), K(N=1)


@samples("vander")
def old_vandermonde(m):
    yield (m(3),)
    yield m(3), 2, True
    yield m(3), 0
    yield (m(2, 3),)


@samples("linalg_tensorinv", dtypes=FLOATS)
def tensor_inverses(m):
    yield (m(2, 3, 6),)
    yield m(4, 2, 2), K(ind=1)
    yield m(2, 3, 4), K(ind=1)
    yield m(2, 2, 4), K(ind=0)


@samples("linalg_tensorsolve", dtypes=FLOATS)
def tensor_equations(m):
    yield m(2, 3, 6), m(2, 3)
    yield m(2, 6, 3), m(2, 3), (1,)
    yield m(2, 3, 4), m(2)
