"""DistributedDataParallel gives every rank the gradients of the whole batch."""

import pytest

import nbtorch as torch
from nbtorch import nn
from nbtorch.distributed.ddp import DistributedDataParallel, make_buckets

from .ranks import each, groups


def model(seed=0):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3))


def batch():
    return torch.arange(48.0).reshape(8, 6) / 48, torch.arange(24.0).reshape(8, 3) / 24


def loss_of(net, x, y):
    return ((net(x) - y) ** 2).mean()


def close(a, b):
    return all(abs(p - q) < 1e-6 for p, q in zip(a.flatten().tolist(), b.flatten().tolist()))


@pytest.fixture
def two(tmp_path):
    with groups(2, tmp_path) as made:
        yield made


def alone():
    net = model()
    loss_of(net, *batch()).backward()
    return [p.grad for p in net.parameters()]


@pytest.mark.parametrize("cap", [25, 1e-4])
def test_gradients_equal_the_whole_batch(two, cap):
    x, y = batch()
    models = [model(rank) for rank in range(2)]  # different starts: rank 0's is taken over

    def run(group):
        r = group.rank()
        net = DistributedDataParallel(models[r], process_group=group, bucket_cap_mb=cap)
        for _ in range(2):
            net.zero_grad()
            loss_of(net, x[r * 4 : r * 4 + 4], y[r * 4 : r * 4 + 4]).backward()
        return [p.grad for p in net.parameters()]

    for grads in each(two, run):
        assert all(close(a, b) for a, b in zip(grads, alone()))


def test_no_sync_accumulates_then_averages(two):
    x, y = batch()
    models = [model(), model()]

    def run(group):
        r = group.rank()
        net = DistributedDataParallel(models[r], process_group=group)
        with net.no_sync():
            loss_of(net, x[r : r + 1], y[r : r + 1]).backward()
            local = next(net.parameters()).grad.clone()
        loss_of(net, x[r + 2 : r + 3], y[r + 2 : r + 3]).backward()
        return local, [p.grad for p in net.parameters()]

    (local0, grads0), (local1, grads1) = each(two, run)
    assert not close(local0, local1) and all(close(a, b) for a, b in zip(grads0, grads1))
    expected = model()
    for r in range(2):
        for at in (r, r + 2):
            (loss_of(expected, x[at : at + 1], y[at : at + 1]) / 2).backward()
    assert all(close(a, p.grad) for a, p in zip(grads0, expected.parameters()))


class Branchy(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.never = nn.Linear(2, 2), nn.Linear(2, 2), nn.Linear(2, 2)

    def forward(self, x, which):
        return self.a(x) if which == 0 else self.b(x)


def test_unused_parameters(two):
    torch.manual_seed(0)
    models = [Branchy(), Branchy()]

    def run(group):
        net = DistributedDataParallel(models[group.rank()], process_group=group, find_unused_parameters=True)
        for _ in range(2):
            net.zero_grad()
            net(torch.ones(1, 2), group.rank()).sum().backward()
        return [p.grad if p.grad is None else p.grad.tolist() for p in net.parameters()]

    first, second = each(two, run)
    assert first == second and first[4] is None and first[5] is None
    assert first[1] == [0.5, 0.5] and first[3] == [0.5, 0.5]


def test_unused_without_asking_is_an_error_that_names_them(two):
    torch.manual_seed(0)
    models = [Branchy(), Branchy()]

    def run(group):
        net = DistributedDataParallel(models[group.rank()], process_group=group)
        net(torch.ones(1, 2), 0).sum().backward()
        with pytest.raises(RuntimeError, match="Expected to have finished reduction") as caught:
            net(torch.ones(1, 2), 0)
        assert "never.weight" in str(caught.value)

    each(two, run)


def test_buffers_follow_rank_zero(two):
    models = [nn.BatchNorm1d(3), nn.BatchNorm1d(3)]

    def run(group):
        r = group.rank()
        net = DistributedDataParallel(models[r], process_group=group)
        net(torch.arange(6.0).reshape(2, 3) * (r + 1)).sum().backward()
        net(torch.arange(6.0).reshape(2, 3)).sum().backward()
        return net.module.running_mean.tolist()

    first, second = each(two, run)
    assert first == pytest.approx(second)


def test_other_models_are_refused(two):
    def run(group):
        if group.rank() == 0:
            net = nn.Linear(2, 2)
        else:
            net = nn.Linear(2, 3)
        with pytest.raises(RuntimeError, match="ranks disagree"):
            DistributedDataParallel(net, process_group=group)

    each(two, run)


def test_what_it_refuses():
    with pytest.raises(ValueError, match="has not been initialized"):
        DistributedDataParallel(nn.Linear(2, 2))


def test_nothing_to_train_is_refused(two):
    with pytest.raises(RuntimeError, match="doesn't have any parameter"):
        DistributedDataParallel(nn.ReLU(), process_group=two[0])


def test_names_and_buckets(two):
    params = [torch.zeros(1000) for _ in range(10)]
    buckets = make_buckets(params, 8000)
    assert [bucket.indices for bucket in buckets] == [[9, 8], [7, 6], [5, 4], [3, 2], [1, 0]]
    models = [model(), model()]
    names = each(two, lambda g: list(DistributedDataParallel(models[g.rank()], process_group=g).state_dict()))
    assert names[0][0] == "module.0.weight"
