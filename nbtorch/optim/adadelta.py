"""Adadelta."""
from .. import ops
from .adam import check_common, counters_as_tensors
from .optimizer import PerParameter, new_step, penalized

__all__ = ["Adadelta"]


class Adadelta(PerParameter):
    """Adadelta. https://docs.pytorch.org/docs/stable/generated/torch.optim.Adadelta.html"""

    def __init__(self, params, lr=1.0, rho=0.9, eps=1e-6, weight_decay=0, foreach=None, *, capturable=False,
                 maximize=False, differentiable=False):
        check_common(lr)
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho}")
        check_common(0.0, eps, weight_decay)
        super().__init__(params, dict(lr=lr, rho=rho, eps=eps, weight_decay=weight_decay, maximize=maximize,
                                      capturable=capturable, foreach=foreach, differentiable=differentiable))

    def __setstate__(self, state):
        super().__setstate__(state)
        for group in self.param_groups:
            for name, default in (("foreach", None), ("maximize", False), ("differentiable", False),
                                  ("capturable", False)):
                group.setdefault(name, default)
        counters_as_tensors(self)

    def _start(self, group, p, state):
        state["step"] = new_step()
        state["square_avg"] = ops.zeros_like(p)
        state["acc_delta"] = ops.zeros_like(p)

    def _updater(self, group):
        lr, rho, eps = group["lr"], group["rho"], group["eps"]
        decay, maximize = group["weight_decay"], group["maximize"]

        def update(p, g, state):
            state["step"] += 1
            g = penalized(p, g, decay, maximize)
            state["square_avg"].mul_(rho).addcmul_(g, g, value=1 - rho)
            delta = (state["acc_delta"] + eps).sqrt() / (state["square_avg"] + eps).sqrt() * g
            state["acc_delta"].mul_(rho).addcmul_(delta, delta, value=1 - rho)
            p.sub_(delta * lr)
        return update
