"""torch.load: checkpoints of PyTorch and of nbtorch, by default without running any code they might hold."""
import importlib
import io
import os
import pickle
import sys

import numpy as np

from ..backend import arrays
from ..core.device import device as device_class
from ..core.storage import Storage, born
from ..core.tensor import Tensor
from . import archive, names
from .names import StorageType
from .rebuild import Typed
from .unpickler import Machine, find_global, globals_in, unsafe_globals
from .writer import MAGIC, PROTOCOL

ADVICE = "Check the documentation of torch.load to learn more about types accepted by default with weights_only " \
         "https://pytorch.org/docs/stable/generated/torch.load.html."
REFUSED = (
    "Weights only load failed. This file can still be loaded, to do so you have two options, do those steps "
    "only if you trust the source of the checkpoint. \n\t(1) In PyTorch 2.6, we changed the default value of "
    "the `weights_only` argument in `torch.load` from `False` to `True`. Re-running `torch.load` with "
    "`weights_only` set to `False` will likely succeed, but it can result in arbitrary code execution. Do it only if you got the file from a trusted source.\n\t(2) "
    "Alternatively, to load with `weights_only=True` please check the recommended steps in the following error message.\n\t"
    "WeightsUnpickler error: {}\n\n" + ADVICE)
NO_CUDA = ("Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False. If you "
           "are running on a CPU-only machine, please use torch.load with map_location=torch.device('cpu') to map your storages to the CPU.")


class Unpickler(pickle.Unpickler):
    """Python's unpickler for weights_only=False: PyTorch's names stand for nbtorch's things."""

    def __init__(self, file, persistent_load=None, **options):
        super().__init__(file, **options)
        if persistent_load is not None:
            self.persistent_load = persistent_load

    def find_class(self, module, name):
        """The object behind a global."""
        found = names.ALLOWED.get(f"{module}.{name}")
        if found is not None:
            return found
        if module == "torch" or module.startswith("torch."):
            try:
                return _attribute("nbtorch" + module[len("torch"):], name)
            except (ImportError, AttributeError):
                if module.partition(".")[0] not in sys.modules:
                    raise
        return super().find_class(module, name)


def _attribute(module, name):
    found = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return found


def _run(file, persistent_load, pickle_module, weights_only, options):
    """One pickle of a file: by the restricted machine, or by a full unpickler."""
    if weights_only:
        try:
            return Machine(file, persistent_load, find_global).load()
        except pickle.UnpicklingError as e:
            raise pickle.UnpicklingError(REFUSED.format(e)) from None
    if pickle_module in (None, pickle):
        return Unpickler(file, persistent_load, **options).load()

    class Foreign(pickle_module.Unpickler):
        find_class = Unpickler.find_class
    unpickler = Foreign(file, **options)
    unpickler.persistent_load = persistent_load
    return unpickler.load()


class Storages:
    """The storages of one checkpoint, made when the pickle first names them and moved where map_location says."""

    def __init__(self, map_location, make):
        self.map_location, self.make, self.known = map_location, make, {}

    def persistent_load(self, pid):
        """The storage a persistent id speaks of. Raises UnpicklingError for ids that are none of a checkpoint's."""
        if type(pid) is not tuple or len(pid) < 5 or pid[0] != "storage" or not isinstance(pid[1], StorageType):
            raise pickle.UnpicklingError(f"unknown persistent ID {pid!r:.80}")
        _, kind, key, location, count = pid[:5]
        if type(key) is not str or type(location) is not str or type(count) is not int or count < 0:
            raise pickle.UnpicklingError(f"malformed persistent ID {pid!r:.80}")
        if not key.replace("_", "").isalnum():
            raise pickle.UnpicklingError(f"a storage cannot have the key {key!r:.80}")
        name = "uint8" if kind.dtype is None else kind.dtype.name
        itemsize = arrays.empty((0,), name).itemsize
        storage = self.known.get(key)
        if storage is None:
            storage = self.known[key] = self._restored(born(self.make(key, name, count, itemsize)), location)
        elif count * itemsize > storage.data.nbytes:
            raise pickle.UnpicklingError(f"storage {key} is named with two sizes")
        return storage if kind.dtype is None else Typed(storage, kind.dtype)

    def _restored(self, storage, location):
        where = self.map_location
        if isinstance(where, dict):
            where = where.get(location, location)
        elif where is not None and not isinstance(where, (str, device_class, int)):
            moved = where(storage, location)
            if moved is not None:
                return moved if isinstance(moved, Storage) else getattr(moved, "_s", storage)
            where = None
        target = device_class(location if where is None else where)
        if target.type == "cpu":
            return storage
        if target.type == "cuda":
            return _to_cuda(storage, target)
        raise RuntimeError(f"don't know how to restore data location of {type(storage).__name__} (tagged with {target})")


def _to_cuda(storage, target):
    try:
        return Tensor._wrap(storage.data).to(target)._s
    except (ImportError, RuntimeError, AssertionError) as e:
        raise RuntimeError(NO_CUDA) from e


def _swapped(flat, itemsize, name):
    """Bytes of elements written on a machine of the other byte order, in place; a complex number is two."""
    unit = itemsize // 2 if name.startswith("complex") else itemsize
    if unit > 1:
        flat.view(f"u{unit}").byteswap(inplace=True)


def _load_zip(file, path, map_location, pickle_module, weights_only, mmap, options):
    reader = archive.Reader(file, path)
    if reader.has("constants.pkl"):
        raise RuntimeError("this file is a TorchScript archive; load it with torch.jit.load")
    order = reader.bytes("byteorder", 64).decode("ascii", "replace") if reader.has("byteorder") else sys.byteorder
    if order not in ("little", "big"):
        raise ValueError("Unknown endianness type: " + order)

    def make(key, name, count, itemsize):
        record, nbytes = f"data/{key}", count * itemsize
        if nbytes > reader.record_size(record):
            raise RuntimeError(f"record {record} holds {reader.record_size(record)} bytes where the "
                               f"checkpoint speaks of {nbytes}")
        if mmap and nbytes and order == sys.byteorder:
            return reader.mapped(record, nbytes).view(np.ndarray).view(arrays.empty((0,), name).dtype)
        owner = arrays.empty((count,), name)
        flat = owner.view(np.uint8)
        reader.into(record, flat)
        if order != sys.byteorder:
            _swapped(flat, itemsize, name)
        return owner

    storages = Storages(map_location, make)
    return _run(io.BytesIO(reader.bytes("data.pkl")), storages.persistent_load, pickle_module, weights_only, options)


def _load_legacy(file, map_location, pickle_module, weights_only, options):
    """Files of before the zip format: pickles one after another, then the storages' bytes. Always to the CPU."""
    if map_location is not None and str(map_location) != "cpu":
        raise RuntimeError("files of the format before the zip file are loaded to the CPU: use map_location='cpu' and move")
    run = (lambda load=None: _run(file, load, pickle_module, weights_only, options))
    try:
        if run() != MAGIC:
            raise RuntimeError("Invalid magic number; corrupt file?")
        if run() != PROTOCOL:
            raise RuntimeError("Invalid protocol version")
        info = run()
    except (KeyError, ValueError, ImportError) as e:
        raise pickle.UnpicklingError(f"this file is no checkpoint: {e}") from e
    here = file.tell()
    left = file.seek(0, os.SEEK_END) - here
    file.seek(here)

    def make(key, name, count, itemsize):
        if count * itemsize > left:
            raise RuntimeError(f"storage {key} claims {count * itemsize} bytes in a file that has {left} left")
        owners[key] = arrays.empty((count,), name)
        return owners[key]

    owners, storages = {}, Storages("cpu", make)
    result = run(storages.persistent_load)
    for key in run():
        owner = owners.get(key)
        count = int.from_bytes(file.read(8), "little")
        if owner is None or count != owner.size:
            raise RuntimeError(f"storage {key!r:.40} of the file does not fit what its pickle says")
        data = file.read(owner.nbytes)
        if len(data) != owner.nbytes:
            raise RuntimeError("unexpected end of the checkpoint file")
        flat = owner.view(np.uint8)
        flat[...] = np.frombuffer(data, np.uint8)
        if info.get("little_endian", True) != (sys.byteorder == "little"):
            _swapped(flat, owner.itemsize, owner.dtype.name)
    return result


def load(f, map_location=None, pickle_module=None, *, weights_only=None, mmap=None, **pickle_load_args):
    """Load an object saved by torch.save, PyTorch's or nbtorch's, from a path or a seekable binary file.

    weights_only (the default): tensors, containers and what add_safe_globals allowed; everything else is
    refused with an UnpicklingError that names it. mmap=True maps storages from the file.
    https://docs.pytorch.org/docs/stable/generated/torch.load.html
    """
    if weights_only and pickle_module is not None:
        raise RuntimeError("Can not safely load weights when explicit pickle_module is specified")
    weights_only = pickle_module is None if weights_only is None else weights_only
    options = {"encoding": "utf-8", **pickle_load_args} if not weights_only else {}
    if isinstance(f, (str, os.PathLike)):
        with open(f, "rb") as file:
            return _load(file, os.fspath(f), map_location, pickle_module, weights_only, mmap, options)
    if mmap:
        raise ValueError("f must be a file path in order to use the mmap argument")
    for method in ("seek", "tell", "read"):
        if not hasattr(f, method):
            raise AttributeError(f"'{type(f).__name__}' object has no attribute '{method}'. You can only "
                                 "torch.load from a file that is seekable. Please pre-load the data into a "
                                 "buffer like io.BytesIO and try to load from it instead.")
    return _load(f, None, map_location, pickle_module, weights_only, mmap, options)


def _load(file, path, map_location, pickle_module, weights_only, mmap, options):
    start = file.tell()
    head = file.read(4)
    file.seek(start)
    if not head:
        raise EOFError("Ran out of input")
    if head == b"PK\x03\x04":
        return _load_zip(file, path, map_location, pickle_module, weights_only, mmap, options)
    if mmap:
        raise RuntimeError("mmap can only be used with files saved with `torch.save(..., "
                           "_use_new_zipfile_serialization=True)`, please torch.save your checkpoint with this option in order to use mmap.")
    return _load_legacy(file, map_location, pickle_module, weights_only, options)


def get_unsafe_globals_in_checkpoint(f):
    """Names of the globals in a checkpoint that a load with weights_only=True would refuse.

   
    https://docs.pytorch.org/docs/stable/notes/serialization.html#torch.serialization.get_unsafe_globals_in_checkpoint
    """
    if isinstance(f, (str, os.PathLike)):
        with open(f, "rb") as file:
            return get_unsafe_globals_in_checkpoint(file)
    reader = archive.Reader(f)
    return unsafe_globals(globals_in(reader.bytes("data.pkl")))
