"""Lookup tables. Source: https://docs.pytorch.org/docs/stable/nn.functional.html#sparse-functions"""
from ..core.dtype import int64, scalar_name
from ..core.modes import is_grad_enabled, no_grad
from ..core.op import composite, op
from ..core.tensor import Tensor

_embedding_backward = op(
    "_embedding_backward(grad, indices, num_weights: int, padding_idx: int, scale_grad_by_freq: bool)",
    "embedding_backward",
    node="EmbeddingDenseBackward",
    vjp={"grad": lambda g, indices, padding_idx, scale_grad_by_freq: _pick(g, indices, padding_idx,
                                                                           scale_grad_by_freq)})


def _pick(g, indices, padding_idx, scale_grad_by_freq):
    """The adjoint of _embedding_backward."""
    out = _embedding(g, indices, -1, False)
    if scale_grad_by_freq:
        flat = indices.reshape(-1)
        counts = flat.bincount()[flat].reshape(indices.shape)
        out = out / counts.unsqueeze(-1)
    return out.masked_fill((indices == padding_idx).unsqueeze(-1), 0) if padding_idx >= 0 else out


_embedding = op("_embedding(weight, indices, padding_idx: int, scale_grad_by_freq: bool)", "embedding",
                node="Embedding", vjp={"weight": lambda g, indices, weight_shape, padding_idx, scale_grad_by_freq:
                    _embedding_backward(g, indices, weight_shape[0], padding_idx, scale_grad_by_freq)})


def _check_indices(indices, what, name="indices"):
    if indices.dtype.name not in ("int64", "int32"):
        raise RuntimeError(f"Expected tensor for argument #1 '{name}' to have one of the following scalar types: "
                           "Long, Int; "
                           f"but got torch.{scalar_name(indices.dtype)}Tensor instead (while checking arguments for "
                           f"{what})")


def _refuse_sparse(sparse, weight):
    if sparse and weight.requires_grad and is_grad_enabled():
        raise NotImplementedError("sparse gradients are not available: nbtorch has no sparse tensors; use sparse=False")


@composite("embedding(weight, indices, padding_idx: int=-1, scale_grad_by_freq: bool=False, sparse: bool=False)",
           on="torch",
           out=False)
def embedding(weight, indices, padding_idx, scale_grad_by_freq, sparse):
    """Rows of weight (rows, features), one for each index; padding_idx gets no gradient.

    https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.embedding.html
    """
    if weight.dim() != 2:
        raise RuntimeError("'weight' must be 2-D")
    _check_indices(indices, "embedding")
    _refuse_sparse(sparse, weight)
    return _embedding(weight, indices, padding_idx, scale_grad_by_freq)


def renormalize_rows(weight, indices, max_norm, norm_type):
    """Scale the rows that indices name to at most max_norm, in place."""
    with no_grad():
        rows = indices.reshape(-1).unique()
        picked = weight.detach()[rows]
        norms = picked.norm(norm_type, 1, True)
        scale = (max_norm / (norms + 1e-7)).clamp_max(1.0)
        scale = scale.masked_fill(norms <= max_norm, 1.0)
        weight.detach()[rows] = picked * scale


# ---- bags

_bag_max = op("_bag_max(rows, bags, num_bags: int)", "bag_max", returns="bag_max out where", nondiff=("where",), vjp={
    "rows": lambda g, where, rows_shape: g.new_zeros(rows_shape).scatter_add(
        0, where.clamp_min(0), g.masked_fill(where < 0, 0))})


def _bags(input, offsets, include_last_offset):
    """(flat indices, bag of each index, number of bags)."""
    if input.dim() == 2:
        n, size = input.shape
        bags = input.new_tensor(range(n), dtype=int64).unsqueeze(1).expand(n, size).reshape(-1)
        return input.reshape(-1), bags, n
    starts = offsets.tolist()
    total = input.shape[0]
    ends = starts[1:] + ([] if include_last_offset else [total])
    if include_last_offset:
        starts = starts[:-1]
    bags = [i for i, (s, e) in enumerate(zip(starts, ends)) for _ in range(s, e)]
    return input[:ends[-1]] if include_last_offset and ends else input, input.new_tensor(bags, dtype=int64), len(starts)


def bag_of_rows(weight, indices, bags, n, mode, scale_grad_by_freq, per_sample_weights, padding_idx):
    """Sums, means or maxima of the rows of each bag; (n, features)."""
    if padding_idx is not None and padding_idx >= 0:
        kept = indices != padding_idx
        indices, bags = indices[kept], bags[kept]
        if per_sample_weights is not None:
            per_sample_weights = per_sample_weights[kept]
    rows = _embedding(weight, indices, -1, scale_grad_by_freq)
    if mode == "max":
        return _bag_max(rows, bags, n)[0]
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.unsqueeze(1)
    out = rows.new_zeros((n, rows.shape[1])).index_add(0, bags, rows)
    if mode == "mean":
        counts = bags.bincount(minlength=n).clamp_min(1)
        out = out / counts.unsqueeze(1).to(out.dtype)
    return out


def _check_bag(input, weight, offsets, mode, sparse, per_sample_weights, include_last_offset):
    _refuse_sparse(sparse, weight)
    if input.dim() == 2 and offsets is not None:
        raise ValueError("if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed "
                         "length "
                         f"sequences. However, found offsets of type {type(offsets)}")
    if input.dim() == 1 and not isinstance(offsets, Tensor):
        raise ValueError("offsets has to be a 1D Tensor but got None" if offsets is None else
                         f"offsets has to be a 1D Tensor but got {type(offsets)}")
    if input.dim() == 1 and offsets.dim() != 1:
        raise ValueError("offsets has to be a 1D Tensor")
    if input.dim() not in (1, 2):
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.dim()}")
    if mode not in ("sum", "mean", "max"):
        raise ValueError("mode has to be one of sum, mean or max")
    if per_sample_weights is not None and mode != "sum":
        raise NotImplementedError("embedding_bag: per_sample_weights was not None. per_sample_weights is only "
                                  "supported for "
                                  f"mode='sum' (got mode='{mode}'). Please open a feature request on GitHub.")
    if per_sample_weights is not None and per_sample_weights.shape != input.shape:
        raise ValueError(f"embedding_bag: If per_sample_weights ({per_sample_weights.shape}) is not None, then it "
                         "must have the "
                         f"same shape as the input ({input.shape})")
    _check_indices(input, "embedding_bag")
    if offsets is not None and offsets.numel():
        if int(offsets[0]) != 0:
            raise RuntimeError("offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from "
                               "position "
                               f"0. However, got {int(offsets[0])}")
        if int(offsets[-1]) > input.shape[0]:
            raise RuntimeError("offsets[-1] can not be greater than input's length, but got "
                               f"offsets[-1] of {int(offsets[-1])} and input's length of {input.shape[0]}")


def functional_bag(input, weight, offsets, max_norm, norm_type, scale_grad_by_freq, mode, sparse, per_sample_weights,
                   include_last_offset, padding_idx):
    """What torch.nn.functional.embedding_bag does."""
    _check_bag(input, weight, offsets, mode, sparse, per_sample_weights, include_last_offset)
    if padding_idx is not None:
        rows = weight.shape[0]
        if not -rows <= padding_idx < rows:
            raise AssertionError("padding_idx must be within the number of embeddings")
        padding_idx %= rows
    if max_norm is not None:
        renormalize_rows(weight, input, max_norm, norm_type)
    indices, bags, n = _bags(input, offsets, include_last_offset)
    if per_sample_weights is not None:
        per_sample_weights = per_sample_weights.reshape(-1)
    return bag_of_rows(weight, indices, bags, n, mode, scale_grad_by_freq, per_sample_weights, padding_idx)


@composite("embedding_bag(weight, indices, offsets, scale_grad_by_freq: bool=False, mode: int=0, sparse: bool=False, "
           "per_sample_weights: Tensor=None, include_last_offset: bool=False, padding_idx=None)", on="torch", out=False)
def embedding_bag(weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset,
                  padding_idx):
    """(output, bag of each index, bag sizes, the rows maxima came from); mode 0 sum, 1 mean, 2 max.

    https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.embedding_bag.html
    """
    name = ("sum", "mean", "max")[mode]
    out = functional_bag(indices, weight, offsets, None, 2.0, scale_grad_by_freq, name, sparse, per_sample_weights,
                         include_last_offset, padding_idx)
    flat, bags, n = _bags(indices, offsets, include_last_offset)
    sizes = bags.bincount(minlength=n)
    where = flat.new_zeros((n, weight.shape[1]) if mode == 2 else (0,))
    if mode == 2 and flat.numel():
        picked = _bag_max(weight.detach()[flat], bags, n)[1]
        where = flat[picked.clamp_min(0)].masked_fill(picked < 0, -1)
    return out, bags, sizes, where


@composite("one_hot(input, num_classes: int=-1)", on="F")
def one_hot(input, num_classes):
    """Class numbers (*) to int64 rows (*, num_classes) with a single 1.

    https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.one_hot.html
    """
    if input.dtype is not int64:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    if input.numel() == 0:
        if num_classes <= 0:
            raise RuntimeError("Can not infer total number of classes from empty tensor.")
        return input.new_zeros((*input.shape, num_classes))
    if int(input.min()) < 0:
        raise RuntimeError("Class values must be non-negative.")
    if num_classes == -1:
        num_classes = int(input.max()) + 1
    elif num_classes < 1:
        raise RuntimeError("num_classes should be positive")
    elif num_classes <= int(input.max()):
        raise RuntimeError("Class values must be smaller than num_classes.")
    return input.new_zeros((*input.shape, num_classes)).scatter_(-1, input.unsqueeze(-1), 1)
