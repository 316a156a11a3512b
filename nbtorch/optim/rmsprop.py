"""RMSprop."""
from .. import ops
from .adam import check_common, counters_as_tensors
from .optimizer import PerParameter, new_step, number, one_element, penalized

__all__ = ["RMSprop"]


class RMSprop(PerParameter):
    """RMSprop, centered or not. https://docs.pytorch.org/docs/stable/generated/torch.optim.RMSprop.html"""

    def __init__(self, params, lr=1e-2, alpha=0.99, eps=1e-8, weight_decay=0, momentum=0, centered=False,
                 capturable=False, foreach=None, maximize=False, differentiable=False):
        one_element("lr", lr)
        check_common(lr, eps)
        if not 0.0 <= momentum:
            raise ValueError(f"Invalid momentum value: {momentum}")
        check_common(0.0, weight_decay=weight_decay)
        if not 0.0 <= alpha:
            raise ValueError(f"Invalid alpha value: {alpha}")
        super().__init__(params, dict(lr=lr, momentum=momentum, alpha=alpha, eps=eps, centered=centered,
                                      weight_decay=weight_decay, capturable=capturable, foreach=foreach,
                                      maximize=maximize, differentiable=differentiable))

    def __setstate__(self, state):
        super().__setstate__(state)
        for group in self.param_groups:
            for name, default in (("momentum", 0), ("centered", False), ("foreach", None), ("maximize", False),
                                  ("differentiable", False), ("capturable", False)):
                group.setdefault(name, default)
        counters_as_tensors(self)

    def _start(self, group, p, state):
        state["step"] = new_step()
        state["square_avg"] = ops.zeros_like(p)
        if group["momentum"] > 0:
            state["momentum_buffer"] = ops.zeros_like(p)
        if group["centered"]:
            state["grad_avg"] = ops.zeros_like(p)

    def _updater(self, group):
        if group["differentiable"]:
            return lambda p, g, state: _in_ops(p, g, state, group)
        numbers = (number(group["lr"]), group["alpha"], group["eps"], group["weight_decay"], group["momentum"],
                   group["maximize"])
        fused, momentum, centered = ops._fused_rmsprop_, group["momentum"] > 0, group["centered"]

        def update(p, g, state):
            fused(p, g, state["square_avg"], state["step"], state["momentum_buffer"] if momentum else None,
                  state["grad_avg"] if centered else None, *numbers)
        return update


def _in_ops(p, g, state, group):
    """The same update in tensor operations, so that gradients flow through it."""
    g = penalized(p, g, group["weight_decay"], group["maximize"])
    alpha, square = group["alpha"], state["square_avg"]
    state["step"] += 1
    square.mul_(alpha).addcmul_(g, g, value=1 - alpha)
    if group["centered"]:
        state["grad_avg"].lerp_(g, 1 - alpha)
        root = square.addcmul(state["grad_avg"], state["grad_avg"], value=-1).sqrt()
    else:
        root = square.sqrt()
    root = root.add(group["eps"])
    if group["momentum"] > 0:
        state["momentum_buffer"].mul_(group["momentum"]).addcdiv_(g, root)
        p.sub_(state["momentum_buffer"] * group["lr"])
    else:
        p.sub_(group["lr"] * (g / root))
