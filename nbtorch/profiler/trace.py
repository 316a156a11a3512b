"""The observer behind every profile: records become finished calls, as plain numbers, in a bounded buffer.

Each thread has its own stack of open calls, so work of any thread is seen.  The buffer keeps the newest
calls; what falls out is counted and said.
"""

import itertools
import threading
import time
from collections import deque

from ..events import records as R
from . import flops, stacks

CAPACITY = 1_000_000


class Call:
    """A call in progress, then finished; holds no tensor."""

    __slots__ = (
        "id",
        "name",
        "kind",
        "t0",
        "t1",
        "parent",
        "thread",
        "memory",
        "shapes",
        "dtypes",
        "flops",
        "stack",
        "module",
        "phase",
        "error",
        "key",
        "number",
    )

    def __init__(self, id, name, kind, t0, thread, parent):
        self.id, self.name, self.kind, self.t0, self.thread, self.parent = id, name, kind, t0, thread, parent
        self.t1, self.memory, self.shapes, self.dtypes, self.flops, self.stack = t0, 0, None, None, 0, ()
        self.module, self.phase, self.error, self.key, self.number = "", "forward", False, None, -1


class _Thread(threading.local):
    """Open calls of one thread, and finished calls that have no parent yet."""

    def __init__(self):
        self.open, self.orphans, self.modules = [], deque(maxlen=100_000), []


def op_name(op):
    """The name a call of this op has in tables: aten::addmm."""
    return "aten::" + op.name


class Trace:
    """An observer of the event stream that collects calls."""

    def __init__(
        self,
        record_shapes=False,
        with_flops=False,
        with_stack=False,
        with_modules=False,
        profile_memory=False,
        capacity=CAPACITY,
    ):
        self.record_shapes, self.with_flops, self.with_stack = record_shapes, with_flops, with_stack
        self.with_modules, self.profile_memory = with_modules, profile_memory
        self.calls = deque(maxlen=capacity)
        self.made, self.finished = itertools.count(1), 0
        self.outside = []  # (time, bytes) of memory outside any call
        self.local, self.begin = _Thread(), time.perf_counter_ns()
        self._actions = {
            R.OpEnter: self._enter,
            R.OpExit: self._exit,
            R.NodeRun: self._node,
            R.SpanEnter: self._span,
            R.SpanExit: self._span_end,
        }
        if profile_memory:
            self._actions.update({R.Alloc: self._alloc, R.Free: self._free})

    def __call__(self, record):
        action = self._actions.get(type(record))
        if action is not None:
            action(record)

    @property
    def dropped(self):
        """How many calls the full buffer lost."""
        return self.finished - len(self.calls)

    def _open(self, name, kind, t0):
        local = self.local
        parent = local.open[-1] if local.open else None
        call = Call(next(self.made), name, kind, t0, threading.get_ident(), parent)
        if self.with_stack:
            call.stack = stacks.user_frames(16, 3)
        local.open.append(call)
        return call

    def _close(self, call, t1):
        call.t1 = t1
        self.finished += 1
        self.calls.append(call)
        if call.parent is None:
            self.local.orphans.append(call)

    def _enter(self, record):
        op = record.op
        call = self._open(op_name(op), "cpu_op", record.t0)
        call.key, call.phase = record.seq, record.phase
        modules = self.local.modules
        call.module = modules[-1] if modules else ""
        if self.record_shapes:
            call.shapes = [_shape(value) for value in record.args]
            call.dtypes = [_dtype(value) for value in record.args]
        if self.with_flops:
            call.flops = flops.inputs(op, record.args, record.attrs)

    def _exit(self, record):
        stack = self.local.open
        while stack:  # calls whose end was lost with an exception end here
            call = stack.pop()
            if call.key == record.seq:
                call.error = record.error is not None
                if self.with_flops:
                    call.flops = flops.count(record.op, call.flops, record.out)
                self._close(call, record.t1)
                return
            if call.key is None:
                stack.append(call)
                return

    def _node(self, record):
        """A backward node has run: it becomes the parent of what ran inside its time."""
        name = record.node.name()
        stack = self.local.open
        call = Call(
            next(self.made), name, "cpu_op", record.t0, threading.get_ident(), stack[-1] if stack else None
        )
        call.phase, call.number = "backward", record.node._sequence_nr()
        siblings = self.local.orphans if call.parent is None else self._siblings(call)
        for child in _since(siblings, record.t0):
            child.parent = call
        if call.parent is None:
            while self.local.orphans and self.local.orphans[-1].t0 >= record.t0:
                self.local.orphans.pop()
        self._close(call, record.t1)

    def _siblings(self, call):
        """Finished calls with the same parent, newest last, as far back as can matter."""
        found = []
        for other in reversed(self.calls):
            if other.t1 < call.t0:
                break
            if other.parent is call.parent and other.thread == call.thread:
                found.append(other)
        return found[::-1]

    def _span(self, record):
        if record.kind == "module":
            self.local.modules.append(record.path or record.name)
            if not self.with_modules:
                return
        elif record.kind != "record_function":
            return
        kind = "user_annotation" if record.kind == "record_function" else "module"
        name = record.name if kind == "user_annotation" else f"nn.Module: {record.path or record.name}"
        self._open(name, kind, record.t)

    def _span_end(self, record):
        if record.kind == "module":
            if self.local.modules:
                self.local.modules.pop()
            if not self.with_modules:
                return
        elif record.kind != "record_function":
            return
        name = record.name if record.kind == "record_function" else f"nn.Module: {record.path or record.name}"
        stack = self.local.open
        if not any(call.key is None and call.name == name for call in stack):
            return  # it began before the profile
        while stack:
            call = stack.pop()
            self._close(call, record.t)
            if call.key is None and call.name == name:
                return

    def _alloc(self, record):
        self._memory(record.nbytes)

    def _free(self, record):
        self._memory(-record.nbytes)

    def _memory(self, nbytes):
        stack = self.local.open
        if stack:
            stack[-1].memory += nbytes
        elif len(self.outside) < CAPACITY:
            self.outside.append((time.perf_counter_ns(), nbytes, threading.get_ident()))


def _since(calls, t0):
    for call in reversed(calls):
        if call.t0 < t0:
            return
        yield call


def _shape(value):
    if hasattr(value, "_a"):
        return list(value.shape)
    if type(value) in (list, tuple) and any(hasattr(each, "_a") for each in value):
        return [_shape(each) for each in value]
    return []


def _dtype(value):
    if hasattr(value, "_a"):
        return value.dtype.name
    return type(value).__name__ if isinstance(value, (bool, int, float, complex)) else ""


def events(trace):
    """The trace's calls as a list of FunctionEvents in order of start, children linked to parents."""
    from .events import FunctionEvent

    threads, made, order = {}, {}, sorted(trace.calls, key=lambda call: (call.t0, -call.t1, call.id))
    for call in order:
        thread = threads.setdefault(call.thread, len(threads) + 1)
        event = FunctionEvent(
            call.id,
            call.name,
            thread,
            (call.t0 - trace.begin) / 1e3,
            (call.t1 - trace.begin) / 1e3,
            call.kind,
        )
        event.input_shapes, event.input_dtypes = call.shapes or [], call.dtypes or []
        event.self_cpu_memory_usage, event.flops = (
            call.memory,
            call.flops if isinstance(call.flops, int) else 0,
        )
        event.stack, event.module, event.phase = stacks.describe(call.stack), call.module, call.phase
        event.sequence_nr, event.error = call.number, call.error
        made[id(call)] = event
    for call in order:
        parent = made.get(id(call.parent)) if call.parent is not None else None
        if parent is not None:
            event = made[id(call)]
            event.cpu_parent = parent
            parent.cpu_children.append(event)
    found = [made[id(call)] for call in order]
    for t, nbytes, thread in trace.outside:
        at = (t - trace.begin) / 1e3
        event = FunctionEvent(
            next(trace.made), "[memory]", threads.setdefault(thread, len(threads) + 1), at, at, "memory"
        )
        event.self_cpu_memory_usage = nbytes
        found.append(event)
    return found
