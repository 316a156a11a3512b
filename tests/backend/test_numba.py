"""Every numba kernel against the generic NumPy one, in float64 as the yardstick, with NaN and infinity kept."""
import importlib
import itertools
import os
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("numba")

import nbtorch  # noqa: E402
from nbtorch.backend import numba_kernels, registry  # noqa: E402
from nbtorch.backend.numba_kernels import _common  # noqa: E402


@pytest.fixture(params=[1, 2], ids=["one_thread", "two_threads"])
def budget(request, monkeypatch):
    """A thread budget and a grain small enough for the test arrays to be split."""
    monkeypatch.setattr(_common, "_budget", lambda: request.param)
    if request.param > 1:
        monkeypatch.setattr(_common.threads, "__defaults__", (256,))


def fast(name):
    return getattr(importlib.import_module(f"{numba_kernels.__name__}.{numba_kernels.INDEX[name]}"), name)


def plain(name):
    registry.generic_names()
    return lambda *arguments: registry._GENERIC[name](np, *arguments)


def draw(*shape, seed=0, dtype=np.float32):
    return np.random.RandomState(seed).randn(*shape).astype(dtype)


def results(value):
    return value if isinstance(value, tuple) else (value,)


def widened(value):
    return value.astype(np.float64) if isinstance(value, np.ndarray) and value.dtype.kind == "f" else value


def agree(name, *arguments, times=4):
    """The fast kernel's error against float64 is within `times` NumPy's own, or a few units of rounding."""
    got, own = results(fast(name)(*arguments)), results(plain(name)(*arguments))
    exact = results(plain(name)(*[widened(a) for a in arguments]))
    assert not any(g is NotImplemented for g in got)
    for g, o, e in zip(got, own, exact):
        assert g.shape == o.shape and g.dtype == o.dtype
        if g.dtype.kind != "f":
            np.testing.assert_array_equal(g, o)
            continue
        np.testing.assert_array_equal(np.isnan(g), np.isnan(e))
        scale = np.nanmax(np.abs(np.where(np.isfinite(e), e, 0))) if e.size else 1
        floor = 8 * np.finfo(g.dtype).eps * max(scale, 1e-30)
        both = np.isfinite(e)
        np.testing.assert_array_equal(g[~both], e[~both].astype(g.dtype))
        g, o, e = g[both], o[both], e[both]
        error, limit = np.abs(g - e).max(initial=0), times * np.abs(o - e).max(initial=0) + floor
        assert error <= limit, (name, error, limit)


class Kind:
    """What a kernel asks of a dtype attribute."""

    name = "float32"


ROWS = [(40, 65), (8, 4, 128), (1500,), (300, 5)]


@pytest.mark.parametrize("shape", ROWS, ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["f32", "f64"])
@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_softmax_and_its_backward(name, shape, dtype, budget):
    a = draw(*shape, dtype=dtype) * 5
    agree(name, a, len(shape) - 1, None)
    agree(name + "_backward", draw(*shape, seed=1, dtype=dtype), plain(name)(a, -1, None), -1)


def test_softmax_keeps_nan_and_infinity(budget):
    a = draw(40, 64)
    a[0, 3], a[1, 5], a[2], a[3, 0], a[4, 0] = np.nan, np.inf, -np.inf, -np.inf, 1e30
    agree("softmax", a, 1, None)
    agree("log_softmax", a, 1, None)


@pytest.mark.parametrize("weighted", [True, False])
def test_layer_norm(weighted, budget):
    for shape, inner in (((64, 65), (65,)), ((4, 16, 8, 8), (8, 8)), ((3000, 4), (4,))):
        a, g = draw(*shape) + 3, draw(*shape, seed=2)
        w, b = (draw(*inner, seed=3), draw(*inner, seed=4)) if weighted else (None, None)
        agree("layer_norm", a, w, b, inner, 1e-5)
        _, mean, rstd = plain("layer_norm")(a, w, b, inner, 1e-5)
        agree("layer_norm_backward", g, a, w, mean, rstd, inner, times=6)


def test_batch_norm(budget):
    for shape in ((4, 6, 8, 8), (3, 7, 50), (2, 70, 4, 4)):
        a, g = draw(*shape) * 2 + 100, draw(*shape, seed=2)
        w, b = draw(shape[1], seed=3), draw(shape[1], seed=4)
        moved = []
        for provider in (fast, plain):
            running = [np.zeros(shape[1], np.float32), np.ones(shape[1], np.float32)]
            provider("batch_norm")(a, w, b, *running, True, 0.1, 1e-5)
            moved.append(running)
        np.testing.assert_allclose(moved[0], moved[1], rtol=1e-4)
        agree("batch_norm", a, w, b, None, None, True, 0.1, 1e-5)
        agree("batch_norm", a, None, None, None, None, True, 0.1, 1e-5)
        _, mean, rstd = plain("batch_norm")(a, w, b, None, None, True, 0.1, 1e-5)
        agree("batch_norm_backward", g, a, w, mean, rstd, True, times=8)
    a[0, 0, 0, 0] = np.nan
    agree("batch_norm", a, w, b, None, None, True, 0.1, 1e-5)
    assert fast("batch_norm")(a, w, b, a[0, :, 0, 0], a[0, :, 0, 0], False, 0.1, 1e-5) is NotImplemented


@pytest.mark.parametrize("approximate", ["none", "tanh"])
def test_gelu(approximate, budget):
    a = np.concatenate([np.linspace(-12, 12, 2999, dtype=np.float32), np.float32([np.nan])])
    agree("gelu", a, approximate)
    agree("gelu_backward", draw(3000), a, approximate)


def test_threshold_backward_and_relu(budget):
    a, g = draw(50, 60), draw(50, 60, seed=1)
    a[0, 0], a[0, 1], a[0, 2], g[1, 0] = np.nan, np.inf, 0, np.nan
    agree("threshold_backward", g, a, 0)
    if _common._budget() > 1:
        agree("relu", a)
    else:
        assert fast("relu")(a) is NotImplemented


def test_dropout_backward_keeps_nan_under_the_mask():
    a, mask = draw(40, 50), np.random.RandomState(0).rand(40, 50) < 0.7
    a[0, 0], mask[0, 0] = np.nan, False
    agree("dropout_backward", a, mask, 0.3)


WINDOWS = [((2, 2), (2, 2), (0, 0), (1, 1)), ((3, 3), (2, 2), (1, 1), (1, 1)), ((3, 2), (1, 2), (1, 0), (2, 1)),
           ((2, 2), (2, 2), (1, 1), (1, 1))]


@pytest.mark.parametrize("window", WINDOWS, ids=str)
def test_max_pool(window, budget):
    kernel, stride, padding, dilation = window
    a = draw(2, 5, 13, 14)
    a[0, 0, 0, :3], a[0, 1, 2:6, 4] = np.nan, -np.inf
    size = tuple((n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, p, d in zip((13, 14), kernel, stride, padding,
                                                                                   dilation))
    agree("max_pool2d_with_indices", a, kernel, stride, padding, dilation, size)
    out, where = plain("max_pool2d_with_indices")(a, kernel, stride, padding, dilation, size)
    g = draw(*out.shape, seed=1)
    if g.size >= _common.SMALL:
        agree("max_pool_backward", g, where, a.shape)


def test_negative_log_likelihood():
    logp = plain("log_softmax")(draw(200, 10), 1, None)
    target = np.random.RandomState(0).randint(0, 10, 200)
    target[::7] = -100
    weight = np.abs(draw(10, seed=1))
    for w in (None, weight):
        for reduction in ("none", "mean", "sum"):
            agree("nll_loss", logp, target, w, reduction, -100)
            g = draw(200, seed=2) if reduction == "none" else np.float32(1.5).reshape(())
            total = plain("nll_loss")(logp, target, w, reduction, -100)[1]
            agree("nll_loss_backward", g, target, w, total, logp.shape, reduction, -100)
    assert np.isnan(fast("nll_loss")(logp, np.full(200, -100), None, "mean", -100)[0])
    target[5] = 10
    with pytest.raises(IndexError, match="Target 10 is out of bounds."):
        fast("nll_loss")(logp, target, None, "mean", -100)


def test_the_cast_to_bfloat16_rounds_to_even_and_keeps_nan():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    a = np.concatenate([draw(4000), np.float32([np.nan, -np.nan, np.inf, -np.inf, 3.4e38, 1e-45, 1.00390625, 0, -0.0])])
    half = fast("to_copy")(a, nbtorch.bfloat16)
    with np.errstate(over="ignore"):
        expected = a.astype(ml_dtypes.bfloat16)
    np.testing.assert_array_equal(half.astype(np.float32), expected.astype(np.float32))
    assert fast("to_copy")(half, nbtorch.float32) is NotImplemented


STEPS = {
    "fused_adam_": [(3, "s", extra, 1e-2, 0.9, 0.99, decay, 1e-8, up, apart)
                    for extra in (None, "a") for decay, apart in ((0, False), (0.1, False), (0.1, True))
                    for up in (False, True)],
    "fused_sgd_": [(0, None, 0.1, 0, 0, 0.1, False, False, False)] + [
        (0, "a", 0.1, 0.9, damp, 0.1, nesterov, True, first)
        for damp, nesterov in ((0, True), (0.3, False)) for first in (False, True)],
    "fused_rmsprop_": [(1, "s", None, None, 1e-2, 0.9, 1e-8, 0.1, 0, up) for up in (False, True)],
    "fused_adagrad_": [(1, "s", 1e-2, 0.1, 0.1, 1e-10, up) for up in (False, True)],
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["f32", "f64"])
@pytest.mark.parametrize("name", STEPS)
def test_optimizer_steps(name, dtype, budget):
    for states, *rest in STEPS[name]:
        outcome = []
        for provider in (fast, plain):
            if name == "fused_adam_":
                states = 2
            arrays = [draw(37, 41, seed=9, dtype=dtype), draw(37, 41, seed=8, dtype=dtype)]
            arrays += [np.abs(draw(37, 41, seed=i, dtype=dtype)) for i in range(states)]
            filled = {"s": np.float32(4).reshape(()).copy(), "a": np.abs(draw(37, 41, seed=7, dtype=dtype)), None: None}
            given = [filled[r] if isinstance(r, str) or r is None else r for r in rest]
            for _ in range(3):
                assert provider(name)(*arrays, *given) is None
            outcome.append(arrays + [g for g in given if isinstance(g, np.ndarray)])
        for a, b in zip(*outcome):
            np.testing.assert_allclose(a, b, rtol=2e-5 if dtype == np.float32 else 1e-12, atol=1e-6)


def test_small_strided_and_other_dtypes_are_declined():
    small, strided = draw(4, 4), draw(80, 80).T
    for name, rest in (("softmax", (1, None)), ("gelu", ("none",))):
        assert fast(name)(small, *rest) is NotImplemented
        assert fast(name)(strided, *rest) is NotImplemented
    assert fast("gelu")(draw(80, 80, dtype=np.float64), "none") is NotImplemented
    assert fast("softmax")(draw(80, 80), 0, None) is NotImplemented
    half = draw(80, 80).astype(np.float16)
    assert fast("softmax")(half, 1, Kind) is NotImplemented
    assert fast("fused_sgd_")(half, half, None, 0.1, 0, 0, 0, False, False, False) is NotImplemented


def test_a_cache_that_cannot_be_written_is_no_error(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    script = ("import numba; from numba.core.caching import CompileResultCacheImpl as C; "
              "C._locator_classes = []; import numpy as np; "
              "from nbtorch.backend.numba_kernels.code.loss import nll_loss; nll_loss['f']")
    done = subprocess.run([sys.executable, "-c", script], env={**os.environ, "NUMBA_CACHE_DIR": str(blocked)},
                          capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def test_deciding_modules_do_not_import_numba():
    script = ("import sys, importlib; import nbtorch.backend.numba_kernels as n; "
              "[importlib.import_module(f'{n.__name__}.{m}') for m in set(n.INDEX.values())]; "
              "assert 'numba' not in sys.modules")
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("causal", [False, True])
def test_attention(causal):
    q, k, v = draw(2, 3, 40, 8), draw(2, 3, 50, 8, seed=1), draw(2, 3, 50, 6, seed=2)
    agree("attention", q, k, v, None, causal, 0.35)
    p = plain("attention")(q, k, v, None, causal, 0.35)[1]
    agree("attention_backward", draw(2, 3, 40, 6, seed=3), q, k, v, None, p, causal, 0.35)
    q[0, 0, 3] = np.nan
    if not causal:                                # with it, infinity behind the mask does not reach the rows before
        k[0, 1, 7] = np.inf
    np.testing.assert_array_equal(*[np.isnan(f("attention")(q, k, v, None, causal, 0.35)[0]) for f in (fast, plain)])
    turned = np.swapaxes(draw(2, 40, 3, 8), 1, 2)
    agree("attention", turned, turned, turned, None, causal, 0.35)
    low = np.full((1, 40, 40), -np.inf, np.float32)
    from nbtorch.backend.numba_kernels.code.attention import scores_softmax
    scores_softmax["f"](low, 1.0, causal)
    assert not low.any()


@pytest.mark.parametrize("reverse", [False, True])
def test_lstm(reverse):
    steps, batch, n = 5, 4, 17
    x, h, c, w = draw(steps, batch, 4 * n), draw(batch, n, seed=1), draw(batch, n, seed=2), draw(4 * n, n, seed=3)
    agree("lstm_layer", x, h, c, w, None, reverse, times=8)
    out, _, _, gates, cells = plain("lstm_layer")(x, h, c, w, None, reverse)
    for given in itertools.product((True, False), repeat=3):
        g = [a if yes else None for a, yes in zip((draw(*out.shape, seed=4), draw(batch, n, seed=5),
                                                    draw(batch, n, seed=6)), given)]
        if any(given):
            agree("lstm_layer_backward", *g, out, h, c, w, gates, cells, None, reverse, times=8)
