"""What torch.cuda.amp holds: names of earlier releases."""

from .legacy import CudaGradScaler as GradScaler
from .legacy import cuda_autocast as autocast
from .legacy import custom_bwd, custom_fwd

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]
