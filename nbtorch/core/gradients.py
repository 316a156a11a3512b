"""What happens to one gradient: fitted to its input, and added to a leaf without a copy where nobody else holds it."""
import sys

from ..events.bus import bus, emit
from ..events.records import Tag
from .dtype import DTYPES
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


def _local_refs():
    """What getrefcount says of an object that one local variable holds: 2, or 1 where loads borrow (Python 3.14)."""
    held = object()
    return getrefcount(held)


LOCAL_REFS = _local_refs()


def alone(g):
    """Whether nobody but `g` (and bases that live only for it) holds its memory, and it is dense and in order."""
    bases, view = 0, g._view
    while view is not None:
        base = view.base
        if getrefcount(base) > LOCAL_REFS + 1:
            return False
        bases, view = bases + 1, base._view
    s = g._s
    return getrefcount(s) <= LOCAL_REFS + 1 + bases and g._a.flags.c_contiguous and s.root is None \
        and s.data.nbytes == g._a.nbytes


def accumulate(variable, g, holders=0):
    """Add `g` to `variable.grad`; takes the memory over when nobody else holds it (but for `holders` local variables
    of the caller)."""
    if g is None:
        return
    m = LOCAL.state
    old = variable._grad
    if old is None:
        if m.grad:
            variable._grad = g
        elif getrefcount(g) <= EXCLUSIVE + holders and alone(g):
            variable._grad = g if g._fn is None and g._view is None else g.detach()
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

    grads = [object()]
    return look(grads.pop())


EXCLUSIVE = _calibrate()
