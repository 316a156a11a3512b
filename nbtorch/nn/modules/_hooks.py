"""The hooks of modules: forward, backward and registration, per module and for all modules."""

import itertools
import warnings
import weakref
from collections import OrderedDict

from ...core.function import Function
from ...core.modes import is_grad_enabled
from ...core.tensor import Tensor


class RemovableHandle:
    """What every ``register_*_hook`` returns: ``remove()`` takes the hook away; also a context manager.

    `tables` are the dicts holding something under the handle's id; they are held weakly where they can be.
    """

    next_id = itertools.count()

    def __init__(self, table, *, extra_dict=()):
        self.id = next(RemovableHandle.next_id)
        extra = extra_dict if isinstance(extra_dict, (list, tuple)) else (extra_dict,)
        self._tables = tuple(weakref.ref(t) for t in (table, *extra))

    def remove(self):
        """Takes the hook away; doing it twice is allowed."""
        for table in self._tables:
            held = table()
            if held is not None:
                held.pop(self.id, None)

    def __getstate__(self):
        return self.id, tuple(table() for table in self._tables)

    def __setstate__(self, state):
        self.id, tables = state
        self._tables = tuple(weakref.ref(OrderedDict() if t is None else t) for t in tables)
        later = itertools.count(self.id + 1)
        RemovableHandle.next_id = max(later, RemovableHandle.next_id, key=lambda count: count.__reduce__()[1][0])

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        self.remove()


def add_hook(table, hook, *, marks=(), prepend=False):
    """Puts `hook` into `table` and a mark into each table of `marks`; returns the handle."""
    handle = RemovableHandle(table, extra_dict=marks)
    table[handle.id] = hook
    for mark in marks:
        mark[handle.id] = True
    if prepend:
        table.move_to_end(handle.id, last=False)
    return handle


class _Global:
    """Hooks that run for every module. `call` has a mark for each hook that concerns a call: one test on the way."""

    def __init__(self):
        self.call = OrderedDict()
        self.forward_pre, self.forward, self.backward_pre, self.backward = (OrderedDict() for _ in range(4))
        self.forward_with_kwargs, self.forward_always = OrderedDict(), OrderedDict()
        self.parameter, self.buffer, self.module = (OrderedDict() for _ in range(3))
        self.full_backward = None  # PyTorch allows only one of the two kinds of backward hook at a time


GLOBAL = _Global()

_MIXED_GLOBAL = (
    "Cannot use both regular backward hooks and full backward hooks as a global Module hook. Please use only one of "
    "them."
)


def register_module_forward_pre_hook(hook):
    """Runs ``hook(module, args)`` before the forward of every module."""
    return add_hook(GLOBAL.forward_pre, hook, marks=(GLOBAL.call,))


def register_module_forward_hook(hook, *, with_kwargs=False, always_call=False):
    """Runs ``hook(module, args, output)`` after the forward of every module."""
    marks = [GLOBAL.call]
    if with_kwargs:
        marks.append(GLOBAL.forward_with_kwargs)
    if always_call:
        marks.append(GLOBAL.forward_always)
    return add_hook(GLOBAL.forward, hook, marks=marks)


def register_module_backward_hook(hook):
    """Runs ``hook(module, grad_input, grad_output)`` for every module; old kind, looks at the last node only."""
    if GLOBAL.full_backward is True:
        raise RuntimeError(_MIXED_GLOBAL)
    GLOBAL.full_backward = False
    return add_hook(GLOBAL.backward, hook, marks=(GLOBAL.call,))


def register_module_full_backward_hook(hook):
    """Runs ``hook(module, grad_input, grad_output)`` when the gradients of a module's inputs are known."""
    if GLOBAL.full_backward is False:
        raise RuntimeError(_MIXED_GLOBAL)
    GLOBAL.full_backward = True
    return add_hook(GLOBAL.backward, hook, marks=(GLOBAL.call,))


def register_module_full_backward_pre_hook(hook):
    """Runs ``hook(module, grad_output)`` when the gradients of a module's outputs are known."""
    return add_hook(GLOBAL.backward_pre, hook, marks=(GLOBAL.call,))


def register_module_parameter_registration_hook(hook):
    """Runs ``hook(module, name, parameter)`` at every ``register_parameter``."""
    return add_hook(GLOBAL.parameter, hook)


def register_module_buffer_registration_hook(hook):
    """Runs ``hook(module, name, buffer)`` at every ``register_buffer``."""
    return add_hook(GLOBAL.buffer, hook)


def register_module_module_registration_hook(hook):
    """Runs ``hook(module, name, submodule)`` whenever a child is registered."""
    return add_hook(GLOBAL.module, hook)


class BackwardHookFunction(Function):
    """The identity; on the way back it hands the gradients to a callback, which may replace them."""

    @staticmethod
    def forward(ctx, callback, materialize, *tensors):
        ctx.callback = callback
        ctx.set_materialize_grads(materialize)
        ctx.mark_non_differentiable(*[t for t in tensors if not t.requires_grad])
        return tensors

    @staticmethod
    def backward(ctx, *grads):
        return (None, None, *ctx.callback(grads))


def _through(values, callback, materialize):
    """Sends the tensors among `values` through the identity; gives the values and the positions of tensors.

    `materialize`: gradients that never came are shown as zeros, not as None.
    """
    at = [i for i, value in enumerate(values) if isinstance(value, Tensor)]
    if not (at and is_grad_enabled() and any(values[i].requires_grad for i in at)):
        return values, None
    passed = BackwardHookFunction.apply(callback, materialize, *[values[i] for i in at])
    values = list(values)
    for i, tensor in zip(at, passed):
        values[i] = tensor
    return tuple(values), at


def _spread(at, grads, count):
    full = [None] * count
    for i, grad in zip(at, grads):
        full[i] = grad
    return tuple(full)


class BackwardHook:
    """The full backward hooks of one module call: gradients of outputs are noted on arrival, those of inputs shown."""

    def __init__(self, module, hooks, pre_hooks):
        self.module, self.hooks, self.pre_hooks = module, hooks, pre_hooks
        self.grad_outputs = None
        self.inputs_at, self.inputs_count = None, 0
        self.outputs_at, self.outputs_count = None, 0

    def watch_inputs(self, args):
        """Gives the arguments with an identity node under the tensors."""
        self.inputs_count = len(args)
        args, self.inputs_at = _through(args, self._at_inputs, True)
        return args

    def watch_outputs(self, result):
        """Gives the result with an identity node over its tensors."""
        alone = not isinstance(result, tuple)
        values = (result,) if alone else result
        self.outputs_count = len(values)
        values, at = _through(values, self._at_outputs, False)
        if at is None:
            return result
        self.outputs_at = at
        return values[0] if alone else _same_type(result, values)

    def _at_outputs(self, grads):
        self.grad_outputs = _spread(self.outputs_at, grads, self.outputs_count)
        for hook in self.pre_hooks:
            replaced = hook(self.module, self.grad_outputs)
            if replaced is None:
                continue
            replaced = replaced if isinstance(replaced, tuple) else (replaced,)
            if len(replaced) != self.outputs_count:
                raise RuntimeError(
                    "Backward pre hook returned an invalid number of grad_output, "
                    f"got {len(replaced)}, but expected {self.outputs_count}"
                )
            self.grad_outputs = replaced
        sent = self.grad_outputs
        if self.inputs_at is None:  # no input will ever get a gradient, so the hooks run now
            self._run_without_inputs()
        return tuple(sent[i] for i in self.outputs_at)

    def _run_without_inputs(self):
        warnings.warn(
            "Full backward hook is firing when gradients are computed with respect to module outputs since no inputs "
            "require gradients. See "
            "https://docs.pytorch.org/docs/main/generated/torch.nn.Module.html"
            "#torch.nn.Module.register_full_backward_hook for more details.",
            stacklevel=5,
        )
        for hook in self.hooks:
            returned = hook(self.module, (None,) * self.inputs_count, self.grad_outputs)
            if returned is not None and not (isinstance(returned, tuple) and all(r is None for r in returned)):
                raise RuntimeError(
                    "Backward hook for Modules where no input requires gradient should always return None or None for "
                    "all gradients."
                )
        self.grad_outputs = None

    def _at_inputs(self, grads):
        if self.grad_outputs is None:
            return grads  # the gradient came past the module's output, as in double backward
        shown = _spread(self.inputs_at, grads, self.inputs_count)
        for hook in self.hooks:
            replaced = hook(self.module, shown, self.grad_outputs)
            if replaced is None:
                continue
            replaced = replaced if isinstance(replaced, tuple) else (replaced,)
            if len(replaced) != len(shown):
                raise RuntimeError(
                    "Backward hook returned an invalid number of grad_input, "
                    f"got {len(replaced)}, but expected {len(shown)}"
                )
            shown = replaced
        self.grad_outputs = None
        return tuple(shown[i] for i in self.inputs_at)


def _same_type(result, values):
    """Named tuples take their fields one by one."""
    return type(result)(*values) if hasattr(result, "_fields") else type(result)(values)
