"""torch.profiler: where time, memory and FLOPs went, from the one event stream."""

from .events import EventList, FunctionEvent, FunctionEventAvg
from .profile import (
    ProfilerAction,
    ProfilerActivity,
    autograd_profile,
    profile,
    record_function,
    schedule,
    supported_activities,
    tensorboard_trace_handler,
)

__all__ = [
    "EventList",
    "FunctionEvent",
    "FunctionEventAvg",
    "ProfilerAction",
    "ProfilerActivity",
    "autograd_profile",
    "profile",
    "record_function",
    "schedule",
    "supported_activities",
    "tensorboard_trace_handler",
]
