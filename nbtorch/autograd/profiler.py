"""torch.autograd.profiler."""
from ..profiler.autograd import *  # noqa: F403
from ..profiler.autograd import __all__  # noqa: F401
