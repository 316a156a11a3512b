"""Views: other shapes over the same memory."""
import math

from ..backend.kernels.view import fits, infer_size
from ..core import views
from ..core.op import OPS, alias, composite, op
from ..core.tensor import Tensor, dim_index

_VIEW = {"view": True, "out": False}

view = op(
    "view(input, *size)",
    "view",
    on="method",
    vjp={"input": lambda g, input_shape: g.reshape(input_shape)},
    **_VIEW,
)
transpose = op("transpose(input, dim0: int, dim1: int)", "transpose", **_VIEW,
               vjp={"input": lambda g, dim0, dim1: g.transpose(dim0, dim1)})


def _inverse(dims):
    order = [d % len(dims) for d in dims]
    return tuple(order.index(i) for i in range(len(order)))


permute = op(
    "permute(input, *dims)",
    "permute",
    vjp={"input": lambda g, dims: g.permute(_inverse(dims)) if dims else g},
    **_VIEW,
)
squeeze = op(
    "squeeze(input, dim=None)", "squeeze", vjp={"input": lambda g, input_shape: g.reshape(input_shape)}, **_VIEW
)
unsqueeze = op("unsqueeze(input, dim: int)", "unsqueeze", vjp={"input": lambda g, dim: g.squeeze(dim)}, **_VIEW)
expand = op("expand(input, *size)", "expand", on="method", vjp={"input": lambda g: g}, **_VIEW)
select = op("select(input, dim: int, index: int)", "select", **_VIEW,
            vjp={"input": lambda g, input_shape, dim, index: _select_backward(g, input_shape, dim, index)})
_slice = op("_slice(input, dim: int=0, start=None, end=None, step: int=1)", "slice", **_VIEW,
            vjp={"input": lambda g, input_shape, dim, start, end, step:
                 _slice_backward(g, input_shape, dim, start, end, step)})
diagonal = op("diagonal(input, offset: int=0, dim1: int=0, dim2: int=1)", "diagonal", **_VIEW,
              vjp={"input": lambda g, input_shape, offset, dim1, dim2:
                   _diagonal_backward(g, input_shape, offset, dim1, dim2)})
as_strided = op("as_strided(input, size: tuple, stride: tuple, storage_offset=None)", "as_strided", **_VIEW,
                vjp={"input": lambda g, input, size, stride, storage_offset:
                     _as_strided_backward(g, input, size, stride, storage_offset)})
unfold = op("unfold(input, dimension: int, size: int, step: int)", "unfold", on="method", **_VIEW,
            vjp={"input": lambda g, input_shape, dimension, size, step:
                 _unfold_backward(g, input_shape, dimension, size, step)})

_select_backward = op("_select_backward(grad, shape: tuple, dim: int, index: int)", "select_backward",
                      vjp={"grad": lambda g, dim, index: g.select(dim, index)})
_slice_backward = op("_slice_backward(grad, shape: tuple, dim: int, start: int, end: int, step: int)", "slice_backward",
                     vjp={"grad": lambda g, dim, start, end, step: _slice(g, dim, start, end, step)})
_diagonal_backward = op(
    "_diagonal_backward(grad, shape: tuple, offset: int, dim1: int, dim2: int)",
    "diagonal_backward",
    vjp={"grad": lambda g, offset, dim1, dim2: g.diagonal(offset, dim1, dim2)},
)
_unfold_backward = op("_unfold_backward(grad, shape: tuple, dimension: int, size: int, step: int)", "unfold_backward",
                      vjp={"grad": lambda g, dimension, size, step: g.unfold(dimension, size, step)})
_as_strided_backward = op("_as_strided_backward(grad, input, size: tuple, stride: tuple, storage_offset=None)",
                          "as_strided_backward",
                          vjp={"grad": lambda g, size, stride, storage_offset:
                               g.contiguous().as_strided(size, stride, storage_offset)})


@composite("reshape(input, *shape)", out=False)
def reshape(input, shape):
    """The elements in another shape: a view where the layout allows, else a copy."""
    a = input._a
    if a.flags.c_contiguous:
        return view(input, *shape)
    shape = infer_size(shape, a.size)
    return view(input if fits(None, a, shape) is not None else input.clone(memory_format=_contiguous()), *shape)


def _contiguous():
    from ..core.device import contiguous_format
    return contiguous_format


@composite("view_as(input, other)", on="method")
def view_as(input, other):
    """A view in the shape of `other`."""
    return view(input, *other._a.shape)


@composite("reshape_as(input, other)", on="method")
def reshape_as(input, other):
    """The elements in the shape of `other`."""
    return reshape(input, *other._a.shape)


@composite("expand_as(input, other)", on="method")
def expand_as(input, other):
    """Expanded to the shape of `other`."""
    return expand(input, *other._a.shape)


@composite("broadcast_to(input, *size)", out=False)
def broadcast_to(input, size):
    """Expanded to `size`."""
    return expand(input, *size)


def broadcast_shapes(*shapes):
    """The shape operands of these shapes broadcast to. Raises RuntimeError when they do not.

    https://docs.pytorch.org/docs/stable/generated/torch.broadcast_shapes.html
    """
    from ..core.device import Size
    shapes = [(s,) if isinstance(s, int) else tuple(s) for s in shapes]
    result = [1] * max((len(s) for s in shapes), default=0)
    for shape in shapes:
        for i in range(-1, -len(shape) - 1, -1):
            n = shape[i]
            if n < 0:
                raise RuntimeError(f"Trying to create tensor with negative dimension ({n}): ({n})")
            if n != 1 and n != result[i]:
                if result[i] != 1:
                    raise RuntimeError("Shape mismatch: objects cannot be broadcast to a single shape: "
                                       f"{', '.join(str(list(s)) for s in shapes)}")
                result[i] = n
    return Size(result)


@composite("broadcast_tensors(*tensors)", on="torch", out=False)
def broadcast_tensors(tensors):
    """Every tensor expanded to their common shape."""
    shape = common_shape(tensors)
    return tuple(t if t._a.shape == shape else expand(t, *shape) for t in tensors)


def common_shape(tensors):
    """The shape tensors broadcast to, or PyTorch's error naming the two sizes."""
    result = ()
    for t in tensors:
        a, b = result, t._a.shape
        if a == b:
            continue
        n = max(len(a), len(b))
        a, b = (1,) * (n - len(a)) + tuple(a), (1,) * (n - len(b)) + tuple(b)
        for i, (x, y) in enumerate(zip(a, b)):
            if x != y and x != 1 and y != 1:
                raise RuntimeError(f"The size of tensor a ({x}) must match the size of tensor b ({y}) at non-singleton "
                                   f"dimension {i}")
        result = tuple(y if x == 1 else x for x, y in zip(a, b))
    return result


@composite("flatten(input, start_dim: int=0, end_dim: int=-1)", out=False)
def flatten(input, start_dim, end_dim):
    """Dimensions start_dim to end_dim as one."""
    shape = input._a.shape
    if not shape:
        return reshape(input, 1)
    start, end = dim_index(start_dim, len(shape)), dim_index(end_dim, len(shape))
    if start > end:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if start == end:
        return input
    return reshape(input, *shape[:start], math.prod(shape[start:end + 1]), *shape[end + 1:])


@composite("ravel(input)", out=False)
def ravel(input):
    """All elements in one dimension."""
    return reshape(input, -1) if input._a.size else reshape(input, 0)


@composite("unflatten(input, dim: int, sizes: tuple)", out=False)
def unflatten(input, dim, sizes):
    """One dimension as several."""
    shape = input._a.shape
    sizes = (sizes,) if isinstance(sizes, int) else tuple(int(n) for n in sizes)
    if not sizes:
        raise RuntimeError("unflatten: sizes must be non-empty")
    dim = dim_index(dim, len(shape))
    given = math.prod(sizes)
    if -1 in sizes and (sizes.count(-1) > 1 or not given or shape[dim] % -given) or \
            -1 not in sizes and given != shape[dim]:
        raise RuntimeError("only one dimension can be inferred" if sizes.count(-1) > 1 else
                           f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {dim} "
                           f"({shape[dim]}) in the input tensor")
    if -1 in sizes:
        sizes = tuple(shape[dim] // -given if n == -1 else n for n in sizes)
    return view(input, *shape[:dim], *sizes, *shape[dim + 1:])


@composite("t(input)", out=False)
def t(input):
    """The transpose of a matrix; vectors and numbers as they are."""
    if input._a.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {input._a.ndim}D")
    return transpose(input, 0, 1) if input._a.ndim == 2 else view(input, *input._a.shape)


@composite("T(input)", on="none")
def T(input):
    """All dimensions reversed."""
    return permute(input, *reversed(range(input._a.ndim)))


@composite("mT(input)", on="none")
def mT(input):
    """The last two dimensions exchanged."""
    if input._a.ndim < 2:
        raise RuntimeError("tensor.mT is only supported on matrices or batches of matrices. Got "
                           f"{input._a.ndim}-D tensor.")
    return transpose(input, -2, -1)


@composite("H(input)", on="none")
def H(input):
    """The conjugate transpose of a matrix."""
    if input._a.ndim not in (0, 2):
        hint = " For batches of matrices, consider using tensor.mH" if input._a.ndim > 2 else ""
        raise RuntimeError("tensor.H is only supported on matrices (2-D tensors). Got "
                           f"{input._a.ndim}-D tensor.{hint}")
    return adjoint(input) if input._a.ndim else input.conj()


@composite("adjoint(input)", out=False)
def adjoint(input):
    """The last two dimensions exchanged and conjugated."""
    if input._a.ndim < 2:
        raise RuntimeError("tensor.adjoint() is only supported on matrices or batches of matrices. Got "
                           f"{input._a.ndim}-D tensor.")
    return transpose(input, -2, -1).conj()


@composite("mH(input)", on="none")
def mH(input):
    """The last two dimensions exchanged and conjugated."""
    return adjoint(input)


@composite("swapaxes(input, axis0: int, axis1: int)", out=False)
def swapaxes(input, axis0, axis1):
    """Two dimensions exchanged."""
    return transpose(input, axis0, axis1)


@composite("swapdims(input, dim0: int, dim1: int)", out=False)
def swapdims(input, dim0, dim1):
    """Two dimensions exchanged."""
    return transpose(input, dim0, dim1)


@composite("movedim(input, source: int, destination: int)", out=False)
def movedim(input, source, destination):
    """Dimensions moved to other places, the rest in order."""
    n = input._a.ndim
    source = [dim_index(d, n) for d in ((source,) if isinstance(source, int) else source)]
    destination = [dim_index(d, n) for d in ((destination,) if isinstance(destination, int) else destination)]
    if len(source) != len(destination):
        raise RuntimeError(
            f"movedim: Invalid source or destination dims: source ({source} dims) should contain the same "
            f"number of dims as destination ({destination} dims)"
        )
    for name, dims in (("source", source), ("destination", destination)):
        if len(set(dims)) != len(dims):
            raise RuntimeError(f"movedim: repeated dim in `{name}` ({dims})")
    if n == 0:
        return view(input)
    rest = iter(d for d in range(n) if d not in source)
    order = [source[destination.index(d)] if d in destination else next(rest) for d in range(n)]
    return permute(input, *order)


alias("moveaxis", movedim)


@composite("narrow(input, dim: int, start: int, length: int)", out=False)
def narrow(input, dim, start, length):
    """`length` positions of a dimension from `start` on."""
    if not input._a.ndim:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    if isinstance(start, Tensor) and (start.dim() or start.dtype.category != 1):
        raise RuntimeError("start must be an 0-dim integral Tensor.")
    start, size = int(start), input.size(dim)
    if length < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    if not -size <= start <= size:
        raise IndexError(f"start out of range (expected to be in range of [{-size}, {size}], but got {start})")
    start = start + size if start < 0 else start
    if start + length > size:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({size}).")
    return _slice(input, dim, start, start + length, 1)


def _inplace_view(name):
    """`name_`: the tensor object itself gets another shape."""
    function = OPS[name].function

    def change(self, *args, **kwargs):
        if self.requires_grad and self._fn is None:
            views.check_inplace(self, True)
        seen = function(self, *args, **kwargs)
        fn, view_of, own = seen.grad_fn, seen._view, self._view
        self._a, self._key = seen._a, seen._key
        if own is not None:
            self._view = view_of
        if fn is not None:
            self._fn, self._nr = fn, 0
        return self
    change.__name__, change.__doc__ = name + "_", f"In-place version of :func:`{name}`."
    setattr(Tensor, name + "_", change)


for _name in ("squeeze", "unsqueeze", "transpose", "t", "swapaxes", "swapdims", "as_strided"):
    _inplace_view(_name)
