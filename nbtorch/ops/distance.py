"""Distances and similarities. Source: https://docs.pytorch.org/docs/stable/nn.functional.html#distance-functions"""
from ..core.dtype import scalar_name
from ..core.op import composite

FP32_ON_CUDA = {"cpu": None, "cuda": "fp32"}


@composite("cosine_similarity(x1, x2, dim: int=1, eps: float=1e-08)", on="torch F", amp=FP32_ON_CUDA, out=False)
def cosine_similarity(x1, x2, dim, eps):
    """x1 . x2 / (max(|x1|, eps) * max(|x2|, eps)) along dim.

    https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.cosine_similarity.html
    """
    from . import broadcast_tensors
    from .rules import promote_types
    common = promote_types(x1.dtype, x2.dtype)
    if not common.is_floating_point:
        raise RuntimeError(f"expected common dtype to be floating point, yet common dtype is {scalar_name(common)}")
    x1, x2 = broadcast_tensors(x1.to(common), x2.to(common))
    # limited as a constant: at a zero vector the gradient is that of the numerator
    n1, n2 = (_at_least(x.norm(2, dim, True), eps) for x in (x1, x2))
    return ((x1 / n1) * (x2 / n2)).sum(dim)


def _at_least(norm, eps):
    return norm + (norm.detach().clamp_min(eps) - norm.detach())


@composite("pairwise_distance(x1, x2, p: float=2.0, eps: float=1e-06, keepdim: bool=False)", on="torch F", out=False)
def pairwise_distance(x1, x2, p, eps, keepdim):
    """|x1 - x2 + eps|_p over the last dimension.

    https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.pairwise_distance.html
    """
    return (x1 - x2 + eps).norm(p, -1, keepdim)


def _norm(difference, p):
    if p == 0:
        return ((difference != 0).to(difference.dtype) + difference * 0).sum(-1)
    if p == float("inf"):
        return difference.abs().amax(-1) if difference.shape[-1] else difference.sum(-1)
    return difference.norm(p, -1)


@composite("cdist(x1, x2, p: float=2.0, compute_mode=None)", on="torch", amp="fp32", out=False)
def cdist(x1, x2, p, compute_mode):
    """p-norm distances (*, P, R) between the rows of x1 (*, P, M) and of x2 (*, R, M).

    https://docs.pytorch.org/docs/stable/generated/torch.cdist.html
    """
    for i, x in ((1, x1), (2, x2)):
        if not x.dtype.is_floating_point:
            raise RuntimeError(f"cdist only supports floating-point dtypes, X{i} got: {_type_name(x.dtype)}")
        if x.dim() < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, X{i} got: {x.dim()}D")
    if x1.shape[-1] != x2.shape[-1]:
        raise RuntimeError(f"X1 and X2 must have the same number of columns. X1: {x1.shape[-1]} X2: {x2.shape[-1]}")
    if p < 0:
        raise RuntimeError("cdist only supports non-negative p values")
    modes = {None: 0, "use_mm_for_euclid_dist_if_necessary": 0, "use_mm_for_euclid_dist": 1,
             "donot_use_mm_for_euclid_dist": 2}
    if isinstance(compute_mode, str) and compute_mode not in modes:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    mode = modes.get(compute_mode, compute_mode)
    if p == 2 and (mode == 1 or mode == 0 and (x1.shape[-2] > 25 or x2.shape[-2] > 25)):
        return _euclidean(x1, x2)
    return _norm(x1.unsqueeze(-2) - x2.unsqueeze(-3), p)


def _type_name(d):
    return {"int64": "long int", "int32": "int", "bool": "bool"}.get(d.name, d.name)


def _euclidean(x1, x2):
    """Through one matrix product. At distance 0 the gradient is 0, as for the norm."""
    squares = x1.square().sum(-1, True) + x2.square().sum(-1).unsqueeze(-2)
    squared = (squares - 2 * x1.matmul(x2.transpose(-1, -2))).clamp_min(0)
    apart = squared > 0
    return squared.masked_fill(~apart, 1).sqrt() * apart


@composite("pdist(input, p: float=2.0)", on="torch F", amp=FP32_ON_CUDA, out=False)
def pdist(input, p):
    """p-norm distances between all pairs of rows i < j of input (N, M), in one vector.

    https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.pdist.html
    """
    if input.dim() != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {input.dim()}D")
    if not input.dtype.is_floating_point:
        raise RuntimeError("pdist only supports floating-point dtypes")
    if p < 0:
        raise RuntimeError("pdist only supports non-negative p values")
    from . import triu_indices
    rows, columns = triu_indices(input.shape[0], input.shape[0], 1).unbind(0)
    return _norm(input[rows] - input[columns], p)
