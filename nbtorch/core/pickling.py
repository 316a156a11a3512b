"""Plain pickling of tensors (pickle, multiprocessing, notebook engines): a tensor names its storage, a
storage carries its bytes. Views of one pickle stay views of one memory, and from protocol 5 the bytes may
travel out of band.

Checkpoints have another format; see serialization.
"""
import pickle

from ..backend import arrays
from .dtype import BY_NAME
from .storage import Storage, born
from .tensor import Tensor
from .views import fresh


def reduce_tensor(self, protocol):
    """How pickle takes a tensor apart: class, storage, dtype name, place in the storage, the user's attributes."""
    state = {k: v for k, v in self.__dict__.items() if not k.startswith("_")}
    place = (self.storage_offset(), tuple(self._a.shape), self.stride(), self.requires_grad)
    return rebuilt, (type(self), getattr(self._s, "root", None) or self._s, self.dtype.name, place, state)


def rebuilt(kind, storage, name, place, state):
    """A tensor from what reduce_tensor gave."""
    offset, shape, strides, requires_grad = place
    like = arrays.empty((0,), name)
    if 0 in shape:
        a = arrays.empty(shape, name)
    else:
        data = storage.data
        if data.dtype != like.dtype:
            data = arrays.flat_bytes(data)[:data.nbytes // like.itemsize * like.itemsize].view(like.dtype)
        a = arrays.strided(data, shape, strides, offset)
    t = fresh(a, storage, BY_NAME[name].code << 1 | (a.ndim > 0), kind)
    if storage.device.type != "cpu":
        t._key |= 64
    t._rg = requires_grad
    for key, value in state.items():
        setattr(t, key, value)
    return t


def reduce_storage(self, protocol):
    """How pickle takes a storage apart: its bytes, out of band where the pickler wants them so."""
    data = self.data.get() if hasattr(self.data, "get") else self.data
    flat = arrays.flat_bytes(data)
    name = arrays.NAMES[arrays.code(self.data)]
    return restored, (pickle.PickleBuffer(flat) if protocol >= 5 else flat.tobytes(), name, str(self.device))


def restored(data, name, device):
    """A storage from its bytes."""
    source = memoryview(data)
    owner = arrays.empty((source.nbytes // arrays.empty((0,), name).itemsize,), name)
    memoryview(arrays.flat_bytes(owner))[:] = source.cast("B")
    return born(owner) if device == "cpu" else Tensor._wrap(owner).to(device)._s


Tensor.__reduce_ex__ = reduce_tensor
Storage.__reduce_ex__ = reduce_storage
