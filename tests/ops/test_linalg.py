"""Linear algebra where torch's numbers are not unique: factorisations multiplied out again, gradients of functions that do
not depend on signs or phases, singular matrices, and the texts of errors."""
import warnings

import numpy as np
import pytest

import nbtorch

L = nbtorch.linalg
KINDS = ("float32", "float64", "complex64", "complex128")
CLOSE = {"float32": 1e-5, "complex64": 1e-5, "float64": 1e-12, "complex128": 1e-12}


def matrix(kind, *shape, seed=0):
    """A random array."""
    random = np.random.RandomState(seed)
    a = random.randn(*shape)
    return (a + 1j * random.randn(*shape) if kind.startswith("complex") else a).astype(kind)


def hermitian(kind, *shape):
    a = matrix(kind, *shape)
    return a @ a.swapaxes(-1, -2).conj() + np.eye(shape[-1], dtype=kind)


def near(a, b, kind):
    a = a.numpy() if isinstance(a, nbtorch.Tensor) else a
    assert a.shape == b.shape
    np.testing.assert_allclose(a, b, rtol=CLOSE[kind] * 20, atol=CLOSE[kind] * 20)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(4, 4), (5, 3), (3, 5), (2, 3, 5), (2, 2, 5, 3)])
def test_singular_values_multiply_out(kind, shape):
    a = matrix(kind, *shape)
    k = min(shape[-2:])
    U, S, Vh = L.svd(nbtorch.tensor(a), full_matrices=False)
    near(U @ S.to(U.dtype).diag_embed() @ Vh, a, kind)
    near(U.mH @ U, np.broadcast_to(np.eye(k, dtype=kind), (*shape[:-2], k, k)), kind)
    assert (S[..., :-1] >= S[..., 1:]).all()
    U, S, Vh = L.svd(nbtorch.tensor(a))
    assert U.shape == (*shape[:-2], shape[-2], shape[-2]) and Vh.shape == (*shape[:-2], shape[-1], shape[-1])
    near(U[..., :k] @ S.to(U.dtype).diag_embed() @ Vh[..., :k, :], a, kind)


@pytest.mark.parametrize("kind", KINDS)
def test_eigenvectors_satisfy_their_equation(kind):
    a, h = matrix(kind, 2, 4, 4), hermitian(kind, 2, 4, 4)
    values, vectors = L.eigh(nbtorch.tensor(h))
    near(vectors @ values.to(vectors.dtype).diag_embed() @ vectors.mH, h, kind)
    values, vectors = L.eig(nbtorch.tensor(a))
    whole = nbtorch.tensor(a).to(vectors.dtype)
    near(whole @ vectors, (vectors * values.unsqueeze(-2)).numpy(), kind)
    near(L.eigvals(nbtorch.tensor(a)).sum(-1), np.trace(a, axis1=-2, axis2=-1).astype(values.numpy().dtype), kind)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(4, 4), (5, 3), (2, 3, 5)])
def test_lu_multiplies_out_in_every_form(kind, shape):
    a = matrix(kind, *shape)
    P, lower, U = L.lu(nbtorch.tensor(a))
    near(P @ lower @ U, a, kind)
    P, lower, U = nbtorch.lu_unpack(*L.lu_factor(nbtorch.tensor(a)))
    near(P @ lower @ U, a, kind)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("upper", (False, True))
def test_cholesky_inverse_is_the_inverse(kind, upper):
    h = hermitian(kind, 2, 3, 3)
    near(nbtorch.cholesky_inverse(L.cholesky(nbtorch.tensor(h), upper=upper), upper), np.linalg.inv(h), kind)


@pytest.mark.parametrize("kind", KINDS)
def test_reflections_rebuild_q(kind):
    a = matrix(kind, 5, 3)
    packed, tau = nbtorch.geqrf(nbtorch.tensor(a))
    near(L.householder_product(packed, tau) @ packed[:3].triu(), a, kind)
    near(nbtorch.ormqr(packed, tau, nbtorch.tensor(matrix(kind, 5, 2, seed=1))),
         np.linalg.qr(a, mode="complete")[0] @ matrix(kind, 5, 2, seed=1), kind)


@pytest.mark.parametrize("kind", KINDS)
def test_exponential_of_large_and_tiny_matrices(kind):
    from scipy.linalg import expm
    for scale in (1e-8, 1.0, 10.0):
        a = np.stack([matrix(kind, 4, 4), matrix(kind, 4, 4, seed=1) * 1e-3]) * scale
        wanted = np.stack([expm(x.astype("complex128")) for x in a])
        size = np.abs(wanted).max((-2, -1), keepdims=True)
        np.testing.assert_allclose(L.matrix_exp(nbtorch.tensor(a)).numpy() / size, wanted / size, atol=CLOSE[kind] * 30)


def test_products_of_low_rank_are_found_by_projection():
    nbtorch.manual_seed(0)
    a = matrix("float64", 30, 4) @ matrix("float64", 4, 20)
    for x in (a, a.T.copy()):
        U, S, V = nbtorch.svd_lowrank(nbtorch.tensor(x), q=5)
        near((U * S) @ V.mH, x, "float64")
        U, S, V = nbtorch.pca_lowrank(nbtorch.tensor(x), q=5)
        near((U * S) @ V.mH, x - x.mean(0), "float64")


# ---- gradients that do not depend on signs and phases

def _projectors(T, vectors, weights):
    """Something made of |v><v|, which no sign or phase changes."""
    outer = vectors.unsqueeze(-2) * vectors.conj().unsqueeze(-3)
    return ((outer * weights).abs() ** 2).sum()


def _from_svd(T, x, w):
    U, S, Vh = T.linalg.svd(x, full_matrices=False)
    return (U @ (S * w).to(U.dtype).diag_embed() @ Vh).abs().square().sum() + ((U * w) @ Vh).abs().sum()


def _from_full_svd(T, x, w):
    U, S, Vh = T.linalg.svd(x)
    return S.pow(3).sum() + (U[..., :3] * w @ Vh[..., :3, :]).abs().square().mul(1.5).sin().sum()


def _from_eigh(T, x, w):
    values, vectors = T.linalg.eigh(x @ x.mH)
    return ((vectors * (values.sin() * w).unsqueeze(-2)) @ vectors.mH).abs().square().sum() + _projectors(T, vectors, w)


def _from_eig(T, x, w):
    values, vectors = T.linalg.eig(x[..., :3, :3])
    return (values * values * w).sum().abs() + _projectors(T, vectors, w)


INVARIANT = {
    "svd": _from_svd, "svd_full": _from_full_svd, "eigh": _from_eigh, "eig": _from_eig,
    "eigvals": lambda T, x, w: (T.linalg.eigvals(x[..., :3, :3]) ** 3).sum().abs(),
    "eigvalsh": lambda T, x, w: (T.linalg.eigvalsh(x @ x.mH) * w).sin().sum(),
    "nuclear": lambda T, x, w: T.linalg.matrix_norm(x, "nuc").sin().sum(),
    "old svd": lambda T, x, w: T.svd(x)[1].cos().sum(),
}


@pytest.mark.oracle
@pytest.mark.parametrize("kind", ("float64", "complex128"))
@pytest.mark.parametrize("shape", [(3, 3), (2, 3, 4)])
@pytest.mark.parametrize("name", sorted(INVARIANT))
def test_gradients_to_second_order(oracle, name, kind, shape):
    found = []
    for T in (nbtorch, oracle):
        x = T.tensor(matrix(kind, *shape, seed=3), requires_grad=True)
        w = T.tensor(np.arange(1.0, 4.0))
        first, = T.autograd.grad(INVARIANT[name](T, x, w), x, create_graph=True)
        second, = T.autograd.grad((first.abs().square()).sum(), x)
        found.append((first.detach().numpy(), second.numpy()))
    for ours, theirs in zip(*found):
        np.testing.assert_allclose(ours, theirs, rtol=1e-7, atol=1e-7 * np.abs(theirs).max())


@pytest.mark.oracle
@pytest.mark.parametrize("kind", ("float64", "complex128"))
def test_determinant_of_singular_matrices_has_both_derivatives(oracle, kind):
    a = matrix(kind, 3, 3)
    a[2] = a[0] + a[1]
    a = np.stack([a, np.zeros_like(a), matrix(kind, 3, 3, seed=1)])
    a[1, 0, 0] = 2

    def cofactors(x):
        out = np.empty_like(x)
        for i in range(3):
            for j in range(3):
                minor = np.delete(np.delete(x, i, -2), j, -1)
                out[..., i, j] = (-1) ** (i + j) * (minor[..., 0, 0] * minor[..., 1, 1] - minor[..., 0, 1] * minor[..., 1, 0])
        return out
    x = nbtorch.tensor(a, requires_grad=True)
    first, = nbtorch.autograd.grad(L.det(x).real.sum() if x.is_complex() else L.det(x).sum(), x, create_graph=True)
    np.testing.assert_allclose(first.detach().numpy(), cofactors(a).conj(), atol=1e-12)
    w = matrix(kind, 3, 3, 3, seed=5)
    second, = nbtorch.autograd.grad(first, x, nbtorch.tensor(w))
    step, d = 1e-6, matrix(kind, 3, 3, 3, seed=6)
    slope = (cofactors(a + step * d) - cofactors(a - step * d)).conj() / (2 * step)
    np.testing.assert_allclose((second.numpy().conj() * d).sum().real, (w.conj() * slope).sum().real, rtol=1e-6)


@pytest.mark.parametrize("name", ("svd", "eigh", "eig"))
def test_a_loss_that_depends_on_the_phase_is_refused(name):
    x = nbtorch.tensor(hermitian("complex128", 3, 3), requires_grad=True)
    vectors = getattr(L, name)(x)[0 if name == "svd" else 1]
    with pytest.raises(RuntimeError, match="specified up to multiplication by e"):
        vectors.imag.sum().backward() if name != "eig" else (vectors * 1j).real.sum().backward()


# ---- errors

SINGULAR = {
    "inv": lambda T: T.linalg.inv(T.zeros(2, 2)),
    "inv of a batch": lambda T: T.linalg.inv(T.stack([T.eye(2), T.ones(2, 2)])),
    "inverse": lambda T: T.inverse(T.ones(2, 2)),
    "inv_ex": lambda T: T.linalg.inv_ex(T.zeros(2, 2), check_errors=True),
    "solve": lambda T: T.linalg.solve(T.ones(2, 2), T.ones(2)),
    "solve a batch": lambda T: T.linalg.solve(T.stack([T.eye(2), T.zeros(2, 2)]), T.ones(2, 2)),
    "solve_ex": lambda T: T.linalg.solve_ex(T.ones(2, 2), T.ones(2), check_errors=True),
    "cholesky": lambda T: T.linalg.cholesky(T.tensor([[1.0, 2], [2, 1]])),
    "cholesky of a batch": lambda T: T.linalg.cholesky(T.stack([T.eye(2), -T.eye(2)])),
    "old cholesky": lambda T: T.cholesky(T.zeros(2, 2)),
    "cholesky_ex": lambda T: T.linalg.cholesky_ex(T.zeros(2, 2), check_errors=True),
    "cholesky_inverse": lambda T: T.cholesky_inverse(T.zeros(2, 2)),
    "matrix_power": lambda T: T.linalg.matrix_power(T.zeros(2, 2), -2),
    "tensorinv": lambda T: T.linalg.tensorinv(T.zeros(2, 2, 2, 2)),
    "svd": lambda T: T.linalg.svd(T.full((2, 2), float("nan"))),
    "lu_factor": lambda T: T.linalg.lu_factor(T.zeros(3, 2, 2)),
    "lu_factor_ex": lambda T: T.linalg.lu_factor_ex(T.zeros(2, 2), check_errors=True),
}


@pytest.mark.oracle
@pytest.mark.parametrize("name", sorted(SINGULAR))
def test_singular_matrices_get_torchs_error(oracle, name):
    with pytest.raises(RuntimeError) as theirs:
        SINGULAR[name](oracle)
    with pytest.raises(RuntimeError) as ours:
        SINGULAR[name](nbtorch)
    assert str(ours.value).splitlines()[0] == str(theirs.value).splitlines()[0]
    assert isinstance(ours.value, L.LinAlgError) == isinstance(theirs.value, oracle.linalg.LinAlgError)


REFUSED = [(name, argument)
           for name in ("cholesky", "qr", "svd", "eigh", "eigvalsh", "eig", "inv", "pinv", "det", "slogdet", "cond",
                        "matrix_rank", "lu", "lu_factor", "vector_norm", "matrix_norm", "vander", "tensorinv")
           for argument in ("ones(2, 2, dtype=T.int64)", "ones(2, 2, dtype=T.float16)", "ones(2)", "ones(2, 3)")]


@pytest.mark.oracle
@pytest.mark.parametrize("name, argument", REFUSED)
def test_refusals_read_as_torchs(oracle, name, argument):
    answers = []
    for T in (oracle, nbtorch):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                getattr(T.linalg, name)(eval("T." + argument, {"T": T}))
                answers.append(None)
            except (RuntimeError, TypeError, IndexError) as error:
                answers.append((type(error).__name__, str(error).splitlines()[0]))
    assert answers[1] == answers[0]


@pytest.mark.oracle
def test_results_have_torchs_names(oracle):
    x, y = matrix("float64", 3, 3), matrix("float64", 3, 3)
    for name in ("svd", "qr", "eig", "eigh", "slogdet", "lu", "lu_factor", "lu_factor_ex", "inv_ex"):
        ours, theirs = getattr(L, name)(nbtorch.tensor(x)), getattr(oracle.linalg, name)(oracle.tensor(x))
        assert type(ours).__name__ == type(theirs).__name__ and type(theirs).__module__ == type(ours).__module__
        assert all(hasattr(theirs, field) for field in ours._fields) and len(ours) == len(theirs), name
    ours, theirs = L.lstsq(nbtorch.tensor(x), nbtorch.tensor(y)), oracle.linalg.lstsq(oracle.tensor(x), oracle.tensor(y))
    assert all(hasattr(theirs, field) for field in ours._fields)


def test_singular_ex_forms_report_instead_of_raising():
    X, info = L.inv_ex(nbtorch.stack([nbtorch.eye(2), nbtorch.ones(2, 2)]))
    assert info.tolist() == [0, 2] and info.dtype is nbtorch.int32
    np.testing.assert_array_equal(X[0].numpy(), np.eye(2))
    assert not X[1].isfinite().all()
    assert L.solve_ex(nbtorch.zeros(2, 2), nbtorch.ones(2)).info.item() == 1
    factor, info = L.cholesky_ex(nbtorch.tensor([[1.0, 2], [2, 1]]))
    assert info.item() == 2 and factor.tolist() == [[1, 0], [2, -3]]
