"""User-defined differentiable functions: `torch.autograd.Function`."""
import inspect

from ..events.bus import bus, emit_node
from ..events.records import NodeMade
from . import views
from .graph import Node, accumulator, pack, unpack
from .modes import LOCAL, no_grad
from .tensor import Tensor


class FunctionNode(Node):
    """The tape node of one `Function.apply`; it is the `ctx` handed to forward and backward.

    https://docs.pytorch.org/docs/stable/generated/torch.autograd.Function.html
    """

    def __init__(self, function, needs):
        super().__init__()
        self.function, self.needs = function, needs
        self.to_save, self.dirty, self.non_differentiable = (), (), ()
        self.materialize, self.outputs, self.released, self.arguments = True, (), False, 0

    @property
    def needs_input_grad(self):
        """Per forward argument, whether a gradient is asked for."""
        return self.needs

    def save_for_backward(self, *tensors):
        """Keep tensors for backward; call once, from forward. Raises TypeError for what is neither tensor nor None."""
        for i, t in enumerate(tensors):
            if t is not None and not isinstance(t, Tensor):
                raise TypeError(f"save_for_backward can only save variables, but argument {i} is of type "
                                f"{type(t).__name__}")
        self.to_save = tensors

    def save_for_forward(self, *tensors):
        """Keep tensors for `jvp`."""
        self.to_save = self.to_save or tensors

    def mark_dirty(self, *tensors):
        """Say that forward wrote these inputs in place."""
        self.dirty = tensors

    def mark_non_differentiable(self, *tensors):
        """Say that these outputs carry no gradient."""
        self.non_differentiable = tensors

    def set_materialize_grads(self, value):
        """Whether absent output gradients arrive as zeros (default) or None."""
        self.materialize = value

    @property
    def saved_tensors(self):
        """What save_for_backward kept. Raises RuntimeError once freed or when written to since."""
        if self.released:
            raise RuntimeError(
                "Trying to backward through the graph a second time (or directly access saved tensors after they have "
                "already been freed). Saved intermediate values of the graph are freed when you call .backward() or "
                "autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time or "
                "if you need to access saved tensors after calling backward.")
        return tuple(unpack(p, self) for p in self.saved)

    saved_variables = saved_tensors

    def run(self, grads):
        grads = [self._zeros(i) if g is None and self.materialize else g for i, g in enumerate(grads)]
        results = self.function.backward(self, *grads)
        results = list(results) if isinstance(results, (tuple, list)) else [results]
        name = self.function.__name__
        while len(results) > self.arguments and results[-1] is None:
            results.pop()
        if len(results) != self.arguments:
            raise RuntimeError(f"function {name}Backward returned an incorrect number of gradients (expected "
                               f"{self.arguments}, got {len(results)})")
        for i, (g, meta) in enumerate(zip(results, self.metas)):
            if g is not None and not isinstance(g, Tensor):
                raise RuntimeError(f"expected Variable or None (got {type(g).__name__})")
            if g is not None and meta is not None and g._a.shape != meta[0] and not _reducible(g._a.shape, meta[0]):
                raise RuntimeError(f"Function {name}Backward returned an invalid gradient at index {i} - got "
                                   f"{list(g._a.shape)} but expected shape compatible with {list(meta[0])}")
        return results

    def _zeros(self, i):
        from .op import OPS
        shape, key, device = self.outputs[i]
        return OPS["_zeros_of"].function(shape, key)

    def release(self):
        self.saved, self.released = (), True


def _reducible(shape, target):
    """Whether a gradient of this shape sums to the target's."""
    return len(shape) >= len(target) and all(m in (1, n) for n, m in zip(reversed(shape), reversed(target)))


class FunctionMeta(type):
    """Names the node class of each Function as PyTorch does (`ExpBackward`)."""

    def __init__(cls, name, bases, members):
        super().__init__(name, bases, members)
        cls._node = type(name + "Backward", (FunctionNode,), {})


class Function(metaclass=FunctionMeta):
    """Base of user-defined differentiable functions: static `forward(ctx, ...)` and `backward(ctx, *grads)`, or
    `forward(...)` with `setup_context(ctx, inputs, output)`. Call through `apply`.

    https://docs.pytorch.org/docs/stable/notes/extending.html#extending-torch-autograd
    """

    generate_vmap_rule = False

    def __init__(self, *args, **kwargs):
        raise RuntimeError("Legacy autograd function with non-static forward method is deprecated. Please use "
                           "new-style autograd function with static forward method.")

    @staticmethod
    def forward(*args, **kwargs):
        """Compute the result from tensors and other arguments."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx, inputs, output):
        """Save for backward, when forward takes no ctx."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx, *grad_outputs):
        """Gradients of the inputs, one per forward argument."""
        raise NotImplementedError("You must implement either the backward or vjp method for your custom "
                                  "autograd.Function to use it with backward mode AD.")

    vjp = backward

    @classmethod
    def apply(cls, *args, **kwargs):
        """Run forward and record one node."""
        splits = cls.setup_context is not Function.setup_context
        if splits or kwargs:                      # keywords and defaults take their places among the inputs
            bound = inspect.signature(cls.forward).bind(*(() if splits else (None,)), *args, **kwargs)
            bound.apply_defaults()
            args, kwargs = bound.args if splits else bound.args[1:], bound.kwargs
        needs = tuple(isinstance(a, Tensor) and a.requires_grad for a in args)
        ctx = cls._node(cls, needs)
        if cls.vjp is not Function.backward and cls.backward is Function.backward:
            cls.backward = cls.vjp
        recording = LOCAL.state.grad and any(needs)
        ctx.edges = [_edge(a) if n else None for a, n in zip(args, needs)] if recording else ()
        ctx.arguments = len(args)
        with no_grad():
            if splits:
                out = cls.forward(*args, **kwargs)
                cls.setup_context(ctx, args, out)
            else:
                out = cls.forward(ctx, *args, **kwargs)
        return _tie(ctx, args, out, recording)


def _edge(t):
    return (t._fn, t._nr) if t._fn is not None else (accumulator(t), 0)


def _tie(ctx, args, out, recording):
    """Tie the outputs of forward to the node, as views and in-place marks demand."""
    several = isinstance(out, (tuple, list))
    outs = list(out) if several else [out]
    if recording:
        ctx.metas = [(a._a.shape, a._key) if n else None for a, n in zip(args, ctx.needs)]
        inputs, dirty = {id(a) for a in args}, {id(t) for t in ctx.dirty}
        fixed, ctx.outputs = {id(t) for t in ctx.non_differentiable}, []
        for i, t in enumerate(outs):
            if not isinstance(t, Tensor):
                ctx.outputs.append(((), 0, None))
                continue
            ctx.outputs.append((t._a.shape, t._key, t._s.device))
            if id(t) in dirty:
                _rewrite(ctx, args, t, i, len(outs))
            elif id(t) not in fixed and t.dtype.category >= 2:
                outs[i] = t = _own(t, id(t) in inputs, several and len(outs) > 1)
                t._fn, t._nr = ctx, i
        ctx.n_out = len(outs)
        ctx.saved = tuple(_save(t, ctx, out, outs) for t in ctx.to_save)
        if bus.nodes:
            emit_node(NodeMade(ctx, None, outs[0]))
    else:
        ctx.saved = tuple(pack(t) for t in ctx.to_save)
    ctx.to_save, ctx.dirty, ctx.non_differentiable = (), (), ()
    return type(out)(outs) if several and not hasattr(out, "_fields") else tuple(outs) if several else outs[0]


def _rewrite(ctx, args, t, number, count):
    """Give a tensor that forward wrote in place its new history."""
    if t._view is None and t._rg and t._fn is None:
        raise RuntimeError("a leaf Variable that requires grad has been used in an in-place operation.")
    views.check_inplace(t, True)
    if t._view is not None and count > 1:
        raise RuntimeError(
            "If your Function modifies inplace an input that is a view of another Tensor, your Function cannot return more "
            "than one Tensor. This is not supported by the current autograd engine. You should either make sure the input "
            "is not a view (using .clone() for example) or make your Function only return one Tensor (potentially "
            "splitting it into two Functions: one doing the inplace that returns a single Tensor and a second one that "
            "does the other operations).")
    t._s.version += 1
    views.rebase(t, ctx, next((i for i, a in enumerate(args) if a is t), 0), number)


def _own(t, given, several):
    """A result of forward that may carry the node: a tensor of its own, marked as a view where it looks at other
    memory, so that writes to it, which would pass by the user's backward, are refused."""
    if given or t._fn is not None or t._rg:
        base = t if t._view is None else t._view.base
        t = t.detach()
        t._view = views.View(base, (), t._s.version, "custom")
    elif t._view is not None:
        t._view.creation = "multi" if several else "custom"
    return t


def _save(t, ctx, out, outs):
    if isinstance(t, Tensor) and t._fn is ctx:    # an output of this very node: no cycle through it
        packed = pack(t)
        return (*packed[:4], Node, t._nr, None) if type(packed) is tuple else packed
    return pack(t)


class once_differentiable:
    """Decorator for `backward`: its result has no history. Double backward through it is an error."""

    def __new__(cls, function):
        def wrapper(ctx, *grads):
            with no_grad():
                return function(ctx, *grads)
        return wrapper
