"""What torch.autograd.profiler holds."""

from .events import EventList, FunctionEvent, FunctionEventAvg
from .profile import autograd_profile as profile
from .profile import record_function

__all__ = ["EventList", "FunctionEvent", "FunctionEventAvg", "profile", "record_function"]
