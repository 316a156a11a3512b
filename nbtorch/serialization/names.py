"""The names checkpoints speak of: PyTorch's, whatever library wrote them, and what each stands for here."""
import builtins
import codecs
import collections

from ..core import device as devices
from ..core.dtype import BY_NAME, DTYPES, SCALAR_NAMES
from ..core.dtype import dtype as dtype_class
from ..core.tensor import Tensor
from ..nn.parameter import Parameter
from . import rebuild


class TorchName:
    """A global that is written into a pickle under PyTorch's name. Calling it does what the name does."""

    __slots__ = ("function", "module", "name")

    def __init__(self, path, function=None):
        self.module, _, self.name = path.rpartition(".")
        self.function = function

    def __call__(self, *args):
        return self.function(*args)

    def __repr__(self):
        return f"{self.module}.{self.name}"


class StorageType(TorchName):
    """torch.FloatStorage and its kin: the dtype of a stored block of memory, None for UntypedStorage."""

    __slots__ = ("dtype",)

    def __init__(self, path, dtype):
        super().__init__(path)
        self.dtype = dtype

    def __call__(self, *args):
        raise rebuild.UnpicklingError(f"storages are made by loading them, not by calling {self!r}")


def _latin1(text, encoding):
    """`_codecs.encode` as pickles of protocol 2 use it, for bytes only."""
    if encoding not in ("latin1", "latin-1"):
        raise rebuild.UnpicklingError(f"_codecs.encode is allowed for latin1 only, not for {encoding!r}")
    return codecs.encode(text, "latin1")


def _layout(name):
    found = getattr(devices, str(name).removeprefix("torch."), None)
    if not isinstance(found, devices.layout):
        raise rebuild.UnpicklingError(f"unknown layout {name!r}")
    return found


UNTYPED = StorageType("torch.storage.UntypedStorage", None)
STORAGE_TYPES = {d: StorageType(f"torch.{SCALAR_NAMES[d.name]}Storage", d) for d in DTYPES
                 if d.name not in ("uint16", "uint32", "uint64")}
REBUILD_V2 = TorchName("torch._utils._rebuild_tensor_v2", rebuild.tensor_v2)
REBUILD_V3 = TorchName("torch._utils._rebuild_tensor_v3", rebuild.tensor_v3)
REBUILD_PARAMETER = TorchName("torch._utils._rebuild_parameter", rebuild.parameter)
REBUILD_PARAMETER_STATE = TorchName("torch._utils._rebuild_parameter_with_state", rebuild.parameter_with_state)
REBUILD_TYPE = TorchName("torch._tensor._rebuild_from_type_v2", rebuild.from_type)
GET_LAYOUT = TorchName("torch.serialization._get_layout", _layout)
DEVICE = TorchName("torch.device", devices.device)
SIZE = TorchName("torch.Size", devices.Size)
TENSOR = TorchName("torch.Tensor", Tensor)
PARAMETER = TorchName("torch.nn.parameter.Parameter", Parameter)
DTYPE_NAMES = {d: TorchName(f"torch.{d.name}", None) for d in DTYPES}

CLASSES = {Tensor: TENSOR, Parameter: PARAMETER, devices.Size: SIZE, devices.device: DEVICE}


def _allowed():
    table = {repr(n): n for n in (UNTYPED, REBUILD_V2, REBUILD_V3, REBUILD_PARAMETER, REBUILD_PARAMETER_STATE,
                                  REBUILD_TYPE, GET_LAYOUT)}
    table["torch._utils._rebuild_tensor"] = rebuild.tensor_v1
    for d, kind in STORAGE_TYPES.items():
        table[repr(kind)] = table[repr(kind).replace("torch.", "torch.cuda.")] = kind
    table.update({f"torch.{name}": d for name, d in BY_NAME.items()})
    table.update({"torch.device": devices.device, "torch.Size": devices.Size, "torch.Tensor": Tensor,
                  "torch.nn.parameter.Parameter": Parameter, "_codecs.encode": _latin1,
                  "collections.OrderedDict": collections.OrderedDict, "collections.Counter": collections.Counter})
    for name in ("set", "bytearray", "complex"):
        table[f"builtins.{name}"] = table[f"__builtin__.{name}"] = getattr(builtins, name)
    return table


ALLOWED = _allowed()                              # "module.name" -> object: what a checkpoint may name by default


def public_name(thing):
    """`module.name` of a class or function as checkpoints spell it: nbtorch's own under PyTorch's names."""
    name = f"{thing.__module__}.{thing.__qualname__}"
    return "torch" + name[len("nbtorch"):] if name.startswith("nbtorch.") else name


def dtype_of(kind):
    """The dtype a storage type stands for."""
    return kind.dtype if isinstance(kind, StorageType) else kind if isinstance(kind, dtype_class) else None
