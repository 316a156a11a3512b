"""Gradients of convolutions as functions. Source: https://docs.pytorch.org/docs/stable/nn.html#module-torch.nn.grad"""

from .. import ops
from ..core.modes import enable_grad
from . import functional as F

__all__ = ["conv1d_input", "conv1d_weight", "conv2d_input", "conv2d_weight", "conv3d_input", "conv3d_weight"]


def _gradient(convolution, of, shape, other, grad_output, options):
    """The gradient of a convolution for an argument of which only the shape is known (it is linear in both)."""
    from ..autograd import grad

    with enable_grad():
        unknown = ops.zeros(tuple(shape), dtype=other.dtype, device=other.device).requires_grad_()
        operands = (unknown, other) if of == "input" else (other, unknown)
        output = convolution(*operands, None, *options)
        return grad(output, unknown, grad_output)[0]


def _make(dims):
    convolution = getattr(F, f"conv{dims}d")

    def conv_input(input_size, weight, grad_output, stride=1, padding=0, dilation=1, groups=1):
        options = (stride, padding, dilation, groups)
        return _gradient(convolution, "input", input_size, weight, grad_output, options)

    def conv_weight(input, weight_size, grad_output, stride=1, padding=0, dilation=1, groups=1):
        options = (stride, padding, dilation, groups)
        return _gradient(convolution, "weight", weight_size, input, grad_output, options)

    for function, of in ((conv_input, "input"), (conv_weight, "weight")):
        function.__name__ = function.__qualname__ = f"conv{dims}d_{of}"
        function.__doc__ = f"Gradient of ``conv{dims}d`` for its {of}, given its shape and the gradient of the output."
    return conv_input, conv_weight


conv1d_input, conv1d_weight = _make(1)
conv2d_input, conv2d_weight = _make(2)
conv3d_input, conv3d_weight = _make(3)
