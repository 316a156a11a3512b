"""Activation functions and their first derivatives.

`x_backward(xp, grad, a, ...)` is grad times the derivative at `a`.
"""
import math

from ..registry import kernel
from ._common import narrow, quiet, special, wide

SQRT_HALF, SQRT_2_OVER_PI, INV_SQRT_2PI = math.sqrt(0.5), math.sqrt(2 / math.pi), 1 / math.sqrt(2 * math.pi)
CUBIC = 0.044715                                  # of the tanh approximation of gelu


def _activation(name):
    """Register a kernel `f(xp, *arrays, *attrs)`; half precision is computed in float32."""
    def register(function):
        @kernel(name)
        def run(xp, a, *rest):
            with quiet(xp):
                out = function(xp, wide(xp, a), *[wide(xp, r) for r in rest])
                return narrow(xp, xp.asarray(out), a)
        return function
    return register


def _zero(a):
    return a.dtype.type(0)


@kernel("relu")
def relu(xp, a):
    """max(a, 0); NaN stays NaN."""
    return xp.maximum(a, _zero(a))


@kernel("threshold")
def threshold(xp, a, threshold, value):
    """a where a > threshold, else value."""
    return xp.where(a <= a.dtype.type(threshold), a.dtype.type(value), a).astype(a.dtype, copy=False)


@kernel("threshold_backward")
def threshold_backward(xp, grad, a, threshold):
    """grad where a > threshold (also where a is NaN), else 0."""
    return xp.where(a <= a.dtype.type(threshold), _zero(grad), grad).astype(grad.dtype, copy=False)


@kernel("hardtanh")
def hardtanh(xp, a, min_val, max_val):
    """a limited to [min_val, max_val]."""
    return xp.minimum(xp.maximum(a, a.dtype.type(min_val)), a.dtype.type(max_val))


@_activation("hardtanh_backward")
def hardtanh_backward(xp, grad, a, min_val, max_val):
    """grad strictly inside the limits."""
    return xp.where((a <= min_val) | (a >= max_val), _zero(grad), grad)


@_activation("leaky_relu")
def leaky_relu(xp, a, slope):
    """a, or slope * a below zero."""
    return xp.where(a > 0, a, a * slope)


@_activation("leaky_relu_backward")
def leaky_relu_backward(xp, grad, a, slope):
    return xp.where(a > 0, grad, grad * slope)


@_activation("elu")
def elu(xp, a, alpha, scale, input_scale):
    """scale * (a, or alpha * (exp(input_scale * a) - 1) below zero)."""
    return xp.where(a > 0, a * scale, xp.expm1(a * input_scale) * (alpha * scale))


@_activation("elu_backward")
def elu_backward(xp, grad, a, alpha, scale, input_scale):
    return grad * xp.where(a > 0, a.dtype.type(scale), xp.exp(a * input_scale) * (alpha * scale * input_scale))


def _sigmoid(xp, a):
    return special(xp).expit(a)


@_activation("silu")
def silu(xp, a):
    """a * sigmoid(a)."""
    if a.dtype.kind == "c":
        return a / (1 + xp.exp(-a))
    return a * _sigmoid(xp, a)


@_activation("silu_backward")
def silu_backward(xp, grad, a):
    s = _sigmoid(xp, a)
    return grad * s * (1 + a * (1 - s))


@_activation("gelu")
def gelu(xp, a, approximate):
    """a times the normal distribution function, exactly or by tanh."""
    if approximate == "tanh":
        inner = a * a
        inner *= CUBIC * SQRT_2_OVER_PI
        inner += SQRT_2_OVER_PI
        inner *= a
        xp.tanh(inner, inner)
    else:
        inner = special(xp).erf(a * SQRT_HALF)
    inner += 1
    inner *= a
    inner *= 0.5
    return inner


@_activation("gelu_backward")
def gelu_backward(xp, grad, a, approximate):
    if approximate == "tanh":
        squared = a * a
        t = xp.tanh(a * SQRT_2_OVER_PI * (1 + CUBIC * squared))
        slope = SQRT_2_OVER_PI * (1 + 3 * CUBIC * squared)
        return grad * 0.5 * ((1 + t) + a * (1 - t * t) * slope)
    normal = special(xp).erf(a * SQRT_HALF)
    normal += 1
    normal *= 0.5
    density = xp.exp(a * a * -0.5)
    density *= a
    density *= INV_SQRT_2PI
    normal += density
    normal *= grad
    return normal


def _softplus(xp, a):
    return xp.log1p(xp.exp(-abs(a))) + xp.maximum(a, _zero(a))


@_activation("mish")
def mish(xp, a):
    """a * tanh(softplus(a))."""
    return a * xp.tanh(_softplus(xp, a))


@_activation("mish_backward")
def mish_backward(xp, grad, a):
    t = xp.tanh(_softplus(xp, a))
    return grad * (t + a * _sigmoid(xp, a) * (1 - t * t))


@_activation("softplus")
def softplus(xp, a, beta, threshold):
    """log(1 + exp(beta a)) / beta; a itself where beta a > threshold."""
    scaled = a * beta
    return xp.where(scaled > threshold, a, xp.log1p(xp.exp(scaled)) / beta)


@_activation("softplus_backward")
def softplus_backward(xp, grad, a, beta, threshold):
    scaled = a * beta
    return xp.where(scaled > threshold, grad, grad * _sigmoid(xp, scaled))


@_activation("log_sigmoid")
def log_sigmoid(xp, a):
    """min(a, 0) - log(1 + exp(-|a|)), which does not overflow."""
    return xp.minimum(a, _zero(a)) - xp.log1p(xp.exp(-abs(a)))


@_activation("log_sigmoid_backward")
def log_sigmoid_backward(xp, grad, a):
    return grad * _sigmoid(xp, -a)


@_activation("hardsigmoid")
def hardsigmoid(xp, a):
    """a / 6 + 1/2 limited to [0, 1]."""
    return xp.minimum(xp.maximum(a + 3, _zero(a)), a.dtype.type(6)) / 6


@_activation("hardsigmoid_backward")
def hardsigmoid_backward(xp, grad, a):
    return xp.where((a > -3) & (a < 3), grad / 6, _zero(grad))


@_activation("hardswish")
def hardswish(xp, a):
    """a * hardsigmoid(a)."""
    return a * xp.minimum(xp.maximum(a + 3, _zero(a)), a.dtype.type(6)) / 6


@_activation("hardswish_backward")
def hardswish_backward(xp, grad, a):
    return xp.where(a <= -3, _zero(grad), xp.where(a < 3, grad * (a / 3 + 0.5), grad))


@_activation("hardshrink")
def hardshrink(xp, a, lambd):
    """a outside [-lambd, lambd], else 0."""
    return xp.where((a >= -lambd) & (a <= lambd), _zero(a), a)


@_activation("hardshrink_backward")
def hardshrink_backward(xp, grad, a, lambd):
    return xp.where((a >= -lambd) & (a <= lambd), _zero(grad), grad)


@_activation("softshrink")
def softshrink(xp, a, lambd):
    """a moved towards 0 by lambd; NaN stays NaN."""
    return xp.where(a > lambd, a - lambd, xp.where(a < -lambd, a + lambd, a * 0))


@_activation("prelu")
def prelu(xp, a, weight):
    """a, or weight * a where a is not positive (weight already broadcasts)."""
    return xp.where(a > 0, a, weight * a)


@_activation("prelu_backward_input")
def prelu_backward_input(xp, grad, a, weight):
    return xp.where(a > 0, grad, grad * weight)


@_activation("prelu_backward_weight")
def prelu_backward_weight(xp, grad, a):
    return xp.where(a > 0, _zero(grad), grad * a)


@_activation("glu")
def glu(xp, a, dim):
    """The first half along dim times the sigmoid of the second."""
    first, second = _halves(a, dim)
    return first * _sigmoid(xp, second)


@_activation("glu_backward")
def glu_backward(xp, grad, a, dim):
    first, second = _halves(a, dim)
    out = xp.empty(a.shape, a.dtype)
    into_first, into_second = _halves(out, dim)
    s = _sigmoid(xp, second)
    into_first[...] = grad * s
    into_second[...] = grad * first * s * (1 - s)
    return out


def _halves(a, dim):
    middle = a.shape[dim] // 2
    index = [slice(None)] * a.ndim
    index[dim] = slice(0, middle)
    first = a[tuple(index)]
    index[dim] = slice(middle, None)
    return first, a[tuple(index)]
