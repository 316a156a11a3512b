"""Ready-made parametrizations: weight norm, spectral norm, orthogonal matrices."""

from ... import ops
from ...core.dtype import finfo
from ...core.modes import no_grad
from ...core.tensor import Tensor
from .. import functional as F
from ..modules.conv import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from ..modules.module import Module
from . import parametrize
from .weight_norm import norm_except_dim

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]


def _tensor_of(module, name):
    value = getattr(module, name, None)
    if not isinstance(value, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    return value


class _WeightNorm(Module):
    """Magnitude and direction to weight."""

    def __init__(self, dim=0):
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g, weight_v):
        return weight_v * (weight_g / norm_except_dim(weight_v, self.dim))

    def right_inverse(self, weight):
        """The two parts of a weight."""
        return norm_except_dim(weight, self.dim), weight


def weight_norm(module, name="weight", dim=0):
    """Splits a weight into magnitude (one for each index of `dim`, or one for None) and direction."""
    parametrize.register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def rename(state_dict, prefix, *unused):
        keys = [f"{prefix}{name}_g", f"{prefix}{name}_v"]  # names of the hook form
        if all(key in state_dict for key in keys):
            for at, key in enumerate(keys):
                state_dict[f"{prefix}parametrizations.{name}.original{at}"] = state_dict.pop(key)

    module._register_load_state_dict_pre_hook(rename)
    return module


class _SpectralNorm(Module):
    """The weight over an estimate of its largest singular value."""

    def __init__(self, weight, n_power_iterations=1, dim=0, eps=1e-12):
        super().__init__()
        dims = weight.ndim
        if dim >= dims or dim < -dims:
            raise IndexError(f"Dimension out of range (expected to be in range of [-{dims}, {dims - 1}] but got {dim})")
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.dim = dim % dims
        self.eps = eps
        if dims == 1:
            return
        self.n_power_iterations = n_power_iterations
        with no_grad():
            matrix = self._as_matrix(weight)
            rows, columns = matrix.size()
            u, v = matrix.new_empty(rows).normal_(0, 1), matrix.new_empty(columns).normal_(0, 1)
            self.register_buffer("_u", F.normalize(u, dim=0, eps=eps))
            self.register_buffer("_v", F.normalize(v, dim=0, eps=eps))
        self._power_method(matrix, 15)

    def _as_matrix(self, weight):
        if self.dim != 0:
            weight = weight.permute(self.dim, *(d for d in range(weight.dim()) if d != self.dim))
        return weight.flatten(1)

    @no_grad()
    def _power_method(self, matrix, iterations):
        for _ in range(iterations):
            self._u.copy_(F.normalize(ops.mv(matrix, self._v), dim=0, eps=self.eps))
            self._v.copy_(F.normalize(ops.mv(matrix.mH, self._u), dim=0, eps=self.eps))

    def forward(self, weight):
        if weight.ndim == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = self._as_matrix(weight)
        if self.training:
            self._power_method(matrix, self.n_power_iterations)
        # copies, so that the next call does not change what this call's backward needs
        u, v = self._u.clone(), self._v.clone()
        return weight / ops.vdot(u, ops.mv(matrix, v))

    def right_inverse(self, value):
        """The value itself, taken to be normalized already."""
        return value


def spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    """Divides a weight by its largest singular value."""
    weight = _tensor_of(module, name)
    if dim is None:
        dim = 1 if isinstance(module, (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)) else 0
    parametrize.register_parametrization(module, name, _SpectralNorm(weight, n_power_iterations, dim, eps))
    return module


def _is_orthogonal(q):
    n, k = q.size(-2), q.size(-1)
    identity = ops.eye(k, dtype=q.dtype, device=q.device)
    return ops.allclose(q.mH @ q, identity, atol=10.0 * n * finfo(q.dtype).eps)


def _make_orthogonal(a):
    from ...linalg import householder_product

    x, tau = ops.geqrf(a)
    signs = x.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)  # makes the diagonal of R positive
    return householder_product(x, tau) * signs


class _Orthogonal(Module):
    """Any matrix to an orthogonal one, by matrix exponential, Cayley map or Householder reflections."""

    def __init__(self, weight, orthogonal_map, *, use_trivialization=True):
        super().__init__()
        if weight.is_complex() and orthogonal_map == "householder":
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.shape = weight.shape
        self.orthogonal_map = orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, x):
        wide = x.size(-2) < x.size(-1)
        if wide:
            x = x.mT
        q = self._householder(x) if self.orthogonal_map == "householder" else self._from_skew(x)
        if hasattr(self, "base"):
            q = self.base @ q
        return q.mT if wide else q

    def _from_skew(self, x):
        from ...linalg import matrix_exp, solve

        n, k = x.size(-2), x.size(-1)
        x = x.tril()
        if n != k:
            x = ops.cat([x, x.new_zeros(n, n - k).expand(*x.shape[:-2], -1, -1)], dim=-1)
        skew = x - x.mH
        if self.orthogonal_map == "matrix_exp":
            q = matrix_exp(skew)
        else:
            identity = ops.eye(n, dtype=skew.dtype, device=skew.device)
            q = solve(identity - skew * 0.5, identity + skew * 0.5)
        return q[..., :k] if n != k else q

    def _householder(self, x):
        from ...linalg import householder_product

        a = x.tril(diagonal=-1)
        tau = 2.0 / (1.0 + (a * a).sum(dim=-2))
        # the signs are no function to differentiate, hence the cast
        return householder_product(a, tau) * x.diagonal(dim1=-2, dim2=-1).int().unsqueeze(-2)

    @no_grad()
    def right_inverse(self, q):
        """Where the map starts from to give `q`. Raises ValueError for another shape."""
        if q.shape != self.shape:
            raise ValueError(
                f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of shape {q.shape}."
            )
        wide = q.size(-2) < q.size(-1)
        tall = q.mT if wide else q
        if hasattr(self, "base"):
            self.base = self._completed(tall)
            negative = ops.zeros_like(q)
            negative.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
            return negative
        if self.orthogonal_map != "householder":
            raise NotImplementedError(
                "It is not possible to assign to the matrix exponential "
                "or the Cayley parametrizations when use_trivialization=False."
            )
        a, tau = ops.geqrf(tall)
        diagonal = a.diagonal(dim1=-2, dim2=-1)
        signs = diagonal.sign()
        diagonal.copy_(ops.where(tau == 0.0, -signs, signs))
        return a.mT if wide else a

    def _completed(self, tall):
        n, k = tall.size(-2), tall.size(-1)
        if n == k:
            return tall.clone() if _is_orthogonal(tall) else _make_orthogonal(tall)
        more = ops.randn((*tall.size()[:-2], n, n - k), dtype=tall.dtype, device=tall.device)
        return _make_orthogonal(ops.cat([tall, more], dim=-1))


def orthogonal(module, name="weight", orthogonal_map=None, *, use_trivialization=True):
    """Keeps a matrix orthogonal; `orthogonal_map` is 'matrix_exp', 'cayley' or 'householder'."""
    weight = _tensor_of(module, name)
    if weight.ndim < 2:
        raise ValueError(f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions.")
    if orthogonal_map is None:
        square = weight.size(-2) == weight.size(-1) or weight.is_complex()
        orthogonal_map = "matrix_exp" if square else "householder"
    if orthogonal_map not in ("matrix_exp", "cayley", "householder"):
        raise ValueError(
            f'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: {orthogonal_map}'
        )
    made = _Orthogonal(weight, orthogonal_map, use_trivialization=use_trivialization)
    parametrize.register_parametrization(module, name, made, unsafe=True)
    return module
