"""The CPU stream of random words: MT19937, word for word what PyTorch's CPU generator draws for the same
seed.

NumPy's bit generator makes the words in bulk; this module keeps what PyTorch keeps beside it (the seed, the
second half of the last Box-Muller pair) and reads and writes PyTorch's 5,056-byte state. What is made of the
words: rng_fill.py (uniforms and integers), rng_normal.py, rng_draws.py (the other distributions,
permutations, multinomial).
"""
import secrets
import struct
import sys
import threading

import numpy as np

DEFAULT_SEED = 67280421310721                     # of a new torch.Generator()
CHUNK = 1 << 15                                   # words made at a time: 128 KiB stay in the second-level cache
STATE_BYTES = 5056
_HEAD = struct.Struct("<QiiQ")                    # seed, words left, seeded, next word
_TAIL = struct.Struct("<dddi4xf?3x")              # x, y, rho, have y (double normal) | float normal, have it
_SHORT = STATE_BYTES - 8                          # the state before the float normal was added to it


class Stream:
    """One MT19937 stream. Draw under `lock`; `normal` is the cached second normal of a pair, or None."""

    kind = "cpu"

    def __init__(self, seed=DEFAULT_SEED):
        self.lock = threading.RLock()
        self._bits = np.random.MT19937(0)
        self._draw = np.random.Generator(self._bits).integers
        self.seed(seed)

    def seed(self, value):
        """Start over from a 64-bit seed; like PyTorch, only its low 32 bits reach the generator."""
        with self.lock:
            self.initial_seed = value
            self._bits._legacy_seeding(value & 0xffffffff)
            self._fresh, self.normal = True, None

    def words(self, n):
        """The next n 32-bit words."""
        if n:
            self._fresh = False
        return self._draw(0, 1 << 32, n, np.uint32)

    def words64(self, n):
        """The next n 64-bit words: two 32-bit words each, the first one high."""
        pairs = self.words(2 * n).view(np.uint64)
        if sys.byteorder == "big":
            return pairs
        high = pairs << np.uint64(32)
        pairs >>= np.uint64(32)
        high |= pairs
        return high

    def doubles(self, n):
        """The next n numbers of [0, 1) with 53 bits."""
        bits = self.words64(n)
        bits &= np.uint64((1 << 53) - 1)
        numbers = bits.view(np.int64).astype(np.float64)
        numbers *= 2.0 ** -53
        return numbers

    def get_state(self):
        """PyTorch's state, 5,056 bytes as a uint8 array; it may be given to torch.set_rng_state and back."""
        with self.lock:
            state = self._bits.state["state"]
            pos = int(state["pos"])
            left, after = (1, 0) if self._fresh else (625 - pos, pos)
            head = _HEAD.pack(self.initial_seed, left, 1, after)
            tail = _TAIL.pack(0.0, self.normal or 0.0, 0.0, self.normal is not None, 0.0, False)
            return np.frombuffer(head + state["key"].astype("<u8").tobytes() + tail, np.uint8).copy()

    def set_state(self, data):
        """Continue from a state made by get_state here or by PyTorch. Raises RuntimeError for other bytes."""
        data = bytes(memoryview(data))
        if len(data) == _SHORT:
            data += bytes(8)
        if len(data) != STATE_BYTES:
            raise RuntimeError("Expected a CPUGeneratorImplState of size 5056 but "
                               f"found the input RNG state size to be {len(data)}")
        seed, left, seeded, after = _HEAD.unpack_from(data)
        key = np.frombuffer(data, "<u8", 624, _HEAD.size)
        _, normal, _, have_normal, _, _ = _TAIL.unpack_from(data, _HEAD.size + 4992)
        if not seeded or not 1 <= left <= 624 or after > 624 or (left > 1 and after != 625 - left) or (key >> 32).any():
            raise RuntimeError("Invalid mt19937 state")
        with self.lock:
            self.initial_seed, self._fresh = seed, left == 1 and after == 0
            self.normal = normal if have_normal else None
            self._bits.state = {"bit_generator": "MT19937", "state": {"key": key.astype(np.uint32),
                                                                      "pos": 624 if left == 1 else after}}

    def copy(self):
        """A stream that continues like this one, on its own."""
        other = Stream(0)
        other.set_state(self.get_state())
        return other


def fresh_seed():
    """A seed from the system's entropy; 53 bits, as PyTorch keeps it exact in a double."""
    return secrets.randbits(53)


default_stream = Stream(fresh_seed())


def memory_order(array):
    """The dimensions in the order of memory, outermost first: PyTorch fills by stride, not by index.

    A dimension of stride 0 keeps its place; of equal strides the larger dimension is the outer one.
    """
    if array.flags.c_contiguous:
        return list(range(array.ndim))
    strides, shape = array.strides, array.shape
    order = []
    for d in reversed(range(array.ndim)):          # innermost first, insertion sort by stride
        at = len(order)
        while at and strides[d] and strides[order[at - 1]] and (
                (strides[d], shape[d]) < (strides[order[at - 1]], shape[order[at - 1]])):
            at -= 1
        order.insert(at, d)
    return order[::-1]


def fill(array, make):
    """Write `make(flat)` into the array in PyTorch's order, flat being a flat array of its elements."""
    ordered = array.transpose(memory_order(array))
    if ordered.flags.c_contiguous:
        make(ordered.reshape(-1))
        return array
    flat = np.empty(ordered.size, array.dtype)
    make(flat)
    ordered[...] = flat.reshape(ordered.shape)
    return array


def single(out, values):
    """`values` on their way into `out`: half precision is rounded to float32 first, as PyTorch does."""
    return values.astype(np.float32) if out.dtype.itemsize == 2 and out.dtype.kind not in "iu" else values


def chunks(n, words_each=1):
    """Slices of 0..n whose words fit in one CHUNK."""
    step = CHUNK // words_each
    return [slice(start, min(start + step, n)) for start in range(0, n, step)]
