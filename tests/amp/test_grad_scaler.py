"""GradScaler scales, unscales, skips and moves as PyTorch's does."""

import pickle

import pytest

import nbtorch as torch
from nbtorch.amp import GradScaler
from nbtorch.events.bus import subscribe
from nbtorch.events.records import Scale


class SGD:
    """The smallest optimizer that has what the scaler needs."""

    def __init__(self, *params):
        self.param_groups, self.steps = [{"params": list(params)}], 0

    def step(self):
        self.steps += 1
        with torch.no_grad():
            for p in self.param_groups[0]["params"]:
                p.add_(p.grad * -0.1)
        return "stepped"


def made(scale=4.0, interval=2):
    p = torch.ones(3, requires_grad=True)
    return p, SGD(p), GradScaler("cpu", init_scale=scale, growth_interval=interval)


def backward(p, scaler, factor=1.0):
    p.grad = None
    scaler.scale((p * factor).sum()).backward()


def test_scale_moves_as_observed_in_torch():
    p, opt, scaler = made()
    for _ in range(2):
        backward(p, scaler)
        assert p.grad.tolist() == [4.0] * 3
        assert scaler.step(opt) == "stepped"
        scaler.update()
    assert scaler.get_scale() == 8.0 and scaler._get_growth_tracker() == 0
    before = p.tolist()
    backward(p, scaler, float("inf"))
    assert scaler.step(opt) is None
    scaler.update()
    assert scaler.get_scale() == 4.0 and p.tolist() == before and opt.steps == 2


def test_five_overflows_then_growth():
    p, opt, scaler = made(2.0**16, 3)
    scales = []
    for i in range(11):
        backward(p, scaler, float("nan") if i < 5 else 1.0)
        scaler.step(opt)
        scaler.update()
        scales.append(scaler.get_scale())
    assert scales == [32768, 16384, 8192, 4096, 2048, 2048, 2048, 4096, 4096, 4096, 8192]


def test_gradients_are_unscaled_once():
    p, opt, scaler = made()
    backward(p, scaler)
    scaler.unscale_(opt)
    assert p.grad.tolist() == [1.0] * 3
    with pytest.raises(RuntimeError, match=r"unscale_\(\) has already been called on this optimizer"):
        scaler.unscale_(opt)
    scaler.step(opt)
    with pytest.raises(RuntimeError, match=r"step\(\) has already been called since the last update\(\)"):
        scaler.step(opt)
    with pytest.raises(RuntimeError, match=r"unscale_\(\) is being called after step\(\)"):
        scaler.unscale_(opt)
    scaler.update()
    assert p.grad.tolist() == [1.0] * 3


def test_errors():
    p, opt, scaler = made()
    with pytest.raises(AssertionError, match="_scale is None"):
        scaler.update()
    with pytest.raises(AssertionError, match="_scale is None"):
        scaler.step(opt)
    with pytest.raises(ValueError, match="outputs must be a Tensor"):
        scaler.scale(3)
    backward(p, scaler)
    with pytest.raises(RuntimeError, match="Closure use"):
        scaler.step(opt, closure=lambda: 0)
    with pytest.raises(AssertionError, match="growth factor"):
        GradScaler("cpu", growth_factor=1.0)
    with pytest.raises(AssertionError, match="backoff factor"):
        GradScaler("cpu", backoff_factor=1.0)
    half = torch.ones(2, dtype=torch.float16, requires_grad=True)
    half.grad = torch.ones(2, dtype=torch.float16)
    with pytest.raises(ValueError, match="Attempting to unscale FP16 gradients"):
        scaler.unscale_(SGD(half))


def test_without_cuda_it_warns_and_does_nothing():
    with pytest.warns(UserWarning, match="CUDA is not available"):
        scaler = GradScaler()
    p, opt, _ = made()
    assert (
        not scaler.is_enabled()
        and scaler.scale(3) == 3
        and scaler.get_scale() == 1.0
        and scaler.state_dict() == {}
    )
    p.grad = torch.ones(3)
    assert scaler.step(opt) == "stepped"
    scaler.update()


def test_state_goes_through_dict_and_pickle():
    p, opt, scaler = made()
    backward(p, scaler)
    scaler.step(opt)
    scaler.update()
    state = scaler.state_dict()
    assert state == {
        "scale": 4.0,
        "growth_factor": 2.0,
        "backoff_factor": 0.5,
        "growth_interval": 2,
        "_growth_tracker": 1,
    }
    other = GradScaler("cpu")
    other.load_state_dict(state)
    assert other.state_dict() == state
    assert pickle.loads(pickle.dumps(scaler)).state_dict() == state
    with pytest.raises(RuntimeError, match="source state dict is empty"):
        other.load_state_dict({})


def test_nested_outputs_and_new_scale():
    _, _, scaler = made()
    a, (b,) = scaler.scale([torch.ones(1), (torch.ones(1),)])
    assert a.item() == b.item() == 4.0
    scaler.update(7.0)
    assert scaler.get_scale() == 7.0
    scaler.update(torch.tensor(9.0))
    assert scaler.get_scale() == 9.0


def test_scale_events_tell_overflows():
    p, opt, scaler = made()
    seen = []
    with subscribe(lambda record: seen.append(record) if type(record) is Scale else None):
        backward(p, scaler, float("inf"))
        scaler.step(opt)
        scaler.update()
    assert [(r.old, r.new, r.overflow) for r in seen] == [(4.0, 2.0, True)]
