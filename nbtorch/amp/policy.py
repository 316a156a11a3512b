"""Autocast: a layer of the door that gives each op's tensors the dtype its record's ``amp`` mark asks for.

The marks turn PyTorch's lists inside out: "low" (matrix products), "fp32" (where range matters), "fp32_dtype"
(the same by setting ``dtype=``), "promote" (widest of its inputs), "banned"; a dict gives one mark per device
type, since the CPU's and CUDA's lists differ.  In-place and ``out=`` calls are never cast.  What was decided
is told by Cast events; nothing else looks in here.
"""

import functools
import threading

from ..core.dtype import bfloat16, float16, float32, float64
from ..core.modes import LOCAL
from ..core.op import OPS
from ..core.tensor import Tensor
from ..events.bus import bus, emit
from ..events.records import Cast

LOW_TYPES = (bfloat16, float16)
BANNED = (
    "torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe to autocast.\n"
    "Many models use a sigmoid layer right before the binary cross entropy layer.\n"
    "In this case, combine the two layers using torch.nn.functional.binary_cross_entropy_with_logits\n"
    "or torch.nn.BCEWithLogitsLoss.  binary_cross_entropy_with_logits and BCEWithLogits are\n"
    "safe to autocast."
)


class State(threading.local):
    """Autocast settings of one thread."""

    def __init__(self):
        self.enabled = {}  # device type -> phase in which it was switched on
        self.dtypes = {"cpu": bfloat16, "cuda": float16}
        self.cache_enabled, self.nesting, self.cache = True, 0, {}


STATE = State()


def mark(op, device_type):
    """The policy of an op on a device type, or None."""
    amp = op.amp
    return amp.get(device_type) if type(amp) is dict else amp


def _tensors(values):
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif type(value) in (list, tuple):
            yield from (each for each in value if isinstance(each, Tensor))


def _eligible(tensor, device_type):
    dtype = tensor.dtype
    return dtype.is_floating_point and dtype is not float64 and tensor.device.type == device_type


class Layer:
    """What stands on the door while autocast is on in this thread."""

    inplace = False  # in-place calls are left alone

    @staticmethod
    def claims(op):
        """Whether the op has a policy of its own; its insides then run without autocast."""
        return op.amp is not None and any(mark(op, device) is not None for device in STATE.enabled)

    def __call__(self, op, tensors, attrs):
        if op.amp is None:
            return None
        device = next((t.device.type for t in _tensors(tensors)), None)
        # Backward formulas keep the dtypes their forward chose, unless autocast was entered anew
        # (recomputation).
        if device is None or STATE.enabled.get(device) != LOCAL.state.phase:
            return None
        policy = mark(op, device)
        if policy is None:
            return None
        if policy == "banned":
            raise RuntimeError(BANNED)
        if policy == "fp32_dtype":
            return self._with_dtype(op, tensors, attrs, device)
        target = self._target(policy, tensors, device)
        changed = tuple([self._cast(op, i, value, target, device) for i, value in enumerate(tensors)])
        return changed, attrs

    @staticmethod
    def _target(policy, tensors, device):
        if policy == "low":
            return STATE.dtypes[device]
        if policy == "fp32":
            return float32
        low = STATE.dtypes[device]
        eligible = [t.dtype for t in _tensors(tensors) if _eligible(t, device)]
        if any(dtype is float32 for dtype in eligible):
            return float32
        if any(dtype is not low for dtype in eligible):
            raise RuntimeError("Unexpected floating ScalarType in at::autocast::prioritize")
        return low

    @staticmethod
    def _with_dtype(op, tensors, attrs, device):
        first = tensors[0]
        if not (isinstance(first, Tensor) and _eligible(first, device)):
            return None
        if attrs or not op.body:
            at, values = op.attr_names.index("dtype"), list(attrs)
        else:  # a composite gets all its parameters in one tuple
            at, values = [p.name for p in op.signature.parameters].index("dtype"), list(tensors)
        if values[at] is not None:
            return None
        values[at] = float32
        if bus.subscribers and first.dtype is not float32:
            emit(Cast(op, 0, first.dtype, float32, False, 0))
        return (tensors, tuple(values)) if attrs or not op.body else (tuple(values), attrs)

    def _cast(self, op, i, value, target, device):
        if type(value) in (list, tuple):
            return type(value)(self._cast(op, i, each, target, device) for each in value)
        if not isinstance(value, Tensor) or value.dtype is target or not _eligible(value, device):
            return value
        if not (
            STATE.cache_enabled
            and value.dtype is float32
            and target is STATE.dtypes[device]
            and value.requires_grad
            and value.is_leaf
            and not value._is_view()
        ):
            return self._copy(op, i, value, target, False)
        key = (id(value), LOCAL.state.grad)  # a copy made without history must not serve calls that need it
        found = STATE.cache.get(key)
        if (
            found is not None
            and found[0] is value
            and found[1] == value._version
            and found[2].dtype is target
        ):
            if bus.subscribers:
                emit(Cast(op, i, value.dtype, target, True, 0))
            return found[2]
        copy = self._copy(op, i, value, target, False)
        STATE.cache[key] = (value, value._version, copy)
        return copy

    @staticmethod
    def _copy(op, i, value, target, cached):
        copy = OPS["_to_copy"].function(value, target)
        if bus.subscribers:
            emit(Cast(op, i, value.dtype, target, cached, copy.nbytes))
        return copy


LAYER = Layer()


def _place_layer():
    """Put the layer on this thread's door exactly while some device type is on."""
    state = LOCAL.state
    if STATE.enabled and LAYER not in state.layers:
        state.layers = (*state.layers, LAYER)
    elif not STATE.enabled and LAYER in state.layers:
        state.layers = tuple(layer for layer in state.layers if layer is not LAYER)


def clear_autocast_cache():
    """Forget the low-precision copies of weights."""
    STATE.cache.clear()


def is_autocast_enabled(device_type="cuda"):
    """Whether autocast is on for this device type in this thread."""
    return device_type in STATE.enabled


def set_autocast_enabled(device_type, enabled=None):
    """Switch autocast on or off for a device type (one argument: for CUDA)."""
    if enabled is None:
        device_type, enabled = "cuda", device_type
    if enabled:
        STATE.enabled = {**STATE.enabled, device_type: LOCAL.state.phase}
    else:
        STATE.enabled = {d: phase for d, phase in STATE.enabled.items() if d != device_type}
    _place_layer()


def get_autocast_dtype(device_type):
    """The dtype "low" ops run in on this device type."""
    _known(device_type)
    return STATE.dtypes[device_type]


def set_autocast_dtype(device_type, dtype):
    """Choose the dtype "low" ops run in on this device type."""
    _known(device_type)
    STATE.dtypes = {**STATE.dtypes, device_type: dtype}


def _known(device_type):
    if device_type not in STATE.dtypes:
        raise RuntimeError(f"unsupported scalarType or device type for autocast: {device_type}")


def is_autocast_available(device_type):
    """Whether autocast knows this device type."""
    return device_type in ("cpu", "cuda")


def is_autocast_cache_enabled():
    """Whether low-precision copies of weights are kept within an autocast region."""
    return STATE.cache_enabled


def set_autocast_cache_enabled(enabled):
    """Keep or do not keep low-precision copies of weights within an autocast region."""
    STATE.cache_enabled = bool(enabled)


def is_autocast_cpu_enabled():
    """Whether autocast is on for the CPU."""
    return is_autocast_enabled("cpu")


def get_autocast_cpu_dtype():
    """The dtype "low" ops run in on the CPU."""
    return STATE.dtypes["cpu"]


def get_autocast_gpu_dtype():
    """The dtype "low" ops run in on CUDA."""
    return STATE.dtypes["cuda"]


def reset():
    """Autocast off in this thread, as at its start. A notebook calls this at the end of a cell that was cut
    short.
    """
    STATE.enabled, STATE.nesting, STATE.cache_enabled = {}, 0, True
    STATE.dtypes = {"cpu": bfloat16, "cuda": float16}
    STATE.cache.clear()
    _place_layer()


def decorate(region, function):
    """The function, run under the region at each call."""

    @functools.wraps(function)
    def wrapped(*args, **kwargs):
        with region:
            return function(*args, **kwargs)

    return wrapped
