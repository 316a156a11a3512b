"""Choice of attention kernels. Source: https://docs.pytorch.org/docs/stable/nn.attention.html"""

import threading
from contextlib import contextmanager
from enum import IntEnum

__all__ = ["SDPBackend", "WARN_FOR_UNFUSED_KERNELS", "sdpa_kernel"]

WARN_FOR_UNFUSED_KERNELS = False


class SDPBackend(IntEnum):
    """Names of PyTorch's kernels for ``scaled_dot_product_attention``."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


class _Choice(threading.local):
    def __init__(self):
        self.backends = tuple(b for b in SDPBackend if b is not SDPBackend.ERROR)


_choice = _Choice()


def _cur_sdpa_kernel_backends(with_priority=False):
    return list(_choice.backends)


@contextmanager
def sdpa_kernel(backends, set_priority=False):
    """Names the kernels that may run inside. There is one here, which serves all names; the choice is only kept.

    Raises AssertionError for anything but a SDPBackend or a list of them, ValueError for an empty list.
    """
    if not isinstance(backends, (list, SDPBackend)):
        raise AssertionError("Backend must be an instance of SDPBackend or a list of SDPBackend instances")
    chosen = (backends,) if isinstance(backends, SDPBackend) else tuple(dict.fromkeys(backends))
    if not chosen:
        raise ValueError("sdpa_kernel needs at least one backend")
    before, _choice.backends = _choice.backends, chosen
    try:
        yield {}
    finally:
        _choice.backends = before
