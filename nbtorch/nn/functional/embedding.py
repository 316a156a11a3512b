"""Lookup tables. Source: https://docs.pytorch.org/docs/stable/nn.functional.html#sparse-functions"""
from ... import ops
from ...ops.embedding import functional_bag, renormalize_rows

__all__ = ["embedding", "embedding_bag"]


def embedding(input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False):
    """Rows of weight (rows, features), one for each index in input.

    max_norm scales the rows used down in place. Raises IndexError for indices outside the table.
    https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.embedding.html
    """
    if padding_idx is None:
        padding_idx = -1
    else:
        rows = weight.size(0)
        if not -rows <= padding_idx < rows:
            raise AssertionError("Padding_idx must be within num_embeddings")
        padding_idx %= rows
    if max_norm is not None:
        renormalize_rows(weight, input, max_norm, norm_type)
    return ops.embedding(weight, input, padding_idx, scale_grad_by_freq, sparse)


def embedding_bag(input, weight, offsets=None, max_norm=None, norm_type=2, scale_grad_by_freq=False, mode="mean",
                  sparse=False, per_sample_weights=None, include_last_offset=False, padding_idx=None):
    """Sums, means or maxima of bags of rows: input (bags, size), or (n,) with `offsets` where each bag starts.

    https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.embedding_bag.html
    """
    if weight.dtype.name == "int64" and input.is_floating_point():
        raise ValueError("Argument order of nn.functional.embedding_bag was changed. Usage `embedding_bag(weight, "
                         "input, ..)` "
                         "is deprecated, and should now be `embedding_bag(input, weight, ..)`.")
    return functional_bag(input, weight, offsets, max_norm, norm_type, scale_grad_by_freq, mode, sparse,
                          per_sample_weights,
                          include_last_offset, padding_idx)
