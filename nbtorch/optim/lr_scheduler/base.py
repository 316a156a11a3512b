"""The base of all learning-rate schedulers."""
import functools
import types
import warnings
import weakref
from contextlib import contextmanager

from ...core.tensor import Tensor
from ..optimizer import Optimizer

ORDER = "https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"
EPOCH_DEPRECATION_WARNING = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where possible. Please use "
    "`scheduler.step()` to step the scheduler. During the deprecation, if epoch is different from None, the closed form "
    "is used instead of the new chainable form, where available. Please open an issue if you are unable to replicate "
    "your use case: https://github.com/pytorch/pytorch/issues/new/choose.")


def copied(value):
    """A value that the caller may change: tensors are cloned."""
    return value.clone() if isinstance(value, Tensor) else value


def set_option(group, name, value):
    """Set an option of a parameter group, in place where it is a tensor."""
    if isinstance(group[name], Tensor):
        group[name].fill_(value.item() if isinstance(value, Tensor) else value)
    else:
        group[name] = value


def per_group(name, optimizer, value):
    """One value for each parameter group, from one for all or a list of them."""
    groups = optimizer.param_groups
    if isinstance(value, (list, tuple)):
        if len(value) != len(groups):
            raise ValueError(f"{name} must have the same length as optimizer.param_groups. {name} has {len(value)} "
                             f"values, param_groups has {len(groups)}.")
        return [copied(v) for v in value]
    return [copied(value) for _ in groups]


def check_optimizer(optimizer):
    """Raise PyTorch's TypeError for anything else."""
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")


def watch_steps(optimizer):
    """Note on the optimizer that it has stepped, so that a scheduler stepped too early can say so."""
    if hasattr(optimizer.step, "_wrapped_by_lr_sched"):
        return
    method, owner = optimizer.step.__func__, weakref.ref(optimizer)

    @functools.wraps(method)
    def step(*args, **kwargs):
        me = owner()
        me._opt_called = True
        return method(me, *args, **kwargs)
    step._wrapped_by_lr_sched = True
    optimizer.step = step


class LRScheduler:
    """Sets the learning rate of each parameter group; subclasses say how in `get_lr`.

    https://docs.pytorch.org/docs/stable/generated/torch.optim.lr_scheduler.LRScheduler.html
    """

    _get_lr_called_within_step = False
    _is_initial = False

    def __init__(self, optimizer, last_epoch=-1):
        check_optimizer(optimizer)
        self.optimizer = optimizer
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", copied(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{i}] when resuming scheduler with last_epoch "
                    ">= 0.\nThis typically happens when:\n1. You're trying to resume training from a checkpoint but "
                    "haven't properly loaded the optimizer state\n2. You're using last_epoch >= 0 for a fresh training "
                    "run (not recommended)")
        self.base_lrs = self._options("initial_lr")
        self.last_epoch = last_epoch
        watch_steps(optimizer)
        self._initial_step()

    def _initial_step(self):
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def _options(self, name="lr"):
        return [copied(group[name]) for group in self.optimizer.param_groups]

    def _times(self, factor):
        return [group["lr"] * factor for group in self.optimizer.param_groups]

    def state_dict(self):
        """Everything but the optimizer."""
        return {key: value for key, value in self.__dict__.items() if key != "optimizer"}

    def load_state_dict(self, state_dict):
        """Take over what `state_dict` returned."""
        self.__dict__.update(state_dict)

    def get_last_lr(self):
        """The rates set last, one for each parameter group."""
        return self._last_lr

    def get_lr(self):
        """The rates of the epoch `self.last_epoch`."""
        raise NotImplementedError

    def step(self, epoch=None):
        """Move on by one epoch; call it after the optimizer's step."""
        if self._step_count == 1:
            self._warn_about_order()
        self._step_count += 1
        if epoch is not None:
            warnings.warn(EPOCH_DEPRECATION_WARNING, UserWarning, stacklevel=2)
        self._update_lr(epoch)

    def _warn_about_order(self):
        if not hasattr(self.optimizer.step, "_wrapped_by_lr_sched"):
            warnings.warn(
                "Seems like `optimizer.step()` has been overridden after learning rate scheduler initialization. Please, "
                "make sure to call `optimizer.step()` before `lr_scheduler.step()`. See more details at " + ORDER,
                UserWarning, stacklevel=3)
        elif not getattr(self.optimizer, "_opt_called", False):
            warnings.warn(
                "Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch 1.1.0 and later, you should "
                "call them in the opposite order: `optimizer.step()` before `lr_scheduler.step()`.  Failure to do this "
                "will result in PyTorch skipping the first value of the learning rate schedule. See more details at "
                + ORDER, UserWarning, stacklevel=3)

    @contextmanager
    def _stepping(self):
        self._get_lr_called_within_step = True
        try:
            yield
        finally:
            self._get_lr_called_within_step = False

    def _update_lr(self, epoch=None):
        with self._stepping():
            self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
            closed = None if epoch is None else getattr(self, "_get_closed_form_lr", None)
            values = self.get_lr() if closed is None else closed()
        self._apply(values)

    def _apply(self, values):
        for group, lr in zip(self.optimizer.param_groups, values):
            set_option(group, "lr", lr)
        self._last_lr = self._options()

    def _inside_step(self):
        if not self._get_lr_called_within_step:
            warnings.warn("To get the last learning rate computed by the scheduler, please use `get_last_lr()`.",
                          UserWarning, stacklevel=3)


class _LRScheduler(LRScheduler):
    """The old name."""


class WithFunctions(LRScheduler):
    """A scheduler with one function for each parameter group; objects among them save their attributes."""

    def _take(self, optimizer, functions):
        count = len(optimizer.param_groups)
        if not isinstance(functions, (list, tuple)):
            functions = [functions] * count
        elif len(functions) != count:
            raise ValueError(f"Expected {count} lr_lambdas, but got {len(functions)}")
        self.lr_lambdas = list(functions)

    def state_dict(self):
        """Everything but the optimizer and plain functions."""
        state = {key: value for key, value in self.__dict__.items() if key not in ("optimizer", "lr_lambdas")}
        state["lr_lambdas"] = [None if isinstance(f, types.FunctionType) else f.__dict__.copy() for f in self.lr_lambdas]
        return state

    def load_state_dict(self, state_dict):
        """Take over what `state_dict` returned; plain functions stay this scheduler's own."""
        self.__dict__.update({key: value for key, value in state_dict.items() if key != "lr_lambdas"})
        for function, saved in zip(self.lr_lambdas, state_dict["lr_lambdas"]):
            if saved is not None:
                function.__dict__.update(saved)
