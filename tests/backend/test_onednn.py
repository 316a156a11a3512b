"""The oneDNN provider against PyTorch, over layouts, dtypes, strides, groups and chunked batches."""
import os
import random
import subprocess
import sys
import threading

import numpy as np
import pytest

from nbtorch.backend import onednn, threads
from nbtorch.backend.dtypes import bfloat16

pytestmark = pytest.mark.skipif(not onednn.available()[0], reason=onednn.available()[1])


@pytest.fixture(autouse=True)
def one_thread():
    before = threads.get_num_threads()
    threads.set_num_threads(1)
    yield
    threads.set_num_threads(before)


@pytest.fixture
def torch(oracle):
    return oracle


def array(tensor):
    tensor = tensor.detach()
    if tensor.dtype.itemsize == 2:
        import torch
        return tensor.view(torch.uint16).numpy().view(bfloat16())
    return tensor.numpy()


def close(ours, theirs, low, what):
    theirs = theirs.detach()
    assert ours.shape == tuple(theirs.shape), what
    assert ours.dtype.name == str(theirs.dtype).removeprefix("torch."), what
    theirs = theirs.double().numpy()
    error = np.abs(ours.astype(np.float64) - theirs).max() / (np.abs(theirs).max() + 1e-3)
    assert error < (3e-2 if low else 4e-5), (what, error)


def problem(seed):
    """A random convolution: shapes, geometry, layouts."""
    pick = random.Random(seed)
    rank, groups = pick.choice([1, 2, 2, 2, 3]), pick.choice([1, 1, 1, 2, 3])
    inside, outside = pick.choice([1, 2, 3, 5, 16, 17]) * groups, pick.choice([1, 2, 3, 7, 16, 33]) * groups
    if pick.random() < 0.15:
        groups = inside = pick.choice([4, 16, 19])
        outside = groups * pick.choice([1, 2])
    each = [[pick.randint(*bounds) for _ in range(rank)] for bounds in ((4, 11), (1, 3), (1, 3), (0, 2), (1, 2))]
    space, kernel, stride, padding, dilation = map(tuple, each)
    transposed = pick.random() < 0.3
    extra = tuple(pick.randint(0, s - 1) if transposed else 0 for s in stride)
    return {"batch": pick.choice([1, 2, 5, 7]), "inside": inside, "outside": outside, "space": space,
            "kernel": kernel, "geometry": (stride, padding, dilation, transposed, extra, groups),
            "low": pick.random() < 0.3, "bias": pick.random() < 0.6,
            "layouts": (pick.choice(["plain", "last", "swapped", "sliced", "expanded"]),
                        pick.choice(["plain", "last", "expanded"]))}


def laid_out(torch, tensor, layout):
    if layout == "last" and tensor.ndim == 4:
        return tensor.to(memory_format=torch.channels_last)
    if layout == "swapped":
        return tensor.transpose(0, 1).contiguous().transpose(0, 1)
    if layout == "sliced":
        return torch.cat([tensor, tensor], -1)[..., ::2]
    return tensor[:1].expand_as(tensor) if layout == "expanded" else tensor


@pytest.mark.parametrize("seed", range(60))
def test_convolution_and_gradients(torch, seed):
    from nbtorch.backend.onednn import conv
    case = problem(seed)
    torch.manual_seed(seed)
    dtype, geometry = torch.bfloat16 if case["low"] else torch.float32, case["geometry"]
    transposed, groups = geometry[3], geometry[5]
    shape = (case["inside"], case["outside"] // groups) if transposed else (case["outside"], case["inside"] // groups)
    x = laid_out(torch, torch.randn(case["batch"], case["inside"], *case["space"]).to(dtype), case["layouts"][0])
    w = torch.randn(*shape, *case["kernel"]).to(dtype)
    b = torch.randn(case["outside"]).to(dtype) if case["bias"] else None
    leaves = [t if t is None else t.clone().requires_grad_() for t in (x, w, b)]
    try:
        expected = torch.convolution(*leaves, *geometry)
    except RuntimeError:
        return                                    # a kernel larger than the padded image
    if not expected.numel():
        return
    g = laid_out(torch, torch.randn(expected.shape).to(dtype), case["layouts"][1])
    expected.backward(g)

    out = conv.convolution(array(x), array(w), None if b is None else array(b), *geometry)
    back = conv.convolution_backward_input(array(g), array(w), tuple(x.shape), *geometry)
    grads = conv.convolution_backward_weight(array(g), array(x), tuple(w.shape), b is not None, *geometry)
    close(out, expected, case["low"], case)
    close(back, leaves[0].grad, case["low"], case)
    close(grads[0], leaves[1].grad, case["low"], case)
    if b is None:
        assert grads[1] is None
    else:
        close(grads[1], leaves[2].grad, case["low"], case)


@pytest.mark.parametrize("low", [False, True])
def test_batches_are_walked_in_chunks_with_a_rest(torch, monkeypatch, low):
    from nbtorch.backend.onednn import conv
    monkeypatch.setattr(conv, "_CHUNK", 3 * 20 * 64 * (2 if low else 4))
    monkeypatch.setattr(conv, "_chunk", lambda count, *rest: 3)
    dtype = torch.bfloat16 if low else torch.float32
    x, w, b = torch.randn(11, 8, 8, 8).to(dtype), torch.randn(12, 8, 3, 3).to(dtype), torch.randn(12).to(dtype)
    leaves = [t.requires_grad_() for t in (x, w, b)]
    geometry = (1, 1), (1, 1), (1, 1), False, (0, 0), 1
    expected = torch.convolution(*leaves, *geometry)
    g = torch.randn(expected.shape).to(dtype)
    expected.backward(g)
    close(conv.convolution(*map(array, leaves), *geometry), expected, low, "forward")
    close(conv.convolution_backward_input(array(g), array(w), x.shape, *geometry), x.grad, low, "input")
    dw, db = conv.convolution_backward_weight(array(g), array(x), w.shape, True, *geometry)
    close(dw, w.grad, low, "weight")
    close(db, b.grad, low, "bias")


def test_channels_last_images_give_channels_last_results(torch):
    from nbtorch.backend.onednn import conv
    x = torch.randn(2, 6, 5, 5).to(memory_format=torch.channels_last)
    out = conv.convolution(array(x), array(torch.randn(4, 6, 3, 3)), None, (1, 1), (0, 0), (1, 1), False, (0, 0), 1)
    assert out.transpose(0, 2, 3, 1).flags.c_contiguous and not out.flags.c_contiguous


def test_convolution_keeps_nan_and_infinity():
    from nbtorch.backend.onednn import conv
    x, w = np.ones((1, 3, 9, 9), np.float32), np.ones((5, 3, 3, 3), np.float32)
    x[0, 0, 0, 0], x[0, 1, 8, 8] = np.nan, np.inf
    out = conv.convolution(x, w, None, (1, 1), (0, 0), (1, 1), False, (0, 0), 1)
    assert np.isnan(out[0, :, 0, 0]).all() and np.isposinf(out[0, :, 6, 6]).all()
    assert np.isfinite(out).sum() == out.size - 10


def test_what_oneDNN_does_not_do_is_declined():
    from nbtorch.backend.onednn import conv, convert, matmul
    rest = (1,), (0,), (1,), False, (0,), 1
    x, w = np.ones((2, 3, 8)), np.ones((4, 3, 3))
    assert conv.convolution(x, w, None, *rest) is NotImplemented
    assert conv.convolution(x[:0].astype("f"), w.astype("f"), None, *rest) is NotImplemented
    assert conv.convolution(x.astype("f"), w, None, *rest) is NotImplemented
    assert matmul.mm(np.ones((300, 300)), np.ones((300, 300))) is NotImplemented
    assert matmul.mm(np.ones((3, 3), np.float32), np.ones((3, 3), np.float32)) is NotImplemented
    assert matmul.mm(np.ones((3, 0), bfloat16()), np.ones((0, 3), bfloat16())) is NotImplemented
    assert convert.to_bfloat16(np.ones((9999, 2), np.float32)[:, 0]) is NotImplemented


@pytest.mark.parametrize("low", [False, True])
@pytest.mark.parametrize("shape", [(1, 1, 1), (1, 5, 3), (7, 1, 3), (3, 4, 1), (33, 65, 17)])
def test_products_read_transposed_operands_in_place(torch, monkeypatch, shape, low):
    from nbtorch.backend.onednn import matmul
    monkeypatch.setattr(matmul, "_WORTH", 0)
    monkeypatch.setattr(matmul, "_WORTH_TRANSPOSED", 0)
    m, k, n = shape
    dtype = torch.bfloat16 if low else torch.float32
    bias, full = torch.randn(n).to(dtype), torch.randn(m, n).to(dtype)
    for flips in range(4):
        a = torch.randn(k, m).to(dtype).T if flips & 1 else torch.randn(m, k).to(dtype)
        b = torch.randn(n, k).to(dtype).T if flips & 2 else torch.randn(k, n).to(dtype)
        left, right = (array(t) if t.is_contiguous() else array(t.T).T for t in (a, b))
        close(matmul.mm(left, right), a @ b, low, flips)
        for c in (bias, full, bias.reshape(1, n)):
            for beta, alpha in ((1, 1), (0.5, 2), (0, 1)):
                close(matmul.addmm(array(c), left, right, beta, alpha),
                      torch.addmm(c, a, b, beta=beta, alpha=alpha), low, (flips, beta, alpha))
        batch = np.stack([left] * 3), np.stack([right] * 3)
        close(matmul.bmm(*batch), torch.stack([a @ b] * 3), low, "bmm")
        for c in (bias, torch.stack([full] * 3)):
            close(matmul.baddbmm(array(c), *batch, 0.5, 2),
                  torch.baddbmm(c, torch.stack([a] * 3), torch.stack([b] * 3), beta=0.5, alpha=2), low, "baddbmm")
        halves = np.concatenate([left, left], 1)[:, ::2], np.concatenate([right, right])[::2]
        expected = halves[0].astype(np.float32) @ halves[1].astype(np.float32)
        close(matmul.mm(*halves), torch.from_numpy(expected).to(dtype), low, "sliced")


def test_beta_zero_ignores_what_is_there(monkeypatch):
    from nbtorch.backend.onednn import matmul
    monkeypatch.setattr(matmul, "_WORTH", 0)
    a = np.eye(4, dtype=np.float32)
    assert (matmul.addmm(np.full((4, 4), np.nan, np.float32), a, a, 0, 1) == a).all()


def test_casts_round_to_even_and_keep_special_values():
    from nbtorch.backend.onednn import convert
    x = np.random.default_rng(0).standard_normal((64, 65)).astype(np.float32)
    x[0, :4] = np.nan, np.inf, -np.inf, -0.0
    out = convert.to_bfloat16(x.T)
    assert out.strides == (2, 130)
    expected = x.T.astype(bfloat16())
    same = out.view(np.uint16) == expected.view(np.uint16)
    assert (same | np.isnan(x.T)).all() and np.isnan(out[0, 0])


def test_several_threads_give_the_same_numbers_and_may_share_a_plan(monkeypatch):
    from nbtorch.backend.onednn import conv, matmul
    rng = np.random.default_rng(0)
    x, w = rng.standard_normal((6, 8, 9, 9)).astype("f"), rng.standard_normal((5, 8, 3, 3)).astype("f")
    a = rng.standard_normal((200, 200)).astype("f")
    geometry = (1, 1), (1, 1), (1, 1), False, (0, 0), 1
    expected, product = conv.convolution(x, w, None, *geometry), matmul.mm(a, a)
    threads.set_num_threads(2)
    wrong = []

    def work():
        for _ in range(10):
            if not np.allclose(conv.convolution(x, w, None, *geometry), expected, atol=1e-4) or \
                    not np.allclose(matmul.mm(a, a), product, atol=1e-3):
                wrong.append(1)

    workers = [threading.Thread(target=work) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong


def test_cache_drops_the_plan_not_used_for_longest():
    from nbtorch.backend.onednn.plan import Cache
    cache, built = Cache(2), []
    for key in (("a",), ("b",), ("a",), ("c",), ("a",), ("b",)):
        cache.get(key, lambda name: built.append(name) or name)
    assert built == ["a", "b", "c", "b"] and len(cache) == 2


def run(code, **environment):
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False,
                          env={**os.environ, **environment})
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return done.stdout.strip()


def test_missing_library_is_told_and_never_used():
    out = run("from nbtorch.backend import onednn, registry\n"
              "print(onednn.available()[0], 'nowhere' in onednn.available()[1], onednn.describe()['in use'])\n"
              "print(registry.provider_state()['onednn'][0])", NBTORCH_ONEDNN="/nowhere/libdnnl.so.3")
    assert out.split() == ["False", "True", "False", "None"]


def test_provider_is_found_again_when_torch_was_imported_first():
    pytest.importorskip("torch")
    out = run("import torch\nimport numpy as np\nfrom nbtorch.backend import threads\nthreads.set_num_threads(2)\n"
              "from nbtorch.backend.onednn import matmul\na = np.ones((256, 256), np.float32)\n"
              "print(float(matmul.mm(a, a)[0, 0]), float((torch.ones(64, 64) @ torch.ones(64, 64))[0, 0]))")
    assert out == "256.0 64.0"
