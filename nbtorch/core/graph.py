"""The tape: nodes, edges, and what a node saves. Saved values are memory with metadata, never tensors that could
point back at their own node (that would be a cycle, and memory would wait for the garbage collector)."""
import itertools
from weakref import ref

from ..events.bus import bus, emit_node
from ..events.records import NodeMade
from .dtype import DTYPES, scalar_name
from .modes import LOCAL

_sequence = itertools.count(1)
new = object.__new__
T = None                                          # the Tensor class; tensor.py sets it


class Node:
    """One step of the backward graph.

    edges: for each tensor argument of the forward call, (node, output number) or None. `metadata` is a free dict.
    https://docs.pytorch.org/docs/stable/generated/torch.autograd.graph.Node.metadata.html
    """

    # what most nodes never set lives on the class, so that making a node sets few attributes
    op = recorder = hooks = prehooks = _metadata = None
    edges = saved = metas = retaining = ()
    n_out = 1

    def __init__(self, edges=(), n_out=1):
        self.edges, self.seq, self.n_out = edges, next(_sequence), n_out

    @property
    def metadata(self):
        if self._metadata is None:
            self._metadata = {}
        return self._metadata

    def name(self):
        """The node's type name, such as MulBackward0."""
        return type(self).__name__

    def __repr__(self):
        return f"<{type(self).__name__} object at {id(self):#x}>"

    @property
    def next_functions(self):
        """((node, output number), ...) of the arguments; (None, 0) for those without history."""
        return tuple(e if e is not None else (None, 0) for e in self.edges)

    @property
    def requires_grad(self):
        return True

    def _sequence_nr(self):
        return self.seq

    def register_hook(self, hook):
        """`hook(grad_inputs, grad_outputs)` after the node ran; may return new grad_inputs. Returns a handle."""
        self.hooks = {} if self.hooks is None else self.hooks
        return Handle(self.hooks, hook)

    def register_prehook(self, hook):
        """`hook(grad_outputs)` before the node runs; may return new grad_outputs. Returns a handle."""
        self.prehooks = {} if self.prehooks is None else self.prehooks
        handle = Handle(self.prehooks, hook)
        for key in self.retaining:                # what retain_grad keeps is what all hooks made of it
            if key in self.prehooks:
                self.prehooks[key] = self.prehooks.pop(key)
        return handle

    def run(self, grads):
        """Gradients for the edges from the gradients of the outputs (None where absent)."""
        return self.recorder.backward(self, grads)

    def release(self):
        """Drop what was saved, so that memory goes as backward proceeds."""
        if self.recorder is not None and self.recorder.packed:
            self.saved = None

    def __call__(self, *grads):
        result = tuple(self.run(list(grads)))
        return result[0] if len(result) == 1 else result

    def __getattr__(self, name):
        if name.startswith("_saved_") and self.recorder is not None:
            return self.recorder.saved_value(self, name[7:])
        if name.startswith("_raw_saved_") and self.recorder is not None:
            return SavedTensor(self, name[11:])
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")


_handle_ids = itertools.count()


class Handle:
    """Returned by register_*hook; `remove()` takes the hook out again, and so does leaving a `with` block."""

    def __init__(self, hooks, hook):
        self.hooks, self.id = hooks, next(_handle_ids)
        hooks[self.id] = hook

    def remove(self):
        self.hooks.pop(self.id, None)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.remove()


class AccumulateGrad(Node):
    """The end of the graph at a leaf: adds the arriving gradient to `variable.grad`."""

    seq = 1 << 62

    def __init__(self, variable):
        self.variable = variable

    def name(self):
        return "torch::autograd::AccumulateGrad"

    def run(self, grads):
        from .gradients import accumulate
        accumulate(self.variable, grads[0])
        return ()


def accumulator(tensor):
    """The AccumulateGrad node of a leaf; the tensor holds it weakly, graphs hold it strongly."""
    node = tensor._acc
    if node is not None:
        node = node()
        if node is not None:
            return node
    node = new(AccumulateGrad)
    node.variable = tensor
    if tensor._hooks is not None:
        node.prehooks = tensor._hooks
    tensor._acc = ref(node)
    return node


class SavedTensor:
    """Raw access to one saved value (`_raw_saved_*`), on which pack/unpack hooks may be registered."""

    def __init__(self, node, name):
        self.node, self.name = node, name

    def register_hooks(self, pack_hook, unpack_hook):
        """Replace the saved value by `pack_hook(value)`; `unpack_hook` rebuilds it in backward."""
        recorder, node = self.node.recorder, self.node
        i = recorder.names.index(self.name)
        value = recorder.saved_value(node, self.name)
        packed = Hooked(unpack_hook, pack_hook(value))
        node.saved = (*node.saved[:i], packed, *node.saved[i + 1:])


class Hooked:
    """A value that saved-tensor hooks packed."""

    __slots__ = ("unpack", "value")

    def __init__(self, unpack, value):
        self.unpack, self.value = unpack, value

    def unpacked(self):
        """The tensor again. Raises TypeError if the hook gives something else."""
        t = self.unpack(self.value)
        if not isinstance(t, T):
            raise TypeError("Output of saved tensor unpack_hook expected to be a Tensor but got result of type "
                            f"{type(t).__name__}")
        return t


def pack(t):
    """A saved form of a tensor argument: (array, storage, version, key, grad_fn, output nr, leaf)."""
    if not isinstance(t, T):
        return [pack(x) for x in t] if isinstance(t, (list, tuple)) else t
    hooks = LOCAL.state.saved_hooks
    if hooks:
        return packed_by(hooks[-1], t)
    s = t._s
    if t._rg and t._fn is None:
        return (t._a, s, s.version, t._key, None, 0, t)
    return (t._a, s, s.version, t._key, t._fn, t._nr, None)


def packed_by(hooks, t):
    """What the pair of saved-tensor hooks makes of `t`. Raises RuntimeError if the first writes to it."""
    packer, unpacker = hooks
    version = t._s.version
    value = packer(t)
    if t._s.version != version:
        raise RuntimeError("A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack "
                           "hook cannot be modified by in-place operations as this can lead to unexpected side-effects. "
                           "Please open an issue if you need to perform in-place operations on the input to a pack hook.")
    return Hooked(unpacker, value)


def pack_result(t, node):
    """A saved form of a result of `node` itself; the node is filled in again on unpacking."""
    hooks = LOCAL.state.saved_hooks
    if hooks:
        return packed_by(hooks[-1], t.detach())
    s = t._s
    return (t._a, s, s.version, t._key, Node, t._nr, None)


def unpack(p, node):
    """The tensor (or number, or list) that `pack` saved. Raises RuntimeError if it was written to since."""
    if type(p) is not tuple:
        if type(p) is list:
            return [unpack(x, node) for x in p]
        return p.unpacked() if type(p) is Hooked else p
    a, s, version, key, fn, nr, leaf = p
    if s.version != version:
        raise _modified(a, key, node if fn is Node else fn, nr, s.version, version)
    if leaf is not None:
        return leaf
    t = new(T)
    t._a, t._s, t._key = a, s, key
    if fn is not None:
        t._fn, t._nr = (node if fn is Node else fn), nr
    return t


def _modified(a, key, fn, nr, now, expected):
    kind = scalar_name(DTYPES[key >> 1 & 31])
    origin = f", which is output {nr} of {short_name(fn)}," if fn is not None else ""
    return RuntimeError(
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"[torch.{kind}Tensor {list(a.shape)}]{origin} is at version {now}; expected version {expected} instead. "
        "Hint: enable anomaly detection to find the operation that failed to compute its gradient, "
        "with torch.autograd.set_detect_anomaly(True, check_nan=False).")


def short_name(node):
    """The node's name as messages give it: without `Backward` and the number after it."""
    return "None" if node is None else node.name().rstrip("0123456789").removesuffix("Backward")


def shape_of(a):
    """Shape of an array argument; () for a Python number, a list of shapes for a list."""
    if type(a) is list:
        return [shape_of(x) for x in a]
    return getattr(a, "shape", ())


class Recorder:
    """For one op and one pattern of inputs needing a gradient: what to save, precomputed, and how to run backward."""

    def __init__(self, op, mask, layout):
        self.op = op
        self.layout = layout                      # per tensor argument: flat position, or (start, stop) of a list
        self.active = [f for f in op.formulas if any(self._wanted(i, mask) for i in f.inputs)]
        self.names = tuple(dict.fromkeys(n for f in self.active for n in f.names if n not in ("g", "gs")))
        self.calls = [(f, tuple(-1 if n == "g" else -2 if n == "gs" else self.names.index(n) for n in f.names))
                      for f in self.active]
        sources = [self._source(n) for n in self.names]
        self.packed = tuple(i for i, s in enumerate(sources) if s.startswith("P"))
        self.save = eval(f"lambda ts, args, attrs, outs, node: ({''.join(s + ',' for s in sources)})", SAVERS)
        self.keeps = tuple(i for i, s in enumerate(sources) if s.startswith("P(ts["))
        self.saved_inputs = tuple(op.tensor_names.index(self.names[i]) for i in self.keeps)
        self.needed = tuple(i for i in range(layout[-1]) if mask >> i & 1)

    def _wanted(self, i, mask):
        where = self.layout[i]
        if isinstance(where, tuple):
            return any(mask >> j & 1 for j in range(*where))
        return mask >> where & 1

    def _source(self, name):
        op = self.op
        if name == "out":
            return "PR(outs[0], node)"
        if name in op.tensor_names:
            return f"P(ts[{op.tensor_names.index(name)}])"
        if name in op.attr_names:
            return f"attrs[{op.attr_names.index(name)}]"
        if name.endswith("_shape") and name[:-6] in op.tensor_names:
            return f"S(args[{op.tensor_names.index(name[:-6])}])"
        if name.endswith("_strides") and name[:-8] in op.tensor_names:
            return f"ST(args[{op.tensor_names.index(name[:-8])}])"
        results = (op.returns[1:] if op.returns else ("out",)) + op.aux
        if name in results:
            i = results.index(name)
            return f"PR(outs[{i}], node)" if i < op.n_out else f"PA(outs[{i}])"
        raise TypeError(f"{op.name}: formula parameter {name!r} is no argument, attribute, result or aux of the op")

    def backward(self, node, grads):
        """Run the formulas; returns one gradient per edge, fitted to its input."""
        if node.saved is None:
            raise RuntimeError(
                "Trying to backward through the graph a second time (or directly access saved tensors after they have "
                "already been freed). Saved intermediate values of the graph are freed when you call .backward() or "
                "autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time or "
                "if you need to access saved tensors after calling backward.")
        saved = node.saved
        if self.packed:
            saved = list(saved)
            for i in self.packed:
                saved[i] = unpack(saved[i], node)
        g = grads[0] if len(grads) == 1 else next((x for x in grads if x is not None), None)
        result = [None] * len(node.edges)
        for formula, where in self.calls:
            value = formula.function(*[saved[i] if i >= 0 else g if i == -1 else tuple(grads) for i in where])
            if formula.single:
                result[formula.input] = value
            else:
                self._place(formula, value, result)
        return result

    def _place(self, formula, values, result):
        for i, value in zip(formula.inputs, values if formula.joint else (values,)):
            where = self.layout[i]
            if isinstance(where, tuple):
                if value is not None:
                    result[where[0]:where[1]] = list(value)
            else:
                result[where] = value

    def saved_value(self, node, name):
        """What `node._saved_<name>` shows."""
        if name == "self" and "input" in self.names:
            name = "input"
        if name == "result" and "out" in self.names:
            name = "out"
        if name not in self.names:
            raise AttributeError(f"'{type(node).__name__}' object has no attribute '_saved_{name}'")
        if node.saved is None:
            self.backward(node, [None])
        i = self.names.index(name)
        return unpack(node.saved[i], node) if i in self.packed else node.saved[i]


def pack_aux(array):
    """A hidden result of a kernel, saved as memory nobody else sees."""
    return pack(T._wrap(array)) if array is not None else None


def strides_of(a):
    """Strides of an array argument in bytes; () for a Python number."""
    return getattr(a, "strides", ())


SAVERS = {"P": pack, "PR": pack_result, "S": shape_of, "ST": strides_of, "PA": pack_aux}


def recorder_for(op, mask, layout):
    """The cached recorder of this op for this pattern of inputs."""
    key = (mask, layout)
    found = op.recorders.get(key)
    if found is None:
        found = op.recorders[key] = Recorder(op, mask, layout)
        if op.node_class is None:
            op.node_class = type(op.node_name, (Node,), {"op": op})
    return found


def record(op, mask, layout, ts, flat, keys, args, attrs, outs):
    """Put a node for this call on the tape and return it; the caller ties the results to it."""
    recorder = op.recorders.get((mask, layout)) or recorder_for(op, mask, layout)
    node = new(op.node_class)
    node.seq, node.recorder = next(_sequence), recorder
    node.edges, node.metas = edges, metas = [], []
    bit = 1
    for t in flat:
        if mask & bit:
            fn = t._fn
            edges.append((fn, t._nr) if fn is not None else (accumulator(t), 0))
            metas.append((t._a.shape, t._key))
        else:
            edges.append(None)
            metas.append(None)
        bit += bit
    if outs is not None:
        node.saved = recorder.save(ts, args, attrs, outs, node)
        if bus.nodes:
            emit_node(NodeMade(node, op, outs[0]))
    return node


def saved_storages(node):
    """(name, array, storage) of every tensor the node keeps for backward."""
    if not node.saved:
        return []
    found, recorder = [], node.recorder           # a user's Function has no recorder: it saves a plain tuple
    names = recorder.names if recorder is not None else [f"saved_tensors[{i}]" for i in range(len(node.saved))]
    for i in recorder.packed if recorder is not None else range(len(node.saved)):
        stack = [node.saved[i]]
        while stack:
            p = stack.pop()
            if type(p) is list:
                stack.extend(p)
            elif type(p) is tuple:
                found.append((names[i], p[0], p[1]))
            elif type(p) is Hooked and isinstance(p.value, T):
                found.append((names[i], p.value._a, p.value._s))
    return found
