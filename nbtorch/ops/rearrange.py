"""Moving elements between channels and space, and sampling images at given places.

Source: https://docs.pytorch.org/docs/stable/nn.functional.html#vision-functions
"""
import math
import warnings

from ..core.op import composite
from ._nn import unimplemented


@composite("pixel_shuffle(input, upscale_factor: int)", on="torch F", out=False)
def pixel_shuffle(input, upscale_factor):
    """(*, C r^2, H, W) to (*, C, H r, W r).

    https://docs.pytorch.org/docs/stable/generated/torch.nn.PixelShuffle.html
    """
    r = upscale_factor
    if input.dim() < 3:
        raise RuntimeError("pixel_shuffle expects input to have at least 3 dimensions, but got input with "
                           f"{input.dim()} "
                           "dimension(s)")
    if r <= 0:
        raise RuntimeError(f"pixel_shuffle expects a positive upscale_factor, but got {r}")
    *lead, c, h, w = input.shape
    if c % (r * r):
        raise RuntimeError("pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of "
                           f"upscale_factor, but input.size(-3)={c} is not divisible by {r * r}")
    n = len(lead)
    split = input.reshape(*lead, c // (r * r), r, r, h, w)
    return split.permute(*range(n), n, n + 3, n + 1, n + 4, n + 2).reshape(*lead, c // (r * r), h * r, w * r)


@composite("pixel_unshuffle(input, downscale_factor: int)", on="torch F", out=False)
def pixel_unshuffle(input, downscale_factor):
    """(*, C, H r, W r) to (*, C r^2, H, W).

    https://docs.pytorch.org/docs/stable/generated/torch.nn.PixelUnshuffle.html
    """
    r = downscale_factor
    if input.dim() < 3:
        raise RuntimeError("pixel_unshuffle expects input to have at least 3 dimensions, but got input with "
                           f"{input.dim()} "
                           "dimension(s)")
    if r <= 0:
        raise RuntimeError(f"pixel_unshuffle expects a positive downscale_factor, but got {r}")
    *lead, c, h, w = input.shape
    for name, dim, size in (("height", -2, h), ("width", -1, w)):
        if size % r:
            raise RuntimeError(f"pixel_unshuffle expects {name} to be divisible by downscale_factor, but "
                               f"input.size({dim})="
                               f"{size} is not divisible by {r}")
    n = len(lead)
    split = input.reshape(*lead, c, h // r, r, w // r, r)
    return split.permute(*range(n), n, n + 2, n + 4, n + 1, n + 3).reshape(*lead, c * r * r, h // r, w // r)


@composite("channel_shuffle(input, groups: int)", on="torch F", out=False)
def channel_shuffle(input, groups):
    """Interleaves groups of channels. https://docs.pytorch.org/docs/stable/generated/torch.nn.ChannelShuffle.html"""
    if input.dim() < 3:
        raise RuntimeError(f"channel_shuffle expects input with > 2 dims, but got input with sizes {list(input.shape)}")
    if groups <= 0:
        raise RuntimeError(f"Number of groups to divide channels in must be positive. Value of groups:{groups}")
    b, c, *space = input.shape
    if c % groups:
        raise RuntimeError(f"Number of channels must be divisible by groups. Got {c} channels and {groups} groups.")
    return input.reshape(b, groups, c // groups, *space).transpose(1, 2).reshape(input.shape)


@composite("native_channel_shuffle(input, groups: int)", on="torch F", out=False)
def native_channel_shuffle(input, groups):
    """channel_shuffle."""
    return channel_shuffle(input, groups)


# ---- sampling at given places

def _positions(grid, size, align_corners):
    """Coordinates in [-1, 1] as positions in a dimension of `size` elements."""
    if align_corners:
        return (grid + 1) * ((size - 1) / 2)
    return ((grid + 1) * size - 1) / 2


def _reflected(x, low, high):
    """Positions outside [low, high] / 2 mirrored at the borders as often as needed."""
    if low == high:
        return x * 0
    start, span = low / 2, (high - low) / 2
    x = (x - start).abs()
    flips = (x.detach() / span).floor()
    rest = x - flips * span
    return (flips % 2 == 0).to(x.dtype) * (2 * rest - span) + (span - rest) + start


def _limited(x, size, padding_mode, align_corners):
    if padding_mode == "reflection":
        x = _reflected(x, 0, 2 * (size - 1)) if align_corners else _reflected(x, -1, 2 * size - 1)
    if padding_mode in ("border", "reflection"):
        return x.clamp(0, size - 1)
    return x


def _picked(input, index, padded):
    """Elements (batch, channels, *out) at integer positions, one tensor per dimension (batch, *out); zeros outside."""
    batch, channels, *space = input.shape
    inside, flat = None, None
    for i, n in zip(index, space):
        if padded:
            ok = (i >= 0) & (i < n)
            inside = ok if inside is None else inside & ok
        i = i.clamp(0, n - 1)
        flat = i if flat is None else flat * n + i
    where = flat.reshape(batch, 1, -1).expand(batch, channels, flat.numel() // max(batch, 1))
    out = input.reshape(batch, channels, -1).gather(2, where).reshape(batch, channels, *flat.shape[1:])
    return out * inside.unsqueeze(1).to(out.dtype) if padded else out


def _corners(positions):
    """(weight, integer positions) of the neighbours for linear interpolation."""
    from ..core.dtype import int64
    found = [(None, ())]
    for x in positions:
        low = x.detach().floor()
        part = x - low
        low = low.to(int64)
        found = [(w if old is None else old * w, (*index, i)) for old, index in found
                 for w, i in ((1 - part, low), (part, low + 1))]
    return found


def _cubic_taps(x, a=-0.75):
    """(weight, offset) of the four neighbours of positions whose fraction is x."""
    def near(t):
        return ((a + 2) * t - (a + 3)) * t * t + 1

    def far(t):
        return ((a * t - 5 * a) * t + 8 * a) * t - 4 * a
    return ((far(x + 1), -1), (near(x), 0), (near(1 - x), 1), (far(2 - x), 2))


def _bicubic(input, positions, padding_mode, align_corners):
    from ..core.dtype import int64
    (h, w), total = input.shape[2:], 0
    y, x = positions
    y0, x0 = y.detach().floor(), x.detach().floor()
    for wy, dy in _cubic_taps(y - y0):
        iy = _limited(y0 + dy, h, padding_mode, align_corners)
        for wx, dx in _cubic_taps(x - x0):
            ix = _limited(x0 + dx, w, padding_mode, align_corners)
            value = _picked(input, (_whole(iy, int64), _whole(ix, int64)), padding_mode == "zeros")
            total = total + value * (wy * wx).unsqueeze(1)
    return total


def _whole(x, int64):
    return x.to(int64)


def _sample(input, grid, mode, padding_mode, align_corners):
    from ..core.dtype import int64
    space = input.shape[2:]
    # the grid's last dimension is (x, y, z): the last spatial dimension first
    positions = [_positions(grid[..., len(space) - 1 - i], n, align_corners) for i, n in enumerate(space)]
    if mode == "bicubic":
        return _bicubic(input, positions, padding_mode, align_corners)
    positions = [_limited(x, n, padding_mode, align_corners) for x, n in zip(positions, space)]
    padded = padding_mode == "zeros"
    if mode == "nearest":
        return _picked(input, [x.round().to(int64) for x in positions], padded)
    total = 0
    for weight, index in _corners(positions):
        total = total + _picked(input, index, True) * weight.unsqueeze(1)
    return total


def _check_grid(input, grid, mode):
    if input.dim() != grid.dim() or input.dim() not in (4, 5):
        raise RuntimeError("grid_sampler(): expected 4D or 5D input and grid with same number of dimensions, but got "
                           "input with "
                           f"sizes {list(input.shape)} and grid with sizes {list(grid.shape)}")
    if input.dtype is not grid.dtype:
        raise RuntimeError("grid_sampler(): expected input and grid to have same dtype, but input has "
                           f"{input.dtype.name} and grid has {grid.dtype.name}")
    if input.shape[0] != grid.shape[0]:
        raise RuntimeError("grid_sampler(): expected grid and input to have same batch size, but got input with sizes "
                           f"{list(input.shape)} and grid with sizes {list(grid.shape)}")
    if grid.shape[-1] != input.dim() - 2:
        raise RuntimeError(f"grid_sampler(): expected grid to have size {input.dim() - 2} in last dimension, but got "
                           "grid with "
                           f"sizes {list(grid.shape)}")
    for i, n in enumerate(input.shape[2:], 2):
        if n == 0:
            raise RuntimeError("grid_sampler(): expected input to have non-empty spatial dimensions, but input has "
                               "sizes "
                               f"{list(input.shape)} with dimension {i} being empty")
    if mode == "bicubic" and input.dim() == 5:
        raise RuntimeError("grid_sampler(): bicubic interpolation only supports 4D input")
    if not input.dtype.is_floating_point:
        raise unimplemented("grid_sampler_2d_cpu", input)


@composite("grid_sample(input, grid, mode: str='bilinear', padding_mode: str='zeros', align_corners=None)", on="F",
           amp={"cpu": "fp32", "cuda": "promote"})
def grid_sample(input, grid, mode, padding_mode, align_corners):
    """input (batch, channels, *space) at the places grid (batch, *out, 2 or 3) in [-1, 1].

    https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.grid_sample.html
    """
    if mode not in ("bilinear", "nearest", "bicubic"):
        raise ValueError("nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but "
                         "got: "
                         f"'{mode}'")
    if padding_mode not in ("zeros", "border", "reflection"):
        raise ValueError("nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or "
                         "'reflection', but got: "
                         f"'{padding_mode}'")
    if align_corners is None:
        warnings.warn("Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. "
                      "Please "
                      "specify align_corners=True if the old behavior is desired. See the documentation of "
                      "grid_sample for "
                      "details.", stacklevel=3)
    _check_grid(input, grid, mode)
    return _sample(input, grid, mode, padding_mode, bool(align_corners))


def _declare_sampler(name, dims):
    @composite(f"{name}(input, grid, interpolation_mode: int, padding_mode: int, align_corners: bool)", on="torch",
               amp={"cpu": "fp32", "cuda": "promote"}, out=False, doc="grid_sample with its modes as numbers.")
    def sampler(input, grid, interpolation_mode, padding_mode, align_corners):
        mode = ("bilinear", "nearest", "bicubic")[interpolation_mode]
        _check_grid(input, grid, mode)
        return _sample(input, grid, mode, ("zeros", "border", "reflection")[padding_mode], align_corners)
    return sampler


grid_sampler, grid_sampler_2d, grid_sampler_3d = (
    _declare_sampler(n, d) for n, d in (("grid_sampler", 0), ("grid_sampler_2d", 4), ("grid_sampler_3d", 5)))


def _base(theta, n, align_corners):
    from . import linspace
    line = linspace(-1, 1, n, dtype=theta.dtype) if n > 1 else theta.new_zeros((max(n, 0),))
    return line if align_corners else line * ((n - 1) / max(n, 1))


@composite("affine_grid(theta, size: object, align_corners=None)", on="F")
def affine_grid(theta, size, align_corners):
    """Sampling places for grid_sample from affine matrices theta (batch, 2, 3) or (batch, 3, 4).

    https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.affine_grid.html
    """
    if align_corners is None:
        warnings.warn("Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. "
                      "Please "
                      "specify align_corners=True if the old behavior is desired. See the documentation of "
                      "grid_sample for "
                      "details.", stacklevel=3)
    if not theta.dtype.is_floating_point:
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    n = len(size) - 2
    if n not in (2, 3):
        raise NotImplementedError("affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, "
                                  "respectively. "
                                  f"Got size {tuple(size)}")
    if theta.dim() != 3 or tuple(theta.shape[1:]) != (n, n + 1):
        raise ValueError(f"Expected a batch of {n}D affine matrices of shape Nx{n}x{n + 1} for size {tuple(size)}. Got "
                         f"{tuple(theta.shape)}.")
    if min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {tuple(size)}")
    from . import stack
    space = tuple(size[2:])
    axes = []
    for i in range(n - 1, -1, -1):                # x first
        line = _base(theta, space[i], bool(align_corners))
        axes.append(line.reshape([-1 if d == i else 1 for d in range(n)]).expand(space))
    axes.append(theta.new_ones(space))
    points = stack(axes, -1).reshape(1, math.prod(space), n + 1)
    return points.expand(size[0], math.prod(space), n + 1).matmul(theta.transpose(1, 2)).reshape(size[0], *space, n)
