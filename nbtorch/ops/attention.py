"""Attention.

Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html
"""
import math

from ..core.dtype import scalar_name
from ..core.op import composite, op
from ._nn import replay

LOW = "low"
CPP = {"float32": "float", "float64": "double", "float16": "c10::Half", "bfloat16": "c10::BFloat16",
       "int64": "long int",
       "bool": "bool", "int32": "int"}


def _flops(query_shape, key_shape, value_shape):
    """Two matrix products: scores, and weighted values."""
    heads = math.prod(query_shape[:-2])
    return 2 * heads * query_shape[-2] * key_shape[-2] * (query_shape[-1] + value_shape[-1])


def _plain_backward(mask, is_causal, scale):
    """Gradients of attention written in ops, from which second derivatives are taken."""
    def backward(g, q, k, v):
        p = _probabilities(q, k, mask, is_causal, scale)
        weights = g.matmul(v.transpose(-2, -1))
        scores = p * (weights - (weights * p).sum(-1, True)) * scale
        return scores.matmul(k), scores.transpose(-2, -1).matmul(q), p.transpose(-2, -1).matmul(g)
    return backward


_attention_backward = op(
    "_attention_backward(grad, query, key, value, mask: Tensor, probabilities, is_causal: bool, scale: float)",
    "attention_backward", returns="attention_backward query key value", flops=lambda query_shape, key_shape,
    value_shape:
        2 * _flops(query_shape, key_shape, value_shape), node="ScaledDotProductAttentionBackward", vjp={
        ("grad", "query", "key", "value"): lambda gs, grad, query, key, value, mask, is_causal, scale:
            replay(_plain_backward(mask, is_causal, scale), (grad, query, key, value), gs)})
_attention = op("_attention(query, key, value, mask: Tensor, is_causal: bool, scale: float)", "attention",
                aux=("probabilities",), flops=_flops, node="ScaledDotProductAttention", vjp={("query", "key", "value"):
                    lambda g, query, key, value, mask, probabilities, is_causal, scale:
                    tuple(_attention_backward(g, query, key, value, mask, probabilities, is_causal, scale))})


def _bias(query, key, mask, is_causal):
    """What is added to the scores: the mask, and -inf above the diagonal."""
    bias = None
    if mask is not None:
        bias = query.new_zeros(mask.shape).masked_fill(~mask, -math.inf) if mask.dtype.name == "bool" else mask
    if is_causal:
        seen = query.new_ones((query.shape[-2], key.shape[-2])).tril().bool()
        causal = query.new_zeros(seen.shape).masked_fill(~seen, -math.inf)
        bias = causal if bias is None else bias + causal
    return bias


def _probabilities(query, key, mask, is_causal, scale):
    """softmax of the scores; rows that see nothing are zero."""
    scores = query.matmul(key.transpose(-2, -1)) * scale
    bias = _bias(query, key, mask, is_causal)
    if bias is None:
        return scores.softmax(-1)
    scores = scores + bias
    blind = (scores == -math.inf).all(-1, True)
    return scores.masked_fill(blind, 0).softmax(-1).masked_fill(blind, 0)


def _check(query, key, value, mask):
    if not (query.dim() >= 2 and key.dim() >= 2 and value.dim() >= 2):
        raise RuntimeError(f"Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: "
                           f"{query.dim()} key.dim: {key.dim()} and value.dim: {value.dim()} instead.")
    if not query.dtype is key.dtype is value.dtype:
        names = [CPP.get(t.dtype.name, t.dtype.name) for t in (query, key, value)]
        raise RuntimeError(f"Expected query, key, and value to have the same dtype, but got query.dtype: {names[0]} "
                           "key.dtype: "
                           f"{names[1]} and value.dtype: {names[2]} instead.")
    if mask is not None and mask.dtype.name not in ("bool", "float32") and mask.dtype is not query.dtype:
        raise RuntimeError("Expected attn_mask dtype to be bool or float or to match query dtype, but got "
                           "attn_mask.dtype: "
                           f"{CPP.get(mask.dtype.name, mask.dtype.name)} and  query.dtype: "
                           f"{CPP.get(query.dtype.name, query.dtype.name)} instead.")
    if not query.dtype.is_floating_point:
        raise RuntimeError(f"expected scalar type Float but found {scalar_name(query.dtype)}")
    if query.shape[-1] != key.shape[-1]:
        raise RuntimeError("Expected size for first two dimensions of batch2 tensor to be: "
                           f"{[math.prod(query.shape[:-2]), query.shape[-1]]} but got: "
                           f"{[math.prod(key.shape[:-2]), key.shape[-1]]}.")


def _repeated(query, key, value):
    """Keys and values repeated for groups of query heads (grouped query attention)."""
    heads, k, v = query.shape[-3], key.shape[-3], value.shape[-3]
    if heads % k or heads % v:
        raise RuntimeError("Number of heads in key and value must divide the number of heads in query")
    return key.repeat_interleave(heads // k, -3), value.repeat_interleave(heads // v, -3)


def _same_lead(query, key, value):
    """All three with common leading dimensions."""
    lead = query.shape[:-2]
    if key.shape[:-2] == lead and value.shape[:-2] == lead:
        return query, key, value
    from . import broadcast_tensors
    # the shape only: numbers of one element each, broadcast
    lead = broadcast_tensors(*(t.new_empty(1).expand(t.shape[:-2]) for t in (query, key, value)))[0].shape
    return tuple(t.expand(*lead, *t.shape[-2:]) for t in (query, key, value))


@composite("scaled_dot_product_attention(query, key, value, attn_mask: Tensor=None, dropout_p: float=0.0, "
           "is_causal: bool=False, scale=None, enable_gqa: bool=False)", on="F", amp=LOW)
def scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa):
    """softmax(query @ key^T * scale + mask) @ value; query (*, L, E), key (*, S, E), value (*, S, Ev).

    attn_mask broadcasts to (*, L, S): bool (True takes part) or added. scale is 1/sqrt(E) unless given.
    https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html
    """
    _check(query, key, value, attn_mask)
    if enable_gqa:
        key, value = _repeated(query, key, value)
    query, key, value = _same_lead(query, key, value)
    scale = (1 / math.sqrt(query.shape[-1]) if query.shape[-1] else 1.0) if scale is None else scale
    if dropout_p == 0 and (attn_mask is None or not attn_mask.requires_grad):
        return _attention(query, key, value, attn_mask, is_causal, scale)
    from .dropout import dropout
    weights = _probabilities(query, key, attn_mask, is_causal, scale)
    return (dropout(weights, dropout_p, True) if dropout_p else weights).matmul(value)
