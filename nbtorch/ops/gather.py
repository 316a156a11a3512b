"""Picking and placing along dimensions: index_select, gather, scatter, masked_*, take, put, nonzero."""
from ..core.op import OPS, composite, op
from ..core.tensor import dim_index
from . import rules
from .index import index
from .pointwise import where
from .view import common_shape

index_select = op("index_select(input, dim: int, index)", "index_select", out="apart exact",
                  vjp={"input": lambda g, input_shape, dim, index: g.new_zeros(input_shape).index_add(dim, index, g)})
index_add = op("index_add(input, dim: int, index, source, *, alpha=1)", "index_add", inplace=True, deterministic=True,
               vjp={"input": lambda g: g, "source": lambda g, dim, index, source_shape, alpha:
                    _selected(g, dim, index, source_shape) * alpha})


def _selected(g, dim, index, shape):
    return g.index_select(dim, index.reshape(-1)).reshape(shape)


index_copy = op("index_copy(input, dim: int, index, source)", "index_copy", inplace=True, amp={"cpu": "promote"},
                vjp={"input": lambda g, dim, index: g.index_fill(dim, index, 0),
                     "source": lambda g, dim, index, source_shape: _selected(g, dim, index, source_shape)})
index_fill = op("index_fill(input, dim: int, index, value)", "index_fill", inplace=True, out=False,
                vjp={"input": lambda g, dim, index: g.index_fill(dim, index, 0),
                     "value": lambda g, dim, index: (g - g.index_fill(dim, index, 0)).sum()})
gather = op("gather(input, dim: int, index, *, sparse_grad: bool=False)", "gather", out="apart exact",
            vjp={"input": lambda g, input_shape, dim, index: g.new_zeros(input_shape).scatter_add(dim, index, g)})


def _scatter_input(g, dim, index, reduce):
    if reduce is not None:
        raise RuntimeError("derivative for aten::scatter with a reduction is not implemented")
    return _scatter(g, dim, index, 0)


_scatter = op("_scatter(input, dim: int, index, src, reduce=None)", "scatter", node="Scatter", inplace=True,
              vjp={"input": _scatter_input, "src": lambda g, dim, index: g.gather(dim, index)})


def _scatter_source(name, src, value):
    if (src is None) == (value is None):
        raise TypeError(f"{name}() received an invalid combination of arguments: one of src and value is needed")
    return value if src is None else src


@composite("scatter(input, dim: int, index, src=None, value=None, *, reduce=None)")
def scatter(input, dim, index, src, value, reduce):
    """A copy with src (a tensor or number) written at the indices along a dimension."""
    return _scatter(input, dim, index, _scatter_source("scatter", src, value), reduce)


def scatter_(input, dim, index, src=None, value=None, *, reduce=None):
    """In-place version of :func:`scatter`."""
    return OPS["_scatter"].inplace_function(input, dim, index, _scatter_source("scatter_", src, value), reduce)


OPS["scatter"].inplace_function = scatter_
scatter_add = op("scatter_add(input, dim: int, index, src)", "scatter_add", inplace=True, amp={"cuda": "promote"},
                 vjp={"input": lambda g: g, "src": lambda g, dim, index: _gathered(g, dim, index)})


def _gathered(g, dim, index):
    return g.gather(dim, index)


def _scatter_reduce_grads(g, input, index, src, out, dim, reduce, include_self):
    if reduce == "sum":
        grad_self, grad_src = g, g.gather(dim, index)
    elif reduce == "mean":
        count = (g.new_ones(g.shape) if include_self else g.new_zeros(g.shape)).scatter_add(
            dim, index, src.new_ones(src.shape))
        scaled = g / count.clamp(min=1)
        grad_self, grad_src = scaled, scaled.gather(dim, index)
    elif reduce == "prod":
        grad_self, grad_src = _prod_grads(g, input, index, src, out, dim, include_self)
    else:
        from_self, from_src = (input == out).to(g.dtype), (src == out.gather(dim, index)).to(g.dtype)
        if not include_self:
            from_self = from_self.scatter(dim, index, value=0.0)
        shared = g / from_self.scatter_add(dim, index, from_src)
        grad_self, grad_src = from_self * shared, from_src * shared.gather(dim, index)
        if not include_self:
            grad_self = where(_scatter(input.new_zeros(input.shape), dim, index, 1.0) != 0, 0.0, g)
            return grad_self, grad_src
    if not include_self:
        grad_self = _scatter(grad_self, dim, index, 0)
    return grad_self, grad_src


def _prod_grads(g, input, index, src, out, dim, include_self):
    """Products with the zeros left out, so that one zero still gives its gradient."""
    zero_self = input == 0
    masked_self = input.masked_fill(zero_self, 1)
    masked = masked_self.scatter_reduce(dim, index, src, "prod", include_self=include_self)
    grad_self = g * masked / masked_self
    zeros = (src == 0).to(src.dtype)
    count = input.new_zeros(input.shape).scatter_add(dim, index, zeros)
    if include_self:
        count = count + zero_self.to(count.dtype)
    lone = (src == 0) & (count.gather(dim, index) == 1)
    others = (input if include_self else input.new_ones(input.shape)).masked_fill(
        zero_self if include_self else zero_self & False, 1).scatter_reduce(
        dim, index, src.masked_fill(src == 0, 1), "prod", include_self=include_self)
    plain = (g * out).gather(dim, index) / src.masked_fill(src == 0, 1)
    grad_src = where(lone, (g * others).gather(dim, index), where(src == 0, 0.0, plain))
    return grad_self, grad_src


scatter_reduce = op("scatter_reduce(input, dim: int, index, src, reduce: str, *, include_self: bool=True)",
                    "scatter_reduce", inplace=True, vjp={("input", "src"): _scatter_reduce_grads})


@composite("index_reduce(input, dim: int, index, source, reduce: str, *, include_self: bool=True)", inplace=True)
def index_reduce(input, dim, index, source, reduce, include_self):
    """A copy with source combined at positions of one dimension: prod, mean, amax or amin."""
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise RuntimeError(f"index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got {reduce}.")
    if not include_self and (input.is_complex() or input.dtype is rules.dt.bool_):
        raise NotImplementedError("\"index_reduce_func_exclude_input_init\" not implemented for "
                                  f"'{rules.dt.scalar_name(input.dtype)}'")
    dim = dim_index(dim, input.dim())
    if not input.dim():
        return scatter_reduce(input.reshape(1), 0, index.reshape(1), source.reshape(1), reduce,
                              include_self=include_self).reshape(())
    shape = [1] * input.dim()
    shape[dim] = -1
    where_to = index.long().reshape(shape).expand(source.shape)
    return scatter_reduce(input, dim, where_to, source, reduce, include_self=include_self)


# ---- masks

@composite("masked_select(input, mask)", out="exact")
def masked_select(input, mask):
    """The elements where the mask holds, in one dimension; shapes broadcast."""
    if mask.dtype.name != "bool":
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    shape = common_shape((input, mask))
    return index(input.expand(shape).reshape(shape or (1,)), [mask.expand(shape).reshape(shape or (1,))])


masked_scatter = op("masked_scatter(input, mask, source)", "masked_scatter", inplace=True, out=False,
                    vjp={"input": lambda g, mask: g.masked_fill(mask, 0),
                         "source": lambda g, mask, source_shape: _masked_scatter_backward(g, mask, source_shape)})
_masked_scatter_backward = op("_masked_scatter_backward(grad, mask, shape: tuple)", "masked_scatter_backward",
                              vjp={"grad": lambda g, grad_shape, mask: g.new_zeros(grad_shape).masked_scatter(
                                  mask.expand(grad_shape), g)})

# ---- positions in the flattened tensor

take = op("take(input, index)", "take", out="apart exact", vjp={"input": lambda g, input_shape, index: g.new_zeros(input_shape).put(
    index, g, accumulate=True)})
put = op("put(input, index, source, accumulate: bool=False)", "put", inplace=True, out=False, vjp={
    "input": lambda g, index, accumulate: g if accumulate else g.put(index, g.new_zeros(index.shape)),
    "source": lambda g, index, source_shape: g.take(index).reshape(source_shape)})


@composite("take_along_dim(input, indices, dim=None)")
def take_along_dim(input, indices, dim):
    """gather with broadcasting; flattened input without dim."""
    if indices.dtype.name != "int64":
        raise RuntimeError("torch.take_along_dim(): dtype of indices should be Long but got "
                           f"{rules.dt.scalar_name(indices.dtype)}")
    if dim is None:
        return input.reshape(-1).gather(0, indices.reshape(-1))
    if input.dim() != indices.dim():
        raise RuntimeError(
            "torch.take_along_dim(): input and indices should have the same number of dimensions, but got "
            f"{input.dim()} dimensions for input, and {indices.dim()} dimensions for indices"
        )
    dim = dim_index(dim, input.dim())
    shapes = [list(input.shape), list(indices.shape)]
    for s in shapes:
        s[dim] = 1
    from .view import broadcast_shapes
    shape = list(broadcast_shapes(*map(tuple, shapes)))
    indices = where(indices < 0, indices + input.shape[dim], indices)
    wide = [*shape]
    wide[dim] = input.shape[dim]
    shape[dim] = indices.shape[dim]
    return input.expand(wide).gather(dim, indices.expand(shape))


_nonzero = op("_nonzero(input)", "nonzero", out=False)


@composite("nonzero(input, *, as_tuple: bool=False)")
def nonzero(input, as_tuple):
    """Coordinates of non-zero elements: one row each, or one tensor a dimension."""
    if not as_tuple:
        return _nonzero(input)
    return _nonzero(input if input.dim() else input.reshape(1)).unbind(1)


@composite("argwhere(input)", out=False)
def argwhere(input):
    """Coordinates of non-zero elements, one row each."""
    return _nonzero(input)


nonzero_static = op("nonzero_static(input, *, size: int, fill_value: int=-1)", "one_position")
