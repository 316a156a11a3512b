"""The one door. Every op call passes here: layers may change it, a kernel answers it, the tape records it, observers
see it. Features live in layers and observers; none is mentioned in this file."""
import time

from ..backend import arrays as backend
from ..backend.dtypes import CODE_OF_NUM, code_of
from ..events.bus import bus, emit
from ..events.records import OpEnter, OpExit
from . import storage as storages
from . import views
from .device import device
from .dtype import DTYPES, from_python, get_default_dtype, scalar_name
from .graph import new, record
from .modes import LOCAL
from .op import ENV, OPS
from .results import named_result
from .storage import Storage

ndarray = backend.ndarray
NUMBER_KEYS = {bool: -1, int: -2, float: -3, complex: -4}
NUMBERS = {-1: False, -2: 0, -3: 0.0, -4: 0j}
CURRENT = storages.CURRENT
KEY_OF_NUM = {num: code << 1 for num, code in CODE_OF_NUM.items()}    # NumPy's type number -> key of a 0-d tensor
T = None                                          # the Tensor class; tensor.py sets it
_seq = iter(range(1, 1 << 62))


class Plan:
    """For one op and one pattern of argument types: the casts its rule asks for and the kernel that answers."""

    __slots__ = ("function", "entry", "chain", "casts", "ufunc")

    def __init__(self, op, keys, device):
        self.chain = op.kernels_for(device)
        self.entry = self.chain[0]
        self.function, self.ufunc = self.entry.function, self.entry.takes_out
        self.casts = None
        if op.rule is not None:
            infos = [_info(k) for k in keys if k is not None]
            if infos and all(k is None or k < 0 for k in keys):
                raise TypeError(f"{op.name}(): argument '{op.tensor_names[0]}' (position 1) must be Tensor, not "
                                f"{type(NUMBERS[keys[0]]).__name__}")
            targets = iter(op.rule(infos))
            wanted = [None if k is None else next(targets) for k in keys]
            present = {DTYPES[k >> 1 & 31] if d is None else d for k, d in zip(keys, wanted) if k is not None and k >= 0}
            casts = [None if d is None or k >= 0 and DTYPES[k >> 1 & 31] is d else d.name if k >= 0
                     else _number(d) if d in present and d.name != "bfloat16" else (d.name,) for k, d in zip(keys, wanted)]
            if any(c is not None for c in casts):
                self.casts = casts


def _number(d):
    return (bool, int, float, complex)[d.category]


def _info(key):
    if key < 0:
        return from_python(NUMBERS[key]), 0
    return DTYPES[key >> 1 & 31], 1 + (key & 1)


def cast_arguments(args, casts):
    """Arguments as the rule wants them. A Python number stays one (weak) where some tensor has the target dtype,
    else becomes a 0-d array of it."""
    return [a if c is None else backend.cast(a, c) if type(c) is str else backend.full((), a, c[0]) if type(c) is tuple
            else a if type(a) is c or isinstance(a, complex) else c(a) for a, c in zip(args, casts)]


def shape_error(values, error):
    """PyTorch's error for operands that do not broadcast, in place of the array module's."""
    if "broadcast" not in str(error):
        return error
    shape = ()
    for v in values:
        other = getattr(v, "shape", ())
        for back in range(1, min(len(shape), len(other)) + 1):
            n, m = shape[-back], other[-back]
            if n != m and n != 1 and m != 1:
                return RuntimeError(f"The size of tensor a ({n}) must match the size of tensor b ({m}) at non-singleton "
                                    f"dimension {max(len(shape), len(other)) - back}")
        longer, shorter = (shape, other) if len(shape) >= len(other) else (other, shape)
        pad = (1,) * (len(longer) - len(shorter)) + tuple(shorter)
        shape = tuple(m if n == 1 else n for n, m in zip(longer, pad))
    return error


def decline(plan, args, attrs):
    """The first provider declined; ask the others in order."""
    for entry in plan.chain[1:]:
        out = entry.function(*args, *attrs)
        if out is not NotImplemented:
            entry.calls += 1
            return out
    dtype = next((scalar_name(DTYPES[code_of(a)]) for a in args if isinstance(a, ndarray)), "None")
    raise NotImplementedError(f"\"{plan.entry.name}\" not implemented for '{dtype}'")


def wrap(out):
    """A tensor that owns the array a kernel returned."""
    if type(out) is not ndarray:
        if backend.on_device(out):
            return wrap_cuda(out)
        out = backend.as_array(out)
    if out.base is not None:
        out = backend.owned(out)
    t = new(T)
    t._a = out
    key = KEY_OF_NUM.get(out.dtype.num)
    if key is None:
        key = KEY_OF_NUM[out.dtype.num] = code_of(out) << 1
    t._key = key | 1 if out.ndim else key
    if CURRENT[0] is Storage:
        t._s = s = new(Storage)
        s.data, s.version = out if out.base is None else backend.owner_of(out), 0
    else:
        t._s = storages.born(backend.owner_of(out))
    return t


def wrap_cuda(out):
    """A tensor over a CuPy array. Not verified on a GPU."""
    t = new(T)
    t._a, t._key = out, (code_of(out) << 1) | (out.ndim > 0) | 64
    t._s = storages.CudaStorage(out)
    t._s.device = device("cuda", out.device.id)
    return t


def unwrap(op, ts, grad):
    """Arrays, keys, bit mask of arguments needing a gradient, and the device, of plain tensor arguments."""
    args, keys, mask, bit = [], [], 0, 1
    for t in ts:
        if isinstance(t, T):
            if t._view is not None and grad:
                views.refresh(t)
            args.append(t._a)
            keys.append(t._key)
            if grad and (t._fn is not None or t._rg):
                mask |= bit
        elif t is None:
            args.append(None)
            keys.append(None)
        else:
            t, key = number(op, t, len(args))
            args.append(t)
            keys.append(key)
        bit += bit
    return args, keys, mask


def number(op, value, i):
    """A Python number standing where a tensor may stand, or PyTorch's TypeError."""
    parameter = op.signature.tensors[i]
    key = NUMBER_KEYS.get(type(value))
    if key is None:
        value = getattr(value, "item", lambda: value)() if not isinstance(value, (list, tuple, ndarray)) else value
        key = NUMBER_KEYS.get(type(value))
    if key is None or (i == 0 and parameter.kind != "number" and op.tensor_names[0] == "input"):
        raise TypeError(f"{op.name}(): argument '{parameter.name}' (position {i + 1}) must be Tensor, "
                        f"not {type(value).__name__}")
    return value, key


def flatten(op, ts):
    """Tensor arguments with lists opened, and the layout that puts them back."""
    flat, layout = [], []
    for i, t in enumerate(ts):
        if op.signature.tensors[i].kind == "list":
            if not isinstance(t, (list, tuple)):
                raise TypeError(f"{op.name}(): argument '{op.tensor_names[i]}' (position {i + 1}) must be tuple of "
                                f"Tensors, not {type(t).__name__}")
            for j, item in enumerate(t):
                if item is not None and not isinstance(item, T):
                    raise TypeError(f"expected Tensor as element {j} in argument {i}, but got {type(item).__name__}")
            layout.append((len(flat), len(flat) + len(t)))
            flat.extend(t)
        else:
            layout.append(len(flat))
            flat.append(t)
    layout.append(len(flat))
    return flat, tuple(layout)


def nest(layout, flat):
    """Flat values put back into the lists of the signature."""
    return [flat[w[0]:w[1]] if type(w) is tuple else flat[w] for w in layout[:-1]]


def run(op, ts, attrs, m):
    """Answer a call: unwrap, kernel, wrap, record."""
    if op.check is not None:
        op.check(*ts, *attrs)
    grad = m.grad and op.formulas
    if op.has_list:
        flat, layout = flatten(op, ts)
    else:
        flat, layout = ts, op.layout
    args, keys, mask = unwrap(op, flat, grad)
    plan = op.plans.get(key := tuple(keys))
    if plan is None:
        plan = op.plans[key] = Plan(op, keys, device_type(flat))
    values = args if plan.casts is None else cast_arguments(args, plan.casts)
    if op.has_list:
        values, args = nest(layout, values), nest(layout, args)
    try:
        out = plan.function(*values, *attrs)
    except ValueError as error:
        raise shape_error(values, error) from None
    if out is NotImplemented:
        out = decline(plan, values, attrs)
    else:
        plan.entry.calls += 1
    if op.simple:
        result = wrap(out)
        if mask and 12 <= result._key & 63 < 24:              # floating or complex, see dtype codes
            node = result._fn = record(op, mask, layout, ts, flat, keys, args, attrs, (result,))
        return result
    return finish(op, out, mask, layout, ts, flat, keys, args, attrs, m)


def is_differentiable(key):
    """Whether a tensor with this key may require a gradient."""
    return 12 <= (key & 63) < 24


def run1(op, x, ts, attrs, m):
    """`run` for the usual case of a simple op on one tensor; anything else goes the general way."""
    if not isinstance(x, T):
        return run(op, ts, attrs, m)
    plan = op.plans.get((x._key,))
    if plan is None or plan.casts is not None:
        return run(op, ts, attrs, m)
    if op.check is not None:
        op.check(x, *attrs)
    out = plan.function(x._a, *attrs)
    if out is NotImplemented:
        out = decline(plan, (x._a,), attrs)
    else:
        plan.entry.calls += 1
    result = wrap(out)
    if m.grad and op.formulas:
        if x._view is not None:
            views.refresh(x)
        if (x._fn is not None or x._rg) and 12 <= result._key & 63 < 24:
            result._fn = record(op, 1, op.layout, ts, ts, None, (x._a,), attrs, (result,))
    return result


def run2(op, x, y, ts, attrs, m):
    """`run` for the usual case of a simple op on two tensors, or a tensor and a number."""
    if not isinstance(x, T):
        return run(op, ts, attrs, m)
    a = x._a
    if isinstance(y, T):
        b = y._a
        plan = op.plans.get((x._key, y._key))
        mask = 2 if y._fn is not None or y._rg or y._view is not None else 0
    else:
        b = y
        plan = op.plans.get((x._key, NUMBER_KEYS.get(type(y))))
        mask = 0
    if plan is None or plan.casts is not None:
        return run(op, ts, attrs, m)
    if op.check is not None:
        op.check(x, y, *attrs)
    out = plan.function(a, b, *attrs)
    if out is NotImplemented:
        out = decline(plan, (a, b), attrs)
    else:
        plan.entry.calls += 1
    result = wrap(out)
    if m.grad and op.formulas:
        if mask and y._view is not None:
            views.refresh(y)
            mask = 2 if y._fn is not None or y._rg else 0
        if x._view is not None:
            views.refresh(x)
        if x._fn is not None or x._rg:
            mask |= 1
        if mask and 12 <= result._key & 63 < 24:
            result._fn = record(op, mask, op.layout, ts, ts, None, (a, b), attrs, (result,))
    return result


def run_view(op, x, ts, attrs, m):
    """`run` for an op whose one result looks at its one tensor argument."""
    plan = op.plans.get((x._key,)) if isinstance(x, T) else None
    if plan is None or plan.casts is not None:
        return run(op, ts, attrs, m)
    if op.check is not None:
        op.check(x, *attrs)
    a = x._a
    result = look(x, plan.function(a, *attrs), op, attrs, None, m)
    plan.entry.calls += 1
    if m.grad and op.formulas:
        if x._view is not None:
            views.refresh(x)
        if (x._fn is not None or x._rg) and 12 <= result._key & 63 < 24:
            result._fn = record(op, 1, op.layout, ts, ts, None, (a,), attrs, (result,))
    return result


def finish(op, out, mask, layout, ts, flat, keys, args, attrs, m):
    """Results of ops that are views, have several outputs, hidden outputs, or write to their arguments."""
    if op.mutates:
        for name in op.mutates:
            t = ts[op.tensor_names.index(name)]
            if t is not None:
                t._s.version += 1
        if out is None:
            return None
    several = op.many or op.n_out > 1
    outs = list(out) if several or op.aux else [out]
    shown = len(outs) - len(op.aux)
    if op.view:
        tensors = [look(ts[0], a, op, attrs, i if several else None, m) for i, a in enumerate(outs)]
    else:
        tensors = [wrap(a) for a in outs[:shown]]
    if mask:
        names = op.returns[1:] if op.returns else ()
        differentiable = [t for i, t in enumerate(tensors)
                          if is_differentiable(t._key) and not (names and names[i] in op.nondiff)]
        if differentiable:
            for i, t in enumerate(tensors):
                t._nr = i
            node = record(op, mask, layout, ts, flat, keys, args, attrs, (*tensors, *outs[shown:]))
            node.n_out = len(tensors)
            for t in differentiable:
                t._fn = node
    if op.many:
        return tensors if op.many == "list" else tuple(tensors)
    return named_result(op.returns, tensors) if several else tensors[0]


def look(parent, array, op, attrs, number, m):
    """A view of `parent`: same storage, other strides."""
    t = new(T)
    t._a, t._s = array, parent._s
    t._key = (parent._key & ~1) | (array.ndim > 0)
    if array.dtype.num != parent._a.dtype.num:
        t._key = (code_of(array) << 1) | (array.ndim > 0)
    creation = "multi" if number is not None else "" if m.grad else "no_grad"
    views.attach(t, parent, op, attrs, number, creation)
    return t


def device_type(flat):
    """Type of the device all tensor arguments are on. Raises RuntimeError when they differ."""
    found = {str(t._s.device) for t in flat if isinstance(t, T) and (t._a.ndim or str(t._s.device) != "cpu")}
    if len(found) > 1:
        raise RuntimeError("Expected all tensors to be on the same device, but found at least two devices, "
                           f"{' and '.join(sorted(found))}!")
    return found.pop().split(":")[0] if found else "cpu"


def observed(op, ts, attrs, m, then):
    """The same call with layers and observers on."""
    layers, m.layers = m.layers, ()
    try:
        for layer in layers:
            if then is not run and not getattr(layer, "inplace", False):
                continue
            answer = layer(op, ts, attrs)
            if type(answer) is tuple and len(answer) == 2 and type(answer[0]) is tuple:
                ts, attrs = answer
            elif answer is not None:
                return answer
    finally:
        m.layers = layers
    return watched(op, ts, attrs, m, then) if bus.subscribers else then(op, ts, attrs, m)


def watched(op, ts, attrs, m, then):
    """Emit OpEnter and OpExit around `then`."""
    seq, parent = next(_seq), m.parent
    m.parent, out, error = seq, None, None
    t0 = time.perf_counter_ns()
    emit(OpEnter(seq, parent, op, ts, attrs, 0, t0, m.phase))
    try:
        out = then(op, ts, attrs, m)
        return out
    except BaseException as e:
        error = e
        raise
    finally:
        m.parent = parent
        emit(OpExit(seq, op, out, t0, time.perf_counter_ns(), error, m.phase))


def call(op, ts, attrs=()):
    """Call an op that has a kernel: `ts` its tensor arguments, `attrs` its attributes, both in signature order."""
    m = LOCAL.state
    if m.layers or bus.subscribers:
        return observed(op, ts, attrs, m, run)
    return run(op, ts, attrs, m)


def call_composite(op, values):
    """Call a composite while layers or observers are on. A layer that claims it (a policy of the composite's own)
    is off inside."""
    m = LOCAL.state
    layers = m.layers
    claimed = tuple(layer for layer in layers if getattr(layer, "claims", None) and layer.claims(op))

    def body(op, ts, attrs, m):
        m.layers = tuple(layer for layer in layers if layer not in claimed)
        try:
            return op.body(*ts)
        finally:
            m.layers = layers
    if not claimed:
        return watched(op, tuple(values), (), m, body) if bus.subscribers else body(op, values, (), m)
    return observed_composite(op, tuple(values), m, claimed, body)


def observed_composite(op, values, m, claimed, body):
    """Let the claiming layers change the arguments, then run the body."""
    layers, m.layers = m.layers, ()
    try:
        for layer in claimed:
            answer = layer(op, values, ())
            if type(answer) is tuple and len(answer) == 2 and type(answer[0]) is tuple:
                values = answer[0]
    finally:
        m.layers = layers
    return watched(op, values, (), m, body) if bus.subscribers else body(op, values, (), m)


ENV.update(OBSERVED=observed, RUN=run, RUN1=run1, RUN2=run2, RUNVIEW=run_view, CALL=call, CALL_COMPOSITE=call_composite, BUS=bus, LOCAL=LOCAL)
