"""Linear algebra: products, powers and functions of matrices, tensors seen as matrices."""
import itertools
import math

from ..core import dtype as dt
from ..core.op import composite, op
from ..core.tensor import dim_index
from . import matmul as _products
from .linalg import (
    FP32,
    check_floats,
    check_loop,
    check_square,
    check_tensor,
    inv,
    inverse_of,
    joint_batch,
    linalg_composite,
    raise_singular,
    solve,
)
from .view import diagonal as _diagonal

# ---- powers and the exponential


def _power(A, n):
    """A to the power n by repeated squaring."""
    check_square("linalg.matrix_power", A)
    if isinstance(n, bool) or not isinstance(n, int):
        raise TypeError(f"linalg_matrix_power(): argument 'n' (position 2) must be int, not {type(n).__name__}")
    if n == 0:
        from .create import eye
        identity = eye(A.shape[-1], dtype=A.dtype, device=A.device).expand(A.shape)
        # the result of a tracked matrix stays tracked, with a gradient of zeros
        return A.clone().copy_(identity) if A.requires_grad else identity.clone()
    if n < 0:
        A, n = inv(A), -n
    result = None
    while n:
        if n & 1:
            result = A if result is None else result @ A
        n >>= 1
        A = A @ A if n else A
    return result


@composite("matrix_power(input, n: int)")
def matrix_power(input, n):
    """Square matrices to a whole power; negative powers invert.

    https://docs.pytorch.org/docs/stable/generated/torch.linalg.matrix_power.html
    """
    result = _power(input, n)
    return result.clone() if result is input else result


@linalg_composite("matrix_power(input, n: int)")
def linalg_matrix_power(input, n):
    """See torch.matrix_power.

    https://docs.pytorch.org/docs/stable/generated/torch.linalg.matrix_power.html
    """
    return matrix_power(input, n)


def _exp_grad(g, A):
    """exp of [[A^H, G], [0, A^H]] has the derivative of exp at A^H in direction G in its corner."""
    from .join import cat
    n, Ah = A.shape[-1], A.mH
    block = cat([cat([Ah, g], -1), cat([g.new_zeros(g.shape), Ah], -1)], -2)
    return _matrix_exp(block)[..., :n, n:]


_matrix_exp = op("_linalg_matrix_exp(A)", "matrix_exp", node="LinalgMatrixExp", vjp={"A": _exp_grad})


def _exponential(A):
    check_square("linalg.matrix_exp", A)
    check_floats("linalg.matrix_exp", A)
    return _matrix_exp(A)


@composite("matrix_exp(input)", out=False)
def matrix_exp(input):
    """The matrix exponential.

    https://docs.pytorch.org/docs/stable/generated/torch.linalg.matrix_exp.html
    """
    return _exponential(input)


@linalg_composite("matrix_exp(A)", out=False)
def linalg_matrix_exp(A):
    """See torch.matrix_exp.

    https://docs.pytorch.org/docs/stable/generated/torch.linalg.matrix_exp.html
    """
    return _exponential(A)


# ---- reflections

def _reflectors(v):
    """Vectors with ones on the diagonal and zeros above."""
    from .create import eye
    return v.tril(-1) + eye(v.shape[-2], v.shape[-1], dtype=v.dtype, device=v.device)


def _householder_grads(g, input, tau):
    """Backwards through Q = H_1 (H_2 (... I)): products are made again from the inside out."""
    from .create import eye
    from .join import stack
    m, n = input.shape[-2:]
    v, k = _reflectors(input), tau.shape[-1]
    columns = [v[..., i:i + 1] for i in range(k)]
    scales = [tau[..., i].unsqueeze(-1).unsqueeze(-1) for i in range(k)]
    partial = [eye(m, n, dtype=v.dtype, device=v.device).expand(input.shape)]
    for w, t in zip(columns[:0:-1], scales[:0:-1]):
        partial.append(partial[-1] - t * (w @ (w.mH @ partial[-1])))
    grad_v, grad_tau = [], []
    for w, t, Q in zip(columns, scales, partial[::-1]):
        inner, outer = w.mH @ Q, w.mH @ g
        grad_tau.append(-(inner.conj() * outer).sum(-1).squeeze(-1))
        grad_v.append(-(t.conj() * (g @ inner.mH)) - t * (Q @ outer.mH))
        g = g - t.conj() * (w @ outer)
    if not k:
        return input.new_zeros(input.shape), tau.new_zeros(tau.shape)
    grad_v = stack([x.squeeze(-1) for x in grad_v], -1).tril(-1)
    if k < n:
        from .join import cat
        grad_v = cat([grad_v, grad_v.new_zeros((*grad_v.shape[:-1], n - k))], -1)
    return grad_v, stack(grad_tau, -1)


_householder = op("_linalg_householder_product(input, tau)", "householder_product", node="LinalgHouseholderProduct",
                  vjp={("input", "tau"): _householder_grads})


def reflections(input, tau):
    """householder_product with arguments checked."""
    what = "torch.linalg.householder_product"
    check_tensor("linalg_householder_product", input=input, tau=tau)
    if input.dim() < 2:
        raise RuntimeError(f"{what}: input must have at least 2 dimensions.")
    if input.shape[-2] < input.shape[-1]:
        raise RuntimeError(f"{what}: input.shape[-2] must be greater than or equal to input.shape[-1]")
    if input.shape[-1] < tau.shape[-1]:
        raise RuntimeError(f"{what}: input.shape[-1] must be greater than or equal to tau.shape[-1]")
    if input.dim() - tau.dim() != 1:
        raise RuntimeError(f"{what}: Expected tau to have one dimension less than input, but got tau.ndim equal to "
                           f"{tau.dim()} and input.ndim is equal to {input.dim()}")
    if input.shape[:-2] != tau.shape[:-1]:
        raise RuntimeError(f"{what}: Expected batch dimensions of tau to be equal to input.shape[:-2], but got "
                           f"{list(tau.shape[:-1])}")
    if tau.dtype is not input.dtype:
        raise RuntimeError(f"{what}: tau dtype {dt.scalar_name(tau.dtype)} does not match input dtype "
                           f"{dt.scalar_name(input.dtype)}")
    check_loop("orgqr_cpu", input)
    return _householder(input, tau)


@linalg_composite("householder_product(input, tau)", amp=FP32)
def householder_product(input, tau):
    """First columns of a product of Householder reflections, as geqrf returns them.

    https://docs.pytorch.org/docs/stable/generated/torch.linalg.householder_product.html
    """
    return reflections(input, tau)


@composite("orgqr(input, input2)", amp=FP32)
def orgqr(input, input2):
    """See torch.linalg.householder_product."""
    return reflections(input, input2)


@composite("ormqr(input, tau, other, left: bool=True, transpose: bool=False)", amp=FP32)
def ormqr(input, tau, other, left, transpose):
    """Q @ other, or other @ Q, for the square Q of Householder reflections.

    https://docs.pytorch.org/docs/stable/generated/torch.ormqr.html
    """
    check_tensor("ormqr", input=input, tau=tau, other=other)
    if input.dim() < 2 or other.dim() < 2:
        raise RuntimeError(f"torch.ormqr: {'input' if input.dim() < 2 else 'other'} must have at least 2 dimensions.")
    m, side = input.shape[-2], -2 if left else -1
    if tau.shape[-1] > input.shape[-1]:
        raise RuntimeError("torch.ormqr: input.shape[-1] must be greater than or equal to tau.shape[-1]")
    if other.shape[side] != m:
        raise RuntimeError(f"torch.ormqr: other.shape[{side}] must be equal to input.shape[-2]")
    check_loop("ormqr_cpu", input)
    from .join import cat
    v = input[..., :, :m]
    if v.shape[-1] < m:
        v = cat([v, v.new_zeros((*v.shape[:-1], m - v.shape[-1]))], -1)
    Q = reflections(v, tau)
    Q = Q.mH if transpose else Q
    return Q @ other if left else other @ Q


# ---- products

@linalg_composite("multi_dot(tensors: list)", amp={"cuda": "low"})
def multi_dot(tensors):
    """A product of matrices (the first and last may be vectors), bracketed the cheapest way.

    https://docs.pytorch.org/docs/stable/generated/torch.linalg.multi_dot.html
    """
    tensors = list(tensors)
    n = len(tensors)
    if n < 2:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {n}")
    for i, t in enumerate(tensors):
        end = "first" if i == 0 else "last" if i == n - 1 else ""
        if t.dim() not in ((1, 2) if end else (2,)):
            raise RuntimeError(f"multi_dot(): the {end} tensor must be 1D or 2D but got {t.dim()}D" if end else
                               f"multi_dot(): tensor {i} must be 2D but got {t.dim()}D")
        if t.dtype is not tensors[0].dtype:
            raise RuntimeError("multi_dot(): all tensors must have be the same dtype but tensor 0 is "
                               f"{_cpp(tensors[0].dtype)} and tensor {i} {_cpp(t.dtype)}")
    first, last = tensors[0].dim() == 1, tensors[-1].dim() == 1
    if first:
        tensors[0] = tensors[0].unsqueeze(0)
    if last:
        tensors[-1] = tensors[-1].unsqueeze(-1)
    for i, (a, b) in enumerate(itertools.pairwise(tensors)):
        if a.shape[1] != b.shape[0]:
            raise RuntimeError(f"multi_dot(): tensors {i} and {i + 1} with shapes {list(a.shape)} and {list(b.shape)} "
                               "cannot be multiplied")
    result = _products.multiply_chain(tensors)
    if first and last:
        return result.reshape(())
    return result.squeeze(0) if first else result.squeeze(-1) if last else result


def _cpp(d):
    return {"float32": "float", "float64": "double", "float16": "c10::Half", "bfloat16": "c10::BFloat16",
            "int64": "long int", "int32": "int"}.get(d.name, dt.scalar_name(d))


@linalg_composite("vecdot(x, y, *, dim: int=-1)", amp="low")
def vecdot(x, y, dim):
    """Sum over a dimension of conj(x) * y.

    https://docs.pytorch.org/docs/stable/generated/torch.linalg.vecdot.html
    """
    check_tensor("linalg_vecdot", x=x, y=y)
    check_floats("linalg.vecdot", x)
    if x.dtype is not y.dtype:
        raise RuntimeError("linalg.vecdot: Expected x and y to have the same dtype, but found x of type "
                           f"{dt.scalar_name(x.dtype)} and y of type {dt.scalar_name(y.dtype)} instead")
    shape = joint_batch(x.shape, y.shape)
    dim = dim_index(dim, len(shape))
    if not shape:
        return x.conj() * y
    x, y = (t.expand(shape).movedim(dim, -1) for t in (x, y))
    return (x.conj().unsqueeze(-2) @ y.unsqueeze(-1)).squeeze(-1).squeeze(-1)


@linalg_composite("cross(input, other, *, dim: int=-1)", amp={"cuda": "promote"})
def linalg_cross(input, other, dim):
    """Cross product of 3-vectors along a dimension.

    https://docs.pytorch.org/docs/stable/generated/torch.linalg.cross.html
    """
    check_tensor("linalg_cross", input=input, other=other)
    if input.dim() == other.dim() and input.dim():
        sizes = [t.shape[dim_index(dim, t.dim())] for t in (input, other)]
        if sizes != [3, 3]:
            raise RuntimeError(f"linalg.cross: inputs dimension {dim} must have length 3. Got {sizes[0]} and {sizes[1]}")
    return _products.cross(input, other, dim)


@linalg_composite("diagonal(A, *, offset: int=0, dim1: int=-2, dim2: int=-1)", out=False)
def linalg_diagonal(A, offset, dim1, dim2):
    """A view of the diagonals of matrices.

    https://docs.pytorch.org/docs/stable/generated/torch.linalg.diagonal.html
    """
    check_tensor("linalg_diagonal", A=A)
    return _diagonal(A, offset, dim1, dim2)


# ---- Vandermonde matrices

def _powers(x, n):
    from .join import cat
    x = x.unsqueeze(-1)
    ones = x.new_ones(x.shape)
    if n <= 1:
        return ones[..., :n]
    return cat([ones, x.expand(*x.shape[:-1], n - 1).cumprod(-1)], -1)


@linalg_composite("vander(x, *, N=None)", out=False)
def linalg_vander(x, N):
    """Rows of powers 0 to N-1 of x.

    https://docs.pytorch.org/docs/stable/generated/torch.linalg.vander.html
    """
    check_tensor("linalg_vander", x=x)
    if x.dtype.category == 0 or x.dtype.category >= 2 and x.dtype.itemsize == 2:
        raise RuntimeError("linalg.vander supports floating point, complex, and integer tensors, but got "
                           f"{dt.scalar_name(x.dtype)}")
    x = x.reshape(1) if not x.dim() else x
    n = x.shape[-1] if N is None else N
    if n <= 1:
        raise RuntimeError("N must be greater than 1.")
    return _powers(x, n)


@composite("vander(x, N=None, increasing: bool=False)", on="torch", out=False)
def vander(x, N, increasing):
    """Rows of powers of a vector, highest first unless `increasing`.

    https://docs.pytorch.org/docs/stable/generated/torch.vander.html
    """
    if x.dim() != 1:
        raise RuntimeError("x must be a one-dimensional tensor.")
    n = x.shape[0] if N is None else N
    if n < 0:
        raise RuntimeError("N must be non-negative.")
    result = _powers(x.long() if x.dtype.category < 2 else x, n)
    return result if increasing else result.flip(-1)


# ---- tensors as matrices

@linalg_composite("tensorinv(input, ind: int=2)", amp=FP32)
def tensorinv(input, ind):
    """Inverse of a tensor seen as a matrix from its last dimensions to its first `ind`.

    https://docs.pytorch.org/docs/stable/generated/torch.linalg.tensorinv.html
    """
    check_tensor("linalg_tensorinv", input=input)
    if ind <= 0:
        raise RuntimeError(f"Expected a strictly positive integer for 'ind', but got {ind}")
    if ind > input.dim():
        raise RuntimeError(f"ArrayRef: invalid slice, N = {ind}; size = {input.dim()}")
    head, tail = tuple(input.shape[:ind]), tuple(input.shape[ind:])
    if math.prod(head) != math.prod(tail):
        raise RuntimeError("Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but "
                           f"got {math.prod(tail)} != {math.prod(head)}")
    inverse, info = inverse_of(input.reshape(math.prod(tail), math.prod(head)))
    raise_singular("inv", info)
    return inverse.reshape(tail + head)


@linalg_composite("tensorsolve(input, other, dims=None)", amp=FP32)
def tensorsolve(input, other, dims):
    """X with tensordot(input, X, X.ndim) = other; `dims` of input are moved to its end first.

    https://docs.pytorch.org/docs/stable/generated/torch.linalg.tensorsolve.html
    """
    check_tensor("linalg_tensorsolve", input=input, other=other)
    if dims is not None:
        dims = (dims,) if isinstance(dims, int) else tuple(dims)
        input = input.movedim(dims, tuple(range(input.dim() - len(dims), input.dim())))
    shape = tuple(input.shape[other.dim():])
    rows, columns = math.prod(input.shape[:other.dim()]), math.prod(shape)
    if rows != columns:
        raise RuntimeError("Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == "
                           f"prod(self.shape[:other.ndim]), but got {columns} != {rows}")
    return solve(input.reshape(columns, columns), other.flatten()).reshape(shape)
