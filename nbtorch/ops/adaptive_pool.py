"""Pooling to a given output size, evenly (adaptive) or at random borders (fractional).

Source: https://docs.pytorch.org/docs/stable/nn.functional.html#pooling-functions
"""
from ..core.dtype import int64
from ..core.op import composite, op
from ._nn import ints, unimplemented
from .pool import _MAX_VJP, _PAGE

_backward = op("_adaptive_avg_pool_backward(grad, input_shape: tuple)", "adaptive_avg_pool_backward", vjp={
    "grad": lambda g, grad_shape: _avg_ops[len(grad_shape) - 2](g, tuple(grad_shape[2:]))})
_avg_ops = {n: op(f"_adaptive_avg_pool{n}d(input, out_size: tuple)", f"adaptive_avg_pool{n}d",
                  node=f"AdaptiveAvgPool{n}D",
                  vjp={"input": lambda g, input_shape: _backward(g, input_shape)},
                  amp={"cpu": "fp32" if n == 3 else None, "cuda": None}) for n in (1, 2, 3)}
_binned_max = op("_binned_max_pool(input, starts: tuple, ends: tuple)", "binned_max_pool",
                 returns="adaptive_max_pool out indices", nondiff=("indices",), vjp=_MAX_VJP)


def _output_size(value, input, n, name):
    """The output size: one integer or n, None for the input's own."""
    if isinstance(value, int) or value is None:
        value = (value,) * n
    value = tuple(value)
    if len(value) != n:
        raise RuntimeError(f"{name}: output_size must be {n}")
    value = tuple(input.shape[i - n] if v is None else int(v) for i, v in enumerate(value))
    if any(v < 0 for v in value):
        raise RuntimeError(f"{name}: elements of output_size must be greater than or equal to 0 but received "
                           f"{{{', '.join(map(str, value))}}}")
    return value


def _check(input, n, name, sign):
    if input.dim() not in (n + 1, n + 2):
        raise RuntimeError(f"{name}(): Expected {n + 1}D or {n + 2}D tensor, but got{sign} {list(input.shape)}")
    for i in range(1, n + 1):
        if input.shape[-i] == 0:
            raise RuntimeError(f"{name}(): Expected input to have non-zero size for non-batch dimensions, but input "
                               "has "
                               f"sizes {list(input.shape)} with dimension {input.dim() - i} being empty")
    if not input.dtype.is_floating_point and (input.numel() or n == 3 or "max" in name):
        raise unimplemented(name + "_cpu" if n == 3 else name.replace("1d", "2d"), input)


def _declare_avg(n):
    @composite(f"adaptive_avg_pool{n}d(input, output_size: object)", on="torch F" if n == 1 else "F", out=False,
               doc=f"Means over bins that divide the space into output_size parts. {_PAGE}adaptive_avg_pool{n}d.html")
    def pool(input, output_size):
        name = f"adaptive_avg_pool{n}d"
        size = _output_size(output_size, input, n, name)
        _check(input, n, name, ":" if n == 1 else "")
        batched, added = (input, False) if input.dim() == n + 2 else (input.unsqueeze(0), True)
        out = _avg_ops[n](batched, size)
        return out.squeeze(0) if added else out
    return pool


adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d = (_declare_avg(n) for n in (1, 2, 3))


def _bins(size, out):
    return (tuple(i * size // out for i in range(out)), tuple(-(-(i + 1) * size // out) for i in range(out)))


def _boxes_max(input, n, boxes):
    batched, added = (input, False) if input.dim() == n + 2 else (input.unsqueeze(0), True)
    out, indices = _binned_max(batched, tuple(s for s, _ in boxes), tuple(e for _, e in boxes))
    return (out.squeeze(0), indices.squeeze(0)) if added else (out, indices)


def _declare_max(n):
    @composite(f"adaptive_max_pool{n}d_with_indices(input, output_size: object, return_indices: bool=False)", on="F",
               amp={"cpu": "fp32" if n == 3 else None, "cuda": None},
               doc=f"Maxima over bins that divide the space, and their positions. {_PAGE}adaptive_max_pool{n}d.html")
    def pool(input, output_size, return_indices):
        name = f"adaptive_max_pool{n}d"
        size = _output_size(output_size, input, n, name)
        _check(input, n, name, ":")
        return _boxes_max(input, n, [_bins(s, o) for s, o in zip(input.shape[-n:], size)])
    return pool


adaptive_max_pool1d_with_indices, adaptive_max_pool2d_with_indices, adaptive_max_pool3d_with_indices = (
    _declare_max(n) for n in (1, 2, 3))


@composite("adaptive_max_pool1d(input, output_size: object)", on="torch", out=False)
def adaptive_max_pool1d(input, output_size):
    """(maxima over bins, their positions).

    https://docs.pytorch.org/docs/stable/generated/torch.nn.AdaptiveMaxPool1d.html
    """
    return adaptive_max_pool1d_with_indices(input, output_size)


# ---- fractional: borders drawn at random (arXiv:1412.6071), one set for each example and channel

def _starts(sample, size, out, kernel):
    """Where the windows of one dimension start, from one uniform number."""
    found = []
    if out > 1:
        alpha = (size - kernel) / (out - 1)
        found = [int((i + sample) * alpha) - int(sample * alpha) for i in range(out - 1)]
    return (*found, size - kernel)


def _fractional_size(input, n, name, output_size, output_ratio):
    if output_size is None and output_ratio is None:
        raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
    if output_size is not None:
        return ints(output_size, n)
    ratio = output_ratio if isinstance(output_ratio, (list, tuple)) else (output_ratio,) * n
    return tuple(int(s * r) for s, r in zip(input.shape[-n:], ratio))


def _fractional(input, n, size, kernel, samples):
    """Pool every channel of every example by borders of its own."""
    from . import cat
    from .random import rand
    batch, channels = input.shape[:2]
    if not batch:
        shape = (0, channels, *size)
        return input.new_empty(shape) + 0 * input.sum(), input.new_empty(shape, dtype=int64)
    if samples is None:
        samples = rand(batch, channels, n, dtype=input.dtype)
    draws, rows = samples.tolist(), []
    # the samples of an image are (width, height), of a volume (time, height, width)
    order = range(n - 1, -1, -1) if n == 2 else range(n)
    for b in range(batch):
        planes = []
        for c in range(channels):
            starts = {d: _starts(draws[b][c][i], input.shape[2 + d], size[d], kernel[d]) for i, d in enumerate(order)}
            boxes = [(starts[d], tuple(s + kernel[d] for s in starts[d])) for d in range(n)]
            planes.append(_boxes_max(input[b:b + 1, c:c + 1], n, boxes))
        rows.append([cat([p[k] for p in planes], 1) for k in (0, 1)])
    return tuple(cat([r[k] for r in rows], 0) for k in (0, 1))


def _declare_fractional(n):
    name = f"fractional_max_pool{n}d"

    @composite(f"{name}_with_indices(input, kernel_size: object, output_size=None, output_ratio=None, "
               "return_indices: bool=False, _random_samples: Tensor=None)", on="F",
               amp={"cpu": "fp32", "cuda": None},
               doc=f"Maxima over windows at random places, and their positions. {_PAGE}{name}.html")
    def pool(input, kernel_size, output_size, output_ratio, return_indices, samples):
        kernel = ints(kernel_size, n)
        size = _fractional_size(input, n, name, output_size, output_ratio)
        if input.dim() not in (n + 1, n + 2):
            raise RuntimeError(f"{name}_out(): Expected {n + 1}D or {n + 2}D tensor, but got: {list(input.shape)}")
        for s, o, k in zip(input.shape[-n:], size, kernel):
            if o + k - 1 > s:
                raise RuntimeError(f"{name}_out(): pool size {k} too large relative to input size {s}")
        if not input.dtype.is_floating_point:
            raise unimplemented(f"{name}_out_frame", input)
        batched, added = (input, False) if input.dim() == n + 2 else (input.unsqueeze(0), True)
        out = _fractional(batched, n, size, kernel, samples)
        return tuple(t.squeeze(0) for t in out) if added else out
    return pool


fractional_max_pool2d_with_indices, fractional_max_pool3d_with_indices = _declare_fractional(2), _declare_fractional(3)
