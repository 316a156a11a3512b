"""Normalisations: batch, layer, group and root-mean-square, forward and backward. Statistics are kept in float32
(float64 for float64) whatever the input's precision."""
from ..registry import kernel
from ._common import narrow, wide


def _per_channel(v, ndim):
    return v.reshape(1, -1, *(1,) * (ndim - 2))


def _channel_axes(a):
    return (0, *range(2, a.ndim))


def _centred(xp, a, axes):
    """(a - mean, mean, biased variance) over `axes`, reduced dimensions kept."""
    mean = a.mean(axes, keepdims=True)
    centred = a - mean
    variance = (centred * centred).mean(axes, keepdims=True)
    return centred, mean, variance


@kernel("batch_norm")
def batch_norm(xp, input, weight, bias, running_mean, running_var, training, momentum, eps):
    """(out, mean, rstd): mean and rstd are those used, one per channel. In training the running statistics, where
    present, are moved towards the batch's (its unbiased variance) in place."""
    a, axes = wide(xp, input), _channel_axes(input)
    if training:
        centred, mean, variance = _centred(xp, a, axes)
        mean, variance = mean.reshape(-1), variance.reshape(-1)
        n = a.size // max(1, a.shape[1])
        if running_mean is not None:
            _move(running_mean, mean, momentum)
        if running_var is not None:
            _move(running_var, variance * (n / max(1, n - 1)), momentum)
    else:
        mean, variance = wide(xp, running_mean).astype(a.dtype), wide(xp, running_var).astype(a.dtype)
        centred = a - _per_channel(mean, a.ndim)
    rstd = 1 / xp.sqrt(variance + a.dtype.type(eps))
    scale = rstd if weight is None else rstd * wide(xp, weight)
    centred *= _per_channel(scale, a.ndim)
    if bias is not None:
        centred += _per_channel(wide(xp, bias), a.ndim)
    return narrow(xp, centred, input), mean, rstd


def _move(running, value, momentum):
    running[...] = (1 - momentum) * running + (momentum * value).astype(running.dtype)


@kernel("batch_norm_backward")
def batch_norm_backward(xp, grad, input, weight, mean, rstd, training):
    """(gradient of input, of weight, of bias); weight may be None and counts as ones."""
    g, a, axes = wide(xp, grad), wide(xp, input), _channel_axes(input)
    normal = a - _per_channel(mean, a.ndim)
    normal *= _per_channel(rstd, a.ndim)
    grad_bias = g.sum(axes)
    grad_weight = (g * normal).sum(axes)
    scale = rstd if weight is None else rstd * wide(xp, weight)
    if training:
        n = max(1, a.size // max(1, a.shape[1]))
        normal *= _per_channel(-grad_weight / n, a.ndim)
        normal += g
        normal -= _per_channel(grad_bias / n, a.ndim)
        normal *= _per_channel(scale, a.ndim)
    else:
        normal = g * _per_channel(scale, a.ndim)
    like = input if weight is None else weight
    return narrow(xp, normal, input), narrow(xp, grad_weight, like), narrow(xp, grad_bias, like)


@kernel("layer_norm")
def layer_norm(xp, input, weight, bias, normalized_shape, eps):
    """(out, mean, rstd) over the last dimensions; mean and rstd keep the others and have size 1 there."""
    a = wide(xp, input)
    axes = tuple(range(a.ndim - len(normalized_shape), a.ndim))
    centred, mean, variance = _centred(xp, a, axes)
    rstd = 1 / xp.sqrt(variance + a.dtype.type(eps))
    centred *= rstd
    if weight is not None:
        centred *= wide(xp, weight)
    if bias is not None:
        centred += wide(xp, bias)
    return narrow(xp, centred, input), mean, rstd


@kernel("layer_norm_backward")
def layer_norm_backward(xp, grad, input, weight, mean, rstd, normalized_shape):
    """(gradient of input, of weight, of bias); weight may be None and counts as ones."""
    g, a = wide(xp, grad), wide(xp, input)
    lead = a.ndim - len(normalized_shape)
    axes, outer = tuple(range(lead, a.ndim)), tuple(range(lead))
    normal = a - mean
    normal *= rstd
    grad_weight, grad_bias = (g * normal).sum(outer), g.sum(outer)
    if weight is not None:
        g = g * wide(xp, weight)
    along = (g * normal).mean(axes, keepdims=True)
    normal *= -along
    normal += g
    normal -= g.mean(axes, keepdims=True)
    normal *= rstd
    like = input if weight is None else weight
    return narrow(xp, normal, input), narrow(xp, grad_weight, like), narrow(xp, grad_bias, like)


def _grouped(a, groups):
    return a.reshape(a.shape[0], groups, a.size // max(1, a.shape[0] * groups))


@kernel("group_norm")
def group_norm(xp, input, weight, bias, num_groups, eps):
    """(out, mean, rstd) over each group of channels of each example; mean and rstd are (batch, groups)."""
    a = wide(xp, input)
    centred, mean, variance = _centred(xp, _grouped(a, num_groups), (2,))
    rstd = 1 / xp.sqrt(variance + a.dtype.type(eps))
    centred *= rstd
    out = centred.reshape(a.shape)
    if weight is not None:
        out *= _per_channel(wide(xp, weight), a.ndim)
    if bias is not None:
        out += _per_channel(wide(xp, bias), a.ndim)
    return narrow(xp, out, input), mean[:, :, 0].copy(), rstd[:, :, 0].copy()


@kernel("group_norm_backward")
def group_norm_backward(xp, grad, input, weight, mean, rstd, num_groups):
    """(gradient of input, of weight, of bias); weight may be None and counts as ones."""
    g, a, axes = wide(xp, grad), wide(xp, input), _channel_axes(input)
    normal = _grouped(a, num_groups) - mean[:, :, None]
    normal *= rstd[:, :, None]
    spread = normal.reshape(a.shape)
    grad_weight, grad_bias = (g * spread).sum(axes), g.sum(axes)
    if weight is not None:
        g = g * _per_channel(wide(xp, weight), a.ndim)
    g = _grouped(g, num_groups)
    along = (g * normal).mean(2, keepdims=True) if normal.size else 0
    normal *= -along
    normal += g
    if normal.size:
        normal -= g.mean(2, keepdims=True)
    normal *= rstd[:, :, None]
    like = input if weight is None else weight
    return narrow(xp, normal.reshape(a.shape), input), narrow(xp, grad_weight, like), narrow(xp, grad_bias, like)


@kernel("rms_norm")
def rms_norm(xp, input, weight, normalized_shape, eps):
    """(input / sqrt(mean(input^2) + eps) * weight, rstd)."""
    a = wide(xp, input)
    axes = tuple(range(a.ndim - len(normalized_shape), a.ndim))
    rstd = 1 / xp.sqrt((a * a).mean(axes, keepdims=True) + a.dtype.type(eps))
    out = a * rstd
    if weight is not None:
        out *= wide(xp, weight)
    return narrow(xp, out, input), rstd


@kernel("rms_norm_backward")
def rms_norm_backward(xp, grad, input, weight, rstd, normalized_shape):
    """(gradient of input, of weight)."""
    g, a = wide(xp, grad), wide(xp, input)
    lead = a.ndim - len(normalized_shape)
    axes, outer = tuple(range(lead, a.ndim)), tuple(range(lead))
    normal = a * rstd
    grad_weight = (g * normal).sum(outer)
    if weight is not None:
        g = g * wide(xp, weight)
    out = (g - normal * (g * normal).mean(axes, keepdims=True)) * rstd
    return narrow(xp, out, input), narrow(xp, grad_weight, input if weight is None else weight)
