"""The two random kernels worth compiling: normals in blocks of sixteen, and the swaps of a permutation."""
import numpy as np

from ._common import code

LARGE = 1 << 16                                   # elements from which loading numba pays


def normal_blocks(u, mean, std):
    """A flat float32 array of uniforms to normals in place."""
    if u.size < LARGE:
        return NotImplemented
    code("random").normal_blocks["f"](u, np.float32(mean), np.float32(std))
    return u


def shuffle(order, offsets):
    """Swap each element with the one at its offset, in turn, in place."""
    if order.size < LARGE:
        return NotImplemented
    code("random").shuffle["f"](order, offsets.astype(np.int64))
    return order
