"""Adafactor: second moments kept as a row and a column."""
from .. import ops
from ..core.dtype import finfo
from .optimizer import PerParameter, new_step, number, one_element

__all__ = ["Adafactor"]


class Adafactor(PerParameter):
    """Adafactor. https://docs.pytorch.org/docs/stable/generated/torch.optim.Adafactor.html"""

    def __init__(self, params, lr=1e-2, beta2_decay=-0.8, eps=(None, 1e-3), d=1.0, weight_decay=0.0, *, foreach=None,
                 maximize=False):
        one_element("lr", lr)
        if not 0.0 <= lr:
            raise ValueError(f"Learning rate should be >= 0 but is: {lr}")
        if not 0.0 >= beta2_decay:
            raise ValueError(f"beta2_decay should be <= 0 but is: {beta2_decay}")
        if eps[0] is not None and not 0.0 <= eps[0]:
            raise ValueError(f"epsilon1 should be >= 0 but is: {eps[0]}")
        if not 0.0 <= eps[1]:
            raise ValueError(f"epsilon2 should be >= 0 but is: {eps[1]}")
        if not 1.0 <= d:
            raise ValueError(f"Clipping threshold d should be >= 1 but is: {d}")
        if not 0.0 <= weight_decay:
            raise ValueError(f"weight_decay should be >= 0 but is: {weight_decay}")
        super().__init__(params, dict(lr=lr, beta2_decay=beta2_decay, eps=eps, d=d, weight_decay=weight_decay,
                                      foreach=foreach, maximize=maximize))

    def __setstate__(self, state):
        super().__setstate__(state)
        for group in self.param_groups:
            group.setdefault("foreach", None)

    def _start(self, group, p, state):
        if p.is_complex():
            raise RuntimeError("Adafactor does not support complex parameters")
        state["step"] = new_step()
        if p.dim() > 1:
            state["row_var"] = p.new_zeros((*p.shape[:-1], 1))
            state["col_var"] = p.new_zeros((*p.shape[:-2], 1, p.shape[-1]))
        else:
            state["variance"] = ops.zeros_like(p)

    def _updater(self, group):
        lr, decay, d = number(group["lr"]), group["weight_decay"], group["d"]
        least, scale_floor = group["eps"]

        def update(p, g, state):
            g = -g if group["maximize"] else g
            eps = finfo(p.dtype).eps if least is None else least
            state["step"] += 1
            step = state["step"].item()
            keep = step ** group["beta2_decay"]
            alpha = max(scale_floor, p.norm(2).item() / p.numel() ** 0.5) * min(lr, 1 / step ** 0.5)
            if decay != 0:
                p.mul_(1 - lr * decay)
            change = _variance(g, state, keep, eps).clamp(min=eps * eps).rsqrt() * g
            p.add_(change, alpha=-alpha / max(1.0, change.norm(2).item() / (change.numel() ** 0.5 * d)))
        return update


def _variance(g, state, keep, eps):
    """The estimate of the second moment: rank one for matrices, full for vectors."""
    square = g * g
    if g.dim() > 1:
        row, column = state["row_var"], state["col_var"]
        row.lerp_(square.mean(-1, True), keep)
        column.lerp_(square.mean(-2, True), keep)
        return (row @ column) / row.mean(-2, True).clamp(min=eps)
    return state["variance"].lerp_(square, keep)
