"""Normal numbers, by PyTorch's two ways: Box-Muller pairs in float64, and blocks of sixteen in place.

Blocks are used from 16 elements up when the tensor is contiguous. float32 and half precision are PyTorch's to
the last bit; in float64 the random words are the same and the results equal to two last bits (logarithm, sine
and cosine are NumPy's).
"""
import math

import numpy as np

from . import registry
from .rng import CHUNK, single
from .rng_fill import fma, unit32

BLOCK = 16


def pairs(stream, n, mean=0.0, std=1.0):
    """n float64 normals, two of each pair of uniforms; an odd one out is kept in the stream for the next call."""
    out = np.empty(n)
    start = 0
    if n and stream.normal is not None:
        out[0], stream.normal, start = stream.normal, None, 1
    for first in range(start, n, CHUNK // 2):
        last = min(first + CHUNK // 2, n)
        count = (last - first + 1) // 2
        u = _few_pairs(stream.doubles(2 * count)) if count <= BLOCK else _many_pairs(stream.doubles(2 * count))
        out[first:last] = u[:last - first]
        if last - first < 2 * count:
            stream.normal = float(u[-1])
    if std != 1:
        return fma(out, std, mean)
    return out + mean if mean else out


def _few_pairs(u):
    """Box-Muller by the C library's functions, which are PyTorch's: the same bits."""
    u = u.tolist()
    for i in range(0, len(u), 2):
        radius, angle = math.sqrt(-2.0 * math.log1p(-u[i + 1])), 2.0 * math.pi * u[i]
        u[i], u[i + 1] = radius * math.cos(angle), radius * math.sin(angle)
    return u


def _many_pairs(u):
    """Box-Muller by NumPy's vector functions: equal to the last bits."""
    radius = np.sqrt(-2.0 * np.log1p(-u[1::2]))
    angle = 2.0 * np.pi * u[0::2]
    u[0::2] = radius * np.cos(angle)
    u[1::2] = radius * np.sin(angle)
    return u


def _blocks64(u, mean, std):
    u = u.reshape(-1, BLOCK)
    radius = np.sqrt(-2.0 * np.log(1.0 - u[:, :8]))
    angle = 2.0 * np.pi * u[:, 8:]
    u[:, :8] = radius * np.cos(angle)
    u[:, 8:] = radius * np.sin(angle)
    return (u if std == 1 and mean == 0 else fma(u, std, mean)).reshape(-1)


PIECE = 1 << 18                                   # elements transformed at a time: 1 MiB of float32


def _blocks(stream, out, mean, std):
    """Whole blocks into a flat array."""
    if out.dtype == np.float64:
        for first in range(0, out.size, CHUNK // 2):
            part = out[first:first + CHUNK // 2]
            part[...] = _blocks64(stream.doubles(part.size), mean, std)
        return
    for first in range(0, out.size, PIECE):
        part = out[first:first + PIECE]
        u = part if part.dtype == np.float32 else np.empty(part.size, np.float32)
        for start in range(0, u.size, CHUNK):
            u[start:start + CHUNK] = unit32(stream, min(CHUNK, u.size - start))
        registry.run("normal_blocks", u, mean, std)
        if u is not part:
            part[...] = u


def blocks(stream, out, mean=0.0, std=1.0):
    """Fill a flat array of 16 elements or more. A tail draws 16 new uniforms and replaces the last 16 elements."""
    n, tail = out.size, out.size % BLOCK
    _blocks(stream, out[:n - tail], mean, std)
    if tail:
        if out.dtype.itemsize > 2:                # float32 and float64 draw for the tail, too, and throw it away
            stream.words(tail * (2 if out.dtype == np.float64 else 1))
        _blocks(stream, out[n - BLOCK:], mean, std)


def normal(stream, array, out, mean=0.0, std=1.0):
    """Fill the flat array `out` for a tensor `array`, by the way PyTorch takes for its size and layout."""
    if out.size >= BLOCK and array.flags.c_contiguous:
        blocks(stream, out, mean, std)
    else:
        out[...] = single(out, pairs(stream, out.size, mean, std))
