"""The per-device names of earlier releases: torch.cuda.amp.* and torch.cpu.amp.*, still there, with a
deprecation.
"""

import functools
import warnings

from ..core.dtype import bfloat16, float16
from . import autocast_mode, grad_scaler


def _deprecated(device, name):
    warnings.warn(
        f"`torch.{device}.amp.{name}(args...)` is deprecated. Please use `torch.amp.{name}('{device}', args...)` "
        "instead.",
        FutureWarning,
        stacklevel=3,
    )


class cuda_autocast(autocast_mode.autocast):
    """torch.cuda.amp.autocast: autocast("cuda")."""

    def __init__(self, enabled=True, dtype=float16, cache_enabled=True):
        _deprecated("cuda", "autocast")
        super().__init__("cuda", enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)


class cpu_autocast(autocast_mode.autocast):
    """torch.cpu.amp.autocast: autocast("cpu")."""

    def __init__(self, enabled=True, dtype=bfloat16, cache_enabled=True):
        _deprecated("cpu", "autocast")
        super().__init__("cpu", enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)


class CudaGradScaler(grad_scaler.GradScaler):
    """torch.cuda.amp.GradScaler: GradScaler("cuda")."""

    def __init__(
        self, init_scale=2.0**16, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000, enabled=True
    ):
        _deprecated("cuda", "GradScaler")
        super().__init__("cuda", init_scale, growth_factor, backoff_factor, growth_interval, enabled)


class CpuGradScaler(grad_scaler.GradScaler):
    """torch.cpu.amp.GradScaler: GradScaler("cpu")."""

    def __init__(
        self, init_scale=2.0**16, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000, enabled=True
    ):
        _deprecated("cpu", "GradScaler")
        super().__init__("cpu", init_scale, growth_factor, backoff_factor, growth_interval, enabled)


custom_fwd = functools.partial(autocast_mode.custom_fwd, device_type="cuda")
custom_bwd = functools.partial(autocast_mode.custom_bwd, device_type="cuda")
