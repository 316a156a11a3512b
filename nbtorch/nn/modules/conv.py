"""Convolutions. Source: https://docs.pytorch.org/docs/stable/nn.html#convolution-layers

Input (N, C_in, *spatial) or (C_in, *spatial).
"""

import math

from ... import ops
from .. import functional as F
from .. import init
from ..parameter import Parameter, UninitializedParameter
from .lazy import LazyModuleMixin
from .module import Module
from .utils import ntuple, reverse_repeat_tuple

__all__ = [
    "Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d", "LazyConv1d", "LazyConv2d",
    "LazyConv3d", "LazyConvTranspose1d", "LazyConvTranspose2d", "LazyConvTranspose3d",
]

_PADDING_NAMES = {"same", "valid"}
_PADDING_MODES = {"zeros", "reflect", "replicate", "circular"}


class _ConvNd(Module):
    """Arguments, weights and printing shared by all convolutions."""

    __constants__ = ["stride", "padding", "dilation", "groups", "padding_mode", "output_padding", "in_channels",
                     "out_channels", "kernel_size"]

    def __init__(self, in_channels, out_channels, kernel_size, stride, padding, dilation, transposed, output_padding,
                 groups, bias, padding_mode, device=None, dtype=None):
        super().__init__()
        _check(in_channels, out_channels, stride, padding, groups, padding_mode)
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding
        self.dilation = dilation
        self.transposed = transposed
        self.output_padding = output_padding
        self.groups = groups
        self.padding_mode = padding_mode
        self._reversed_padding_repeated_twice = _padding_for_pad(padding, dilation, kernel_size)
        self._make_parameters(bias, {"device": device, "dtype": dtype})

    def _make_parameters(self, bias, factory):
        self.weight = Parameter(ops.empty(self._weight_shape(), **factory))
        self.register_parameter("bias", Parameter(ops.empty(self.out_channels, **factory)) if bias else None)
        self.reset_parameters()

    def _weight_shape(self):
        if self.transposed:
            return self.in_channels, self.out_channels // self.groups, *self.kernel_size
        return self.out_channels, self.in_channels // self.groups, *self.kernel_size

    def reset_parameters(self):
        """Draws weight, then bias, uniformly within ``1/sqrt(fan_in)``."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._calculate_fan_in_and_fan_out(self.weight)
            if fan_in != 0:
                bound = 1 / math.sqrt(fan_in)
                init.uniform_(self.bias, -bound, bound)

    def extra_repr(self):
        n = len(self.kernel_size)
        text = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        usual = {"padding": (0,) * n, "dilation": (1,) * n, "output_padding": (0,) * n, "groups": 1}
        for name, value in usual.items():
            if getattr(self, name) != value:
                text += f", {name}={getattr(self, name)}"
        if self.bias is None:
            text += ", bias=False"
        if self.padding_mode != "zeros":
            text += f", padding_mode={self.padding_mode}"
        return text

    def __setstate__(self, state):
        super().__setstate__(state)
        self.__dict__.setdefault("padding_mode", "zeros")


def _check(in_channels, out_channels, stride, padding, groups, padding_mode):
    if groups <= 0:
        raise ValueError("groups must be a positive integer")
    if in_channels % groups != 0:
        raise ValueError("in_channels must be divisible by groups")
    if out_channels % groups != 0:
        raise ValueError("out_channels must be divisible by groups")
    if isinstance(padding, str):
        if padding not in _PADDING_NAMES:
            raise ValueError(f"Invalid padding string {padding!r}, should be one of {_PADDING_NAMES}")
        if padding == "same" and any(s != 1 for s in stride):
            raise ValueError("padding='same' is not supported for strided convolutions")
    if padding_mode not in _PADDING_MODES:
        raise ValueError(f"padding_mode must be one of {_PADDING_MODES}, but got padding_mode='{padding_mode}'")


def _padding_for_pad(padding, dilation, kernel_size):
    """The padding as ``F.pad`` takes it: last dimension first, both sides."""
    if not isinstance(padding, str):
        return reverse_repeat_tuple(padding, 2)
    sides = []
    for d, k in zip(reversed(dilation), reversed(kernel_size)):
        total = d * (k - 1) if padding == "same" else 0
        sides += [total // 2, total - total // 2]
    return sides


class _Conv(_ConvNd):
    """Convolution over `_dims` spatial dimensions."""

    _dims = None
    _function = None

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True,
                 padding_mode="zeros", device=None, dtype=None):
        as_tuple = ntuple(self._dims)
        super().__init__(
            in_channels, out_channels, as_tuple(kernel_size), as_tuple(stride),
            padding if isinstance(padding, str) else as_tuple(padding), as_tuple(dilation), False, as_tuple(0), groups,
            bias, padding_mode, device=device, dtype=dtype,
        )

    def _conv_forward(self, input, weight, bias):
        padding = self.padding
        if self.padding_mode != "zeros":
            input = F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode)
            padding = (0,) * self._dims
        return self._function(input, weight, bias, self.stride, padding, self.dilation, self.groups)

    def forward(self, input):
        return self._conv_forward(input, self.weight, self.bias)


class Conv1d(_Conv):
    """Convolution of (N, C_in, L) to (N, C_out, L_out)."""

    _dims = 1
    _function = staticmethod(F.conv1d)


class Conv2d(_Conv):
    """Convolution of (N, C_in, H, W) to (N, C_out, H_out, W_out)."""

    _dims = 2
    _function = staticmethod(F.conv2d)


class Conv3d(_Conv):
    """Convolution of (N, C_in, D, H, W) to (N, C_out, D_out, H_out, W_out)."""

    _dims = 3
    _function = staticmethod(F.conv3d)


class _ConvTransposeNd(_ConvNd):
    """The transpose (gradient) of a convolution over `_dims` spatial dimensions."""

    _dims = None
    _function = None

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1,
                 bias=True, dilation=1, padding_mode="zeros", device=None, dtype=None):
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        as_tuple = ntuple(self._dims)
        super().__init__(
            in_channels, out_channels, as_tuple(kernel_size), as_tuple(stride), as_tuple(padding), as_tuple(dilation),
            True, as_tuple(output_padding), groups, bias, padding_mode, device=device, dtype=dtype,
        )

    def _output_padding(self, input, output_size, stride, padding, kernel_size, num_spatial_dims, dilation=None):
        """What must be added at the far ends to reach `output_size`. Raises ValueError where it cannot be reached."""
        if output_size is None:
            return list(self.output_padding)
        other = 2 if input.dim() == num_spatial_dims + 2 else 1
        if len(output_size) == other + num_spatial_dims:
            output_size = output_size[other:]
        if len(output_size) != num_spatial_dims:
            raise ValueError(
                f"ConvTranspose{num_spatial_dims}D: for {input.dim()}D input, output_size must have {num_spatial_dims} "
                f"or {other + num_spatial_dims} elements (got {len(output_size)})"
            )
        dilation = (1,) * num_spatial_dims if dilation is None else dilation
        smallest = [
            (size - 1) * s - 2 * p + d * (k - 1) + 1
            for size, s, p, d, k in zip(input.shape[other:], stride, padding, dilation, kernel_size)
        ]
        largest = [low + s - 1 for low, s in zip(smallest, stride)]
        if any(not low <= size <= high for size, low, high in zip(output_size, smallest, largest)):
            raise ValueError(
                f"requested an output size of {output_size}, but valid sizes range "
                f"from {smallest} to {largest} (for an input of {input.size()[2:]})"
            )
        return [size - low for size, low in zip(output_size, smallest)]

    def forward(self, input, output_size=None):
        if self.padding_mode != "zeros":
            raise ValueError(f"Only `zeros` padding mode is supported for {type(self).__name__}")
        output_padding = self._output_padding(
            input, output_size, self.stride, self.padding, self.kernel_size, self._dims, self.dilation
        )
        return self._function(
            input, self.weight, self.bias, self.stride, self.padding, output_padding, self.groups, self.dilation
        )


class ConvTranspose1d(_ConvTransposeNd):
    """Transposed convolution of (N, C_in, L); `output_size` chooses among the sizes that fit."""

    _dims = 1
    _function = staticmethod(F.conv_transpose1d)


class ConvTranspose2d(_ConvTransposeNd):
    """Transposed convolution of (N, C_in, H, W); `output_size` chooses among the sizes that fit."""

    _dims = 2
    _function = staticmethod(F.conv_transpose2d)


class ConvTranspose3d(_ConvTransposeNd):
    """Transposed convolution of (N, C_in, D, H, W); `output_size` chooses among the sizes that fit."""

    _dims = 3
    _function = staticmethod(F.conv_transpose3d)


class _LazyConv(LazyModuleMixin):
    """A convolution whose `in_channels` come with the first input."""

    def __init__(self, out_channels, kernel_size, *args, **kwargs):
        super().__init__(0, out_channels, kernel_size, *args, **kwargs)

    def _make_parameters(self, bias, factory):
        self.weight = UninitializedParameter(**factory)
        self.register_parameter("bias", UninitializedParameter(**factory) if bias else None)

    def reset_parameters(self):
        """Does nothing until the shapes are known."""
        if not self.has_uninitialized_params() and self.in_channels != 0:
            super().reset_parameters()

    def initialize_parameters(self, input, *args, **kwargs):
        """Takes the number of channels from `input`."""
        if not self.has_uninitialized_params():
            return
        unbatched = self._dims + 1
        if input.dim() not in (unbatched, unbatched + 1):
            raise RuntimeError(
                f"Expected {unbatched}D (unbatched) or {unbatched + 1}D (batched) input to {type(self).__name__}, but "
                f"got input of size: {input.shape}"
            )
        self.in_channels = input.shape[input.dim() - unbatched]
        if self.in_channels % self.groups != 0:
            raise ValueError("in_channels must be divisible by groups")
        self.weight.materialize(self._weight_shape())
        if self.bias is not None:
            self.bias.materialize((self.out_channels,))
        self.reset_parameters()


class LazyConv1d(_LazyConv, Conv1d):
    """Conv1d without `in_channels`."""

    cls_to_become = Conv1d


class LazyConv2d(_LazyConv, Conv2d):
    """Conv2d without `in_channels`."""

    cls_to_become = Conv2d


class LazyConv3d(_LazyConv, Conv3d):
    """Conv3d without `in_channels`."""

    cls_to_become = Conv3d


class LazyConvTranspose1d(_LazyConv, ConvTranspose1d):
    """ConvTranspose1d without `in_channels`."""

    cls_to_become = ConvTranspose1d


class LazyConvTranspose2d(_LazyConv, ConvTranspose2d):
    """ConvTranspose2d without `in_channels`."""

    cls_to_become = ConvTranspose2d


class LazyConvTranspose3d(_LazyConv, ConvTranspose3d):
    """ConvTranspose3d without `in_channels`."""

    cls_to_become = ConvTranspose3d
