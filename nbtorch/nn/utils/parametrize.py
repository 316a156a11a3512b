"""Parameters computed from other parameters. Source: https://docs.pytorch.org/docs/stable/nn.html#utilities"""

import copy
from collections.abc import Sequence
from contextlib import contextmanager

from ...core.modes import no_grad
from ...core.tensor import Tensor
from ..modules.container import ModuleDict, ModuleList
from ..parameter import Parameter

__all__ = ["cached", "ParametrizationList", "register_parametrization", "is_parametrized", "remove_parametrizations",
           "type_before_parametrizations", "transfer_parametrizations_and_params"]

_cache = {"depth": 0, "values": {}}


@contextmanager
def cached():
    """Inside, every parametrized tensor is computed once."""
    _cache["depth"] += 1
    try:
        yield
    finally:
        _cache["depth"] -= 1
        if not _cache["depth"]:
            _cache["values"] = {}


def _register(module, name, value):
    if isinstance(value, Parameter):
        module.register_parameter(name, value)
    else:
        module.register_buffer(name, value)


def _require_same(what, subject, name, before, after):
    """Raises ValueError where a parametrization changes dtype or shape."""
    for kind in ("dtype", "shape"):
        old, new = getattr(before, kind), getattr(after, kind)
        if old != new:
            raise ValueError(
                f"Registering a parametrization may not change the {kind} of the tensor, unless the `unsafe` flag is "
                f"enabled.\n{name}.{kind}: {old}\n{subject}.{kind}: {new}" if what is None else
                f"The tensor returned by parametrization.right_inverse must have the same {kind} as {name}, unless the "
                f"`unsafe` flag is enabled.\n{name}.{kind}: {old}\nreturned {kind}: {new}"
            )


class ParametrizationList(ModuleList):
    """The parametrizations of one tensor, first to last, with the original tensor (or tensors) they start from."""

    def __init__(self, modules, original, unsafe=False):
        if len(modules) == 0:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        dtype, shape = original.dtype, original.shape
        new = self._inverse(original)
        if not isinstance(new, (Tensor, Sequence)):
            raise ValueError(
                "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). "
                f"Got {type(new).__name__}"
            )
        self.is_tensor = isinstance(new, Tensor)
        self.ntensors = 1 if self.is_tensor else len(new)
        if self.is_tensor:
            self._keep_one(original, new)
        else:
            self._keep_many(original, new)
        if not unsafe:
            self._check_result(dtype, shape)

    @no_grad()
    def _inverse(self, value):
        for module in reversed(list(self)):
            if hasattr(module, "right_inverse"):
                try:
                    value = module.right_inverse(value)
                except NotImplementedError:
                    continue  # taken for the identity
        return value

    def _keep_one(self, original, new):
        for kind in ("dtype", "device"):
            if getattr(original, kind) != getattr(new, kind):
                raise ValueError(
                    f"When `right_inverse` outputs one tensor, it may not change the {kind}.\n"
                    f"original.{kind}: {getattr(original, kind)}\n"
                    f"right_inverse(original).{kind}: {getattr(new, kind)}"
                )
        if new is not original:
            original.data = new.detach()  # the same parameter object: optimizers may hold it already
        _register(self, "original", original)

    def _keep_many(self, original, new):
        for at, part in enumerate(new):
            if not isinstance(part, Tensor):
                raise ValueError(
                    "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). "
                    f"Got element {at} of the sequence with type {type(part).__name__}."
                )
            if isinstance(original, Parameter):
                part = Parameter(part.detach(), original.requires_grad)
            part.requires_grad_(original.requires_grad)
            _register(self, f"original{at}", part)

    def _check_result(self, dtype, shape):
        result = self()
        if not isinstance(result, Tensor):
            raise ValueError(f"A parametrization must return a tensor. Got {type(result).__name__}.")
        for kind, before in (("dtype", dtype), ("shape", shape)):
            if getattr(result, kind) != before:
                raise ValueError(
                    f"Registering a parametrization may not change the {kind} of the tensor, unless `unsafe` flag is "
                    f"enabled.\nunparametrized {kind}: {before}\nparametrized {kind}: {getattr(result, kind)}"
                )

    @no_grad()
    def right_inverse(self, value):
        """Sets the original so that the parametrized tensor becomes `value`."""
        for module in reversed(list(self)):
            if not hasattr(module, "right_inverse"):
                raise RuntimeError(f"parametrization {type(module).__name__} does not implement right_inverse.")
            value = module.right_inverse(value)
        if self.is_tensor:
            if not isinstance(value, Tensor):
                raise ValueError(f"`right_inverse` should return a tensor. Got {type(value).__name__}")
            if value.dtype != self.original.dtype:
                raise ValueError(
                    f"The tensor returned by `right_inverse` has dtype {value.dtype} "
                    f"while `original` has dtype {self.original.dtype}"
                )
            self.original.data = value.detach()
            return
        if not isinstance(value, Sequence):
            raise ValueError(f"'right_inverse' must return a sequence of tensors. Got {type(value).__name__}.")
        if len(value) != self.ntensors:
            raise ValueError(
                "'right_inverse' must return a sequence of tensors of length "
                f"{self.ntensors}. Got a sequence of length {len(value)}."
            )
        for at, part in enumerate(value):
            getattr(self, f"original{at}").data = part.detach()

    def forward(self):
        if self.is_tensor:
            x = self[0](self.original)
        else:
            x = self[0](*(getattr(self, f"original{at}") for at in range(self.ntensors)))
        for module in list(self)[1:]:
            x = module(x)
        return x


def _refuse_pickle(module):
    raise RuntimeError(
        "Serialization of parametrized modules is only supported through state_dict(). See:\n"
        "https://pytorch.org/tutorials/beginner/saving_loading_models.html"
        "#saving-loading-a-general-checkpoint-for-inference-and-or-resuming-training"
    )


def _deepcopy(module, memo):
    replica = memo[id(module)] = type(module).__new__(type(module))
    replica.__dict__.update(copy.deepcopy(module.__dict__, memo))
    return replica


def _inject_class(module):
    """Gives the module a class of its own, on which properties can be put."""
    kind = type(module)
    members = {"__getstate__": _refuse_pickle}
    if not hasattr(kind, "__deepcopy__"):
        members["__deepcopy__"] = _deepcopy
    module.__class__ = type(f"Parametrized{kind.__name__}", (kind,), members)


def _inject_property(module, name):
    def get(self):
        if not _cache["depth"]:
            return self.parametrizations[name]()
        key = (id(self), name)
        if key not in _cache["values"]:
            _cache["values"][key] = self.parametrizations[name]()
        return _cache["values"][key]

    def put(self, value):
        self.parametrizations[name].right_inverse(value)

    setattr(type(module), name, property(get, put))


def _check_further(module, name, parametrization):
    """A parametrization on top of another must map tensors like the present one to tensors like it."""
    label = f"module.{name}"
    before = getattr(module, name)
    after = parametrization(before)
    if not isinstance(after, Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(after).__name__}.")
    _require_same(None, f"parametrization({label})", label, before, after)
    if not hasattr(parametrization, "right_inverse"):
        return
    try:
        back = parametrization.right_inverse(after)
    except NotImplementedError:
        return
    if not isinstance(back, Tensor):
        raise ValueError(f"parametrization.right_inverse must return a tensor. Got: {type(back).__name__}")
    _require_same("inverse", "", label, before, back)


def register_parametrization(module, tensor_name, parametrization, *, unsafe=False):
    """Computes ``module.<tensor_name>`` by `parametrization` from now on; several can follow each other.

    Raises ValueError when there is no such tensor, or, unless `unsafe`, when dtype or shape would change.
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        if not unsafe:
            _check_further(module, tensor_name, parametrization)
        module.parametrizations[tensor_name].append(parametrization)
        module.parametrizations[tensor_name].unsafe |= unsafe
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        held = ParametrizationList([parametrization], getattr(module, tensor_name), unsafe=unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            _inject_class(module)
            module.parametrizations = ModuleDict()
        _inject_property(module, tensor_name)
        # straight into the table: the ModuleDict would refuse names that are attributes of its own
        module.parametrizations._modules[tensor_name] = held
    else:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a "
            f"parametrized element with name '{tensor_name}'"
        )
    return module


def is_parametrized(module, tensor_name=None):
    """Whether the tensor (or any tensor) of `module` is parametrized."""
    held = module.__dict__.get("_modules", {}).get("parametrizations")
    if not isinstance(held, ModuleDict):
        return False
    return len(held) > 0 if tensor_name is None else tensor_name in held


def remove_parametrizations(module, tensor_name, leave_parametrized=True):
    """Makes the tensor an ordinary parameter again, with its computed value (or its original one).

    Raises ValueError where there is no parametrization, or no single original to go back to.
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    held = module.parametrizations[tensor_name]
    if held.is_tensor:
        original = held.original
        if leave_parametrized:
            with no_grad():
                original.data = getattr(module, tensor_name).detach()
    elif leave_parametrized:
        value = getattr(module, tensor_name)
        original = Parameter(value.detach()) if value.requires_grad else value
    else:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor "
            "that is parametrized in terms of a sequence of tensors."
        )
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    _register(module, tensor_name, original)
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = type(module).__bases__[0]
    return module


def type_before_parametrizations(module):
    """The class of the module as the user wrote it."""
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(from_module, to_module, tensor_name=None):
    """Registers the parametrizations of one module on another and shares their originals."""
    if not is_parametrized(from_module):
        return to_module
    for name in list(from_module.parametrizations) if tensor_name is None else [tensor_name]:
        if not hasattr(to_module, name):
            setattr(to_module, name, Parameter(getattr(from_module, name).detach()))
        source = from_module.parametrizations[name]
        for parametrization in source:
            register_parametrization(to_module, name, parametrization)
        target = to_module.parametrizations[name]
        parts = ["original"] if source.is_tensor else [f"original{at}" for at in range(source.ntensors)]
        for part in parts:
            setattr(target, part, getattr(source, part))
    return to_module
