"""What torch.cpu.amp holds: names of earlier releases."""

from .legacy import CpuGradScaler as GradScaler
from .legacy import cpu_autocast as autocast

__all__ = ["GradScaler", "autocast"]
