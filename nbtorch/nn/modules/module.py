"""Module: the base class of all layers and models.

This file holds construction, attributes, registration and the call; walking over the tree, conversions, state dicts
and hooks are mixins in the files beside it.
"""

from collections import OrderedDict

from ...core.tensor import Tensor
from ...events.bus import bus
from ..parameter import Buffer, Parameter, tag
from ._calls import CallMixin
from ._convert import ConvertMixin
from ._hooks import (
    GLOBAL,
    RemovableHandle,
    register_module_backward_hook,
    register_module_buffer_registration_hook,
    register_module_forward_hook,
    register_module_forward_pre_hook,
    register_module_full_backward_hook,
    register_module_full_backward_pre_hook,
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
)
from ._state import StateMixin, _IncompatibleKeys
from ._trace import name_in_error, spanned
from ._walk import WalkMixin

__all__ = [
    "Module", "RemovableHandle", "_IncompatibleKeys", "register_module_forward_pre_hook",
    "register_module_forward_hook", "register_module_full_backward_pre_hook", "register_module_backward_hook",
    "register_module_full_backward_hook", "register_module_buffer_registration_hook",
    "register_module_module_registration_hook", "register_module_parameter_registration_hook",
]


def typename(value):
    """The type's name as error messages print it."""
    if isinstance(value, Tensor):
        return value.type()
    kind = type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def _forward_unimplemented(self, *input):
    """Computes the output from the inputs; every subclass defines it."""
    raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')


def _discard(name, *tables):
    for table in tables:
        if name in table:
            if isinstance(table, set):
                table.discard(name)
            else:
                del table[name]


class Module(CallMixin, WalkMixin, ConvertMixin, StateMixin):
    """Base class for all neural network modules; children and parameters assigned as attributes are registered.

    https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html
    """

    dump_patches = False
    call_super_init = False
    _version = 1
    training: bool

    def __init__(self, *args, **kwargs):
        if not self.call_super_init:
            if kwargs:
                raise TypeError(
                    f"{type(self).__name__}.__init__() got an unexpected keyword argument '{next(iter(kwargs))}'"
                )
            if args:
                raise TypeError(
                    f"{type(self).__name__}.__init__() takes 1 positional argument but {len(args) + 1} were given"
                )
        self.__dict__.update(
            training=True,
            _parameters={},
            _buffers={},
            _non_persistent_buffers_set=set(),
            _backward_pre_hooks=OrderedDict(),
            _backward_hooks=OrderedDict(),
            _is_full_backward_hook=None,
            _forward_hooks=OrderedDict(),
            _forward_hooks_with_kwargs=OrderedDict(),
            _forward_hooks_always_called=OrderedDict(),
            _forward_pre_hooks=OrderedDict(),
            _forward_pre_hooks_with_kwargs=OrderedDict(),
            _state_dict_hooks=OrderedDict(),
            _state_dict_pre_hooks=OrderedDict(),
            _load_state_dict_pre_hooks=OrderedDict(),
            _load_state_dict_post_hooks=OrderedDict(),
            _modules={},
        )
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    forward = _forward_unimplemented

    def __call__(self, *args, **kwargs):
        """Runs hooks, if there are any, and ``forward``."""
        try:
            call = self.forward
            if (
                self._forward_hooks or self._forward_pre_hooks or self._backward_hooks or self._backward_pre_hooks
                or GLOBAL.call
            ):
                call = self._call_impl
            if bus.nodes:
                return spanned(self, call, args, kwargs)
            return call(*args, **kwargs)
        except Exception as error:
            if "_modules" in self.__dict__:
                name_in_error(error, self)
            raise

    # -- registration ---------------------------------------------------------------------------------------------

    def _check_name(self, name, table, kind):
        if not isinstance(name, str):
            raise TypeError(f"{kind} name should be a string. Got {typename(name)}")
        if "." in name:
            raise KeyError(f'{kind} name can\'t contain "."' + (f", got: {name}" if kind == "module" else ""))
        if name == "":
            raise KeyError(f'{kind} name can\'t be empty string ""')
        if hasattr(self, name) and name not in table:
            raise KeyError(f"attribute '{name}' already exists")

    def register_buffer(self, name, tensor, persistent=True):
        """Adds a tensor that is state but no parameter; `persistent` buffers are part of ``state_dict``.

        Raises AttributeError before ``Module.__init__``, KeyError for a bad or taken name, TypeError for no tensor.
        """
        if "_buffers" not in self.__dict__:
            raise AttributeError("cannot assign buffer before Module.__init__() call")
        self._check_name(name, self._buffers, "buffer")
        if tensor is not None and not (isinstance(tensor, Tensor) or hasattr(tensor, "__torch_function__")):
            raise TypeError(
                f"cannot assign '{typename(tensor)}' object to buffer '{name}' (torch Tensor or None required)"
            )
        for hook in GLOBAL.buffer.values():
            replaced = hook(self, name, tensor)
            tensor = tensor if replaced is None else replaced
        self._buffers[name] = tensor
        if tensor is not None:
            tag(tensor, "buffer")
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def register_parameter(self, name, param):
        """Adds a parameter (None keeps the name without a value).

        Raises AttributeError before ``Module.__init__``, KeyError for a bad or taken name, TypeError for no Parameter,
        ValueError for a tensor with history.
        """
        if "_parameters" not in self.__dict__:
            raise AttributeError("cannot assign parameter before Module.__init__() call")
        self._check_name(name, self._parameters, "parameter")
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign '{typename(param)}' object to parameter '{name}' (torch.nn.Parameter or None required)"
            )
        if param is not None and param.grad_fn is not None:
            raise ValueError(
                f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be created explicitly. To "
                f"express '{name}' as a function of another Tensor, compute the value in the forward() method."
            )
        if param is not None:
            for hook in GLOBAL.parameter.values():
                replaced = hook(self, name, param)
                param = param if replaced is None else replaced
        self._parameters[name] = param

    def add_module(self, name, module):
        """Adds a child under `name`. Raises TypeError for no Module, KeyError for a bad or taken name."""
        if not isinstance(module, Module) and module is not None:
            raise TypeError(f"{typename(module)} is not a Module subclass")
        self._check_name(name, self._modules, "module")
        self._modules[name] = _announced(self, name, module)

    def register_module(self, name, module):
        """Another name of :meth:`add_module`."""
        self.add_module(name, module)

    # -- attributes -----------------------------------------------------------------------------------------------

    def __getattr__(self, name):
        # Reached for every parameter, buffer and child a forward reads, so: no loop, no second lookup.
        tables = self.__dict__
        if "_parameters" in tables:  # they are all made by __init__
            if name in (table := tables["_parameters"]):
                return table[name]
            if name in (table := tables["_modules"]):
                return table[name]
            if name in (table := tables["_buffers"]):
                return table[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name, value):
        tables = self.__dict__
        params = tables.get("_parameters")
        if isinstance(value, Parameter):
            if params is None:
                raise AttributeError("cannot assign parameters before Module.__init__() call")
            _discard(name, tables, self._buffers, self._modules, self._non_persistent_buffers_set)
            self.register_parameter(name, value)
        elif params is not None and name in params:
            if value is not None:
                raise TypeError(
                    f"cannot assign '{typename(value)}' as parameter '{name}' (torch.nn.Parameter or None expected)"
                )
            self.register_parameter(name, value)
        else:
            self._set_child_or_other(name, value)

    def _set_child_or_other(self, name, value):
        tables = self.__dict__
        modules = tables.get("_modules")
        if isinstance(value, Module):
            if modules is None:
                raise AttributeError("cannot assign module before Module.__init__() call")
            _discard(name, tables, self._parameters, self._buffers, self._non_persistent_buffers_set)
            modules[name] = _announced(self, name, value)
        elif modules is not None and name in modules:
            if value is not None:
                raise TypeError(
                    f"cannot assign '{typename(value)}' as child module '{name}' (torch.nn.Module or None expected)"
                )
            modules[name] = _announced(self, name, value)
        else:
            self._set_buffer_or_other(name, value)

    def _set_buffer_or_other(self, name, value):
        tables = self.__dict__
        buffers = tables.get("_buffers")
        known = buffers is not None and name in buffers
        if not (known or (isinstance(value, Tensor) and isinstance(value, Buffer))):
            object.__setattr__(self, name, value)
            return
        if value is not None and not isinstance(value, Tensor):
            raise TypeError(
                f"cannot assign '{typename(value)}' as buffer '{name}' (torch.nn.Buffer, torch.Tensor or None expected)"
            )
        if isinstance(value, Buffer):
            _discard(name, tables, self._parameters, self._modules, self._non_persistent_buffers_set)
            self.register_buffer(name, value, value.persistent)
            return
        for hook in GLOBAL.buffer.values():
            replaced = hook(self, name, value)
            value = value if replaced is None else replaced
        buffers[name] = value

    def __delattr__(self, name):
        if name in self._parameters:
            del self._parameters[name]
        elif name in self._buffers:
            del self._buffers[name]
            self._non_persistent_buffers_set.discard(name)
        elif name in self._modules:
            del self._modules[name]
        else:
            object.__delattr__(self, name)

    def __setstate__(self, state):
        self.__dict__.update(state)
        # Modules pickled by older versions lack what was added since.
        for table in (
            "_forward_pre_hooks", "_forward_pre_hooks_with_kwargs", "_forward_hooks_with_kwargs",
            "_forward_hooks_always_called", "_state_dict_hooks", "_state_dict_pre_hooks",
            "_load_state_dict_pre_hooks", "_load_state_dict_post_hooks", "_backward_pre_hooks",
        ):
            self.__dict__.setdefault(table, OrderedDict())
        self.__dict__.setdefault("_non_persistent_buffers_set", set())
        self.__dict__.setdefault("_is_full_backward_hook", None)

    def __getstate__(self):
        state = self.__dict__.copy()
        state.pop("_compiled_call_impl", None)
        return state

    def __dir__(self):
        names = dir(type(self)) + [n for table in (self.__dict__, self._parameters, self._modules, self._buffers)
                                   for n in table]
        return sorted(name for name in names if not name[0].isdigit())

    # -- printing -------------------------------------------------------------------------------------------------

    def _get_name(self):
        return type(self).__name__

    def extra_repr(self):
        """What stands between the parentheses of the printed module; subclasses override it."""
        return ""

    def __repr__(self):
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        children = [f"({name}): {_indented(repr(module))}" for name, module in self._modules.items()]
        if len(lines) == 1 and not children:
            return f"{self._get_name()}({lines[0]})"
        body = lines + children
        return f"{self._get_name()}(" + ("\n  " + "\n  ".join(body) + "\n" if body else "") + ")"


def _indented(text):
    return text.replace("\n", "\n  ")


def _announced(parent, name, module):
    """Lets the registration hooks see, and perhaps replace, a new child."""
    for hook in GLOBAL.module.values():
        replaced = hook(parent, name, module)
        module = module if replaced is None else replaced
    return module
