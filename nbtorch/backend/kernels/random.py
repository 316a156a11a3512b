"""Kernels that fill arrays with random numbers. They write the first array and return it."""
import numpy as np

from .. import rng, rng_blocks, rng_draws, rng_fill, rng_normal
from ..registry import kernel


def stream_of(xp, generator):
    """The generator's stream, or the device's default one. Raises RuntimeError for another device's generator."""
    kind = "cpu" if xp is np else "cuda"
    if generator is None:
        if xp is np:
            return rng.default_stream
        from .. import rng_cuda
        return rng_cuda.default_stream()
    stream = generator.stream
    if stream.kind != kind:
        raise RuntimeError(f"Expected a '{kind}' device type for generator but found '{stream.kind}'")
    return stream


def _real(a):
    """A complex array as real ones with a last dimension of two (a view); others as they are."""
    return a[..., None].view(a.real.dtype) if a.dtype.kind == "c" else a


def _fill(xp, a, generator, name, *args):
    """Fill `a` by a function of rng_fill, rng_normal or rng_draws, in PyTorch's order of elements."""
    stream = stream_of(xp, generator)
    with stream.lock:
        if xp is not np:
            stream.fill(_real(a), name, *args)
        else:
            make = FILLERS[name]
            rng.fill(_real(a), lambda flat: make(stream, flat, *args))
    return a


FILLERS = {"uniform": rng_fill.uniform, "integers": rng_fill.integers, "any_integers": rng_fill.any_integers,
           "bernoulli": rng_fill.bernoulli, "exponential": rng_draws.exponential, "cauchy": rng_draws.cauchy,
           "geometric": rng_draws.geometric, "log_normal": rng_draws.log_normal}


@kernel("uniform_fill")
def uniform_fill(xp, a, low, high, generator):
    """Uniform numbers of [low, high)."""
    return _fill(xp, a, generator, "uniform", low, high)


@kernel("normal_fill")
def normal_fill(xp, a, mean, std, generator):
    """Normal numbers; a complex array gets half of the variance in each part."""
    if a.dtype.kind == "c":
        std = std / 2 ** 0.5
    stream = stream_of(xp, generator)
    with stream.lock:
        if xp is not np:
            stream.fill(_real(a), "normal", mean, std)
        else:
            rng.fill(_real(a), lambda flat: rng_normal.normal(stream, _real(a), flat, mean, std))
    return a


def random_range(dtype, low, high):
    """[low, high) of random_()'s arguments, or (None, None) for the dtype's own range."""
    if low is ...:
        return (None, None) if high is ... else (0, high)
    if high is ...:
        return 0, low
    if high is None:
        digits = rng_fill.BITS.get(dtype.name)
        high = 2 if dtype.kind == "b" else (1 << digits) + 1 if digits else int(np.iinfo(dtype).max) + 1
    return low, high


@kernel("random_fill")
def random_fill(xp, a, low, high, generator):
    """Integers of random_()'s range: `...` stands for an argument that was not given."""
    low, high = random_range(a.dtype, low, high)
    if low is None:
        return _fill(xp, a, generator, "any_integers")
    return _fill(xp, a, generator, "integers", low, high)


@kernel("bernoulli_fill")
def bernoulli_fill(xp, a, p, generator):
    """Ones with probability p: a number, or an array that broadcasts to `a`."""
    if isinstance(p, (bool, int, float)):
        return _fill(xp, a, generator, "bernoulli", p)
    if p.size and not ((p >= 0) & (p <= 1)).all():
        raise RuntimeError("Expected p_in >= 0 && p_in <= 1 to be true, but got false.  (Could this error "
                           "message be improved?  If so, please report an enhancement request to PyTorch.)")
    stream = stream_of(xp, generator)
    p = xp.broadcast_to(p, a.shape)
    with stream.lock:
        if xp is not np:
            a[...] = stream.unit(p.shape, p.dtype) < p
            return a
        order = rng.memory_order(a)
        flat_p = p.transpose(order).reshape(-1)
        return rng.fill(a, lambda flat: rng_fill.bernoulli_of(stream, flat, flat_p))


@kernel("exponential_fill")
def exponential_fill(xp, a, rate, generator):
    """Exponential numbers."""
    return _fill(xp, a, generator, "exponential", rate)


@kernel("cauchy_fill")
def cauchy_fill(xp, a, median, sigma, generator):
    """Cauchy numbers."""
    return _fill(xp, a, generator, "cauchy", median, sigma)


@kernel("geometric_fill")
def geometric_fill(xp, a, p, generator):
    """Numbers of trials up to the first success."""
    return _fill(xp, a, generator, "geometric", p)


@kernel("log_normal_fill")
def log_normal_fill(xp, a, mean, std, generator):
    """Exponentials of normal numbers."""
    return _fill(xp, a, generator, "log_normal", mean, std)


@kernel("randperm_fill")
def randperm_fill(xp, a, generator):
    """A random order of 0..n-1 in a vector of n elements."""
    stream = stream_of(xp, generator)
    with stream.lock:
        a[...] = rng_draws.permutation(stream, a.size) if xp is np else stream.permutation(a.size)


@kernel("multinomial")
def multinomial(xp, weights, count, replacement, generator):
    """Indices drawn by weight from the last dimension, as int64. Drawing one takes the way without replacement."""
    stream = stream_of(xp, generator)
    with stream.lock:
        if xp is not np:
            return stream.multinomial(weights, count, replacement)
        if replacement and count > 1:
            return rng_draws.multinomial_with_replacement(stream, weights, count)
        return rng_draws.multinomial_without_replacement(stream, weights, count)


@kernel("dropout")
def dropout(xp, a, p, generator):
    """(a * mask / (1 - p), mask) with a boolean mask that is kept with probability 1 - p."""
    mask = xp.empty_like(a, dtype=bool) if _dense(a) else xp.empty(a.shape, bool)
    _fill(xp, mask, generator, "bernoulli", 1.0 - p)
    return apply_mask(xp, a, mask, p), mask


@kernel("dropout_backward")
def apply_mask(xp, a, mask, p):
    """a * mask / (1 - p), the factor rounded as PyTorch rounds it."""
    if a.dtype.itemsize > 2:
        real = a.real.dtype.type
        out = a * mask
        out *= real(1) / real(1.0 - p)
        return out
    scale = (np.float32(1) / np.float32(1.0 - p)).astype(a.dtype).astype(np.float32)
    out = a.astype(np.float32)
    out *= mask
    out *= scale
    return out.astype(a.dtype)


def _dense(a):
    expected = a.itemsize
    for stride, size in sorted((s, n) for s, n in zip(a.strides, a.shape) if n != 1):
        if stride != expected:
            return False
        expected *= size
    return True


@kernel("normal_blocks")
def normal_blocks(xp, u, mean, std):
    """A flat float32 array of uniforms to normals in place (CPU)."""
    return rng_blocks.transform(u, mean, std)


@kernel("shuffle")
def shuffle(xp, order, offsets):
    """Fisher-Yates swaps in place (CPU)."""
    return rng_draws.shuffle(order, offsets)
