"""Everything that must hold for every public op, generated from the records and their samples."""
import warnings

import numpy as np
import pytest

import nbtorch

from .harness import DTYPES, array_of, difference, function_of, load, public_records, tensors_of, to

SAMPLES, RECORDS = load(), public_records()
NAMES = sorted(n for n in RECORDS if n in SAMPLES)


def known_gaps(kind):
    """Listed gaps of this kind: {(op, detail): reason}; strict, so a mended one must be taken off the list."""
    from pathlib import Path
    path = Path(__file__).parent.parent / "xfails" / f"{kind}.txt"
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        if line.strip() and not line.startswith("#"):
            case, _, reason = line.partition("#")
            found[tuple(case.split())] = reason.strip()
    return found


def check(kind, name, problems):
    """Fail on problems that are not listed, and on listed ones that are gone."""
    gaps = {case[1]: reason for case, reason in known_gaps(kind).items() if case[0] == name}
    unexpected = {where: what for where, what in problems.items() if where not in gaps}
    mended = set(gaps) - set(problems)
    assert not unexpected, "\n".join(f"{name} [{where}]: {what}" for where, what in unexpected.items())
    assert not mended, f"{name}: listed in tests/xfails/{kind}.txt but fine now: {sorted(mended)}"


def attempt(function, args, kwargs):
    """(result, None) or (None, error)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        nbtorch.manual_seed(7)
        try:
            return function(*args, **kwargs), None
        except (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError, ZeroDivisionError) as error:
            return None, error


def both(oracle, name, sample, **how):
    """Call the op in both frameworks on one sample."""
    record = RECORDS[name]
    theirs = function_of(oracle, record)
    if theirs is None:
        pytest.skip(f"torch has no public {name}")
    a, ka, _ = to(oracle, sample, **how)
    b, kb, _ = to(nbtorch, sample, **how)
    oracle.manual_seed(7)
    return attempt(function_of(nbtorch, record), b, kb), attempt(theirs, a, ka)


def test_every_public_op_has_samples():
    missing = sorted(set(RECORDS) - set(SAMPLES))
    assert not missing, f"ops without samples in tests/ops/samples_*.py: {missing}"


@pytest.mark.oracle
@pytest.mark.parametrize("name", NAMES)
def test_values_and_dtypes(oracle, name):
    problems = {}
    for dtype in SAMPLES[name].dtypes:
        for i, sample in enumerate(SAMPLES[name].make(name, dtype)):
            for layout in ("plain", "strided"):
                (ours, error), (theirs, refused) = both(oracle, name, sample, layout=layout)
                where = f"{dtype}"
                if refused is not None:
                    if error is None:
                        problems[where] = f"sample {i}: torch refuses: {str(refused).splitlines()[0][:150]}"
                elif error is not None:
                    problems[where] = f"sample {i} {layout}: {type(error).__name__}: {error}"
                elif d := difference(ours, theirs, SAMPLES[name].values):
                    problems[where] = f"sample {i} {layout}: {d}"
    check("values", name, problems)


def gradients(T, record, sample, order):
    """Gradients of a call under fixed cotangents; of order 2, the gradients of those."""
    args, kwargs, leaves = to(T, sample, grad=True)
    T.manual_seed(7)
    outs = [t for t in tensors_of(function_of(T, record)(*args, **kwargs)) if t.requires_grad]
    for _ in range(order):
        if not outs:
            return None
        random = np.random.RandomState(11)
        cotangents = []
        for t in outs:
            w = random.randn(*t.shape) + (1j * random.randn(*t.shape) if t.is_complex() else 0)
            cotangents.append(T.tensor(np.asarray(w), dtype=t.dtype))
        grads = T.autograd.grad(outs, leaves, cotangents, allow_unused=True, create_graph=True)
        outs = [g for g in grads if g is not None and g.requires_grad]
    return [None if g is None else g for g in grads]


@pytest.mark.oracle
@pytest.mark.parametrize("order", (1, 2))
@pytest.mark.parametrize("name", [n for n in NAMES if SAMPLES[n].grad])
def test_gradients(oracle, name, order):
    record, problems = RECORDS[name], {}
    for dtype in ("float64", "complex128"):
        if dtype not in SAMPLES[name].dtypes:
            continue
        for i, sample in enumerate(SAMPLES[name].make(name, dtype)):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    theirs = gradients(oracle, record, sample, order)
                except (RuntimeError, TypeError, NotImplementedError, ValueError, IndexError):
                    continue
                if theirs is None:
                    continue
                try:
                    ours = gradients(nbtorch, record, sample, order)
                except Exception as error:
                    problems[dtype] = f"sample {i}: {type(error).__name__}: {error}"
                    continue
            ours = [None] * len(theirs) if ours is None else ours      # no graph counts as zeros
            for a, b in zip(ours, theirs):
                d = _gradient_difference(a, b)
                if d:
                    problems[dtype] = f"sample {i}: {d}"
    check(f"gradients{order}", name, problems)


def _gradient_difference(a, b):
    if a is None or b is None:
        other = b if a is None else a
        if other is None or not np.any(array_of(other)[0]):
            return None
        return "no gradient" if a is None else "a gradient where torch has none"
    return difference(a, b)


@pytest.mark.oracle
@pytest.mark.parametrize("name", NAMES)
def test_methods_inplace_and_out(oracle, name):
    record, problems = RECORDS[name], {}
    for i, sample in enumerate(SAMPLES[name].make(name, SAMPLES[name].dtypes[0])):
        args, kwargs, _ = to(nbtorch, sample)
        expected, error = attempt(function_of(nbtorch, record), args, kwargs)
        if error is not None:
            continue
        if "method" in record.on and args and isinstance(args[0], nbtorch.Tensor):
            found = getattr(nbtorch.Tensor, name)
            if callable(found):
                args, kwargs, _ = to(nbtorch, sample)
                ours, error = attempt(getattr(args[0], name), args[1:], kwargs)
                if error or (SAMPLES[name].values and difference(ours, expected)):
                    problems["method"] = f"sample {i}: {error or difference(ours, expected)}"
        if record.inplace_function is not None and args:
            _inplace(oracle, record, sample, i, problems)
        if record.takes_out and isinstance(expected, nbtorch.Tensor) and SAMPLES[name].values:
            args, kwargs, _ = to(nbtorch, sample)
            target = nbtorch.empty(0, dtype=expected.dtype)
            ours, error = attempt(function_of(nbtorch, record), args, {**kwargs, "out": target})
            if error or ours is not target or difference(target, expected):
                problems["out"] = f"sample {i}: {error or difference(target, expected)}"
    check("variants", name, problems)


def _inplace(oracle, record, sample, i, problems):
    name = record.inplace_function.__name__
    results = []
    for T in (nbtorch, oracle):
        args, kwargs, _ = to(T, sample)
        function = getattr(T.Tensor, name, None) or getattr(T.nn.functional, name, None)
        if function is None or not isinstance(args[0], T.Tensor):
            return
        oracle.manual_seed(7)                     # `attempt` seeds ours; random ops must draw alike in any test order
        result, error = attempt(function, args, kwargs)
        results.append((result, error, args[0]))
    (ours, error, target), (theirs, refused, their_target) = results
    if refused is not None:
        if error is None:
            problems["inplace"] = f"sample {i}: torch refuses: {str(refused).splitlines()[0][:150]}"
    elif error is not None:
        problems["inplace"] = f"sample {i}: {error}"
    elif ours is not target or target._version == 0:
        problems["inplace"] = f"sample {i}: the argument is not what came back, or its version did not move"
    elif d := difference(target, their_target):
        problems["inplace"] = f"sample {i}: {d}"


@pytest.mark.oracle
@pytest.mark.parametrize("name", [n for n in NAMES if RECORDS[n].view])
def test_views_share_memory_and_strides(oracle, name):
    for sample in SAMPLES[name].make(name, "float32"):
        (ours, error), (theirs, refused) = both(oracle, name, sample)
        assert (error is None) == (refused is None)
        if error is not None:
            continue
        for a, b in zip(tensors_of(ours), tensors_of(theirs)):
            assert a._is_view() == b._is_view()
            assert tuple(a.stride()) == tuple(b.stride()) and a.storage_offset() == b.storage_offset()


def test_samples_name_real_ops():
    assert sorted(set(SAMPLES) - set(RECORDS)) == []


def test_dtypes_under_test_exist():
    assert all(hasattr(nbtorch, d) for d in DTYPES)
