"""Functions made of other ops that belong to no single family: differences, integrals, covariances."""
import math

from ..core import dtype as dt
from ..core.op import OPS, alias, composite
from ..core.tensor import Tensor, dim_index
from . import rules
from .join import cat
from .view import _slice, broadcast_shapes


@composite("diff(input, n: int=1, dim: int=-1, prepend=None, append=None)")
def diff(input, n, dim, prepend, append):
    """n-th differences of neighbours along a dimension."""
    if not input.dim():
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    dim = dim_index(dim, input.dim())
    for name, t in (("prepend", prepend), ("append", append)):
        if t is not None and t.dim() != input.dim():
            raise RuntimeError("diff expects prepend or append to be the same dimension as input")
        differs = [] if t is None else [d for d, (a, b) in enumerate(zip(t.shape, input.shape)) if d != dim and a != b]
        if differs:
            raise RuntimeError("diff expects the shape of tensor to prepend or append to match that of input except "
                               f"along the differencing dimension; input.size({differs[0]}) = {input.shape[differs[0]]}, "
                               f"but got tensor.size({differs[0]}) = {t.shape[differs[0]]}")
    parts = [t for t in (prepend, input, append) if t is not None]
    if n == 0:
        return input.clone()
    out = cat(parts, dim) if len(parts) > 1 else input
    for _ in range(min(n, out.shape[dim])):
        size = out.shape[dim]
        high, low = _slice(out, dim, 1, size, 1), _slice(out, dim, 0, max(size - 1, 0), 1)
        out = high ^ low if out.dtype is dt.bool_ else high - low
    return out


@composite("result_type(tensor1, tensor2)", on="torch", out=False)
def result_type(tensor1, tensor2):
    """The dtype an arithmetic op on the two operands (tensors or Python numbers) gives."""
    return rules.result_type(tensor1, tensor2)


@composite("promote_types(type1, type2)", on="torch", out=False)
def promote_types(type1, type2):
    """The smallest dtype both dtypes can be cast to without losing their category."""
    return rules.promote_types(type1, type2)


@composite("can_cast(from_, to)", on="torch", out=False)
def can_cast(from_, to):
    """Whether PyTorch's casting rules allow `from_` to be stored as `to`."""
    return rules.can_cast(from_, to)


@composite("broadcast_shapes(*shapes)", on="torch", out=False)
def _broadcast_shapes(shapes):
    """The shape that operands of these shapes broadcast to."""
    return broadcast_shapes(*shapes)


OPS["broadcast_shapes"].function = broadcast_shapes      # one tuple is one shape here, not a list of shapes

# ---- integrals

def _pairs(y, dim):
    n = y.shape[dim]
    return _slice(y, dim, 0, max(n - 1, 0), 1), _slice(y, dim, 1, n, 1)


def _steps(y, x, dim):
    """Widths of the intervals of sample points, shaped to broadcast against pairs of y."""
    if x.dim() == 1:
        if x.shape[0] != y.shape[dim]:
            raise RuntimeError("trapezoid: There must be one `x` value for each sample point")
        shape = [1] * y.dim()
        shape[dim] = -1
        low, high = _pairs(x, 0)
        return (high - low).reshape(shape)
    if x.dim() != y.dim():
        x = x.reshape((1,) * (y.dim() - x.dim()) + tuple(x.shape))
    low, high = _pairs(x, dim)
    return high - low


def _areas(y, x, dx, dim):
    if y.dtype is dt.bool_:
        raise RuntimeError("trapezoid: received a bool input for `y`, but bool is not supported")
    dim = dim_index(dim, y.dim())
    low, high = _pairs(y, dim)
    if x is not None:
        if x.dtype is dt.bool_:
            raise RuntimeError("trapezoid: received a bool input for `x`, but bool is not supported")
        return (low + high) * _steps(y, x, dim) / 2.0, dim
    if isinstance(dx, complex) or isinstance(dx, Tensor) and dx.dim():
        raise RuntimeError("trapezoid: Currently, we only support dx as a real number.")
    return (low + high) * (1 if dx is None else dx) / 2.0, dim


@composite("trapezoid(y, x=None, *, dx=None, dim: int=-1)", on="torch", out=False)
def trapezoid(y, x, dx, dim):
    """Integral along a dimension by the trapezoidal rule."""
    if not y.shape[dim_index(dim, y.dim())] if y.dim() else False:
        return y.new_zeros(tuple(n for d, n in enumerate(y.shape) if d != dim_index(dim, y.dim())))
    areas, dim = _areas(y, x, dx, dim)
    return areas.sum(dim)


alias("trapz", trapezoid)


@composite("cumulative_trapezoid(y, x=None, *, dx=None, dim: int=-1)", on="torch", out=False)
def cumulative_trapezoid(y, x, dx, dim):
    """Running integral along a dimension by the trapezoidal rule."""
    areas, dim = _areas(y, x, dx, dim)
    return areas.cumsum(dim)


# ---- numerical gradient

def _gradient_along(t, dim, spacing, edge_order):
    n = t.shape[dim]
    if n < edge_order + 1:
        raise RuntimeError("torch.gradient expected each dimension size to be at least edge_order+1")

    def at(start, stop):
        return _slice(t, dim, start, stop, 1)
    if not isinstance(spacing, Tensor):
        inner = (at(2, n) - at(0, n - 2)) / spacing / 2
        if edge_order == 1:
            first, last = (at(1, 2) - at(0, 1)) / spacing, (at(n - 1, n) - at(n - 2, n - 1)) / spacing
        else:
            first = (at(0, 1) * -1.5 + at(1, 2) * 2 - at(2, 3) * 0.5) / spacing
            last = (at(n - 1, n) * 1.5 - at(n - 2, n - 1) * 2 + at(n - 3, n - 2) * 0.5) / spacing
        return cat([first, inner, last], dim)
    shape = [1] * t.dim()
    shape[dim] = -1
    h = (spacing[1:] - spacing[:-1]).reshape(shape)

    def step(i):
        return _slice(h, dim, i % (n - 1), i % (n - 1) + 1, 1)
    left, right = _slice(h, dim, 0, n - 2, 1), _slice(h, dim, 1, n - 1, 1)
    inner = -right / (left * (left + right)) * at(0, n - 2) + (right - left) / (left * right) * at(1, n - 1) \
        + left / (right * (left + right)) * at(2, n)
    if edge_order == 1:
        return cat([(at(1, 2) - at(0, 1)) / step(0), inner, (at(n - 1, n) - at(n - 2, n - 1)) / step(-1)], dim)
    a, b = step(0), step(1)
    first = -(2 * a + b) / (a * (a + b)) * at(0, 1) + (a + b) / (a * b) * at(1, 2) - a / (b * (a + b)) * at(2, 3)
    a, b = step(-2), step(-1)
    last = b / (a * (a + b)) * at(n - 3, n - 2) - (a + b) / (a * b) * at(n - 2, n - 1) \
        + (a + 2 * b) / (b * (a + b)) * at(n - 1, n)
    return cat([first, inner, last], dim)


@composite("gradient(input, *, spacing=1, dim=None, edge_order: int=1)", on="torch", out=False)
def gradient(input, spacing, dim, edge_order):
    """Numerical derivative along dimensions: central differences inside, one-sided at the edges; a tuple."""
    dims = range(input.dim()) if dim is None else (dim,) if isinstance(dim, int) else dim
    dims = [dim_index(d, input.dim()) for d in dims]
    if len(set(dims)) != len(dims):
        raise RuntimeError("dim appears multiple times in the list of dims")
    if edge_order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    if input.dtype is dt.uint8:
        raise RuntimeError("torch.gradient does not support uint8 input.")
    spacing = 1 if spacing is None else spacing
    if isinstance(spacing, (list, tuple)):
        if len(spacing) != len(dims):
            raise RuntimeError(
                "torch.gradient expected spacing to be unspecified, a scalar, or a list of length equal to 'dim'"
            )
    else:
        spacing = [spacing] * len(dims)
    return tuple(_gradient_along(input, d, s, edge_order) for d, s in zip(dims, spacing))


# ---- covariance

def _weights(w, n, name, whole):
    if w is None:
        return None
    if w.dim() > 1:
        raise RuntimeError(
            f"cov(): expected {name} to have one or fewer dimensions but got {name} with {w.dim()} dimensions"
        )
    if whole and w.dtype.category != 1:
        raise RuntimeError(f"cov(): expected fweights to have integral dtype but got fweights with "
                           f"{dt.scalar_name(w.dtype)} dtype")
    if w.numel() != n:
        raise RuntimeError(
            f"cov(): expected {name} to have the same numel as there are observations in the input but got "
            f"{w.numel()} != {n}"
        )
    if n and bool((w < 0).any()):
        raise RuntimeError(f"cov(): {name} cannot be negative")
    return w


@composite("cov(input, *, correction: int=1, fweights=None, aweights=None)", out=False)
def cov(input, correction, fweights, aweights):
    """Covariance matrix of variables (rows) over observations (columns)."""
    if input.dim() > 2:
        raise RuntimeError("cov(): expected input to have two or fewer dimensions but got an input with "
                           f"{input.dim()} dimensions")
    if input.dtype is dt.bool_:
        raise RuntimeError("cov(): bool dtype is not supported for input")
    x = input.reshape(1, -1) if input.dim() < 2 else input
    n = x.shape[1]
    f, a = _weights(fweights, n, "fweights", True), _weights(aweights, n, "aweights", False)
    w = f if a is None else a if f is None else f * a
    total = w.sum() if w is not None else n
    if w is not None and float(total) == 0:
        raise RuntimeError("cov(): weights sum to zero, can't be normalized")
    if not n:
        mean = x.sum(1, True) * math.nan
    else:
        mean = (x * w if w is not None else x).sum(1, True) / total
    if w is None or correction == 0:
        norm = total - correction if w is None else total
    elif a is None:
        norm = total - correction
    else:
        norm = total - correction * (w * a).sum() / total
    norm = norm.clamp(min=0) if isinstance(norm, Tensor) else max(norm, 0)
    off = x - mean
    weighted = off * w if w is not None else off
    out = (off @ weighted.to(off.dtype).t().conj()) / norm
    return out.reshape(()) if out.numel() == 1 else out


@composite("corrcoef(input)", out=False)
def corrcoef(input):
    """Correlation coefficients of variables (rows) over observations (columns)."""
    if input.dim() > 2:
        raise RuntimeError("corrcoef(): expected input to have two or fewer dimensions but got an input with "
                           f"{input.dim()} dimensions")
    c = cov(input)
    if not c.dim():
        return c / c
    size = c.diagonal()
    size = (size.real if size.is_complex() else size).sqrt()
    c = c / size.unsqueeze(-1) / size.unsqueeze(0)
    if c.is_complex():
        return OPS["complex"].function(c.real.clamp(-1, 1), c.imag.clamp(-1, 1))
    return c.clamp(-1, 1)
