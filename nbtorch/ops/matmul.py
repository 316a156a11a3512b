"""Matrix products and what is made of them; einsum is in einsum.py."""
import math

from ..core.dtype import LONG_NAMES
from ..core.op import alias, composite, op
from .rules import promote

_LOW = "low"
_WIDEST = {"cuda": "promote"}


def H(x):
    """Conjugate transpose of the last two dimensions; no conjugation node for a real matrix."""
    t = x.transpose(-2, -1)
    return t.conj() if t.is_complex() else t


def C(x):
    """Conjugate of a complex tensor; a real one itself."""
    return x.conj() if x.is_complex() else x


def _same_dtype(a, b, first="mat1", second="mat2"):
    if a._key >> 1 != b._key >> 1:
        names = [LONG_NAMES.get(t.dtype.name, t.dtype.name) for t in (a, b)]
        raise RuntimeError(f"expected m1 and m2 to have the same dtype, but got: {names[0]} != {names[1]}")


def _check_mm(input, mat2):
    a, b = input._a.shape, mat2._a.shape
    if len(a) == 2 == len(b) and a[1] == b[0] and input._key == mat2._key:
        return
    if len(a) != 2:
        raise RuntimeError("self must be a matrix")
    if len(b) != 2:
        raise RuntimeError("mat2 must be a matrix")
    if a[1] != b[0]:
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({a[0]}x{a[1]} and {b[0]}x{b[1]})")
    _same_dtype(input, mat2)


def _check_addmm(input, mat1, mat2, beta, alpha):
    a, b = mat1._a.shape, mat2._a.shape
    if not (len(a) == 2 == len(b) and a[1] == b[0]):
        if len(a) != 2:
            raise RuntimeError(f"mat1 must be a matrix, got {len(a)}-D tensor")
        if len(b) != 2:
            raise RuntimeError(f"mat2 must be a matrix, got {len(b)}-D tensor")
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({a[0]}x{a[1]} and {b[0]}x{b[1]})")
    _same_dtype(mat1, mat2)
    if input._key >> 1 != mat1._key >> 1:
        raise RuntimeError("self and mat2 must have the same dtype, but got "
                           f"{LONG_NAMES.get(input.dtype.name, input.dtype.name).capitalize()} and "
                           f"{LONG_NAMES.get(mat2.dtype.name, mat2.dtype.name).capitalize()}")
    _integral(input, beta, "beta")
    _integral(input, alpha, "alpha")


def _integral(t, value, name):
    if t.dtype.category < 2 and isinstance(value, float) and value != int(value):
        raise RuntimeError("For integral input tensors, argument alpha must not be a floating point number."
                           if name == "alpha" else
                           "For integral input tensors, argument beta must not be a floating point number.")


def _check_bmm(input, mat2):
    a, b = input._a.shape, mat2._a.shape
    if len(a) != 3 or len(b) != 3:
        which = "batch1" if len(a) != 3 else "batch2"
        raise RuntimeError(f"{which} must be a 3D tensor")
    if a[0] != b[0] or a[2] != b[1]:
        raise RuntimeError(f"Expected size for first two dimensions of batch2 tensor to be: [{a[0]}, {a[2]}] but got: "
                           f"[{b[0]}, {b[1]}].")
    _same_dtype(input, mat2)


def _check_mv(input, vec):
    a, b = input._a.shape, vec._a.shape
    if len(a) != 2 or len(b) != 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got 1, {len(a)}, {len(b)}")
    if a[1] != b[0]:
        raise RuntimeError(f"size mismatch, got input ({a[0]}), mat ({a[0]}x{a[1]}), vec ({b[0]})")
    _same_dtype(input, vec)


def _check_dot(input, tensor):
    a, b = input._a.shape, tensor._a.shape
    if len(a) != 1 or len(b) != 1:
        raise RuntimeError(f"1D tensors expected, but got {len(a)}D and {len(b)}D tensors")
    if input._key >> 1 != tensor._key >> 1:
        raise RuntimeError("dot : expected both vectors to have same dtype, but found "
                           f"{LONG_NAMES.get(input.dtype.name, input.dtype.name).capitalize()} and "
                           f"{LONG_NAMES.get(tensor.dtype.name, tensor.dtype.name).capitalize()}")
    if a != b:
        raise RuntimeError(f"inconsistent tensor size, expected tensor [{a[0]}] and src [{b[0]}] to have the same number "
                           f"of elements, but got {a[0]} and {b[0]} elements respectively")


def _scale(g, factor):
    return g if factor == 1 else g * (factor.conjugate() if isinstance(factor, complex) else factor)


mm = op("mm(input, mat2)", "mm", amp=_LOW, check=_check_mm,
        flops=lambda input_shape, mat2_shape: 2 * input_shape[0] * input_shape[1] * mat2_shape[1],
        vjp={"input": lambda g, mat2: mm(g, H(mat2)), "mat2": lambda g, input: mm(H(input), g)})

bmm = op("bmm(input, mat2)", "bmm", amp=_LOW, check=_check_bmm,
         flops=lambda input_shape, mat2_shape: 2 * math.prod(input_shape) * mat2_shape[2],
         vjp={"input": lambda g, mat2: bmm(g, H(mat2)), "mat2": lambda g, input: bmm(H(input), g)})

mv = op("mv(input, vec)", "mv", amp={"cuda": _LOW}, check=_check_mv,
        vjp={"input": lambda g, vec: outer(g, C(vec)), "vec": lambda g, input: mv(H(input), g)})

dot = op("dot(input, tensor)", "dot", amp=_WIDEST, check=_check_dot,
         vjp={"input": lambda g, tensor: g * C(tensor), "tensor": lambda g, input: g * C(input)})

vdot = op("vdot(input, other)", "vdot", amp=_WIDEST, check=_check_dot,
          vjp={"input": lambda g, other: C(g) * other, "other": lambda g, input: g * input})

addmm = op("addmm(input, mat1, mat2, *, beta=1, alpha=1)", "addmm", amp=_LOW, check=_check_addmm, inplace=True,
           flops=lambda mat1_shape, mat2_shape: 2 * mat1_shape[0] * mat1_shape[1] * mat2_shape[1],
           vjp={"input": lambda g, beta: _scale(g, beta),
                "mat1": lambda g, mat2, alpha: _scale(mm(g, H(mat2)), alpha),
                "mat2": lambda g, mat1, alpha: _scale(mm(H(mat1), g), alpha)})


def _check_baddbmm(input, batch1, batch2, beta, alpha):
    _check_bmm(batch1, batch2)
    _integral(input, beta, "beta")
    _integral(input, alpha, "alpha")


baddbmm = op("baddbmm(input, batch1, batch2, *, beta=1, alpha=1)", "baddbmm", amp=_LOW, check=_check_baddbmm, inplace=True,
             flops=lambda batch1_shape, batch2_shape: 2 * math.prod(batch1_shape) * batch2_shape[2],
             vjp={"input": lambda g, beta: _scale(g, beta),
                  "batch1": lambda g, batch2, alpha: _scale(bmm(g, H(batch2)), alpha),
                  "batch2": lambda g, batch1, alpha: _scale(bmm(H(batch1), g), alpha)})

addbmm = op("addbmm(input, batch1, batch2, *, beta=1, alpha=1)", "addbmm", amp=_LOW, check=_check_baddbmm, inplace=True,
            vjp={"input": lambda g, beta: _scale(g, beta),
                 "batch1": lambda g, batch1_shape, batch2, alpha: _scale(
                     bmm(g.expand(batch1_shape[0], *g.shape), H(batch2)), alpha),
                 "batch2": lambda g, batch2_shape, batch1, alpha: _scale(
                     bmm(H(batch1), g.expand(batch2_shape[0], *g.shape)), alpha)})


def _check_addmv(input, mat, vec, beta, alpha):
    _check_mv(mat, vec)
    _integral(input, beta, "beta")
    _integral(input, alpha, "alpha")


addmv = op("addmv(input, mat, vec, *, beta=1, alpha=1)", "addmv", amp={"cuda": _LOW}, check=_check_addmv, inplace=True,
           vjp={"input": lambda g, beta: _scale(g, beta),
                "mat": lambda g, vec, alpha: _scale(outer(g, C(vec)), alpha),
                "vec": lambda g, mat, alpha: _scale(mv(H(mat), g), alpha)})


def _check_addr(input, vec1, vec2, beta, alpha):
    for name, t in (("vec1", vec1), ("vec2", vec2)):
        if t._a.ndim != 1:
            raise RuntimeError(f"addr: Expected 1-D argument {name}, but got {t._a.ndim}-D")
    _integral(input, beta, "beta")
    _integral(input, alpha, "alpha")


addr = op("addr(input, vec1, vec2, *, beta=1, alpha=1)", "addr", rule=promote, amp={"cuda": _LOW}, check=_check_addr,
          inplace=True,
          vjp={"input": lambda g, beta: _scale(g, beta),
               "vec1": lambda g, vec2, alpha: _scale(mv(g, C(vec2)), alpha),
               "vec2": lambda g, vec1, alpha: _scale(mv(g.transpose(0, 1), C(vec1)), alpha)})


@composite("outer(input, vec2)")
def outer(input, vec2):
    """Products of every pair of elements of two vectors: [n], [m] -> [n, m]."""
    if input._a.ndim != 1:
        raise RuntimeError(f"outer: Expected 1-D argument self, but got {input._a.ndim}-D")
    if vec2._a.ndim != 1:
        raise RuntimeError(f"outer: Expected 1-D argument vec2, but got {vec2._a.ndim}-D")
    return input.unsqueeze(1) * vec2


alias("ger", outer)


@composite("inner(input, other)")
def inner(input, other):
    """Dot products along the last dimensions of both. https://docs.pytorch.org/docs/stable/generated/torch.inner.html"""
    if not input._a.ndim or not other._a.ndim:
        return input * other
    a, b = input._a.shape, other._a.shape
    if a[-1] != b[-1]:
        raise RuntimeError(f"inner() the last dimension must match on both input tensors but got shapes {list(a)} and "
                           f"{list(b)}")
    return tensordot(input, other, ([-1], [-1]))


def _fold(input, other):
    """[.., n, k] @ [k, m] or [k] as one matrix product over the folded leading dimensions."""
    shape = input._a.shape
    flat = input.reshape(-1, shape[-1])
    if other._a.ndim == 1:
        return mv(flat, other).view(shape[:-1])
    return mm(flat, other).view((*shape[:-1], other._a.shape[-1]))


def _batched(input, other):
    a, b = input._a.shape, other._a.shape
    vector_left, vector_right = len(a) == 1, len(b) == 1
    if vector_left:
        input, a = input.unsqueeze(0), (1, *a)
    if vector_right:
        other, b = other.unsqueeze(1), (*b, 1)
    lead = _broadcast(a[:-2], b[:-2])
    count = math.prod(lead)
    left = input.expand(*lead, *a[-2:]).reshape(count, *a[-2:])
    right = other.expand(*lead, *b[-2:]).reshape(count, *b[-2:])
    rows = () if vector_left else (a[-2],)
    columns = () if vector_right else (b[-1],)
    return bmm(left, right).view((*lead, *rows, *columns))


def _broadcast(a, b):
    """Broadcast shape of two batch shapes. Raises RuntimeError with PyTorch's text."""
    n, out = max(len(a), len(b)), []
    for i in range(-n, 0):
        x, y = (s[i] if -i <= len(s) else 1 for s in (a, b))
        if x != y and x != 1 and y != 1:
            raise RuntimeError(f"The size of tensor a ({x}) must match the size of tensor b ({y}) at non-singleton "
                               f"dimension {n + i}")
        out.append(y if x == 1 else x)
    return tuple(out)


@composite("matmul(input, other)", amp=_LOW)
def matmul(input, other):
    """Matrix product of vectors, matrices, or batches of them, with broadcasting.

    https://docs.pytorch.org/docs/stable/generated/torch.matmul.html
    """
    n, m = input._a.ndim, other._a.ndim
    if n == 2 and m == 2:
        return mm(input, other)
    if not n or not m:
        raise RuntimeError(f"both arguments to matmul need to be at least 1D, but they are {n}D and {m}D")
    if n == 1 and m == 1:
        return dot(input, other)
    if n == 2 and m == 1:
        return mv(input, other)
    if n == 1 and m == 2:
        return mm(input.unsqueeze(0), other).squeeze(0)
    if n >= 3 and m <= 2:
        return _fold(input, other)
    return _batched(input, other)


def _axes(input, other, dims):
    """Contracted dimensions of both tensors for tensordot's `dims`."""
    if isinstance(dims, int) or hasattr(dims, "_a") and dims._a.ndim == 0:
        n = int(dims)
        if n < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={n}")
        if n > min(input._a.ndim, other._a.ndim):
            raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={n}")
        return list(range(input._a.ndim - n, input._a.ndim)), list(range(n))
    left, right = (x.tolist() if hasattr(x, "tolist") else x for x in dims)
    left = [left] if isinstance(left, int) else list(left)
    right = [right] if isinstance(right, int) else list(right)
    if len(left) != len(right):
        raise RuntimeError("both dimension lists should have same length")
    return [d % input._a.ndim for d in left], [d % other._a.ndim for d in right]


@composite("tensordot(a: Tensor, b: Tensor, dims: int=2)", amp=_WIDEST, on="torch")
def tensordot(a, b, dims):
    """Contraction over several dimensions. https://docs.pytorch.org/docs/stable/generated/torch.tensordot.html"""
    left, right = _axes(a, b, dims)
    for i, j in zip(left, right):
        x, y = a._a.shape[i], b._a.shape[j]
        if x != y and 1 not in (x, y):
            raise RuntimeError(f"contracted dimensions need to match, but first has size {x} in dim {i} and second has "
                               f"size {y} in dim {j}")
        if x != y:
            a, b = (a, b.sum(j, keepdim=True)) if x == 1 else (a.sum(i, keepdim=True), b)
    free_a = [d for d in range(a._a.ndim) if d not in left]
    free_b = [d for d in range(b._a.ndim) if d not in right]
    rows, columns = [a._a.shape[d] for d in free_a], [b._a.shape[d] for d in free_b]
    inner_size = math.prod(a._a.shape[d] for d in left)
    x = a.permute(*free_a, *left).reshape(math.prod(rows), inner_size)
    y = b.permute(*right, *free_b).reshape(inner_size, math.prod(columns))
    return mm(x, y).reshape(*rows, *columns) if rows or columns else mm(x, y).reshape(())


@composite("chain_matmul(*matrices)", on="torch", amp={"cuda": _LOW})
def chain_matmul(matrices):
    """Product of several matrices, in the order that multiplies least."""
    if not matrices:
        raise ValueError("chain_matmul(): Expected one or more matrices")
    for i, t in enumerate(matrices):
        if t._a.ndim != 2:
            raise RuntimeError(f"Tensor dimension is {t._a.ndim}, expected 2 instead.")
    return _chain(list(matrices))


def _chain(matrices):
    if len(matrices) == 1:
        return matrices[0]
    if len(matrices) == 2:
        return mm(*matrices)
    sizes = [m._a.shape[0] for m in matrices] + [matrices[-1]._a.shape[1]]
    cut = min(range(1, len(matrices)), key=lambda k: _cost(sizes, 0, k) + _cost(sizes, k, len(matrices))
              + sizes[0] * sizes[k] * sizes[-1])
    return mm(_chain(matrices[:cut]), _chain(matrices[cut:]))


def _cost(sizes, start, stop):
    """Fewest multiplications for the product of matrices start..stop-1."""
    if stop - start <= 1:
        return 0
    return min(_cost(sizes, start, k) + _cost(sizes, k, stop) + sizes[start] * sizes[k] * sizes[stop]
               for k in range(start + 1, stop))


@composite("kron(input, other)")
def kron(input, other):
    """Kronecker product. https://docs.pytorch.org/docs/stable/generated/torch.kron.html"""
    n = max(input._a.ndim, other._a.ndim)
    a = (1,) * (n - input._a.ndim) + input._a.shape
    b = (1,) * (n - other._a.ndim) + other._a.shape
    left = input.reshape([s for d in range(n) for s in (a[d], 1)])
    right = other.reshape([s for d in range(n) for s in (1, b[d])])
    return (left * right).reshape([x * y for x, y in zip(a, b)])


def _cross_dim(input, other, dim):
    if dim is not None:
        return dim
    found = next((d for d, (x, y) in enumerate(zip(input._a.shape, other._a.shape)) if x == y == 3), None)
    if found is None:
        raise RuntimeError("no dimension of size 3 in input")
    return found


@composite("cross(input, other, dim: int=None)", amp=_WIDEST)
def cross(input, other, dim):
    """Cross product of 3-vectors along `dim`. https://docs.pytorch.org/docs/stable/generated/torch.cross.html"""
    if input._a.ndim != other._a.ndim:
        raise RuntimeError("linalg.cross: inputs must have the same number of dimensions.")
    dim = _cross_dim(input, other, dim)
    if input._a.shape[dim] != 3 or other._a.shape[dim] != 3:
        raise RuntimeError(f"linalg.cross: inputs dimension {dim} must have length 3. Got {input._a.shape[dim]} and "
                           f"{other._a.shape[dim]}")
    x, y = (t.roll(-1, dim) for t in (input, other))      # components 1, 2, 0
    u, v = (t.roll(-2, dim) for t in (input, other))      # components 2, 0, 1
    return x * v - u * y
