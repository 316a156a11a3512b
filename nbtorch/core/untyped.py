"""`Tensor.untyped_storage()` and friends: the buffer under a tensor, seen as bytes."""
from ..backend import arrays
from ..backend.dtypes import numpy_dtype
from . import arguments
from .tensor import Tensor


class UntypedStorage:
    """The bytes under one or more tensors. Two storages are equal when they are the same memory.

    https://docs.pytorch.org/docs/stable/storage.html#torch.UntypedStorage
    """

    def __init__(self, storage):
        self._storage = storage

    @property
    def _root(self):
        return self._storage.root or self._storage

    @property
    def _bytes(self):
        return arrays.flat_bytes(arrays.owner_of(self._root.data))

    @property
    def device(self):
        """The device the memory is on."""
        return self._root.device

    def nbytes(self):
        """Size in bytes."""
        return self._root.nbytes

    size = __len__ = nbytes

    def data_ptr(self):
        """Address of the first byte."""
        return self._bytes.__array_interface__["data"][0]

    def tolist(self):
        """The bytes as ints."""
        return self._bytes.tolist()

    def __getitem__(self, i):
        return self._bytes[i].tolist()

    def element_size(self):
        return 1

    def __eq__(self, other):
        return isinstance(other, UntypedStorage) and self._root is other._root

    def __hash__(self):
        return id(self._root)

    def _weak_ref(self):
        return id(self._root)

    def __repr__(self):
        return f"<UntypedStorage of {self.nbytes()} bytes on {self.device}>"


class TypedStorage(UntypedStorage):
    """The buffer under a tensor as elements of its dtype (legacy `Tensor.storage()`)."""

    def __init__(self, storage, dtype):
        super().__init__(storage)
        self.dtype = dtype

    def _typed(self):
        return arrays.strided(self._bytes.view(numpy_dtype(self.dtype.name)), (len(self),), (1,), 0)

    def size(self):
        """Number of elements."""
        return self._root.nbytes // self.dtype.itemsize

    __len__ = size

    def element_size(self):
        """Bytes of one element."""
        return self.dtype.itemsize

    def tolist(self):
        """The elements."""
        return self._typed().tolist()

    def __getitem__(self, i):
        return self._typed()[i].tolist()

    def untyped(self):
        """The same memory as bytes."""
        return UntypedStorage(self._storage)


def untyped_storage(self):
    """The bytes under this tensor."""
    return UntypedStorage(self._s)


def storage(self):
    """The buffer under this tensor as elements."""
    return TypedStorage(self._s, self.dtype)


def set_(self, source=None, storage_offset=0, size=None, stride=None):
    """Make this tensor look at other memory: of a tensor, or of a storage with offset, size and stride (elements)."""
    if source is None:
        source = arguments.wrap(arrays.empty((0,), self.dtype.name))
    if isinstance(source, Tensor):
        self._a, self._s, self._key = source._a, source._s, source._key
    else:
        flat = source._bytes.view(numpy_dtype(self.dtype.name))
        size = (len(flat) - storage_offset,) if size is None else tuple(size)
        stride = _packed(size) if stride is None else tuple(stride)
        self._a, self._s = arrays.strided(flat, size, stride, storage_offset), source._root
        self._key = (self._key & ~1) | (len(size) > 0)
    self._view = None
    return self


def _packed(size):
    stride, step = [], 1
    for n in reversed(size):
        stride.insert(0, step)
        step *= max(n, 1)
    return stride


def share_memory_(self):
    """The tensor itself. Memory is handed to worker processes by copy, so there is nothing to move."""
    return self


def pin_memory(self, device=None):
    """A copy in page-locked memory. Raises RuntimeError without a CUDA device, which alone could use it."""
    from ..backend.devices import cuda_count
    if not cuda_count():
        raise RuntimeError("Cannot access accelerator device when none is available.")
    return arguments.wrap(arrays.pinned(self._a))


def apply_(self, callable):
    """Replace each element by callable(element), in place. CPU only; not differentiable."""
    if self.requires_grad:
        raise TypeError("apply_() is only supported on tensors that do not require grad")
    flat = self._a.reshape(-1).tolist()
    arrays.write(self._a, arrays.from_list([callable(x) for x in flat], self.dtype.name).reshape(self._a.shape))
    self._s.version += 1
    return self


Tensor.untyped_storage, Tensor.storage, Tensor.set_ = untyped_storage, storage, set_
Tensor.share_memory_, Tensor.pin_memory, Tensor.apply_ = share_memory_, pin_memory, apply_
Tensor.is_shared = lambda self: False
Tensor.is_pinned = lambda self, device=None: False


def values(self):
    """Values of a sparse tensor. Raises RuntimeError: tensors here are dense."""
    raise RuntimeError("values expected sparse tensor layout but got Strided")


def indices(self):
    """Indices of a sparse tensor. Raises RuntimeError: tensors here are dense."""
    raise RuntimeError("indices expected sparse tensor layout but got Strided")


Tensor.values, Tensor.indices = values, indices
Tensor.name = property(lambda self: self._name, doc="None: tensors have no name.")
