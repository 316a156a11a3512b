"""Writes into existing tensors: in-place methods and out= arguments."""
import warnings

from ..backend import arrays
from ..events.bus import bus, emit_node
from ..events.records import NodeMade
from . import views
from .arguments import Plan, cast_arguments, decline, device_type, flatten, nest, shape_error, unwrap
from .dispatch import call, observed
from .dtype import DTYPES, scalar_name
from .graph import record
from .modes import LOCAL
from .op import ENV, OPS
from .storage import born


def can_cast(source, target):
    """Whether a result of dtype `source` may be stored in `target`: the category must not shrink."""
    return source.category <= target.category or source.category == 1 and target.category == 1


def _check_cast(out_key, t):
    source, target = DTYPES[out_key], t.dtype
    if not can_cast(source, target):
        raise RuntimeError(f"result type {scalar_name(source)} can't be cast to the desired output type "
                           f"{scalar_name(target)}")


def _kept(op, mask, layout, flat):
    """Positions of `flat[0]` among what backward will save: its old value must be copied before the write."""
    from .graph import recorder_for
    return 0 in recorder_for(op, mask, layout).saved_inputs


def run_inplace(op, ts, attrs, m):
    """Answer `name_`: the kernel writes straight into the first tensor's memory where it can."""
    target = ts[0]
    grad = m.grad and op.formulas
    if op.check is not None:
        op.check(*ts, *attrs)
    flat, layout = flatten(op, ts) if op.has_list else (ts, op.layout)
    args, keys, mask = unwrap(op, flat, grad)
    if mask:
        mask |= 1 if target.requires_grad else 0
    elif grad and target.requires_grad:
        mask = 1
    views.check_inplace(target, m.grad and target.requires_grad or mask, op.inplace == "constant")
    plan = op.plans.get(key := tuple(keys)) or op.plans.setdefault(key, Plan(op, keys, device_type(flat)))
    old = target
    if mask and _kept(op, mask, layout, flat):
        old = views.fresh(target._a.copy(), None, target._key, type(target))
        old._s = born(old._a)
        old._fn, old._nr, old._rg = target._fn, target._nr, target._rg
    values = args if plan.casts is None else cast_arguments(args, plan.casts)
    try:
        _compute_into(op, plan, values, attrs, target, layout)
    except ValueError as error:
        raise shape_error(values, error) from None
    target._s.version += 1
    if mask:
        saved = (old, *ts[1:])
        node = record(op, mask, layout, saved, (old, *flat[1:]), keys, nest(layout, args) if op.has_list else args,
                      attrs, None)
        views.rebase(target, node)
        recorder = node.recorder
        node.saved = recorder.save(saved, args, attrs, (target,), node)
        if bus.nodes:
            emit_node(NodeMade(node, op, target))
    return target


def _compute_into(op, plan, values, attrs, target, layout):
    a = target._a
    if op.has_list:
        values = nest(layout, values)
    if plan.ufunc and type(a) is type(values[0]) and values[0].dtype == a.dtype \
            and all(getattr(v, "ndim", 0) == 0 or v.shape == a.shape and v.dtype == a.dtype for v in values[1:]):
        LOCAL.state.quiet(plan.function, *values, *attrs, out=a)
        plan.entry.calls += 1
        return
    out = LOCAL.state.quiet(plan.function, *values, *attrs)
    if out is NotImplemented:
        out = decline(plan, values, attrs)
    else:
        plan.entry.calls += 1
    store(op, out[0] if op.aux or op.n_out > 1 else out, target)


def store(op, out, target):
    """Copy a kernel's result into `target`'s memory. Raises PyTorch's errors for dtype and shape."""
    a = target._a
    shape = getattr(out, "shape", ())
    if hasattr(out, "dtype"):
        _check_cast(arrays.code(out), target)
    if tuple(shape) != a.shape:
        raise RuntimeError(f"output with shape {list(a.shape)} doesn't match the broadcast shape {list(shape)}")
    arrays.write(a, out)


def call_inplace(op, ts, attrs):
    """Call the in-place form of an op."""
    m = LOCAL.state
    if m.layers or bus.subscribers:
        return observed(op, ts, attrs, m, run_inplace)
    return run_inplace(op, ts, attrs, m)


def call_out(op, ts, attrs, out):
    """Call the out= form of an op: results go into the given tensors."""
    if "apart" in op.out_rules:
        _check_apart(ts, out)
    return store_out(op, call(op, ts, attrs), out)


def _check_apart(ts, out):
    """Ops that read while they write refuse an `out` over the memory of an argument."""
    flat = [x for t in ts for x in (t if isinstance(t, (list, tuple)) else (t,)) if hasattr(x, "_a")]
    if any(x is out or hasattr(out, "_a") and (x._s is out._s and not x._a.size or arrays.may_overlap(x._a, out._a))
           for x in flat):
        raise RuntimeError("unsupported operation: some elements of the input tensor and the written-to tensor refer to a "
                           "single memory location. Please clone() the tensor before performing the operation.")


def store_out(op, result, out):
    """Put `result` (a tensor or tuple) into `out`, resized where its shape differs."""
    if isinstance(result, (tuple, list)):
        for r, o in zip(result, out):
            store_out(op, r, o)
        return out if isinstance(out, type(result)) else type(result)(*out) if hasattr(result, "_fields") else tuple(out)
    if not hasattr(out, "_a"):
        raise TypeError(f"{op.name}(): argument 'out' must be Tensor, not {type(out).__name__}")
    if LOCAL.state.grad and (result.requires_grad or out.requires_grad):
        raise RuntimeError(f"{op.name}(): functions with out=... arguments don't support automatic differentiation, "
                           "but one of the arguments requires grad.")
    if arrays.overlaps_itself(out._a):
        raise RuntimeError(views.OVERLAP)
    if "exact" in op.out_rules and out.dtype is not result.dtype:
        raise RuntimeError(f"{op.name}(): expected out tensor to have dtype {result.dtype!r}, but got {out.dtype!r} instead")
    if not can_cast(result.dtype, out.dtype):
        raise RuntimeError(f"result type {scalar_name(result.dtype)} can't be cast to the desired output type "
                           f"{scalar_name(out.dtype)}")
    if out._a.shape != result._a.shape:
        if out._a.size:
            warnings.warn(f"An output with one or more elements was resized since it had shape {list(out.shape)}, which "
                          f"does not match the required output shape {list(result.shape)}. This behavior is deprecated, "
                          "and in a future PyTorch release outputs will not be resized unless they have zero elements. "
                          "You can explicitly reuse an out tensor t by resizing it, inplace, to zero elements with "
                          "t.resize_(0).", stacklevel=3)
        resize(out, result._a.shape)
    views.check_inplace(out, False)
    arrays.write(out._a, result._a)
    out._s.version += 1
    return out


def resize(t, shape):
    """`t.resize_(shape)`: keep the memory when it is large enough, else move to a larger one."""
    owner = arrays.owner_of(t._a)
    count = 1
    for n in shape:
        count *= n
    strides, step = [], 1
    for n in reversed(shape):
        strides.insert(0, step)
        step *= max(n, 1)
    if count * t._a.itemsize > owner.nbytes - arrays.offset_of(t._a) * t._a.itemsize:
        bigger = arrays.empty((count,), t.dtype.name)
        flat = arrays.flat_bytes(owner)
        arrays.flat_bytes(bigger)[:flat.size] = flat
        t._s.data, t._a = bigger, bigger.reshape(shape)
    else:
        t._a = arrays.strided(t._a, shape, strides, arrays.offset_of(t._a)) if count else arrays.empty(shape, t.dtype.name)
    t._key = (t._key & ~1) | (len(shape) > 0)


def old_value(t):
    """What an in-place composite computes from: a copy where backward may need it after `t` is written."""
    return OPS["clone"].function(t) if LOCAL.state.grad and t.requires_grad else t


def store_inplace(op, target, result):
    """In-place form of a composite: the result is copied into the first argument."""
    if result.shape != target.shape:
        raise RuntimeError(f"output with shape {list(target.shape)} doesn't match the broadcast shape "
                           f"{list(result.shape)}")
    if not can_cast(result.dtype, target.dtype):
        raise RuntimeError(f"result type {scalar_name(result.dtype)} can't be cast to the desired output type "
                           f"{scalar_name(target.dtype)}")
    return call_inplace(OPS["copy"], (target, result), (False,))


ENV.update(CALL_INPLACE=call_inplace, CALL_OUT=call_out, STORE_OUT=store_out, STORE_INPLACE=store_inplace, OLD_VALUE=old_value)
