"""Uniform numbers and integers made of a stream's words, in bulk, as PyTorch's CPU kernels make them one by
one.

Every function fills a flat array `out` in place and draws exactly the words PyTorch draws.
"""
from fractions import Fraction

import numpy as np

from .rng import chunks, single

BITS = {"float32": 24, "float64": 53, "float16": 11, "bfloat16": 8}       # digits of the significand
WIDE_RANGE = 1 << 28                              # from here on integers are made of 64-bit words


def unit32(stream, n):
    """n float32 numbers of [0, 1): the low 24 bits of a word each."""
    words = stream.words(n)
    words &= 0xffffff
    numbers = words.view(np.int32).astype(np.float32)
    numbers *= np.float32(2.0 ** -24)
    return numbers


def uniform(stream, out, low=0.0, high=1.0):
    """[low, high) in float16, bfloat16, float32 or float64."""
    if out.dtype == np.float64:
        for part in chunks(out.size, 2):
            numbers = stream.doubles(part.stop - part.start)
            out[part] = numbers if (low, high) == (0, 1) else fma(numbers, high - low, low)
        return
    low, high = np.float32(low), np.float32(high)
    span = high - low
    for part in chunks(out.size):
        numbers = unit32(stream, part.stop - part.start)
        if low != 0:                              # one rounding at the end, as a fused multiply-add does
            numbers = (numbers * np.float64(span) + np.float64(low)).astype(np.float32)
        elif span != 1:
            numbers *= span
        out[part] = numbers
        if out.dtype != np.float32 or low != 0:   # what rounds up to the excluded bound becomes the lower one
            rounded = out[part]
            rounded[rounded == high.astype(out.dtype)] = low.astype(out.dtype)


def fma(a, b, c):
    """a * b + c for a float64 array and two numbers, rounded once (but for rare ties of the error terms)."""
    product = a * b
    if c == 0:
        return product
    split = a * 134217729.0                       # Dekker: halves of 26 bits, whose products are exact
    a_high = split - (split - a)
    a_low = a - a_high
    split = b * 134217729.0
    b_high = split - (split - b)
    b_low = b - b_high
    error = a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)
    total = product + c
    part = total - product
    exact = total + (((product - (total - part)) + (c - part)) + error)
    return exact if np.isfinite(exact).all() else total


def _remainder(words, span):
    """words % span, through a division by an invariant, which NumPy does with vector instructions."""
    if span & (span - 1) == 0:
        words &= words.dtype.type(span - 1)
        return words
    divisor = words.dtype.type(span)
    quotient = words // divisor
    quotient *= divisor
    words -= quotient
    return words


def representable(low, high, dtype):
    """Bounds as PyTorch moves them for a floating dtype, inwards where rounding would leave the range."""
    digits = BITS.get(dtype.name)
    if digits is None or high - low <= 1 << digits and max(abs(low), abs(high)) <= 1 << digits:
        return low, high
    first, unit = _rounded(low + 1, digits)
    if first < low:
        low = first + unit
    last, unit = _rounded(high - 1, digits)
    if high <= last < 1 << 63:                    # at 2**63 PyTorch's cast overflows and leaves the bound as it is
        high = last - unit
    return low, high


def _rounded(value, digits):
    unit = 1 << max(abs(value).bit_length() - digits, 0)
    return round(Fraction(value, unit)) * unit, unit


def integers(stream, out, low, high):
    """Integers of [low, high) in any real dtype; high - low may reach 2**64 (all 64 bits)."""
    low, high = representable(low, high, out.dtype)
    span = high - low
    if span >= WIDE_RANGE:
        for part in chunks(out.size, 2):
            words = stream.words64(part.stop - part.start)
            if span < 1 << 64:
                words = _remainder(words, span)
                words += np.uint64(low & 0xffffffffffffffff)
            out[part] = words if out.dtype.kind == "u" else single(out, words.view(np.int64))
        return
    plain = 0 <= low and high <= 1 << 31
    for part in chunks(out.size):
        words = _remainder(stream.words(part.stop - part.start), span)
        if plain:                                 # float32 and the like convert fast from int32
            words += np.uint32(low)
            out[part] = single(out, words.view(np.int32))
        else:
            out[part] = single(out, words.astype(np.int64) + low)


def any_integers(stream, out):
    """random_() without bounds: 0 to the largest value of an integer dtype, 0 to 2**digits of a floating one."""
    name = out.dtype.name
    if name == "bool":
        spans = 2, False
    elif name in BITS:
        spans = (1 << BITS[name]) + 1, name == "float64"
    else:
        spans = int(np.iinfo(out.dtype).max) + 1, name == "int64"
    span, wide = spans
    for part in chunks(out.size, 2 if wide else 1):
        n = part.stop - part.start
        words = _remainder(stream.words64(n) if wide else stream.words(n), span)
        out[part] = words.view(np.int64 if wide else np.int32)


def bernoulli(stream, out, p):
    """1 with probability p, else 0: one 53-bit number an element, compared as integers."""
    bound = int(np.ceil(np.ldexp(p, 53)))         # u < p  <=>  the 53 bits < p * 2**53
    high, low = bound >> 32, bound & 0xffffffff
    for part in chunks(out.size, 2):
        pairs = stream.words(2 * (part.stop - part.start)).reshape(-1, 2)
        top = pairs[:, 0] & np.uint32(0x1fffff)
        hit = top < np.uint32(high)
        ties = np.flatnonzero(top == np.uint32(high))
        hit[ties] = pairs[ties, 1] < np.uint32(low)
        out[part] = hit


def bernoulli_of(stream, out, p):
    """1 where a uniform number is below the element's probability: 53 bits for float64 probabilities, else 24."""
    if p.dtype == np.float64:
        for part in chunks(out.size, 2):
            out[part] = stream.doubles(part.stop - part.start) < p[part]
        return
    for part in chunks(out.size):
        out[part] = unit32(stream, part.stop - part.start) < p[part].astype(np.float32)
