"""Fused optimizer steps: one call updates one parameter and its state in place.

NumPy pays for every pass over memory, so contiguous arrays are worked through in blocks that stay in the cache; half
types are computed in float32 and rounded once at the end, as PyTorch's fused steps do. `step` counts in the tensor it
is kept in.
"""
import math

from ..registry import kernel
from ._common import quiet, wide

BLOCK = 1 << 15


def count(step):
    """Add one to the step tensor and return the new number."""
    n = step.item() + 1.0
    step.fill(n)
    return n


def adam_numbers(step, lr, beta1, beta2):
    """(step size, root of the second bias correction) for Adam's step number `step`."""
    return lr / (1 - beta1 ** step), math.sqrt(1 - beta2 ** step)


def _parts(xp, arrays):
    """The arrays in pieces: flat blocks where all are contiguous on the CPU, else the whole arrays."""
    present = [a for a in arrays if a is not None]
    if not present[0].ndim:  # NumPy answers arithmetic on 0-d arrays with scalars, which cannot be written to
        yield [None if a is None else a.reshape(1) for a in arrays]
        return
    if xp.__name__ != "numpy" or present[0].size <= BLOCK or not all(a.flags.c_contiguous for a in present):
        yield arrays
        return
    flat = [None if a is None else a.reshape(-1) for a in arrays]
    for start in range(0, present[0].size, BLOCK):
        yield [None if a is None else a[start:start + BLOCK] for a in flat]


def _each(xp, update, arrays, *numbers):
    """Run `update` over blocks of (param, grad, *state) and round half types once. The gradient is only read."""
    with quiet(xp):
        for part in _parts(xp, arrays):
            work = [None if a is None else wide(xp, a) for a in part]
            update(xp, *work, *numbers)
            for i, (a, w) in enumerate(zip(part, work)):
                if w is not a and i != 1:
                    a[...] = w


def _gradient(xp, p, g, weight_decay, maximize):
    """The gradient to descend along: sign turned for maximize, the penalty added."""
    if maximize:
        g = -g
    if weight_decay:
        g = g + weight_decay * p
    return g


@kernel("fused_adam_")
def fused_adam_(xp, param, grad, exp_avg, exp_avg_sq, step, max_exp_avg_sq, lr, beta1, beta2, weight_decay, eps,
                maximize, decoupled):
    """Adam, AdamW (`decoupled`) and AMSGrad (with `max_exp_avg_sq`)."""
    size, root = adam_numbers(count(step), lr, beta1, beta2)
    _each(xp, _adam, (param, grad, exp_avg, exp_avg_sq, max_exp_avg_sq), size, root, lr, beta1, beta2, weight_decay,
          eps, maximize, decoupled)


def _adam(xp, p, g, m, v, largest, size, root, lr, beta1, beta2, weight_decay, eps, maximize, decoupled):
    if decoupled and weight_decay:
        xp.multiply(p, 1 - lr * weight_decay, p)
        weight_decay = 0.0
    g = _gradient(xp, p, g, weight_decay, maximize)
    t = g - m
    xp.multiply(t, 1 - beta1, t)
    xp.add(m, t, m)
    t = xp.multiply(g, g)
    t *= 1 - beta2
    xp.multiply(v, beta2, v)
    xp.add(v, t, v)
    if largest is not None:
        xp.maximum(largest, v, out=largest)
        v = largest
    t = xp.sqrt(v)
    t /= root
    t += eps
    t = m / t
    t *= size
    xp.subtract(p, t, p)


@kernel("fused_sgd_")
def fused_sgd_(xp, param, grad, momentum_buffer, lr, momentum, dampening, weight_decay, nesterov, maximize, first):
    """SGD; `first` starts the momentum buffer with the gradient itself."""
    _each(xp, _sgd, (param, grad, momentum_buffer), lr, momentum, dampening, weight_decay, nesterov, maximize, first)


def _sgd(xp, p, g, buffer, lr, momentum, dampening, weight_decay, nesterov, maximize, first):
    g = _gradient(xp, p, g, weight_decay, maximize)
    if buffer is not None:
        if first:
            buffer[...] = g
        else:
            xp.multiply(buffer, momentum, buffer)
            xp.add(buffer, g * (1 - dampening) if dampening else g, buffer)
        g = g + momentum * buffer if nesterov else buffer
    xp.subtract(p, g * lr, p)


@kernel("fused_rmsprop_")
def fused_rmsprop_(xp, param, grad, square_avg, step, momentum_buffer, grad_avg, lr, alpha, eps, weight_decay,
                   momentum, maximize):
    """RMSprop; centered with `grad_avg`, with momentum where a buffer is given."""
    count(step)
    _each(xp, _rmsprop, (param, grad, square_avg, momentum_buffer, grad_avg), lr, alpha, eps, weight_decay, momentum,
          maximize)


def _rmsprop(xp, p, g, square, buffer, mean, lr, alpha, eps, weight_decay, momentum, maximize):
    g = _gradient(xp, p, g, weight_decay, maximize)
    t = xp.multiply(g, g)
    t *= 1 - alpha
    xp.multiply(square, alpha, square)
    xp.add(square, t, square)
    if mean is not None:
        t = g - mean
        t *= 1 - alpha
        xp.add(mean, t, mean)
        t = square - mean * mean
        t = xp.sqrt(t)
    else:
        t = xp.sqrt(square)
    t += eps
    t = g / t
    if buffer is not None:
        xp.multiply(buffer, momentum, buffer)
        xp.add(buffer, t, buffer)
        t = buffer
    xp.subtract(p, t * lr, p)


@kernel("fused_adagrad_")
def fused_adagrad_(xp, param, grad, state_sum, step, lr, lr_decay, weight_decay, eps, maximize):
    """Adagrad with its decaying rate."""
    rate = lr / (1 + (count(step) - 1) * lr_decay)
    _each(xp, _adagrad, (param, grad, state_sum), rate, weight_decay, eps, maximize)


def _adagrad(xp, p, g, total, rate, weight_decay, eps, maximize):
    g = _gradient(xp, p, g, weight_decay, maximize)
    xp.add(total, g * g, total)
    t = xp.sqrt(total)
    t += eps
    t = g / t
    t *= rate
    xp.subtract(p, t, p)
