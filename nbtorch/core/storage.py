"""Memory a tensor looks at: one owner array, shared by all views of it, with one version counter."""
import _thread
import gc
import threading

from ..backend import arrays
from ..events.bus import bus, emit
from ..events.records import Alloc, Free
from .device import CPU


class Storage:
    """The buffer under one or more tensors. `version` counts in-place writes."""

    __slots__ = ("data", "version", "__weakref__")
    device = CPU
    root = None

    def __init__(self, data):
        self.data, self.version = data, 0

    @property
    def nbytes(self):
        """Bytes of live array memory this storage accounts for."""
        return self.data.nbytes


class TrackedStorage(Storage):
    """What storages are while somebody listens: says when it dies."""

    __slots__ = ()

    def __del__(self):
        if bus.subscribers:
            try:
                emit(Free(id(self), self.data.nbytes, self.device))
            except KeyboardInterrupt:             # Python drops what a destructor raises: the user would press in vain
                again = threading.Timer(0.02, _thread.interrupt_main)
                again.daemon = True
                again.start()


class AliasStorage(Storage):
    """The same memory with a version counter of its own (`tensor.data`); its bytes are its root's."""

    __slots__ = ("root",)

    def __init__(self, root):
        self.root = root.root or root
        self.data, self.version = root.data, 0

    @property
    def nbytes(self):
        return 0


class CudaStorage(Storage):
    """A buffer on a CUDA device, held by CuPy. Not verified on a GPU."""

    __slots__ = ("device",)


CURRENT = [Storage]                               # the class new storages get; swapped while somebody listens


def born(data):
    """A new storage for an owner array."""
    cls = CURRENT[0]
    storage = cls(data)
    if cls is not Storage:
        emit(Alloc(id(storage), data.nbytes, storage.device, storage))
    return storage


def live_storages():
    """Every living storage, found by walking the collector's lists (tens of milliseconds; on demand only)."""
    return [o for o in gc.get_objects() if type(o) is Storage or type(o) is TrackedStorage or type(o) is CudaStorage]


def live_bytes():
    """Bytes of array memory that living tensors hold, counted by owner."""
    seen = {}
    for storage in live_storages():
        owner = arrays.owner_of(storage.data)
        seen[id(owner)] = owner.nbytes
    return sum(seen.values())


def _on_change(subscribers):
    if subscribers and CURRENT[0] is Storage:
        CURRENT[0] = TrackedStorage
        for storage in live_storages():
            if type(storage) is Storage:
                storage.__class__ = TrackedStorage
    elif not subscribers:
        CURRENT[0] = Storage


bus.on_change(_on_change)
