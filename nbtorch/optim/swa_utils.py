"""Averages of a model over training: stochastic weight averaging and exponential moving averages."""
import itertools
import math
from copy import deepcopy

from .. import nn, ops
from ..core.dtype import int64
from ..core.modes import no_grad
from .lr_scheduler.base import LRScheduler, per_group

__all__ = ["AveragedModel", "update_bn", "SWALR", "get_ema_multi_avg_fn", "get_swa_multi_avg_fn", "get_ema_avg_fn",
           "get_swa_avg_fn"]


def _check_decay(decay):
    if decay < 0.0 or decay > 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")


def get_ema_avg_fn(decay=0.999):
    """The exponential moving average of one tensor."""
    _check_decay(decay)

    @no_grad()
    def ema_update(ema_param, current_param, num_averaged):
        return decay * ema_param + (1 - decay) * current_param
    return ema_update


def get_swa_avg_fn():
    """The plain average of one tensor."""
    @no_grad()
    def swa_update(averaged_param, current_param, num_averaged):
        return averaged_param + (current_param - averaged_param) / (num_averaged + 1)
    return swa_update


def get_ema_multi_avg_fn(decay=0.999):
    """The exponential moving average of a list of tensors, in place."""
    one = get_ema_avg_fn(decay)
    return lambda averaged, current, num_averaged: _each(one, averaged, current, num_averaged)


def get_swa_multi_avg_fn():
    """The plain average of a list of tensors, in place."""
    one = get_swa_avg_fn()
    return lambda averaged, current, num_averaged: _each(one, averaged, current, num_averaged)


@no_grad()
def _each(one, averaged, current, num_averaged):
    for a, c in zip(averaged, current):
        a.copy_(one(a, c, num_averaged))


class AveragedModel(nn.Module):
    """A copy of a model whose parameters are averages of the model's.

    https://docs.pytorch.org/docs/stable/optim.html#weight-averaging-swa-and-ema
    """

    def __init__(self, model, device=None, avg_fn=None, multi_avg_fn=None, use_buffers=False):
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", ops.zeros((), dtype=int64, device=device))
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

    def forward(self, *args, **kwargs):
        """The averaged model's answer."""
        return self.module(*args, **kwargs)

    def _tensors(self, model):
        return itertools.chain(model.parameters(), model.buffers()) if self.use_buffers else model.parameters()

    @no_grad()
    def update_parameters(self, model):
        """Take the model's present parameters into the average."""
        mine = [p.detach() for p in self._tensors(self.module)]
        theirs = [p.detach().to(m.device) for p, m in zip(self._tensors(model), mine)]
        if self.n_averaged == 0:
            for m, t in zip(mine, theirs):
                m.copy_(t)
        elif self.multi_avg_fn is not None:
            self.multi_avg_fn(mine, theirs, self.n_averaged)
        else:
            _each(self.avg_fn or get_swa_avg_fn(), mine, theirs, self.n_averaged)
        if not self.use_buffers:
            for m, t in zip(self.module.buffers(), model.buffers()):
                m.detach().copy_(t.detach().to(m.device))
        self.n_averaged += 1


@no_grad()
def update_bn(loader, model, device=None):
    """Compute the running statistics of all batch norms anew, over the data of `loader`."""
    momenta = {}
    for module in model.modules():
        if isinstance(module, nn.modules.batchnorm._BatchNorm):
            module.reset_running_stats()
            momenta[module] = module.momentum
    if not momenta:
        return
    training = model.training
    model.train()
    for module in momenta:
        module.momentum = None
    for batch in loader:
        inputs = batch[0] if isinstance(batch, (list, tuple)) else batch
        model(inputs if device is None else inputs.to(device))
    for module, momentum in momenta.items():
        module.momentum = momentum
    model.train(training)


class SWALR(LRScheduler):
    """Leads the rate to `swa_lr` and keeps it there."""

    def __init__(self, optimizer, swa_lr, anneal_epochs=10, anneal_strategy="cos", last_epoch=-1):
        for lr, group in zip(per_group("swa_lr", optimizer, swa_lr), optimizer.param_groups):
            group["swa_lr"] = lr
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self._anneal_strategy, self.anneal_epochs = anneal_strategy, anneal_epochs
        super().__init__(optimizer, last_epoch)

    def _share(self, step):
        t = max(0, min(1, step / max(1, self.anneal_epochs)))
        return t if self._anneal_strategy == "linear" else (1 - math.cos(math.pi * t)) / 2

    def get_lr(self):
        self._inside_step()
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = self._share(step - 1), self._share(step)
        rates = []
        for group in self.optimizer.param_groups:
            goal = group["swa_lr"]
            start = goal if before == 1 else (group["lr"] - before * goal) / (1 - before)
            rates.append(goal * now + start * (1 - now))
        return rates
