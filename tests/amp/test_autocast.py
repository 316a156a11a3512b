"""Autocast decides dtypes as PyTorch's CPU lists do, caches weights, and leaves no trace."""

import importlib.util
import threading

import pytest

import nbtorch as torch
from nbtorch import amp
from nbtorch.amp import policy
from nbtorch.core.op import OPS
from nbtorch.events.bus import subscribe
from nbtorch.events.records import Cast

f32, bf16, f16, f64 = torch.float32, torch.bfloat16, torch.float16, torch.float64


@pytest.fixture(autouse=True)
def clean():
    yield
    assert not policy.STATE.enabled and not policy.STATE.cache and policy.STATE.nesting == 0
    from nbtorch.core.modes import LOCAL

    assert policy.LAYER not in LOCAL.state.layers


def mats(dtype=f32):
    return torch.ones(4, 4, dtype=dtype), torch.ones(4, 4, dtype=dtype, requires_grad=True)


def test_low_ops_cast_and_gradients_come_back_in_float32():
    a, w = mats()
    with amp.autocast("cpu"):
        out = torch.mm(a, w)
        assert out.dtype is bf16
        assert (a + w).dtype is f32
    out.sum().backward()
    assert w.grad.dtype is f32 and w.grad.tolist() == [[4.0] * 4] * 4


def test_float64_and_integers_are_left_alone():
    with amp.autocast("cpu"):
        assert torch.mm(*mats(f64)).dtype is f64
        assert (torch.ones(2, dtype=torch.int64) * 2).dtype is torch.int64


def test_in_place_and_out_forms_are_left_alone():
    a, b = torch.ones(3, 3), torch.ones(3, 3)
    with amp.autocast("cpu"):
        c = torch.zeros(3, 3)
        c.addmm_(a, b)
        assert c.dtype is f32
        assert torch.mm(a, b, out=torch.zeros(3, 3)).dtype is f32


def test_nesting_and_islands():
    a, w = mats()
    with amp.autocast("cpu", dtype=f16):
        assert torch.mm(a, w).dtype is f16
        with amp.autocast("cpu", enabled=False):
            assert torch.mm(a, w).dtype is f32 and not policy.is_autocast_enabled("cpu")
        with amp.autocast("cpu", dtype=bf16):
            assert torch.mm(a, w).dtype is bf16
        assert torch.mm(a, w).dtype is f16 and policy.get_autocast_dtype("cpu") is f16
    assert policy.get_autocast_dtype("cpu") is bf16


def test_decorator_and_reentry():
    region = amp.autocast("cpu")

    @region
    def f(a, b):
        return torch.mm(a, b)

    assert f(*mats()).dtype is bf16
    with region, region:
        assert torch.mm(*mats()).dtype is bf16


def test_an_exception_switches_it_off():
    with pytest.raises(ZeroDivisionError), amp.autocast("cpu"):
        1 / 0
    assert not policy.is_autocast_enabled("cpu")


def test_promotion_takes_the_widest():
    a, b = torch.ones(2, 2), torch.ones(2, 2, dtype=bf16)
    with amp.autocast("cpu"):
        assert torch.cat([a, b]).dtype is f32
        assert torch.cat([b, b]).dtype is bf16


def test_other_threads_are_not_affected():
    found = []
    with amp.autocast("cpu"):
        thread = threading.Thread(target=lambda: found.append(torch.mm(*mats()).dtype))
        thread.start()
        thread.join()
    assert found == [f32]


class Casts:
    def __init__(self):
        self.made, self.cached = 0, 0

    def __call__(self, record):
        if type(record) is Cast:
            self.made += not record.cached
            self.cached += bool(record.cached)


def test_weights_are_cast_once_until_the_outermost_exit():
    a, w = mats()
    with subscribe(Casts()) as (seen,):
        with amp.autocast("cpu"):
            for _ in range(3):
                with amp.autocast("cpu"):
                    torch.mm(a, w)
            assert (seen.made, seen.cached) == (4, 2)
        with amp.autocast("cpu"):
            torch.mm(a, w)
        assert seen.made == 6
        with amp.autocast("cpu", cache_enabled=False):
            torch.mm(a, w)
            torch.mm(a, w)
    assert (seen.made, seen.cached) == (10, 2)


def test_the_cache_sees_writes_and_grad_mode():
    a, w = mats()
    with amp.autocast("cpu"):
        with torch.no_grad():
            first = torch.mm(a, w)
            w.mul_(2)
        second = torch.mm(a, w)
    assert first[0, 0].item() == 4 and second[0, 0].item() == 8
    second.sum().backward()
    assert w.grad is not None


def test_messages():
    with pytest.raises(RuntimeError, match="unsupported autocast device_type 'npu'"):
        amp.autocast("npu")
    with pytest.raises(ValueError, match="Expected `device_type` of type `str`"):
        amp.autocast(3)
    with pytest.warns(UserWarning, match="target dtype is not supported"):
        region = amp.autocast("cpu", dtype=f32)
    with region:
        assert torch.mm(*mats()).dtype is f32
    with pytest.warns(UserWarning, match="CUDA is not available"):
        amp.autocast("cuda")


def test_backward_inside_keeps_forward_dtypes():
    a, w = mats()
    with amp.autocast("cpu"):
        torch.mm(a, w).float().sum().backward()
    assert w.grad.dtype is f32


def test_every_mark_is_one_that_is_known():
    known = {None, "low", "fp32", "fp32_dtype", "promote", "banned"}
    for op in OPS.values():
        marks = op.amp.values() if isinstance(op.amp, dict) else [op.amp]
        assert set(marks) <= known, op


CASES = [
    "mm",
    "matmul",
    "bmm",
    "addmm",
    "exp",
    "softmax",
    "log_softmax",
    "sum",
    "layer_norm",
    "gelu",
    "mse_loss",
    "cat",
    "stack",
    "prod",
    "nll_loss",
    "cross_entropy",
    "linear",
    "conv2d",
    "batch_norm",
    "norm",
    "pow",
    "smooth_l1_loss",
    "baddbmm",
    "binary_cross_entropy",
    "scaled_dot_product_attention",
    "relu",
    "cumsum",
    "prelu",
    "einsum",
    "mul",
]


def call(t, name, dtype):
    """One op on small inputs of a dtype, in torch or nbtorch."""
    x, y = t.ones(2, 4, dtype=dtype), t.ones(4, 4, dtype=dtype)
    batch = t.ones(2, 4, 4, dtype=dtype)
    F = t.nn.functional
    table = {
        "mm": lambda: t.mm(x, y),
        "matmul": lambda: t.matmul(x, y),
        "bmm": lambda: t.bmm(batch, batch),
        "addmm": lambda: t.addmm(y, y, y),
        "baddbmm": lambda: t.baddbmm(batch, batch, batch),
        "exp": lambda: t.exp(x),
        "softmax": lambda: t.softmax(x, 1),
        "log_softmax": lambda: t.log_softmax(x, 1),
        "sum": lambda: t.sum(x),
        "layer_norm": lambda: F.layer_norm(x, (4,)),
        "gelu": lambda: F.gelu(x),
        "mse_loss": lambda: F.mse_loss(x, x),
        "cat": lambda: t.cat([x, t.ones(2, 4)]),
        "stack": lambda: t.stack([x, t.ones(2, 4)]),
        "prod": lambda: t.prod(x),
        "nll_loss": lambda: F.nll_loss(x, t.tensor([0, 1])),
        "cross_entropy": lambda: F.cross_entropy(x, t.tensor([0, 1])),
        "linear": lambda: F.linear(x, y, y[0]),
        "conv2d": lambda: F.conv2d(t.ones(1, 2, 4, 4, dtype=dtype), t.ones(3, 2, 2, 2, dtype=dtype)),
        "batch_norm": lambda: F.batch_norm(x, t.zeros(4), t.ones(4)),
        "norm": lambda: t.norm(x),
        "pow": lambda: t.pow(x, 2),
        "smooth_l1_loss": lambda: F.smooth_l1_loss(x, x),
        "relu": lambda: t.relu(x),
        "cumsum": lambda: t.cumsum(x, 0),
        "binary_cross_entropy": lambda: F.binary_cross_entropy(x, x),
        "mul": lambda: x * x,
        "scaled_dot_product_attention": lambda: F.scaled_dot_product_attention(batch, batch, batch),
        "prelu": lambda: F.prelu(x, t.ones(1, dtype=dtype)),
        "einsum": lambda: t.einsum("ij,jk->ik", x, y),
    }
    return table[name]()


def told(t, name, dtype):
    with t.autocast("cpu", dtype=t.bfloat16):
        try:
            return str(call(t, name, dtype).dtype)
        except (RuntimeError, NotImplementedError) as error:
            return type(error).__name__


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="the oracle is not installed")
@pytest.mark.parametrize("name", CASES)
def test_result_dtypes_agree_with_torch(oracle, name):
    import nbtorch.nn.functional  # noqa: F401

    for dtype in ("float32", "bfloat16"):
        ours = told(torch, name, getattr(torch, dtype))
        theirs = told(oracle, name, getattr(oracle, dtype))
        assert ours == theirs, (name, dtype)
