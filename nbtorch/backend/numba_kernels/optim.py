"""Fused optimizer steps: which calls the compiled loops take. See kernels/optim.py for what each computes."""
from ..kernels.optim import adam_numbers, count
from ._common import code, flat, same, threads


def _takes(param, *others):
    return param.dtype.char in "fd" and param.flags.c_contiguous and same(param, *others)


def fused_adam_(param, grad, exp_avg, exp_avg_sq, step, max_exp_avg_sq, lr, beta1, beta2, weight_decay, eps, maximize,
                decoupled):
    """Adam, AdamW and AMSGrad in one pass."""
    arrays = (param, grad, exp_avg, exp_avg_sq) if max_exp_avg_sq is None else (
        param, grad, exp_avg, exp_avg_sq, max_exp_avg_sq)
    if not _takes(*arrays):
        return NotImplemented
    size, root = adam_numbers(count(step), lr, beta1, beta2)
    keep = 1 - lr * weight_decay if decoupled else 1.0
    loops, char, n = code("optim"), param.dtype.char, threads(param.size)
    arrays = [flat(a) for a in arrays]
    numbers = (size, root, keep, beta1, beta2, 1 - beta1, 1 - beta2, weight_decay, eps, maximize,
               weight_decay != 0 and not decoupled)
    if max_exp_avg_sq is not None:
        loops.amsgrad[char](*arrays, *numbers)
    elif n > 1:
        loops.adam_split[char](n, *arrays, *numbers)
    else:
        loops.adam[char](*arrays, *numbers)


def fused_sgd_(param, grad, momentum_buffer, lr, momentum, dampening, weight_decay, nesterov, maximize, first):
    """SGD with or without momentum in one pass."""
    loops, char = code("optim"), param.dtype.char
    if momentum_buffer is None:
        if not _takes(param, grad):
            return NotImplemented
        loops.sgd[char](flat(param), flat(grad), lr, weight_decay, maximize)
        return None
    if not _takes(param, grad, momentum_buffer):
        return NotImplemented
    loops.sgd_momentum[char](flat(param), flat(grad), flat(momentum_buffer), lr, momentum, 1 - dampening, weight_decay,
                             nesterov, maximize, first)


def fused_rmsprop_(param, grad, square_avg, step, momentum_buffer, grad_avg, lr, alpha, eps, weight_decay, momentum,
                   maximize):
    """RMSprop without momentum and centering in one pass."""
    if momentum_buffer is not None or grad_avg is not None or not _takes(param, grad, square_avg):
        return NotImplemented
    count(step)
    code("optim").rmsprop[param.dtype.char](flat(param), flat(grad), flat(square_avg), lr, alpha, 1 - alpha, eps,
                                            weight_decay, maximize)


def fused_adagrad_(param, grad, state_sum, step, lr, lr_decay, weight_decay, eps, maximize):
    """Adagrad in one pass."""
    if not _takes(param, grad, state_sum):
        return NotImplemented
    rate = lr / (1 + (count(step) - 1) * lr_decay)
    code("optim").adagrad[param.dtype.char](flat(param), flat(grad), flat(state_sum), rate, weight_decay, eps, maximize)
