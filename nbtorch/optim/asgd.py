"""Averaged stochastic gradient descent."""
from .. import ops
from .adam import check_common, counters_as_tensors
from .optimizer import PerParameter, new_step, number, penalized

__all__ = ["ASGD"]


class ASGD(PerParameter):
    """ASGD; the average is kept as `ax`. https://docs.pytorch.org/docs/stable/generated/torch.optim.ASGD.html"""

    def __init__(self, params, lr=1e-2, lambd=1e-4, alpha=0.75, t0=1e6, weight_decay=0, foreach=None, maximize=False,
                 differentiable=False, capturable=False):
        check_common(lr, weight_decay=weight_decay)
        super().__init__(params, dict(lr=lr, lambd=lambd, alpha=alpha, t0=t0, weight_decay=weight_decay, foreach=foreach,
                                      maximize=maximize, differentiable=differentiable, capturable=capturable))

    def __setstate__(self, state):
        super().__setstate__(state)
        for group in self.param_groups:
            for name, default in (("foreach", None), ("maximize", False), ("differentiable", False),
                                  ("capturable", False)):
                group.setdefault(name, default)
        for name in ("step", "eta", "mu"):
            counters_as_tensors(self, name)

    def _start(self, group, p, state):
        state["step"] = new_step()
        state["eta"] = ops.full((), float(number(group["lr"])))
        state["mu"] = ops.ones(())
        state["ax"] = ops.zeros_like(p)

    def _updater(self, group):
        lr, lambd, alpha, t0 = group["lr"], group["lambd"], group["alpha"], group["t0"]
        decay, maximize = group["weight_decay"], group["maximize"]

        def update(p, g, state):
            state["step"] += 1
            step, eta, mu, average = state["step"].item(), state["eta"].item(), state["mu"].item(), state["ax"]
            g = penalized(p, g, decay, maximize)
            p.mul_(1 - lambd * eta)
            p.sub_(g * eta)
            if mu != 1:
                average.add_((p - average) * mu)
            else:
                average.copy_(p)
            state["eta"].fill_(number(lr) / (1 + lambd * number(lr) * step) ** alpha)
            state["mu"].fill_(1 / max(1, step - t0))
        return update
