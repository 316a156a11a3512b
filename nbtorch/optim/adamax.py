"""Adamax."""
from .. import ops
from .adam import check_betas, check_common, counters_as_tensors
from .optimizer import PerParameter, new_step, penalized

__all__ = ["Adamax"]


class Adamax(PerParameter):
    """Adam with the infinity norm. https://docs.pytorch.org/docs/stable/generated/torch.optim.Adamax.html"""

    def __init__(self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, foreach=None, *, maximize=False,
                 differentiable=False, capturable=False):
        check_common(lr, eps)
        check_betas(betas)
        check_common(0.0, weight_decay=weight_decay)
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, foreach=foreach,
                                      maximize=maximize, differentiable=differentiable, capturable=capturable))

    def __setstate__(self, state):
        super().__setstate__(state)
        for group in self.param_groups:
            for name, default in (("foreach", None), ("maximize", False), ("differentiable", False),
                                  ("capturable", False)):
                group.setdefault(name, default)
        counters_as_tensors(self)

    def _start(self, group, p, state):
        state["step"] = new_step()
        state["exp_avg"] = ops.zeros_like(p)
        state["exp_inf"] = ops.zeros_like(p)

    def _updater(self, group):
        lr, (beta1, beta2), eps = group["lr"], group["betas"], group["eps"]
        decay, maximize = group["weight_decay"], group["maximize"]

        def update(p, g, state):
            state["step"] += 1
            g = penalized(p, g, decay, maximize)
            state["exp_avg"].lerp_(g, 1 - beta1)
            norm = state["exp_inf"]
            norm.copy_(ops.maximum(norm * beta2, g.abs() + eps))
            rate = lr / (1 - beta1 ** state["step"].item())
            # a copy where a graph is recorded: the next step writes the state
            p.sub_(state["exp_avg"] / (norm.clone() if norm.requires_grad else norm) * rate)
        return update
