"""Every module against PyTorch: printed form, initial values from the same seed, state dict, output and gradients."""

import warnings

import numpy as np
import pytest

import nbtorch
from nbtorch import nn

from .facts import build, make_inputs, spec_id, tensors_in
from .specs import ACTIVATIONS, LAYERS, LOSSES

torch = pytest.importorskip("torch")


def run(library, module, arrays):
    """Outputs, and gradients of inputs and parameters of their weighted sum."""
    inputs = [library.tensor(a) for a in arrays]
    for tensor in inputs:
        if tensor.is_floating_point():
            tensor.requires_grad_()
    library.manual_seed(11)
    outputs = tensors_in(module(*inputs))
    total = sum(
        (out * library.linspace(-1, 1, out.numel()).reshape(out.shape)).sum() for out in outputs if out.is_floating_point()
    )
    total.backward()
    grads = [t.grad for t in inputs if t.is_floating_point()] + [p.grad for p in module.parameters()]
    return [t.detach().numpy() for t in outputs], [None if g is None else g.numpy() for g in grads]


@pytest.mark.parametrize("spec", LAYERS + ACTIVATIONS + LOSSES, ids=spec_id)
def test_construction_equals_torch(spec):
    ours, theirs = build(nbtorch, spec), build(torch, spec)
    assert repr(ours) == repr(theirs)
    mine, reference = ours.state_dict(), theirs.state_dict()
    assert list(mine) == list(reference)
    assert {k: dict(v) for k, v in mine._metadata.items()} == {k: dict(v) for k, v in reference._metadata.items()}
    for name, value in reference.items():
        np.testing.assert_allclose(mine[name].numpy(), value.numpy(), rtol=1e-5, atol=1e-6, err_msg=name)
    assert [n for n, _ in ours.named_parameters()] == [n for n, _ in theirs.named_parameters()]


@pytest.mark.parametrize("spec", [s for s in LAYERS + ACTIVATIONS if s["inputs"]], ids=spec_id)
@pytest.mark.filterwarnings("ignore:LSTM with projections is not supported with oneDNN")
@pytest.mark.parametrize("training", [True, False])
def test_output_and_gradients_equal_torch(spec, training):
    ours, theirs = build(nbtorch, spec).train(training), build(torch, spec).train(training)
    with torch.no_grad(), nbtorch.no_grad():
        for mine, reference in zip(ours.parameters(), theirs.parameters()):
            mine.copy_(nbtorch.tensor(reference.numpy()))
    arrays = make_inputs(spec["inputs"])
    outs, grads = run(nbtorch, ours, arrays)
    expected_outs, expected_grads = run(torch, theirs, arrays)
    for got, expected in zip(outs, expected_outs):
        assert got.shape == expected.shape
        np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-5)
    for got, expected in zip(grads, expected_grads):
        assert (got is None) == (expected is None)
        if expected is not None:
            np.testing.assert_allclose(got, expected, rtol=2e-3, atol=2e-4)
    for mine, reference in zip(ours.buffers(), theirs.buffers()):
        np.testing.assert_allclose(mine.numpy(), reference.numpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("spec", LOSSES, ids=spec_id)
def test_losses_equal_torch(spec):
    random = np.random.RandomState(0)
    values = random.randn(4, 3).astype(np.float32)
    target = {
        None: random.rand(4, 3).astype(np.float32), "sign": np.sign(random.randn(4, 3)).astype(np.float32),
        "unit": random.rand(4, 3).astype(np.float32), "class": random.randint(0, 3, 4),
    }[spec.get("target")]
    results = []
    for library in (nbtorch, torch):
        x = library.tensor(values, requires_grad=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            loss = build(library, spec)(x, library.tensor(target))
        loss.backward()
        results.append((loss.detach().numpy(), x.grad.numpy()))
    for got, expected in zip(*results):
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6)


def test_every_public_module_of_torch_is_there():
    theirs = {n for n in dir(torch.nn) if isinstance(getattr(torch.nn, n), type)}
    missing = sorted(n for n in theirs if not hasattr(nn, n) and "CrossEntropyOptions" not in n)
    assert missing == ["LinearCrossEntropyLoss"]  # a fused loss of 2.13; named in the docs as absent
