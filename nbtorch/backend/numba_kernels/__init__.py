"""The numba provider: fused kernels for the CPU. Importing this package does not import numba.

``INDEX`` names the module of each kernel. Those modules decide (dtype, layout, size), allocate, and hand over to the
loops in ``code/``, which are compiled at first use and kept on disk. Every kernel may return NotImplemented.
"""
import importlib.util

from ..registry import kernel_index

INDEX = kernel_index(__path__)


def available():
    """(whether numba can be used, why not)."""
    if importlib.util.find_spec("numba") is None:
        return False, "numba is not installed"
    return True, ""
