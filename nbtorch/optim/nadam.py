"""NAdam: Adam with Nesterov's momentum."""
from .. import ops
from .adam import check_betas, check_common, counters_as_tensors
from .optimizer import PerParameter, new_step, penalized

__all__ = ["NAdam"]


class NAdam(PerParameter):
    """NAdam. https://docs.pytorch.org/docs/stable/generated/torch.optim.NAdam.html"""

    def __init__(self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, momentum_decay=4e-3,
                 decoupled_weight_decay=False, *, foreach=None, maximize=False, capturable=False, differentiable=False):
        check_common(lr, eps)
        check_betas(betas)
        check_common(0.0, weight_decay=weight_decay)
        if not 0.0 <= momentum_decay:
            raise ValueError(f"Invalid momentum_decay value: {momentum_decay}")
        super().__init__(params, dict(
            lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, momentum_decay=momentum_decay,
            decoupled_weight_decay=decoupled_weight_decay, maximize=maximize, foreach=foreach, capturable=capturable,
            differentiable=differentiable))

    def __setstate__(self, state):
        super().__setstate__(state)
        for group in self.param_groups:
            for name, default in (("maximize", False), ("foreach", None), ("capturable", False),
                                  ("differentiable", False), ("decoupled_weight_decay", False)):
                group.setdefault(name, default)
        counters_as_tensors(self)
        counters_as_tensors(self, "mu_product")

    def _start(self, group, p, state):
        state["step"] = new_step()
        state["mu_product"] = ops.ones(())
        state["exp_avg"] = ops.zeros_like(p)
        state["exp_avg_sq"] = ops.zeros_like(p)

    def _updater(self, group):
        lr, (beta1, beta2), eps = group["lr"], group["betas"], group["eps"]
        decay, drift, decoupled = group["weight_decay"], group["momentum_decay"], group["decoupled_weight_decay"]

        def update(p, g, state):
            m, v = state["exp_avg"], state["exp_avg_sq"]
            state["step"] += 1
            step = state["step"].item()
            if decoupled and decay != 0:
                p.mul_(1 - lr * decay)
            g = penalized(p, g, 0 if decoupled else decay, group["maximize"])
            mu = beta1 * (1 - 0.5 * 0.96 ** (step * drift))
            mu_next = beta1 * (1 - 0.5 * 0.96 ** ((step + 1) * drift))
            state["mu_product"] *= mu
            product = state["mu_product"].item()
            m.lerp_(g, 1 - beta1)
            v.mul_(beta2).addcmul_(g, g, value=1 - beta2)
            root = (v / (1 - beta2 ** step)).sqrt().add(eps)
            p.sub_(g / root * (lr * (1 - mu) / (1 - product)))
            p.sub_(m / root * (lr * mu_next / (1 - product * mu_next)))
        return update
