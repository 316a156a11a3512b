"""Observers behind the live panels: the newest step's graph, and memory over time. They hold records, never
tensors.
"""

import math
import sys
import threading
import time

import numpy as np

from ..backend import registry
from ..core.graph import AccumulateGrad
from ..events import messages as M
from ..events import records as R
from .views import graph as graphs

INTERVAL = 0.05  # at most 20 graphs a second
NORM_LIMIT = 1 << 22


def norm(tensor):
    """The 2-norm of a tensor's array as a float, None when it is too large to be worth it or not numeric."""
    array = getattr(tensor, "_a", None)
    if not isinstance(array, np.ndarray) or array.size > NORM_LIMIT or not array.size:
        return None
    flat = array.astype(np.complex128 if array.dtype.kind == "c" else np.float64).ravel()
    with np.errstate(all="ignore"):
        return float(math.sqrt(np.vdot(flat, flat).real)) if np.isfinite(flat).all() else float("nan")


def _loaded(module, name):
    """A class of nbtorch, or None while nothing has imported its module: then no instance can exist."""
    return getattr(sys.modules.get(f"{__package__.rpartition('.')[0]}.{module}"), name, None)


def module_class():
    """nn.Module, or None."""
    return _loaded("nn.modules.module", "Module")


def named(module, *methods):
    """[(path, tensor)] of a module; nothing for one that cannot tell, as when its `super().__init__()` is missing."""
    try:
        return [pair for method in methods for pair in getattr(module, method)()]
    except Exception:  # what a user's class raises is its own affair: it must not end a report of others
        return []


def variables(namespace):
    """{id of storage: name} of what a namespace can name: tensors, modules' parameters, optimizers' state."""
    from ..core.tensor import Tensor

    module, optimizer = module_class(), _loaded("optim.optimizer", "Optimizer")
    found, optimizers, paths = {}, [], {}
    for name, value in list(namespace.items()):
        kind = type(value)
        if name.startswith("_"):
            continue
        if issubclass(kind, Tensor):
            found.setdefault(id(value._s), name)
        elif module is not None and issubclass(kind, module):
            for path, tensor in named(value, "named_parameters", "named_buffers"):
                found.setdefault(id(tensor._s), f"{name}.{path}")
                paths.setdefault(id(tensor), f"{name}.{path}")
                if tensor._grad is not None:
                    found.setdefault(id(tensor._grad._s), f"{name}.{path}.grad")
        elif optimizer is not None and issubclass(kind, optimizer):
            optimizers.append((name, value))
    for name, value in optimizers:
        for parameter, state in list(value.state.items()):
            for key, tensor in state.items() if isinstance(state, dict) else ():
                if isinstance(tensor, Tensor):
                    owner = paths.get(id(parameter), "?")
                    found.setdefault(id(tensor._s), f"{name}.state[{owner}].{key}")
    return found


class Names:
    """Names of leaves, looked up in the user's namespace: parameters through its modules, tensors by their
    variable.
    """

    def __init__(self, namespace):
        self.namespace = namespace

    def __call__(self):
        from ..core.tensor import Tensor

        Module = module_class()
        found = {}
        for name, value in list(self.namespace.items()):
            if name.startswith("_"):
                continue
            if Module is not None and issubclass(type(value), Module):
                for path, parameter in named(value, "named_parameters"):
                    found.setdefault(id(parameter), path)
            elif issubclass(type(value), Tensor):
                found.setdefault(id(value), name)
        return found


class Sampler:
    """Observer: walks the tape when a backward begins, adds what backward tells, hands the Graph to `sink`.

    `wanted()` says whether anybody looks; the walk is made at most once an interval.
    """

    def __init__(self, sink, names=dict, wanted=lambda: True, run=lambda: None, interval=INTERVAL):
        self.sink, self.names, self.wanted, self.run, self.interval = sink, names, wanted, run, interval
        self.local, self.last, self.steps, self.backwards = threading.local(), -1e9, 0, 0

    def __call__(self, record):
        kind = type(record)
        if kind is R.NodeRun:
            boxes = getattr(self.local, "boxes", None)
            if boxes:
                self._ran(record, boxes)
        elif kind is R.NodeMade:
            self.local.made = record.node
        elif kind is R.OpExit:
            node = getattr(self.local, "made", None)
            if node is not None:
                self.local.made = None
                node.metadata["forward_ns"] = record.t1 - record.t0
        elif kind is R.Backward:
            self._backward(record)
        elif kind is R.Step:
            self.steps += 1

    def _backward(self, record):
        if record.when == "enter":
            self.backwards += 1
            now = time.monotonic()
            if now - self.last < self.interval or not self.wanted():
                return
            self.last = now
            nodes = [t.grad_fn for t in record.roots if t is not None and t.grad_fn is not None]
            self.local.graph, self.local.boxes = graphs.walk(nodes, self.names())
            self.local.graph.loss = scalar(record.roots[0])
            return
        boxes = getattr(self.local, "boxes", None)
        if boxes is None:
            return
        graph, self.local.graph, self.local.boxes = self.local.graph, None, None
        for node, box in boxes.items():
            box.freed = box.op != "AccumulateGrad" and node.saved is None
            if type(node) is AccumulateGrad and node.variable._grad is not None:
                box.value, box.value_name = norm(node.variable._grad), "grad norm"
        graph.step, graph.run = max(self.steps, self.backwards), self.run()
        self.sink(graph)

    @staticmethod
    def _ran(record, boxes):
        box = boxes.get(record.node)
        if box is None:
            return
        box.backward_ms = (record.t1 - record.t0) / 1e6
        norms = [norm(g) for g in record.grads if g is not None]
        norms = [n for n in norms if n is not None]
        if norms and not box.value_name:
            box.value, box.value_name = math.sqrt(sum(n * n for n in norms)), "grad norm"


def scalar(tensor):
    """The value of a one-element tensor, None for others."""
    array = getattr(tensor, "_a", None)
    if isinstance(array, np.ndarray) and array.size == 1 and array.dtype.kind in "fiu":
        return float(array.reshape(-1)[0])
    return None


class Graphs:
    """The newest graphs by number: new numbers for new structures, kept as plain boxes for clicks."""

    def __init__(self, source=lambda place: ""):
        self.lock, self.source = threading.Lock(), source
        self.number, self.signature, self.newest, self.kept = 0, None, None, {}

    def add(self, graph):
        """Take a graph; returns the message that tells it: a whole snapshot for a new structure, else its
        values.
        """
        signature = graph.signature()
        with self.lock:
            fresh = signature != self.signature
            if fresh:
                self.number, self.signature = self.number + 1, signature
            self.newest = graph
            self.kept[self.number] = graph
            while len(self.kept) > 8:
                self.kept.pop(next(iter(self.kept)))
            number = self.number
        return graphs.snapshot(graph, number, self.source) if fresh else graphs.values(graph, number)

    def whole(self):
        """The newest graph as a snapshot, None when there is none."""
        with self.lock:
            graph, number = self.newest, self.number
        return None if graph is None else graphs.snapshot(graph, number, self.source)

    def detail(self, number, node):
        """GraphDetail of a node that was sent, None for ids that were not."""
        with self.lock:
            graph = self.kept.get(number)
        if graph is None or not 0 <= node < len(graph.boxes):
            return None
        box = graph.boxes[node]
        return graphs.detail(box, number, self.source(box.place) if box.place is not None else "")


def categories(by):
    """Bytes by category as a message."""
    return M.Categories(**{name: max(0, int(value)) for name, value in by.items()})


def rss():
    """Resident memory of this process in bytes, None where it cannot be told."""
    try:
        import psutil
    except ImportError:
        return None
    return psutil.Process().memory_info().rss


class History:
    """Samples of memory, thinned to at most 2,000 by dropping every other one."""

    def __init__(self, limit=2000):
        self.samples, self.limit, self.every, self.count = [], limit, 1, 0
        self.lock = threading.Lock()

    def add(self, sample):
        """Keep a sample, if it is its turn."""
        with self.lock:
            self.count += 1
            if self.count % self.every == 0:
                self.samples.append(sample)
                if len(self.samples) >= self.limit:
                    self.samples, self.every = self.samples[::2], self.every * 2

    def message(self):
        """All kept samples, oldest first."""
        with self.lock:
            return M.MemoryHistory(samples=list(self.samples))


def sample(memory, run=None, step=None):
    """One MemorySample of a Memory observer."""
    total, by, peak, _ = memory.snapshot()
    return M.MemorySample(
        time=time.time(),
        live=max(0, total),
        peak=max(0, peak),
        by=categories(by),
        rss=rss(),
        run=run,
        step=step,
    )


def top(lives, names, limit=20):
    """MemoryTop of living storages, largest first; names: {id of storage: variable}."""
    from ..profiler.memory import describe

    found = []
    ordered = sorted(lives, key=lambda live: -live.nbytes)
    for live in ordered:
        shape = describe(live)
        if shape is None:
            continue
        storage = live.ref()
        found.append(
            M.TopTensor(
                id=id(storage),
                name=M.short(names.get(id(storage), "")),
                bytes=live.nbytes,
                shape=shape[0][:64],
                dtype=shape[1],
                category=live.category,
                device=live.device,
                place=graphs.place_message(live.place),
            )
        )
        if len(found) >= limit:
            break
    return M.MemoryTop(count=len(ordered), tensors=found)


def kernel_calls(counts, most=5):
    """KernelCalls of {provider: {kernel: calls}}, as `registry.counts` gives them."""
    providers = [
        M.ProviderCalls(
            provider=provider,
            calls=sum(counts[provider].values()),
            busiest=[
                M.KernelCount(name=M.short(name), calls=calls)
                for name, calls in sorted(counts[provider].items(), key=lambda pair: (-pair[1], pair[0]))[:most]
            ],
        )
        for provider in dict.fromkeys([*registry.PROVIDERS, "numpy", *counts])
        if counts.get(provider)
    ]
    return M.KernelCalls(providers=providers)


class Calls:
    """Tells when kernels have answered more calls: looks at most once an interval."""

    def __init__(self, interval=1.0):
        self.interval, self.last, self.told = interval, -math.inf, {}

    def message(self):
        """KernelCalls as of now, for a page that comes late."""
        return kernel_calls(registry.counts())

    def fresh(self):
        """KernelCalls when they have changed since this was last told, else None."""
        now = time.monotonic()
        if now - self.last < self.interval:
            return None
        self.last, before, self.told = now, self.told, registry.counts()
        return kernel_calls(self.told) if self.told != before else None
