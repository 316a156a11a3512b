"""Random numbers on a CUDA device: cuRAND's Philox through CuPy. Not verified on a GPU.

Equal to PyTorch's in distribution only. The state is PyTorch's sixteen bytes: the seed and how far it was
drawn.
"""
import struct
import threading

import numpy as np

from .rng import fresh_seed

_STATE = struct.Struct("<QQ")
_defaults = {}


class CudaStream:
    """A Philox stream of one device. Draw under `lock`."""

    kind = "cuda"

    def __init__(self, seed, index=0):
        self.lock, self.index, self._source = threading.RLock(), index, None
        self.seed(seed)

    def seed(self, value):
        """Start over from a 64-bit seed."""
        self.initial_seed, self.offset = value, 0

    def get_state(self):
        """Seed and offset as sixteen bytes in a NumPy uint8 array."""
        return np.frombuffer(_STATE.pack(self.initial_seed, self.offset), np.uint8).copy()

    def set_state(self, data):
        """Continue from a state. Raises RuntimeError for a wrong size."""
        data = bytes(memoryview(data))
        if len(data) != _STATE.size:
            raise RuntimeError("RNG state is wrong size")
        self.initial_seed, self.offset = _STATE.unpack(data)

    def copy(self):
        """A stream that continues like this one, on its own."""
        other = CudaStream(self.initial_seed, self.index)
        other.offset = self.offset
        return other

    def _at(self, n):
        """CuPy's legacy generator, set to this seed and offset; the offset moves on by n numbers."""
        import cupy
        from cupy_backends.cuda.libs import curand
        with cupy.cuda.Device(self.index):
            if self._source is None:
                self._source = cupy.random.RandomState(0, method=curand.CURAND_RNG_PSEUDO_PHILOX4_32_10)
            source = self._source
            curand.setPseudoRandomGeneratorSeed(source._generator, self.initial_seed)
            curand.setGeneratorOffset(source._generator, self.offset)
        self.offset += (2 * n + 3) // 4 * 4       # a float64 takes two words; a multiple of 4, as in PyTorch
        return source

    def unit(self, shape, dtype):
        """Uniform numbers of [0, 1): float64 for float64, else float32."""
        n = int(np.prod(shape, dtype=np.int64))
        return self._at(n).random_sample(shape, np.float64 if dtype == np.float64 else np.float32)

    def fill(self, a, name, *args):
        """Fill a CuPy array; the names are those of the CPU's fillers."""
        a[...] = getattr(self, "_" + name)(a, *args)

    def _uniform(self, a, low, high):
        return self.unit(a.shape, a.dtype) * (high - low) + low

    def _normal(self, a, mean, std):
        kind = np.float64 if a.dtype == np.float64 else np.float32
        return self._at(a.size).standard_normal(a.shape, kind) * std + mean

    def _integers(self, a, low, high):
        return self._at(2 * a.size).randint(low, high, a.shape, dtype=np.int64)

    def _any_integers(self, a):
        if a.dtype.kind == "b":
            return self._integers(a, 0, 2)
        digits = {"float32": 24, "float64": 53, "float16": 11, "bfloat16": 8}.get(a.dtype.name)
        return self._integers(a, 0, int(np.iinfo(a.dtype).max) if digits is None else 1 << digits)

    def _bernoulli(self, a, p):
        return self.unit(a.shape, np.float32) < p

    def _exponential(self, a, rate):
        return -_xp().log1p(-self.unit(a.shape, a.dtype)) / rate

    def _cauchy(self, a, median, sigma):
        return median + sigma * _xp().tan(np.pi * (self.unit(a.shape, a.dtype) - 0.5))

    def _geometric(self, a, p):
        return _xp().ceil(_xp().log1p(-self.unit(a.shape, np.float64)) / np.log1p(-p)).clip(1, None)

    def _log_normal(self, a, mean, std):
        return _xp().exp(self._normal(a, mean, std))

    def permutation(self, n):
        """A random order of 0..n-1: the order of n random keys."""
        return self.unit((n,), np.float64).argsort()

    def multinomial(self, weights, count, replacement):
        """Indices drawn by weight from the last dimension."""
        xp = _xp()
        rows = xp.atleast_2d(weights).astype(np.float64)
        if not (xp.isfinite(rows).all() and (rows >= 0).all()):
            raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
        if (rows.sum(1) <= 0).any():
            raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
        if replacement:
            total = rows.cumsum(1)
            numbers = self.unit((len(rows), count), np.float64) * total[:, -1:]
            drawn = (numbers[:, :, None] >= total[:, None, :]).sum(2)
        else:
            clock = -xp.log1p(-self.unit(rows.shape, np.float64))
            drawn = (-rows / clock).argsort(1)[:, :count]
        return drawn.reshape(weights.shape[:-1] + (count,)).astype(np.int64)


def _xp():
    import cupy
    return cupy


def default_stream(index=None):
    """The default stream of a CUDA device (the current one)."""
    if index is None:
        index = _xp().cuda.Device().id
    if index not in _defaults:
        _defaults[index] = CudaStream(fresh_seed(), index)
    return _defaults[index]
