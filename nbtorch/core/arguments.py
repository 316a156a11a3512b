"""From tensor arguments to arrays: unwrapping, numbers in tensor positions, lists, dtype rules, and back to tensors."""
import functools

from ..backend import arrays as backend
from ..backend.dtypes import CODE_OF_NUM, code_of
from . import storage as storages
from . import views
from .device import device
from .dtype import DTYPES, from_python, scalar_name
from .modes import LOCAL
from .graph import new
from .storage import Storage

ndarray = backend.ndarray
NUMBER_KEYS = {bool: -1, int: -2, float: -3, complex: -4}
NUMBERS = {-1: False, -2: 0, -3: 0.0, -4: 0j}
CURRENT = storages.CURRENT
KEY_OF_NUM = {num: code << 1 for num, code in CODE_OF_NUM.items()}    # NumPy's type number -> key of a 0-d tensor
T = None                                          # the Tensor class; tensor.py sets it


class Plan:
    """For one op and one pattern of argument types: the casts its rule asks for and the kernel that answers."""

    __slots__ = ("function", "entry", "chain", "casts", "ufunc")

    def __init__(self, op, keys, device):
        self.chain = op.kernels_for(device)
        self.entry = self.chain[0]
        self.function, self.ufunc = self.entry.function, self.entry.takes_out
        self.casts = None
        if op.rule is not None:
            infos = [_info(k) for k in keys if k is not None]
            if infos and all(k is None or k < 0 for k in keys):
                raise TypeError(f"{op.name}(): argument '{op.tensor_names[0]}' (position 1) must be Tensor, not "
                                f"{type(NUMBERS[keys[0]]).__name__}")
            targets = iter(op.rule(infos))
            wanted = [None if k is None else next(targets) for k in keys]
            present = {DTYPES[k >> 1 & 31] if d is None else d for k, d in zip(keys, wanted) if k is not None and k >= 0}
            casts = [None if d is None or k >= 0 and DTYPES[k >> 1 & 31] is d else d.name if k >= 0
                     else _number(d, k) if d in present and d.name != "bfloat16" else (d.name,) for k, d in zip(keys, wanted)]
            if any(c is not None for c in casts):
                self.casts = casts


def _number(d, key):
    """What a Python number of this key needs to stand beside arrays of dtype `d`: nothing where NumPy treats it as weak,
    wrapping around (as C conversions do) for the narrow integers, else the type of d's category."""
    if d.category == 1 and d.name != "int64":
        return functools.partial(_wrapped, d.itemsize * 8, d.is_signed)
    return None if -key - 1 <= d.category else (bool, int, float, complex)[d.category]


def _wrapped(bits, signed, value):
    value = int(value) & (1 << bits) - 1
    return value - (1 << bits) if signed and value >> bits - 1 else value


def _info(key):
    if key < 0:
        return from_python(NUMBERS[key]), 0
    return DTYPES[key >> 1 & 31], 1 + (key & 1)


def cast_arguments(args, casts):
    """Arguments as the rule wants them. A Python number stays one (weak) where some tensor has the target dtype,
    else becomes a 0-d array of it."""
    return [a if c is None else backend.cast(a, c) if type(c) is str else backend.full((), a, c[0]) if type(c) is tuple
            else a if type(a) is c or isinstance(a, complex) else c(a) for a, c in zip(args, casts)]


def shape_error(values, error):
    """PyTorch's error for operands that do not broadcast, in place of the array module's."""
    if "broadcast" not in str(error):
        return error
    shape = ()
    for v in values:
        other = getattr(v, "shape", ())
        for back in range(1, min(len(shape), len(other)) + 1):
            n, m = shape[-back], other[-back]
            if n != m and n != 1 and m != 1:
                return RuntimeError(f"The size of tensor a ({n}) must match the size of tensor b ({m}) at non-singleton "
                                    f"dimension {max(len(shape), len(other)) - back}")
        longer, shorter = (shape, other) if len(shape) >= len(other) else (other, shape)
        pad = (1,) * (len(longer) - len(shorter)) + tuple(shorter)
        shape = tuple(m if n == 1 else n for n, m in zip(longer, pad))
    return error


def decline(plan, args, attrs):
    """The first provider declined; ask the others in order."""
    for entry in plan.chain[1:]:
        out = LOCAL.state.quiet(entry.function, *args, *attrs)
        if out is not NotImplemented:
            entry.calls += 1
            return out
    dtype = next((scalar_name(DTYPES[code_of(a)]) for a in args if isinstance(a, ndarray)), "None")
    raise NotImplementedError(f"\"{plan.entry.name}\" not implemented for '{dtype}'")


def wrap(out):
    """A tensor that owns the array a kernel returned."""
    if type(out) is not ndarray:
        if backend.on_device(out):
            return wrap_cuda(out)
        out = backend.as_array(out)
    if out.base is not None:
        out = backend.owned(out)
    t = new(T)
    t._a = out
    key = KEY_OF_NUM.get(out.dtype.num)
    if key is None:
        key = KEY_OF_NUM[out.dtype.num] = code_of(out) << 1
    t._key = key | 1 if out.ndim else key
    if CURRENT[0] is Storage:
        t._s = s = new(Storage)
        s.data, s.version = out if out.base is None else backend.owner_of(out), 0
    else:
        t._s = storages.born(backend.owner_of(out))
    return t


def wrap_cuda(out):
    """A tensor over a CuPy array. Not verified on a GPU."""
    t = new(T)
    t._a, t._key = out, (code_of(out) << 1) | (out.ndim > 0) | 64
    t._s = storages.CudaStorage(out)
    t._s.device = device("cuda", out.device.id)
    return t


def unwrap(op, ts, grad):
    """Arrays, keys, bit mask of arguments needing a gradient, and the device, of plain tensor arguments."""
    args, keys, mask, bit = [], [], 0, 1
    for t in ts:
        if isinstance(t, T):
            if t._view is not None and grad:
                views.refresh(t)
            args.append(t._a)
            keys.append(t._key)
            if grad and (t._fn is not None or t._rg):
                mask |= bit
        elif t is None:
            args.append(None)
            keys.append(None)
        else:
            t, key = number(op, t, len(args))
            args.append(t)
            keys.append(key)
        bit += bit
    return args, keys, mask


def number(op, value, i):
    """A Python number standing where a tensor may stand, or PyTorch's TypeError."""
    parameter = op.signature.tensors[i]
    key = NUMBER_KEYS.get(type(value))
    if key is None:
        value = getattr(value, "item", lambda: value)() if not isinstance(value, (list, tuple, ndarray)) else value
        key = NUMBER_KEYS.get(type(value))
    if key is None or (i == 0 and parameter.kind != "number" and op.tensor_names[0] == "input"):
        raise TypeError(f"{op.name}(): argument '{parameter.name}' (position {i + 1}) must be Tensor, "
                        f"not {type(value).__name__}")
    return value, key


def flatten(op, ts):
    """Tensor arguments with lists opened, and the layout that puts them back."""
    flat, layout = [], []
    for i, t in enumerate(ts):
        if op.signature.tensors[i].kind == "list":
            if not isinstance(t, (list, tuple)):
                raise TypeError(f"{op.name}(): argument '{op.tensor_names[i]}' (position {i + 1}) must be tuple of "
                                f"Tensors, not {type(t).__name__}")
            for j, item in enumerate(t):
                if not isinstance(item, T) and (item is not None or len(op.tensor_names) == 1):
                    raise TypeError(f"expected Tensor as element {j} in argument {i}, but got {type(item).__name__}")
            layout.append((len(flat), len(flat) + len(t)))
            flat.extend(t)
        else:
            layout.append(len(flat))
            flat.append(t)
    layout.append(len(flat))
    return flat, tuple(layout)


def nest(layout, flat):
    """Flat values put back into the lists of the signature."""
    return [flat[w[0]:w[1]] if type(w) is tuple else flat[w] for w in layout[:-1]]


def device_type(flat):
    """Type of the device all tensor arguments are on. Raises RuntimeError when they differ."""
    found = {str(t._s.device) for t in flat if isinstance(t, T) and (t._a.ndim or str(t._s.device) != "cpu")}
    if len(found) > 1:
        raise RuntimeError("Expected all tensors to be on the same device, but found at least two devices, "
                           f"{' and '.join(sorted(found))}!")
    return found.pop().split(":")[0] if found else "cpu"
