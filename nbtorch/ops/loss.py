"""Losses on classes and squared or absolute errors. Others are in loss_more.py.

Source: https://docs.pytorch.org/docs/stable/nn.functional.html#loss-functions
"""
import warnings

from ..core.dtype import scalar_name
from ..core.op import composite, op
from . import rules
from ._nn import check_reduction, legacy_reduction, reduced, unimplemented

OLD = "size_average: object=None, reduce: object=None, reduction: str='mean'"
PAGE = "https://docs.pytorch.org/docs/stable/generated/torch.nn.functional."
FP32 = "fp32"
FP32_ON_CPU = {"cpu": "fp32", "cuda": None}


def _page(name, text):
    return f"{text} {PAGE}{name}.html"


def broadcast_warning(input, target):
    """PyTorch's warning that input and target differ in size."""
    if target.shape != input.shape:
        warnings.warn(f"Using a target size ({target.size()}) that is different to the input size ({input.size()}). "
                      "This "
                      "will likely lead to incorrect results due to broadcasting. Please ensure they have the same "
                      "size.",
                      stacklevel=4)


# ---- negative log likelihood

def _check_nll(logp, target, weight, reduction, ignore_index):
    if not logp.dtype.is_floating_point:
        raise unimplemented("nll_loss_out_frame" if logp.dim() < 3 else "nll_loss2d_forward_out_frame", logp)


def _nll_backward_vjp(g, target, weight, reduction, ignore_index):
    return _nll_loss(g, target, weight, reduction, ignore_index)


_nll_loss_backward = op(
    "_nll_loss_backward(grad, target, weight: Tensor, total, input_shape: tuple, reduction: str, ignore_index: int)",
    "nll_loss_backward", vjp={"grad": _nll_backward_vjp})
_nll_loss = op(
    "_nll_loss(input, target, weight: Tensor, reduction: str, ignore_index: int)", "nll_loss", aux=("total",),
    node="NllLoss", check=_check_nll, vjp={"input": lambda g, target, weight, total, input_shape, reduction,
                                           ignore_index:
        _nll_loss_backward(g, target, weight, total, input_shape, reduction, ignore_index)})


def _check_targets(input, target, weight):
    n = input.dim()
    if n < 1:
        raise ValueError(f"Expected 1 or more dimensions (got {n})")
    if n != 1 and input.shape[0] != target.shape[0]:
        raise ValueError(f"Expected input batch_size ({input.shape[0]}) to match target batch_size "
                         f"({target.shape[0]}).")
    classes = input.shape[0 if n == 1 else 1]
    if n <= 2 and target.dim() > 1 or n == 1 and target.dim() > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if n == 1 and target.numel() != 1:
        raise ValueError("For 1D input, 1D target must have size 1, but got target size: " f"{target.numel()}")
    if n > 2 and tuple(target.shape[1:]) != tuple(input.shape[2:]):
        if n == 4 and target.dim() == 3:
            raise RuntimeError(f"size mismatch (got input: {list(input.shape)} , target: {list(target.shape)}")
        raise RuntimeError(f"Expected target size {[input.shape[0], *input.shape[2:]]}, got {list(target.shape)}")
    if target.dtype.name not in ("int64", "uint8"):
        raise RuntimeError(f"expected target dtype to be Long or Byte, but got {scalar_name(target.dtype)}")
    if weight is not None and (weight.dim() != 1 or weight.numel() != classes):
        raise RuntimeError(f"weight tensor should be defined either for all {classes} classes or no classes but got "
                           "weight "
                           f"tensor of shape: {list(weight.shape)}")


def _nll(input, target, weight, reduction, ignore_index):
    check_reduction(reduction)
    _check_targets(input, target, weight)
    if input.dim() == 1 and target.dim() == 1:
        out = _nll_loss(input, target.reshape(()), weight, reduction, ignore_index)
        return out.reshape(1) if reduction == "none" else out
    return _nll_loss(input, target, weight, reduction, ignore_index)


@composite("nll_loss(input, target, weight: Tensor=None, size_average: object=None, ignore_index: int=-100, "
           "reduce: object=None, reduction: str='mean')", on="F", amp=FP32,
           doc=_page("nll_loss", "Negative log likelihood of input (batch, classes, *) under target (batch, *)."))
def nll_loss(input, target, weight, size_average, ignore_index, reduce, reduction):
    return _nll(input, target, weight, legacy_reduction(size_average, reduce, reduction), ignore_index)


def _smoothing_part(logp, target, weight, reduction, ignore_index, axis):
    """The loss against equal probabilities of all classes, ignoring what nll ignores."""
    if weight is not None:
        shape = [1] * logp.dim()
        shape[axis] = weight.numel()
        logp = logp * weight.reshape(shape)
    smooth = -logp.sum(axis)
    ignored = target == ignore_index
    smooth = smooth.masked_fill(ignored, 0.0)
    if reduction == "none":
        return smooth
    if reduction == "sum":
        return smooth.sum()
    if weight is None:
        return smooth.sum() / (~ignored).sum()
    counted = weight[target.masked_fill(ignored, 0)].masked_fill(ignored, 0.0)
    return smooth.sum() / counted.sum()


def _probabilities(logp, target, weight, reduction, smoothing, axis):
    classes = logp.shape[axis]
    if smoothing > 0:
        target = target * (1 - smoothing) + smoothing / classes
    if weight is not None:
        shape = [1] * logp.dim()
        shape[axis] = weight.numel()
        target = target * weight.reshape(shape)
    loss = -(logp * target)
    if reduction == "none":
        return loss.sum(axis)
    if reduction == "sum":
        return loss.sum()
    return loss.sum() / (logp.numel() / classes if classes else 0) if logp.numel() else loss.sum() / 0


def _check_probabilities(input, target, weight, ignore_index, axis):
    if not target.dtype.is_floating_point:
        raise RuntimeError("Expected floating point type for target with class probabilities, got "
                           f"{scalar_name(target.dtype)}")
    if ignore_index >= 0:
        raise RuntimeError("ignore_index is not supported for floating point target")
    if weight is not None and (weight.dim() != 1 or weight.numel() != input.shape[axis]):
        raise RuntimeError("cross_entropy: weight tensor should be defined either for all "
                           f"{input.shape[axis]} classes or no classes but got weight tensor of shape: "
                           f"{list(weight.shape)}")


@composite("cross_entropy(input, target, weight: Tensor=None, size_average: object=None, ignore_index: int=-100, "
           "reduce: object=None, reduction: str='mean', label_smoothing: float=0.0)", on="F", amp=FP32_ON_CPU,
           doc=_page("cross_entropy", "Cross entropy of logits (classes), (batch, classes) or (batch, classes, *) and "
                                      "target: class numbers, or probabilities of input's shape."))
def cross_entropy(input, target, weight, size_average, ignore_index, reduce, reduction, label_smoothing):
    from .softmax import log_softmax
    reduction = legacy_reduction(size_average, reduce, reduction)
    check_reduction(reduction)
    axis = 0 if input.dim() <= 1 else 1
    if not 0 <= label_smoothing <= 1:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing:g}")
    if input.shape == target.shape:
        _check_probabilities(input, target, weight, ignore_index, axis)
        return _probabilities(log_softmax(input, axis), target, weight, reduction, label_smoothing, axis)
    logp = log_softmax(input, axis)
    nll = _nll(logp, target, weight, reduction, ignore_index)
    if label_smoothing == 0:
        return nll
    smooth = _smoothing_part(logp, target, weight, reduction, ignore_index, axis)
    return nll * (1 - label_smoothing) + smooth * (label_smoothing / input.shape[axis])


@composite("linear_cross_entropy(input, linear_weight, target, *, linear_bias: Tensor=None, weight: Tensor=None, "
           "reduction: str='mean', ignore_index=None, label_smoothing: float=0.0, options=None)", on="F",
           doc=_page("linear_cross_entropy", "cross_entropy of linear(input, linear_weight, linear_bias)."))
def linear_cross_entropy(input, linear_weight, target, linear_bias, weight, reduction, ignore_index, label_smoothing,
                         options):
    from .conv import linear
    features, classes = linear_weight.shape[-1], linear_weight.shape[:-1]
    if len(classes) > 1 and input.dim() < 2:
        raise ValueError(f"K-dimensional loss defined by linear_weight shape {list(linear_weight.shape)} requires "
                         "batched "
                         f"input, got input with shape {list(input.shape)}")
    bias = None if linear_bias is None else linear_bias.reshape(-1)
    logits = linear(input, linear_weight.reshape(-1, features), bias).reshape(*input.shape[:-1], *classes)
    ignore_index = -100 if ignore_index is None else ignore_index
    return cross_entropy(logits, target, weight, None, ignore_index, None, reduction, label_smoothing)


# ---- squared and absolute errors

def _check_kernel(name):
    def check(input, target, reduction, *rest):
        check_reduction(reduction)
        for t in (input, target):
            if not t.dtype.is_floating_point:
                raise unimplemented(name, t)
    return check


_mse_loss_backward = op("_mse_loss_backward(grad, input, target, reduction: str)", "mse_loss_backward",
                        rule=rules.promote, vjp={
    "grad": lambda g, input, target, reduction: _reduce_like((input - target) * 2 * g, reduction),
    "input": lambda g, grad, input_shape, reduction: g * grad * _share(input_shape, reduction),
    "target": lambda g, grad, input_shape, reduction: g * grad * -_share(input_shape, reduction)})


def _reduce_like(t, reduction):
    return t if reduction == "none" else t.sum() if reduction == "sum" else t.mean()


def _share(shape, reduction):
    n = 1
    for s in shape:
        n *= s
    return 2 / max(1, n) if reduction == "mean" else 2


def _mse_vjp(g, input, target, reduction):
    into = _mse_loss_backward(g, input, target, reduction)
    return into, -into if target.requires_grad else None


_mse_loss = op("_mse_loss(input, target, reduction: str)", "mse_loss", rule=rules.promote,
               check=_check_kernel("mse_cpu"),
               vjp={("input", "target"): _mse_vjp})


def _expanded(input, target):
    """Both at their common shape."""
    if input.shape == target.shape:
        return input, target
    broadcast_warning(input, target)
    from . import broadcast_tensors
    return tuple(broadcast_tensors(input, target))


def _weighted(loss, weight, reduction, shape):
    check_reduction(reduction)
    if tuple(weight.shape) != tuple(shape):
        raise ValueError("Inputs and weight must have the same size.")
    loss = loss * weight
    if reduction == "mean":
        return loss.sum() / weight.sum()
    return reduced(loss, reduction)


@composite(f"mse_loss(input, target, {OLD}, weight: Tensor=None)", on="F", amp=FP32,
           doc=_page("mse_loss", "(input - target)^2, its mean or its sum."))
def mse_loss(input, target, size_average, reduce, reduction, weight):
    reduction = legacy_reduction(size_average, reduce, reduction)
    input, target = _expanded(input, target)
    if weight is not None:
        return _weighted(_mse_loss(input, target, "none"), weight, reduction, input.shape)
    return _mse_loss(input, target, reduction)


@composite(f"l1_loss(input, target, {OLD}, weight: Tensor=None)", on="F", amp=FP32,
           doc=_page("l1_loss", "|input - target|, its mean or its sum."))
def l1_loss(input, target, size_average, reduce, reduction, weight):
    reduction = legacy_reduction(size_average, reduce, reduction)
    input, target = _expanded(input, target)
    loss = (input - target).abs()
    return reduced(loss, reduction) if weight is None else _weighted(loss, weight, reduction, input.shape)


def _huber_like(difference, size, quadratic, linear):
    """quadratic where |difference| < size, linear elsewhere."""
    from . import where
    return where(difference < size, quadratic, linear)


@composite(f"smooth_l1_loss(input, target, {OLD}, beta: float=1.0)", on="F", amp=FP32,
           doc=_page("smooth_l1_loss", "Squared below beta, absolute above."))
def smooth_l1_loss(input, target, size_average, reduce, reduction, beta):
    reduction = legacy_reduction(size_average, reduce, reduction)
    input, target = _expanded(input, target)
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    if beta == 0:
        return l1_loss(input, target, reduction=reduction)
    _check_kernel("smooth_l1_cpu")(input, target, reduction)
    z = (input - target).abs()
    return reduced(_huber_like(z, beta, z * z * (0.5 / beta), z - 0.5 * beta), reduction)


@composite("huber_loss(input, target, reduction: str='mean', delta: float=1.0, weight: Tensor=None)", on="F", amp=FP32,
           doc=_page("huber_loss", "Squared below delta, absolute times delta above."))
def huber_loss(input, target, reduction, delta, weight):
    input, target = _expanded(input, target)
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    _check_kernel("huber_cpu")(input, target, reduction)
    z = (input - target).abs()
    loss = _huber_like(z, delta, z * z * 0.5, (z - 0.5 * delta) * delta)
    return reduced(loss, reduction) if weight is None else _weighted(loss, weight, reduction, input.shape)
