"""Plain pickling of tensors (pickle, multiprocessing, IPython engines): what `Tensor.__reduce_ex__` answers.

Not the format of torch.save: a tensor names its storage, a storage carries its bytes, so shared memory stays shared
within one pickle, and from protocol 5 the bytes may travel out of band.
"""
import pickle

import numpy as np

from ..backend import arrays
from ..core.storage import Storage, born
from ..core.tensor import Tensor
from ..nn.parameter import Parameter
from . import rebuild, writer


def reduce_ex(self, protocol):
    """How pickle takes a tensor apart."""
    state = {k: v for k, v in self.__dict__.items() if not k.startswith("_")}
    root = getattr(self._s, "root", None) or self._s
    place = (self.storage_offset(), tuple(self.shape), self.stride(), self.requires_grad)
    return rebuilt, (type(self), root, self.dtype, place, state)


def rebuilt(kind, storage, dtype, place, state):
    """A tensor from what reduce_ex gave."""
    t = rebuild._tensor(storage, dtype, *place)
    if kind is not Tensor:
        t = Tensor._make_subclass(kind, t, t.requires_grad)
    return rebuild._with_state(t, state) if state else t


def reduce_storage(self, protocol):
    """How pickle takes a storage apart: its bytes, out of band where the pickler wants them so."""
    flat = writer.storage_bytes(self)
    data = pickle.PickleBuffer(flat) if protocol >= 5 else flat.tobytes()
    return restored, (data, self.data.dtype.name, str(self.device))


def restored(data, name, device):
    """A storage from its bytes."""
    flat = np.frombuffer(data, np.uint8)
    owner = arrays.empty((flat.size // arrays.empty((0,), name).itemsize,), name)
    owner.view(np.uint8)[...] = flat
    storage = born(owner)
    return storage if device == "cpu" else Tensor._wrap(owner).to(device)._s


def install():
    """Give Tensor, Parameter and Storage their pickling."""
    Tensor.__reduce_ex__ = Parameter.__reduce_ex__ = reduce_ex
    Storage.__reduce_ex__ = reduce_storage
