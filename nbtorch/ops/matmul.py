"""Matrix and vector products, and the composites that choose among them."""
import math

from ..core import dtype as dt
from ..core.op import alias, composite, op
from ..core.tensor import Tensor, dim_index
from . import rules
from .pointwise import mul
from .view import broadcast_shapes, transpose

_LOW = "low"
_CUDA_LOW = {"cuda": "low"}


def _matrices(name, da, db):
    def check(input, other):
        if isinstance(other, Tensor) and input._a.ndim == da and other._a.ndim == db:
            return _check_inner(name, input._a.shape, other._a.shape)
        for what, t, d in (
            ("self", input, da),
            ("mat2" if name == "mm" else "batch2" if name == "bmm" else "vec", other, db),
        ):
            if not isinstance(t, Tensor):
                raise TypeError(f"{name}(): argument '{what}' must be Tensor, not {type(t).__name__}")
            if t._a.ndim != d:
                what = "batch1" if name == "bmm" and what == "self" else what
                raise RuntimeError(
                    f"{what} must be a matrix"
                    if name == "mm"
                    else f"{what} must be a {d}D tensor"
                    if name == "bmm"
                    else f"vector + matrix @ vector expected, got 1, {input._a.ndim}, {other._a.ndim}"
                )
    return check


def _check_inner(name, a, b):
    if name == "mm" and a[1] != b[0]:
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({a[0]}x{a[1]} and {b[0]}x{b[1]})")
    if name == "bmm" and (a[0] != b[0] or a[2] != b[1]):
        raise RuntimeError(f"Expected size for first two dimensions of batch2 tensor to be: [{a[0]}, {a[2]}] but got: "
                           f"[{b[0]}, {b[1]}].")
    if name == "mv" and a[1] != b[0]:
        raise RuntimeError(f"size mismatch, got input ({a[0]}), mat ({a[0]}x{a[1]}), vec ({b[0]})")


_refuse_mm = _matrices("mm", 2, 2)


def _check_mm(input, mat2):
    a, b = input._a.shape, getattr(mat2, "_a", input._a).shape
    if len(a) != 2 or len(b) != 2 or a[1] != b[0]:
        _refuse_mm(input, mat2)


mm = op("mm(input, mat2)", "mm", rule=rules.must_match("mm"), amp=_LOW, check=_check_mm,
        vjp={"input": lambda g, mat2: mm(g, _h(mat2)),
             "mat2": lambda g, input, mat2_strides: _right_gradient(input, g, mat2_strides)},
        flops=lambda input_shape, mat2_shape: 2 * input_shape[0] * input_shape[1] * mat2_shape[1])
bmm = op("bmm(input, mat2)", "bmm", rule=rules.must_match("bmm"), amp=_LOW, check=_matrices("bmm", 3, 3),
         vjp={"input": lambda g, mat2: bmm(g, _h(mat2)), "mat2": lambda g, input: bmm(_h(input), g)},
         flops=lambda input_shape, mat2_shape: 2 * math.prod(input_shape) * mat2_shape[2])
mv = op("mv(input, vec)", "mv", rule=rules.must_match("mv"), amp=_CUDA_LOW, check=_matrices("mv", 2, 1),
        vjp={"input": lambda g, vec: g.unsqueeze(1) * vec.conj(), "vec": lambda g, input: mv(_h(input), g)})


def _right_gradient(left, g, strides):
    """Gradient of the right factor in that factor's own memory order, so that the gradient of a transposed weight
    arrives at the weight without a copy."""
    return _h(mm(_h(g), left)) if strides and strides[0] < strides[1] else mm(_h(left), g)


def _h(t):
    """The conjugate transpose of the last two dimensions."""
    complex_ = t.dtype.is_complex
    t = transpose(t, -2, -1)
    return t.conj() if complex_ else t


def _vectors(name):
    def check(input, other):
        for t in (input, other):
            if not isinstance(t, Tensor):
                raise TypeError(f"{name}(): argument must be Tensor, not {type(t).__name__}")
        if input._a.ndim != 1 or other._a.ndim != 1:
            raise RuntimeError(f"1D tensors expected, but got {input._a.ndim}D and {other._a.ndim}D tensors")
        if input.dtype is not other.dtype:
            raise RuntimeError(
                f"dot : expected both vectors to have same dtype, but found {dt.scalar_name(input.dtype)} and "
                f"{dt.scalar_name(other.dtype)}"
            )
        if input._a.shape != other._a.shape:
            raise RuntimeError(
                f"inconsistent tensor size, expected tensor [{input._a.size}] and src [{other._a.size}] to have "
                f"the same number of elements, but got {input._a.size} and {other._a.size} elements "
                "respectively"
            )
    return check


dot = op("dot(input, tensor)", "dot", rule=rules.refuse("bool", "dot"), amp={"cuda": "promote"}, check=_vectors("dot"),
         vjp={"input": lambda g, tensor: g * tensor.conj(), "tensor": lambda g, input: g * input.conj()})
vdot = op(
    "vdot(input, other)",
    "vdot",
    rule=rules.refuse("bool", "dot"),
    amp={"cuda": "promote"},
    check=_vectors("vdot"),
    vjp={"input": lambda g, other: g.conj() * other, "other": lambda g, input: g * input},
)

# ---- a product added to something


def _scaled(g, factor):
    return g if factor == 1 else g * (factor.conjugate() if isinstance(factor, complex) else factor)


def _check_add(name, ndims, inner):
    """Dimensions, inner sizes and dtypes must match."""
    def check(input, first, second, beta, alpha):
        if (first._a.ndim, second._a.ndim) != ndims:
            raise RuntimeError(
                {
                    "addmm": f"mat1 must be a matrix, got {first._a.ndim}-D tensor"
                    if first._a.ndim != 2
                    else f"mat2 must be a matrix, got {second._a.ndim}-D tensor",
                    "addmv": f"vector + matrix @ vector expected, got {input._a.ndim}, {first._a.ndim}, "
                    f"{second._a.ndim}",
                    "addr": f"addr: Expected 1-D argument vec1, but got {first._a.ndim}-D",
                }.get(name, "batch1 must be a 3D tensor")
            )
        if inner:
            inner(first._a.shape, second._a.shape)
        if name == "addmm" and first.dtype is not second.dtype:
            raise RuntimeError(f"mat1 and mat2 must have the same dtype, but got {dt.scalar_name(first.dtype)} and "
                               f"{dt.scalar_name(second.dtype)}")
        if name != "addr" and (input.dtype is not first.dtype or first.dtype is not second.dtype):
            raise RuntimeError(f"self and mat2 must have the same dtype, but got {dt.scalar_name(input.dtype)} and "
                               f"{dt.scalar_name(second.dtype if input.dtype is not second.dtype else first.dtype)}")
        _check_shape(name, input._a.shape, first._a.shape, second._a.shape)
    return check


def _check_shape(name, given, a, b):
    shape = {"addmm": lambda: (a[0], b[1]), "addmv": lambda: a[:1], "addr": lambda: (a[0], b[0]),
             "addbmm": lambda: (a[1], b[2]), "baddbmm": lambda: (a[0], a[1], b[2])}[name]()
    if len(given) > len(shape) or any(n not in (1, m) for n, m in zip(given[::-1], shape[::-1])):
        raise RuntimeError(f"The expanded size of the tensor ({shape[-1]}) must match the existing size "
                           f"({given[-1] if given else 1}) at non-singleton dimension {len(shape) - 1}.  Target sizes: "
                           f"{list(shape)}.  Tensor sizes: {list(given)}")


def _batches(a, b):
    _check_inner("bmm", a, b)


addmm = op(
    "addmm(input, mat1, mat2, *, beta=1, alpha=1)",
    "addmm",
    rule=rules.refuse("bool", "addmm_impl_cpu_"),
    amp=_LOW,
    inplace=True,
    check=_check_add("addmm", (2, 2), lambda a, b: _check_inner("mm", a, b)),
    vjp={
        "input": lambda g, beta: _scaled(g, beta),
        "mat1": lambda g, mat2, alpha: _scaled(mm(g, _h(mat2)), alpha),
        "mat2": lambda g, mat1, mat2_strides, alpha: _scaled(_right_gradient(mat1, g, mat2_strides), alpha),
    },
    flops=lambda mat1_shape, mat2_shape: 2 * mat1_shape[0] * mat1_shape[1] * mat2_shape[1],
)
baddbmm = op(
    "baddbmm(input, batch1, batch2, *, beta=1, alpha=1)",
    "baddbmm",
    rule=rules.refuse("bool", "baddbmm"),
    amp=_LOW,
    inplace=True,
    check=_check_add("baddbmm", (3, 3), _batches),
    vjp={
        "input": lambda g, beta: _scaled(g, beta),
        "batch1": lambda g, batch2, alpha: _scaled(bmm(g, _h(batch2)), alpha),
        "batch2": lambda g, batch1, alpha: _scaled(bmm(_h(batch1), g), alpha),
    },
    flops=lambda batch1_shape, batch2_shape: 2 * math.prod(batch1_shape) * batch2_shape[2],
)


def _over_batch(g, shape):
    return g.unsqueeze(0).expand(shape[0], *g.shape)


addbmm = op(
    "addbmm(input, batch1, batch2, *, beta=1, alpha=1)",
    "addbmm",
    rule=rules.refuse("bool", "addmm_impl_cpu_"),
    amp=_LOW,
    inplace=True,
    check=_check_add("addbmm", (3, 3), _batches),
    vjp={
        "input": lambda g, beta: _scaled(g, beta),
        "batch1": lambda g, batch2, alpha: _scaled(bmm(_over_batch(g, batch2.shape), _h(batch2)), alpha),
        "batch2": lambda g, batch1, alpha: _scaled(bmm(_h(batch1), _over_batch(g, batch1.shape)), alpha),
    },
)
addmv = op(
    "addmv(input, mat, vec, *, beta=1, alpha=1)",
    "addmv",
    rule=rules.refuse("bool", "addmv_impl_cpu"),
    amp=_CUDA_LOW,
    inplace=True,
    check=_check_add("addmv", (2, 1), lambda a, b: _check_inner("mv", a, b)),
    vjp={
        "input": lambda g, beta: _scaled(g, beta),
        "mat": lambda g, vec, alpha: _scaled(outer(g, vec.conj()), alpha),
        "vec": lambda g, mat, alpha: _scaled(mv(_h(mat), g), alpha),
    },
)
addr = op("addr(input, vec1, vec2, *, beta=1, alpha=1)", "addr", amp=_CUDA_LOW, inplace=True, rule=rules.promote,
          check=_check_add("addr", (1, 1), None),
          vjp={"input": lambda g, beta: _scaled(g, beta),
               "vec1": lambda g, vec2, alpha: _scaled(mv(g, vec2.conj()), alpha),
               "vec2": lambda g, vec1, alpha: _scaled(mv(g.t(), vec1.conj()), alpha)})

# ---- products chosen by shape


@composite("matmul(input, other)", amp=_LOW)
def matmul(input, other):
    """Vectors, matrices and batches of them multiplied; batch dimensions broadcast."""
    for position, t in ((1, input), (2, other)):
        if not isinstance(t, Tensor):
            name = "input" if position == 1 else "other"
            raise TypeError(f"matmul(): argument '{name}' (position {position}) must be Tensor, not {type(t).__name__}")
    na, nb = input._a.ndim, other._a.ndim
    if na == 2 and nb == 2:
        return mm(input, other)
    if na == 0 or nb == 0:
        raise RuntimeError(f"both arguments to matmul need to be at least 1D, but they are {na}D and {nb}D")
    if na == 1 and nb == 1:
        return dot(input, other)
    if na == 2 and nb == 1:
        return mv(input, other)
    if na == 1 and nb == 2:
        return mv(other.t(), input) if input._a.shape[0] == other._a.shape[0] else mm(input.unsqueeze(0), other)
    if nb <= 2 and na >= 3:
        return _fold(input, other)
    if na <= 2 and nb >= 3:
        if na == 1:
            return _fold(other.transpose(-1, -2), input)
        return _fold(other.transpose(-1, -2), input.t()).transpose(-1, -2)
    return _batched(input, other)


def _fold(input, other):
    """Leading dimensions folded into the rows of one matrix product."""
    lead, k = input._a.shape[:-1], input._a.shape[-1]
    flat = input.reshape(math.prod(lead), k)
    if other._a.ndim == 1:
        return mv(flat, other).reshape(lead)
    return mm(flat, other).reshape(*lead, other._a.shape[-1])


def _batched(input, other):
    a, b = input._a.shape, other._a.shape
    batch = tuple(a[:-2]) if a[:-2] == b[:-2] else tuple(broadcast_shapes(a[:-2], b[:-2]))
    n = math.prod(batch)
    left = input if a[:-2] == batch else input.expand(*batch, *a[-2:])
    right = other if b[:-2] == batch else other.expand(*batch, *b[-2:])
    if len(batch) == 1:
        return bmm(left, right)
    out = bmm(left.reshape(n, *a[-2:]), right.reshape(n, *b[-2:]))
    return out.reshape(*batch, a[-2], b[-1])


@composite("outer(input, vec2)")
def outer(input, vec2):
    """All products of elements of two vectors."""
    for name, t in (("self", input), ("vec2", vec2)):
        if t._a.ndim != 1:
            raise RuntimeError(f"outer: Expected 1-D argument {name}, but got {t._a.ndim}-D")
    return mul(input.unsqueeze(1), vec2)


alias("ger", outer)


@composite("inner(input, other)")
def inner(input, other):
    """Sum of products over the last dimensions."""
    if input._a.ndim == 0 or other._a.ndim == 0:
        return mul(input, other)
    if input._a.shape[-1] != other._a.shape[-1]:
        raise RuntimeError("inner() the last dimension must match on both input tensors but got shapes "
                           f"{list(input.shape)} and {list(other.shape)}")
    return tensordot(input, other, ([-1], [-1]))


@composite("tensordot(a, b, dims=2)", on="torch", amp={"cuda": "promote"})
def tensordot(a, b, dims):
    """Sum of products over several dimensions: the last and first `dims`, or two lists."""
    if isinstance(dims, Tensor):
        dims = dims.tolist() if dims.numel() > 1 else int(dims)
    if isinstance(dims, int):
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > min(a.dim(), b.dim()):
            raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
        over_a, over_b = list(range(a.dim() - dims, a.dim())), list(range(dims))
    else:
        over_a, over_b = ([dim_index(d, t.dim()) for d in ((ds,) if isinstance(ds, int) else ds)]
                          for ds, t in zip(dims, (a, b)))
    if len(over_a) != len(over_b):
        raise RuntimeError("both dimension lists should have same length")
    for i, j in zip(over_a, over_b):
        n, m = a.shape[i], b.shape[j]
        if n != m and n != 1 and m != 1:
            raise RuntimeError(
                f"contracted dimensions need to match, but first has size {n} in dim {i} and second has size "
                f"{m} in dim {j}"
            )
        if n == 1 != m:
            b = b.sum(j, True, dtype=b.dtype)
        elif m == 1 != n:
            a = a.sum(i, True, dtype=a.dtype)
    keep_a = [d for d in range(a.dim()) if d not in over_a]
    keep_b = [d for d in range(b.dim()) if d not in over_b]
    left = a.permute(keep_a + over_a).reshape(math.prod(a.shape[d] for d in keep_a), -1 if a.numel() else
                                              math.prod(a.shape[d] for d in over_a))
    right = b.permute(over_b + keep_b).reshape(left.shape[1], math.prod(b.shape[d] for d in keep_b))
    return mm(left, right).reshape([a.shape[d] for d in keep_a] + [b.shape[d] for d in keep_b])


@composite("chain_matmul(*matrices)", on="torch", amp=_CUDA_LOW)
def chain_matmul(matrices):
    """Several matrices multiplied in the cheapest order."""
    if not matrices:
        raise ValueError("chain_matmul(): Expected one or more matrices")
    return multiply_chain(list(matrices))


def multiply_chain(matrices):
    """The cheapest bracketing of a product of matrices (dynamic programming over split points)."""
    if len(matrices) == 1:
        return matrices[0]
    p = [m.shape[0] for m in matrices] + [matrices[-1].shape[1]]
    n = len(matrices)
    cost, cut = {(i, i): 0 for i in range(n)}, {}
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            cost[i, j], cut[i, j] = min(
                (cost[i, k] + cost[k + 1, j] + p[i] * p[k + 1] * p[j + 1], k) for k in range(i, j)
            )

    def build(i, j):
        return matrices[i] if i == j else mm(build(i, cut[i, j]), build(cut[i, j] + 1, j))
    return build(0, n - 1)


@composite("kron(input, other)")
def kron(input, other):
    """Kronecker product."""
    n = max(input.dim(), other.dim())
    a = (1,) * (n - input.dim()) + tuple(input.shape)
    b = (1,) * (n - other.dim()) + tuple(other.shape)
    left = input.reshape([m for size in a for m in (size, 1)])
    right = other.reshape([m for size in b for m in (1, size)])
    return mul(left, right).reshape([x * y for x, y in zip(a, b)])


_cross = op("_cross(input, other, dim: int)", "cross", rule=rules.promote, node="LinalgCross", amp={"cuda": "promote"},
            vjp={"input": lambda g, other, dim: _crossed(other.conj(), g, dim),
                 "other": lambda g, input, dim: _crossed(g, input.conj(), dim)})


def _crossed(a, b, dim):
    shape = broadcast_shapes(tuple(a.shape), tuple(b.shape))
    return _cross(a.expand(shape), b.expand(shape), dim)


@composite("cross(input, other, dim=None)", amp={"cuda": "promote"})
def cross(input, other, dim):
    """Cross product of 3-vectors along a dimension (the first of size 3 by default)."""
    if input.dim() != other.dim():
        raise RuntimeError("linalg.cross: inputs must have the same number of dimensions.")
    shape = broadcast_shapes(tuple(input.shape), tuple(other.shape))
    if dim is None:
        dim = next((d for d, n in enumerate(input.shape) if n == 3), None)
        if dim is None:
            raise RuntimeError("no dimension of size 3 in input")
    dim = dim_index(dim, input.dim())
    if input.shape[dim] != 3 or other.shape[dim] != 3:
        raise RuntimeError(f"linalg.cross: inputs dimension {dim} must have length 3. Got {input.shape[dim]} and "
                           f"{other.shape[dim]}")
    return _cross(input.expand(shape), other.expand(shape), dim)
