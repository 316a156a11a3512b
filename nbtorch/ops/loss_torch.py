"""The losses of the `torch` namespace, whose reduction is a number: 0 none, 1 mean, 2 sum.

They are what torch.nn.functional's functions of the same names call in PyTorch.
Called without a reduction, 2.13 takes 0.
"""
from ..core.op import composite
from . import loss_more as F

_WORDS = ("none", "mean", "sum")


def _word(reduction):
    if reduction not in (0, 1, 2):
        raise RuntimeError(f"{reduction} is not a valid value for reduction")
    return _WORDS[reduction]


def _declare(signature):
    def decorate(body):
        name = signature.partition("(")[0]
        return composite(signature, key="torch_" + name, on="torch", out=False,
                         doc=f"torch.nn.functional.{name} with the reduction as a number.")(body)
    return decorate


@_declare("binary_cross_entropy_with_logits(input, target, weight: Tensor=None, pos_weight: Tensor=None, reduction: "
          "int=0)")
def binary_cross_entropy_with_logits(input, target, weight, pos_weight, reduction):
    return F.binary_cross_entropy_with_logits(input, target, weight, reduction=_word(reduction), pos_weight=pos_weight)


@_declare("cosine_embedding_loss(input1, input2, target, margin: float=0.0, reduction: int=0)")
def cosine_embedding_loss(input1, input2, target, margin, reduction):
    return F.cosine_embedding_loss(input1, input2, target, margin, reduction=_word(reduction))


@_declare("ctc_loss(log_probs, targets, input_lengths: object, target_lengths: object, blank: int=0, reduction: int=0, "
          "zero_infinity: bool=False)")
def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, reduction, zero_infinity):
    return F.ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, _word(reduction), zero_infinity)


@_declare("hinge_embedding_loss(input, target, margin: float=1.0, reduction: int=0)")
def hinge_embedding_loss(input, target, margin, reduction):
    return F.hinge_embedding_loss(input, target, margin, reduction=_word(reduction))


@_declare("kl_div(input, target, reduction: int=0, *, log_target: bool=False)")
def kl_div(input, target, reduction, log_target):
    loss = F.kl_div(input, target, reduction="none", log_target=log_target)
    return F.reduced(loss, _word(reduction))


@_declare("margin_ranking_loss(input1, input2, target, margin: float=0.0, reduction: int=0)")
def margin_ranking_loss(input1, input2, target, margin, reduction):
    return F.margin_ranking_loss(input1, input2, target, margin, reduction=_word(reduction))


@_declare("poisson_nll_loss(input, target, log_input: bool, full: bool, eps: float, reduction: int)")
def poisson_nll_loss(input, target, log_input, full, eps, reduction):
    return F.poisson_nll_loss(input, target, log_input, full, eps=eps, reduction=_word(reduction))


@_declare("triplet_margin_loss(anchor, positive, negative, margin: float=1.0, p: float=2, eps: float=1e-06, "
          "swap: bool=False, reduction: int=0)")
def triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, reduction):
    return F.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, reduction=_word(reduction))
