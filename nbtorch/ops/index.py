"""Indexing: `x[...]` and `x[...] = value`, and the ops they are made of.

Integers, slices, None and Ellipsis become views; tensors, lists and arrays become one `index` or `index_put` call.
"""
from ..core.op import OPS, composite, op
from ..core.tensor import Tensor
from .view import _slice, select, unsqueeze

index = op("_index(input, indices: list)", "index", node="Index",
           vjp={"input": lambda g, input_shape, indices: _index_backward(g, indices, input_shape)})
_index_backward = op("_index_backward(grad, indices: list, shape: tuple)", "index_backward_list",
                     vjp={"grad": lambda g, indices: index(g, indices)})


def _put_input(g, indices, accumulate):
    return g if accumulate else index_put(g, indices, g.new_zeros(()))


def _tuple_of_tensors(input, indices, values, accumulate=False):
    for i in indices:
        if i is not None and not isinstance(i, Tensor):
            raise TypeError(f"index_put(): argument 'indices' must be tuple of Tensors, not {type(i).__name__}")


index_put = op("index_put(input, indices: list, values, accumulate: bool=False)", "index_put", inplace=True, out=False,
               amp={"cuda": "promote"}, check=_tuple_of_tensors,
               vjp={"input": _put_input, "values": lambda g, indices: index(g, indices)})


def _kind_error(item):
    return IndexError(
        "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices "
        f"(got {type(item).__name__})"
    )


def _as_index(item):
    """A list or array standing as an index, as a tensor."""
    if isinstance(item, Tensor):
        return item
    if isinstance(item, (list, tuple, range)) or hasattr(item, "__array__"):
        from ..core.interop import tensor
        made = tensor(list(item) if isinstance(item, range) else item)
        return made.long() if made.numel() == 0 and made.dtype.category >= 2 else made
    if hasattr(item, "__index__"):
        return item.__index__()
    raise _kind_error(item)


def _width(item):
    """How many dimensions of the tensor an index item uses up."""
    if item is None or item is Ellipsis or isinstance(item, bool):
        return 0
    if isinstance(item, Tensor) and item.dtype.name in ("bool", "uint8"):
        return item._a.ndim
    return 1


def _pick(x, dim, i):
    n = x._a.shape[dim]
    if not -n <= i < n:
        raise IndexError(f"index {i} is out of bounds for dimension {dim} with size {n}")
    return select(x, dim, i)


def _cut(x, dim, s):
    start, stop, step = (v if v is None else int(v) for v in (s.start, s.stop, s.step))
    if step is not None and step <= 0:
        raise ValueError("step must be greater than zero")
    if step in (None, 1) and start in (None, 0) and (stop is None or stop >= x._a.shape[dim]):
        return x
    return _slice(x, dim, start, stop, step or 1)


def _resolve(x, key):
    """Apply the parts of `key` that are views; returns the view and the list of index tensors (empty: none)."""
    items = [
        i if i is None or i is Ellipsis or isinstance(i, (bool, int, slice, Tensor)) else _as_index(i)
        for i in key
    ]
    used = sum(map(_width, items))
    if used > x._a.ndim:
        raise IndexError(f"too many indices for tensor of dimension {x._a.ndim}")
    if sum(i is Ellipsis for i in items) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    dim, tensors = 0, {}
    for item in items:
        if item is Ellipsis:
            dim += x._a.ndim - _rest_dims(x, items, item, dim)
        elif item is None:
            x, dim = unsqueeze(x, dim), dim + 1
        elif isinstance(item, slice):
            x, dim = _cut(x, dim, item), dim + 1
        elif isinstance(item, bool) or isinstance(item, Tensor) and not item._a.ndim and item.dtype.name == "bool":
            x = unsqueeze(x, dim)
            tensors[dim] = _bool_index(item)
            dim += 1
        elif isinstance(item, int):
            x = _pick(x, dim, item)
        elif not item._a.ndim and item.dtype.category == 1 and item.dtype.name != "uint8":
            x = _pick(x, dim, int(item))
        else:
            tensors[dim] = item
            dim += item._a.ndim if item.dtype.name in ("bool", "uint8") else 1
    if not tensors:
        return x, []
    flat, d = [], 0
    while d <= max(tensors):
        flat.append(tensors.get(d))
        t = tensors.get(d)
        d += t._a.ndim if t is not None and t.dtype.name in ("bool", "uint8") else 1
    return x, flat


def _rest_dims(x, items, ellipsis, dim):
    """Dimensions before the ellipsis plus those the items after it will use."""
    after = items[next(i for i, item in enumerate(items) if item is ellipsis) + 1:]
    return dim + sum(map(_width, after))


def _bool_index(item):
    from ..core.interop import tensor
    return tensor([bool(item)])


def _key(idx):
    if isinstance(idx, tuple):
        return idx
    if isinstance(idx, list) and any(isinstance(i, (slice, type(None), type(Ellipsis))) for i in idx):
        return tuple(idx)
    return (idx,)


def getitem(self, idx):
    """`x[idx]`: a view for basic indices, a copy for tensors, lists and masks.

    https://docs.pytorch.org/docs/stable/tensor_view.html
    """
    kind = type(idx)
    if kind is int:
        a = self._a
        if not a.ndim:
            raise IndexError(
                "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ "
                "to convert a 0-dim tensor to a number"
            )
        return _pick(self, 0, idx)
    x, tensors = _resolve(self, _key(idx))
    if tensors:
        return index(x, tensors)
    return OPS["view_as_self"].function(self) if x is self else x


def setitem(self, idx, value):
    """`x[idx] = value`, with broadcasting of the value.

    https://docs.pytorch.org/docs/stable/generated/torch.Tensor.index_put_.html
    """
    if not isinstance(value, Tensor):
        if hasattr(value, "item") and not getattr(value, "shape", ()) and not isinstance(value, (int, float, complex)):
            value = value.item()                  # NumPy scalars
        if not isinstance(value, (bool, int, float, complex)):
            raise TypeError(f"can't assign a {_type_name(value)} to a {self.type()}")
    part, tensors = _resolve(self, _key(idx))
    if tensors:
        if isinstance(value, Tensor) and value._a.ndim == 0 and [i.dtype.name for i in tensors if i is not None] == ["bool"]:
            value = value.to(part.dtype)          # through one mask, a single value is filled in
        OPS["index_put"].inplace_function(part, tensors, _like(value, part))
    elif isinstance(value, Tensor):
        part.copy_(_shorter(value, part))
    else:
        part.fill_(value)


def _type_name(value):
    kind = type(value)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"


def _like(value, part):
    """The value as a tensor; numbers take the dtype they are written to, tensors must have it."""
    return value if isinstance(value, Tensor) else part.new_full((), value)


def _shorter(value, part):
    """Without leading dimensions of size 1 that the target lacks."""
    while value._a.ndim > part._a.ndim and value._a.shape[0] == 1:
        value = select(value, 0, 0)
    return value


Tensor.__getitem__ = getitem
Tensor.__setitem__ = setitem


@composite("unravel_index(indices, shape)", on="torch", out=False)
def unravel_index(indices, shape):
    """Coordinates of positions in the flattened tensor, one tensor a dimension."""
    if indices.dtype.category != 1:
        raise ValueError(f"expected 'indices' to be integer dtype, but got {indices.dtype!r}")
    if not isinstance(shape, (int, tuple, list)):
        raise TypeError(f"expected 'shape' to be int or sequence of ints, but got {type(shape)}")
    indices = indices.long()
    sizes = (shape,) if isinstance(shape, int) else tuple(int(n) for n in shape)
    if any(n < 0 for n in sizes):
        raise ValueError(f"'shape' cannot have negative values, but got {sizes}")
    parts = []
    for n in reversed(sizes):
        parts.append(indices % n)
        indices = indices // n
    return tuple(reversed(parts))
