"""Pooling. Source: https://docs.pytorch.org/docs/stable/nn.functional.html#pooling-functions

The inner ops work on (batch, channels, *space); the public functions also take inputs without a batch.
"""
from ..core.op import composite, op
from ._nn import ints, unimplemented

WORDS = {2: "two", 3: "three"}


def _size(value, n, name, kernel, optional=False):
    if n == 1:
        return ints(value, 1, lambda v: RuntimeError(f"{kernel}() {name} must be an int or a list of one int"))
    what = "omitted, " if optional else ""
    return ints(value, n, lambda v: RuntimeError(
        f"{kernel}: {name} must {'either ' if not optional else 'either be '}{what}be a single int, or a tuple of "
        f"{WORDS[n]} ints"
        .replace("be omitted, be", "be omitted,")))


def _out_size(size, kernel_size, stride, padding, dilation, ceil_mode):
    found = []
    for n, k, s, p, d in zip(size, kernel_size, stride, padding, dilation):
        out = (n + 2 * p - d * (k - 1) - 1 + (s - 1 if ceil_mode else 0)) // s + 1
        if ceil_mode and (out - 1) * s >= n + p:
            out -= 1                              # the last window must start inside the image or its left padding
        found.append(out)
    return tuple(found)


def _x(sizes):
    return "x".join(map(str, sizes))


def _batched(input, n, complaint):
    """(input with a batch dimension, whether it was added); only the batch may be empty."""
    dims, shape = input.dim(), input.shape
    if dims not in (n + 1, n + 2) or 0 in shape[dims - n - 1 if dims == n + 2 else 0:]:
        raise RuntimeError(complaint)
    return (input, False) if dims == n + 2 else (input.unsqueeze(0), True)


def _geometry(name, n, input, kernel_size, stride, padding, dilation):
    """The four settings as tuples, checked in PyTorch's words."""
    kernel_size = _size(kernel_size, n, "kernel_size", name)
    empty = stride is None or isinstance(stride, (list, tuple)) and not stride
    stride = kernel_size if empty else _size(stride, n, "stride", name)
    padding, dilation = _size(padding, n, "padding", name), _size(dilation, n, "dilation", name)
    if n == 1 and name == "max_pool1d":
        return _checked_max1(kernel_size, stride, padding, dilation)
    if any(s == 0 for s in stride):
        raise RuntimeError("stride should not be zero")
    if any(k <= 0 for k in kernel_size) or any(s < 0 for s in stride):
        raise RuntimeError("kernel size should be greater than zero, but got "
                           + " ".join(f"k{a}: {k}" for a, k in zip("TDHW"[-n:], kernel_size)))
    if any(d <= 0 for d in dilation):
        raise RuntimeError("dilation should be greater than zero, but got "
                           + " ".join(f"dilation{a}: {d}" for a, d in zip("THW"[-n:], dilation)))
    for k, p, d in zip(kernel_size, padding, dilation):
        if p < 0:
            raise RuntimeError(f"pad must be non-negative, but got pad: {p}")
        if p > (d * (k - 1) + 1) // 2:
            raise RuntimeError("pad should be at most half of effective kernel size, but got "
                               f"pad={p}, kernel_size={k} and dilation={d}")
    return kernel_size, stride, padding, dilation


def _checked_max1(kernel_size, stride, padding, dilation):
    (k,), (s,), (p,), (d,) = kernel_size, stride, padding, dilation
    if k <= 0:
        raise RuntimeError(f"max_pool1d() kernel_size must be greater than zero, but got {k}")
    if s <= 0:
        raise RuntimeError(f"max_pool1d() stride must be greater than zero, but got {s}")
    if p < 0:
        raise RuntimeError(f"max_pool1d() padding must be non-negative, but got {p}")
    if p > k // 2:
        raise RuntimeError("max_pool1d() padding should be at most half of kernel size, but got "
                           f"padding={p} and kernel_size={k}")
    if d <= 0:
        raise RuntimeError(f"max_pool1d() dilation must be greater than zero, but got {d}")
    return kernel_size, stride, padding, dilation


def _check_out(name, input, out, n):
    if all(o > 0 for o in out):
        return
    if name == "max_pool1d":
        raise RuntimeError(f"max_pool1d() Invalid computed output size: {out[0]}")
    size, shown = input.shape[1:], (input.shape[1], *out)
    if n == 1:
        size, shown = (size[0], 1, size[1]), (shown[0], 1, shown[1])
    raise RuntimeError(f"Given input size: ({_x(size)}). Calculated output size: ({_x(shown)}). Output size is too "
                       "small")


# ---- maximum

_scatter = op("_max_pool_backward(grad, indices, input_shape: tuple)", "max_pool_backward",
              vjp={"grad": lambda g, indices: _gather(g, indices)})
_gather = op("_gather_windows(input, indices)", "gather_windows",
             vjp={"input": lambda g, indices, input_shape: _scatter(g, indices, input_shape)})
_MAX_VJP = {"input": lambda g, indices, input_shape: _scatter(g, indices, input_shape)}
_max_ops = {n: op(f"_max_pool{n}d_with_indices(input, kernel_size: tuple, stride: tuple, padding: tuple, dilation: "
                  "tuple, "
                  "out_size: tuple)", f"max_pool{n}d_with_indices", returns=f"max_pool{n}d_with_indices out indices",
                  nondiff=("indices",), vjp=_MAX_VJP, node=f"MaxPool{n}DWithIndices",
                  amp={"cpu": "fp32" if n == 3 else None, "cuda": None}) for n in (1, 2, 3)}


def _max_pool(n, input, kernel_size, stride, padding, dilation, ceil_mode):
    name = f"max_pool{n}d"
    complaint = (f"max_pool1d: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for input, but "
                 f"got:{list(input.shape)}" if n == 1 else
                 f"non-empty {n + 1}D or {n + 2}D (batch mode) tensor expected for input")
    geometry = _geometry(name, n, input, kernel_size, stride, padding, dilation)
    batched, added = _batched(input, n, complaint)
    out = _out_size(batched.shape[2:], *geometry, ceil_mode)
    _check_out(name, batched, out, n)
    if input.dtype.name == "bool" or input.dtype.is_complex:
        raise unimplemented("max_pool1d_impl" if n == 1 else name, input)
    values, indices = _max_ops[n](batched, *geometry, out)
    return (values.squeeze(0), indices.squeeze(0)) if added else (values, indices)


_POOL = "(input, kernel_size: object, stride=None, padding=0, dilation=1, ceil_mode: bool=False)"
_PAGE = "https://docs.pytorch.org/docs/stable/generated/torch.nn.functional."


def _declare_max(n):
    doc = f"The largest element of each window of input (batch, channels, *space). {_PAGE}max_pool{n}d.html"

    def values(input, kernel_size, stride, padding, dilation, ceil_mode):
        if n == 1 and not input.dtype.is_floating_point:       # only the form with positions takes whole numbers
            _max_pool(n, input, kernel_size, stride, padding, dilation, ceil_mode)
            raise unimplemented("max_pool1d_impl", input)
        return _max_pool(n, input, kernel_size, stride, padding, dilation, ceil_mode)[0]

    def both(input, kernel_size, stride, padding, dilation, ceil_mode):
        return _max_pool(n, input, kernel_size, stride, padding, dilation, ceil_mode)

    return (composite(f"max_pool{n}d{_POOL}", on="torch", out=False, doc=doc)(values),
            composite(f"max_pool{n}d_with_indices{_POOL}", on="torch" if n == 1 else "none", out=False,
                      doc=doc + " Also their flat positions.")(both))


max_pool1d, max_pool1d_with_indices = _declare_max(1)
max_pool2d, max_pool2d_with_indices = _declare_max(2)
max_pool3d, max_pool3d_with_indices = _declare_max(3)

_unpool = op("_max_unpool(input, indices, space: tuple)", "max_unpool",
             vjp={"input": lambda g, indices: _gather(g, indices)},
             amp={"cpu": "fp32", "cuda": None})


def _unpool_size(input, kernel_size, stride, padding, output_size):
    n = len(kernel_size)
    default = [(size - 1) * s + k - 2 * p for size, s, k, p in zip(input.shape[-n:], stride, kernel_size, padding)]
    if output_size is None:
        return tuple(default)
    output_size = tuple(output_size)
    if len(output_size) == n + 2:
        output_size = output_size[2:]
    if len(output_size) != n:
        raise ValueError(f"output_size should be a sequence containing {n} or {n + 2} elements, but it has a length of "
                         f"'{len(output_size)}'")
    for d in range(n):
        low, high = default[d] - stride[d], default[d] + stride[d]
        if not low < output_size[d] < high:
            raise ValueError(f"invalid output_size \"{list(output_size)}\" (dim {d} must be between {low} and {high})")
    return tuple(int(v) for v in output_size)


def _declare_unpool(n):
    @composite(f"max_unpool{n}d(input, indices, kernel_size: object, stride=None, padding=0, output_size=None)", on="F",
               doc=f"Puts pooled values back at their positions, zeros elsewhere. {_PAGE}max_unpool{n}d.html")
    def max_unpool(input, indices, kernel_size, stride, padding, output_size):
        kernel_size = ints(kernel_size, n)
        stride, padding = kernel_size if stride is None else ints(stride, n), ints(padding, n)
        space = _unpool_size(input, kernel_size, stride, padding, output_size)
        _check_unpool(n, input, indices, space)
        batched, added = _batched(input, n, f"Input to max_unpooling{n}d should be a {n + 1}d or {n + 2}d Tensor")
        out = _unpool(batched, indices.unsqueeze(0) if added else indices, space)
        return out.squeeze(0) if added else out
    return max_unpool


def _check_unpool(n, input, indices, space):
    if indices.dtype.name != "int64":
        raise RuntimeError(f"elements in indices should be type int64 but got: {indices.dtype.name}")
    if input.shape != indices.shape:
        raise RuntimeError("Expected shape of indices to be same as that of the input tensor "
                           f"({list(input.shape)}) but got indices tensor with shape: {list(indices.shape)}")
    size = 1
    for s in space:
        size *= s
    if indices.numel() and (int(indices.min()) < 0 or int(indices.max()) >= size):
        raise RuntimeError("Found an invalid max index: "
                           f"{int(indices.max()) if int(indices.max()) >= size else int(indices.min())} (output "
                           "volumes are "
                           f"of size {_x(space)}")


max_unpool1d, max_unpool2d, max_unpool3d = (_declare_unpool(n) for n in (1, 2, 3))


# ---- mean

_avg_backward = op("_avg_pool_backward(grad, input_shape: tuple, kernel_size: tuple, stride: tuple, padding: tuple, "
                   "include_pad: bool, divisor: object)", "avg_pool_backward", vjp={
    "grad": lambda g, grad_shape, kernel_size, stride, padding, include_pad, divisor:
        _avg_ops[len(kernel_size)](g, kernel_size, stride, padding, tuple(grad_shape[2:]), include_pad, divisor)})
_AVG_VJP = {"input": lambda g, input_shape, kernel_size, stride, padding, include_pad, divisor:
            _avg_backward(g, input_shape, kernel_size, stride, padding, include_pad, divisor)}
_avg_ops = {n: op(f"_avg_pool{n}d(input, kernel_size: tuple, stride: tuple, padding: tuple, out_size: tuple, "
                  "include_pad: bool, divisor: object)", f"avg_pool{n}d", node=f"AvgPool{n}D", vjp=_AVG_VJP,
                  amp={"cpu": "fp32" if n == 3 else None, "cuda": None}) for n in (1, 2, 3)}


def _avg_pool(n, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override):
    name = f"avg_pool{n}d"
    kernel_size, stride, padding, _ = _geometry(name, n, input, kernel_size, stride, padding, 1)
    if divisor_override == 0:
        raise RuntimeError("divisor must be not zero")
    if n > 1 and input.dim() < n + 1:
        low = max(input.dim(), 1)
        raise IndexError(f"Dimension out of range (expected to be in range of [{-low}, {low - 1}], but got {-n - 1})")
    complaint = (f"Expected 2 to 3 dimensions, but got {input.dim()}-dimensional tensor for argument #1 'self' (while "
                 "checking arguments for avg_pool1d)" if n == 1 else
                 f"non-empty {n + 1}D or {n + 2}D (batch mode) tensor expected for input")
    batched, added = _batched(input, n, complaint)
    out = _out_size(batched.shape[2:], kernel_size, stride, padding, (1,) * n, ceil_mode)
    _check_out(name, batched, out, n)
    if input.dtype.name == "bool":
        raise unimplemented(name if n > 1 else "avg_pool2d", input)
    result = _avg_ops[n](batched, kernel_size, stride, padding, out, bool(count_include_pad), divisor_override)
    return result.squeeze(0) if added else result


@composite("avg_pool1d(input, kernel_size: object, stride=None, padding=0, ceil_mode: bool=False, "
           "count_include_pad: bool=True)", on="torch F", out=False,
           doc=f"The mean of each window of input (batch, channels, length). {_PAGE}avg_pool1d.html")
def avg_pool1d(input, kernel_size, stride, padding, ceil_mode, count_include_pad):
    return _avg_pool(1, input, kernel_size, stride, padding, ceil_mode, count_include_pad, None)


def _declare_avg(n):
    @composite(f"avg_pool{n}d(input, kernel_size: object, stride=None, padding=0, ceil_mode: bool=False, "
               "count_include_pad: bool=True, divisor_override=None)", on="F",
               doc=f"The mean of each window of input (batch, channels, *space). {_PAGE}avg_pool{n}d.html")
    def avg_pool(input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override):
        return _avg_pool(n, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
    return avg_pool


avg_pool2d, avg_pool3d = _declare_avg(2), _declare_avg(3)


def _declare_lp(n):
    @composite(f"lp_pool{n}d(input, norm_type: float, kernel_size: object, stride=None, ceil_mode: bool=False)", on="F",
               doc=f"(sum of x^norm_type)^(1/norm_type) over each window. {_PAGE}lp_pool{n}d.html")
    def lp_pool(input, norm_type, kernel_size, stride, ceil_mode):
        kernel_size = ints(kernel_size, n)
        area = 1
        for k in kernel_size:
            area *= k
        out = _avg_pool(n, input.pow(norm_type), kernel_size, stride, 0, ceil_mode, True, None)
        return (out.sign() * out.abs().relu()).mul(area).pow(1.0 / norm_type)
    return lp_pool


lp_pool1d, lp_pool2d, lp_pool3d = (_declare_lp(n) for n in (1, 2, 3))
