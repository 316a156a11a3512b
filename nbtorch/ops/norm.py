"""Normalisation. Source: https://docs.pytorch.org/docs/stable/nn.functional.html#normalization-functions"""
from ..core.dtype import scalar_name
from ..core.op import composite, op
from ._nn import replay, unimplemented

FP32_ON_CUDA = {"cpu": None, "cuda": "fp32"}


def _per_channel(v, ndim):
    return v.reshape(1, -1, *(1,) * (ndim - 2))


# ---- batch

def _plain_batch_backward(training, mean, rstd):
    """Gradients of batch_norm written in ops, from which second derivatives are taken."""
    def backward(g, x, weight):
        axes = [0, *range(2, x.dim())]
        if training:
            m = x.mean(axes, True)
            r = rstd_of(x, m, axes)
        else:
            m, r = _per_channel(mean, x.dim()), _per_channel(rstd, x.dim())
        normal = (x - m) * r
        into_weight, into_bias = (g * normal).sum(axes), g.sum(axes)
        scaled = g if weight is None else g * _per_channel(weight, x.dim())
        if training:
            scaled = scaled - scaled.mean(axes, True) - normal * (scaled * normal).mean(axes, True)
        return scaled * r, into_weight, into_bias

    def rstd_of(x, m, axes):
        # eps is not saved: the difference of the two variances gives it back
        variance = (x - m).square().mean(axes, True)
        eps = (_per_channel(rstd, x.dim()) ** -2 - variance).detach()
        return (variance + eps).rsqrt()
    return backward


_batch_norm_backward = op(
    "_batch_norm_backward(grad, input, weight: Tensor, mean, rstd, training: bool)", "batch_norm_backward",
    returns="batch_norm_backward input weight bias", vjp={("grad", "input", "weight"):
        lambda gs, grad, input, weight, mean, rstd, training:
            replay(_plain_batch_backward(training, mean, rstd), (grad, input, weight), gs)})
_BATCH = ("(input, weight: Tensor, bias: Tensor, running_mean: Tensor, running_var: Tensor, training: bool, "
          "momentum: float, eps: float)")
_BATCH_FIELDS = {"aux": ("mean", "rstd"), "node": "NativeBatchNorm", "vjp": {("input", "weight", "bias"):
                     lambda g, input, weight, mean, rstd, training:
                     tuple(_batch_norm_backward(g, input, weight, mean, rstd, training))}}
_batch_norm = op("_batch_norm" + _BATCH, "batch_norm", mutates=("running_mean", "running_var"), **_BATCH_FIELDS)
_batch_norm_inference = op("_batch_norm_inference" + _BATCH, "batch_norm", **_BATCH_FIELDS)


def _check_sizes(input, training, **tensors):
    channels = input.shape[1]
    if not training:
        for name in ("running_mean", "running_var"):
            if tensors[name] is None:
                raise RuntimeError(f"{name} must be defined in evaluation mode")
    for name in ("running_mean", "running_var", "weight", "bias"):
        t = tensors[name]
        if t is not None and t.numel() != channels:
            raise RuntimeError(f"{name} should contain {channels} elements not {t.numel()}")


@composite("batch_norm(input, weight: Tensor, bias: Tensor, running_mean: Tensor, running_var: Tensor, training: bool, "
           "momentum: float, eps: float, cudnn_enabled: bool)", on="torch", out=False)
def batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled):
    """Normalises every channel of input (batch, channels, *); in training also moves the running statistics.

    https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.batch_norm.html
    """
    if input.dim() < 2:
        if input.numel() == 0:
            return input.clone()
        raise IndexError("Dimension out of range (expected to be in range of [-1, 0], but got 1)")
    _check_sizes(input, training, running_mean=running_mean, running_var=running_var, weight=weight, bias=bias)
    if not input.dtype.is_floating_point:
        raise unimplemented("batch_norm", input)
    answer = _batch_norm if training else _batch_norm_inference
    return answer(input, weight, bias, running_mean, running_var, training, momentum, eps)


@composite("instance_norm(input, weight: Tensor, bias: Tensor, running_mean: Tensor, running_var: Tensor, "
           "use_input_stats: bool, momentum: float, eps: float, cudnn_enabled: bool)", on="torch", out=False)
def instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, cudnn_enabled):
    """Normalises every channel of every example of input (batch, channels, *).

    https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.instance_norm.html
    """
    if not use_input_stats and (running_mean is None or running_var is None):
        raise RuntimeError("Expected running_mean and running_var to be defined when use_input_stats is false")
    batch, channels = input.shape[:2]
    # as one example of batch * channels channels; running statistics are repeated and averaged back
    wide = [None if t is None else t.repeat(batch) for t in (weight, bias, running_mean, running_var)]
    flat = input.reshape(1, batch * channels, *input.shape[2:])
    out = batch_norm(flat, *wide, use_input_stats, momentum, eps, cudnn_enabled)
    for running, repeated in ((running_mean, wide[2]), (running_var, wide[3])):
        if running is not None and use_input_stats:
            running.detach().copy_(repeated.view(batch, channels).mean(0))
    return out.view(input.shape)


# ---- layer

def _plain_layer_backward(rstd, dims):
    def backward(g, x, weight):
        axes = list(range(x.dim() - dims, x.dim()))
        outer = list(range(x.dim() - dims))
        m = x.mean(axes, True)
        variance = (x - m).square().mean(axes, True)
        r = (variance + (rstd ** -2 - variance).detach()).rsqrt()
        normal = (x - m) * r
        into_weight, into_bias = ((g * normal).sum(outer), g.sum(outer)) if outer else (g * normal, g)
        scaled = g if weight is None else g * weight
        into = (scaled - scaled.mean(axes, True) - normal * (scaled * normal).mean(axes, True)) * r
        return into, into_weight, into_bias
    return backward


_layer_norm_backward = op(
    "_layer_norm_backward(grad, input, weight: Tensor, mean, rstd, normalized_shape: tuple)", "layer_norm_backward",
    returns="layer_norm_backward input weight bias", vjp={("grad", "input", "weight"):
        lambda gs, grad, input, weight, rstd, normalized_shape:
            replay(_plain_layer_backward(rstd, len(normalized_shape)), (grad, input, weight), gs)})
_layer_norm = op(
    "_layer_norm(input, weight: Tensor, bias: Tensor, normalized_shape: tuple, eps: float)", "layer_norm",
    aux=("mean", "rstd"), node="NativeLayerNorm", vjp={("input", "weight", "bias"):
        lambda g, input, weight, mean, rstd, normalized_shape:
            tuple(_layer_norm_backward(g, input, weight, mean, rstd, normalized_shape))})


def _normalized(input, normalized_shape, star="*, "):
    shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
    if not shape:
        raise RuntimeError("Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one "
                           "element, "
                           "but got normalized_shape = []")
    if tuple(input.shape[-len(shape):]) != shape:
        raise RuntimeError(f"Given normalized_shape={list(shape)}, expected input with shape "
                           f"[{star}{', '.join(map(str, shape))}], but got input of size{list(input.shape)}")
    return shape


def _check_parameter(name, t, shape):
    if t is not None and tuple(t.shape) != shape:
        raise RuntimeError(f"Expected {name} to be of same shape as normalized_shape, but got {name} of shape "
                           f"{list(t.shape)} and normalized_shape = {list(shape)}")


def _check_mixed(input, *parameters):
    for t in parameters:
        if t is None or t.dtype is input.dtype:
            continue
        if input.dtype.itemsize == 2 and t.dtype.name == "float32":
            continue                              # parameters may stay in float32 for half inputs
        raise RuntimeError("mixed dtype (CPU): expect parameter to have scalar type of Float")


@composite("layer_norm(input, normalized_shape: object, weight: Tensor=None, bias: Tensor=None, eps: float=1e-05, "
           "cudnn_enable: bool=True)", on="torch", amp=FP32_ON_CUDA, out=False)
def layer_norm(input, normalized_shape, weight, bias, eps, cudnn_enable):
    """Normalises over the last dimensions, of shape normalized_shape.

    https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.layer_norm.html
    """
    shape = _normalized(input, normalized_shape)
    _check_parameter("weight", weight, shape)
    _check_parameter("bias", bias, shape)
    if not input.dtype.is_floating_point:
        raise unimplemented("LayerNormKernelImpl", input)
    _check_mixed(input, weight, bias)
    return _layer_norm(input, weight, bias, shape, eps)


# ---- group

def _plain_group_backward(rstd, groups):
    def backward(g, x, weight):
        axes = [0, *range(2, x.dim())]
        flat = x.reshape(x.shape[0], groups, x.numel() // max(1, x.shape[0] * groups))
        m = flat.mean(2, True)
        variance = (flat - m).square().mean(2, True)
        r = (variance + (rstd.unsqueeze(2) ** -2 - variance).detach()).rsqrt()
        normal = (flat - m) * r
        into_weight, into_bias = (g * normal.reshape(x.shape)).sum(axes), g.sum(axes)
        scaled = (g if weight is None else g * _per_channel(weight, x.dim())).reshape(flat.shape)
        into = (scaled - scaled.mean(2, True) - normal * (scaled * normal).mean(2, True)) * r
        return into.reshape(x.shape), into_weight, into_bias
    return backward


_group_norm_backward = op(
    "_group_norm_backward(grad, input, weight: Tensor, mean, rstd, num_groups: int)", "group_norm_backward",
    returns="group_norm_backward input weight bias", vjp={("grad", "input", "weight"):
        lambda gs, grad, input, weight, rstd, num_groups:
            replay(_plain_group_backward(rstd, num_groups), (grad, input, weight), gs)})
_group_norm = op(
    "_group_norm(input, weight: Tensor, bias: Tensor, num_groups: int, eps: float)", "group_norm", aux=("mean", "rstd"),
    node="NativeGroupNorm", vjp={("input", "weight", "bias"): lambda g, input, weight, mean, rstd, num_groups:
        tuple(_group_norm_backward(g, input, weight, mean, rstd, num_groups))})


@composite("group_norm(input, num_groups: int, weight: Tensor=None, bias: Tensor=None, eps: float=1e-05, "
           "cudnn_enabled: bool=True)", on="torch", amp=FP32_ON_CUDA, out=False)
def group_norm(input, num_groups, weight, bias, eps, cudnn_enabled):
    """Normalises num_groups groups of channels of each example of input (batch, channels, *).

    https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.group_norm.html
    """
    if input.dim() < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {input.dim()}")
    if num_groups <= 0:
        raise RuntimeError(f"Expected num groups to be greater than 0, got {num_groups}")
    if input.shape[1] % num_groups:
        raise RuntimeError("Expected number of channels in input to be divisible by num_groups, but got input of shape "
                           f"{list(input.shape)} and num_groups={num_groups}")
    for name, t in (("weight", weight), ("bias", bias)):
        if t is not None and (t.dim() != 1 or t.numel() != input.shape[1]):
            raise RuntimeError(f"Expected {name} to be a vector of size equal to the number of channels in input, "
                               "but got "
                               f"{name} of shape {list(t.shape)} and input of shape {list(input.shape)}")
    if not input.dtype.is_floating_point:
        raise unimplemented("GroupNormKernelImpl", input)
    _check_mixed(input, weight, bias)
    return _group_norm(input, weight, bias, num_groups, eps)


# ---- root mean square

def _plain_rms_backward(rstd, dims):
    def backward(g, x, weight):
        axes, outer = list(range(x.dim() - dims, x.dim())), list(range(x.dim() - dims))
        square = x.square().mean(axes, True)
        r = (square + (rstd ** -2 - square).detach()).rsqrt()
        normal = x * r
        into_weight = (g * normal).sum(outer) if outer else g * normal
        scaled = g if weight is None else g * weight
        return (scaled - normal * (scaled * normal).mean(axes, True)) * r, into_weight
    return backward


_rms_norm_backward = op(
    "_rms_norm_backward(grad, input, weight: Tensor, rstd, normalized_shape: tuple)", "rms_norm_backward",
    returns="rms_norm_backward input weight", vjp={("grad", "input", "weight"):
        lambda gs, grad, input, weight, rstd, normalized_shape:
            replay(_plain_rms_backward(rstd, len(normalized_shape)), (grad, input, weight), gs)})
_rms_norm = op(
    "_rms_norm(input, weight: Tensor, normalized_shape: tuple, eps: float)", "rms_norm", aux=("rstd",),
    node="FusedRmsNorm", vjp={("input", "weight"): lambda g, input, weight, rstd, normalized_shape:
        tuple(_rms_norm_backward(g, input, weight, rstd, normalized_shape))})


@composite("rms_norm(input, normalized_shape: object, weight: Tensor=None, eps=None)", on="torch F", amp=FP32_ON_CUDA,
           out=False)
def rms_norm(input, normalized_shape, weight, eps):
    """input / sqrt(mean(input^2) + eps) * weight over the last dimensions (arXiv:1910.07467).

    https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.rms_norm.html
    """
    from ..core.dtype import finfo
    shape = _normalized(input, normalized_shape, "*")
    _check_parameter("weight", weight, shape)
    if input.dtype.category < 2:
        raise unimplemented("rms_norm", input)
    if eps is None:
        eps = finfo(input.dtype if input.dtype.itemsize > 2 else None).eps
    if input.is_complex() or weight is not None and weight.dtype is not input.dtype:
        axes = list(range(input.dim() - len(shape), input.dim()))
        out = input * (input.pow(2).mean(axes, True) + eps).rsqrt()
        return out if weight is None else out * weight
    return _rms_norm(input, weight, shape, eps)


# ---- the native forms also return their statistics

@composite("native_layer_norm(input, normalized_shape: object, weight: Tensor, bias: Tensor, eps: float)", on="torch",
           amp=FP32_ON_CUDA, out=False)
def native_layer_norm(input, normalized_shape, weight, bias, eps):
    """(layer_norm, mean, 1 / sqrt(variance + eps))."""
    shape = _normalized(input, normalized_shape)
    _check_parameter("weight", weight, shape)
    _check_parameter("bias", bias, shape)
    axes = list(range(input.dim() - len(shape), input.dim()))
    mean = input.mean(axes, True)
    rstd = ((input - mean).square().mean(axes, True) + eps).rsqrt()
    out = (input - mean) * rstd
    out = out if weight is None else out * weight
    return (out if bias is None else out + bias), mean, rstd


@composite("native_group_norm(input, weight: Tensor, bias: Tensor, N: int, C: int, HxW: int, group: int, eps: float)",
           on="torch", out=False)
def native_group_norm(input, weight, bias, N, C, HxW, group, eps):
    """(group_norm, mean, 1 / sqrt(variance + eps)), the last two (N, group)."""
    flat = input.reshape(N, group, C // group * HxW)
    mean = flat.mean(2)
    rstd = ((flat - mean.unsqueeze(2)).square().mean(2) + eps).rsqrt()
    return group_norm(input, group, weight, bias, eps), mean, rstd


@composite("native_batch_norm(input, weight: Tensor, bias: Tensor, running_mean: Tensor, running_var: Tensor, "
           "training: bool, momentum: float, eps: float)", on="torch", out=False)
def native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps):
    """(batch_norm, mean, 1 / sqrt(variance + eps)); the last two are empty outside training."""
    out = batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, False)
    if not training:
        return out, input.new_empty((0,)), input.new_empty((0,))
    x, axes = input.detach(), [0, *range(2, input.dim())]
    mean = x.mean(axes)
    rstd = ((x - _per_channel(mean, x.dim())).square().mean(axes) + eps).rsqrt()
    return out, mean, rstd


@composite("local_response_norm(input, size: int, alpha: float=0.0001, beta: float=0.75, k: float=1.0)", on="F")
def local_response_norm(input, size, alpha, beta, k):
    """input / (k + alpha * mean of squares over `size` neighbouring channels)^beta.

    https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.local_response_norm.html
    """
    from .pool import avg_pool2d, avg_pool3d
    from .resize import constant_pad_nd
    n = input.dim()
    if n < 3:
        raise ValueError(f"Expected 3D or higher dimensionality input (got {n} dimensions)")
    if input.numel() == 0:
        return input
    squared = (input * input).unsqueeze(1)
    before, after = size // 2, (size - 1) // 2
    if n == 3:
        mean = avg_pool2d(constant_pad_nd(squared, [0, 0, before, after]), (size, 1), 1).squeeze(1)
    else:
        flat = squared.view(input.shape[0], 1, input.shape[1], input.shape[2], -1)
        flat = constant_pad_nd(flat, [0, 0, 0, 0, before, after])
        mean = avg_pool3d(flat, (size, 1, 1), 1).squeeze(1).view(input.shape)
    return input / (mean * alpha + k).pow(beta)


@composite("normalize(input, p: float=2.0, dim: int=1, eps: float=1e-12)", on="F", out=True)
def normalize(input, p, dim, eps):
    """input divided by its p-norm along dim (at least eps).

    https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.normalize.html
    """
    if input.dtype.category < 2:
        raise RuntimeError("linalg.vector_norm: Expected a floating point or complex tensor as input. Got "
                           f"{scalar_name(input.dtype)}")
    return input / input.norm(p, dim, True).clamp_min(eps).expand_as(input)
