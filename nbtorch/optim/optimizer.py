"""What all optimizers share: parameter groups, state, hooks, saving and loading.

A step of an optimizer is a loop over parameters that have a gradient; an optimizer says how one parameter starts
(`_start`) and how it is updated (`_updater`, which reads a group's numbers once and returns the update).
"""
import functools
import time
import warnings
from collections import OrderedDict, defaultdict
from copy import deepcopy
from itertools import chain

from .. import ops
from ..core.modes import enable_grad, is_grad_enabled, set_grad_enabled
from ..core.tensor import Tensor
from ..events.bus import bus, emit
from ..events.records import SpanEnter, SpanExit, Step, Tag

__all__ = ["Optimizer", "register_optimizer_step_pre_hook", "register_optimizer_step_post_hook"]

_global_pre, _global_post = OrderedDict(), OrderedDict()


class _RequiredParameter:
    """The default of an option that every parameter group must give."""

    def __repr__(self):
        return "<required parameter>"


required = _RequiredParameter()


class _Handle:
    """Takes its hook out again; a context manager."""

    def __init__(self, hooks, hook, first=False):
        self.hooks = hooks
        hooks[self] = hook
        if first:
            hooks.move_to_end(self, last=False)

    def remove(self):
        self.hooks.pop(self, None)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.remove()


def register_optimizer_step_pre_hook(hook):
    """Run `hook(optimizer, args, kwargs)` before every step of every optimizer; returns a handle."""
    return _Handle(_global_pre, hook)


def register_optimizer_step_post_hook(hook):
    """Run `hook(optimizer, args, kwargs)` after every step of every optimizer; returns a handle."""
    return _Handle(_global_post, hook)


def typename(value):
    """Type of a value, as PyTorch's messages name it."""
    if isinstance(value, Tensor):
        return value.type()
    kind = type(value)
    return kind.__qualname__ if kind.__module__ in ("builtins", "") else f"{kind.__module__}.{kind.__qualname__}"


def number(value):
    """A Python number of an option that may be a one-element tensor."""
    return value.item() if isinstance(value, Tensor) else value


def one_element(name, value):
    """Raise PyTorch's ValueError for a tensor option with several elements."""
    if isinstance(value, Tensor) and value.numel() != 1:
        raise ValueError(f"Tensor {name} must be 1-element")


def new_step():
    """The step counter of one parameter: a 0-d float32 on the CPU."""
    return ops.zeros(())


def _hooked(step):
    """`step` with the hooks before and after it and the events of the stream."""
    @functools.wraps(step)
    def hooked(self, *args, **kwargs):
        if not (bus.subscribers or _global_pre or _global_post or self._optimizer_step_pre_hooks
                or self._optimizer_step_post_hooks):
            return step(self, *args, **kwargs)
        name = f"Optimizer.step#{type(self).__name__}.step"
        emit(SpanEnter("record_function", name, "", time.perf_counter_ns()))
        for hook in chain(_global_pre.values(), self._optimizer_step_pre_hooks.values()):
            changed = hook(self, args, kwargs)
            if changed is not None:
                if not (isinstance(changed, tuple) and len(changed) == 2):
                    raise RuntimeError(f"{step} must return None or a tuple of (new_args, new_kwargs), but got {changed}.")
                args, kwargs = changed
        result = step(self, *args, **kwargs)
        for hook in chain(self._optimizer_step_post_hooks.values(), _global_post.values()):
            hook(self, args, kwargs)
        emit(SpanExit("record_function", name, "", time.perf_counter_ns()))
        if bus.subscribers:
            _tell(self)
        return result
    hooked.hooked = True
    return hooked


def _tell(optimizer):
    """Tell the stream which storages are optimizer state, and that a step is done."""
    for state in optimizer.state.values():
        for value in state.values():
            if isinstance(value, Tensor):
                emit(Tag(value._s, "optimizer_state"))
    emit(Step(optimizer))


def grad_only_if_differentiable(step):
    """Decorator: `step` records a graph only for optimizers made with differentiable=True."""
    @functools.wraps(step)
    def wrapped(self, *args, **kwargs):
        before = is_grad_enabled()
        set_grad_enabled(self.defaults.get("differentiable", False))
        try:
            return step(self, *args, **kwargs)
        finally:
            set_grad_enabled(before)
    return wrapped


class Optimizer:
    """Base of all optimizers. https://docs.pytorch.org/docs/stable/optim.html#torch.optim.Optimizer"""

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if "step" in cls.__dict__ and not getattr(cls.step, "hooked", False):
            cls.step = _hooked(cls.step)

    def __init__(self, params, defaults):
        self.defaults = defaults
        self._new_hooks()
        if isinstance(params, Tensor):
            raise TypeError("params argument given to the optimizer should be an iterable of Tensors or dicts, but got "
                            + typename(params))
        self.state = defaultdict(dict)
        self.param_groups = []
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def _new_hooks(self):
        for name in ("step_pre", "step_post", "state_dict_pre", "state_dict_post", "load_state_dict_pre",
                     "load_state_dict_post"):
            setattr(self, f"_optimizer_{name}_hooks", OrderedDict())

    def __getstate__(self):
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state):
        self.__dict__.update(state)
        if "_optimizer_step_pre_hooks" not in self.__dict__:
            self._new_hooks()
        self.defaults.setdefault("differentiable", False)

    def __repr__(self):
        text = type(self).__name__ + " ("
        for i, group in enumerate(self.param_groups):
            text += f"\nParameter Group {i}\n"
            text += "".join(f"    {key}: {group[key]}\n" for key in sorted(group) if key != "params")
        return text + ")"

    # ------------------------------------------------------------ hooks

    def register_step_pre_hook(self, hook):
        """Run `hook(optimizer, args, kwargs)` before each step; it may return new (args, kwargs)."""
        return _Handle(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook):
        """Run `hook(optimizer, args, kwargs)` after each step."""
        return _Handle(self._optimizer_step_post_hooks, hook)

    def register_state_dict_pre_hook(self, hook, prepend=False):
        """Run `hook(optimizer)` before `state_dict`."""
        return _Handle(self._optimizer_state_dict_pre_hooks, hook, prepend)

    def register_state_dict_post_hook(self, hook, prepend=False):
        """Run `hook(optimizer, state_dict)` after `state_dict`; it may return another one."""
        return _Handle(self._optimizer_state_dict_post_hooks, hook, prepend)

    def register_load_state_dict_pre_hook(self, hook, prepend=False):
        """Run `hook(optimizer, state_dict)` before loading; it may return another state dict."""
        return _Handle(self._optimizer_load_state_dict_pre_hooks, hook, prepend)

    def register_load_state_dict_post_hook(self, hook, prepend=False):
        """Run `hook(optimizer)` after loading."""
        return _Handle(self._optimizer_load_state_dict_post_hooks, hook, prepend)

    # ------------------------------------------------------------ saving and loading

    def state_dict(self):
        """State by parameter number and the groups, in PyTorch's form; tensors are the optimizer's own."""
        for hook in self._optimizer_state_dict_pre_hooks.values():
            hook(self)
        numbers = {}
        groups = []
        for group in self.param_groups:
            for p in group["params"]:
                numbers.setdefault(id(p), len(numbers))
            packed = {key: value for key, value in group.items() if key != "params"}
            packed["params"] = [numbers[id(p)] for p in group["params"]]
            groups.append(packed)
        state = {numbers[id(key)] if isinstance(key, Tensor) else key: value for key, value in self.state.items()}
        result = {"state": state, "param_groups": groups}
        for hook in self._optimizer_state_dict_post_hooks.values():
            changed = hook(self, result)
            result = result if changed is None else changed
        return result

    def load_state_dict(self, state_dict):
        """Take over a state dict. Raises ValueError when its groups do not fit."""
        state_dict = state_dict.copy()
        for hook in self._optimizer_load_state_dict_pre_hooks.values():
            changed = hook(self, state_dict)
            state_dict = state_dict if changed is None else changed
        groups, saved = self.param_groups, deepcopy(state_dict["param_groups"])
        if len(groups) != len(saved):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if any(len(g["params"]) != len(s["params"]) for g, s in zip(groups, saved)):
            raise ValueError("loaded state dict contains a parameter group that doesn't match the size of optimizer's "
                             "group")
        params = dict(zip(chain.from_iterable(s["params"] for s in saved),
                          chain.from_iterable(g["params"] for g in groups)))
        options = {id(p): g for g in groups for p in g["params"]}
        state = defaultdict(dict)
        for key, value in state_dict["state"].items():
            if key in params:
                state[params[key]] = _fitted(params[key], value, options[id(params[key])])
            else:
                state[key] = value
        for group, new in zip(groups, saved):
            new["params"] = group["params"]
            if "param_names" in group and "param_names" not in new:
                new["param_names"] = group["param_names"]
        self.__setstate__({"state": state, "param_groups": saved})
        for hook in self._optimizer_load_state_dict_post_hooks.values():
            hook(self)

    # ------------------------------------------------------------ groups and gradients

    def zero_grad(self, set_to_none=True):
        """Drop the gradients of all parameters, or set them to zero in place."""
        for group in self.param_groups:
            for p in group["params"]:
                if set_to_none:
                    p.grad = None
                elif p.grad is not None:
                    if p.grad.grad_fn is not None:
                        p.grad.detach_()
                    else:
                        p.grad.requires_grad_(False)
                    p.grad.zero_()

    def step(self, closure=None):
        """Update all parameters. Every optimizer has its own."""
        raise NotImplementedError

    def add_param_group(self, param_group):
        """Add a group of parameters with options of its own."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        params = param_group["params"]
        if isinstance(params, set):
            raise TypeError("optimizer parameters need to be organized in ordered collections, but the ordering of "
                            "tensors in sets will change between runs. Please use a list instead.")
        _split_names(param_group, [params] if isinstance(params, Tensor) else list(params))
        params = param_group["params"]
        for p in params:
            if not isinstance(p, Tensor):
                raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {typename(p)}")
            if not self.defaults.get("differentiable", None) and not (p.is_leaf or p.retains_grad):
                raise ValueError("can't optimize a non-leaf Tensor")
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(f"parameter group didn't specify a value of required optimization parameter {name}")
            param_group.setdefault(name, default)
        if len(params) != len({id(p) for p in params}):
            warnings.warn("optimizer contains a parameter group with duplicate parameters; in future, this will cause an "
                          "error; see github.com/pytorch/pytorch/issues/40967 for more information", stacklevel=3)
        self._check_against_groups(param_group)
        self.param_groups.append(param_group)

    def _check_against_groups(self, param_group):
        named, seen = "param_names" in param_group, set()
        for group in self.param_groups:
            seen.update(map(id, group["params"]))
            if named != ("param_names" in group):
                raise ValueError("all optimizer param groups should be with/without names. cannot add param group "
                                 f"{'with names' if named else 'without names'} to the optimizer")
        if not seen.isdisjoint(map(id, param_group["params"])):
            raise ValueError("some parameters appear in more than one parameter group")


def _split_names(group, params):
    names = [p[0] for p in params if isinstance(p, tuple)]
    group["params"] = [p[1] if isinstance(p, tuple) else p for p in params]
    if names:
        if len(names) != len(params):
            raise ValueError("all optimizer params should be with/without names. Some param names are missing")
        group["param_names"] = names


def _fitted(param, value, group, key=None):
    """A saved state value on the parameter's device and in its dtype; step counters stay float32 where they are."""
    if isinstance(value, Tensor):
        if key == "step":
            return value.to(device=param.device) if group.get("capturable") else value
        if param.is_floating_point() and value.is_floating_point() or param.is_complex() and value.is_complex():
            return value.to(dtype=param.dtype, device=param.device)
        return value.to(device=param.device)
    if isinstance(value, dict):
        return {k: _fitted(param, v, group, k) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_fitted(param, v, group) for v in value)
    return value


class PerParameter(Optimizer):
    """An optimizer that updates each parameter by itself."""

    @grad_only_if_differentiable
    def step(self, closure=None):
        """Update all parameters that have a gradient; `closure` recomputes the loss, which is returned."""
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        state_of = self.state
        for group in self.param_groups:
            update = self._updater(group)
            for p in group["params"]:
                g = p.grad
                if g is not None:
                    state = state_of.get(p)
                    if not state:
                        state = {}
                        self._start(group, p, state)
                        if state:
                            state_of[p] = state
                    if p.is_complex():
                        _update_complex(update, p, g, state)
                    else:
                        update(p, g, state)
        return loss

    def _start(self, group, p, state):
        """Fill the empty state of a parameter."""

    def _updater(self, group):
        """Read the group's numbers and return `update(param, grad, state)`."""
        raise NotImplementedError


def _update_complex(update, p, g, state):
    """Every optimizer treats a complex number as two real ones: update views with a trailing dimension of 2."""
    real = {k: ops.view_as_real(v) if isinstance(v, Tensor) and v.is_complex() else v for k, v in state.items()}
    kept = dict(real)
    update(ops.view_as_real(p), ops.view_as_real(g), real)
    for name, value in real.items():
        if kept.get(name) is not value:  # made by the update
            state[name] = ops.view_as_complex(value) if isinstance(value, Tensor) and value.dim() else value


def penalized(p, g, weight_decay, maximize):
    """The gradient to descend along, in tensor operations."""
    if maximize:
        g = -g
    return g if number(weight_decay) == 0 else g.add(p, alpha=number(weight_decay))
