"""Attention with several heads.

Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.MultiheadAttention.html
"""
import math

from ..core.op import composite
from .attention import scaled_dot_product_attention
from .conv import linear
from .dropout import dropout
from .resize import pad


def additive_mask(mask, name, dtype, other=None, check_other=False):
    """A bool mask (True is left out) as one that is added; float masks as they are. Raises for other dtypes."""
    if mask is None:
        return None
    if mask.dtype.name != "bool" and not mask.dtype.is_floating_point:
        raise AssertionError(f"only bool and floating types of {name} are supported")
    if mask.is_floating_point():
        return mask
    return mask.new_zeros(mask.shape, dtype=dtype).masked_fill_(mask, -math.inf)


def _project_packed(q, k, v, weight, bias):
    """Queries, keys and values from one stacked weight; one product where the three are the same tensor."""
    size = q.shape[-1]
    if k is v and q is k:
        return linear(q, weight, bias).chunk(3, -1)
    parts = weight.chunk(3)
    biases = bias.chunk(3) if bias is not None else (None, None, None)
    if k is v:
        kv = linear(k, weight[size:], None if bias is None else bias[size:])
        return (linear(q, parts[0], biases[0]), *kv.chunk(2, -1))
    return tuple(linear(x, w, b) for x, w, b in zip((q, k, v), parts, biases))


def _check_shapes(query, key, value, key_padding_mask, attn_mask, num_heads):
    """Whether there is a batch dimension. Raises AssertionError for sizes that do not fit."""
    n = query.dim()
    if n not in (2, 3):
        raise AssertionError(f"query should be unbatched 2D or batched 3D tensor but received {n}-D query tensor")
    word = "batched (3-D)" if n == 3 else "unbatched (2-D)"
    if key.dim() != n or value.dim() != n:
        raise AssertionError(f"For {word} `query`, expected `key` and `value` to be {n}-D but found {key.dim()}-D and "
                             f"{value.dim()}-D tensors respectively")
    if key_padding_mask is not None and key_padding_mask.dim() != n - 1:
        raise AssertionError(f"For {word} `query`, expected `key_padding_mask` to be `None` or {n - 1}-D but found "
                             f"{key_padding_mask.dim()}-D tensor instead")
    if attn_mask is not None and attn_mask.dim() not in (2, 3):
        raise AssertionError(f"For {word} `query`, expected `attn_mask` to be `None`, 2-D or 3-D but found "
                             f"{attn_mask.dim()}-D tensor instead")
    if n == 2 and attn_mask is not None and attn_mask.dim() == 3:
        expected = (num_heads, query.shape[0], key.shape[0])
        if tuple(attn_mask.shape) != expected:
            raise AssertionError(f"Expected `attn_mask` shape to be {expected} but got {attn_mask.shape}")
    return n == 3


def _checked_mask(attn_mask, heads, target, source):
    """(batch * heads or 1, target, source)."""
    if attn_mask is None:
        return None
    if attn_mask.dim() == 2:
        if tuple(attn_mask.shape) != (target, source):
            raise RuntimeError(f"The shape of the 2D attn_mask is {attn_mask.shape}, but should be {(target, source)}.")
        return attn_mask.unsqueeze(0)
    if attn_mask.dim() == 3:
        if tuple(attn_mask.shape) != (heads, target, source):
            raise RuntimeError(f"The shape of the 3D attn_mask is {attn_mask.shape}, but should be "
                               f"{(heads, target, source)}.")
        return attn_mask
    raise RuntimeError(f"attn_mask's dimension {attn_mask.dim()} is not supported")


def _project(query, key, value, packed, bias, separate):
    if separate is None:
        return _project_packed(query, key, value, packed, bias)
    if any(w is None for w in separate):
        raise AssertionError("use_separate_proj_weight is True but a projection weight is None")
    biases = bias.chunk(3) if bias is not None else (None, None, None)
    return tuple(linear(x, w, b) for x, w, b in zip((query, key, value), separate, biases))


def _grow(mask, by=1):
    return None if mask is None else pad(mask, (0, by))


def _heads(x, n, batch_heads, features, static=None):
    """(length, batch, heads * features) to (batch * heads, length, features)."""
    return static if static is not None else x.reshape(x.shape[0], batch_heads, features).transpose(0, 1)


def _merge_masks(attn_mask, key_padding_mask, batch, heads, source):
    if key_padding_mask is None:
        return attn_mask
    if tuple(key_padding_mask.shape) != (batch, source):
        raise AssertionError(f"expecting key_padding_mask shape of {(batch, source)}, but got {key_padding_mask.shape}")
    wide = key_padding_mask.view(batch, 1, 1, source).expand(batch, heads, 1, source).reshape(batch * heads, 1, source)
    return wide if attn_mask is None else attn_mask + wide


def _with_weights(q, k, v, mask, dropout_p, batch, heads, average):
    """(values (target, batch, features), weights) when the weights are asked for."""
    scores = (q * math.sqrt(1.0 / q.shape[-1])).bmm(k.transpose(-2, -1))
    weights = (scores if mask is None else scores + mask).softmax(-1)
    if dropout_p > 0:
        weights = dropout(weights, dropout_p, True)            # PyTorch returns them as they were used
    out = weights.bmm(v).transpose(0, 1).reshape(q.shape[1], batch, -1)
    weights = weights.view(batch, heads, q.shape[1], k.shape[1])
    return out, weights.mean(1) if average else weights


def _without_weights(q, k, v, mask, dropout_p, is_causal, batch, heads):
    q, k, v = (x.view(batch, heads, *x.shape[1:]) for x in (q, k, v))
    if mask is not None:
        mask = mask.unsqueeze(0) if mask.shape[0] == 1 else mask.view(batch, heads, -1, k.shape[2])
    out = scaled_dot_product_attention(q, k, v, mask, dropout_p, is_causal)
    return out.permute(2, 0, 1, 3).reshape(q.shape[2], batch, -1)


@composite("multi_head_attention_forward(query, key, value, embed_dim_to_check: int, num_heads: int, in_proj_weight: "
           "Tensor, "
           "in_proj_bias: Tensor, bias_k: Tensor, bias_v: Tensor, add_zero_attn: bool, dropout_p: float, "
           "out_proj_weight, "
           "out_proj_bias: Tensor, training: bool=True, key_padding_mask: Tensor=None, need_weights: bool=True, "
           "attn_mask: Tensor=None, use_separate_proj_weight: bool=False, q_proj_weight: Tensor=None, "
           "k_proj_weight: Tensor=None, v_proj_weight: Tensor=None, static_k: Tensor=None, static_v: Tensor=None, "
           "average_attn_weights: bool=True, is_causal: bool=False)", on="F")
def multi_head_attention_forward(query, key, value, embed_dim, num_heads, in_proj_weight, in_proj_bias, bias_k, bias_v,
                                 add_zero_attn, dropout_p, out_proj_weight, out_proj_bias, training, key_padding_mask,
                                 need_weights, attn_mask, use_separate, q_weight, k_weight, v_weight, static_k,
                                 static_v,
                                 average, is_causal):
    """(output (target, batch, features), weights or None) of query, key and value (length, batch, features).

    https://docs.pytorch.org/docs/stable/generated/torch.nn.MultiheadAttention.html
    """
    from . import cat
    batched = _check_shapes(query, key, value, key_padding_mask, attn_mask, num_heads)
    if is_causal and attn_mask is None:
        raise RuntimeError("Need attn_mask if specifying the is_causal hint.")
    if not batched:
        key = key.unsqueeze(1) if key is not query else None
        value = value.unsqueeze(1) if value is not query else None
        query = query.unsqueeze(1)
        key, value = query if key is None else key, query if value is None else value
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
    target, batch, features = query.shape
    source = key.shape[0]
    key_padding_mask = additive_mask(key_padding_mask, "key_padding_mask", query.dtype)
    if is_causal and key_padding_mask is None and not need_weights:
        attn_mask = None
    else:
        attn_mask = additive_mask(attn_mask, "attn_mask", query.dtype)
        is_causal = is_causal and key_padding_mask is None and not need_weights
    _check_features(features, embed_dim, num_heads, key, value, use_separate)
    q, k, v = _project(query, key, value, in_proj_weight, in_proj_bias,
                       (q_weight, k_weight, v_weight) if use_separate else None)
    attn_mask = _checked_mask(attn_mask, batch * num_heads, target, source)
    if bias_k is not None and bias_v is not None:
        if static_k is not None or static_v is not None:
            raise AssertionError("bias cannot be added to static key or value.")
        k, v = cat([k, bias_k.repeat(1, batch, 1)]), cat([v, bias_v.repeat(1, batch, 1)])
        attn_mask, key_padding_mask = _grow(attn_mask), _grow(key_padding_mask)
    elif (bias_k is None) != (bias_v is None):
        raise AssertionError("bias_k and bias_v must be both given or both None")
    size = features // num_heads
    q = _heads(q, target, batch * num_heads, size)
    k, v = (_heads(x, x.shape[0], batch * num_heads, size, static) for x, static in ((k, static_k), (v, static_v)))
    if add_zero_attn:
        zeros = k.new_zeros((batch * num_heads, 1, size)).detach()
        k, v = cat([k, zeros], 1), cat([v, zeros], 1)
        attn_mask, key_padding_mask = _grow(attn_mask), _grow(key_padding_mask)
    mask = _merge_masks(attn_mask, key_padding_mask, batch, num_heads, k.shape[1])
    p = dropout_p if training else 0.0
    weights = None
    if need_weights:
        out, weights = _with_weights(q, k, v, mask, p, batch, num_heads, average)
    else:
        out = _without_weights(q, k, v, mask, p, is_causal, batch, num_heads)
    out = linear(out.reshape(target * batch, features), out_proj_weight, out_proj_bias).view(target, batch, -1)
    if not batched:
        out, weights = out.squeeze(1), None if weights is None else weights.squeeze(0)
    return out, weights


def _check_features(features, embed_dim, num_heads, key, value, use_separate):
    if features != embed_dim:
        raise AssertionError(f"was expecting embedding dimension of {embed_dim}, but got {features}")
    if features // num_heads * num_heads != features:
        raise AssertionError(f"embed_dim {features} not divisible by num_heads {num_heads}")
    if use_separate:
        if key.shape[:2] != value.shape[:2]:
            raise AssertionError(f"key's sequence and batch dims {key.shape[:2]} do not match value's "
                                 f"{value.shape[:2]}")
    elif key.shape != value.shape:
        raise AssertionError(f"key shape {key.shape} does not match value shape {value.shape}")
