"""What %%autocast says about saved bytes equals arithmetic, and torch's own figures."""

import pytest

import nbtorch as torch
from nbtorch import nn
from nbtorch.events import messages as M
from nbtorch.events import schema
from nbtorch.events.bus import subscribe
from nbtorch.notebook.views import graph as graphs
from nbtorch.notebook.views.amp import AmpLog


def mlp(t):
    return t.nn.Sequential(*[m for _ in range(6) for m in (t.nn.Linear(512, 512), t.nn.GELU())])


def cnn(t):
    layers = [
        (t.nn.Conv2d(32 if i else 3, 32, 3, padding=1), t.nn.BatchNorm2d(32), t.nn.ReLU()) for i in range(4)
    ]
    return t.nn.Sequential(*[m for layer in layers for m in layer])


def logged(net, x, enabled):
    log = AmpLog()
    with subscribe(log), torch.autocast("cpu", enabled=enabled):
        loss = net(x).float().pow(2).mean()
        log.measure()
    tape, _ = graphs.walk([loss.grad_fn])
    return log, tape.saved_bytes()


def torchs_bytes(oracle, net, x, enabled):
    """Distinct storages torch saves, parameters not counted."""
    parameters = {p.untyped_storage().data_ptr() for p in net.parameters()}
    seen, kept = {}, []

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in parameters:
            seen[storage.data_ptr()] = storage.nbytes()
            kept.append(tensor)
        return tensor

    with (
        oracle.autograd.graph.saved_tensors_hooks(pack, lambda t: t),
        oracle.autocast("cpu", enabled=enabled),
    ):
        net(x).float().pow(2).mean()
    return sum(seen.values())


@pytest.mark.parametrize("make, shape", [(mlp, (256, 512)), (cnn, (4, 3, 16, 16))])
def test_saved_bytes_are_torchs(oracle, make, shape):
    for enabled in (False, True):
        log, tape = logged(make(torch), torch.ones(*shape), enabled)
        theirs = torchs_bytes(oracle, make(oracle), oracle.ones(*shape), enabled)
        assert log.actual == tape
        # torch also keeps batch norm's running statistics
        assert log.actual == pytest.approx(theirs, rel=0.01)


def test_what_float32_would_take_is_what_it_takes():
    x = torch.ones(256, 512)
    plain, _ = logged(mlp(torch), x, False)
    low, _ = logged(mlp(torch), x, True)
    assert plain.actual == plain.in_float32 == low.in_float32
    assert "spares" in low.sentence() and "no difference" in plain.sentence()


def test_growth_is_said_plainly():
    low, _ = logged(mlp(torch), torch.ones(8, 512), True)
    assert low.actual > low.in_float32 and "INCREASES memory" in low.sentence()


def test_ops_are_counted_once_and_messages_fit():
    net = nn.Linear(4, 4)
    log = AmpLog()
    with subscribe(log), torch.autocast("cpu"):
        for _ in range(3):
            net(torch.ones(2, 4)).sum().backward()
    assert {(op, dtype): count for op, dtype, count, _, _ in log.rows()}[("linear", "bfloat16")] == 3
    assert "addmm" not in {row[0] for row in log.rows() if row[2]}
    assert log.cached == 4  # weight and bias, the second and third time
    schema.check_batch(M.dump(M.Batch(seq=0, items=[log.message()])))
