"""Resilient backpropagation."""
from .. import ops
from .adam import check_common, counters_as_tensors
from .optimizer import PerParameter, new_step, number

__all__ = ["Rprop"]


class Rprop(PerParameter):
    """Rprop. https://docs.pytorch.org/docs/stable/generated/torch.optim.Rprop.html"""

    def __init__(self, params, lr=1e-2, etas=(0.5, 1.2), step_sizes=(1e-6, 50), *, capturable=False, foreach=None,
                 maximize=False, differentiable=False):
        check_common(lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        super().__init__(params, dict(lr=lr, etas=etas, step_sizes=step_sizes, foreach=foreach, maximize=maximize,
                                      differentiable=differentiable, capturable=capturable))

    def __setstate__(self, state):
        super().__setstate__(state)
        for group in self.param_groups:
            for name, default in (("foreach", None), ("maximize", False), ("differentiable", False),
                                  ("capturable", False)):
                group.setdefault(name, default)
        counters_as_tensors(self)

    def _start(self, group, p, state):
        lr = number(group["lr"])
        state["step"] = new_step()
        state["prev"] = ops.zeros_like(p)
        state["step_size"] = ops.full_like(p, complex(lr, lr) if p.is_complex() else lr)

    def _updater(self, group):
        (shrink, grow), (least, most) = group["etas"], group["step_sizes"]
        maximize = group["maximize"]

        def update(p, g, state):
            state["step"] += 1
            g = -g if maximize else g
            size, agree = state["step_size"], g * state["prev"]
            turned = agree < 0
            changed = ops.where(agree > 0, size * grow, ops.where(turned, size * shrink, size))
            size.copy_(changed.clamp(least, most))
            g = ops.where(turned, ops.zeros_like(g), g)             # no step where the sign turned
            p.sub_(g.sign() * size.clone())
            state["prev"].copy_(g)
        return update
