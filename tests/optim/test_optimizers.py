"""Every optimizer and option over 20 steps against live torch; saving, loading, hooks, errors."""
import copy
import itertools
import pickle

import pytest

import nbtorch

STEPS = 20
BOTH = (False, True)


def _grid(**options):
    return [dict(zip(options, values)) for values in itertools.product(*options.values())]


CASES = [
    *(("Adam", o) for o in _grid(weight_decay=(0, 0.1), amsgrad=BOTH, maximize=BOTH)),
    *(("Adam", o) for o in ({"decoupled_weight_decay": True, "weight_decay": 0.1}, {"betas": (0.5, 0.6), "eps": 1e-3},
                            {"foreach": True}, {"fused": True}, {"foreach": False}, {"lr": 0})),
    *(("AdamW", o) for o in _grid(amsgrad=BOTH, maximize=BOTH)),
    ("AdamW", {"weight_decay": 0.3, "lr": 0.05}),
    *(("SGD", o) for o in _grid(momentum=(0, 0.9), weight_decay=(0, 0.1), maximize=BOTH)),
    ("SGD", {"momentum": 0.9, "nesterov": True, "weight_decay": 0.1}),
    ("SGD", {"momentum": 0.9, "dampening": 0.4, "fused": True}),
    *(("RMSprop", o) for o in _grid(momentum=(0, 0.9), centered=BOTH, weight_decay=(0, 0.1), maximize=BOTH)),
    *(("Adagrad", o) for o in _grid(lr_decay=(0, 0.1), weight_decay=(0, 0.1), maximize=BOTH)),
    ("Adagrad", {"initial_accumulator_value": 0.5}),
    *(("Adadelta", o) for o in _grid(weight_decay=(0, 0.1), maximize=BOTH)),
    *(("Adamax", o) for o in _grid(weight_decay=(0, 0.1), maximize=BOTH)),
    *(("NAdam", o) for o in _grid(weight_decay=(0, 0.1), decoupled_weight_decay=BOTH, maximize=BOTH)),
    *(("RAdam", o) for o in _grid(weight_decay=(0, 0.1), decoupled_weight_decay=BOTH, maximize=BOTH)),
    *(("ASGD", o) for o in ({}, {"weight_decay": 0.1, "maximize": True}, {"t0": 3, "lambd": 0.1})),
    *(("Rprop", o) for o in ({}, {"etas": (0.3, 1.5), "step_sizes": (1e-3, 0.1)}, {"maximize": True})),
    *(("Adafactor", o) for o in ({}, {"weight_decay": 0.1, "maximize": True}, {"eps": (1e-5, 1e-2), "d": 2.0})),
]


def _ids(case):
    return f"{case[0]}-" + "-".join(f"{k}={v}" for k, v in case[1].items())


def _start(T, dtype="float32", complex_=False):
    """Parameters of the same values in either framework."""
    import numpy as np
    random = np.random.RandomState(0)
    shapes = [(60, 40), (7,), (), (3, 2, 4)]
    arrays = [np.asarray(random.randn(*s) + (1j * random.randn(*s) if complex_ else 0)) for s in shapes]
    kind = getattr(T, {"float32": "complex64", "float64": "complex128"}[dtype] if complex_ else dtype)
    return [T.nn.Parameter(T.tensor(a.tolist(), dtype=kind)) for a in arrays]


def _loss(params):
    total = 0
    for i, p in enumerate(params):
        size = p.abs() if p.is_complex() else p
        total = total + ((size - 0.3 * (i + 1)) ** 2 * (1 + 0.1 * i)).sum() + (size.sin() * 0.5).sum()
    return total


def _train(T, name, options, steps=STEPS, dtype="float32", complex_=False):
    params = _start(T, dtype, complex_)
    optimizer = getattr(T.optim, name)(params, **options)
    for _ in range(steps):
        optimizer.zero_grad()
        _loss(params).backward()
        optimizer.step()
    return params, optimizer


def _values(tensors):
    return [t.detach().tolist() for t in tensors]


def _close(ours, theirs, tolerance):
    for a, b in zip(ours, theirs):
        a, b = nbtorch.tensor(a.detach().tolist()), nbtorch.tensor(b.detach().tolist())
        assert a.shape == b.shape
        assert nbtorch.allclose(a, b, rtol=tolerance, atol=tolerance), (a - b).abs().max()


@pytest.mark.parametrize("case", CASES, ids=_ids)
def test_the_same_steps_as_torch(case, oracle):
    name, options = case
    ours, optimizer = _train(nbtorch, name, options)
    theirs, reference = _train(oracle, name, options)
    _close(ours, theirs, 2e-5)
    saved, expected = optimizer.state_dict(), reference.state_dict()
    assert set(saved["state"]) == set(expected["state"])
    for i in expected["state"]:
        assert set(saved["state"][i]) == set(expected["state"][i])
    assert [set(g) for g in saved["param_groups"]] == [set(g) for g in expected["param_groups"]]
    assert repr(optimizer) == repr(reference)


@pytest.mark.parametrize("name", ["Adam", "AdamW", "SGD", "RMSprop", "Adagrad", "Adadelta", "Adamax", "NAdam", "RAdam",
                                  "ASGD", "Rprop"])
def test_complex_parameters(name, oracle):
    options = {"SGD": {"momentum": 0.9, "lr": 0.01}, "RMSprop": {"momentum": 0.9}}.get(name, {})
    ours, _ = _train(nbtorch, name, options, complex_=True, dtype="float64", steps=6)
    theirs, _ = _train(oracle, name, options, complex_=True, dtype="float64", steps=6)
    for a, b in zip(ours, theirs):
        _close([nbtorch.view_as_real(a)], [oracle.view_as_real(b)], 1e-9)


@pytest.mark.parametrize("name", ["Adam", "SGD", "RMSprop", "Adagrad", "Adamax", "NAdam", "RAdam", "Adadelta"])
def test_float64_to_the_last_digits(name, oracle):
    ours, _ = _train(nbtorch, name, {"weight_decay": 0.1}, dtype="float64")
    theirs, _ = _train(oracle, name, {"weight_decay": 0.1}, dtype="float64")
    _close(ours, theirs, 1e-10)


@pytest.mark.parametrize("line_search", [None, "strong_wolfe"])
def test_lbfgs(line_search, oracle):
    results = []
    for T in (nbtorch, oracle):
        params = _start(T, "float64")
        optimizer = T.optim.LBFGS(params, lr=0.5, max_iter=6, history_size=3, line_search_fn=line_search)

        def closure():
            optimizer.zero_grad()
            loss = _loss(params)
            loss.backward()
            return loss
        losses = [optimizer.step(closure).item() for _ in range(4)]
        results.append((params, losses, optimizer.state_dict()["state"][0]))
    (ours, mine, state), (theirs, expected, reference) = results
    assert mine == pytest.approx(expected, rel=1e-6)
    _close(ours, theirs, 1e-5)
    assert state["func_evals"] == reference["func_evals"] and set(state) == set(reference)


def test_muon(oracle):
    results = []
    for T in (nbtorch, oracle):
        p = [x for x in _start(T) if x.dim() == 2]
        optimizer = T.optim.Muon(p, lr=0.02)
        for _ in range(3):
            optimizer.zero_grad()
            _loss(p).backward()
            optimizer.step()
        results.append(p)
    for a, b in zip(*results):
        assert (nbtorch.tensor(a.tolist()) - nbtorch.tensor(b.tolist())).abs().max().item() < 2e-2


@pytest.mark.parametrize("name", ["Adam", "SGD", "RMSprop", "Adagrad"])
def test_differentiable_steps_agree_and_carry_gradients(name):
    options = {"SGD": {"momentum": 0.5}}.get(name, {})
    plain, _ = _train(nbtorch, name, options, steps=3, dtype="float64")
    start = [p.detach().requires_grad_() for p in _start(nbtorch, "float64")]
    params = [p.clone() for p in start]
    for p in params:
        p.retain_grad()
    optimizer = getattr(nbtorch.optim, name)(params, differentiable=True, **options)
    for _ in range(3):
        for p, g in zip(params, nbtorch.autograd.grad(_loss(params), params)):
            p.grad = g.detach()
        optimizer.step()
    _close(params, plain, 1e-10)
    sum(p.sum() for p in params).backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in start)


def test_half_precision_parameters(oracle):
    for name, options in (("Adam", {"fused": True}), ("SGD", {"momentum": 0.9, "lr": 0.01})):
        ours, _ = _train(nbtorch, name, options, steps=5, dtype="bfloat16")
        theirs, _ = _train(oracle, name, options, steps=5, dtype="bfloat16")
        assert all(a.dtype is nbtorch.bfloat16 for a in ours)
        _close(ours, theirs, 3e-2)


@pytest.mark.parametrize("name", ["Adam", "SGD", "RMSprop", "NAdam"])
def test_a_loaded_state_goes_on_as_if_never_saved(name):
    options = {"momentum": 0.9, "lr": 0.01} if name == "SGD" else {}
    straight, _ = _train(nbtorch, name, options, steps=6)
    params, first = _train(nbtorch, name, options, steps=3)
    second = getattr(nbtorch.optim, name)(params, lr=9.0)
    second.load_state_dict(pickle.loads(pickle.dumps(first.state_dict())))
    third = copy.deepcopy(first)
    assert set(third.state_dict()) == {"state", "param_groups"}
    for _ in range(3):
        second.zero_grad()
        _loss(params).backward()
        second.step()
    assert _values(params) == _values(straight)


def test_torch_checkpoints_load(oracle):
    theirs, reference = _train(oracle, "Adam", {"amsgrad": True}, steps=3)
    saved = reference.state_dict()
    saved["state"] = {i: {key: nbtorch.tensor(value.tolist(), dtype=nbtorch.float32) for key, value in state.items()}
                      for i, state in saved["state"].items()}
    params = [nbtorch.nn.Parameter(nbtorch.tensor(p.tolist())) for p in theirs]
    optimizer = nbtorch.optim.Adam(params)
    optimizer.load_state_dict(saved)
    for p, o in ((params, optimizer), (theirs, reference)):
        o.zero_grad()
        _loss(p).backward()
        o.step()
    _close(params, theirs, 1e-5)


def test_groups_closure_zero_grad_and_tensor_lr():
    a, b = nbtorch.nn.Parameter(nbtorch.ones(3)), nbtorch.nn.Parameter(nbtorch.ones(3))
    optimizer = nbtorch.optim.SGD([{"params": [a]}, {"params": [b], "lr": 0.5}], lr=nbtorch.tensor(0.25))

    def closure():
        optimizer.zero_grad()
        loss = (a + b).sum()
        loss.backward()
        return loss
    assert optimizer.step(closure).item() == 6
    assert a.tolist() == [0.75] * 3 and b.tolist() == [0.5] * 3
    optimizer.zero_grad(set_to_none=False)
    assert a.grad.tolist() == [0, 0, 0]
    optimizer.zero_grad()
    assert a.grad is None
    optimizer.step()
    assert a.tolist() == [0.75] * 3


def test_named_parameters():
    model = nbtorch.nn.Linear(2, 1)
    optimizer = nbtorch.optim.Adam(model.named_parameters())
    assert optimizer.param_groups[0]["param_names"] == ["weight", "bias"]
    with pytest.raises(ValueError, match="cannot add param group without names"):
        optimizer.add_param_group({"params": [nbtorch.nn.Parameter(nbtorch.ones(1))]})


def _error(T, make):
    try:
        make(T)
    except Exception as error:
        return type(error).__name__, str(error).replace("nbtorch", "torch")
    return None


WRONG = [
    lambda T: T.optim.Adam([]), lambda T: T.optim.SGD(T.ones(2)), lambda T: T.optim.SGD([1]),
    lambda T: T.optim.SGD([T.ones(2, requires_grad=True) * 2]),
    lambda T: T.optim.SGD({"params": {T.ones(1)}}["params"] and [{"params": {T.ones(1)}}]),
    lambda T: T.optim.SGD([T.ones(1)]).add_param_group([T.ones(1)]),
    lambda T: (lambda p: T.optim.SGD([{"params": [p]}, {"params": [p]}]))(T.ones(1)),
    lambda T: T.optim.SGD([T.ones(1)], nesterov=True), lambda T: T.optim.SGD([T.ones(1)], momentum=-1),
    lambda T: T.optim.SGD([T.ones(1)], fused=True, foreach=True),
    lambda T: T.optim.Adam([T.ones(1)], fused=True, differentiable=True),
    lambda T: T.optim.Adam([T.ones(1)], betas=(1.0, 0.9)), lambda T: T.optim.Adam([T.ones(1)], betas=(0, 0.9)),
    lambda T: T.optim.Adam([T.ones(1)], lr=T.ones(2)),
    lambda T: T.optim.RMSprop([T.ones(1)], alpha=-1), lambda T: T.optim.Adagrad([T.ones(1)], lr_decay=-1),
    lambda T: T.optim.Adadelta([T.ones(1)], rho=2), lambda T: T.optim.NAdam([T.ones(1)], momentum_decay=-1),
    lambda T: T.optim.Rprop([T.ones(1)], etas=(2, 3)), lambda T: T.optim.Adafactor([T.ones(1)], d=0.5),
    lambda T: T.optim.LBFGS([{"params": [T.ones(1)]}, {"params": [T.ones(1)]}]),
    lambda T: T.optim.Muon([T.ones(1)]), lambda T: T.optim.Adam([("a", T.ones(1)), T.ones(1)]),
    lambda T: T.optim.SGD([T.ones(1)]).load_state_dict({"state": {}, "param_groups": []}),
    lambda T: T.optim.SGD([T.ones(1)]).load_state_dict({"state": {}, "param_groups": [{"params": [0, 1]}]}),
    *(lambda T, n=n, o=o: getattr(T.optim, n)([T.ones(1)], **o)
      for n in ("Adam", "AdamW", "SGD", "RMSprop", "Adagrad", "Adadelta", "Adamax", "NAdam", "RAdam", "ASGD", "Rprop",
                "Adafactor", "LBFGS", "Muon") for o in ({"lr": -0.5}, {"weight_decay": -1}, {"eps": -1})
      if not (n in ("Rprop", "LBFGS") and "lr" not in o or n in ("SGD", "ASGD", "Adafactor", "Muon") and "eps" in o)),
]


@pytest.mark.parametrize("make", WRONG)
def test_torchs_errors(make, oracle):
    ours, theirs = _error(nbtorch, make), _error(oracle, make)
    assert theirs is not None
    assert ours == theirs


def test_duplicate_parameters_warn():
    p = nbtorch.nn.Parameter(nbtorch.ones(1))
    with pytest.warns(UserWarning, match="duplicate parameters"):
        nbtorch.optim.SGD([p, p])


def test_hooks_and_events():
    from nbtorch.events.bus import subscribe
    from nbtorch.events.records import Step, Tag
    from nbtorch.optim.optimizer import register_optimizer_step_pre_hook
    p = nbtorch.nn.Parameter(nbtorch.ones(3))
    p.grad = nbtorch.ones(3)
    optimizer, seen = nbtorch.optim.Adam([p]), []
    handles = [optimizer.register_step_pre_hook(lambda o, a, k: seen.append("pre")),
               optimizer.register_step_post_hook(lambda o, a, k: seen.append("post")),
               register_optimizer_step_pre_hook(lambda o, a, k: seen.append("all")),
               optimizer.register_state_dict_post_hook(lambda o, s: {**s, "more": 1})]
    records = []
    with subscribe(lambda r: records.append((type(r).__name__, getattr(r, "category", None)))
                   if isinstance(r, (Step, Tag)) else None):
        optimizer.step()
    assert seen == ["all", "pre", "post"]
    assert records == [("Tag", "optimizer_state")] * 3 + [("Step", None)]
    assert optimizer.state_dict()["more"] == 1
    for handle in handles:
        handle.remove()
    optimizer.step()
    assert len(seen) == 3


def test_a_users_own_optimizer():
    class Sign(nbtorch.optim.Optimizer):
        def __init__(self, params, lr):
            super().__init__(params, {"lr": lr})

        @nbtorch.no_grad()
        def step(self, closure=None):
            for group in self.param_groups:
                for p in group["params"]:
                    p.sub_(p.grad.sign(), alpha=group["lr"])
    p = nbtorch.nn.Parameter(nbtorch.tensor([1.0, -1.0]))
    optimizer, seen = Sign([p], 0.5), []
    optimizer.register_step_post_hook(lambda *a: seen.append(1))
    (p * p).sum().backward()
    optimizer.step()
    assert p.tolist() == [0.5, -0.5] and seen == [1]


def test_sparse_adam_says_what_to_use():
    with pytest.raises(NotImplementedError, match="no sparse tensors"):
        nbtorch.optim.SparseAdam([nbtorch.ones(1)])
