"""torch.cpu.amp: the names mixed precision had before torch.amp."""
from ..amp.cpu import *  # noqa: F403
from ..amp.cpu import __all__  # noqa: F401
