"""Sorting, distinct values, counting and searching."""
from ..core import dtype as dt
from ..core.op import composite, op
from ..core.tensor import Tensor


def _placed(g, indices, input_shape, dim):
    return g.new_zeros(input_shape).scatter(dim, indices, g) if input_shape else g


def _orderable(name):
    def rule(infos):
        if infos[0][0].is_complex:
            raise RuntimeError("Sort currently does not support complex dtypes on CPU" if name == "sort" else
                               f"{name} does not support complex dtypes on CPU")
        return [None] * len(infos)
    return rule


_sort = op(
    "_sort(input, dim: int=-1, descending: bool=False, stable: bool=False)",
    "sort",
    returns="sort values indices",
    node="Sort",
    nondiff=("indices",),
    rule=_orderable("sort"),
    vjp={"input": _placed},
)


def _sort_arguments(dim, descending, stable):
    """The older form sort(x, stable, dim, descending) never has positional bools first; None is not stable."""
    return dim, bool(descending), bool(stable)


@composite("sort(input, dim: int=-1, descending: bool=False, stable=None)")
def sort(input, dim, descending, stable):
    """Values in order along a dimension, and where they were. NaN counts as largest; equal values keep their order."""
    return _sort(input, *_sort_arguments(dim, descending, stable))


_argsort = op("_argsort(input, dim: int=-1, descending: bool=False, stable: bool=False)", "argsort",
              rule=_orderable("sort"))


@composite("argsort(input, dim: int=-1, descending: bool=False, stable=None)", out=False)
def argsort(input, dim, descending, stable):
    """Where the values in order along a dimension are."""
    return _argsort(input, *_sort_arguments(dim, descending, stable))


@composite("msort(input)")
def msort(input):
    """Sorted along the first dimension."""
    return _sort(input, 0)[0]


topk = op(
    "topk(input, k: int, dim: int=-1, largest: bool=True, sorted: bool=True)",
    "topk",
    returns="topk values indices",
    nondiff=("indices",),
    rule=_orderable("topk"),
    vjp={"input": _placed},
)

_unique = op("_unique(input, dim=None)", "unique", returns="unique output inverse counts")
_unique_consecutive = op("_unique_consecutive(input, dim=None)", "unique_consecutive",
                         returns="unique_consecutive output inverse counts")


def _asked(found, inverse, counts):
    output = [found[0], *([found[1]] if inverse else []), *([found[2]] if counts else [])]
    return output[0] if len(output) == 1 else tuple(output)


@composite(
    "unique(input, sorted: bool=True, return_inverse: bool=False, return_counts: bool=False, dim=None)",
    out=False,
)
def unique(input, sorted, return_inverse, return_counts, dim):
    """Distinct values in order; on request where each element went, and how often each occurs."""
    if input.is_complex():
        raise RuntimeError("\"unique\" not implemented for complex tensors")
    return _asked(_unique(input, dim), return_inverse, return_counts)


@composite("unique_consecutive(input, return_inverse: bool=False, return_counts: bool=False, dim=None)", out=False)
def unique_consecutive(input, return_inverse, return_counts, dim):
    """Runs of equal neighbours as one value each."""
    return _asked(_unique_consecutive(input, dim), return_inverse, return_counts)


bincount = op("bincount(input, weights: Tensor=None, minlength: int=0)", "bincount", out=False)

_searchsorted = op(
    "_searchsorted(edges, values: Number, sorter: Tensor=None, out_int32: bool=False, right: bool=False)",
    "searchsorted",
)


def _side(right, side):
    if side not in (None, "left", "right"):
        raise RuntimeError(f"torch.searchsorted(): side can only be 'left' or 'right' but got {side}")
    if right and side == "left":
        raise RuntimeError(
            "torch.searchsorted(): side and right can't be set to opposites, got side of left while right was "
            "True"
        )
    return right or side == "right"


def _check_search(edges, values, sorter):
    if isinstance(values, Tensor):
        if edges.dtype is not values.dtype:
            raise RuntimeError(
                "torch.searchsorted(): boundary tensor and input value tensor should have same dtype, but got "
                f"boundary tensor dtype {dt.LONG_NAMES.get(edges.dtype.name, edges.dtype.name)} and input "
                f"value tensor dtype {dt.LONG_NAMES.get(values.dtype.name, values.dtype.name)}"
            )
        if edges.dim() != 1 and (edges.dim() != values.dim() or edges.shape[:-1] != values.shape[:-1]):
            raise RuntimeError(
                "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of "
                f"boundaries tensor and input value tensor must match, but we got boundaries tensor "
                f"{list(edges.shape)} and input value tensor {list(values.shape)}"
            )
    elif edges.dim() != 1:
        raise RuntimeError(
            "torch.searchsorted(): input value can be a scalar only when boundaries tensor dimension is 1"
        )
    if not edges.dim():
        raise RuntimeError("torch.searchsorted(): boundaries tensor should have positive dimension")
    if sorter is not None:
        if sorter.shape != edges.shape:
            raise RuntimeError(
                "torch.searchsorted(): boundary and sorter must have the same size, but got boundary tensor "
                f"{list(edges.shape)}and got sorter tensor {list(sorter.shape)}"
            )
        if sorter.dtype is not dt.int64:
            raise RuntimeError("torch.searchsorted(): sorter must be a tensor of long dtype but got dtype "
                               f"{dt.LONG_NAMES.get(sorter.dtype.name, sorter.dtype.name)}")


@composite("searchsorted(sorted_sequence, input, *, out_int32: bool=False, right: bool=False, side=None, sorter=None)",
           on="torch")
def searchsorted(sorted_sequence, input, out_int32, right, side, sorter):
    """Where values would be inserted into sorted lines to keep their order."""
    right = _side(right, side)
    _check_search(sorted_sequence, input, sorter)
    return _searchsorted(sorted_sequence, input, sorter, out_int32, right)


@composite("bucketize(input, boundaries, *, out_int32: bool=False, right: bool=False)", on="torch")
def bucketize(input, boundaries, out_int32, right):
    """The bucket between sorted boundaries each value falls into."""
    if boundaries.dim() != 1:
        raise RuntimeError(f"bucketize: boundaries tensor must be 1 dimension, but got dim({boundaries.dim()})")
    if isinstance(input, Tensor) and input.dtype is not boundaries.dtype:
        raise RuntimeError(
            "torch.searchsorted(): boundary tensor and input value tensor should have same dtype, but got "
            f"boundary tensor dtype {boundaries.dtype!r} and input value tensor dtype {input.dtype!r}"
        )
    return _searchsorted(boundaries, input, None, out_int32, right)


_histogram = op(
    "_histogram(input, weight: Tensor=None, bins: int=100, low: float=0, high: float=0, density: bool=False)",
    "histogram",
    returns="histogram hist bin_edges",
)
_histogram_edges = op("_histogram_edges(input, weight: Tensor, bins: Tensor, low: float=0, high: float=0, "
                      "density: bool=False)", "histogram_edges", returns="histogram hist bin_edges")


def _limits(input, low, high, name):
    if low == high == 0:
        if not input.numel():
            return 0, 1
        low, high = input.min().item(), input.max().item()
    if low > high:
        raise RuntimeError(f"{name}: max must be larger than min" if name == "torch.histc" else
                           f"{name}: min should not exceed max, but got min: {low} max: {high}")
    if not (low - low == 0 and high - high == 0):
        raise RuntimeError(f"{name}: range of [{low}, {high}] is not finite")
    return (low - 1, high + 1) if low == high and name == "torch.histc" else \
        (low - 0.5, high + 0.5) if low == high else (low, high)


@composite("histogram(input, bins, *, range=None, weight=None, density: bool=False)")
def histogram(input, bins, range, weight, density):
    """Counts per bin and the bin edges. bins: how many, or a tensor of edges."""
    if isinstance(bins, Tensor):
        return _histogram_edges(input, weight, bins, 0, 0, density)
    if bins <= 0:
        raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {bins} for dimension 0")
    low, high = _limits(input, *(range or (0, 0)), "torch.histogram()")
    return _histogram(input, weight, bins, low, high, density)


_histc = op("_histc(input, bins: int, low: float, high: float)", "histc")


@composite("histc(input, bins: int=100, min: float=0, max: float=0)")
def histc(input, bins, min, max):
    """Counts of elements in equal bins between min and max (of the data, when both are 0)."""
    if input.dtype.category < 2 or input.is_complex():
        raise NotImplementedError(f"\"histogram_cpu\" not implemented for '{dt.scalar_name(input.dtype)}'")
    if bins <= 0:
        raise RuntimeError("bins must be > 0")
    low, high = _limits(input, min, max, "torch.histc")
    return _histc(input, bins, low, high)
