"""The other distributions, permutations and multinomial sampling, as PyTorch's CPU kernels draw them."""
import numpy as np

from . import registry
from .rng import chunks, single
from .rng_normal import pairs


def _from_doubles(stream, out, transform):
    with np.errstate(all="ignore"):
        for part in chunks(out.size, 2):
            out[part] = single(out, transform(stream.doubles(part.stop - part.start)))


def exponential(stream, out, rate=1.0):
    """Exponential numbers of a rate: -log1p(-u) / rate in float64."""
    factor = -1.0 / rate
    _from_doubles(stream, out, lambda u: factor * np.log1p(-u))


def cauchy(stream, out, median=0.0, sigma=1.0):
    """Cauchy numbers: median + sigma * tan(pi * (u - 1/2))."""
    _from_doubles(stream, out, lambda u: median + sigma * np.tan(np.pi * (u - 0.5)))


def geometric(stream, out, p):
    """Number of Bernoulli(p) trials up to the first success."""
    scale = np.log1p(-p)
    _from_doubles(stream, out, lambda u: np.ceil(np.log(u) / scale))


def log_normal(stream, out, mean=1.0, std=2.0):
    """exp of normal numbers."""
    with np.errstate(all="ignore"):
        out[...] = single(out, np.exp(pairs(stream, out.size, mean, std)))


def permutation(stream, n):
    """A random order of 0..n-1 as int64: Fisher-Yates from the front, one word a step."""
    order = np.arange(n)
    if n < 2:
        return order
    offsets = stream.words(n - 1)
    offsets %= np.arange(n, 1, -1, dtype=np.uint32)
    return registry.run("shuffle", order, offsets)


def shuffle(order, offsets):
    """Swap each element with the one at its offset, in turn, in place.

    Done a block at a time: within a block, swaps whose partners are distinct and lie beyond the block do not
    depend on one another. The blocks where that fails, and the end, are done step by step.
    """
    first = 0
    if len(order) > STEPWISE:
        first = _swap_blocks(order, offsets.astype(np.int64) + order[:-1])
    _swap_steps(order[first:], offsets[first:])
    return order


STEPWISE = 4096                                   # below this many elements, steps in Python are quicker


def _swap_blocks(order, partners):
    """The swaps of all but the last STEPWISE elements; returns how many were done."""
    n, first = len(order), 0
    position, count = np.empty(n, np.int64), np.arange(n)
    while n - first > STEPWISE:
        last = min(first + int((n - first) ** 0.5) // 3, n - STEPWISE)
        there, steps = partners[first:last], count[:last - first]
        position[there] = steps                   # of equal partners only the last one will find itself
        alone = position[there] == steps
        if alone.all() and there.min() >= last:
            taken = order[there]
            order[there] = order[first:last]
            order[first:last] = taken
        else:
            _swap_touched(order, first, there.tolist())
        first = last
    return first


def _swap_touched(order, first, there):
    """Swaps one by one in Python, on the few elements that they touch."""
    places = list(range(first, first + len(there))) + there
    values = dict(zip(places, order[places].tolist()))
    for i, j in enumerate(there, first):
        values[i], values[j] = values[j], values[i]
    order[list(values)] = list(values.values())


def _swap_steps(order, offsets):
    """Swaps one by one in Python, on all elements."""
    values = order.tolist()
    for i, offset in enumerate(offsets.tolist()):
        j = i + offset
        values[i], values[j] = values[j], values[i]
    order[...] = values


def multinomial_with_replacement(stream, weights, count):
    """Indices drawn by inverting each row's distribution function. Raises RuntimeError for rows that are none."""
    rows = np.atleast_2d(weights)
    work = rows if rows.dtype == np.float64 else rows.astype(np.float32)
    with np.errstate(all="ignore"):
        total = np.cumsum(work, axis=1, dtype=work.dtype)
        if not (work >= 0).all():
            raise RuntimeError("invalid multinomial distribution (encountering probability entry < 0)")
        if not np.isfinite(total[:, -1]).all():
            raise RuntimeError("invalid multinomial distribution (encountering probability entry = infinity or NaN)")
        if not (total[:, -1] > 0).all():
            raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
        total = (total / total[:, -1:]).astype(np.float64)
    total[:, -1] = 1.0
    numbers = stream.doubles(len(rows) * count).reshape(len(rows), count)
    drawn = np.stack([np.searchsorted(t, u, "left") for t, u in zip(total, numbers)])
    return drawn.reshape(np.shape(weights)[:-1] + (count,))


def multinomial_without_replacement(stream, weights, count):
    """Indices of the `count` largest weight/exponential quotients of each row. Raises RuntimeError as PyTorch does."""
    real = weights if weights.dtype.itemsize > 2 else weights.astype(np.float32)
    if not (np.isfinite(real).all() and (real >= 0).all()):
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    if (real.sum(axis=-1) == 0).any() or (real.size and not real.shape[-1]):
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
    clock = np.empty(weights.size, weights.dtype)
    exponential(stream, clock)
    with np.errstate(all="ignore"):
        quotient = (weights / clock.reshape(weights.shape)).astype(weights.dtype)
    if weights.dtype.itemsize == 2:
        quotient = quotient.astype(np.float32)
    if count == 1:
        return quotient.argmax(axis=-1)[..., None]
    return np.argsort(-quotient, axis=-1, kind="stable")[..., :count]
