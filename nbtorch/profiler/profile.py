"""torch.profiler's front: `profile`, `schedule`, `record_function`.
https://docs.pytorch.org/docs/stable/profiler.html
"""

import functools
import os
import time
import warnings
from enum import Enum

from ..events.bus import bus, emit, subscribe
from ..events.records import SpanEnter, SpanExit
from . import chrome, trace
from .events import EventList


class ProfilerActivity(Enum):
    """What to profile."""

    CPU, CUDA = 0, 2


class ProfilerAction(Enum):
    """What a profiler does in one step."""

    NONE, WARMUP, RECORD, RECORD_AND_SAVE = 0, 1, 2, 3


class record_function:
    """Name a stretch of code, so that it shows as a row: context manager and decorator."""

    def __init__(self, name, args=None):
        self.name, self.args, self._open = name, args, False

    def __enter__(self):
        if bus.subscribers:
            self._open = True
            emit(SpanEnter("record_function", str(self.name), "", time.perf_counter_ns()))
        return self

    def __exit__(self, *exc):
        if self._open:
            self._open = False
            emit(SpanExit("record_function", str(self.name), "", time.perf_counter_ns()))

    def __call__(self, function):
        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            with record_function(self.name):
                return function(*args, **kwargs)

        return wrapped


def schedule(*, wait, warmup, active, repeat=0, skip_first=0, skip_first_wait=0):
    """A function step -> ProfilerAction: after skip_first steps, cycles of wait, warmup and active ones."""
    for name, value in (("wait", wait), ("warmup", warmup), ("repeat", repeat), ("skip_first", skip_first)):
        if value < 0:
            raise AssertionError(f"Invalid profiler schedule arguments: {name} must not be negative")
    if active <= 0:
        raise AssertionError("Invalid profiler schedule arguments: active must be positive")
    if warmup == 0:
        warnings.warn("Profiler won't be using warmup, this can skew profiler results", stacklevel=2)

    def action(step):
        if step < 0:
            raise AssertionError(f"Step must be non-negative. Got {step}.")
        if step < skip_first:
            return ProfilerAction.NONE
        step -= skip_first
        if skip_first_wait != 0:
            step += wait
        cycle = wait + warmup + active
        if repeat > 0 and step // cycle >= repeat:
            return ProfilerAction.NONE
        at = step % cycle
        if at < wait:
            return ProfilerAction.NONE
        if at < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD if at < cycle - 1 else ProfilerAction.RECORD_AND_SAVE

    return action


def supported_activities():
    """What can be profiled here."""
    return {ProfilerActivity.CPU}


def tensorboard_trace_handler(dir_name, worker_name=None, use_gzip=False):
    """An on_trace_ready handler that writes one Chrome trace a cycle into a folder."""

    def handler(prof):
        os.makedirs(dir_name, exist_ok=True)
        name = f"{worker_name or f'worker_{os.getpid()}'}.{time.time_ns()}.pt.trace.json" + (
            ".gz" if use_gzip else ""
        )
        prof.export_chrome_trace(os.path.join(dir_name, name))

    return handler


class profile:
    """Profile what runs inside: all threads, all ops, backward included.

    activities: set of ProfilerActivity (CPU by default). schedule: what to do at each `step()`.
    record_shapes, profile_memory, with_stack, with_flops, with_modules add columns. The newest `capacity`
    calls are kept; dropped ones are counted. AssertionError when results are asked for before it started.
    """

    def __init__(
        self,
        *,
        activities=None,
        schedule=None,
        on_trace_ready=None,
        record_shapes=False,
        profile_memory=False,
        with_stack=False,
        with_flops=False,
        with_modules=False,
        experimental_config=None,
        acc_events=False,
        use_cuda=None,
        capacity=trace.CAPACITY,
    ):
        if use_cuda is not None:
            warnings.warn(
                "`use_cuda` is deprecated, use `activities` argument instead", FutureWarning, stacklevel=2
            )
        self.activities = set(activities) if activities is not None else supported_activities()
        if not self.activities:
            raise AssertionError("No valid profiler activities found")
        self.schedule, self.on_trace_ready = schedule or (lambda step: ProfilerAction.RECORD), on_trace_ready
        self.with_stack, self.with_modules = with_stack, with_modules
        self.record_shapes, self.profile_memory, self.with_flops = record_shapes, profile_memory, with_flops
        self.capacity, self.step_num, self.metadata = capacity, 0, {}
        self.stepping = schedule is not None
        self.action = self.schedule(0)
        self._trace = self._subscription = self._step = self._events = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *exc):
        self.stop()

    def start(self):
        """Begin."""
        self.action = self.schedule(self.step_num)
        if self.action in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE):
            self._begin()
        if self.stepping:
            self._mark()

    def _begin(self):
        self._events = None
        self._trace = trace.Trace(
            self.record_shapes,
            self.with_flops,
            self.with_stack,
            self.with_modules,
            self.profile_memory,
            self.capacity,
        )
        self._subscription = subscribe(self._trace)

    def _mark(self):
        self._step = record_function(f"ProfilerStep#{self.step_num}")
        self._step.__enter__()

    def _end(self):
        if self._subscription is not None:
            self._subscription.close()
            self._subscription = None

    def _save(self):
        self._end()
        if self.on_trace_ready:
            self.on_trace_ready(self)

    def step(self):
        """One step of the schedule is over."""
        if self._step is not None:
            self._step.__exit__()
        before, self.step_num = self.action, self.step_num + 1
        self.action = self.schedule(self.step_num)
        recording = (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)
        if before is ProfilerAction.RECORD_AND_SAVE:
            self._save()
        elif before is ProfilerAction.RECORD and self.action not in recording:
            warnings.warn("Incorrect schedule: RECORD followed by NONE", stacklevel=2)
            self._end()
        if self.action in recording and self._subscription is None:
            self._begin()
        self._mark()

    def stop(self):
        """End; an on_trace_ready handler gets what was recorded."""
        if self._step is not None:
            self._step.__exit__()
            self._step = None
        if self._subscription is not None:
            self._save()

    def events(self):
        """All calls in order of start, an EventList of FunctionEvents."""
        if self._trace is None:
            raise AssertionError("Profiler must be initialized before getting key averages")
        if self._events is None or self._subscription is not None:
            found = trace.events(self._trace)
            for event in found:
                if event.name.startswith("ProfilerStep#"):
                    event.name = "ProfilerStep*"
            self._events = EventList(found, self.profile_memory, self.with_flops, self._trace.dropped)
        return self._events

    def key_averages(self, group_by_input_shape=False, group_by_stack_n=0, group_by_overload_name=False):
        """Calls of one name added up: an EventList with `.table()`."""
        return self.events().key_averages(group_by_input_shape, group_by_stack_n)

    def export_chrome_trace(self, path):
        """Write the calls as a Chrome trace (JSON, or .gz)."""
        chrome.write(
            path,
            self.events(),
            with_stack=self.with_stack,
            profile_memory=self.profile_memory,
            record_shapes=self.record_shapes,
            with_modules=self.with_modules,
            with_flops=self.with_flops,
        )

    def export_stacks(self, path, metric="self_cpu_time_total"):
        """Write one line per call stack with its summed metric, for flame graphs. Needs with_stack=True."""
        if metric not in ("self_cpu_time_total", "self_cuda_time_total"):
            raise ValueError("metric should be one of: ['self_cpu_time_total', 'self_cuda_time_total']")
        if not self.with_stack:
            raise AssertionError("export_stacks() requires with_stack=True")
        sums = {}
        for event in self.events():
            if event.stack and event.self_cpu_time_total > 0:
                key = ";".join(entry.replace(" ", "_") for entry in reversed(event.stack)) + ";" + event.name
                sums[key] = sums.get(key, 0) + int(getattr(event, metric))
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(f"{key} {value}\n" for key, value in sums.items())

    def add_metadata(self, key, value):
        """Keep a text with the profile."""
        self.metadata[key] = value

    @property
    def self_cpu_time_total(self):
        """Sum of the self times in microseconds."""
        return self.events().self_cpu_time_total


class autograd_profile:
    """torch.autograd.profiler.profile: the same table without a schedule."""

    def __init__(
        self,
        enabled=True,
        *,
        use_cuda=False,
        use_device=None,
        record_shapes=False,
        with_flops=False,
        profile_memory=False,
        with_stack=False,
        with_modules=False,
        use_kineto=True,
        use_cpu=True,
        acc_events=False,
    ):
        self.enabled = enabled
        self._profile = profile(
            record_shapes=record_shapes,
            with_flops=with_flops,
            profile_memory=profile_memory,
            with_stack=with_stack,
            with_modules=with_modules,
        )
        self.entered, self._done = False, False

    def __enter__(self):
        if not self.enabled:
            return self
        if self.entered:
            raise RuntimeError("Profiler context manager is not reentrant")
        self.entered = True
        self._profile.start()
        return self

    def __exit__(self, *exc):
        if self.enabled:
            self._profile.stop()
            self._done = True

    def _check_finish(self):
        if not self._done:
            raise RuntimeError("Profiler didn't finish running")

    @property
    def function_events(self):
        """All calls, an EventList."""
        self._check_finish()
        return self._profile.events()

    def key_averages(self, group_by_input_shape=False, group_by_stack_n=0, group_by_overload_name=False):
        """Calls of one name added up."""
        return self.function_events.key_averages(group_by_input_shape, group_by_stack_n)

    def table(self, *args, **kwargs):
        """Table of all calls."""
        return self.function_events.table(*args, **kwargs)

    def total_average(self):
        """All calls as one row."""
        return self.function_events.total_average()

    def export_chrome_trace(self, path):
        """Write the calls as a Chrome trace."""
        self._check_finish()
        self._profile.export_chrome_trace(path)

    @property
    def self_cpu_time_total(self):
        """Sum of the self times in microseconds."""
        return self.function_events.self_cpu_time_total

    def __str__(self):
        return str(self.function_events) if self._done else "<unfinished torch.autograd.profile>"

    __repr__ = __str__
