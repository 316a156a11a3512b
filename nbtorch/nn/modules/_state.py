"""The part of Module that saves and loads: ``state_dict`` and ``load_state_dict``."""

import warnings
import weakref
from collections import OrderedDict, namedtuple
from collections.abc import Mapping

from ...core.modes import no_grad
from ...core.tensor import Tensor
from ..parameter import Parameter, is_lazy
from ._hooks import add_hook

_EXTRA_STATE = "_extra_state"


class _IncompatibleKeys(namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    """What ``load_state_dict(strict=False)`` found missing or did not know."""

    __slots__ = ()

    def __repr__(self):
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return super().__repr__()

    __str__ = __repr__


class _WrappedHook:
    """A load hook that is given its module; the module is held weakly, since it holds the hook."""

    def __init__(self, hook, module=None):
        self.hook = hook
        self.with_module = module is not None
        self.module = weakref.ref(module) if self.with_module else None

    def __call__(self, *args):
        if not self.with_module:
            return self.hook(*args)
        module = self.module()
        if module is None:
            raise RuntimeError("You are trying to call the hook of a dead Module!")
        return self.hook(module, *args)

    def __getstate__(self):
        module = self.module() if self.with_module else None
        return {"hook": self.hook, "with_module": self.with_module, "module": module}

    def __setstate__(self, state):
        self.hook, self.with_module = state["hook"], state["with_module"]
        if self.with_module:
            if state["module"] is None:
                raise RuntimeError("You are trying to revive the hook of a dead Module!")
            self.module = weakref.ref(state["module"])
        else:
            self.module = None


class StateMixin:
    """Saving and loading."""

    def get_extra_state(self):
        """Further state to keep in ``state_dict``; define it together with ``set_extra_state``."""
        raise RuntimeError(
            "Reached a code path in Module.get_extra_state() that should never be called. "
            "Please define get_extra_state() together with set_extra_state()."
        )

    def set_extra_state(self, state):
        """Takes back what ``get_extra_state`` gave."""
        raise RuntimeError(
            "Reached a code path in Module.set_extra_state() that should never be called. "
            "Please define set_extra_state() together with get_extra_state()."
        )

    # -- hooks ----------------------------------------------------------------------------------------------------

    def register_state_dict_post_hook(self, hook):
        """Runs ``hook(module, state_dict, prefix, local_metadata)`` after saving; it may change the dict in place."""
        hook._from_public_api = True
        return add_hook(self._state_dict_hooks, hook)

    def register_state_dict_pre_hook(self, hook):
        """Runs ``hook(module, prefix, keep_vars)`` before saving."""
        return add_hook(self._state_dict_pre_hooks, hook)

    def _register_state_dict_hook(self, hook):
        if getattr(hook, "_from_public_api", False):
            raise RuntimeError(
                "Cannot register the same function as the state dict post hook that was "
                "previously registered via register_state_dict_post_hook"
            )
        return add_hook(self._state_dict_hooks, hook)

    def register_load_state_dict_pre_hook(self, hook):
        """Runs ``hook(module, state_dict, prefix, metadata, strict, missing, unexpected, errors)`` before loading."""
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def _register_load_state_dict_pre_hook(self, hook, with_module=False):
        return add_hook(self._load_state_dict_pre_hooks, _WrappedHook(hook, self if with_module else None))

    def register_load_state_dict_post_hook(self, hook):
        """Runs ``hook(module, incompatible_keys)`` after loading; it may change the key lists in place."""
        return add_hook(self._load_state_dict_post_hooks, hook)

    # -- saving ---------------------------------------------------------------------------------------------------

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        for name, param in self._parameters.items():
            if param is not None:
                destination[prefix + name] = param if keep_vars else param.detach()
        for name, buffer in self._buffers.items():
            if buffer is not None and name not in self._non_persistent_buffers_set:
                destination[prefix + name] = buffer if keep_vars else buffer.detach()
        if type(self).get_extra_state is not StateMixin.get_extra_state:
            destination[prefix + _EXTRA_STATE] = self.get_extra_state()

    def state_dict(self, *args, destination=None, prefix="", keep_vars=False):
        """All parameters and persistent buffers by dotted name, sharing memory with the module, without history."""
        if args:
            warnings.warn(
                "Positional args are being deprecated, use kwargs instead. Refer to "
                "https://pytorch.org/docs/main/generated/torch.nn.Module.html#torch.nn.Module.state_dict"
                " for details.",
                FutureWarning,
                stacklevel=2,
            )
            destination = args[0] if destination is None else destination
            prefix = args[1] if len(args) > 1 and prefix == "" else prefix
            keep_vars = args[2] if len(args) > 2 and keep_vars is False else keep_vars
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        local_metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = local_metadata
        for hook in self._state_dict_pre_hooks.values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        for hook in self._state_dict_hooks.values():
            result = hook(self, destination, prefix, local_metadata)
            if not getattr(hook, "_from_public_api", False):
                destination = destination if result is None else result
            elif result is not None:
                raise RuntimeError("state_dict post-hook must return None")
        return destination

    # -- loading --------------------------------------------------------------------------------------------------

    def _load_from_state_dict(
        self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
    ):
        """Loads this module's own parameters and buffers; subclasses override it to read older versions."""
        for hook in self._load_state_dict_pre_hooks.values():
            hook(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        own = {**self._parameters, **self._buffers}
        own = {n: t for n, t in own.items() if t is not None and n not in self._non_persistent_buffers_set}
        assign = local_metadata.get("assign_to_params_buffers", False)
        for name, param in own.items():
            key = prefix + name
            if key in state_dict:
                message = self._load_one(name, param, key, state_dict[key], assign)
                if message:
                    error_msgs.append(message)
            elif strict:
                missing_keys.append(key)
        extra = prefix + _EXTRA_STATE
        self._load_extra(extra, state_dict, strict, missing_keys, unexpected_keys)
        if strict:
            for key in state_dict:
                if key.startswith(prefix) and key != extra:
                    head, _, rest = key[len(prefix):].partition(".")
                    if head not in (self._modules if rest else own):
                        unexpected_keys.append(key)

    def _load_one(self, name, param, key, source, assign):
        """Copies (or assigns) one tensor; returns what to complain about, or None."""
        if not (isinstance(source, Tensor) or hasattr(source, "__torch_function__")):
            return (
                f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object from '
                f"checkpoint but received {type(source)}"
            )
        if not is_lazy(param):
            if len(param.shape) == 0 and tuple(source.shape) == (1,):
                source = source[0]  # checkpoints older than 0.4 keep scalars as one-element vectors
            if source.shape != param.shape:
                return (
                    f"size mismatch for {key}: copying a param with shape {source.shape} from checkpoint, "
                    f"the shape in current model is {param.shape}."
                )
        if param.is_meta and not source.is_meta and not assign:
            warnings.warn(
                f"for {key}: copying from a non-meta parameter in the checkpoint to a meta "
                "parameter in the current model, which is a no-op. (Did you mean to "
                "pass `assign=True` to assign items in the state dictionary to their "
                "corresponding key in the module instead of copying them in place?)",
                stacklevel=5,
            )
        try:
            with no_grad():
                self._store(name, param, source, assign)
        except Exception as error:
            return (
                f'While copying the parameter named "{key}", whose dimensions in the model are {param.size()} and '
                f"whose dimensions in the checkpoint are {source.size()}, an exception occurred : {error.args}."
            )
        return None

    def _store(self, name, param, source, assign):
        if not assign:
            param.copy_(source)
            return
        if isinstance(param, Parameter):
            if isinstance(source, Parameter):
                source.requires_grad_(param.requires_grad)
            else:
                source = Parameter(source, requires_grad=param.requires_grad)
        setattr(self, name, source)

    def _load_extra(self, key, state_dict, strict, missing_keys, unexpected_keys):
        if type(self).set_extra_state is not StateMixin.set_extra_state:
            if key in state_dict:
                self.set_extra_state(state_dict[key])
            elif strict:
                missing_keys.append(key)
        elif strict and key in state_dict:
            unexpected_keys.append(key)

    def load_state_dict(self, state_dict, strict=True, assign=False):
        """Copies a state dict into the module and its descendants (`assign`: takes the tensors themselves).

        Returns (missing_keys, unexpected_keys). Raises RuntimeError naming every wrong shape and, when `strict`, every
        missing or unknown key; TypeError when `state_dict` is no mapping.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        missing, unexpected, errors = [], [], []
        metadata = getattr(state_dict, "_metadata", None)
        state_dict = OrderedDict(state_dict)
        if metadata is not None:
            state_dict._metadata = metadata
        _load_tree(self, state_dict, "", metadata, assign, (missing, unexpected, errors))
        if strict:
            lists = (("Unexpected", unexpected), ("Missing", missing))
            for kind, keys in lists:
                if keys:
                    errors.insert(0, f"{kind} key(s) in state_dict: " + ", ".join(f'"{k}"' for k in keys) + ". ")
        if errors:
            raise RuntimeError(
                f"Error(s) in loading state_dict for {type(self).__name__}:\n\t" + "\n\t".join(errors)
            )
        return _IncompatibleKeys(missing, unexpected)


def _load_tree(module, state_dict, prefix, metadata, assign, found):
    local_metadata = {} if metadata is None else metadata.get(prefix[:-1], {})
    if assign:
        local_metadata["assign_to_params_buffers"] = assign
    module._load_from_state_dict(state_dict, prefix, local_metadata, True, *found)
    for name, child in module._modules.items():
        if child is not None:
            inner = f"{prefix}{name}."
            part = {key: value for key, value in state_dict.items() if key.startswith(inner)}
            _load_tree(child, part, inner, metadata, assign, found)
    keys = _IncompatibleKeys(found[0], found[1])
    for hook in module._load_state_dict_post_hooks.values():
        if hook(module, keys) is not None:
            raise AssertionError(
                "Hooks registered with ``register_load_state_dict_post_hook`` are not "
                "expected to return new values, if incompatible_keys need to be modified, "
                "it should be done inplace."
            )
