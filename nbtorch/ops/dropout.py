"""Dropout. The masks are PyTorch's own CPU draws: `bernoulli_(1 - p)` on an empty tensor of the input's kind.

Source: https://docs.pytorch.org/docs/stable/nn.functional.html#dropout-functions
"""
import math

from ..core.dtype import scalar_name
from ..core.op import composite
from .random import _dropout as fused_dropout

ALPHA = 1.7580993408473766                        # -alpha * scale of selu: what dropped units are set to


def _check(p):
    if not 0 <= p <= 1:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {p:g}")


def _noise(input, p, feature):
    """The mask in the input's real dtype, one element for each channel with `feature`."""
    if feature and input.dim() < 2:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
    dtype = input.dtype.to_real()
    if feature:
        noise = input.detach().new_empty((*input.shape[:2], *(1,) * (input.dim() - 2)), dtype=dtype)
    else:
        from . import empty_like
        noise = empty_like(input.detach(), dtype=dtype)
    return noise.bernoulli_(1 - p)


def _dropout(input, p, train, feature):
    _check(p)
    if p == 0 or not train or input.numel() == 0:
        return input
    if p == 1:
        return input * input.new_zeros(()).detach()
    if input.dtype.category < 2:
        raise RuntimeError(f"result type Float can't be cast to the desired output type {scalar_name(input.dtype)}")
    if not feature:
        return fused_dropout(input, p)            # the same draws, but only a bool mask is kept for backward
    return input * _noise(input, p, feature).div_(1 - p)


def _alpha_dropout(input, p, train, feature):
    _check(p)
    if p == 0 or not train or input.numel() == 0:
        return input
    if p == 1:
        return input * input.new_zeros(()).detach()
    noise = _noise(input, p, feature)
    a = 1 / math.sqrt((ALPHA * ALPHA * p + 1) * (1 - p))
    shift = (noise - 1) * (ALPHA * a) + ALPHA * a * p
    return input * noise.mul_(a) + shift


_SIGNATURE = "(input, p: float, train: bool)"
_PAGE = "https://docs.pytorch.org/docs/stable/generated/torch.nn.functional."


@composite("dropout" + _SIGNATURE, on="torch", inplace=True, out=False,
           doc=f"Zeroes elements with probability p and scales the others by 1 / (1 - p). {_PAGE}dropout.html")
def dropout(input, p, train):
    return _dropout(input, p, train, False)


@composite("feature_dropout" + _SIGNATURE, on="torch", inplace=True, out=False,
           doc=f"Dropout of whole channels of input (batch, channels, *). {_PAGE}dropout2d.html")
def feature_dropout(input, p, train):
    return _dropout(input, p, train, True)


@composite("alpha_dropout" + _SIGNATURE, on="torch", inplace=True, out=False,
           doc=f"Dropout that keeps mean and variance of selu's outputs. {_PAGE}alpha_dropout.html")
def alpha_dropout(input, p, train):
    return _alpha_dropout(input, p, train, False)


@composite("feature_alpha_dropout" + _SIGNATURE, on="torch", inplace=True, out=False,
           doc=f"Alpha dropout of whole channels. {_PAGE}feature_alpha_dropout.html")
def feature_alpha_dropout(input, p, train):
    return _alpha_dropout(input, p, train, True)


@composite("native_dropout(input, p: float, train: object)", on="torch", out=False)
def native_dropout(input, p, train):
    """(dropout, the bool mask of what was kept)."""
    if not train or input.numel() == 0:
        return input.clone(), input.detach().new_ones(input.shape).bool()
    mask = input.detach().new_empty(input.shape).bernoulli_(1 - p).bool()
    return input * mask * (0.0 if p == 1 else 1 / (1 - p)), mask
