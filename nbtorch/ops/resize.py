"""Padding, resizing and rearranging images.

Source: https://docs.pytorch.org/docs/stable/nn.functional.html#vision-functions
"""
import math
import warnings

from ..core.op import composite, op
from ._nn import ints, unimplemented

PAGE = "https://docs.pytorch.org/docs/stable/generated/torch.nn.functional."


# ---- padding

def _check_pad(input, pad, value=0):
    if len(pad) % 2:
        raise RuntimeError("Length of pad must be even but instead it equals " f"{len(pad)}")
    if len(pad) > 2 * input.dim():
        raise RuntimeError("Length of pad should be no more than twice the number of dimensions of the input. Pad "
                           "length is "
                           f"{len(pad)} while the input has {input.dim()} dimensions.")
    for i in range(len(pad) // 2):
        axis = input.dim() - 1 - i
        cut = input.shape[axis] + min(pad[2 * i], 0)
        if cut < 0 or cut + min(pad[2 * i + 1], 0) < 0:
            raise RuntimeError("narrow(): length must be non-negative.")
        if input.shape[axis] + pad[2 * i] + pad[2 * i + 1] < 0:
            raise RuntimeError(f"The input size {input.shape[axis]}, plus negative padding {pad[2 * i]} and "
                               f"{pad[2 * i + 1]}, "
                               f"resulted in a negative output size, which is invalid. Check dimension {axis} of "
                               "your input.")


_constant_pad = op("_constant_pad_nd(input, pad: tuple, value: float=0)", "constant_pad_nd", check=_check_pad,
                   node="ConstantPadNd", vjp={"input": lambda g, pad: _constant_pad(g, tuple(-p for p in pad), 0)})


@composite("constant_pad_nd(input, pad: object, value: float=0)", on="torch", out=False)
def constant_pad_nd(input, pad, value):
    """input with `value` around it: pad is (before, after) of the last dimension, then of the one before it, ..."""
    return _constant_pad(input, tuple(int(p) for p in pad), value)


_pad_mirror_backward = op("_pad_mirror_backward(grad, input_shape: tuple, pad: tuple, mode: str)",
                          "pad_mirror_backward",
                          vjp={"grad": lambda g, pad, mode: _pad_mirror(g, pad, mode)})
_MIRROR_VJP = {"input": lambda g, input_shape, pad, mode: _pad_mirror_backward(g, input_shape, pad, mode)}
_pad_mirror = op("_pad_mirror(input, pad: tuple, mode: str)", "pad_mirror", node="Pad", vjp=_MIRROR_VJP)
# autocast keeps these in float32 on the CPU: replication pads, and reflection pads of up to two dimensions
_pad_mirror_fp32 = op("_pad_mirror_fp32(input, pad: tuple, mode: str)", "pad_mirror", node="Pad", vjp=_MIRROR_VJP,
                      amp={"cpu": "fp32", "cuda": None})


def _mirrored(input, pad, mode):
    n, dims = len(pad) // 2, input.dim()
    if dims not in (n + 1, n + 2) or n > 3:
        raise NotImplementedError(f"Padding size {len(pad)} is not supported for {dims}D input tensor.")
    if mode == "replicate" and input.dtype.name == "bool":
        raise unimplemented(f"replication_pad{n}d", input)
    if any(s == 0 for s in input.shape[-n - (dims == n + 1):][-n - 1 if dims == n + 1 else -n:]):
        raise RuntimeError(f"Expected {n + 1}D or {n + 2}D (batch mode) tensor with possibly 0 batch size and other "
                           "non-zero "
                           f"dimensions for input, but got: {list(input.shape)}")
    for i in range(n):
        size, before, after = input.shape[dims - 1 - i], pad[2 * i], pad[2 * i + 1]
        if mode == "reflect" and (before >= size or after >= size):
            raise RuntimeError(f"Argument #{4 + 2 * i}: Padding size should be less than the corresponding input "
                               "dimension, but "
                               f"got: padding ({before}, {after}) at dimension {dims - 1 - i} of input "
                               f"{list(input.shape)}")
        if mode == "circular" and (before > size or after > size):
            raise RuntimeError("Padding value causes wrapping around more than once.")
        if size + before + after < (0 if mode == "circular" else 1):
            raise RuntimeError("Negative padding value is resulting in an empty dimension." if mode == "circular" else
                               f"input (size: {size}) is too small. Calculated output size: {size + before + after}")
    full = mode == "replicate" or mode == "reflect" and n < 3
    return (_pad_mirror_fp32 if full else _pad_mirror)(input, tuple(pad), mode)


@composite("pad(input, pad: object, mode: str='constant', value=None)", on="F")
def pad(input, pad, mode, value):
    """input padded by (before, after) of the last dimension, then of the one before it, ...

    mode constant, reflect, replicate or circular; negative sizes cut.
    https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.pad.html
    """
    pad = tuple(int(p) for p in pad)
    if len(pad) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    if len(pad) > 2 * input.dim():
        raise RuntimeError("Padding length should be less than or equal to two times the input dimension but got "
                           "padding "
                           f"length {len(pad)} and input of dimension {input.dim()}")
    if mode == "constant":
        return _constant_pad(input, pad, 0 if value is None else value)
    if value is not None and value != 0:
        raise ValueError(f"Padding mode \"{mode}\" doesn't take in value argument")
    if mode not in ("reflect", "replicate", "circular"):
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    return _mirrored(input, pad, mode)


# ---- interpolation

_resize_backward = op("_resize_backward(grad, input_shape: tuple, mode: str, scales: tuple, align_corners: bool, "
                      "antialias: bool)",
                      "resize_backward", vjp={"grad": lambda g, grad_shape, mode, scales, align_corners, antialias:
                          _resize(g, mode, tuple(grad_shape[2:]), scales, align_corners, antialias)})
_resize = op("_resize(input, mode: str, out_size: tuple, scales: tuple, align_corners: bool, antialias: bool)",
             "resize",
             node="Upsample", amp={"cpu": None, "cuda": "fp32"}, vjp={
    "input": lambda g, input_shape, mode, scales, align_corners, antialias:
        _resize_backward(g, input_shape, mode, scales, align_corners, antialias)})

MODES = {"linear": 3, "bilinear": 4, "bicubic": 4, "trilinear": 5, "lanczos": 4}
NAMES = "nearest | linear | bilinear | bicubic | trilinear | lanczos | area | nearest-exact"


def _target_size(input, size, scale_factor, recompute):
    """(output size, scale factors to compute positions with)."""
    n = input.dim() - 2
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is not None:
        size = list(size) if isinstance(size, (list, tuple)) else [int(size)] * n
        if len(size) != n:
            raise ValueError("Input and output must have the same number of spatial dimensions, but got input with "
                             "spatial "
                             f"dimensions of {list(input.shape[2:])} and output size of {tuple(size)}. Please "
                             "provide input "
                             "tensor in (N, C, d1, d2, ...,dK) format and output size in (o1, o2, ...,oK) format.")
        scales = (None,) * n
    elif scale_factor is not None:
        scales = tuple(scale_factor) if isinstance(scale_factor, (list, tuple)) else (scale_factor,) * n
        if len(scales) != n:
            raise ValueError("Input and scale_factor must have the same number of spatial dimensions, but got input "
                             "with "
                             f"spatial dimensions of {list(input.shape[2:])} and scale_factor of shape "
                             f"{list(scales)}. Please "
                             "provide input tensor in (N, C, d1, d2, ...,dK) format and scale_factor in (s1, s2, "
                             "...,sK) format.")
        scales = tuple(float(s) for s in scales)
        size = [math.floor(n_in * s) for n_in, s in zip(input.shape[2:], scales)]
    else:
        raise ValueError("either size or scale_factor should be defined")
    if recompute and scale_factor is None:
        raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
    return tuple(int(s) for s in size), (None,) * n if recompute else scales


def _check_mode(input, mode, align_corners, antialias):
    if mode not in MODES and mode not in ("nearest", "nearest-exact", "area") or input.dim() not in (3, 4, 5):
        raise NotImplementedError(f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {input.dim()}D) for "
                                  "the modes: "
                                  f"{NAMES} (got {mode})")
    if antialias and not (mode in ("bilinear", "bicubic", "lanczos") and input.dim() == 4):
        raise ValueError("Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires a 4-D "
                         "tensor as "
                         "input")
    if align_corners is not None and mode in ("nearest", "area", "nearest-exact"):
        raise ValueError("align_corners option can only be set with the interpolating modes: linear | bilinear | "
                         "bicubic | "
                         "trilinear")
    if mode in MODES and MODES[mode] != input.dim():
        raise NotImplementedError(f"Got {input.dim()}D input, but {mode} mode needs {MODES[mode]}D input")


def _check_dtype(input, mode):
    d = input.dtype
    if d.is_floating_point or d.name == "uint8" and mode in ("nearest", "nearest-exact", "bilinear", "bicubic",
                                                             "lanczos"):
        return
    n = input.dim() - 2
    names = {"nearest": f"upsample_nearest{n}d_channels_last" if n > 1 else "compute_indices_weights_nearest",
             "nearest-exact": f"upsample_nearest{n}d_channels_last" if n > 1 else "compute_indices_weights_nearest",
             "bilinear": "upsample_bilinear2d_channels_last", "trilinear": "upsample_trilinear3d_channels_last",
             "bicubic": "compute_indices_weights_cubic", "linear": "compute_indices_weights_linear"}
    raise unimplemented(names.get(mode, "upsample"), input)


@composite("interpolate(input, size=None, scale_factor=None, mode: str='nearest', align_corners=None, "
           "recompute_scale_factor=None, antialias: bool=False)", on="F")
def interpolate(input, size, scale_factor, mode, align_corners, recompute_scale_factor, antialias):
    """input (batch, channels, *space) resized to `size` or by `scale_factor`.

    https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.interpolate.html
    """
    _check_mode(input, mode, align_corners, antialias)
    out, scales = _target_size(input, size, scale_factor, recompute_scale_factor)
    if mode == "area":
        from . import adaptive_pool
        return getattr(adaptive_pool, f"adaptive_avg_pool{input.dim() - 2}d")(input, out)
    if any(s <= 0 for s in out) or any(s <= 0 for s in input.shape[2:]):
        names = ["D", "H", "W"][-len(out):] if len(out) > 1 else ["W"]
        have, want = (", ".join(f"{n}: {s}" for n, s in zip(names, sizes)) for sizes in (input.shape[2:], out))
        raise RuntimeError(f"Input and output sizes should be greater than 0, but got input ({have}) output ({want})")
    if 0 in input.shape[1:]:
        raise RuntimeError(f"Non-empty {input.dim()}D data tensor expected but got a tensor with sizes "
                           f"{list(input.shape)}")
    _check_dtype(input, mode)
    kind = {"bilinear": "linear", "trilinear": "linear", "bicubic": "cubic"}.get(mode, mode)
    return _resize(input, kind, out, scales, bool(align_corners), bool(antialias))


@composite("upsample(input, size=None, scale_factor=None, mode: str='nearest', align_corners=None)", on="F",
           doc=f"Deprecated name of interpolate. {PAGE}upsample.html")
def upsample(input, size, scale_factor, mode, align_corners):
    warnings.warn("`nn.functional.upsample` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=3)
    return interpolate(input, size, scale_factor, mode, align_corners)


@composite("upsample_nearest(input, size=None, scale_factor=None)", on="F",
           doc=f"Deprecated form of interpolate(mode='nearest'). {PAGE}upsample_nearest.html")
def upsample_nearest(input, size, scale_factor):
    warnings.warn("`nn.functional.upsample_nearest` is deprecated. Use `nn.functional.interpolate` instead.",
                  stacklevel=3)
    return interpolate(input, size, scale_factor, "nearest")


@composite("upsample_bilinear(input, size=None, scale_factor=None)", on="F",
           doc=f"Deprecated form of interpolate(mode='bilinear', align_corners=True). {PAGE}upsample_bilinear.html")
def upsample_bilinear(input, size, scale_factor):
    warnings.warn("`nn.functional.upsample_bilinear` is deprecated. Use `nn.functional.interpolate` instead.",
                  stacklevel=3)
    return interpolate(input, size, scale_factor, "bilinear", True)


# ---- patches

_SETTINGS = "kernel_size: tuple, dilation: tuple, padding: tuple, stride: tuple"
_col2im = op(f"_col2im(input, output_size: tuple, {_SETTINGS})", "col2im", node="Col2Im", vjp={
    "input": lambda g, kernel_size, dilation, padding, stride: _im2col(g, kernel_size, dilation, padding, stride)})
_im2col = op(f"_im2col(input, {_SETTINGS})", "im2col", node="Im2Col", vjp={
    "input": lambda g, input_shape, kernel_size, dilation, padding, stride:
        _col2im(g, tuple(input_shape[2:]), kernel_size, dilation, padding, stride)})


def _settings(kernel_size, dilation, padding, stride):
    values = [ints(v, 2) for v in (kernel_size, dilation, padding, stride)]
    for name, value, least in zip(("kernel size", "dilation", "padding", "stride"), values, (1, 1, 0, 1)):
        if any(v < least for v in value):
            kind = "non-negative" if least == 0 else "greater than zero"
            letters = {"kernel size": "kernel"}.get(name, name)
            raise RuntimeError(f"{name} should be {kind}, but got {letters}_height: {value[0]} {letters}_width: "
                               f"{value[1]}")
    return values


def _positions(size, kernel_size, dilation, padding, stride):
    return [(n + 2 * p - d * (k - 1) - 1) // s + 1
            for n, k, d, p, s in zip(size, kernel_size, dilation, padding, stride)]


@composite("unfold(input, kernel_size: object, dilation: object=1, padding: object=0, stride: object=1)", on="F",
           key="im2col", doc=f"Sliding patches of images (batch, channels, h, w) as columns. {PAGE}unfold.html")
def image_unfold(input, kernel_size, dilation, padding, stride):
    settings = _settings(kernel_size, dilation, padding, stride)
    if input.dim() not in (3, 4) or 0 in input.shape[-3:]:
        if input.dim() < 2:
            raise IndexError(f"Dimension out of range (expected to be in range of [{-max(input.dim(), 1)}, "
                             f"{max(input.dim(), 1) - 1}], but got {input.dim()})")
        raise RuntimeError("Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero "
                           "dimensions for "
                           f"input, but got: {list(input.shape)}")
    if input.dtype.category < 2 and input.dtype.name != "bool":
        raise unimplemented("im2col_out_cpu", input)
    if any(n < 1 for n in _positions(input.shape[-2:], *settings)):
        raise RuntimeError(f"Given input with spatial size ({input.shape[-2]}, {input.shape[-1]}), "
                           f"kernel_size={settings[0]}, "
                           f"dilation={settings[1]}, padding={settings[2]}, calculated shape of the array of sliding "
                           "blocks as "
                           f"{tuple(_positions(input.shape[-2:], *settings))}, but its components must be at least "
                           "one.")
    return _im2col(input, *settings) if input.dim() == 4 else _im2col(input.unsqueeze(0), *settings).squeeze(0)


@composite("fold(input, output_size: object, kernel_size: object, dilation: object=1, padding: object=0, stride: "
           "object=1)",
           on="F", doc=f"Adds columns of patches up into images; the adjoint of unfold. {PAGE}fold.html")
def fold(input, output_size, kernel_size, dilation, padding, stride):
    settings, output_size = _settings(kernel_size, dilation, padding, stride), ints(output_size, 2)
    if input.dim() not in (2, 3) or 0 in input.shape[-2:]:
        raise RuntimeError("Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero "
                           "dimensions "
                           f"for input, but got: {list(input.shape)}")
    area, channels = math.prod(settings[0]), input.shape[-2]
    if channels % area:
        raise RuntimeError("Expected size of input's dimension 1 to be divisible by the product of kernel_size, but "
                           "got "
                           f"input.size(1)={channels} and kernel_size={settings[0]}.")
    positions = _positions(output_size, *settings)
    if input.shape[-1] != math.prod(positions):
        raise RuntimeError(f"Given output_size={output_size}, kernel_size={settings[0]}, dilation={settings[1]}, "
                           f"padding={settings[2]}, stride={settings[3]}, expected size of input's dimension 2 to "
                           "match the "
                           f"calculated number of sliding blocks {positions[0]} * {positions[1]} = "
                           f"{math.prod(positions)}, but "
                           f"got input.size(2)={input.shape[-1]}.")
    if input.dim() == 3:
        return _col2im(input, output_size, *settings)
    return _col2im(input.unsqueeze(0), output_size, *settings).squeeze(0)
