"""Initial values for parameters, drawn in PyTorch's order so that the same seed gives the same weights.

Every function works in place, outside autograd, and returns its tensor.
Source: https://docs.pytorch.org/docs/stable/nn.init.html
"""

import contextlib
import functools
import math
import threading
import warnings

from .. import ops
from ..core.interop import tensor as make_tensor
from ..core.modes import no_grad

__all__ = [
    "calculate_gain", "uniform_", "normal_", "trunc_normal_", "constant_", "ones_", "zeros_", "eye_", "dirac_",
    "xavier_uniform_", "xavier_normal_", "kaiming_uniform_", "kaiming_normal_", "orthogonal_", "sparse_",
    "uniform", "normal", "constant", "eye", "dirac", "xavier_uniform", "xavier_normal", "kaiming_uniform",
    "kaiming_normal", "orthogonal", "sparse",
]

class _Skipping(threading.local):
    on = False


_skipping = _Skipping()


def _fills(function):
    """For functions that write into their first argument: no history, and nothing at all inside ``skipped()``."""

    @functools.wraps(function)
    def fill(tensor, *args, **kwargs):
        if _skipping.on:
            return tensor
        with no_grad():
            return function(tensor, *args, **kwargs)

    return fill


@contextlib.contextmanager
def skipped():
    """Inside, modules are made without initial values and without drawing random numbers (see ``utils.skip_init``)."""
    before, _skipping.on = _skipping.on, True
    try:
        yield
    finally:
        _skipping.on = before


_LINEAR = ("linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d")


def calculate_gain(nonlinearity, param=None):
    """The factor that keeps the variance of activations through `nonlinearity` (a name of `torch.nn.functional`)."""
    if nonlinearity in _LINEAR or nonlinearity == "sigmoid":
        return 1
    if nonlinearity == "tanh":
        return 5.0 / 3
    if nonlinearity == "relu":
        return math.sqrt(2.0)
    if nonlinearity == "leaky_relu":
        if param is None:
            slope = 0.01
        elif not isinstance(param, bool) and isinstance(param, (int, float)):
            slope = param
        else:
            raise ValueError(f"negative_slope {param} not a valid number")
        return math.sqrt(2.0 / (1 + slope**2))
    if nonlinearity == "selu":
        return 3.0 / 4
    raise ValueError(f"Unsupported nonlinearity {nonlinearity}")


@_fills
def uniform_(tensor, a=0.0, b=1.0, generator=None):
    """Fills with uniform numbers from [a, b)."""
    return tensor.uniform_(a, b, generator=generator)


@_fills
def normal_(tensor, mean=0.0, std=1.0, generator=None):
    """Fills with normal numbers."""
    return tensor.normal_(mean, std, generator=generator)


def _normal_cdf(x):
    return (1.0 + math.erf(x / math.sqrt(2.0))) / 2.0


@_fills
def trunc_normal_(tensor, mean=0.0, std=1.0, a=-2.0, b=2.0, generator=None):
    """Fills with normal numbers kept inside [a, b] (by rejection)."""
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. "
            "The distribution of values may be incorrect.",
            stacklevel=2,
        )
    inside = _normal_cdf((b - mean) / std) - _normal_cdf((a - mean) / std)
    # Redrawing what falls outside is cheap while most of the bell lies in [a, b]; in a tail it would never end.
    fill = _reject_from_normal if inside > 0.3 else _reject_from_uniform
    return fill(tensor, mean, std, a, b, generator)


def _reject_from_normal(tensor, mean, std, a, b, generator):
    low, high = (make_tensor(bound, dtype=tensor.dtype).item() for bound in (a, b))  # as the dtype rounds them
    tensor.normal_(mean, std, generator=generator)
    while (outside := (tensor < low) | (tensor > high)).any():
        redrawn = ops.empty_like(tensor).normal_(mean, std, generator=generator)
        tensor.copy_(ops.where(outside, redrawn, tensor))
    return tensor


def _reject_from_uniform(tensor, mean, std, a, b, generator):
    peak = -0.5 * ((max(a, min(mean, b)) - mean) / std) ** 2

    def refused(values):
        log_density = values.clone().sub_(mean).div_(std).pow_(2).mul_(-0.5).sub_(peak)
        return ops.empty_like(values).uniform_(generator=generator).log_().gt(log_density)

    pending = refused(tensor.uniform_(a, b, generator=generator))
    while pending.any():
        candidates = ops.empty_like(tensor).uniform_(a, b, generator=generator)
        tensor.copy_(ops.where(pending, candidates, tensor))
        pending = pending & refused(candidates)
    return tensor


@_fills
def constant_(tensor, val):
    """Fills with one value."""
    return tensor.fill_(val)


@_fills
def ones_(tensor):
    """Fills with 1."""
    return tensor.fill_(1.0)


@_fills
def zeros_(tensor):
    """Fills with 0."""
    return tensor.zero_()


@_fills
def eye_(tensor):
    """Writes the identity matrix into a 2-D tensor."""
    if tensor.ndimension() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    tensor.zero_()
    tensor.diagonal().fill_(1.0)
    return tensor


@_fills
def dirac_(tensor, groups=1):
    """Writes delta functions into a 3-, 4- or 5-D weight, so that a convolution passes its channels through."""
    dims = tensor.ndimension()
    if dims not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    sizes = tensor.size()
    if sizes[0] % groups != 0:
        raise ValueError("dim 0 must be divisible by groups")
    out_per_group = sizes[0] // groups
    centre = tuple(size // 2 for size in sizes[2:])
    tensor.zero_()
    for group in range(groups):
        for channel in range(min(out_per_group, sizes[1])):
            tensor[(group * out_per_group + channel, channel, *centre)] = 1
    return tensor


def _calculate_fan_in_and_fan_out(tensor):
    if tensor.dim() < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    field = math.prod(tensor.shape[2:])
    return tensor.size(1) * field, tensor.size(0) * field


def _calculate_correct_fan(tensor, mode):
    mode = mode.lower()
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of {['fan_in', 'fan_out']}")
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return fan_in if mode == "fan_in" else fan_out


def xavier_uniform_(tensor, gain=1.0, generator=None):
    """Glorot's uniform rule: bound ``gain * sqrt(6 / (fan_in + fan_out))``."""
    std = gain * math.sqrt(2.0 / float(sum(_calculate_fan_in_and_fan_out(tensor))))
    bound = math.sqrt(3.0) * std
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor, gain=1.0, generator=None):
    """Glorot's normal rule: deviation ``gain * sqrt(2 / (fan_in + fan_out))``."""
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / float(sum(_calculate_fan_in_and_fan_out(tensor)))), generator)


def _kaiming_std(tensor, a, mode, nonlinearity):
    fan = _calculate_correct_fan(tensor, mode)
    return calculate_gain(nonlinearity, a) / math.sqrt(fan)


def _nothing_to_fill(tensor):
    if 0 not in tensor.shape:
        return False
    warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=3)
    return True


def kaiming_uniform_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    """He's uniform rule: bound ``gain * sqrt(3 / fan)``."""
    if _nothing_to_fill(tensor):
        return tensor
    bound = math.sqrt(3.0) * _kaiming_std(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    """He's normal rule: deviation ``gain / sqrt(fan)``."""
    if _nothing_to_fill(tensor):
        return tensor
    return normal_(tensor, 0.0, _kaiming_std(tensor, a, mode, nonlinearity), generator)


@_fills
def orthogonal_(tensor, gain=1, generator=None):
    """Fills with a (semi-)orthogonal matrix; further dimensions are flattened into the columns."""
    from ..linalg import qr

    if tensor.ndimension() < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if tensor.numel() == 0:
        return tensor
    rows = tensor.size(0)
    columns = tensor.numel() // rows
    flat = ops.empty((rows, columns), dtype=tensor.dtype, device=tensor.device).normal_(0, 1, generator=generator)
    if rows < columns:
        flat.t_()
    q, r = qr(flat)
    # Signs from R's diagonal make the distribution uniform (arXiv:math-ph/0609050).
    q *= ops.diag(r, 0).sign()
    if rows < columns:
        q.t_()
    tensor.view_as(q).copy_(q)
    tensor.mul_(gain)
    return tensor


@_fills
def sparse_(tensor, sparsity, std=0.01, generator=None):
    """Fills a matrix with normal numbers and zeroes the fraction `sparsity` of each column."""
    if tensor.ndimension() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    rows, columns = tensor.shape
    zeros = math.ceil(sparsity * rows)
    tensor.normal_(0, std, generator=generator)
    for column in range(columns):
        # PyTorch draws these from the default generator whatever `generator` is (2.13).
        tensor[ops.randperm(rows)[:zeros], column] = 0
    return tensor


def _deprecated(function):
    new = function.__name__
    old = new[:-1]

    @functools.wraps(function)
    def call(*args, **kwargs):
        warnings.warn(
            f"`nn.init.{old}` is now deprecated in favor of `nn.init.{new}`.", FutureWarning, stacklevel=2
        )
        return function(*args, **kwargs)

    call.__name__ = call.__qualname__ = old
    return call


uniform = _deprecated(uniform_)
normal = _deprecated(normal_)
constant = _deprecated(constant_)
eye = _deprecated(eye_)
dirac = _deprecated(dirac_)
xavier_uniform = _deprecated(xavier_uniform_)
xavier_normal = _deprecated(xavier_normal_)
kaiming_uniform = _deprecated(kaiming_uniform_)
kaiming_normal = _deprecated(kaiming_normal_)
orthogonal = _deprecated(orthogonal_)
sparse = _deprecated(sparse_)
