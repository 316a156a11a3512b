"""Automatic mixed precision. https://docs.pytorch.org/docs/stable/amp.html"""

from .autocast_mode import autocast, custom_bwd, custom_fwd
from .grad_scaler import GradScaler
from .policy import is_autocast_available

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]
