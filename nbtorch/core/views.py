"""Views and in-place writes. A view remembers its base and the calls that lead from it, so that they can be replayed
on the base after the base was written to through another view."""
from ..backend import arrays
from .dtype import LONG_NAMES, scalar_name
from .graph import Node, accumulator, new, short_name
from .modes import LOCAL
from . import modes


class View:
    """Where a view came from: its base tensor, the (op, attributes, output number) steps, and the version at which its
    grad_fn was derived. `creation` is "", "multi" (one of several results), "no_grad" or "custom" (a result of a
    user-defined Function)."""

    __slots__ = ("base", "chain", "version", "creation")

    def __init__(self, base, chain, version, creation):
        self.base, self.chain, self.version, self.creation = base, chain, version, creation


def attach(result, parent, op, attrs, number, creation):
    """Make `result` a view of `parent` (or of parent's base)."""
    step = (op, attrs, number)
    above = parent._view
    if above is None:
        result._view = View(parent, (step,), parent._s.version, creation)
    else:
        result._view = View(above.base, (*above.chain, step), parent._s.version, creation or above.creation)


def replay(chain, base):
    """Apply the recorded steps to `base`; the result is a view of it."""
    from .dispatch import call
    for op, attrs, number in chain:
        base = call(op, (base,), attrs)
        if number is not None:
            base = base[number]
    return base


def refresh(t):
    """Derive a stale view's grad_fn again from its base."""
    view = t._view
    if view.version == t._s.version:
        return
    view.version = t._s.version
    base = view.base
    if base._fn is None and not base._rg:
        return
    if view.creation in WHY:
        view.version = -1                         # asked again, it refuses again
        raise RuntimeError(f"{_what(t, view)} and its base or another view of its base has been modified inplace"
                           f"{WHY[view.creation]}")
    with modes.enable_grad():
        layers, LOCAL.state.layers = LOCAL.state.layers, ()
        try:
            again = replay(view.chain, base)
        finally:
            LOCAL.state.layers = layers
    t._fn, t._nr, t._rg = again._fn, again._nr, False
    if t._retain:
        t.retain_grad(again=True)


WHY = {"no_grad": " with grad mode enabled. Given that this use case is ambiguous and error-prone, it is forbidden. You can "
                  "clarify your code by moving both the view and the inplace either both inside the no_grad block (if "
                  "you don't want the inplace to be tracked) or both outside (if you want the inplace to be tracked).",
       "custom": ". This view was created inside a custom Function (or because an input was returned as-is) and the "
                 "autograd logic to handle view+inplace would override the custom backward associated with the custom "
                 "Function, leading to incorrect gradients. This behavior is forbidden. You can fix this by cloning "
                 "the output of the custom Function."}
MULTI = ". This view is the output of a function that returns multiple views. Such functions do not allow the output " \
        "views to be modified inplace. You should replace the inplace operation by an out-of-place one."


def _what(t, view):
    if view.creation == "no_grad":
        return "A view was created in no_grad mode"
    return f"Output {t._nr} of {short_name(t._fn)} is a view"


OVERLAP = ("unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
           "Please clone() the tensor before performing the operation.")


def check_inplace(t, grad, constant=False):
    """Raise PyTorch's error if writing to `t` in place (one value everywhere, if `constant`) is not allowed."""
    if not constant and arrays.overlaps_itself(t._a):
        raise RuntimeError(OVERLAP)
    if not grad:
        return
    view = t._view
    if view is None:
        if t._rg and t._fn is None:
            raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")
        return
    base = view.base
    if view.creation in WHY and t.requires_grad:
        raise RuntimeError(f"{_what(t, view)} and is being modified inplace{WHY[view.creation]}")
    if base._rg and base._fn is None:
        raise RuntimeError("a view of a leaf Variable that requires grad is being used in an in-place operation.")
    if view.creation == "multi" and t.requires_grad:
        refresh(t)
        raise RuntimeError(f"{_what(t, view)} and is being modified inplace{MULTI}")


class CopySlices(Node):
    """Backward of a write through a view: the written region of the gradient goes through the write's own node,
    the rest passes to the base's history."""

    def __init__(self, base_edge, base, inner, chain, written):
        super().__init__([base_edge, *inner.edges[:written], *inner.edges[written + 1:]])
        meta = None if base_edge is None else (base._a.shape, base._key)
        self.metas = [meta, *inner.metas[:written], *inner.metas[written + 1:]]
        self.inner, self.chain, self.written = inner, chain, written

    def name(self):
        return "torch::autograd::CopySlices"

    def run(self, grads):
        rest = grads[0].clone()
        region = replay(self.chain, rest)
        inner = self.inner.run([region.clone()])
        through = inner.pop(self.written)
        if through is None:
            region.zero_()
        else:
            region.copy_(through)
        return [rest, *inner]

    def release(self):
        self.inner.release()


def rebase(t, node, written=0, number=0):
    """Tie `t`, just written to by `node`, to its new history; through its base when it is a view. `written`: which
    argument of the node `t` was; `number`: which of its results it is."""
    view = t._view
    if view is None:
        t._fn, t._nr, t._rg = node, number, False
        if t._retain:
            t.retain_grad(again=True)
        return
    base = view.base
    edge = None
    if base._fn is not None:
        edge = (base._fn, base._nr)
    elif base._rg:
        edge = (accumulator(base), 0)
    base._fn, base._nr, base._rg = CopySlices(edge, base, node, view.chain, written), 0, False
    if base._retain:
        base.retain_grad(again=True)
    view.version = -1
    refresh(t)


def set_data(t, other):
    """`t.data = other`: same tensor object, other memory; history, grad and hooks stay."""
    if not isinstance(other, type(t)) and not hasattr(other, "_a"):
        raise TypeError(f"Variable data has to be a tensor, but got {type(other).__name__}")
    t._a, t._s, t._key = other._a, other._s, other._key
    t._view = None


def check_grad(t, value):
    """Raise PyTorch's error if `value` cannot be `t.grad`."""
    if not hasattr(value, "_a"):
        raise TypeError(f"assigned grad expected to be a Tensor or None but got grad of type {type(value).__name__}")
    if value is t:
        raise RuntimeError("can't assign Variable as its own grad")
    if value._a.shape != t._a.shape:
        raise RuntimeError(f"attempting to assign a gradient of size '{list(value.shape)}' to a tensor of size "
                           f"'{list(t.shape)}'. Please ensure that the gradient and the tensor are the same size")
    if value.dtype is not t.dtype:
        given = LONG_NAMES.get(value.dtype.name, value.dtype.name)
        raise RuntimeError(f"attempting to assign a gradient with dtype '{given}' to a tensor with grad_dtype "
                           f"'{scalar_name(t.dtype)}'. The gradient must match the tensor's grad_dtype (defaults to the "
                           "tensor's dtype).")


def fresh(a, s, key, cls):
    """A tensor of class `cls` over an existing storage."""
    t = new(cls)
    t._a, t._s, t._key = a, s, key
    return t
