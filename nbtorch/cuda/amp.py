"""torch.cuda.amp: the names mixed precision had before torch.amp."""
from ..amp.cuda import *  # noqa: F403
from ..amp.cuda import __all__  # noqa: F401
