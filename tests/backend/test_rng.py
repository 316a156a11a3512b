"""Random numbers of the CPU against PyTorch's: committed numbers always, live torch where it is installed."""
import json
import pathlib
import zlib

import numpy as np
import pytest

from nbtorch.backend import registry, rng, rng_blocks, rng_draws, rng_fill, rng_normal
from nbtorch.backend.dtypes import numpy_dtype

GOLDEN = json.loads((pathlib.Path(__file__).parents[1] / "golden" / "rng.json").read_text())
FILLS = {"uniform_": rng_fill.uniform, "exponential_": rng_draws.exponential, "cauchy_": rng_draws.cauchy,
         "log_normal_": rng_draws.log_normal, "geometric_": rng_draws.geometric, "bernoulli_": rng_fill.bernoulli}


def fill(stream, out, method, args):
    """Call one of the array-level fills."""
    if method == "normal_":
        rng_normal.normal(stream, out, out, *args)
    elif method == "random_":
        if args:
            low, high = args
            rng_fill.integers(stream, out, low, 1 << 63 if high is None else high)
        else:
            rng_fill.any_integers(stream, out)
    else:
        FILLS[method](stream, out, *args)


def ulps(a, b, scale=0.0):
    """Largest distance of float arrays in units of the last place of b (or of `scale`, where b is smaller)."""
    a, b = a.astype(np.float64), b.astype(np.float64)
    return np.max(np.abs(a - b) / np.spacing(np.maximum(np.abs(b), scale)))


@pytest.mark.parametrize("row", GOLDEN["fills"], ids=lambda r: f"{r['fill']}{r['args']}-{r['dtype']}-{r['n']}")
def test_fill_equals_pytorch(row):
    stream = rng.Stream(GOLDEN["seed"])
    out = np.empty(row["n"], numpy_dtype(row["dtype"]))
    fill(stream, out, row["fill"], row["args"])
    data = out.tobytes()
    if "all" in row:
        assert data[:128].hex() == row["first"]
        assert zlib.crc32(data) == row["all"]
    else:
        first = np.frombuffer(bytes.fromhex(row["first"]), out.dtype)
        assert ulps(out[:first.size], first, scale=1.0) <= 4
    assert zlib.crc32(stream.get_state().tobytes()) == row["state"]


@pytest.mark.parametrize("name", [k for k in GOLDEN["draws"] if k.startswith("randperm")])
def test_permutation_equals_pytorch(name):
    order = rng_draws.permutation(rng.Stream(GOLDEN["seed"]), int(name.split()[1]))
    assert zlib.crc32(order.astype(np.int64).tobytes()) == GOLDEN["draws"][name]


@pytest.mark.parametrize("name", [k for k in GOLDEN["draws"] if k.startswith("multinomial")])
def test_multinomial_equals_pytorch(name):
    _, dtype, count, replacement = name.split()
    weights = (np.arange(1.0, 13).reshape(2, 6) / 16).astype(numpy_dtype(dtype))
    stream, count = rng.Stream(GOLDEN["seed"]), int(count)
    draw = rng_draws.multinomial_with_replacement if replacement == "True" and count > 1 \
        else rng_draws.multinomial_without_replacement
    assert draw(stream, weights, count).tolist() == GOLDEN["draws"][name]


@pytest.mark.parametrize("drawn", [0, 1, 5, 623, 624, 625, 1247, 1248, 1249])
def test_state_goes_to_pytorch_and_back(drawn):
    torch = pytest.importorskip("torch", reason="needs PyTorch to compare with")
    torch.manual_seed(3)
    torch.randn(5)
    torch.rand(drawn)
    stream = rng.Stream(0)
    stream.set_state(torch.get_rng_state().numpy())
    assert (stream.get_state() == torch.get_rng_state().numpy()).all()
    assert rng_normal.pairs(stream, 3)[0] == torch.randn(3, dtype=torch.float64)[0].item()
    torch.set_rng_state(torch.from_numpy(stream.get_state()))
    assert torch.rand(1).item() == rng_fill.unit32(stream, 1)[0]


def test_state_of_a_new_stream():
    torch = pytest.importorskip("torch", reason="needs PyTorch to compare with")
    for seed in (0, 5, (1 << 40) + 7, (1 << 64) - 3):
        torch.manual_seed(seed)
        assert (rng.Stream(seed).get_state() == torch.get_rng_state().numpy()).all()
    assert (rng.Stream().get_state() == torch.Generator().get_state().numpy()).all()


@pytest.mark.parametrize("data, message", [
    (bytes(3), "found the input RNG state size to be 3"),
    (bytes(5056), "Invalid mt19937 state"),
    (b"\xff" * 5056, "Invalid mt19937 state"),
])
def test_bad_states_are_refused(data, message):
    with pytest.raises(RuntimeError, match=message):
        rng.Stream(0).set_state(data)


def test_copy_continues_alone():
    stream = rng.Stream(1)
    rng_normal.pairs(stream, 3)
    other = stream.copy()
    assert (rng_normal.pairs(stream, 5) == rng_normal.pairs(other, 5)).all()
    stream.words(10)
    assert not (stream.words(4) == other.words(4)).all()


@pytest.mark.parametrize("shape, order, step", [
    ((4, 5, 6), (2, 0, 1), 1), ((4, 5, 6), (1, 0, 2), 2), ((3, 1, 4), (2, 1, 0), 1), ((2, 3, 4, 5), (0, 3, 1, 2), 2),
    ((0, 3), (1, 0), 1), ((1, 1), (1, 0), 1)])
def test_non_contiguous_fills_go_by_memory(shape, order, step):
    torch = pytest.importorskip("torch", reason="needs PyTorch to compare with")
    torch.manual_seed(2)
    expected = torch.empty(shape)[..., ::step].permute(order).exponential_().numpy()
    stream, array = rng.Stream(2), np.empty(shape, np.float32)[..., ::step].transpose(order)
    rng.fill(array, lambda flat: rng_draws.exponential(stream, flat))
    assert (array == expected).all()


def test_numba_and_numpy_kernels_agree_to_the_bit():
    chain = {k.provider: k.function for k in registry.kernels_for("normal_blocks")}
    if "numba" not in chain:
        pytest.skip("numba is not installed or not in use")
    u = rng_fill.unit32(rng.Stream(4), 1 << 17)
    assert (rng_blocks.transform(u.copy(), 2.0, 3.0) == chain["numba"](u.copy(), 2.0, 3.0)).all()
    chain = {k.provider: k.function for k in registry.kernels_for("shuffle")}
    offsets = rng.Stream(4).words((1 << 17) - 1) % np.arange(1 << 17, 1, -1, dtype=np.uint32)
    a, b = np.arange(1 << 17), np.arange(1 << 17)
    assert (rng_draws.shuffle(a, offsets) == chain["numba"](b, offsets)).all()


def test_uniform_never_reaches_its_upper_bound():
    for dtype in ("float16", "bfloat16", "float32"):
        out = np.empty(1 << 17, numpy_dtype(dtype))
        rng_fill.uniform(rng.Stream(9), out, 1.0, 1.0 + 2.0 ** -6)
        assert out.astype(np.float64).max() < 1.0 + 2.0 ** -6 and out.astype(np.float64).min() == 1.0


def test_distributions_have_their_moments():
    stream = rng.Stream(6)
    for fill_, mean, variance in ((lambda o: rng_draws.exponential(stream, o, 2.0), 0.5, 0.25),
                                  (lambda o: rng_draws.geometric(stream, o, 0.25), 4.0, 12.0),
                                  (lambda o: rng_normal.normal(stream, o, o, 3.0, 2.0), 3.0, 4.0),
                                  (lambda o: rng_fill.bernoulli(stream, o, 0.2), 0.2, 0.16)):
        out = np.empty(1 << 16)
        fill_(out)
        assert abs(out.mean() - mean) < 0.05 * max(1, mean) and abs(out.var() - variance) < 0.06 * max(1, variance)
