"""Running backward: iterative, in the caller's thread, newest node first."""
import heapq
import sys
import time
import warnings

from ..events.bus import bus, emit
from ..events.records import Backward, NodeRun, Tag
from .dtype import DTYPES
from .graph import AccumulateGrad, accumulator
from .modes import LOCAL
from .op import OPS

getrefcount = sys.getrefcount


def fit(g, meta):
    """A gradient as its input wants it: summed to its shape, real for a real input, in its dtype and device."""
    shape, key = meta
    if g._a.shape != shape:
        g = OPS["_sum_to"].function(g, shape)
    if (g._key ^ key) & ~1:
        target, now = DTYPES[key >> 1 & 31], g.dtype
        if now.is_complex and not target.is_complex:
            g = OPS["real"].function(g)
        if g.dtype is not target:
            g = OPS["_to_copy"].function(g, target)
    return g


def accumulate(variable, g):
    """Add `g` to `variable.grad`; takes the memory over when nobody else holds it."""
    if g is None:
        return
    m = LOCAL.state
    old = variable._grad
    if old is None:
        if m.grad:
            variable._grad = g
        elif getrefcount(g) <= EXCLUSIVE and getrefcount(g._s) <= 2 and g._view is None and g._a.flags.c_contiguous \
                and g._s.root is None:
            variable._grad = g.detach() if g._fn is not None else g
        else:
            variable._grad = g.detach().clone()
        if bus.subscribers:
            emit(Tag(variable._grad._s, "gradient"))
    elif m.grad:
        variable._grad = old + g
    else:
        old.add_(g)
    if variable._post_hooks:
        for hook in list(variable._post_hooks.values()):
            hook(variable)


def _calibrate():
    """References to a gradient that only the engine holds, as `accumulate` sees them on this interpreter."""
    def look(g):
        return getrefcount(g)

    def results(grads):
        g = grads[0]
        grads[0] = None
        return look(g)
    return results([object()])


EXCLUSIVE = _calibrate()


def collect(roots):
    """All nodes reachable from the roots, and how many edges lead to each."""
    counts, stack = {}, []
    for node, _ in roots:
        if node not in counts:
            counts[node] = 0
            stack.append(node)
    while stack:
        for edge in stack.pop().edges:
            if edge is not None:
                node = edge[0]
                if node in counts:
                    counts[node] += 1
                else:
                    counts[node] = 1
                    stack.append(node)
    return counts


def needed_for(counts, targets):
    """Nodes on a path to one of the target (node, number) pairs."""
    wanted = {node for node, _ in targets}
    needed = set()
    for node in sorted(counts, key=lambda n: n.seq if not isinstance(n, AccumulateGrad) else -1):
        if node in wanted or any(e is not None and e[0] in needed for e in node.edges):
            needed.add(node)
    return needed


class Task:
    """One backward pass."""

    def __init__(self, roots, keep, create, targets=None):
        self.keep, self.create, self.targets = keep, create, targets
        self.counts = collect(roots)
        self.needed = None if targets is None else needed_for(self.counts, targets)
        self.buffers, self.captured, self.ready = {}, {}, []

    def add(self, node, number, g):
        """Deliver a gradient to output `number` of `node`."""
        buffer = self.buffers.get(node)
        if buffer is None:
            buffer = self.buffers[node] = [None] * max(node.n_out, number + 1)
        buffer[number] = g if buffer[number] is None else buffer[number] + g

    def arrive(self, node):
        """One edge to `node` was served; queue the node when it was the last."""
        self.counts[node] -= 1
        if self.counts[node] <= 0 and (self.needed is None or node in self.needed):
            heapq.heappush(self.ready, (-node.seq, id(node), node))

    def run(self, roots, grads):
        for (node, number), g in zip(roots, grads):
            self.add(node, number, g)
        for node in {node: None for node, _ in roots}:
            if self.counts[node] == 0:
                self.counts[node] = 1
                self.arrive(node)
        while self.ready:
            self.step(heapq.heappop(self.ready)[2])
        return self.captured

    def step(self, node):
        grads = self.buffers.pop(node, None) or [None] * node.n_out
        if node.prehooks:
            for hook in list(node.prehooks.values()):
                changed = hook(tuple(grads))
                if changed is not None:
                    grads = list(changed) if isinstance(changed, (tuple, list)) else [changed]
        if self.targets is not None:
            for target in self.targets:
                if target[0] is node and target[1] < len(grads):
                    self.captured[target] = grads[target[1]]
            if isinstance(node, AccumulateGrad) or not any(
                    e is not None and e[0] in self.needed for e in node.edges):
                return
        results = self.results(node, grads)
        del grads
        if not self.keep:
            node.release()
        self.deliver(node, results)

    def results(self, node, grads):
        """The node's gradients for its edges, with its post hooks applied."""
        if all(g is None for g in grads):
            return [None] * len(node.edges)
        if not bus.subscribers and not node.hooks:
            if type(node) is AccumulateGrad:
                g = grads[0]
                grads[0] = None
                accumulate(node.variable, g)
                return ()
            return node.run(grads)
        t0 = time.perf_counter_ns()
        results = node.run(grads)
        if bus.subscribers:
            emit(NodeRun(node, results, t0, time.perf_counter_ns()))
        for hook in list(node.hooks.values()) if node.hooks else ():
            changed = hook(tuple(results), tuple(grads))
            if changed is not None:
                results = list(changed) if isinstance(changed, (tuple, list)) else [changed]
        return results

    def deliver(self, node, results):
        edges, metas = node.edges, node.metas
        for i, edge in enumerate(edges):
            if edge is None:
                continue
            target, number = edge
            g = results[i]
            results[i] = None
            if g is not None and (self.needed is None or target in self.needed):
                if metas:
                    meta = metas[i]
                    if meta is not None and (g._a.shape != meta[0] or (g._key ^ meta[1]) & ~1):
                        g = fit(g, meta)
                self.add(target, number, g)
            g = None
            self.arrive(target)


def run_backward(roots, grads, keep, create, targets=None):
    """Run from `roots` ((node, number) pairs) with their gradients; returns captured gradients for `targets`."""
    m = LOCAL.state
    before, phase, m.grad, m.phase = m.grad, m.phase, create, "backward"
    try:
        return Task(roots, keep, create, targets).run(roots, grads)
    finally:
        m.grad, m.phase = before, phase


def edge_of(t):
    """(node, output number) a gradient for tensor `t` goes to, or None."""
    t.grad_fn                                     # a stale view derives its grad_fn again
    if t._fn is not None:
        return t._fn, t._nr
    return (accumulator(t), 0) if t._rg else None


def implicit_gradient(t):
    """Ones for a scalar output. Raises RuntimeError for others."""
    if t._a.size != 1:
        raise RuntimeError("grad can be implicitly created only for scalar outputs")
    if t.dtype.is_complex:
        raise RuntimeError(f"grad can be implicitly created only for real scalar outputs but got {t.dtype!r}")
    return OPS["_full_like_value"].function(t.detach(), 1)


def make_gradients(tensors, grads):
    """Check given gradients against their tensors; None becomes ones for scalars."""
    made = []
    for i, (t, g) in enumerate(zip(tensors, grads)):
        if g is None:
            made.append(implicit_gradient(t) if t.requires_grad else None)
            continue
        if g._a.shape != t._a.shape:
            raise RuntimeError(f"Mismatch in shape: grad_output[{i}] has a shape of {g.shape} and output[{i}] has a "
                               f"shape of {t.shape}.")
        if g.dtype.is_complex != t.dtype.is_complex:
            raise RuntimeError("For complex Tensors, both grad_output and output are required to have the same dtype. "
                               f"Mismatch in dtype: grad_output[{i}] has a dtype of {g.dtype!r} and output[{i}] has a "
                               f"dtype of {t.dtype!r}.")
        made.append(fit(g, (t._a.shape, t._key)))
    return made


def _as_list(value):
    return [value] if hasattr(value, "_a") else [value] if value is None else list(value)


def _start(tensors, grads):
    tensors = _as_list(tensors)
    grads = [None] * len(tensors) if grads is None else _as_list(grads)
    if len(grads) != len(tensors):
        raise RuntimeError(f"got {len(tensors)} tensors and {len(grads)} gradients")
    grads = make_gradients(tensors, grads)
    roots = []
    for i, t in enumerate(tensors):
        edge = edge_of(t)
        if edge is None:
            raise RuntimeError(f"element {i} of tensors does not require grad and does not have a grad_fn")
        roots.append(edge)
    return tensors, roots, grads


def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False, grad_variables=None, inputs=None):
    """Sum of gradients of `tensors` with respect to graph leaves, accumulated into `.grad`.

    grad_tensors: the vector of the vector-Jacobian product, one per tensor (None for scalars).
    https://docs.pytorch.org/docs/stable/generated/torch.autograd.backward.html
    """
    if grad_variables is not None:
        warnings.warn("`grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning, stacklevel=2)
        grad_tensors = grad_variables
    if inputs is not None and not len(_as_list(inputs)):
        raise RuntimeError("`inputs` argument to `backward` cannot be empty.")
    tensors, roots, grads = _start(tensors, grad_tensors)
    keep = create_graph if retain_graph is None else retain_graph
    if bus.subscribers:
        emit(Backward(tensors, "enter"))
    try:
        if inputs is None:
            run_backward(roots, grads, keep, create_graph)
        else:
            _into(_as_list(inputs), roots, grads, keep, create_graph)
    finally:
        if bus.subscribers:
            emit(Backward(tensors, "exit"))


def _into(inputs, roots, grads, keep, create):
    targets = []
    for i, t in enumerate(inputs):
        edge = edge_of(t)
        if edge is None:
            raise RuntimeError(f"One of the differentiated Tensors does not require grad")
        targets.append(edge)
    captured = run_backward(roots, grads, keep, create, list(dict.fromkeys(targets)))
    m = LOCAL.state
    before, m.grad = m.grad, create
    try:
        for t, target in zip(inputs, targets):
            accumulate(t, captured.get(target))
    finally:
        m.grad = before


def grad(outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False, only_inputs=True,
         allow_unused=None, is_grads_batched=False, materialize_grads=False):
    """Gradients of `outputs` with respect to `inputs`, returned rather than accumulated: a tuple, one per input.

    Raises RuntimeError when an input is not part of the graph, unless allow_unused (then None for it).
    https://docs.pytorch.org/docs/stable/generated/torch.autograd.grad.html
    """
    if is_grads_batched:
        raise NotImplementedError("autograd.grad(is_grads_batched=True) is not available in nbtorch")
    allow_unused = materialize_grads if allow_unused is None else allow_unused
    inputs = _as_list(inputs)
    _, roots, grads = _start(outputs, grad_outputs)
    targets = []
    for t in inputs:
        edge = edge_of(t)
        if edge is None and not allow_unused:
            raise RuntimeError("One of the differentiated Tensors does not require grad")
        targets.append(edge)
    keep = create_graph if retain_graph is None else retain_graph
    captured = run_backward(roots, grads, keep, create_graph, [e for e in dict.fromkeys(targets) if e is not None])
    results = []
    for t, target in zip(inputs, targets):
        g = captured.get(target)
        if g is None and materialize_grads:
            g = OPS["_full_like_value"].function(t.detach(), 0)
        if g is None and not allow_unused:
            raise RuntimeError("One of the differentiated Tensors appears to not have been used in the graph. "
                               "Set allow_unused=True if this is the desired behavior.")
        results.append(g if g is None or create_graph or g._fn is None else g.detach())
    return tuple(results)
