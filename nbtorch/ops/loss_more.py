"""Losses on probabilities, margins, distances and sequences.

Source: https://docs.pytorch.org/docs/stable/nn.functional.html#loss-functions
"""
import math
import warnings

from ..core.dtype import int64, scalar_name
from ..core.op import composite, op
from ..core.tensor import Tensor
from ._nn import check_reduction, legacy_reduction, reduced, unimplemented
from .activation import logsigmoid
from .loss import FP32, FP32_ON_CPU, OLD, _page


def _same_size(input, target, text):
    if target.shape != input.shape:
        raise ValueError(text.format(target=target.size(), input=input.size()))


@composite(f"binary_cross_entropy(input, target, weight: Tensor=None, {OLD})", on="F",
           amp={"cpu": "fp32", "cuda": "banned"},
           doc=_page("binary_cross_entropy", "-(t log x + (1 - t) log(1 - x)), logarithms at least -100."))
def binary_cross_entropy(input, target, weight, size_average, reduce, reduction):
    reduction = legacy_reduction(size_average, reduce, reduction)
    _same_size(input, target, "Using a target size ({target}) that is different to the input size ({input}) is "
                              "deprecated. "
                              "Please ensure they have the same size.")
    check_reduction(reduction)
    if not input.dtype.is_floating_point:
        raise unimplemented("binary_cross_entropy", input)
    if input.dtype is not target.dtype:
        raise RuntimeError(f"Found dtype {scalar_name(target.dtype)} but expected {scalar_name(input.dtype)}")
    if input.numel() and not bool(((input >= 0) & (input <= 1)).all()):
        raise RuntimeError("all elements of input should be between 0 and 1")
    loss = _bce(input, target)
    if weight is not None:
        loss = loss * weight
    return reduced(loss, reduction)


_bce_backward = op("_bce_backward(grad, input, target)", "bce_backward", vjp={
    "grad": lambda g, input, target: g * (input - target) / (input * (1 - input)).clamp_min(1e-12),
    "input": lambda g, grad, input, target: g * grad * (target / (input * input) + (1 - target) / (1 - input) ** 2),
    "target": lambda g, grad, input: -g * grad / (input * (1 - input)).clamp_min(1e-12)})
_bce = op("_bce(input, target)", "bce", node="BinaryCrossEntropy", vjp={
    "input": lambda g, input, target: _bce_backward(g, input, target),
    "target": lambda g, input: g * ((1 - input).log().clamp_min(-100) - input.log().clamp_min(-100))})


@composite(f"binary_cross_entropy_with_logits(input, target, weight: Tensor=None, {OLD}, pos_weight: Tensor=None)",
           on="F",
           amp=FP32, doc=_page("binary_cross_entropy_with_logits", "binary_cross_entropy of sigmoid(input), stably."))
def binary_cross_entropy_with_logits(input, target, weight, size_average, reduce, reduction, pos_weight):
    reduction = legacy_reduction(size_average, reduce, reduction)
    _same_size(input, target, "Target size ({target}) must be the same as input size ({input})")
    if target.dtype.category < input.dtype.category:
        raise RuntimeError(f"result type {scalar_name(input.dtype)} can't be cast to the desired output type "
                           f"{scalar_name(target.dtype)}")
    if pos_weight is None:
        loss = (1 - target) * input - logsigmoid(input)
    else:
        loss = (1 - target) * input - ((pos_weight - 1) * target + 1) * logsigmoid(input)
    if weight is not None:
        loss = loss * weight
    return reduced(loss, reduction)


@composite(f"kl_div(input, target, {OLD}, log_target: bool=False)", on="F", amp=FP32,
           doc=_page("kl_div", "target * (log(target) - input), input being log probabilities."))
def kl_div(input, target, size_average, reduce, reduction, log_target):
    if reduction == "mean" and size_average is None and reduce is None:
        warnings.warn("reduction: 'mean' divides the total loss by both the batch size and the support size."
                      "'batchmean' divides only by the batch size, and aligns with the KL div math definition."
                      "'mean' will be changed to behave the same as 'batchmean' in the next major release.",
                      stacklevel=3)
    reduction = legacy_reduction(size_average, reduce, reduction)
    if input.dtype.category < 2 or target.dtype.category < 2:
        raise RuntimeError("kl_div: Integral inputs not supported.")
    if input.is_complex() or target.is_complex():
        raise RuntimeError("kl_div: Complex inputs not supported.")
    if log_target:
        loss = target.exp() * (target - input)
    else:
        from . import xlogy
        loss = xlogy(target, target) - target * input
    if reduction == "batchmean":
        return loss.sum() / input.shape[0] if input.dim() else loss.sum()
    return reduced(loss, reduction)


@composite("poisson_nll_loss(input, target, log_input: bool=True, full: bool=False, size_average: object=None, "
           "eps: float=1e-08, reduce: object=None, reduction: str='mean')", on="F", amp=FP32,
           doc=_page("poisson_nll_loss", "Negative log likelihood of counts under a Poisson rate or its logarithm."))
def poisson_nll_loss(input, target, log_input, full, size_average, eps, reduce, reduction):
    reduction = legacy_reduction(size_average, reduce, reduction)
    check_reduction(reduction)
    loss = input.exp() - target * input if log_input else input - target * (input + eps).log()
    if full:
        stirling = target * target.log() - target + 0.5 * (2 * math.pi * target).log()
        loss = loss + stirling.masked_fill(target <= 1, 0)
    return reduced(loss, reduction)


@composite("gaussian_nll_loss(input, target, var: object, full: bool=False, eps: float=1e-06, reduction: "
           "str='mean')", on="F",
           doc=_page("gaussian_nll_loss", "Negative log likelihood under a normal distribution of the given variance."))
def gaussian_nll_loss(input, target, var, full, eps, reduction):
    if not isinstance(var, Tensor):
        if var < 0:
            raise ValueError("var has negative entry/entries")
        var = input.new_full((), var) * input.new_ones(input.shape).detach()
    elif bool((var < 0).any()):
        raise ValueError("var has negative entry/entries")
    if var.size() != input.size():
        if input.size()[:-1] == var.size():
            var = var.unsqueeze(-1)
        elif not (input.size()[:-1] == var.size()[:-1] and var.size(-1) == 1 or _broadcasts(var, input)):
            raise ValueError("var is of incorrect size")
    check_reduction(reduction)
    # limited for stability, but the gradient flows to the variance as it is
    var = var + (var.detach().clamp_min(eps) - var.detach())
    loss = 0.5 * (var.log() + (input - target) ** 2 / var)
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    return reduced(loss, reduction)


def _broadcasts(small, large):
    return small.dim() == large.dim() and all(a in (1, b) for a, b in zip(small.shape, large.shape))


@composite(f"hinge_embedding_loss(input, target, margin: float=1.0, {OLD})", on="F", amp=FP32,
           doc=_page("hinge_embedding_loss", "input where target is 1, max(0, margin - input) where it is -1."))
def hinge_embedding_loss(input, target, margin, size_average, reduce, reduction):
    from . import where
    reduction = legacy_reduction(size_average, reduce, reduction)
    zeros = input.new_zeros(())
    loss = where(target != 1, (margin - input).clamp_min(0), zeros) + where(target != -1, input, zeros)
    return reduced(loss, reduction)


@composite(f"margin_ranking_loss(input1, input2, target, margin: float=0, {OLD})", on="F", amp=FP32,
           doc=_page("margin_ranking_loss", "max(0, -target * (input1 - input2) + margin)."))
def margin_ranking_loss(input1, input2, target, margin, size_average, reduce, reduction):
    reduction = legacy_reduction(size_average, reduce, reduction)
    if input1.dim() != input2.dim() or input1.dim() != target.dim():
        raise RuntimeError(f"margin_ranking_loss : All input tensors should have same dimension but got sizes: input1: "
                           f"{input1.size()}, input2: {input2.size()}, target: {target.size()} ")
    return reduced((-target * (input1 - input2) + margin).clamp_min(0), reduction)


@composite(f"soft_margin_loss(input, target, {OLD})", on="F", amp=FP32,
           doc=_page("soft_margin_loss", "log(1 + exp(-target * input))."))
def soft_margin_loss(input, target, size_average, reduce, reduction):
    reduction = legacy_reduction(size_average, reduce, reduction)
    return reduced((-target * input).exp().log1p(), reduction)


@composite(f"cosine_embedding_loss(input1, input2, target, margin: float=0, {OLD})", on="F", amp=FP32,
           doc=_page("cosine_embedding_loss", "1 - cos where target is 1, max(0, cos - margin) where it is -1."))
def cosine_embedding_loss(input1, input2, target, margin, size_average, reduce, reduction):
    from . import where
    reduction = legacy_reduction(size_average, reduce, reduction)
    _check_cosine(input1, input2, target)
    dim, eps = target.dim(), 1e-12
    product = (input1 * input2).sum(dim)
    squares = ((input1 * input1).sum(dim) + eps) * ((input2 * input2).sum(dim) + eps)
    cosine = product / squares.sqrt()
    zeros = cosine.new_zeros(cosine.shape)
    loss = where(target == 1, 1 - cosine, zeros) + where(target == -1, (cosine - margin).clamp_min(0), zeros)
    return reduced(loss, reduction)


def _check_cosine(input1, input2, target):
    if target.dim() not in (0, 1):
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if target.dim() == 1 and (input1.dim() != 2 or input2.dim() != 2):
        raise RuntimeError("1D target tensor expects 2D input tensors, but found inputs with sizes "
                           f"{list(input1.shape)} and "
                           f"{list(input2.shape)}.")
    if target.dim() == 0 and (input1.dim() != 1 or input2.dim() != 1):
        raise RuntimeError("0D target tensor expects 1D input tensors, but found inputs with sizes "
                           f"{list(input1.shape)} and "
                           f"{list(input2.shape)}.")


@composite(f"multi_margin_loss(input, target, p: int=1, margin: float=1.0, weight: Tensor=None, {OLD})", on="F",
           amp=FP32, doc=_page("multi_margin_loss", "Hinge loss between the target class and every other."))
def multi_margin_loss(input, target, p, margin, weight, size_average, reduce, reduction):
    reduction = legacy_reduction(size_average, reduce, reduction)
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None and weight.dim() != 1:
        raise ValueError("weight must be one-dimensional")
    if input.dim() > 2 or input.dim() and input.shape[-1] == 0:
        raise RuntimeError("Expected non-empty vector or matrix with optional 0-dim batch size, but got: "
                           f"{list(input.shape)}")
    if input.dim() == 2 and (target.dim() > 1 or target.numel() != input.shape[0]):
        raise RuntimeError(f"inconsistent target size, expected {[input.shape[0]]} but got {list(target.shape)}")
    x, flat = (input.reshape(1, -1), True) if input.dim() < 2 else (input, False)
    t = target.reshape(-1, 1)
    if t.numel() and (int(t.min()) < 0 or int(t.max()) >= x.shape[1]):
        raise RuntimeError("target out of range")
    z = (margin - x.gather(1, t) + x).clamp_min(0)
    z = z if p == 1 else z * z
    if weight is not None:
        z = z * weight[t]
    loss = z.masked_fill(z.new_zeros(z.shape).scatter_(1, t, 1.0).bool(), 0).sum(1) / x.shape[1]
    if reduction == "none":
        return loss.squeeze(0) if flat and target.dim() == 0 else loss
    return reduced(loss, reduction)


@composite(f"multilabel_margin_loss(input, target, {OLD})", on="F", amp=FP32,
           doc=_page("multilabel_margin_loss", "Hinge loss between every target class and every other class."))
def multilabel_margin_loss(input, target, size_average, reduce, reduction):
    reduction = legacy_reduction(size_average, reduce, reduction)
    if input.dim() > 2 or input.dim() == 2 and input.shape[1] == 0 or input.dim() == 1 and input.shape[0] == 0:
        raise RuntimeError("Expected non-empty vector or matrix with optional 0-dim batch size, but got: "
                           f"{list(input.shape)}")
    if target.shape != input.shape:
        raise RuntimeError(f"inconsistent target size: {list(target.shape)} for input of size: {list(input.shape)}")
    classes = input.shape[-1] if input.dim() else 1
    x, t = input.reshape(-1, classes), target.reshape(-1, classes)
    if t.numel() and (int(t.min()) < -1 or int(t.max()) >= x.shape[1]):
        raise RuntimeError("target out of range")
    # classes count up to the first -1
    listed = (t < 0).cumsum(1) == 0
    index = t.masked_fill(~listed, 0)
    marks = x.detach().new_zeros(x.shape).scatter_add_(1, index, listed.to(x.dtype)) > 0
    z = (1 - x.gather(1, index).unsqueeze(2) + x.unsqueeze(1)).clamp_min(0)
    counted = listed.unsqueeze(2) & ~marks.unsqueeze(1)
    loss = z.masked_fill(~counted, 0).sum((1, 2)) / x.shape[1]
    if reduction == "none":
        return loss.squeeze(0) if input.dim() < 2 else loss
    return reduced(loss, reduction)


@composite(f"multilabel_soft_margin_loss(input, target, weight: Tensor=None, {OLD})", on="F",
           doc=_page("multilabel_soft_margin_loss", "Binary cross entropy of every class, averaged over classes."))
def multilabel_soft_margin_loss(input, target, weight, size_average, reduce, reduction):
    reduction = legacy_reduction(size_average, reduce, reduction)
    loss = -(target * logsigmoid(input) + (1 - target) * logsigmoid(-input))
    if weight is not None:
        loss = loss * weight
    loss = loss.sum(input.dim() - 1) / input.shape[input.dim() - 1]
    return reduced(loss, reduction)


@composite(f"triplet_margin_loss(anchor, positive, negative, margin: float=1.0, p: float=2, eps: float=1e-06, "
           f"swap: bool=False, {OLD})", on="F", amp=FP32,
           doc=_page("triplet_margin_loss", "max(0, |anchor - positive| - |anchor - negative| + margin)."))
def triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, size_average, reduce, reduction):
    from .distance import pairwise_distance
    reduction = legacy_reduction(size_average, reduce, reduction)
    check_reduction(reduction)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    if not anchor.dim() == positive.dim() == negative.dim():
        raise RuntimeError("The anchor, positive, and negative tensors are expected to have the same number of "
                           "dimensions, but "
                           f"got: anchor {anchor.dim()}D, positive {positive.dim()}D, and negative {negative.dim()}D "
                           "inputs")
    near = pairwise_distance(anchor, positive, p, eps)
    far = pairwise_distance(anchor, negative, p, eps)
    if swap:
        from . import minimum
        far = minimum(far, pairwise_distance(positive, negative, p, eps))
    return reduced((margin + near - far).clamp_min(0), reduction)


@composite("triplet_margin_with_distance_loss(anchor, positive, negative, *, distance_function=None, margin: "
           "float=1.0, "
           "swap: bool=False, reduction: str='mean')", on="F",
           doc=_page("triplet_margin_with_distance_loss", "triplet_margin_loss with a distance of one's own."))
def triplet_margin_with_distance_loss(anchor, positive, negative, distance_function, margin, swap, reduction):
    from . import minimum
    from .distance import pairwise_distance
    check_reduction(reduction)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    if not anchor.dim() == positive.dim() == negative.dim():
        raise RuntimeError("The anchor, positive, and negative tensors are expected to have the same number of "
                           "dimensions, but "
                           f"got: anchor {anchor.dim()}D, positive {positive.dim()}D, and negative {negative.dim()}D "
                           "inputs")
    distance = distance_function or pairwise_distance
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = minimum(far, distance(positive, negative))
    return reduced((margin + near - far).clamp_min(0), reduction)


# ---- sequences

_ctc_backward = op("_ctc_loss_backward(grad, log_probs, targets, input_lengths, target_lengths, loss, alpha, blank: "
                   "int, "
                   "zero_infinity: bool)", "ctc_loss_backward")
_ctc = op("_ctc_loss(log_probs, targets, input_lengths, target_lengths, blank: int, zero_infinity: bool)", "ctc_loss",
          aux=("alpha",), node="CtcLoss", deterministic=True, vjp={"log_probs":
              lambda g, out, log_probs, targets, input_lengths, target_lengths, alpha, blank, zero_infinity:
              _ctc_backward(g, log_probs, targets, input_lengths, target_lengths, out, alpha, blank, zero_infinity)})


def _lengths(value, like):
    return value.to(int64) if isinstance(value, Tensor) else like.new_tensor(list(value), dtype=int64)


def _padded_targets(targets, lengths, blank):
    """(batch, longest) from concatenated targets."""
    sizes = lengths.tolist()
    rows = targets.new_full((len(sizes), max([*sizes, 0])), blank)
    start = 0
    for i, n in enumerate(sizes):
        if n:
            rows[i, :n] = targets[start:start + n]
        start += n
    return rows


@composite("ctc_loss(log_probs, targets, input_lengths: object, target_lengths: object, blank: int=0, reduction: "
           "str='mean', "
           "zero_infinity: bool=False)", on="F", amp=FP32_ON_CPU,
           doc=_page("ctc_loss", "Connectionist temporal classification of log_probs (time, batch, classes)."))
def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, reduction, zero_infinity):
    check_reduction(reduction)
    single = log_probs.dim() == 2
    probs = log_probs.unsqueeze(1) if single else log_probs
    inputs, lengths = _lengths(input_lengths, probs).reshape(-1), _lengths(target_lengths, targets).reshape(-1)
    _check_ctc(probs, inputs, lengths, blank)
    labels = targets.reshape(1, -1) if single and targets.dim() == 1 else targets
    labels = _padded_targets(labels, lengths, blank) if labels.dim() == 1 else labels[:, :max([*lengths.tolist(), 0])]
    # what lies behind a sequence's own targets must not look like a class
    positions = labels.new_tensor(list(range(labels.shape[1])), dtype=int64)
    labels = labels.to(int64).masked_fill(positions >= lengths.unsqueeze(1), blank)
    loss = _ctc(probs, labels, inputs, lengths, blank, zero_infinity)
    if zero_infinity:
        loss = loss.masked_fill(loss == math.inf, 0)
    if reduction == "mean":
        return (loss / lengths.clamp_min(1).to(loss.dtype)).mean()
    loss = loss.squeeze(0) if single and reduction == "none" else loss
    return reduced(loss, reduction)


def _check_ctc(probs, inputs, lengths, blank):
    time, batch, classes = probs.shape
    if not probs.dtype.is_floating_point:
        raise unimplemented("ctc_loss_cpu", probs)
    if not 0 <= blank < classes:
        raise RuntimeError("blank must be in label range")
    if inputs.numel() != batch:
        raise RuntimeError("input_lengths must be of size batch_size")
    if lengths.numel() != batch:
        raise RuntimeError("target_lengths must be of size batch_size")
    for i, n in enumerate(inputs.tolist()):
        if n < 0:
            raise RuntimeError(f"Expected input_lengths to have value at least 0, but got value {n} for sequence {i}")
        if n > time:
            raise RuntimeError(f"Expected input_lengths to have value at most {time}, but got value {n} (while "
                               "checking "
                               "arguments for ctc_loss_cpu)")
