"""torch.save: an object as a checkpoint that PyTorch reads, too."""
import collections
import contextlib
import io
import os
import pickle
import secrets
import stat
import sys
import types

from ..backend import arrays
from ..core import device as devices
from ..core.dtype import dtype as dtype_class
from ..core.storage import Storage
from ..core.tensor import Tensor
from . import archive, names
from .names import StorageType, TorchName

MAGIC, PROTOCOL = 0x1950a86a20f9469cfc6c, 1001   # of the format before the zip file
PLAIN = {type(None), bool, int, float, str, bytes, list, tuple, dict}


class _Ref:
    """A storage on its way into the pickle's persistent ids."""

    __slots__ = ("itemsize", "kind", "storage")

    def __init__(self, storage, kind, itemsize):
        self.storage, self.kind, self.itemsize = storage, kind, itemsize


class Pickler(pickle._Pickler):
    """Python's pickler, writing tensors and their kin under PyTorch's names and storages as persistent ids."""

    dispatch = dict(pickle._Pickler.dispatch)

    def __init__(self, file, protocol, legacy=False):
        super().__init__(file, protocol)
        self.legacy = legacy
        self.keys, self.storages = {}, []         # id of a storage -> its key; (storage, itemsize) in order of keys
        self.aliases = {}                         # path -> the name written for one of nbtorch's classes
        self.alive = []                           # what memo entries are told apart by must not die

    def persistent_id(self, obj):
        """('storage', type, key, location, elements) for a storage."""
        if isinstance(obj, Storage):
            obj = _Ref(obj, names.UNTYPED, 1)
        if type(obj) is not _Ref:
            return None
        root = getattr(obj.storage, "root", None) or obj.storage
        key = self.keys.get(id(root))
        if key is None:
            key = self.keys[id(root)] = str(len(self.keys))
            self.storages.append((root, obj.itemsize))
        pid = ("storage", obj.kind, key, str(root.device), root.data.nbytes // obj.itemsize)
        return (*pid, None) if self.legacy else pid

    def reducer_override(self, obj):
        """How the library's own types are written."""
        kind = type(obj)
        if kind in PLAIN:
            return NotImplemented
        if isinstance(obj, Tensor):
            reduced = reduce_tensor(obj)
            self.alive.append(reduced)
            return reduced
        if kind is devices.layout:
            return names.GET_LAYOUT, (repr(obj),)
        if kind is devices.device:
            return names.DEVICE, (obj.type,) if obj.index is None else (obj.type, obj.index)
        if kind is devices.Size:
            return names.SIZE, (tuple(obj),)
        return NotImplemented

    def _save_named(self, obj):
        known = self.memo.get(id(obj))
        if known is not None:
            self.write(self.get(known[0]))
            return
        if self.proto >= 4:
            self.save(obj.module)
            self.save(obj.name)
            self.write(pickle.STACK_GLOBAL)
        else:
            self.write(pickle.GLOBAL + f"{obj.module}\n{obj.name}\n".encode())
        self.memoize(obj)

    def _save_dtype(self, obj):
        self._save_named(names.DTYPE_NAMES[obj])

    def save_global(self, obj, name=None):
        """Classes and functions: nbtorch's own under PyTorch's names, after a check that they can be found."""
        known = names.CLASSES.get(obj) if isinstance(obj, type) else None
        if known is not None:
            return self._save_named(known)
        module = getattr(obj, "__module__", None) or ""
        if not (module == "nbtorch" or module.startswith("nbtorch.")):
            return super().save_global(obj, name)
        name = name or getattr(obj, "__qualname__", None) or obj.__name__
        if "<locals>" in name:
            raise pickle.PicklingError(f"Can't pickle {obj}: it is a local object")
        path = f"torch{module[len('nbtorch'):]}.{name}"
        return self._save_named(self.aliases.setdefault(path, TorchName(path)))

    dispatch[TorchName] = dispatch[StorageType] = _save_named
    dispatch[dtype_class] = _save_dtype
    dispatch[types.FunctionType] = save_global


def reduce_tensor(t):
    """The call that rebuilds a tensor, under PyTorch's names."""
    from ..nn.parameter import Parameter
    kind, state = type(t), {k: v for k, v in t.__dict__.items() if not k.startswith("_")}
    if kind is Parameter:
        plain = t.data
        args = (plain, t.requires_grad, collections.OrderedDict())
        return (names.REBUILD_PARAMETER_STATE, (*args, state)) if state else (names.REBUILD_PARAMETER, args)
    call, args = _plain(t)
    if kind is Tensor and not state:
        return call, args
    return names.REBUILD_TYPE, (call, kind, args, state)


def _plain(t):
    storage, kind = t._s, names.STORAGE_TYPES.get(t.dtype)
    place = t.storage_offset(), tuple(t.shape), t.stride(), t.requires_grad, collections.OrderedDict()
    if kind is None:
        return names.REBUILD_V3, (_Ref(storage, names.UNTYPED, 1), *place, t.dtype)
    return names.REBUILD_V2, (_Ref(storage, kind, t.element_size()), *place)


def storage_bytes(storage):
    """A storage's memory as a flat uint8 array in host memory."""
    data = storage.data
    return arrays.flat_bytes(data.get() if hasattr(data, "get") else data)


def save(obj, f, pickle_module=pickle, pickle_protocol=2, _use_new_zipfile_serialization=True):
    """Save an object to a path or a binary file. A path is replaced only when all of it has been written.

    PyTorch reads the result, with weights_only=True where it holds tensors and plain containers only.
    https://docs.pytorch.org/docs/stable/generated/torch.save.html
    """
    if not isinstance(f, (str, os.PathLike)) and not hasattr(f, "write"):
        raise AttributeError("expected 'f' to be string, path, or a file-like object with a 'write' attribute")
    write = _write_zip if _use_new_zipfile_serialization else _write_legacy
    if hasattr(f, "write"):
        write(obj, f, "archive", pickle_protocol)
        return
    with replacing(os.fspath(f)) as file:
        write(obj, file, os.path.splitext(os.path.basename(os.fspath(f)))[0] or "archive", pickle_protocol)


def _write_zip(obj, file, name, protocol):
    buffer = io.BytesIO()
    pickler = Pickler(buffer, protocol)
    pickler.dump(obj)
    out = archive.Writer(file, name)
    out.record("data.pkl", buffer.getbuffer())
    out.record(".format_version", b"1")
    out.record(".storage_alignment", str(archive.ALIGNMENT).encode())
    out.record("byteorder", sys.byteorder.encode())
    for key, (storage, _) in enumerate(pickler.storages):
        out.record(f"data/{key}", storage_bytes(storage))
    out.record("version", b"3\n")
    out.close(len(pickler.storages))


def _write_legacy(obj, file, name, protocol):
    for head in (MAGIC, PROTOCOL, {"protocol_version": PROTOCOL, "little_endian": sys.byteorder == "little",
                                   "type_sizes": {"short": 2, "int": 4, "long": 4}}):
        pickle.dump(head, file, protocol)
    pickler = Pickler(file, protocol, legacy=True)
    pickler.dump(obj)
    pickle.dump([str(key) for key in range(len(pickler.storages))], file, protocol)
    for storage, itemsize in pickler.storages:
        data = storage_bytes(storage)
        file.write((len(data) // itemsize).to_bytes(8, "little"))
        file.write(data)


@contextlib.contextmanager
def replacing(path):
    """A binary file that takes the place of `path` when the block ends well; devices and pipes are written directly."""
    parent = os.path.dirname(path) or "."
    if not os.path.isdir(parent):
        raise RuntimeError(f"Parent directory {parent} does not exist.")
    if os.path.exists(path) and not stat.S_ISREG(os.stat(path).st_mode):
        with open(path, "wb") as file:
            yield file
        return
    target = os.path.realpath(path)
    temporary = f"{target}.{secrets.token_hex(6)}.tmp"
    try:
        with open(temporary, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if os.path.exists(target):
            os.chmod(temporary, stat.S_IMODE(os.stat(target).st_mode))
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.remove(temporary)
        raise

