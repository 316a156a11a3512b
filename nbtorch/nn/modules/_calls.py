"""The part of Module that runs and registers hooks around ``forward``."""

import functools
import warnings

from ...core.tensor import Tensor
from ._hooks import GLOBAL, BackwardHook, add_hook


class CallMixin:
    """Hooks around the call."""

    def register_forward_pre_hook(self, hook, *, prepend=False, with_kwargs=False):
        """Runs ``hook(module, args)`` before ``forward``; it may return new arguments.

        `with_kwargs`: ``hook(module, args, kwargs)``, which may return (args, kwargs).
        """
        marks = (self._forward_pre_hooks_with_kwargs,) if with_kwargs else ()
        return add_hook(self._forward_pre_hooks, hook, marks=marks, prepend=prepend)

    def register_forward_hook(self, hook, *, prepend=False, with_kwargs=False, always_call=False):
        """Runs ``hook(module, args, output)`` after ``forward``; it may return a new output.

        `always_call` runs it even when the call fails.
        """
        marks = []
        if with_kwargs:
            marks.append(self._forward_hooks_with_kwargs)
        if always_call:
            marks.append(self._forward_hooks_always_called)
        return add_hook(self._forward_hooks, hook, marks=marks, prepend=prepend)

    def register_full_backward_pre_hook(self, hook, prepend=False):
        """Runs ``hook(module, grad_output)`` when the gradients of the outputs are known; it may return new ones."""
        return add_hook(self._backward_pre_hooks, hook, prepend=prepend)

    def register_full_backward_hook(self, hook, prepend=False):
        """Runs ``hook(module, grad_input, grad_output)`` when the gradients of the inputs are known."""
        if self._is_full_backward_hook is False:
            raise RuntimeError(
                "Cannot use both regular backward hooks and full backward hooks on a single Module. "
                "Please use only one of them."
            )
        self._is_full_backward_hook = True
        return add_hook(self._backward_hooks, hook, prepend=prepend)

    def register_backward_hook(self, hook):
        """The old kind of backward hook: it sees only the last node of the module. Use the full one."""
        if self._is_full_backward_hook is True:
            raise RuntimeError(
                "Cannot use both regular backward hooks and full backward hooks on a single Module. "
                "Please use only one of them."
            )
        self._is_full_backward_hook = False
        return add_hook(self._backward_hooks, hook)

    def _get_backward_hooks(self):
        """All hooks by kind: (full, old)."""
        full, old = [], []
        if GLOBAL.full_backward is True:
            full += GLOBAL.backward.values()
        elif GLOBAL.full_backward is False:
            old += GLOBAL.backward.values()
        if self._is_full_backward_hook is True:
            full += self._backward_hooks.values()
        elif self._is_full_backward_hook is False:
            old += self._backward_hooks.values()
        return full, old

    def _get_backward_pre_hooks(self):
        return [*GLOBAL.backward_pre.values(), *self._backward_pre_hooks.values()]

    def _call_impl(self, *args, **kwargs):
        """The call with hooks. Forward hooks that want to run always also run when it fails."""
        called = set()
        try:
            return self._call_with_hooks(args, kwargs, called)
        except Exception:
            self._run_always_called(args, kwargs, called)
            raise

    def _call_with_hooks(self, args, kwargs, called):
        args, kwargs = self._run_pre_hooks(args, kwargs)
        full, old = self._get_backward_hooks()
        pre = self._get_backward_pre_hooks()
        watch = BackwardHook(self, full, pre) if full or pre else None
        if watch is not None:
            args = watch.watch_inputs(args)
        result = self.forward(*args, **kwargs)
        for key, hook, with_kwargs, _ in self._all_forward_hooks():
            called.add(key)
            replaced = hook(self, args, kwargs, result) if with_kwargs else hook(self, args, result)
            result = result if replaced is None else replaced
        if watch is not None:
            if not isinstance(result, (Tensor, tuple)):
                warnings.warn(
                    "For backward hooks to be called, module output should be a Tensor or a tuple of Tensors"
                    f" but received {type(result)}",
                    stacklevel=4,
                )
            result = watch.watch_outputs(result)
        if old:
            self._hook_last_node(result, args, old)
        return result

    def _run_pre_hooks(self, args, kwargs):
        for hook in GLOBAL.forward_pre.values():
            replaced = hook(self, args)
            args = args if replaced is None else replaced if isinstance(replaced, tuple) else (replaced,)
        for key, hook in list(self._forward_pre_hooks.items()):
            if key not in self._forward_pre_hooks_with_kwargs:
                replaced = hook(self, args)
                args = args if replaced is None else replaced if isinstance(replaced, tuple) else (replaced,)
                continue
            replaced = hook(self, args, kwargs)
            if replaced is None:
                continue
            if not (isinstance(replaced, tuple) and len(replaced) == 2):
                raise RuntimeError(
                    f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {replaced}."
                )
            args, kwargs = replaced
        return args, kwargs

    def _all_forward_hooks(self):
        """(key, hook, takes kwargs, runs always) of global hooks, then of the module's own."""
        for key, hook in list(GLOBAL.forward.items()):
            yield key, hook, key in GLOBAL.forward_with_kwargs, key in GLOBAL.forward_always
        for key, hook in list(self._forward_hooks.items()):
            yield key, hook, key in self._forward_hooks_with_kwargs, key in self._forward_hooks_always_called

    def _run_always_called(self, args, kwargs, called):
        for key, hook, with_kwargs, always in self._all_forward_hooks():
            if not always or key in called:
                continue
            try:
                hook(self, args, kwargs, None) if with_kwargs else hook(self, args, None)
            except Exception as error:
                kind = "global module" if key in GLOBAL.forward else "module"
                warnings.warn(
                    f"{kind} forward hook with ``always_call=True`` raised an exception "
                    f"that was silenced as another error was raised in forward: {error}",
                    stacklevel=3,
                )

    def _hook_last_node(self, result, args, hooks):
        first = result
        while not isinstance(first, Tensor):
            first = next(v for v in first.values() if isinstance(v, Tensor)) if isinstance(first, dict) else first[0]
        if first.grad_fn is None:
            return
        for hook in hooks:
            first.grad_fn.register_hook(functools.partial(hook, self))
        self._maybe_warn_non_full_backward_hook(args, result, first.grad_fn)

    def _maybe_warn_non_full_backward_hook(self, inputs, result, grad_fn):
        """Warns where an old hook will not see the module's true gradients."""
        said = None
        if not _only_tensors(result):
            said = "does not return a single Tensor or a tuple of Tensors"
        elif isinstance(result, tuple):
            said = "contains multiple autograd Nodes" if len({r.grad_fn for r in result if r is not None}) > 1 else None
        elif not _only_tensors(inputs):
            said = "does not take as input a single Tensor or a tuple of Tensors"
        else:
            known = {i.grad_fn for i in inputs if i.grad_fn is not None}
            next_nodes = {edge[0] for edge in grad_fn.next_functions if edge[0] is not None}
            if any(node not in known and "AccumulateGrad" not in type(node).__name__ for node in next_nodes):
                said = "contains multiple autograd Nodes"
        if said:
            warnings.warn(
                f"Using a non-full backward hook when the forward {said} "
                "is deprecated and will be removed in future versions. This hook will be missing some grad_input. "
                "Please use register_full_backward_hook to get the documented behavior.",
                FutureWarning,
                stacklevel=5,
            )


def _only_tensors(values):
    return isinstance(values, Tensor) or (isinstance(values, tuple) and all(isinstance(v, Tensor) for v in values))
