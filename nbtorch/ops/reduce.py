"""Reductions: sums, means, products, variances, norms, truth values."""
import math

from ..core import dtype as dt
from ..core.op import composite, op
from ..core.tensor import dim_index
from . import rules
from .pointwise import where


def dims_of(dim, ndim):
    """Non-negative dimensions a reduction goes over."""
    if dim is None or not ndim or not isinstance(dim, int) and len(dim) == 0:
        return tuple(range(ndim))
    return tuple(dim_index(d, ndim) for d in ((dim,) if isinstance(dim, int) else dim))


def restored(t, shape, dim, keepdim):
    """A reduced tensor with the reduced dimensions back as size 1."""
    if keepdim or not shape:
        return t
    kept = [1 if d in dims_of(dim, len(shape)) else n for d, n in enumerate(shape)]
    return t.reshape(kept)


def _spread(g, input_shape, dim, keepdim):
    return restored(g, input_shape, dim, keepdim).expand(input_shape)


def _count(shape, dim):
    return math.prod(shape[d] for d in dims_of(dim, len(shape)))


_DTYPE = {"cuda": "fp32_dtype"}
_SUM = "input, dim=None, keepdim: bool=False, *, dtype=None"
sum = op(f"sum({_SUM})", "sum", amp=_DTYPE, vjp={"input": _spread})
nansum = op(f"nansum({_SUM})", "nansum", vjp={"input": lambda g, input, dim, keepdim:
                                              _spread(g, input.shape, dim, keepdim) * ~input.isnan()},
            rule=lambda infos: _no_complex(infos, "nansum"))


def _no_complex(infos, name):
    if infos[0][0].is_complex:
        raise RuntimeError(f"{name} does not support complex inputs" if name == "nansum" else
                           f"{name}(): does not support complex input")
    return [None] * len(infos)


def _averaged(input, dim, keepdim, dtype):
    d = dtype or input.dtype
    if d.category < 2:
        what = "optional dtype" if dtype is not None else "Input dtype"
        raise RuntimeError(
            f"mean(): could not infer output dtype. {what} must be either a floating point or complex dtype. "
            f"Got: {dt.scalar_name(d)}"
        )


mean = op(
    f"mean({_SUM})",
    "mean",
    check=_averaged,
    vjp={
        "input": lambda g, input_shape, dim, keepdim: (
            _spread(g, input_shape, dim, keepdim) / _count(input_shape, dim)
        )
    },
)


@composite(f"nanmean({_SUM})")
def nanmean(input, dim, keepdim, dtype):
    """Mean of the elements that are not NaN."""
    if input.dtype.category < 2:
        raise RuntimeError(
            f"nanmean(): expected input to have floating point or complex dtype but got {dt.scalar_name(input.dtype)}"
        )
    return nansum(input, dim, keepdim, dtype=dtype) / (~input.isnan()).sum(dim, keepdim)


# ---- products

def _prod_grad(g, input, out, dim, keepdim):
    shape = input.shape
    g, out = restored(g, shape, dim, keepdim), restored(out, shape, dim, keepdim)
    zero = input == 0
    if not bool(zero.any()):
        return g * (out / input).conj()
    count, axes = zero.sum(dim, True) if dim is not None else zero.sum(), dim
    filled = input.masked_fill(zero, 1)
    others = _prod(filled, axes, True) if dim is not None else _prod(filled, None, False)
    inside = where(zero, where(count == 1, others, 0.0), where(count == 0, others / filled, 0.0))
    return g * inside.conj()


_prod = op(
    "_prod(input, dim=None, keepdim: bool=False, *, dtype=None)",
    "prod",
    node="Prod",
    amp={"cpu": "fp32", **_DTYPE},
    vjp={"input": _prod_grad},
)


@composite("prod(input, dim=None, keepdim: bool=False, *, dtype=None)", amp={"cpu": "fp32", **_DTYPE})
def prod(input, dim, keepdim, dtype):
    """Product of all elements, or over one dimension."""
    if dim is not None and not isinstance(dim, int):
        raise TypeError(f"prod(): argument 'dim' must be int, not {type(dim).__name__}")
    if dtype is not None and dtype is not input.dtype:
        input = input.to(dtype)
    return _prod(input, dim, keepdim, dtype=dtype)


# ---- variances

def _var_grad(g, input, dim, correction, keepdim):
    n = _count(input.shape, dim)
    centred = input - input.mean(dim, True)
    return restored(g, input.shape, dim, keepdim) * centred * _over(2.0, n - correction)


def _over(a, b):
    return a / b if b > 0 else (math.inf if a else math.nan) if b == 0 else math.nan


def _std_grad(g, input, out, dim, correction, keepdim):
    half = g / (out * 2)
    return _var_grad(where(out == 0, 0.0, half), input, dim, correction, keepdim)


def _floats(name):
    def rule(infos):
        if infos[0][0].category < 2:
            raise RuntimeError(f"{name} only support floating point and complex dtypes")
        return [None]
    return rule


_var = op("_var(input, dim: object, correction: float, keepdim: bool=False)", "var",
          rule=_floats("std and var"), node="Var", vjp={"input": _var_grad})
_std = op(
    "_std(input, dim: object, correction: float, keepdim: bool=False)",
    "std",
    rule=_floats("std and var"),
    node="Std",
    vjp={"input": _std_grad},
)


def _spread_arguments(dim, unbiased, correction):
    """dim and correction of the forms var(x, unbiased), var(x, dim, unbiased), var(x, dim, correction=c)."""
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    if correction is None:
        correction = 1 if unbiased is None or unbiased else 0
    return (None if dim is not None and not isinstance(dim, int) and len(dim) == 0 else dim), correction


_VAR = "input, dim=None, unbiased=None, keepdim: bool=False, *, correction=None"


@composite(f"var({_VAR})")
def var(input, dim, unbiased, keepdim, correction):
    """Variance, divided by n - correction (n - 1 without one)."""
    dim, correction = _spread_arguments(dim, unbiased, correction)
    return _var(input, dim, correction, keepdim)


@composite(f"std({_VAR})")
def std(input, dim, unbiased, keepdim, correction):
    """Standard deviation, divided by n - correction (n - 1 without one)."""
    dim, correction = _spread_arguments(dim, unbiased, correction)
    return _std(input, dim, correction, keepdim)


@composite(f"var_mean({_VAR})", on="torch", out=False)
def var_mean(input, dim, unbiased, keepdim, correction):
    """(variance, mean)."""
    dim, correction = _spread_arguments(dim, unbiased, correction)
    return _var(input, dim, correction, keepdim), mean(input, dim, keepdim)


@composite(f"std_mean({_VAR})", on="torch", out=False)
def std_mean(input, dim, unbiased, keepdim, correction):
    """(standard deviation, mean)."""
    dim, correction = _spread_arguments(dim, unbiased, correction)
    return _std(input, dim, correction, keepdim), mean(input, dim, keepdim)


# ---- truth

all = op("all(input, dim=None, keepdim: bool=False)", "all")
any = op("any(input, dim=None, keepdim: bool=False)", "any")
count_nonzero = op("count_nonzero(input, dim=None)", "count_nonzero", out=False)

# ---- norms

def _norm_grad(g, input, out, p, dim, keepdim):
    g, out = restored(g, input.shape, dim, keepdim), restored(out, input.shape, dim, keepdim)
    if p == 0:
        return g.new_zeros(input.shape)
    if p == 1:
        return g * input.sgn()
    if p == 2:
        return (g / out).masked_fill(out == 0, 0) * input
    if math.isinf(p):
        hit = input.abs() == out
        return input.sgn() * (g / hit.sum(dims_of(dim, input.dim()), True)) * hit
    if p < 2:
        scaled = (input.abs().pow(p - 1) * input.sgn()).masked_fill(input == 0, 0)
    else:
        scaled = input * input.abs().pow(p - 2)
    return scaled * (g / out.pow(p - 1)).masked_fill(out == 0, 0)


_norm = op("_norm(input, p: float, dim: object, keepdim: bool=False, dtype=None)", "norm", node="LinalgVectorNorm",
           amp=_DTYPE, rule=_floats("linalg.vector_norm: Expected a floating point or complex tensor as input;"),
           vjp={"input": _norm_grad})


@composite("norm(input, p='fro', dim=None, keepdim: bool=False, dtype=None)", out=True, amp={"cuda": "fp32"})
def norm(input, p, dim, keepdim, dtype):
    """Vector norm of order p, or the Frobenius or nuclear matrix norm."""
    d = dtype or input.dtype
    if d.category < 2:
        raise RuntimeError("linalg.vector_norm: Expected a floating point or complex tensor as input. Got "
                           f"{dt.scalar_name(d)}")
    if p == "nuc":
        if dim is None and input.dim() != 2:
            raise RuntimeError("linalg.matrix_norm: The input tensor A must have at least 2 dimensions.")
        from .bind import public
        return public("linalg")["matrix_norm"](input, "nuc", (-2, -1) if dim is None else dim, keepdim, dtype=dtype)
    if p is None or p == "fro":
        p = 2.0
    if p not in ("fro", "nuc") and isinstance(p, str):
        raise RuntimeError(f"only valid string values are 'fro' and 'nuc', found {p}")
    return _norm(input, float(p), dim, keepdim, dtype)


@composite("dist(input, other, p: float=2)", out=False, amp={"cuda": "fp32"})
def dist(input, other, p):
    """p-norm of the difference."""
    return _norm(input - other, float(p), None)


@composite("renorm(input, p: float, dim: int, maxnorm: float)", inplace=True, amp={"cuda": "fp32"})
def renorm(input, p, dim, maxnorm):
    """Slices along a dimension, scaled down to norm `maxnorm` where larger."""
    if p <= 0:
        raise RuntimeError("renorm: non-positive-norm not supported")
    if input.dim() < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {input.dim()} dimensions")
    if maxnorm < 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm}")
    dim = dim_index(dim, input.dim())
    size = _norm(input, float(p), tuple(d for d in range(input.dim()) if d != dim), True)
    return input * where(size > maxnorm, maxnorm / (size + 1e-7), 1.0)


def _logsumexp_grad(g, input, out, dim, keepdim):
    g, out = restored(g, input.shape, dim, keepdim), restored(out, input.shape, dim, keepdim)
    if out.is_complex():
        return g * (input - out).exp().conj()
    return g * (input - out.masked_fill(out.isinf(), 0)).exp()


logsumexp = op("logsumexp(input, dim: object, keepdim: bool=False)", "logsumexp", rule=rules.float_like,
               on="torch method special", amp={"cuda": "fp32"}, vjp={"input": _logsumexp_grad})


@composite("trace(input)", out=False, amp={"cpu": "fp32"})
def trace(input):
    """Sum of the diagonal of a matrix."""
    if input.dim() != 2:
        raise RuntimeError("trace: expected a matrix")
    if input.dtype is dt.bool_:
        raise NotImplementedError("\"trace\" not implemented for 'Bool'")
    return input.diagonal().sum()


@composite("sum_to_size(input, *size)", on="method")
def sum_to_size(input, size):
    """Summed over dimensions so that `size` broadcasts back to the input."""
    size, shape = tuple(int(n) for n in size), input.shape
    if not size:
        return input.sum()
    extra = len(shape) - len(size)
    if extra < 0 or not _fits(size, shape[extra:]):
        raise RuntimeError(f"size {{{list(size)}}} is not expandable to size {{{list(shape)}}}.")
    dims = [d for d, n in enumerate(shape) if d < extra or size[d - extra] == 1 and n != 1]
    if not dims:
        return input
    return input.sum(dims, True).reshape(size)


def _fits(size, shape):
    return not [1 for n, m in zip(size, shape) if n != m and n != 1]
