"""From what a checkpoint says to tensors. Every size, offset and stride is checked against the storage it names."""
from pickle import UnpicklingError

from ..backend import arrays
from ..core import views
from ..core.dtype import dtype as dtype_class
from ..core.storage import Storage
from ..core.tensor import Tensor


class Typed:
    """A storage together with the dtype it was saved under."""

    __slots__ = ("dtype", "storage")

    def __init__(self, storage, dtype):
        self.storage, self.dtype = storage, dtype

    @property
    def nbytes(self):
        """Bytes of the storage."""
        return self.storage.nbytes


def _whole_numbers(values, what):
    if not isinstance(values, (tuple, list)) or not all(type(v) is int and v >= 0 for v in values):
        raise UnpicklingError(f"{what} of a tensor must be non-negative integers, got {values!r:.80}")
    return tuple(values)


def _tensor(storage, dtype, offset, size, stride, requires_grad):
    if not isinstance(storage, Storage) or not isinstance(dtype, dtype_class):
        raise UnpicklingError("a tensor can only be rebuilt over a storage of the checkpoint")
    size, stride = _whole_numbers(size, "sizes"), _whole_numbers(stride, "strides")
    _whole_numbers((offset,), "the storage offset")
    if len(size) != len(stride) or len(size) > 64:
        raise UnpicklingError(f"sizes {size} and strides {stride} of a tensor do not fit together")
    a = view_of(storage.data, dtype, size, stride, offset)
    key = (dtype.code << 1) | (a.ndim > 0) | (0 if storage.device.type == "cpu" else 64)
    t = views.fresh(a, storage, key, Tensor)
    if requires_grad:
        if not (dtype.is_floating_point or dtype.is_complex):
            raise UnpicklingError(f"a tensor of {dtype!r} cannot require a gradient")
        t._rg = True
    return t


def view_of(data, dtype, size, stride, offset):
    """An array over a storage's memory. Raises RuntimeError where it would reach outside of it."""
    last = offset + sum((n - 1) * s for n, s in zip(size, stride)) + 1 if 0 not in size else 0
    if last * dtype.itemsize > data.nbytes:
        raise RuntimeError(f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {offset}, "
                           f"and itemsize {dtype.itemsize} requiring a storage size of {last * dtype.itemsize} "
                           f"are out of bounds for storage of size {data.nbytes}")
    like = arrays.empty((0,), dtype.name)
    if 0 in size:
        return arrays.empty(size, dtype.name)
    if data.dtype != like.dtype:
        data = arrays.flat_bytes(data)[:data.nbytes // dtype.itemsize * dtype.itemsize].view(like.dtype)
    return arrays.strided(data, size, stride, offset)


def tensor_v1(storage, offset, size, stride):
    """torch._utils._rebuild_tensor."""
    return tensor_v2(storage, offset, size, stride, False, None)


def tensor_v2(storage, offset, size, stride, requires_grad, backward_hooks, metadata=None):
    """torch._utils._rebuild_tensor_v2: the dtype is the storage's."""
    if not isinstance(storage, Typed):
        raise UnpicklingError("_rebuild_tensor_v2 needs a typed storage")
    return _tensor(storage.storage, storage.dtype, offset, size, stride, requires_grad)


def tensor_v3(storage, offset, size, stride, requires_grad, backward_hooks, dtype, metadata=None):
    """torch._utils._rebuild_tensor_v3: the dtype is given."""
    return _tensor(getattr(storage, "storage", storage), dtype, offset, size, stride, requires_grad)


def parameter(data, requires_grad, backward_hooks):
    """torch._utils._rebuild_parameter."""
    from ..nn.parameter import Parameter
    if not isinstance(data, Tensor):
        raise UnpicklingError("a parameter can only be rebuilt from a tensor")
    return Parameter(data, bool(requires_grad))


def parameter_with_state(data, requires_grad, backward_hooks, state):
    """torch._utils._rebuild_parameter_with_state: a parameter with attributes of its own."""
    return _with_state(parameter(data, requires_grad, backward_hooks), state)


def from_type(function, kind, args, state):
    """torch._tensor._rebuild_from_type_v2: a tensor of a subclass, or one with attributes of its own."""
    t = function(*args)
    if not isinstance(t, Tensor) or not (isinstance(kind, type) and issubclass(kind, Tensor)):
        raise UnpicklingError("_rebuild_from_type_v2 is for tensors")
    if type(t) is not kind:
        t = Tensor._make_subclass(kind, t, t.requires_grad)
    return _with_state(t, state)


def _with_state(t, state):
    if isinstance(state, tuple) and len(state) == 2:          # (__dict__, slots), as copyreg writes it
        state = {**(state[0] or {}), **(state[1] or {})}
    if not isinstance(state, dict) or not all(isinstance(k, str) for k in state):
        raise UnpicklingError(f"the attributes of a tensor must be a dict, got {type(state).__name__}")
    private = [k for k in state if k.startswith("_")]
    if private:
        raise UnpicklingError(f"a checkpoint may not set the private attribute {private[0]!r} of a tensor")
    for name, value in state.items():
        setattr(t, name, value)
    return t
