"""Activation functions that take `inplace`, and softmax without a default dimension.

Source: https://docs.pytorch.org/docs/stable/nn.functional.html#non-linear-activation-functions
"""
import warnings

from ... import ops
from ...core.op import OPS

__all__ = [
    "celu",
    "elu",
    "elu_",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "hardtanh_",
    "leaky_relu",
    "leaky_relu_",
    "log_softmax",
    "mish",
    "relu",
    "relu6",
    "rrelu",
    "selu",
    "silu",
    "softmax",
    "softmin",
    "threshold",
]
_hardtanh, _leaky_relu, _elu, _silu, _mish, _hardsigmoid, _hardswish = (
    OPS["_" + name] for name in ("hardtanh", "leaky_relu", "elu", "silu", "mish", "hardsigmoid", "hardswish"))


def relu(input, inplace=False):
    """max(input, 0). https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.relu.html"""
    return ops.relu_(input) if inplace else ops.relu(input)


def threshold(input, threshold, value, inplace=False):
    """input where input > threshold, else value."""
    return ops.threshold_(input, threshold, value) if inplace else ops.threshold(input, threshold, value)


def hardtanh(input, min_val=-1.0, max_val=1.0, inplace=False):
    """input limited to [min_val, max_val]. Raises ValueError when the limits are exchanged."""
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    return _call(_hardtanh, inplace, input, min_val, max_val)


def hardtanh_(input, min_val=-1.0, max_val=1.0):
    """In-place hardtanh."""
    return _hardtanh.inplace_function(input, min_val, max_val)


def relu6(input, inplace=False):
    """min(max(input, 0), 6)."""
    return _call(_hardtanh, inplace, input, 0, 6)


def leaky_relu(input, negative_slope=0.01, inplace=False):
    """input, or negative_slope * input below zero."""
    return _call(_leaky_relu, inplace, input, negative_slope)


def leaky_relu_(input, negative_slope=0.01):
    """In-place leaky_relu."""
    return _leaky_relu.inplace_function(input, negative_slope)


def elu(input, alpha=1.0, inplace=False):
    """input, or alpha * (exp(input) - 1) below zero (arXiv:1511.07289)."""
    return _call(_elu, inplace, input, alpha, 1.0, 1.0)


def elu_(input, alpha=1.0):
    """In-place elu."""
    return _elu.inplace_function(input, alpha, 1.0, 1.0)


def selu(input, inplace=False):
    """Self-normalising elu (arXiv:1706.02515)."""
    return ops.selu_(input) if inplace else ops.selu(input)


def celu(input, alpha=1.0, inplace=False):
    """max(0, x) + min(0, alpha * (exp(x / alpha) - 1)) (arXiv:1704.07483)."""
    return ops.celu_(input, alpha) if inplace else ops.celu(input, alpha)


def silu(input, inplace=False):
    """input * sigmoid(input)."""
    return _call(_silu, inplace, input)


def mish(input, inplace=False):
    """input * tanh(softplus(input)) (arXiv:1908.08681)."""
    return _call(_mish, inplace, input)


def hardsigmoid(input, inplace=False):
    """input / 6 + 1/2 limited to [0, 1]."""
    return _call(_hardsigmoid, inplace, input)


def hardswish(input, inplace=False):
    """input * hardsigmoid(input) (arXiv:1905.02244)."""
    return _call(_hardswish, inplace, input)


def rrelu(input, lower=1.0 / 8, upper=1.0 / 3, training=False, inplace=False):
    """Leaky relu with random slopes in training (arXiv:1505.00853)."""
    return ops.rrelu_(input, lower, upper, training) if inplace else ops.rrelu(input, lower, upper, training)


def _call(op, inplace, *args):
    return (op.inplace_function if inplace else op.function)(*args)


def _default_dim(name, ndim, stacklevel):
    """The dimension PyTorch chooses, with its warning."""
    warnings.warn(f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an "
                  "argument.", stacklevel=stacklevel)
    return 0 if ndim in (0, 1, 3) else 1


def softmax(input, dim=None, _stacklevel=3, dtype=None):
    """exp(input) / sum(exp(input)) along dim."""
    return ops.softmax(input, _default_dim("softmax", input.dim(), _stacklevel) if dim is None else dim, dtype)


def softmin(input, dim=None, _stacklevel=3, dtype=None):
    """softmax(-input)."""
    return ops.softmax(-input, _default_dim("softmin", input.dim(), _stacklevel) if dim is None else dim, dtype)


def log_softmax(input, dim=None, _stacklevel=3, dtype=None):
    """log(softmax(input)) along dim, without overflow."""
    return ops.log_softmax(input, _default_dim("log_softmax", input.dim(), _stacklevel) if dim is None else dim, dtype)
