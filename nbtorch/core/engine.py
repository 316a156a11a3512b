"""Running backward: iterative, in the caller's thread, newest node first."""
import time
import warnings
from heapq import heappop, heappush

from ..events.bus import bus, emit
from ..events.records import Backward, NodeRun
from .dtype import scalar_name
from .gradients import accumulate, fit
from .graph import AccumulateGrad, accumulator
from .modes import LOCAL
from .op import OPS


def collect(roots):
    """Nodes reachable from the roots; for leaves' nodes also how many edges lead to each."""
    seen, leaves, stack = set(), {}, []
    for node, _ in roots:
        if type(node) is AccumulateGrad:
            leaves[node] = leaves.get(node, 0) + 1
        elif node not in seen:
            seen.add(node)
            stack.append(node)
    while stack:
        for edge in stack.pop().edges:
            if edge is not None:
                node = edge[0]
                if type(node) is AccumulateGrad:
                    leaves[node] = leaves.get(node, 0) + 1
                elif node not in seen:
                    seen.add(node)
                    stack.append(node)
    return seen, leaves


def needed_for(nodes, leaves, targets):
    """Nodes on a path to one of the target (node, number) pairs."""
    wanted = {node for node, _ in targets}
    needed = {leaf for leaf in leaves if leaf in wanted}
    for node in sorted(nodes, key=lambda n: n.seq):
        if node in wanted or any(e is not None and e[0] in needed for e in node.edges):
            needed.add(node)
    return needed


def name_of(hook):
    """What error messages call a hook."""
    return getattr(hook, "__name__", type(hook).__name__)


def checked(hook, changed, before):
    """The gradients a hook put in the place of `before`, as a list. Raises for other numbers, types and shapes."""
    changed = [changed] if hasattr(changed, "_a") else changed
    if not isinstance(changed, (tuple, list)):
        raise TypeError(f"expected tuple, but hook returned '{type(changed).__name__}'")
    if len(changed) != len(before):
        raise RuntimeError(f"hook '{name_of(hook)}' has returned an incorrect number of values (got {len(changed)}, but "
                           f"expected {len(before)})")
    for new, old in zip(changed, before):
        if new is None:
            continue
        if not hasattr(new, "_a"):
            raise TypeError(f"expected Variable, but hook returned '{type(new).__name__}'")
        if old is not None and (new._key ^ old._key) >> 1:
            raise RuntimeError(f"hook '{name_of(hook)}' has changed the type of value (was torch."
                               f"{scalar_name(old.dtype)}Tensor got torch.{scalar_name(new.dtype)}Tensor)")
        if old is not None and new._a.shape != old._a.shape:
            raise RuntimeError(f"hook '{name_of(hook)}' has changed the size of value")
    return list(changed)


class Task:
    """One backward pass. Nodes run newest first; since edges only ever lead to older nodes, a node that is the newest
    waiting one has all its gradients. Leaves run as soon as their last edge was served."""

    def __init__(self, roots, keep, targets=None):
        self.keep, self.targets = keep, targets
        nodes, self.leaves = collect(roots)
        self.needed = None if targets is None else needed_for(nodes, self.leaves, targets)
        self.buffers, self.captured, self.ready = {}, {}, []

    def add(self, node, number, g):
        """Deliver a gradient to output `number` of `node`."""
        buffer = self.buffers.get(node)
        if buffer is None:
            if node.n_out == 1:
                self.buffers[node] = [g]
            else:
                buffer = self.buffers[node] = [None] * node.n_out
                buffer[number] = g
            if type(node) is not AccumulateGrad:
                heappush(self.ready, (-node.seq, node))
        else:
            old = buffer[number]
            buffer[number] = g if old is None else old + g

    def run(self, roots, grads):
        """Deliver the roots' gradients and run until nothing waits; returns what was captured for the targets."""
        ready, leaves = self.ready, self.leaves
        for (node, number), g in zip(roots, grads):
            self.add(node, number, g)
        for node, _ in roots:
            if node in leaves:
                self.serve(node)
        while ready:
            node = heappop(ready)[1]
            self.step(node, self.buffers.pop(node))
        for node in [n for n in self.buffers if type(n) is AccumulateGrad]:
            self.leaf(node)
        return self.captured

    def serve(self, node):
        """One edge to a leaf was served; run the leaf when it was the last."""
        self.leaves[node] -= 1
        if self.leaves[node] == 0 and node in self.buffers:
            self.leaf(node)

    def leaf(self, node):
        grads = self.buffers.pop(node)
        if node.prehooks:
            grads = self.prehooked(node, grads)
        if self.targets is not None:
            self.capture(node, grads)
        elif node.hooks or bus.subscribers:
            self.hooked(node, grads)
        else:
            accumulate(node.variable, grads.pop())

    def prehooked(self, node, grads):
        for hook in list(node.prehooks.values()):
            changed = hook(tuple(grads))
            if changed is not None:
                grads = checked(hook, changed, grads)
        return grads

    def capture(self, node, grads):
        for target in self.targets:
            if target[0] is node:
                self.captured[target] = grads[target[1]]

    def hooked(self, node, grads):
        """Run a node that is observed or has post hooks."""
        t0 = time.perf_counter_ns()
        results = node.run(grads)
        if bus.subscribers:
            emit(NodeRun(node, results, t0, time.perf_counter_ns()))
        if node.hooks:
            results = [g if g is None or meta is None else fit(g, meta) for g, meta in zip(results, node.metas)]
            for hook in list(node.hooks.values()):
                changed = hook(tuple(results), tuple(grads))
                if changed is not None:
                    results = checked(hook, changed, results)
        return results

    def step(self, node, grads):
        """Run one node and deliver its results."""
        if node.prehooks:
            grads = self.prehooked(node, grads)
        needed = self.needed
        if needed is not None:
            self.capture(node, grads)
            if node not in needed or not any(e is not None and e[0] in needed for e in node.edges):
                return
        watched = bus.subscribers
        results = self.hooked(node, grads) if node.hooks or watched else node.run(grads)
        grads = None
        if not self.keep:
            node.release()
        i, metas, leaves = 0, node.metas, self.leaves
        for edge in node.edges:
            if edge is not None:
                target, number = edge
                g, results[i] = results[i], None
                leaf = type(target) is AccumulateGrad
                if g is not None and (needed is None or target in needed):
                    meta = metas[i]
                    if g._a.shape != meta[0] or (g._key ^ meta[1]) & ~1:
                        g = fit(g, meta)
                    if leaf and leaves[target] == 1 and needed is None and not watched and target not in self.buffers \
                            and target.prehooks is None and target.hooks is None:
                        leaves[target], leaf = 0, False   # the usual leaf: its one gradient goes straight in
                        accumulate(target.variable, g, 1)
                    else:
                        self.add(target, number, g)
                g = None
                if leaf:
                    self.serve(target)
            i += 1


def run_backward(roots, grads, keep, create, targets=None):
    """Run from `roots` ((node, number) pairs) with their gradients; returns captured gradients for `targets`."""
    m = LOCAL.state
    before, phase, m.grad, m.phase = m.grad, m.phase, create, "backward"
    try:
        return Task(roots, keep, targets).run(roots, grads)
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


def _start_one(t, g):
    """`_start` for one tensor and a gradient that fits it as it is: what every training step does."""
    edge = edge_of(t)
    if edge is None or g is not None and (not hasattr(g, "_a") or g._a.shape != t._a.shape or g._key != t._key):
        return None
    return [t], [edge], [implicit_gradient(t) if g is None else g]


def _start(tensors, grads):
    if hasattr(tensors, "_a"):
        found = _start_one(tensors, grads)
        if found is not None:
            return found
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
        raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
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
            raise RuntimeError("One of the differentiated Tensors does not require grad")
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
    if materialize_grads and allow_unused is False:
        raise ValueError("Expected allow_unused to be True or not passed when materialize_grads=True, but got: "
                         "allow_unused=False.")
    allow_unused = materialize_grads if allow_unused is None else allow_unused
    inputs = _as_list(inputs)
    if not inputs:
        raise RuntimeError("`inputs` argument to `grad()` cannot be empty.")
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
    for i, (t, target) in enumerate(zip(inputs, targets)):
        g = captured.get(target)
        if g is None and materialize_grads:
            g = OPS["_full_like_value"].function(t.detach(), 0)
        if g is None and not allow_unused:
            raise RuntimeError(f"The differentiated Tensor at index {i} appears to not have been used in the graph. "
                               "Set allow_unused=True if this is the desired behavior.")
        results.append(g if g is None or create_graph or g._fn is None else g.detach())
    return tuple(results)
