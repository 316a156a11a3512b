"""Where arrays enter and leave: tensor(), as_tensor(), from_numpy(), .numpy(), DLPack, copies for pickle."""
import copy
import warnings

import numpy as np

from ..backend.dtypes import code_of, numpy_dtype
from . import dtype as dtypes
from . import views
from .device import device_of
from .arguments import wrap
from .dtype import DTYPES, from_python, get_default_dtype
from .storage import born
from .tensor import Tensor

SEQUENCES = (list, tuple, range)


def _plain(data):
    """Nested sequences with tensors replaced by Python values."""
    if isinstance(data, Tensor):
        return data.tolist()
    if isinstance(data, SEQUENCES):
        return [_plain(x) for x in data]
    if hasattr(data, "__array__") and not isinstance(data, np.generic):
        return np.asarray(data).tolist()
    if hasattr(data, "__len__") and hasattr(data, "__getitem__") and not isinstance(data, (str, bytes, np.generic)):
        return [_plain(data[i]) for i in range(len(data))]
    return data


def _first_leaf(data):
    while isinstance(data, SEQUENCES) and len(data):
        data = data[0]
    return data


def _check_regular(data, dim=0):
    """Raise PyTorch's error for ragged nested lists."""
    if not isinstance(data, list) or not data:
        return
    lengths = [len(x) if isinstance(x, list) else None for x in data]
    for n in lengths[1:]:
        if n != lengths[0]:
            if n is None or lengths[0] is None:
                wrong = next(x for x in data if isinstance(x, list) != isinstance(data[0], list))
                raise TypeError(f"must be real number, not {type(wrong).__name__}" if isinstance(wrong, list) else
                                "not a sequence")
            raise ValueError(f"expected sequence of length {lengths[0]} at dim {dim + 1} (got {n})")
    for x in data:
        _check_regular(x, dim + 1)


def _from_nested(data, dtype):
    leaf = _first_leaf(data)
    keep = isinstance(leaf, np.generic) or isinstance(leaf, (np.ndarray, Tensor))
    if dtype is None and isinstance(leaf, Tensor):
        dtype = leaf.dtype
    plain = _plain(data)
    _check_regular(plain)
    a = np.array(plain)
    if a.size == 0 and a.dtype == np.float64 and dtype is None:
        return a.astype(numpy_dtype(get_default_dtype().name))
    if a.dtype.kind in "USOV" and a.dtype.name != "bfloat16":
        bad = _first_leaf(plain)
        if isinstance(bad, str):
            raise TypeError("new(): invalid data type 'str'")
        if bad is None or a.dtype.kind == "O" and not isinstance(bad, (int, float)):
            raise RuntimeError(f"Could not infer dtype of {type(bad).__name__}")
        raise ValueError("Overflow when unpacking long long")
    if dtype is None and not keep:
        kind = a.dtype.kind
        if kind == "u" and a.size and a.max() > 2 ** 63 - 1:
            raise ValueError("Overflow when unpacking long long")
        wanted = {"b": dtypes.bool_, "i": dtypes.int64, "u": dtypes.int64, "f": get_default_dtype(),
                  "c": get_default_dtype().to_complex()}[kind]
        return _cast(a, wanted)
    return a if dtype is None else _cast(a, dtype)


def _cast(a, dtype):
    from ..backend.arrays import cast
    return cast(a, dtype.name)


def _make(data, dtype, share):
    """An array for `data`, sharing memory when asked and possible."""
    if isinstance(data, Tensor):
        a = data._a if dtype is None or dtype is data.dtype else _cast(data._a, dtype)
        return a if share else np.array(a)
    if isinstance(data, np.ndarray):
        code_of(data)
        a = data if dtype is None else _cast(data, dtype)
        return a if share and a.dtype.isnative else np.array(a)
    if isinstance(data, np.generic):
        return np.asarray(data if dtype is None else _cast(np.asarray(data), dtype))
    if isinstance(data, (bool, int, float, complex)):
        d = dtype or from_python(data)
        if d.category < 3 and isinstance(data, complex):
            raise RuntimeError(f"value cannot be converted to type {dtypes.LONG_NAMES.get(d.name, d.name)} without overflow")
        if d.category == 1:
            info = dtypes.iinfo(d)
            if isinstance(data, int) and not info.min <= data <= info.max:
                if d is dtypes.int64:
                    raise ValueError("Overflow when unpacking long long")
                raise RuntimeError(f"value cannot be converted to type {d.name}_t without overflow")
        with np.errstate(over="ignore", invalid="ignore"):
            return np.array(data).astype(numpy_dtype(d.name)) if d.category else np.array(bool(data))
    if hasattr(data, "__dlpack__") and not hasattr(data, "__array__"):
        return np.from_dlpack(data)
    if hasattr(data, "__array__") or hasattr(data, "__array_interface__"):
        return _make(np.asarray(data), dtype, share)
    if isinstance(data, (str, bytes)):
        raise TypeError("new(): invalid data type 'str'")
    if data is None or not hasattr(data, "__len__") or isinstance(data, dict):
        raise RuntimeError(f"Could not infer dtype of {type(data).__name__}")
    return _from_nested(data, dtype)


def _on(t, device):
    device = device_of(device)
    return t if device.type == "cpu" else t.to(device)


def tensor(data, *, dtype=None, device=None, requires_grad=False, pin_memory=False):
    """A new leaf tensor holding a copy of `data` (numbers, nested sequences, arrays, tensors).

    Raises ValueError for ragged sequences, TypeError/RuntimeError for what has no dtype.
    https://docs.pytorch.org/docs/stable/generated/torch.tensor.html
    """
    if isinstance(data, Tensor):
        warnings.warn("To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
                      "sourceTensor.detach().clone().requires_grad_(True), rather than torch.tensor(sourceTensor).",
                      UserWarning, stacklevel=2)
    dtype = None if dtype is None else dtypes.as_dtype(dtype, "tensor")
    a = _make(data, dtype, False)
    t = _on(wrap(np.array(a, order="C", copy=None)), device)
    return t.requires_grad_() if requires_grad else t


def as_tensor(data, dtype=None, device=None):
    """A tensor of `data` that shares its memory where it can.

    https://docs.pytorch.org/docs/stable/generated/torch.as_tensor.html
    """
    dtype = None if dtype is None else dtypes.as_dtype(dtype, "as_tensor")
    if isinstance(data, Tensor):
        return data if dtype is None and device is None else data.to(dtype=dtype or data.dtype, device=device)
    a = _make(data, dtype, True)
    return _on(share(a) if a is data else wrap(a), device)


def from_numpy(array):
    """A tensor over the memory of a NumPy array. Raises TypeError for other objects and dtypes, ValueError for
    negative strides. https://docs.pytorch.org/docs/stable/generated/torch.from_numpy.html
    """
    if not isinstance(array, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(array).__name__})")
    if not array.dtype.isnative:
        raise ValueError("given numpy array has byte order different from the native byte order. Conversion between "
                         "byte orders is currently not supported.")
    return share(array)


def share(array):
    """A tensor over an array somebody else owns."""
    code = code_of(array)
    if any(s < 0 for s in array.strides):
        raise ValueError("At least one stride in the given numpy array is negative, and tensors with negative strides "
                         "are not currently supported. (You can probably work around this by making a copy of your "
                         "array  with array.copy().) ")
    if any(s % array.itemsize for s in array.strides):
        raise ValueError("given numpy array strides not a multiple of the element byte size. Copy the numpy array to "
                         "reallocate the memory.")
    if not array.flags.writeable:
        warnings.warn("The given NumPy array is not writable, and PyTorch does not support non-writable tensors. This "
                      "means writing to this tensor will result in undefined behavior. You may want to copy the array "
                      "to protect its data or make it writable before converting it to a tensor. This type of warning "
                      "will be suppressed for the rest of this program.", UserWarning, stacklevel=3)
    owner = array
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    return views.fresh(array, born(owner), (code << 1) | (array.ndim > 0), Tensor)


def numpy(self, *, force=False):
    """The tensor's memory as a NumPy array, shared. force=True detaches, copies from the device and resolves.

    Raises RuntimeError for tensors that require grad, TypeError for CUDA tensors and bfloat16.
    https://docs.pytorch.org/docs/stable/generated/torch.Tensor.numpy.html
    """
    t = self.detach().cpu() if force else self
    if t.requires_grad:
        raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
    if t.device.type != "cpu":
        raise TypeError(f"can't convert {t.device} device type tensor to numpy. Use Tensor.cpu() to copy the tensor to "
                        "host memory first.")
    if t.dtype is dtypes.bfloat16:
        raise TypeError("Got unsupported ScalarType BFloat16")
    return t._a


def array_protocol(self, dtype=None, copy=None):
    """np.asarray(tensor)."""
    a = self.numpy()
    if dtype is not None and a.dtype != dtype:
        return a.astype(dtype)
    return a.copy() if copy else a


def dlpack(self, *, stream=None, max_version=None, dl_device=None, copy=None):
    """Hand the memory to another library without copying it."""
    if self.requires_grad:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    return self._a.__dlpack__()


def from_dlpack(ext_tensor):
    """A tensor over another library's memory (DLPack)."""
    if isinstance(ext_tensor, Tensor):
        return ext_tensor.detach()
    return share(np.from_dlpack(ext_tensor))


def legacy_tensor(cls, args, kwargs, dtype=None):
    """`torch.Tensor(2, 3)`, `torch.Tensor([1, 2])`, `torch.FloatTensor(...)`."""
    kwargs.pop("device", None)
    dtype = dtype or get_default_dtype()
    if len(args) == 1 and isinstance(args[0], Tensor):
        t = args[0].detach() if args[0].dtype is dtype else args[0].detach().to(dtype)
    elif len(args) == 1 and not isinstance(args[0], (int, np.integer)) and type(args[0]).__name__ != "Size":
        t = wrap(np.array(_make(args[0], dtype, False)))
    else:
        sizes = tuple(args[0]) if len(args) == 1 and not isinstance(args[0], (int, np.integer)) else args
        sizes = sizes or (0,)
        t = wrap(np.empty(tuple(int(n) for n in sizes), numpy_dtype(dtype.name)))
    return t if cls is Tensor else views.fresh(t._a, t._s, t._key, cls)


class LegacyType(type):
    """`torch.FloatTensor` and its kin: call to construct, isinstance tests the dtype."""

    def __call__(cls, *args, **kwargs):
        return legacy_tensor(Tensor, args, kwargs, cls.dtype)

    def __instancecheck__(cls, value):
        return isinstance(value, Tensor) and value.dtype is cls.dtype and not value.is_cuda


def legacy_types():
    """{"FloatTensor": type, ...}."""
    made = {}
    for d in DTYPES:
        name = {"complex64": "ComplexFloat", "complex128": "ComplexDouble"}.get(d.name, dtypes.scalar_name(d)) + "Tensor"
        made[name] = LegacyType(name, (), {"dtype": d, "__module__": "torch", "is_cuda": False})
    return made


def deepcopy_tensor(self, memo):
    """copy.deepcopy of a leaf: memory copied once per storage, views stay views, grad and attributes come along."""
    if id(self) in memo:
        return memo[id(self)]
    if self.grad_fn is not None:
        raise RuntimeError("Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at "
                           "the moment.  If you were attempting to deepcopy a module, this may be because of a "
                           "torch.nn.utils.weight_norm usage, see https://github.com/pytorch/pytorch/pull/103001")
    from ..backend import arrays
    storage = memo.get(id(self._s))
    if storage is None:
        data = self._s.data.copy(order="K")
        storage = memo[id(self._s)] = born(data)
    step = self._a.itemsize
    flat = arrays.flat_bytes(storage.data)
    a = arrays.strided(flat.view(self._a.dtype), self._a.shape, [s // step for s in self._a.strides],
                       arrays.offset_of(self._a))
    t = views.fresh(a, storage, self._key, type(self))
    t._rg = self._rg
    memo[id(self)] = t
    if self._grad is not None:
        t._grad = copy.deepcopy(self._grad, memo)
    for name, value in self.__dict__.items():
        if not name.startswith("_") and name not in t.__dict__:
            t.__dict__[name] = copy.deepcopy(value, memo)
    return t


def _resize_(self, *sizes, memory_format=None):
    """Change the shape in place, keeping the memory where it is large enough; new elements are uninitialised."""
    from .inplace import resize
    shape = tuple(sizes[0]) if len(sizes) == 1 and hasattr(sizes[0], "__len__") else sizes
    if self.requires_grad:
        raise RuntimeError("cannot resize variables that require grad")
    resize(self, shape)
    return self


def new_tensor(self, data, *, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False):
    """A tensor of `data` with this tensor's dtype and device unless others are given."""
    dtype, device = dtype or self.dtype, self.device if device is None else device
    if isinstance(data, Tensor):
        return data.detach().clone().to(dtype=dtype, device=device).requires_grad_(requires_grad)
    return tensor(data, dtype=dtype, device=device, requires_grad=requires_grad)


def asarray(obj, *, dtype=None, device=None, copy=None, requires_grad=False):
    """A tensor of `obj`, sharing memory unless copy=True or a conversion is needed.

    https://docs.pytorch.org/docs/stable/generated/torch.asarray.html
    """
    if copy and isinstance(obj, Tensor):
        t = obj.detach().clone().to(dtype=dtype or obj.dtype, device=device)
    elif copy:
        t = tensor(obj, dtype=dtype, device=device)
    else:
        t = as_tensor(obj, dtype=dtype, device=device)
        if copy is False and isinstance(obj, np.ndarray) and not np.shares_memory(t._a, obj):
            raise ValueError("can't alias arbitrary sequence into a tensor.")
    return t.requires_grad_() if requires_grad else t


def frombuffer(buffer, *, dtype, count=-1, offset=0, requires_grad=False):
    """A 1-d tensor over a bytes-like object's memory.

    https://docs.pytorch.org/docs/stable/generated/torch.frombuffer.html
    """
    t = share(np.frombuffer(buffer, numpy_dtype(dtype.name), count, offset))
    return t.requires_grad_() if requires_grad else t


Tensor.numpy, Tensor.__array__, Tensor.__dlpack__ = numpy, array_protocol, dlpack
Tensor.__dlpack_device__ = lambda self: (1, 0)
Tensor.__deepcopy__ = deepcopy_tensor
Tensor.new_tensor, Tensor.resize_ = new_tensor, _resize_
