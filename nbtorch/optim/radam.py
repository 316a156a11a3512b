"""RAdam: Adam with a rectified start."""
from .. import ops
from .adam import check_betas, check_common, counters_as_tensors
from .optimizer import PerParameter, new_step, penalized

__all__ = ["RAdam"]


class RAdam(PerParameter):
    """RAdam. https://docs.pytorch.org/docs/stable/generated/torch.optim.RAdam.html"""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, decoupled_weight_decay=False, *,
                 foreach=None, maximize=False, capturable=False, differentiable=False):
        check_common(lr, eps)
        check_betas(betas)
        check_common(0.0, weight_decay=weight_decay)
        super().__init__(params, dict(
            lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, maximize=maximize, foreach=foreach,
            capturable=capturable, decoupled_weight_decay=decoupled_weight_decay, differentiable=differentiable))

    def __setstate__(self, state):
        super().__setstate__(state)
        for group in self.param_groups:
            for name, default in (("foreach", None), ("maximize", False), ("differentiable", False),
                                  ("decoupled_weight_decay", False), ("capturable", False)):
                group.setdefault(name, default)
        counters_as_tensors(self)

    def _start(self, group, p, state):
        state["step"] = new_step()
        state["exp_avg"] = ops.zeros_like(p)
        state["exp_avg_sq"] = ops.zeros_like(p)

    def _updater(self, group):
        lr, (beta1, beta2), eps = group["lr"], group["betas"], group["eps"]
        decay, decoupled = group["weight_decay"], group["decoupled_weight_decay"]
        limit = 2 / (1 - beta2) - 1

        def update(p, g, state):
            m, v = state["exp_avg"], state["exp_avg_sq"]
            state["step"] += 1
            step = state["step"].item()
            if decoupled and decay != 0:
                p.mul_(1 - lr * decay)
            g = penalized(p, g, 0 if decoupled else decay, group["maximize"])
            m.lerp_(g, 1 - beta1)
            v.mul_(beta2).addcmul_(g, g, value=1 - beta2)
            left = 1 - beta2 ** step
            change = m / (1 - beta1 ** step) * lr
            length = limit - 2 * step * beta2 ** step / left       # of the moving average, in steps
            if length > 5.0:
                rectified = ((length - 4) * (length - 2) * limit / ((limit - 4) * (limit - 2) * length)) ** 0.5
                change = change / v.sqrt().add(eps) * (left ** 0.5 * rectified)
            p.sub_(change)
        return update
