"""Limits on gradients. Source: https://docs.pytorch.org/docs/stable/nn.html#utilities"""

import functools
import types
import warnings

from ... import ops
from ...core.interop import tensor as make_tensor
from ...core.modes import no_grad
from ...core.tensor import Tensor

__all__ = ["clip_grad_norm", "clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_", "get_total_norm"]


def _as_list(tensors):
    return [tensors] if isinstance(tensors, Tensor) else list(tensors)


def _gradients(parameters):
    generated = isinstance(parameters, types.GeneratorType)
    parameters = _as_list(parameters)
    if generated and not parameters:
        warnings.warn(
            "`parameters` is an empty generator, no gradient clipping will occur.", stacklevel=3
        )
    return [p.grad for p in parameters if p.grad is not None]


@no_grad()
def get_total_norm(tensors, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """The norm of all tensors seen as one vector. Raises RuntimeError for nan and inf if `error_if_nonfinite`."""
    tensors = _as_list(tensors)
    if not tensors:
        return make_tensor(0.0)
    first = tensors[0].device
    norms = ops.stack([t.norm(float(norm_type)).to(first) for t in tensors])
    total = norms.norm(float(norm_type))
    if error_if_nonfinite and bool(ops.logical_or(total.isnan(), total.isinf())):
        raise RuntimeError(
            f"The total norm of order {float(norm_type)} for gradients from `parameters` is non-finite, so it cannot "
            "be clipped. To disable this error and scale the gradients by the non-finite norm anyway, set "
            "`error_if_nonfinite=False`"
        )
    return total


@no_grad()
def clip_grads_with_norm_(parameters, max_norm, total_norm, foreach=None):
    """Scales gradients, in place, by ``max_norm / total_norm`` where that is below 1."""
    gradients = [p.grad for p in _as_list(parameters) if p.grad is not None]
    scale = ops.clamp(float(max_norm) / (total_norm + 1e-6), max=1.0)  # never waits for the value of the norm
    for gradient in gradients:
        gradient.mul_(scale.to(gradient.device))


@no_grad()
def clip_grad_norm_(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """Scales all gradients, in place, so that their common norm is at most `max_norm`; returns the norm before."""
    parameters = _as_list(parameters)
    total = get_total_norm(_gradients(parameters), norm_type, error_if_nonfinite, foreach)
    clip_grads_with_norm_(parameters, max_norm, total, foreach)
    return total


@functools.wraps(clip_grad_norm_)
def clip_grad_norm(*args, **kwargs):
    warnings.warn(
        "torch.nn.utils.clip_grad_norm is now deprecated in favor of torch.nn.utils.clip_grad_norm_.", FutureWarning,
        stacklevel=2,
    )
    return clip_grad_norm_(*args, **kwargs)


@no_grad()
def clip_grad_value_(parameters, clip_value, foreach=None):
    """Clamps every gradient element, in place, to [-clip_value, clip_value]."""
    bound = float(clip_value)
    for parameter in _as_list(parameters):
        if parameter.grad is not None:
            parameter.grad.clamp_(min=-bound, max=bound)
