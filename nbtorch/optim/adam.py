"""Adam and AdamW."""
from .. import ops
from ..core.tensor import Tensor
from .optimizer import PerParameter, new_step, number, one_element, penalized

__all__ = ["Adam", "AdamW"]


def check_betas(betas):
    """PyTorch's ValueErrors for the decay rates of two averages."""
    for i in (0, 1):
        if not 0.0 <= betas[i] < 1.0:
            raise ValueError(f"Invalid beta parameter at index {i}: {betas[i]}")


def check_common(lr, eps=0.0, weight_decay=0.0):
    """PyTorch's ValueErrors for the options most optimizers share."""
    one_element("lr", lr)
    if not 0.0 <= lr:
        raise ValueError(f"Invalid learning rate: {lr}")
    if not 0.0 <= eps:
        raise ValueError(f"Invalid epsilon value: {eps}")
    if not 0.0 <= weight_decay:
        raise ValueError(f"Invalid weight_decay value: {weight_decay}")


def check_fused(fused, foreach, differentiable):
    """PyTorch's RuntimeErrors for implementations that exclude each other."""
    if fused and differentiable:
        raise RuntimeError("`fused` does not support `differentiable`")
    if fused and foreach:
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")


class Adam(PerParameter):
    """Adam; `foreach`, `fused` and `capturable` are accepted, and the step is fused in any case.

    https://docs.pytorch.org/docs/stable/generated/torch.optim.Adam.html
    """

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, amsgrad=False, *, foreach=None,
                 maximize=False, capturable=False, differentiable=False, fused=None, decoupled_weight_decay=False):
        if isinstance(lr, Tensor) and foreach and not capturable:
            raise ValueError("lr as a Tensor is not supported for capturable=False and foreach=True")
        check_common(lr, eps)
        check_betas(betas)
        check_common(0.0, weight_decay=weight_decay)
        if isinstance(betas[0], Tensor) != isinstance(betas[1], Tensor) or not all(
                isinstance(b, (float, Tensor)) for b in betas):
            raise ValueError("betas must be either both floats or both Tensors")
        for i, beta in enumerate(betas):
            if isinstance(beta, Tensor) and foreach and not capturable:
                raise ValueError(f"betas[{i}] as a Tensor is not supported for capturable=False and foreach=True")
            one_element(f"betas[{i}]", beta)
        super().__init__(params, dict(
            lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, amsgrad=amsgrad, maximize=maximize, foreach=foreach,
            capturable=capturable, differentiable=differentiable, fused=fused,
            decoupled_weight_decay=decoupled_weight_decay))
        check_fused(fused, foreach, differentiable)

    def __setstate__(self, state):
        super().__setstate__(state)
        for group in self.param_groups:
            for name, default in (("amsgrad", False), ("maximize", False), ("foreach", None), ("capturable", False),
                                  ("differentiable", False), ("decoupled_weight_decay", False), ("fused", None)):
                group.setdefault(name, default)
        counters_as_tensors(self)

    def _start(self, group, p, state):
        state["step"] = new_step()
        state["exp_avg"] = ops.zeros_like(p)
        state["exp_avg_sq"] = ops.zeros_like(p)
        if group["amsgrad"]:
            state["max_exp_avg_sq"] = ops.zeros_like(p)

    def _updater(self, group):
        beta1, beta2 = group["betas"]
        if group["differentiable"]:
            return lambda p, g, state: _in_ops(p, g, state, group)
        numbers = (number(group["lr"]), number(beta1), number(beta2), number(group["weight_decay"]), group["eps"],
                   group["maximize"], group["decoupled_weight_decay"])
        fused, amsgrad = ops._fused_adam_, group["amsgrad"]

        def update(p, g, state):
            fused(p, g, state["exp_avg"], state["exp_avg_sq"], state["step"],
                  state["max_exp_avg_sq"] if amsgrad else None, *numbers)
        return update


def counters_as_tensors(optimizer, name="step"):
    """Old checkpoints keep the step number, and other numbers of the state, as a float."""
    for state in optimizer.state.values():
        if name in state and not isinstance(state[name], Tensor):
            state[name] = ops.full((), float(state[name]))


def _in_ops(p, g, state, group):
    """The same update in tensor operations, so that gradients flow through it."""
    beta1, beta2 = group["betas"]
    lr, decay, m, v = group["lr"], group["weight_decay"], state["exp_avg"], state["exp_avg_sq"]
    state["step"] += 1
    step = state["step"].item()
    if group["decoupled_weight_decay"]:
        g = -g if group["maximize"] else g
        p.mul_(1 - lr * decay)
    else:
        g = penalized(p, g, decay, group["maximize"])
    m.lerp_(g, 1 - beta1)
    v.mul_(beta2).addcmul_(g, g, value=1 - number(beta2))
    if group["amsgrad"]:
        # a copy, since the comparison saves it and the next step writes it
        state["max_exp_avg_sq"].copy_(ops.maximum(state["max_exp_avg_sq"].clone(), v))
        v = state["max_exp_avg_sq"]
    size = lr / (1 - beta1 ** step)
    root = (1 - beta2 ** step) ** 0.5
    denominator = (v.sqrt() / (root * size)).add_(group["eps"] / size)
    p.addcdiv_(m, denominator, value=-1.0)


class AdamW(Adam):
    """Adam whose weight decay acts on the parameter, not on the gradient.

    https://docs.pytorch.org/docs/stable/generated/torch.optim.AdamW.html
    """

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2, amsgrad=False, *,
                 maximize=False, foreach=None, capturable=False, differentiable=False, fused=None):
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, foreach=foreach, maximize=maximize,
                         capturable=capturable, differentiable=differentiable, fused=fused,
                         decoupled_weight_decay=True)

    def __setstate__(self, state):
        super().__setstate__(state)
        for group in self.param_groups:
            group["decoupled_weight_decay"] = True
