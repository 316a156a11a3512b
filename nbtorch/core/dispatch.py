"""The one door. Every op call passes here: layers may change it, a kernel answers it, the tape records it (run.py),
observers see it. Features live in layers and observers; none is mentioned in this file."""
import time
from threading import get_ident

from ..events.bus import bus, emit
from ..events.records import OpEnter, OpExit
from .modes import LOCAL
from .op import ENV
from .run import run, run1, run2, run_view

_seq = iter(range(1, 1 << 62))


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
    emit(OpEnter(seq, parent, op, ts, attrs, get_ident(), t0, m.phase))
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
