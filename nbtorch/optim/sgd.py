"""Stochastic gradient descent."""
from .. import ops
from .adam import check_fused
from .optimizer import PerParameter, number, one_element, penalized

__all__ = ["SGD"]


class SGD(PerParameter):
    """SGD with momentum, Nesterov's too. https://docs.pytorch.org/docs/stable/generated/torch.optim.SGD.html"""

    def __init__(self, params, lr=1e-3, momentum=0, dampening=0, weight_decay=0, nesterov=False, *, maximize=False,
                 foreach=None, differentiable=False, fused=None):
        one_element("lr", lr)
        if lr < 0.0:
            raise ValueError(f"Invalid learning rate: {lr}")
        if momentum < 0.0:
            raise ValueError(f"Invalid momentum value: {momentum}")
        if weight_decay < 0.0:
            raise ValueError(f"Invalid weight_decay value: {weight_decay}")
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        super().__init__(params, dict(lr=lr, momentum=momentum, dampening=dampening, weight_decay=weight_decay,
                                      nesterov=nesterov, maximize=maximize, foreach=foreach,
                                      differentiable=differentiable, fused=fused))
        check_fused(fused, foreach, differentiable)

    def __setstate__(self, state):
        super().__setstate__(state)
        for group in self.param_groups:
            for name, default in (("nesterov", False), ("maximize", False), ("foreach", None),
                                  ("differentiable", False), ("fused", False)):
                group.setdefault(name, default)

    def _start(self, group, p, state):
        if group["momentum"] != 0:
            state["momentum_buffer"] = None

    def _updater(self, group):
        if group["differentiable"]:
            return lambda p, g, state: _in_ops(p, g, state, group)
        momentum = group["momentum"]
        numbers = (number(group["lr"]), momentum, group["dampening"], number(group["weight_decay"]), group["nesterov"],
                   group["maximize"])
        fused = ops._fused_sgd_
        if momentum == 0:
            return lambda p, g, state: fused(p, g, None, *numbers)

        def update(p, g, state):
            buffer = state.get("momentum_buffer")
            if buffer is None:
                buffer = state["momentum_buffer"] = ops.empty_like(p)
                fused(p, g, buffer, *numbers, True)
            else:
                fused(p, g, buffer, *numbers)
        return update


def _in_ops(p, g, state, group):
    """The same update in tensor operations, so that gradients flow through it."""
    g = penalized(p, g, group["weight_decay"], group["maximize"])
    if group["momentum"] != 0:
        buffer = state.get("momentum_buffer")
        if buffer is None:
            buffer = state["momentum_buffer"] = g.detach().clone()
        else:
            buffer.mul_(group["momentum"]).add_(g, alpha=1 - group["dampening"])
        g = g.add(buffer, alpha=group["momentum"]) if group["nesterov"] else buffer
    lr = group["lr"]
    if hasattr(lr, "requires_grad") and lr.requires_grad:
        p.addcmul_(g, lr, value=-1)
    else:
        p.add_(g, alpha=-number(lr))
