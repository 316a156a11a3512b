"""Attention masks: one form for all of them, the additive one."""

import warnings

from ... import ops
from ...core.dtype import bool_


def dtype_or_none(mask):
    """The dtype of a mask that may be missing."""
    return None if mask is None else mask.dtype


def canonical_mask(mask, mask_name, other_type, other_name, target_type, check_other=True):
    """Boolean masks become additive ones: -inf where True. Raises AssertionError for integer masks."""
    if mask is None:
        return None
    if mask.dtype != bool_ and not mask.is_floating_point():
        raise AssertionError(f"only bool and floating types of {mask_name} are supported")
    if check_other and other_type is not None and mask.dtype != other_type:
        warnings.warn(
            f"Support for mismatched {mask_name} and {other_name} is deprecated. Use same type for both instead.",
            stacklevel=4,
        )
    if mask.is_floating_point():
        return mask
    return ops.zeros_like(mask, dtype=target_type).masked_fill_(mask, float("-inf"))


def square_subsequent_mask(size, device=None, dtype=None):
    """(size, size): -inf above the diagonal, 0 elsewhere."""
    return ops.triu(ops.full((size, size), float("-inf"), dtype=dtype, device=device), diagonal=1)


def is_causal_mask(mask, is_causal, size):
    """`is_causal` as given; where it is None, whether `mask` equals the causal mask."""
    if is_causal is not None or mask is None:
        return is_causal is True
    causal = square_subsequent_mask(mask.size(-2) if size is None else size, device=mask.device, dtype=mask.dtype)
    return mask.size() == causal.size() and bool((mask == causal).all())


def sequence_length(src, batch_first):
    """Length of the sequence dimension of (S, E), (S, N, E) or, batch first, (N, S, E)."""
    return src.size(0) if src.dim() == 2 or not batch_first else src.size(1)
