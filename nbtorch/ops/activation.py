"""Activation functions. Forms with `inplace=` are in nbtorch.nn.functional.

Source: https://docs.pytorch.org/docs/stable/nn.functional.html#non-linear-activation-functions
"""
import math

from ..core.dtype import finfo, float64, scalar_name
from ..core.op import composite, op
from . import _nn
from ._nn import floats_only, replay

SELU_ALPHA, SELU_SCALE = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946


def _refuse_bool(kernel, input):
    if input.dtype.name == "bool":
        raise _nn.unimplemented(kernel, input)


def _no_bool(message):
    def check(input, *rest):
        if input.dtype.name == "bool":
            raise RuntimeError(message)
    return check


# ---- piecewise linear: the second derivative in the input is zero

_threshold_backward = op("_threshold_backward(grad, input, threshold: float)", "threshold_backward",
                         vjp={"grad": lambda g, input, threshold: _threshold_backward(g, input, threshold)})
relu = op("relu(input)", "relu", inplace=True, out=False, check=_no_bool("Boolean inputs not supported for relu"),
          vjp={"input": lambda g, out: _threshold_backward(g, out, 0)},
          doc="max(input, 0). https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.relu.html")
threshold = op("threshold(input, threshold: float, value: float)", "threshold", on="torch", inplace=True, out=False,
               check=lambda input, *rest: _refuse_bool("threshold_cpu", input),
               vjp={"input": lambda g, input, threshold: _threshold_backward(g, input, threshold)},
               doc="input where input > threshold, else value. "
                   "https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.threshold.html")

_hardtanh_backward = op("_hardtanh_backward(grad, input, min_val: float, max_val: float)", "hardtanh_backward", vjp={
    "grad": lambda g, input, min_val, max_val: _hardtanh_backward(g, input, min_val, max_val)})


def _check_hardtanh(input, min_val, max_val):
    if input.dtype.name == "bool":
        raise RuntimeError("Bool inputs not supported for hardtanh")


_hardtanh = op("_hardtanh(input, min_val: float, max_val: float)", "hardtanh", inplace=True, check=_check_hardtanh,
               vjp={"input": lambda g, input, min_val, max_val: _hardtanh_backward(g, input, min_val, max_val)})

_leaky_relu_backward = op("_leaky_relu_backward(grad, input, negative_slope: float)", "leaky_relu_backward", vjp={
    "grad": lambda g, input, negative_slope: _leaky_relu_backward(g, input, negative_slope)})
_leaky_relu = op("_leaky_relu(input, negative_slope: float)", "leaky_relu", inplace=True,
                 check=floats_only("leaky_relu_cpu"),
                 vjp={"input": lambda g, input, negative_slope: _leaky_relu_backward(g, input, negative_slope)})

_hardsigmoid_backward = op("_hardsigmoid_backward(grad, input)", "hardsigmoid_backward",
                           vjp={"grad": lambda g, input: _hardsigmoid_backward(g, input)})
_hardsigmoid = op("_hardsigmoid(input)", "hardsigmoid", inplace=True, check=floats_only("hardsigmoid_cpu"),
                  vjp={"input": lambda g, input: _hardsigmoid_backward(g, input)})

_hardshrink_backward = op("_hardshrink_backward(grad, input, lambd: float)", "hardshrink_backward",
                          vjp={"grad": lambda g, input, lambd: _hardshrink_backward(g, input, lambd)})
hardshrink = op("hardshrink(input, lambd: float=0.5)", "hardshrink", on="torch method F", out=False,
                check=floats_only("hardshrink_cpu"),
                vjp={"input": lambda g, input, lambd: _hardshrink_backward(g, input, lambd)},
                doc="input outside [-lambd, lambd], else 0. "
                    "https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.hardshrink.html")


def _check_softshrink(input, lambd):
    if not input.dtype.is_floating_point:
        raise _nn.unimplemented("softshrink_check", input)
    if not 0 <= lambd <= finfo(input.dtype).max:
        raise RuntimeError(f"lambda must be in range [0, {finfo(input.dtype).max:g}] for input dtype "
                           f"{scalar_name(input.dtype)}, but found {lambd:g}")


softshrink = op("softshrink(input, lambd: float=0.5)", "softshrink", on="F", check=_check_softshrink,
                vjp={"input": lambda g, input, lambd: _hardshrink_backward(g, input, lambd)},
                doc="input moved towards 0 by lambd. "
                    "https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.softshrink.html")


def _check_prelu(input, weight):
    if input.dtype is not weight.dtype:
        raise RuntimeError(f"prelu: Type promoting not supported. Got {scalar_name(input.dtype)} and "
                           f"{scalar_name(weight.dtype)}")
    if not input.dtype.is_floating_point:
        raise _nn.unimplemented("prelu_cpu", input)


_prelu_backward_input = op("_prelu_backward_input(grad, input, weight)", "prelu_backward_input", vjp={
    "grad": lambda g, input, weight: _prelu_backward_input(g, input, weight),
    "weight": lambda g, grad, input: g * grad * (input <= 0)})
_prelu_backward_weight = op("_prelu_backward_weight(grad, input)", "prelu_backward_weight", vjp={
    "grad": lambda g, input: g * (input * (input <= 0)), "input": lambda g, grad, input: g * grad * (input <= 0)})
_prelu = op("_prelu(input, weight)", "prelu", check=_check_prelu, vjp={
    "input": lambda g, input, weight: _prelu_backward_input(g, input, weight),
    "weight": lambda g, input: _prelu_backward_weight(g, input)})


@composite("prelu(input, weight)", on="torch method F", amp="low", out=False)
def prelu(input, weight):
    """max(0, x) + weight * min(0, x), weight one number or one per channel.

    https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.prelu.html
    """
    if weight.dim() > 1:
        raise RuntimeError(f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {weight.dim()}")
    if weight.numel() != 1:
        if input.dim() == 0:
            raise RuntimeError("Not allow zero-dim input tensor.")
        channels = input.shape[1] if input.dim() > 1 else 1
        if channels != weight.numel():
            raise RuntimeError("Mismatch of parameter numbers and input channel size. Found parameter numbers = "
                               f"{weight.numel()} and channel size = {channels}.")
    if input.dim() == 0:
        return _prelu(input, weight.reshape(()))
    return _prelu(input, weight.reshape([-1 if i == min(1, input.dim() - 1) else 1 for i in range(input.dim())]))


# ---- smooth: the second derivative comes from the derivative written in ops

_silu_backward = op("_silu_backward(grad, input)", "silu_backward", vjp={
    ("grad", "input"): lambda g, grad, input: replay(_silu_slope, (grad, input), (g,))})


def _silu_slope(grad, x):
    s = x.sigmoid()
    return grad * s * (1 + x * (1 - s))


_silu = op("_silu(input)", "silu", inplace=True, check=floats_only("silu_cpu", complex_too=True),
           vjp={"input": lambda g, input: _silu_backward(g, input)})


def _gelu_slope(approximate):
    def slope(grad, x):
        if approximate == "tanh":
            c = math.sqrt(2 / math.pi)
            t = (c * (x + 0.044715 * x * x * x)).tanh()
            return grad * (0.5 * (1 + t) + 0.5 * x * (1 - t * t) * (c * (1 + 3 * 0.044715 * x * x)))
        return grad * (0.5 * (1 + (x * math.sqrt(0.5)).erf()) + x * (x * x * -0.5).exp() * (1 / math.sqrt(2 * math.pi)))
    return slope


def _check_gelu(input, approximate):
    if approximate not in ("none", "tanh"):
        raise RuntimeError("approximate argument must be either none or tanh.")
    if not input.dtype.is_floating_point:
        raise _nn.unimplemented("GeluKernelImpl", input)


_gelu_backward = op("_gelu_backward(grad, input, approximate: str)", "gelu_backward", vjp={
    ("grad", "input"): lambda g, grad, input, approximate: replay(_gelu_slope(approximate), (grad, input), (g,))})
gelu = op("gelu(input, *, approximate: str='none')", "gelu", on="F", check=_check_gelu,
          vjp={"input": lambda g, input, approximate: _gelu_backward(g, input, approximate)},
          doc="input * Phi(input), or its tanh approximation. "
              "https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.gelu.html")


def _mish_slope(grad, x):
    t = softplus(x).tanh()
    return grad * (t + x * x.sigmoid() * (1 - t * t))


_mish_backward = op("_mish_backward(grad, input)", "mish_backward", vjp={
    ("grad", "input"): lambda g, grad, input: replay(_mish_slope, (grad, input), (g,))})
_mish = op("_mish(input)", "mish", inplace=True, check=floats_only("mish_cpu"),
           vjp={"input": lambda g, input: _mish_backward(g, input)})



_softplus_backward = op("_softplus_backward(grad, input, beta: float, threshold: float)", "softplus_backward", vjp={
    "grad": lambda g, input, beta, threshold: _softplus_backward(g, input, beta, threshold),
    "input": lambda g, grad, input, beta, threshold: _softplus_bend(g * grad, input, beta, threshold)})


def _softplus_bend(g, x, beta, threshold):
    s = (x * beta).sigmoid()
    return (g * s * (1 - s) * beta).masked_fill(x * beta > threshold, 0)


softplus = op("softplus(input, beta: float=1.0, threshold: float=20.0)", "softplus", on="F",
              amp={"cpu": None, "cuda": "fp32"}, check=floats_only("softplus_cpu"),
              vjp={"input": lambda g, input, beta, threshold: _softplus_backward(g, input, beta, threshold)},
              doc="log(1 + exp(beta * input)) / beta, and input itself where beta * input > threshold. "
                  "https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.softplus.html")

_elu_backward = op("_elu_backward(grad, input, alpha: float, scale: float, input_scale: float)", "elu_backward", vjp={
    "grad": lambda g, input, alpha, scale, input_scale: _elu_backward(g, input, alpha, scale, input_scale),
    "input": lambda g, grad, input, alpha, scale, input_scale:
        (g * grad * (input * input_scale).exp() * (alpha * scale * input_scale ** 2)).masked_fill(input > 0, 0)})
_elu = op("_elu(input, alpha: float, scale: float=1.0, input_scale: float=1.0)", "elu", inplace=True,
          check=floats_only("elu_cpu"),
          vjp={"input": lambda g, input, alpha, scale, input_scale: _elu_backward(g, input, alpha, scale, input_scale)})

_log_sigmoid_backward = op("_log_sigmoid_backward(grad, input)", "log_sigmoid_backward", vjp={
    "grad": lambda g, input: _log_sigmoid_backward(g, input),
    "input": lambda g, grad, input: -g * grad * input.sigmoid() * (-input).sigmoid()})
logsigmoid = op("logsigmoid(input)", "log_sigmoid", on="F", check=floats_only("log_sigmoid_cpu"), node="LogSigmoid",
                vjp={"input": lambda g, input: _log_sigmoid_backward(g, input)},
                doc="log(sigmoid(input)). "
                    "https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.logsigmoid.html")

_hardswish_backward = op("_hardswish_backward(grad, input)", "hardswish_backward", vjp={
    "grad": lambda g, input: _hardswish_backward(g, input),
    "input": lambda g, grad, input: g * grad * ((input > -3) & (input < 3)) / 3})
_hardswish = op("_hardswish(input)", "hardswish", inplace=True, check=floats_only("hardswish_cpu"),
                vjp={"input": lambda g, input: _hardswish_backward(g, input)})


def _glu_slope(dim):
    def slope(grad, x):
        first, second = x.chunk(2, dim)
        s = second.sigmoid()
        from . import cat
        return cat([grad * s, grad * first * s * (1 - s)], dim)
    return slope


def _check_glu(input, dim):
    if input.dim() == 0:
        raise RuntimeError("glu does not support 0-dimensional tensors")
    n = input.dim()
    if not -n <= dim < n:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {dim})")
    if input.shape[dim] % 2:
        raise RuntimeError(f"Halving dimension must be even, but dimension {dim % n} is size {input.shape[dim]}")
    if not input.dtype.is_floating_point:
        raise _nn.unimplemented("glu_cpu", input)


_glu_backward = op("_glu_backward(grad, input, dim: int)", "glu_backward", vjp={
    ("grad", "input"): lambda g, grad, input, dim: replay(_glu_slope(dim), (grad, input), (g,))})
glu = op("glu(input, dim: int=-1)", "glu", on="F", check=_check_glu,
         vjp={"input": lambda g, input, dim: _glu_backward(g, input, dim)},
         doc="The first half of input along dim times the sigmoid of the second. "
             "https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.glu.html")


# ---- made of the above

@composite("selu(input)", on="torch", inplace=True, out=False)
def selu(input):
    """scale * elu(input, alpha) with the constants of self-normalising networks (arXiv:1706.02515)."""
    return _elu(input, SELU_ALPHA, SELU_SCALE, 1.0)


@composite("celu(input, alpha: float=1.0)", on="torch", inplace=True, out=False)
def celu(input, alpha):
    """max(0, x) + min(0, alpha * (exp(x / alpha) - 1))."""
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return _elu(input, alpha, 1.0, 1.0 / alpha)


@composite("softsign(input)", on="F")
def softsign(input):
    """x / (1 + |x|). https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.softsign.html"""
    if input.dtype.name == "bool":
        raise _nn.unimplemented("abs_cpu", input)
    return input / (input.abs() + 1)


@composite("tanhshrink(input)", on="F")
def tanhshrink(input):
    """x - tanh(x). https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.tanhshrink.html"""
    return input - input.tanh()


@composite("rrelu(input, lower: float=0.125, upper: float=0.3333333333333333, training: bool=False, generator=None)",
           on="torch", inplace=True, out=False)
def rrelu(input, lower, upper, training, generator):
    """Leaky relu whose slopes are drawn from [lower, upper] in training, their mean otherwise (arXiv:1505.00853).

    https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.rrelu.html
    """
    if lower > upper:
        raise RuntimeError("Lower bound should be less than or equal to the upper bound")
    if not training:
        return _leaky_relu(input, (lower + upper) / 2)
    if not input.dtype.is_floating_point:
        raise _nn.unimplemented("rrelu_with_noise_out_cpu", input)
    noise = _rrelu_noise(input.detach(), lower, upper, generator)
    return input * noise


def _rrelu_noise(input, lower, upper, generator):
    """1 for positive elements; for each other, in order, one double draw from [lower, upper], as in PyTorch."""
    noise = input.new_ones(input.shape)
    chosen = input <= 0
    count = int(chosen.sum())
    if count:
        draws = input.new_empty((count,), dtype=float64).uniform_(lower, upper, generator=generator)
        noise[chosen] = draws.to(input.dtype)
    return noise
