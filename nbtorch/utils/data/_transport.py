"""Objects between the main process and its workers: pickled by value, large buffers beside the pickle.

Buffers (the memory of tensors and arrays) go into one file in shared memory where there is such a place, else over the
connection after the pickle; they are never copied into it. Received arrays are writable and own their memory.
"""

import functools
import io
import mmap
import os
import pickle
import tempfile

import numpy as np

from ...core.dtype import bfloat16, int16
from ...core.interop import from_numpy
from ...core.tensor import Tensor

ALIGN = 64
SHARE_FROM = 1 << 18  # bytes; below this a file costs more than the copy
_SHARED_MEMORY = "/dev/shm"


def shared_directory():
    """A new private directory in shared memory, or None where the system has no such place."""
    if os.path.isdir(_SHARED_MEMORY) and os.access(_SHARED_MEMORY, os.W_OK) and hasattr(os, "posix_fallocate"):
        return tempfile.mkdtemp(prefix=f"nbtorch-loader-{os.getpid()}-", dir=_SHARED_MEMORY)
    return None


def _rebuild(array, is_bfloat16, requires_grad):
    tensor = from_numpy(array)
    tensor = tensor.view(bfloat16) if is_bfloat16 else tensor
    return tensor.requires_grad_() if requires_grad else tensor


def _reduce_tensor(tensor):
    if tensor.requires_grad and not tensor.is_leaf:
        raise RuntimeError(
            "Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd does not support "
            "crossing process boundaries.  If you just want to transfer the data, call detach() on the tensor before "
            "serializing (e.g., putting it on the queue)."
        )
    data = tensor.detach()
    is_bfloat16 = data.dtype is bfloat16
    data = data.contiguous()
    array = (data.view(int16) if is_bfloat16 else data).numpy()
    return _rebuild, (np.ascontiguousarray(array).reshape(array.shape), is_bfloat16, tensor.requires_grad)


@functools.lru_cache(maxsize=1)
def _pickler():
    import cloudpickle

    class Pickler(cloudpickle.Pickler):
        """By value, as cloudpickle does it; plain CPU tensors as arrays, so that their memory stays outside."""

        def reducer_override(self, obj):
            if type(obj) is Tensor and obj.device.type == "cpu":
                return _reduce_tensor(obj)
            return super().reducer_override(obj)

    return Pickler


def _dumps(value, buffers):
    out = io.BytesIO()
    _pickler()(out, protocol=5, buffer_callback=buffers.append).dump(value)
    return out.getvalue()


class Parcel:
    """One pickled object: the pickle, and its buffers, or the file that holds them."""

    def __init__(self, data, sizes, buffers=(), path=None, keep=False):
        self.data, self.sizes, self.buffers, self.path, self.keep = data, sizes, buffers, path, keep

    @classmethod
    def pack(cls, value, directory=None, keep=False):
        """`value` ready to be sent. `keep` leaves the file in place for several receivers."""
        buffers = []
        data = _dumps(value, buffers)
        buffers = [buffer.raw() for buffer in buffers]
        sizes = [buffer.nbytes for buffer in buffers]
        if directory is not None and sum(sizes) >= SHARE_FROM:
            path = _write_file(buffers, sizes, directory)
            if path is not None:
                return cls(data, sizes, path=path, keep=keep)
        return cls(data, sizes, buffers)

    def open(self):
        """The object. Its arrays lie in the received buffers."""
        buffers = self.buffers
        if self.path is not None:
            buffers = _map_file(self.path, self.sizes, private=self.keep)
            self.discard()
        return pickle.loads(self.data, buffers=buffers)

    def discard(self):
        """Removes the file, if any, when it was meant for one receiver."""
        if self.path is not None and not self.keep:
            os.unlink(self.path)
            self.path = None


def _offsets(sizes):
    offset = 0
    for size in sizes:
        yield offset
        offset += -(-size // ALIGN) * ALIGN


def _write_file(buffers, sizes, directory):
    """The path of a new file with all buffers, or None when shared memory is full."""
    handle, path = tempfile.mkstemp(dir=directory)
    try:
        # reserved first: writing to a mapping of a full file system would kill the process (SIGBUS)
        os.posix_fallocate(handle, 0, sum(-(-size // ALIGN) * ALIGN for size in sizes))
        for buffer, offset in zip(buffers, _offsets(sizes)):
            view = memoryview(buffer).cast("B") if buffer.nbytes else b""
            while len(view):
                written = os.pwrite(handle, view, offset)
                view, offset = view[written:], offset + written
    except OSError:
        os.unlink(path)
        return None
    finally:
        os.close(handle)
    return path


def _map_file(path, sizes, private):
    handle = os.open(path, os.O_RDWR)
    try:
        flags = mmap.MAP_PRIVATE if private else mmap.MAP_SHARED
        memory = memoryview(mmap.mmap(handle, 0, flags=flags))
    finally:
        os.close(handle)
    return [memory[offset : offset + size] for size, offset in zip(sizes, _offsets(sizes))]


def send(connection, head, parcel=None):
    """Sends `head` (a small tuple) and perhaps a parcel."""
    meta = None if parcel is None else (parcel.data, parcel.sizes, parcel.path, parcel.keep)
    connection.send_bytes(pickle.dumps((head, meta), protocol=5))
    if parcel is not None and parcel.path is None:
        for buffer in parcel.buffers:
            if buffer.nbytes:
                connection.send_bytes(buffer)


def receive(connection):
    """(head, parcel or None). Raises EOFError or OSError when the other side is gone."""
    head, meta = pickle.loads(connection.recv_bytes())
    if meta is None:
        return head, None
    data, sizes, path, keep = meta
    buffers = []
    if path is None:
        for size in sizes:
            buffer = bytearray(size)
            if size:
                connection.recv_bytes_into(buffer)
            buffers.append(buffer)
    return head, Parcel(data, sizes, buffers, path, keep)
