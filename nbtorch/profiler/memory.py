"""Live tensor bytes: an observer that follows every storage from birth to death, and a scan for when nobody
watched.

Bytes are those of the arrays that own memory; views add nothing.  Categories come from Tag records
(parameter, gradient, optimizer state) and from the tape: what a node saves for backward is an activation.  No
tensor is held, only numbers and weak references to storages.
"""

import gc
import sys
import threading
import weakref

from ..backend import arrays
from ..core import storage as storages
from ..core.graph import Node, saved_storages
from ..core.tensor import Tensor
from ..events import records as R

CATEGORIES = ("parameter", "gradient", "activation", "optimizer", "other")
_TAGS = {
    "parameter": "parameter",
    "buffer": "parameter",
    "gradient": "gradient",
    "optimizer_state": "optimizer",
}


class Live:
    """One living storage."""

    __slots__ = ("nbytes", "category", "device", "ref", "place")

    def __init__(self, nbytes, category, device, ref, place):
        self.nbytes, self.category, self.device, self.ref, self.place = nbytes, category, device, ref, place


def scan():
    """{storage id: Live} of everything alive now, categories found by looking at tensors, optimizers and the
    tape.

    Walks the garbage collector's lists: tens of milliseconds.
    """
    found, owners = {}, set()
    tensors, nodes, optimizers = [], [], []
    module = sys.modules.get(__package__.rpartition(".")[0] + ".optim.optimizer")
    optimizer_class = getattr(module, "Optimizer", None)  # while nothing imported it there is none
    for each in gc.get_objects():
        kind = type(each)
        if kind in (storages.Storage, storages.TrackedStorage, storages.CudaStorage):
            owner = id(arrays.owner_of(each.data))  # two storages over one array count once
            if owner not in owners:
                owners.add(owner)
                found[id(each)] = Live(each.nbytes, "other", str(each.device), weakref.ref(each), None)
        elif issubclass(kind, Tensor):  # never isinstance: it asks objects for __class__
            tensors.append(each)
        elif issubclass(kind, Node):
            nodes.append(each)
        elif optimizer_class is not None and issubclass(kind, optimizer_class):
            optimizers.append(each)
    for node in nodes:
        for _, _, storage in saved_storages(node):
            _mark(found, storage, "activation")
    for optimizer in optimizers:
        for state in getattr(optimizer, "state", {}).values():
            for value in state.values() if isinstance(state, dict) else ():
                if isinstance(value, Tensor):
                    _mark(found, value._s, "optimizer")
    for tensor in tensors:
        if type(tensor).__name__ == "Parameter" or tensor.is_leaf and tensor.requires_grad:
            _mark(found, tensor._s, "parameter")
    for tensor in tensors:
        grad = tensor._grad
        if isinstance(grad, Tensor):
            _mark(found, grad._s, "gradient")
    return found


def _mark(found, storage, category):
    root = getattr(storage, "root", None) or storage
    live = found.get(id(root))
    if live is not None:
        live.category = category


class Memory:
    """Observer: live bytes, by category, and their peak. `place` (a function without arguments) says where we
    are.
    """

    def __init__(self, place=None):
        self.place, self.lock = place, threading.RLock()  # a storage may die while this thread is in here
        self.live = scan()
        self.now = dict.fromkeys(CATEGORIES, 0)
        for each in self.live.values():
            self.now[each.category] += each.nbytes
        self.total = sum(self.now.values())
        self.start, self.start_by = self.total, dict(self.now)
        self.peak, self.peak_by, self.allocated, self.made, self.freed = self.total, dict(self.now), 0, 0, 0
        self.known = set(self.live)  # ids alive at the start, to tell what a cell left behind
        self._actions = {R.Alloc: self._alloc, R.Free: self._free, R.Tag: self._tag, R.NodeMade: self._node}

    def __call__(self, record):
        action = self._actions.get(type(record))
        if action is not None:
            with self.lock:
                action(record)

    def _alloc(self, record):
        place = self.place() if self.place is not None else None
        key = record.storage_id
        old = self.live.get(key)
        if old is not None:  # its death was not seen
            self._remove(key, old)
        self.known.discard(key)
        self.live[key] = Live(record.nbytes, "other", str(record.device), weakref.ref(record.storage), place)
        self.now["other"] += record.nbytes
        self.total += record.nbytes
        self.allocated += record.nbytes
        self.made += 1
        if self.total > self.peak:
            self.peak, self.peak_by = self.total, dict(self.now)

    def _free(self, record):
        live = self.live.get(record.storage_id)
        if live is not None:
            self._remove(record.storage_id, live)
            self.freed += live.nbytes

    def _remove(self, key, live):
        del self.live[key]
        self.known.discard(key)
        self.now[live.category] -= live.nbytes
        self.total -= live.nbytes

    def _move(self, storage, category, force):
        root = getattr(storage, "root", None) or storage
        live = self.live.get(id(root))
        if live is not None and (force or live.category == "other") and live.category != category:
            self.now[live.category] -= live.nbytes
            self.now[category] += live.nbytes
            live.category = category

    def _tag(self, record):
        category = _TAGS.get(record.category)
        if category is not None:
            self._move(record.storage, category, True)

    def _node(self, record):
        for _, _, storage in saved_storages(record.node):
            self._move(storage, "activation", False)

    def snapshot(self):
        """(total, by category, peak, peak by category) at one moment."""
        with self.lock:
            return self.total, dict(self.now), self.peak, dict(self.peak_by)

    def left(self):
        """Lives made since the start and still there, largest first."""
        with self.lock:
            found = [live for key, live in self.live.items() if key not in self.known]
        return sorted(found, key=lambda live: -live.nbytes)


def describe(live):
    """(shape, dtype name) of a living storage's array; None when it has just died."""
    storage = live.ref()
    if storage is None:
        return None
    return list(storage.data.shape), str(storage.data.dtype)
