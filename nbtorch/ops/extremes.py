"""Largest and smallest, medians and ranks, running sums and extremes."""
from ..core import dtype as dt
from ..core.op import composite, op
from ..core.results import named_result
from ..core.tensor import Tensor, dim_index
from .limits import maximum, minimum
from .pointwise import where
from .reduce import dims_of, restored


def _even(g, input, out, dim, keepdim):
    """A gradient shared evenly by all elements equal to the result."""
    g, out = restored(g, input.shape, dim, keepdim), restored(out, input.shape, dim, keepdim)
    hit = input == out
    return hit * (g / hit.sum(dims_of(dim, input.dim()), True))


def _chosen(g, indices, input_shape, dim, keepdim):
    """A gradient put back where the result was taken from."""
    if not len(input_shape):
        return g
    if not keepdim:
        g, indices = g.unsqueeze(dim), indices.unsqueeze(dim)
    return g.new_zeros(input_shape).scatter(dim, indices, g)


def _ordered(name):
    def rule(infos):
        if infos[0][0].is_complex:
            raise RuntimeError(f"{name}(): does not support complex input")
        return [None]
    return rule


_DIMS = "input, dim=None, keepdim: bool=False"
amax = op("amax(input, dim=(), keepdim: bool=False)", "amax", rule=_ordered("amax"), vjp={"input": _even})
amin = op("amin(input, dim=(), keepdim: bool=False)", "amin", rule=_ordered("amin"), vjp={"input": _even})
argmax = op(f"argmax({_DIMS})", "argmax", rule=_ordered("argmax"))
argmin = op(f"argmin({_DIMS})", "argmin", rule=_ordered("argmin"))
_max_all = op(
    "_max_all(input, dim=None, keepdim: bool=False)",
    "amax",
    node="Max",
    rule=_ordered("max"),
    vjp={"input": _even},
)
_min_all = op(
    "_min_all(input, dim=None, keepdim: bool=False)",
    "amin",
    node="Min",
    rule=_ordered("min"),
    vjp={"input": _even},
)
_max_dim = op("_max_dim(input, dim: int, keepdim: bool=False)", "max_dim", returns="max values indices", node="Max",
              nondiff=("indices",), rule=_ordered("max"), vjp={"input": _chosen})
_min_dim = op("_min_dim(input, dim: int, keepdim: bool=False)", "min_dim", returns="min values indices", node="Min",
              nondiff=("indices",), rule=_ordered("min"), vjp={"input": _chosen})


def _empty_error(name, input):
    if not input.numel():
        raise RuntimeError(
            f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction "
            "dim with the 'dim' argument."
        )


@composite("max(input, dim=None, keepdim: bool=False, *, other=None)")
def max(input, dim, keepdim, other):
    """The largest element; values and indices along `dim`; or the larger of two tensors."""
    if isinstance(dim, Tensor) or other is not None:
        return maximum(input, dim if other is None else other)
    if dim is None:
        _empty_error("max", input)
        return _max_all(input)
    return _max_dim(input, dim, keepdim)


@composite("min(input, dim=None, keepdim: bool=False, *, other=None)")
def min(input, dim, keepdim, other):
    """The smallest element; values and indices along `dim`; or the smaller of two tensors."""
    if isinstance(dim, Tensor) or other is not None:
        return minimum(input, dim if other is None else other)
    if dim is None:
        _empty_error("min", input)
        return _min_all(input)
    return _min_dim(input, dim, keepdim)


@composite("aminmax(input, *, dim=None, keepdim: bool=False)")
def aminmax(input, dim, keepdim):
    """(smallest, largest), of all elements or along one dimension."""
    if dim is None and not input.numel():
        raise RuntimeError(
            "aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity."
        )
    dims = () if dim is None else dim
    return named_result(("aminmax", "min", "max"), (amin(input, dims, keepdim), amax(input, dims, keepdim)))


# ---- ranks

_median_all = op(
    "_median_all(input, dim=None, keepdim: bool=False)",
    "median_all",
    node="Median",
    rule=_ordered("median"),
    vjp={"input": lambda g, input, out, dim, keepdim: _even_nan(g, input, out)},
)


def _even_nan(g, input, out):
    hit = (input == out) | (input.isnan() & out.isnan())
    return hit * (g / hit.sum())


_nanmedian_all = op(
    "_nanmedian_all(input, dim=None, keepdim: bool=False)",
    "nanmedian_all",
    node="Nanmedian",
    rule=_ordered("nanmedian"),
    vjp={"input": lambda g, input, out, dim, keepdim: _even_nan(g, input, out)},
)
_median_dim = op("_median_dim(input, dim: int, keepdim: bool=False)", "median_dim", returns="median values indices",
                 node="Median", nondiff=("indices",), rule=_ordered("median"), vjp={"input": _chosen})
_nanmedian_dim = op("_nanmedian_dim(input, dim: int, keepdim: bool=False)", "nanmedian_dim", node="Nanmedian",
                    returns="nanmedian values indices", nondiff=("indices",), rule=_ordered("nanmedian"),
                    vjp={"input": _chosen})


@composite(f"median({_DIMS})")
def median(input, dim, keepdim):
    """The lower median; NaN if any element is NaN."""
    return _median_all(input) if dim is None else _median_dim(input, dim, keepdim)


@composite(f"nanmedian({_DIMS})")
def nanmedian(input, dim, keepdim):
    """The lower median of the elements that are not NaN."""
    return _nanmedian_all(input) if dim is None else _nanmedian_dim(input, dim, keepdim)


mode = op("mode(input, dim: int=-1, keepdim: bool=False)", "mode", returns="mode values indices", nondiff=("indices",),
          rule=_ordered("mode"), vjp={"input": _chosen})
kthvalue = op(
    "kthvalue(input, k: int, dim: int=-1, keepdim: bool=False)",
    "kthvalue",
    returns="kthvalue values indices",
    nondiff=("indices",),
    rule=_ordered("kthvalue"),
    vjp={"input": _chosen},
)


def _quantile(name, input, q, dim, keepdim, interpolation, ignore_nan):
    if not isinstance(q, Tensor):
        if not 0 <= q <= 1:
            raise RuntimeError(f"{name}() q must be in the range [0, 1] but got {q:g}")
        q = input.new_tensor(q)
    if not input.dtype.is_floating_point or input.dtype.itemsize < 4:
        raise RuntimeError(f"{name}() input tensor must be either float or double dtype")
    if q.dtype is not input.dtype:
        raise RuntimeError(f"{name}() q tensor must be same dtype as the input tensor")
    if q.dim() > 1:
        raise RuntimeError(f"{name}() q must be a scalar or 1D tensor")
    if not input.numel():
        raise RuntimeError(f"{name}() input tensor must be non-empty")
    if interpolation not in ("linear", "lower", "higher", "midpoint", "nearest"):
        raise RuntimeError(f"{name}() interpolation must be one of linear, lower, higher, midpoint or nearest, but got "
                           f"{interpolation}")
    if bool(((q < 0) | (q > 1)).any()):
        raise RuntimeError(f"{name}() q values must be in the range [0, 1]")
    shape = list(input.shape)
    lined = input.reshape(-1) if dim is None else input.movedim(dim, -1) if input.dim() else input.reshape(1)
    ordered = lined.sort(-1)[0]
    n, qs = ordered.shape[-1], q.reshape(-1)
    if ignore_nan:
        rank = qs * ((~ordered.isnan()).sum(-1, True) - 1).clamp(min=0).to(q.dtype)
    else:
        rank = (qs * (n - 1)).expand(*ordered.shape[:-1], qs.numel())
        rank = where(ordered.isnan().any(-1, True), float(n - 1), rank)
    rank = {"lower": rank.floor, "higher": rank.ceil, "nearest": rank.round}.get(interpolation, lambda: rank)()
    below = ordered.gather(-1, rank.long())
    if interpolation in ("linear", "midpoint"):
        weight = rank.new_full(rank.shape, 0.5) if interpolation == "midpoint" else rank - rank.floor()
        above = ordered.gather(-1, rank.ceil().long())
        below = below.lerp(above, weight)
    out = below.movedim(-1, 0)
    if keepdim:
        out = out.reshape(-1, *([1] * len(shape))) if dim is None else out.unsqueeze(
            dim_index(dim, len(shape)) + 1) if shape else out
    return out[0] if q.dim() == 0 else out


_QUANTILE = "input, q: float, dim=None, keepdim: bool=False, *, interpolation: str='linear'"


@composite(f"quantile({_QUANTILE})", amp={"cpu": "fp32"})
def quantile(input, q, dim, keepdim, interpolation):
    """The q-th quantiles (q a number or 1-d tensor); NaN where an element is NaN."""
    return _quantile("quantile", input, q, dim, keepdim, interpolation, False)


@composite(f"nanquantile({_QUANTILE})", amp={"cpu": "fp32"})
def nanquantile(input, q, dim, keepdim, interpolation):
    """The q-th quantiles of the elements that are not NaN."""
    return _quantile("nanquantile", input, q, dim, keepdim, interpolation, True)


# ---- running

_SCAN = {"cuda": "fp32_dtype"}
cumsum = op("cumsum(input, dim: int, *, dtype=None)", "cumsum", inplace=True, amp=_SCAN,
            vjp={"input": lambda g, dim: _backwards(g, dim)})


def _backwards(g, dim):
    return g.flip(dim).cumsum(dim).flip(dim) if g.dim() else g


def _cumprod_grad(g, input, out, dim):
    zero = input == 0
    if not bool(zero.any()):
        return _backwards(g * out.conj(), dim) / input.conj()
    if not input.dim():
        return g
    seen = zero.cumsum(dim)
    first = zero & (seen == 1)
    without = input.masked_fill(first, 1).cumprod(dim)
    before = _backwards(g * out.conj(), dim) / input.masked_fill(zero, 1).conj()
    at = _backwards((g * without.conj()).masked_fill(seen < 1, 0), dim)
    return where(seen == 0, before, where(first, at, 0.0))


cumprod = op(
    "cumprod(input, dim: int, *, dtype=None)", "cumprod", inplace=True, amp=_SCAN, vjp={"input": _cumprod_grad}
)


def _scattered(g, indices, input_shape, dim):
    return g.new_zeros(input_shape).scatter_add(dim, indices, g) if input_shape else g


cummax = op("cummax(input, dim: int)", "cummax", returns="cummax values indices", nondiff=("indices",),
            rule=_ordered("cummax"), vjp={"input": _scattered})
cummin = op("cummin(input, dim: int)", "cummin", returns="cummin values indices", nondiff=("indices",),
            rule=_ordered("cummin"), vjp={"input": _scattered})


def _logcumsumexp_grad(g, input, out, dim):
    if not input.dim():
        return g

    def back(logs):
        return (logs - out.conj()).flip(dim).logcumsumexp(dim).flip(dim) + input.conj()
    if g.is_complex():
        return back(g.log()).exp()
    lowest = dt.finfo(g.dtype).min                # not -inf: differences of infinities would be NaN in second order
    positive = where(g > 0, g.log(), lowest)
    negative = where(g < 0, (-g).log(), lowest)
    return back(positive).exp() - back(negative).exp()


logcumsumexp = op("logcumsumexp(input, dim: int)", "logcumsumexp", rule=lambda infos: _need_float(infos),
                  vjp={"input": _logcumsumexp_grad})


def _need_float(infos):
    if infos[0][0].category < 2:
        raise NotImplementedError(f"\"logcumsumexp_out_cpu\" not implemented for '{dt.scalar_name(infos[0][0])}'")
    return [None]
