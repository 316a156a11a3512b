"""Random programs of views and in-place writes give PyTorch's values, gradients, versions and errors."""
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

import nbtorch

STEPS = st.one_of(
    st.tuples(st.just("select"), st.integers(0, 1), st.integers(0, 1)),
    st.tuples(st.just("narrow"), st.integers(0, 1), st.integers(0, 1)),
    st.tuples(st.just("transpose"), st.just(0), st.just(0)),
    st.tuples(st.just("flatten"), st.just(0), st.just(0)),
    st.tuples(st.just("unsqueeze"), st.integers(0, 1), st.just(0)),
    st.tuples(st.just("expand"), st.just(0), st.just(0)),
    st.tuples(st.just("mul"), st.just(0), st.just(0)),
    st.tuples(st.just("exp"), st.just(0), st.just(0)),
    st.tuples(st.just("mul_"), st.just(0), st.integers(0, 1)),
    st.tuples(st.just("add_"), st.just(0), st.integers(0, 1)),
    st.tuples(st.just("copy_"), st.just(0), st.integers(0, 1)),
    st.tuples(st.just("fill_"), st.just(0), st.just(0)),
    st.tuples(st.just("detach"), st.just(0), st.just(0)),
    st.tuples(st.just("setitem"), st.integers(0, 1), st.just(0)),
)
PROGRAMS = st.lists(st.tuples(st.integers(0, 7), STEPS), min_size=2, max_size=9)


def apply(T, t, step, w):
    """One step on one tensor."""
    name, d, i = step
    if name == "select":
        return t.select(min(d, t.dim() - 1), i)
    if name == "narrow":
        return t.narrow(min(d, t.dim() - 1), i, 1)
    if name == "transpose":
        return t.transpose(0, t.dim() - 1)
    if name == "flatten":
        return t.view(-1)
    if name == "unsqueeze":
        return t.unsqueeze(d)
    if name == "expand":
        return t.expand(2, *t.shape)
    if name == "mul":
        return t * t
    if name == "exp":
        return (t * 0.1).exp()
    if name == "mul_":
        return t.mul_(w if i else 1.5)
    if name == "add_":
        return t.add_(w if i else 2.0)
    if name == "copy_":
        return t.copy_(w if i else w.detach())
    if name == "fill_":
        return t.fill_(3.0)
    if name == "detach":
        return t.detach()
    t[d] = w
    return t


def execute(T, program, leaf):
    """Run a program; returns a transcript of everything PyTorch would let a user see."""
    w = T.tensor(0.7, dtype=T.float64, requires_grad=True)
    base = T.arange(1, 9, dtype=T.float64).reshape(2, 2, 2) / 4
    base.requires_grad_(True)
    pool, seen = [base if leaf else base * 1.0], []
    for which, step in program:
        t = pool[which % len(pool)]
        try:
            out = apply(T, t, step, w)
        except (RuntimeError, IndexError) as error:
            seen.append((step[0], type(error).__name__))
            continue
        pool.append(out)
        # the stride of a dimension of size 1 is never used, and NumPy leaves it arbitrary
        strides = tuple(s for n, s in zip(out.shape, out.stride()) if n != 1)
        seen.append((step[0], tuple(out.shape), strides, out._version, out.requires_grad, out.is_leaf))
    seen.append([t.detach().reshape(-1).tolist() for t in pool])
    seen.append([t._version for t in pool])
    total = sum((t * t).sum() * (k + 1) for k, t in enumerate(pool))
    if total.requires_grad:
        try:
            total.backward()
            seen.append([None if g is None else [round(v, 6) for v in g.reshape(-1).tolist()]
                         for g in (base.grad, w.grad)])
        except RuntimeError as error:
            seen.append(str(error).split(":")[0])
    return seen


@pytest.mark.oracle
@settings(max_examples=600, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(program=PROGRAMS, leaf=st.booleans())
def test_programs_agree_with_the_oracle(oracle, program, leaf):
    ours, theirs = execute(nbtorch, program, leaf), execute(oracle, program, leaf)
    assert same(ours, theirs), f"\nours:   {ours}\ntheirs: {theirs}"


def same(ours, theirs):
    """Structure equal, numbers close."""
    if isinstance(theirs, float):
        return ours == pytest.approx(theirs, rel=1e-9, abs=1e-9, nan_ok=True)
    if isinstance(theirs, (list, tuple)):
        return len(ours) == len(theirs) and all(same(a, b) for a, b in zip(ours, theirs))
    return ours == theirs
