"""Splitting into views, copies of views, and writing into a part of a copy."""
from ..core.op import OPS, composite, op
from ..core.tensor import Tensor, dim_index
from .view import _slice, as_strided, diagonal, select


def _joined(gs, shapes, dim):
    """Gradients of neighbouring parts in one piece; zeros where a part was not used."""
    some = next(g for g in gs if g is not None)
    return OPS["cat"].function([some.new_zeros(s) if g is None else g for g, s in zip(gs, shapes)], dim)


def _parts_shapes(shape, sizes, dim):
    return [tuple(shape[:dim]) + (n,) + tuple(shape[dim + 1:]) for n in sizes]


_split_sizes = op("_split_sizes(input, sizes: tuple, dim: int)", "split_sizes", view=True, many=True, node="Split",
                  vjp={"input": lambda gs, input_shape, sizes, dim:
                       _joined(gs, _parts_shapes(input_shape, sizes, dim), dim)})


def _stacked(gs, dim):
    some = next(g for g in gs if g is not None)
    return OPS["stack"].function([some.new_zeros(some.shape) if g is None else g for g in gs], dim)


unbind = op(
    "unbind(input, dim: int=0)",
    "unbind",
    view=True,
    many=True,
    vjp={"input": lambda gs, dim: _stacked(gs, dim)},
)


@composite("split_with_sizes(input, split_sizes: tuple, dim: int=0)", out=False)
def split_with_sizes(input, split_sizes, dim):
    """Parts of the given sizes, which must add up to the size of the dimension."""
    if not input._a.ndim:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    dim, sizes = dim_index(dim, input._a.ndim), tuple(int(n) for n in split_sizes)
    n = input._a.shape[dim]
    if min(sizes, default=0) < 0 or sum(sizes) != n:
        raise RuntimeError("split_with_sizes expects split_sizes to sum exactly to "
                           f"{n} (input tensor's size at dimension {dim}), but got split_sizes={list(sizes)}"
                           if min(sizes, default=0) >= 0 else
                           "split_with_sizes expects split_sizes have only non-negative entries, but got "
                           f"split_sizes={list(sizes)}")
    return _split_sizes(input, sizes, dim)


def _every(n, size):
    """[size, size, ..., rest]."""
    if size == 0:
        return [0]
    return [size] * (n // size) + ([n % size] if n % size or not n else [])


@composite("split(tensor, split_size_or_sections, dim: int=0)", on="torch", out=False)
def split(tensor, split_size_or_sections, dim):
    """Parts of one size (the last may be smaller) or of given sizes."""
    if not isinstance(split_size_or_sections, int):
        if isinstance(split_size_or_sections, Tensor):
            split_size_or_sections = split_size_or_sections.tolist()
        else:
            return split_with_sizes(tensor, split_size_or_sections, dim)
    size = split_size_or_sections
    if not tensor._a.ndim:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    if size < 0:
        raise RuntimeError(f"split expects split_size be non-negative, but got split_size={size}")
    dim = dim_index(dim, tensor._a.ndim)
    n = tensor._a.shape[dim]
    if size == 0 and n:
        raise RuntimeError(f"split_size can only be 0 if dimension size is 0, but got dimension size of {n}")
    return _split_sizes(tensor, tuple(_every(n, size)), dim)


def split_method(self, split_size, dim=0):
    """Parts of one size or of given sizes. https://docs.pytorch.org/docs/stable/generated/torch.Tensor.split.html"""
    return split(self, split_size, dim)


@composite("chunk(input, chunks: int, dim: int=0)", out=False)
def chunk(input, chunks, dim):
    """At most `chunks` parts of equal size, the last possibly smaller."""
    if not input._a.ndim:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    dim = dim_index(dim, input._a.ndim)
    n = input._a.shape[dim]
    size = (n + chunks - 1) // chunks
    return _split_sizes(input, tuple([0] * chunks if n == 0 else _every(n, size)), dim)


@composite("unsafe_split(input, split_size: int, dim: int=0)", out=False)
def unsafe_split(input, split_size, dim):
    """split; its parts may be modified in place."""
    return tuple(part.clone() for part in split(input, split_size, dim))


@composite("unsafe_split_with_sizes(input, split_sizes: tuple, dim: int=0)", out=False)
def unsafe_split_with_sizes(input, split_sizes, dim):
    """split_with_sizes; its parts may be modified in place."""
    return tuple(part.clone() for part in split_with_sizes(input, split_sizes, dim))


@composite("unsafe_chunk(input, chunks: int, dim: int=0)", out=False)
def unsafe_chunk(input, chunks, dim):
    """chunk; its parts may be modified in place."""
    return tuple(part.clone() for part in chunk(input, chunks, dim))


@composite("tensor_split(input, indices_or_sections, dim: int=0)", out=False)
def tensor_split(input, indices_or_sections, dim):
    """Nearly equal parts, or parts between given positions."""
    if not input._a.ndim:
        raise RuntimeError("tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims")
    dim = dim_index(dim, input._a.ndim)
    n = input._a.shape[dim]
    given = indices_or_sections
    if isinstance(given, Tensor):
        if given.dim() > 1 or given.dtype.name != "int64":
            raise RuntimeError("tensor_split expected tensor_indices_or_sections to be a zero-dimensional or "
                               "one-dimensional tensor of dtype long")
        given = given.tolist()
    if isinstance(given, int):
        if given <= 0:
            raise RuntimeError(f"number of sections must be larger than 0, got {given}")
        return _split_sizes(input, tuple(n // given + (i < n % given) for i in range(given)), dim)
    edges = [slice(None, int(i)).indices(n)[1] for i in given]
    return tuple(_slice(input, dim, a, max(a, b), 1) for a, b in zip([0, *edges], [*edges, n]))


def _named_split(name, least, axis):
    def body(input, sections):
        if input._a.ndim < least:
            raise RuntimeError(
                f"torch.{name} requires a tensor with at least {least} dimension{'s' * (least > 1)}, but got "
                f"a tensor with {input._a.ndim} dimensions!"
            )
        dim = axis if input._a.ndim > 1 else 0
        if isinstance(sections, int):
            if sections <= 0:
                raise RuntimeError(f"number of sections must be larger than 0, got {sections}")
            if input._a.shape[dim] % sections:
                raise RuntimeError(
                    f"torch.{name} attempted to split along dimension {dim}, but the size of the dimension "
                    f"{input._a.shape[dim]} is not divisible by the split_size {sections}!"
                )
        return tensor_split(input, sections, dim)
    body.__doc__ = f"Equal parts along dimension {axis}."
    return composite(f"{name}(input, indices_or_sections)", out=False)(body)


hsplit, vsplit, dsplit = _named_split("hsplit", 1, 1), _named_split("vsplit", 2, 0), _named_split("dsplit", 3, 2)


# ---- copies of views

def _copy_of(name, parameters, source=None):
    names = [p.split("=")[0].split(":")[0] for p in parameters.split(", ")] if parameters else []
    arguments = (", " + parameters) if parameters else ""

    def body(input, *values):
        seen = OPS[source or name].function(input, *values)
        return seen.clone() if isinstance(seen, Tensor) else tuple(part.clone() for part in seen)
    body.__doc__ = f"{source or name}, as a copy instead of a view."
    assert all(names)
    return composite(
        f"{name}_copy(input{arguments})",
        on="torch method" if name == "narrow" else "torch",
        out=name not in ("split", "split_with_sizes", "unbind", "unfold"),
    )(body)


for _name, _parameters, _source in (
        ("alias", "", "view_as_self"), ("as_strided", "size: tuple, stride: tuple, storage_offset=None", None),
        ("diagonal", "offset: int=0, dim1: int=0, dim2: int=1", None), ("expand", "size: tuple", "broadcast_to"),
        ("narrow", "dim: int, start: int, length: int", None), ("permute", "dims: tuple", None),
        ("select", "dim: int, index: int", None), ("split", "split_size: int, dim: int=0", None),
        ("split_with_sizes", "split_sizes: tuple, dim: int=0", None), ("squeeze", "dim=None", None), ("t", "", None),
        ("transpose", "dim0: int, dim1: int", None), ("unbind", "dim: int=0", None),
        ("unfold", "dimension: int, size: int, step: int", None), ("unsqueeze", "dim: int", None),
        ("view_as_real", "", None), ("view_as_complex", "", None)):
    _copy_of(_name, _parameters, _source)


@composite("view_as_self(input)", on="none")
def view_as_self(input):
    """A view of everything."""
    return OPS["view"].function(input, *input._a.shape)


@composite("view_copy(input, size)", on="torch")
def view_copy(input, size):
    """view, as a copy instead of a view."""
    return OPS["reshape"].function(input, *(size if isinstance(size, (tuple, list)) else (size,))).clone()


# ---- a copy with one part replaced

def _dense(input):
    from ..core.device import contiguous_format
    return input.clone(memory_format=contiguous_format)


def _replace(part, src, what):
    if part.shape != src.shape:
        raise RuntimeError(f"expected src to have a size equal to {what} of self. src size = {list(src.shape)}, {what} "
                           f"size = {list(part.shape)}")
    part.copy_(src)


@composite("select_scatter(input, src, dim: int, index: int)", out=False)
def select_scatter(input, src, dim, index):
    """A copy of input with src at one position of a dimension."""
    out = _dense(input)
    _replace(select(out, dim, index), src, "the slice")
    return out


@composite("slice_scatter(input, src, dim: int=0, start=None, end=None, step: int=1)", out=False)
def slice_scatter(input, src, dim, start, end, step):
    """A copy of input with src in a slice of a dimension."""
    out = _dense(input)
    _replace(_slice(out, dim, start, end, step), src, "the slice")
    return out


@composite("diagonal_scatter(input, src, offset: int=0, dim1: int=0, dim2: int=1)", out=False)
def diagonal_scatter(input, src, offset, dim1, dim2):
    """A copy of input with src on a diagonal."""
    out = _dense(input)
    _replace(diagonal(out, offset, dim1, dim2), src, "the slice")
    return out


@composite("as_strided_scatter(input, src, size: tuple, stride: tuple, storage_offset=None)", out=False)
def as_strided_scatter(input, src, size, stride, storage_offset):
    """A copy of input with src in a strided part of its memory."""
    out = _dense(input)
    _replace(as_strided(out, size, stride, storage_offset), src, "the slice")
    return out


Tensor.split = split_method
