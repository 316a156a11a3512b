"""Answering a call: kernel, wrap, record. The general way is `run`; the others are short cuts for the usual calls."""
from ..backend.dtypes import code_of
from . import views
from .arguments import (NUMBER_KEYS, Plan, cast_arguments, decline, device_type, flatten, nest, shape_error,
                        unwrap, wrap)
from .graph import new, record
from .results import named_result

T = None                                          # the Tensor class; tensor.py sets it


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
        out = m.quiet(plan.function, *values, *attrs)
    except ValueError as error:
        raise shape_error(values, error) from None
    if out is NotImplemented:
        out = decline(plan, values, attrs)
    else:
        plan.entry.calls += 1
    if op.simple:
        result = wrap(out)
        if mask and 12 <= result._key & 63 < 24:              # floating or complex, see dtype codes
            result._fn = record(op, mask, layout, ts, flat, keys, args, attrs, (result,))
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
    out = m.quiet(plan.function, x._a, *attrs)
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
    try:
        out = m.quiet(plan.function, a, b, *attrs)
    except ValueError as error:
        raise shape_error((a, b), error) from None
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
    if m.grad or m.phase == "forward":            # inside backward nobody ever sees the base of such a view
        creation = "multi" if number is not None else "" if m.grad else "no_grad"
        views.attach(t, parent, op, attrs, number, creation)
    return t
