"""Optimizer steps, one call a parameter; the kernel writes the parameter and its state. Used by nbtorch.optim."""
from ..core.op import op

_fused_adam_ = op(
    "_fused_adam_(param, grad, exp_avg, exp_avg_sq, step, max_exp_avg_sq: Tensor=None, lr: float=1e-3, beta1: float=0.9, "
    "beta2: float=0.999, weight_decay: float=0.0, eps: float=1e-8, maximize: bool=False, decoupled: bool=False)",
    "fused_adam_", mutates=("param", "exp_avg", "exp_avg_sq", "step", "max_exp_avg_sq"),
    doc="One step of Adam, AdamW (decoupled) or AMSGrad (with max_exp_avg_sq) on one parameter.")

_fused_sgd_ = op(
    "_fused_sgd_(param, grad, momentum_buffer: Tensor=None, lr: float=1e-3, momentum: float=0.0, dampening: float=0.0, "
    "weight_decay: float=0.0, nesterov: bool=False, maximize: bool=False, first: bool=False)",
    "fused_sgd_", mutates=("param", "momentum_buffer"),
    doc="One step of SGD on one parameter; `first` starts the momentum buffer.")

_fused_rmsprop_ = op(
    "_fused_rmsprop_(param, grad, square_avg, step, momentum_buffer: Tensor=None, grad_avg: Tensor=None, "
    "lr: float=1e-2, alpha: float=0.99, eps: float=1e-8, weight_decay: float=0.0, momentum: float=0.0, "
    "maximize: bool=False)",
    "fused_rmsprop_", mutates=("param", "square_avg", "step", "momentum_buffer", "grad_avg"),
    doc="One step of RMSprop on one parameter; centered with grad_avg.")

_fused_adagrad_ = op(
    "_fused_adagrad_(param, grad, state_sum, step, lr: float=1e-2, lr_decay: float=0.0, weight_decay: float=0.0, "
    "eps: float=1e-10, maximize: bool=False)",
    "fused_adagrad_", mutates=("param", "state_sum", "step"),
    doc="One step of Adagrad on one parameter.")
