"""Per-thread state read once per call, and the switches that change it."""
import functools
import inspect
import threading

from ..backend.arrays import quiet_runner
from .device import CPU, device


class State:
    """What the door reads: grad mode, inference mode, layers, saved-tensor hooks, enclosing op call."""

    __slots__ = ("grad", "inference", "layers", "saved_hooks", "parent", "devices", "phase", "quiet")

    def __init__(self):
        self.grad, self.inference, self.layers = True, False, ()
        self.saved_hooks, self.parent, self.devices, self.phase = (), None, (), "forward"
        self.quiet = quiet_runner()               # runs kernels without floating-point warnings


class _Local(threading.local):
    def __init__(self):
        self.state = State()


LOCAL = _Local()


def state():
    """This thread's state."""
    return LOCAL.state


class _Switch:
    """A context manager that is also a decorator for functions and generators."""

    def __call__(self, function):
        if inspect.isclass(function):
            function.__init__ = self(function.__init__)
            return function
        if inspect.isgeneratorfunction(function):
            return self._wrap_generator(function)

        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            with self.clone():
                return function(*args, **kwargs)
        return wrapped

    def _wrap_generator(self, function):
        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            generator = function(*args, **kwargs)
            sent, thrown = None, None
            while True:
                try:
                    with self.clone():
                        item = generator.send(sent) if thrown is None else generator.throw(thrown)
                except StopIteration as stop:
                    return stop.value
                sent, thrown = None, None
                try:
                    sent = yield item
                except GeneratorExit:
                    generator.close()
                    raise
                except BaseException as error:
                    thrown = error
        return wrapped

    def clone(self):
        return type(self)()


class no_grad(_Switch):
    """Operations inside record no history. https://docs.pytorch.org/docs/stable/generated/torch.no_grad.html"""

    value = False

    def __new__(cls, function=None):
        self = super().__new__(cls)
        return self if function is None else self(function)

    def __init__(self, function=None):
        self.before = None

    def __enter__(self):
        local = LOCAL.state
        self.before, local.grad = local.grad, self.value

    def __exit__(self, *exc):
        LOCAL.state.grad = self.before


class enable_grad(no_grad):
    """Operations inside record history. https://docs.pytorch.org/docs/stable/generated/torch.enable_grad.html"""

    value = True


class set_grad_enabled(_Switch):
    """Turn recording on or off, at once and as a context manager."""

    def __init__(self, mode):
        self.mode, self.before = bool(mode), LOCAL.state.grad
        LOCAL.state.grad = self.mode

    def __call__(self, function):
        LOCAL.state.grad = self.before
        return super().__call__(function)

    def __enter__(self):
        LOCAL.state.grad = self.mode

    def __exit__(self, *exc):
        LOCAL.state.grad = self.before

    def clone(self):
        return type(self)(self.mode)


class inference_mode(_Switch):
    """No history and no version counting needed inside.

    https://docs.pytorch.org/docs/stable/generated/torch.autograd.grad_mode.inference_mode.html
    """

    def __new__(cls, mode=True):
        self = super().__new__(cls)
        if isinstance(mode, bool):
            return self
        self.__init__(True)
        return self(mode)

    def __init__(self, mode=True):
        self.mode = mode

    def __enter__(self):
        local = LOCAL.state
        self.before = (local.grad, local.inference)
        if self.mode:
            local.grad, local.inference = False, True
        else:
            local.inference = False

    def __exit__(self, *exc):
        LOCAL.state.grad, LOCAL.state.inference = self.before

    def clone(self):
        return type(self)(self.mode)


def is_grad_enabled():
    """Whether operations record history in this thread."""
    return LOCAL.state.grad


def is_inference_mode_enabled():
    """Whether inference mode is on in this thread."""
    return LOCAL.state.inference


class layer:
    """Put `call(op, tensors, attrs)` on the door for the extent of a `with` block; see dispatch.py."""

    def __init__(self, call):
        self.call = call

    def __enter__(self):
        local = LOCAL.state
        self.before, local.layers = local.layers, (*local.layers, self.call)
        return self.call

    def __exit__(self, *exc):
        LOCAL.state.layers = self.before


_process_device = [CPU]


def default_device():
    """The device factory functions use when none is named."""
    devices = LOCAL.state.devices
    return devices[-1] if devices else _process_device[0]


def set_default_device(value):
    """Set the device factory functions use when none is named (None: the CPU)."""
    _process_device[0] = CPU if value is None else device(value)


def push_device(value):
    """Enter `with torch.device(...)`."""
    LOCAL.state.devices += (value,)


def pop_device():
    """Leave `with torch.device(...)`."""
    LOCAL.state.devices = LOCAL.state.devices[:-1]
