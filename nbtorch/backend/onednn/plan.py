"""Cached work: primitives with their memory objects, built once per problem and then only pointed at new data."""
import contextlib
import ctypes
import threading
from collections import OrderedDict

import numpy as np

from .lib import QUERY_SCRATCHPAD, SCRATCHPAD, Argument, Dims, Unsupported, address, library

_KEEP = 64 << 20                                  # a thread keeps at most this much scratch between calls
_local = threading.local()


def arena(size):
    """This thread's scratch memory (a uint8 array) of at least `size` bytes, 64-byte aligned at [0]."""
    kept = getattr(_local, "arena", None)
    if kept is not None and kept.nbytes >= size:
        return kept
    room = np.empty(size + 64, np.uint8)
    room = room[-address(room) % 64:][:size]
    if size <= _KEEP:
        _local.arena = room
    return room


def contiguous_strides(shape):
    """Element strides of a C-contiguous array."""
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= size
    return tuple(reversed(strides))


def strides_of(array):
    """`strides_from` an array."""
    return strides_from(array.shape, array.strides, array.itemsize)


def strides_from(shape, byte_strides, itemsize):
    """Element strides, those of size-1 dimensions made canonical; None where oneDNN cannot take the layout."""
    strides, step = [], 1
    for size, stride in zip(reversed(shape), reversed(byte_strides)):
        if size == 1:
            stride = step * itemsize
        elif stride <= 0 or stride % itemsize:
            return None
        strides.append(stride // itemsize)
        step = max(step, strides[-1] * size)
    return tuple(reversed(strides))


class Plan:
    """Primitives and memory objects of one problem. Use under `lock`: memory objects hold the current pointers."""

    def __init__(self):
        self._owned = []
        self.dnnl = library()
        self.lock = threading.Lock()
        self.size, self._inner, self._base = 0, [], 0

    def keep(self, kind, handle):
        """Own a handle until the plan is dropped from the cache."""
        self._owned.append((kind, handle))
        return handle

    def layout(self, shape, dtype, strides=None):
        """A memory descriptor; without strides oneDNN may choose the layout."""
        make, dims = self.dnnl.make, Dims(*shape)
        if strides is None:
            return self.keep("memory_desc", make("memory_desc_create_with_tag", len(shape), dims, dtype, 1))
        return self.keep("memory_desc", make("memory_desc_create_with_strides", len(shape), dims, dtype,
                                             Dims(*strides)))

    def attributes(self, *operations):
        """Primitive attributes: scratch memory comes from us; operations are appended to the result."""
        make, call = self.dnnl.make, self.dnnl.call
        attributes = self.keep("primitive_attr", make("primitive_attr_create"))
        call("primitive_attr_set_scratchpad_mode", attributes, 1)
        if operations:
            chain = self.keep("post_ops", make("post_ops_create"))
            for name, *args in operations:
                call("post_ops_append_" + name, chain, *args)
            call("primitive_attr_set_post_ops", attributes, chain)
        return attributes

    def descriptor(self, name, *args):
        """A primitive descriptor. Raises Unsupported when there is no implementation worth using."""
        made = self.keep("primitive_desc", self.dnnl.make(name + "_primitive_desc_create", *args))
        if name != "reorder" and self.dnnl.implementation(made).startswith("ref"):
            raise Unsupported("only a reference implementation")
        return made

    def memory(self, layout):
        """A memory object that is pointed at an array before each execution."""
        return self.keep("memory", self.dnnl.make("memory_create", layout, self.dnnl.engine, None))

    def inner(self, layout):
        """A memory object inside the arena; (memory, offset)."""
        memory, offset = self.memory(layout), self.size
        self._inner.append((memory, offset))
        self.size += -(-self.dnnl.size(layout) // 64) * 64
        return memory, offset

    def step(self, descriptor, **memories):
        """(primitive, argument count, arguments) for `execute`. Keywords: names of oneDNN's arguments."""
        primitive = self.keep("primitive", self.dnnl.make("primitive_create", descriptor))
        pairs = [(_ARGUMENTS[name], memory) for name, memory in memories.items() if memory is not None]
        scratch = self.dnnl.layout(descriptor, QUERY_SCRATCHPAD)
        if scratch and self.dnnl.size(scratch):
            pairs.append((SCRATCHPAD, self.inner(scratch)[0]))
        arguments = (Argument * len(pairs))(*pairs)
        self._owned.append((None, arguments))
        return primitive, len(pairs), ctypes.addressof(arguments)

    def convert(self, source, target, source_layout, target_layout):
        """The step that copies between two memory objects of different layout or dtype."""
        engine = self.dnnl.engine
        made = self.descriptor("reorder", source_layout, engine, target_layout, engine, self.attributes())
        return self.step(made, src=source, dst=target)

    def enter(self):
        """Point inner memory at this thread's arena; returns the arena. Call with the lock held."""
        room = arena(self.size)
        base = address(room)
        if base != self._base:
            point = self.dnnl.point
            for memory, offset in self._inner:
                point(memory, base + offset)
            self._base = base
        return room

    def execute(self, step):
        primitive, count, arguments = step
        status = self.dnnl.execute(primitive, self.dnnl.stream, count, arguments)
        if status:
            raise RuntimeError(f"could not execute a primitive: oneDNN returned {status}")

    def __del__(self):
        # primitives go before what they were made from
        for kind, handle in reversed(self._owned):
            if kind is not None:
                self.dnnl.free(kind, handle)


_ARGUMENTS = {"src": 1, "dst": 17, "weights": 33, "bias": 41,
              "diff_src": 129, "diff_dst": 145, "diff_weights": 161, "diff_bias": 169}


class Cache:
    """Plans by key, least recently used dropped. A value of None remembers that oneDNN has none."""

    def __init__(self, bound=1024):
        self.bound, self._plans, self._lock = bound, OrderedDict(), threading.Lock()

    def get(self, key, build):
        """The plan of this key, `build(*key)` at first use; None where oneDNN declines."""
        plans = self._plans
        with contextlib.suppress(KeyError):       # another thread may drop it between the two lines
            plan = plans[key]
            plans.move_to_end(key)
            return plan
        try:
            plan = build(*key)
        except Unsupported:
            plan = None
        with self._lock:
            plan = plans.setdefault(key, plan)
            while len(plans) > self.bound:
                plans.popitem(last=False)
        return plan

    def __len__(self):
        return len(self._plans)

    def clear(self):
        with self._lock:
            self._plans.clear()
