"""The rates of every scheduler against live torch: chained, in closed form, saved and loaded."""
import math
import warnings

import pytest

import nbtorch

KINDS = {
    "LambdaLR": lambda S, o: S.LambdaLR(o, lambda e: 0.9 ** e),
    "LambdaLR2": lambda S, o: S.LambdaLR(o, [lambda e: 0.9 ** e, lambda e: 1 / (1 + e)]),
    "MultiplicativeLR": lambda S, o: S.MultiplicativeLR(o, lambda e: 0.95),
    "StepLR": lambda S, o: S.StepLR(o, 4, 0.3),
    "MultiStepLR": lambda S, o: S.MultiStepLR(o, [3, 5, 5, 12], 0.3),
    "ConstantLR": lambda S, o: S.ConstantLR(o, 0.25, 6),
    "LinearLR": lambda S, o: S.LinearLR(o, 0.2, 0.9, 7),
    "ExponentialLR": lambda S, o: S.ExponentialLR(o, 0.9),
    "PolynomialLR": lambda S, o: S.PolynomialLR(o, 12, 1.7),
    "CosineAnnealingLR": lambda S, o: S.CosineAnnealingLR(o, 6, 0.01),
    "CosineAnnealingWarmRestarts": lambda S, o: S.CosineAnnealingWarmRestarts(o, 3, 2, 0.01),
    "CyclicLR": lambda S, o: S.CyclicLR(o, 0.01, [0.2, 0.3], 3, 5, mode="triangular2"),
    "CyclicLR-exp": lambda S, o: S.CyclicLR(o, 0.01, 0.2, 4, mode="exp_range", gamma=0.97),
    "CyclicLR-own": lambda S, o: S.CyclicLR(o, 0.01, 0.2, 4, scale_fn=lambda x: 1 / x, cycle_momentum=False),
    "OneCycleLR": lambda S, o: S.OneCycleLR(o, 0.5, total_steps=30),
    "OneCycleLR-three": lambda S, o: S.OneCycleLR(o, [0.5, 0.7], epochs=5, steps_per_epoch=6, three_phase=True,
                                                  anneal_strategy="linear"),
    "SequentialLR": lambda S, o: S.SequentialLR(
        o, [S.LinearLR(o, 0.1, total_iters=4), S.CosineAnnealingLR(o, 8), S.ExponentialLR(o, 0.9)], [4, 12]),
    "ChainedScheduler": lambda S, o: S.ChainedScheduler([S.ConstantLR(o, 0.1, 4), S.ExponentialLR(o, 0.9)]),
}
PLATEAU = [{}, {"mode": "max", "patience": 1}, {"threshold_mode": "abs", "cooldown": 2, "patience": 2},
           {"min_lr": [0.05, 0.01], "factor": 0.5, "patience": 0}]


def _optimizer(T, kind="SGD"):
    params = [T.nn.Parameter(T.ones(2)) for _ in range(2)]
    options = {"momentum": 0.9} if kind == "SGD" else {}
    return getattr(T.optim, kind)([{"params": [params[0]], "lr": 0.1}, {"params": [params[1]], "lr": 0.4}], **options)


def _rates(T, make, steps=25, kind="SGD"):
    optimizer = _optimizer(T, kind)
    scheduler = make(T.optim.lr_scheduler, optimizer)
    seen = []
    for _ in range(steps):
        seen.append([g["lr"] for g in optimizer.param_groups] + scheduler.get_last_lr()
                    + [g.get("momentum", g.get("betas")) for g in optimizer.param_groups])
        optimizer.step()
        scheduler.step()
    return seen, scheduler


def _flat(rows):
    return [x for row in rows for item in row for x in (item if isinstance(item, tuple) else (item,))]


@pytest.mark.parametrize("kind", ["SGD", "Adam"])
@pytest.mark.parametrize("name", KINDS)
def test_the_same_rates_as_torch(name, kind, oracle):
    (ours, mine), (theirs, reference) = (_rates(T, KINDS[name], kind=kind) for T in (nbtorch, oracle))
    assert _flat(ours) == pytest.approx(_flat(theirs), rel=1e-12, abs=1e-15)
    missing = set(reference.state_dict()) - set(mine.state_dict())
    assert missing <= {"_is_initial", "_get_lr_called_within_step"}


@pytest.mark.parametrize("options", PLATEAU)
def test_plateau(options, oracle):
    metrics = [1.0, 0.9, 0.95, 0.99, 0.9, 0.91, 0.92, 0.5, 0.6, 0.6, 0.6, 0.7, 0.7, math.nan, 0.8, 0.9] * 2
    seen = []
    for T in (nbtorch, oracle):
        optimizer = _optimizer(T)
        scheduler = T.optim.lr_scheduler.ReduceLROnPlateau(optimizer, **options)
        for m in metrics:
            scheduler.step(m)
            seen.append(scheduler.get_last_lr() + [scheduler.num_bad_epochs, scheduler.best])
    half = len(seen) // 2
    assert _flat(seen[:half]) == pytest.approx(_flat(seen[half:]), rel=1e-12)


CLOSED = [n for n in KINDS if n.split("-")[0] not in ("SequentialLR", "ChainedScheduler", "CyclicLR", "OneCycleLR")]


@pytest.mark.parametrize("name", CLOSED)
def test_a_given_epoch(name, oracle):
    seen = []
    for T in (nbtorch, oracle):
        optimizer = _optimizer(T)
        scheduler = KINDS[name](T.optim.lr_scheduler, optimizer)
        optimizer.step()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for epoch in (1, 5, 2, 9):
                scheduler.step(epoch)
                seen.append(scheduler.get_last_lr())
    assert _flat(seen[:4]) == pytest.approx(_flat(seen[4:]), rel=1e-12)


@pytest.mark.parametrize("name", KINDS)
def test_a_loaded_scheduler_goes_on(name):
    straight, _ = _rates(nbtorch, KINDS[name])
    optimizer = _optimizer(nbtorch)
    scheduler = KINDS[name](nbtorch.optim.lr_scheduler, optimizer)
    for _ in range(7):
        optimizer.step()
        scheduler.step()
    again = _optimizer(nbtorch)
    resumed = KINDS[name](nbtorch.optim.lr_scheduler, again)
    again.load_state_dict(optimizer.state_dict())
    resumed.load_state_dict(scheduler.state_dict())
    again.step()
    resumed.step()
    assert resumed.get_last_lr() == pytest.approx(straight[8][2:4], rel=1e-12)


def test_tensor_rates_are_written_in_place():
    lr = nbtorch.tensor(1.0)
    optimizer = nbtorch.optim.Adam([nbtorch.nn.Parameter(nbtorch.ones(1))], lr=lr)
    scheduler = nbtorch.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
    optimizer.step()
    scheduler.step()
    assert optimizer.param_groups[0]["lr"] is lr and lr.item() == 0.5


def test_warnings():
    optimizer = _optimizer(nbtorch)
    scheduler = nbtorch.optim.lr_scheduler.StepLR(optimizer, 2)
    with pytest.warns(UserWarning, match="before `optimizer.step"):
        scheduler.step()
    with pytest.warns(UserWarning, match="please use `get_last_lr"):
        scheduler.get_lr()
    with pytest.warns(UserWarning, match="epoch parameter"):
        scheduler.step(4)


def _error(T, make):
    try:
        make(T.optim.lr_scheduler, _optimizer(T))
    except Exception as error:
        return type(error).__name__, str(error)
    return None


WRONG = [
    lambda S, o: S.StepLR(1, 2), lambda S, o: S.StepLR(o, 2, last_epoch=3), lambda S, o: S.ConstantLR(o, 2),
    lambda S, o: S.LinearLR(o, 0), lambda S, o: S.LinearLR(o, 0.5, 2), lambda S, o: S.LambdaLR(o, [len]),
    lambda S, o: S.MultiplicativeLR(o, 3), lambda S, o: S.CosineAnnealingWarmRestarts(o, 0),
    lambda S, o: S.CosineAnnealingWarmRestarts(o, 2, 0), lambda S, o: S.OneCycleLR(o, 1.0),
    lambda S, o: S.OneCycleLR(o, 1.0, total_steps=-1), lambda S, o: S.OneCycleLR(o, 1.0, total_steps=5, pct_start=2),
    lambda S, o: S.OneCycleLR(o, [1.0], total_steps=5), lambda S, o: S.OneCycleLR(o, 1.0, 5, anneal_strategy="x"),
    lambda S, o: S.CyclicLR(o, 0.1, 0.2, mode="x"), lambda S, o: S.ReduceLROnPlateau(o, factor=2),
    lambda S, o: S.ReduceLROnPlateau(o, "x"), lambda S, o: S.ReduceLROnPlateau(o, threshold_mode="x"),
    lambda S, o: S.ReduceLROnPlateau(o, min_lr=[1]), lambda S, o: S.SequentialLR(o, [], []),
    lambda S, o: S.SequentialLR(o, [S.StepLR(o, 1)], [1]), lambda S, o: S.ChainedScheduler([]),
    lambda S, o: S.SequentialLR(o, [S.StepLR(o, 1), S.ReduceLROnPlateau(o)], [1]),
]


@pytest.mark.parametrize("make", WRONG)
def test_torchs_errors(make, oracle):
    theirs = _error(oracle, make)
    assert theirs is not None and _error(nbtorch, make) == theirs


@pytest.mark.parametrize("options", [{}, {"anneal_epochs": 0}, {"anneal_strategy": "linear", "anneal_epochs": 4}])
def test_swalr(options, oracle):
    seen = []
    for T in (nbtorch, oracle):
        optimizer = _optimizer(T)
        scheduler = T.optim.swa_utils.SWALR(optimizer, 0.05, **options)
        for _ in range(15):
            optimizer.step()
            scheduler.step()
            seen.append(scheduler.get_last_lr())
    assert _flat(seen[:15]) == pytest.approx(_flat(seen[15:]), rel=1e-9)


@pytest.mark.parametrize("make", ["get_swa_avg_fn", "get_ema_avg_fn", "get_swa_multi_avg_fn", None])
def test_averaged_model(make):
    T, utils = nbtorch, nbtorch.optim.swa_utils
    model = T.nn.Sequential(T.nn.Linear(3, 4), T.nn.BatchNorm1d(4))
    options = {} if make is None else {"multi_avg_fn" if "multi" in make else "avg_fn": getattr(utils, make)()}
    average, values = utils.AveragedModel(model, **options), []
    for i in range(3):
        with T.no_grad():
            model[0].weight.fill_(float(i))
        values.append(float(i))
        average.update_parameters(model)
    expected = 0.0 * 0.999 + 1 * 0.001 if make == "get_ema_avg_fn" else 1.0
    expected = expected * 0.999 + 2 * 0.001 if make == "get_ema_avg_fn" else expected
    assert average.module[0].weight.flatten()[0].item() == pytest.approx(expected, rel=1e-5)
    assert average.n_averaged.item() == 3
    data = [T.randn(8, 3) * 2 + 1 for _ in range(3)]
    utils.update_bn(data, average)
    mean = sum(average.module[0](x).mean(0) for x in data) / 3
    assert T.allclose(average.module[1].running_mean, mean.detach(), atol=1e-5)
