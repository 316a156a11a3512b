"""Adagrad."""
from .. import ops
from .adam import check_common, check_fused, counters_as_tensors
from .optimizer import PerParameter, new_step, number, penalized

__all__ = ["Adagrad"]


class Adagrad(PerParameter):
    """Adagrad. https://docs.pytorch.org/docs/stable/generated/torch.optim.Adagrad.html"""

    def __init__(self, params, lr=1e-2, lr_decay=0, weight_decay=0, initial_accumulator_value=0, eps=1e-10, foreach=None,
                 *, maximize=False, differentiable=False, fused=None):
        check_common(lr)
        if not 0.0 <= lr_decay:
            raise ValueError(f"Invalid lr_decay value: {lr_decay}")
        check_common(0.0, weight_decay=weight_decay)
        if not 0.0 <= initial_accumulator_value:
            raise ValueError(f"Invalid initial_accumulator_value value: {initial_accumulator_value}")
        check_common(0.0, eps)
        super().__init__(params, dict(lr=lr, lr_decay=lr_decay, eps=eps, weight_decay=weight_decay,
                                      initial_accumulator_value=initial_accumulator_value, foreach=foreach,
                                      maximize=maximize, differentiable=differentiable, fused=fused))
        check_fused(fused, foreach, differentiable)
        for group in self.param_groups:
            for p in group["params"]:
                self._start(group, p, self.state[p])

    def __setstate__(self, state):
        super().__setstate__(state)
        for group in self.param_groups:
            for name, default in (("foreach", None), ("maximize", False), ("differentiable", False), ("fused", None)):
                group.setdefault(name, default)
        counters_as_tensors(self)

    def share_memory(self):
        """Put the state where other processes can see it."""
        for state in self.state.values():
            state["sum"].share_memory_()

    def _start(self, group, p, state):
        first = group["initial_accumulator_value"]
        state["step"] = new_step()
        state["sum"] = ops.full_like(p, complex(first, first) if p.is_complex() else first)

    def _updater(self, group):
        if group["differentiable"]:
            return lambda p, g, state: _in_ops(p, g, state, group)
        numbers = (number(group["lr"]), group["lr_decay"], group["weight_decay"], group["eps"], group["maximize"])
        fused = ops._fused_adagrad_
        return lambda p, g, state: fused(p, g, state["sum"], state["step"], *numbers)


def _in_ops(p, g, state, group):
    """The same update in tensor operations, so that gradients flow through it."""
    state["step"] += 1
    g = penalized(p, g, group["weight_decay"], group["maximize"])
    rate = group["lr"] / (1 + (state["step"].item() - 1) * group["lr_decay"])
    state["sum"].addcmul_(g, g, value=1)
    p.sub_(rate * (g / state["sum"].sqrt().add(group["eps"])))
