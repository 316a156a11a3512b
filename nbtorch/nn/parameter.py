"""Parameters and buffers: tensors that a module registers by itself when they are assigned to it."""

from collections import OrderedDict

from .. import ops
from ..core.tensor import Tensor
from ..events.bus import bus, emit
from ..events.records import Tag

__all__ = ["Parameter", "Buffer", "UninitializedParameter", "UninitializedBuffer", "is_lazy"]


def tag(tensor, category):
    """Tells memory views what the tensor's memory is for, if any are listening."""
    if bus.subscribers:
        emit(Tag(tensor._s, category))


class _ParameterMeta(type(Tensor)):
    def __instancecheck__(cls, instance):
        # A tensor subclass passed to Parameter() keeps its own type and carries only the mark.
        return super().__instancecheck__(instance) or (
            cls is Parameter and isinstance(instance, Tensor) and getattr(instance, "_is_param", False)
        )


class Parameter(Tensor, metaclass=_ParameterMeta):
    """A tensor that is a module parameter: it requires a gradient and shows up in ``module.parameters()``."""

    def __new__(cls, data=None, requires_grad=True):
        if data is None:
            data = ops.empty(0)
        if type(data) is Tensor or type(data) is Parameter:
            parameter = Tensor._make_subclass(cls, data, requires_grad)
            tag(parameter, "parameter")
            return parameter
        tensor = data.detach().requires_grad_(requires_grad)
        if type(tensor) is not type(data):
            raise RuntimeError(
                f"Creating a Parameter from an instance of type {type(data).__name__} requires that detach() "
                f"returns an instance of the same type, but return type {type(tensor).__name__} was found instead. "
                "To use the type as a Parameter, please correct the detach() semantics defined by its "
                "__torch_dispatch__() implementation."
            )
        tensor._is_param = True
        return tensor

    def __init__(self, data=None, requires_grad=True):
        """All work is done in ``__new__``; this only keeps ``Tensor.__init__`` from seeing the arguments."""

    def __deepcopy__(self, memo):
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.data.clone(), self.requires_grad)
        return memo[id(self)]

    def __reduce_ex__(self, protocol):
        return _rebuild_parameter, (self.data, self.requires_grad, OrderedDict())


def _rebuild_parameter(data, requires_grad, backward_hooks):
    """Used by pickle; hooks are not restored, as in PyTorch."""
    return Parameter(data, requires_grad)


class _BufferMeta(type(Tensor)):
    def __instancecheck__(cls, instance):
        return super().__instancecheck__(instance) or (
            cls is Buffer and isinstance(instance, Tensor) and getattr(instance, "_is_buffer", False)
        )


class Buffer(Tensor, metaclass=_BufferMeta):
    """A tensor that becomes a module buffer on assignment; ``persistent=False`` keeps it out of ``state_dict``."""

    def __new__(cls, data=None, *, persistent=True):
        if data is None:
            data = ops.empty(0)
        tensor = data.detach().requires_grad_(data.requires_grad)
        tensor.persistent = persistent
        tensor._is_buffer = True
        return tensor


_NO_SHAPE = (
    "Can't access the shape of an uninitialized parameter or buffer. This error usually happens in "
    "`load_state_dict` when trying to load an uninitialized parameter into an initialized one. Call `forward` "
    "to initialize the parameters before accessing their attributes."
)


class UninitializedTensorMixin:
    """What a lazy module holds until its first call: dtype and device are known, the shape is not."""

    cls_to_become = Tensor

    def materialize(self, shape, device=None, dtype=None):
        """Gives the tensor its shape (values stay undefined) and turns it into an ordinary one, in place."""
        self.data = ops.empty(shape, device=device or self.data.device, dtype=dtype or self.data.dtype)
        self.__class__ = self.cls_to_become

    @property
    def shape(self):
        raise RuntimeError(_NO_SHAPE)

    def size(self, dim=None):
        raise RuntimeError(_NO_SHAPE)

    def share_memory_(self):
        raise RuntimeError(
            "Can't share memory on an uninitialized parameter or buffer. Call `forward` to initialize the "
            "parameters before calling `module.share_memory()`."
        )

    def __repr__(self):
        return f"<{type(self).__name__}>"

    def __reduce_ex__(self, protocol):
        return type(self), (self.requires_grad, self.device, self.dtype)

    def __deepcopy__(self, memo):
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.requires_grad, self.device, self.dtype)
        return memo[id(self)]


def is_lazy(param):
    """Whether `param` still waits for its shape."""
    return isinstance(param, UninitializedTensorMixin)


class UninitializedParameter(UninitializedTensorMixin, Parameter):
    """A parameter whose shape is found at the first forward."""

    cls_to_become = Parameter

    def __new__(cls, requires_grad=True, device=None, dtype=None):
        return Tensor._make_subclass(cls, ops.empty(0, device=device, dtype=dtype), requires_grad)

    def __init__(self, requires_grad=True, device=None, dtype=None):
        """All work is done in ``__new__``."""


class UninitializedBuffer(UninitializedTensorMixin, Tensor):
    """A buffer whose shape is found at the first forward."""

    cls_to_become = Tensor

    def __new__(cls, requires_grad=False, device=None, dtype=None, persistent=True):
        tensor = Tensor._make_subclass(cls, ops.empty(0, device=device, dtype=dtype), requires_grad)
        tensor.persistent = persistent
        tensor._is_buffer = True
        return tensor

    def __init__(self, requires_grad=False, device=None, dtype=None, persistent=True):
        """All work is done in ``__new__``."""
