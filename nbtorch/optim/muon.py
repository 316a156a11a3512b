"""Muon: momentum, made orthogonal, for matrices."""
import math

from .. import ops
from ..core.dtype import bfloat16
from .optimizer import PerParameter, number, one_element

__all__ = ["Muon"]


class Muon(PerParameter):
    """Muon. https://docs.pytorch.org/docs/stable/generated/torch.optim.Muon.html"""

    def __init__(self, params, lr=1e-3, weight_decay=0.1, momentum=0.95, nesterov=True,
                 ns_coefficients=(3.4445, -4.775, 2.0315), eps=1e-7, ns_steps=5, adjust_lr_fn=None):
        one_element("lr", lr)
        if not 0.0 <= lr:
            raise ValueError(f"Learning rate should be >= 0 but is: {lr}")
        if not 0.0 <= momentum:
            raise ValueError(f"momentum should be >= 0 but is: {momentum}")
        if not 0.0 <= weight_decay:
            raise ValueError(f"weight decay should be >= 0 but is: {weight_decay}")
        if adjust_lr_fn is not None and adjust_lr_fn not in ("original", "match_rms_adamw"):
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        super().__init__(params, dict(lr=lr, weight_decay=weight_decay, momentum=momentum, nesterov=nesterov,
                                      ns_coefficients=ns_coefficients, eps=eps, ns_steps=ns_steps,
                                      adjust_lr_fn=adjust_lr_fn))
        for group in self.param_groups:
            for p in group["params"]:
                if p.ndim != 2:
                    raise ValueError("Muon only supports 2D parameters whereas we found a parameter with size: "
                                     f"{p.size()}")

    def _start(self, group, p, state):
        if p.is_complex():
            raise RuntimeError("Muon does not support complex parameters")
        state["momentum_buffer"] = ops.zeros_like(p)

    def _updater(self, group):
        lr, decay, momentum = number(group["lr"]), group["weight_decay"], group["momentum"]

        def update(p, g, state):
            buffer = state["momentum_buffer"]
            buffer.lerp_(g, 1 - momentum)
            direction = g.lerp(buffer, momentum) if group["nesterov"] else buffer
            direction = _orthogonal(direction, group["ns_coefficients"], group["ns_steps"], group["eps"])
            p.mul_(1 - lr * decay)
            p.sub_(direction.to(p.dtype) * (lr * _ratio(group["adjust_lr_fn"], *p.shape)))
        return update


def _ratio(kind, rows, columns):
    """How the rate depends on the shape of the matrix."""
    if kind == "match_rms_adamw":
        return 0.2 * math.sqrt(max(rows, columns))
    return math.sqrt(max(1, rows / columns))


def _orthogonal(matrix, coefficients, steps, eps):
    """Newton-Schulz iteration towards the nearest orthogonal matrix, in bfloat16."""
    if steps >= 100:
        raise ValueError("Number of steps must be less than 100 for computational efficiency")
    if len(coefficients) != 3:
        raise ValueError("Coefficients must be a tuple of exactly 3 values")
    a, b, c = coefficients
    x = matrix.to(bfloat16)
    tall = x.shape[0] > x.shape[1]
    x = x.mT if tall else x
    x = x / x.norm().clamp(min=eps)
    for _ in range(steps):
        gram = x @ x.mT
        x = a * x + (b * gram + c * (gram @ gram)) @ x
    return x.mT if tall else x
