"""Random creation functions, in-place fills and generators: PyTorch's numbers, forms and errors."""
import copy
import pickle

import pytest

import nbtorch
from nbtorch.core.generator import Generator

SEED = 7
CREATION = [
    ("rand", (2, 3), {}), ("rand", ((2, 3),), {}), ("rand", ([4],), {}), ("rand", (5,), {"dtype": "float64"}),
    ("rand", (40,), {"dtype": "complex64"}), ("rand", (), {"size": (3,)}), ("rand", (0, 3), {}),
    ("randn", (5,), {}), ("randn", (3, 40), {}), ("randn", (7, 11), {"dtype": "bfloat16"}),
    ("randn", (3, 40), {"dtype": "complex64"}), ("randn", (6,), {"dtype": "float64"}), ("randn", ((),), {}),
    ("randint", (5, (3,)), {}), ("randint", (-5, 5, (3,)), {}), ("randint", (0, 2 ** 40), {"size": (3,)}),
    ("randint", (), {"high": 7, "size": (9,)}), ("randint", (5, (3,)), {"dtype": "float32"}),
    ("randint", (2, (30,)), {"dtype": "bool"}), ("randperm", (10,), {}), ("randperm", (10000,), {}),
    ("randperm", (10,), {"dtype": "int32"}), ("randperm", (0,), {}), ("normal", (1.5, 2.0, (30,)), {}),
    ("normal", (1.5, 2.0), {"size": (5,)}),
]


def same(ours, theirs):
    """Equal shape, dtype and bits."""
    assert tuple(ours.shape) == tuple(theirs.shape) and str(ours.dtype) == str(theirs.dtype)
    assert ours.stride() == theirs.stride()
    assert ours.tolist() == theirs.tolist()


def both(oracle, call):
    """Run `call(library)` on both after the same seed; the streams must also end at the same place."""
    results = []
    for library in (nbtorch, oracle):
        library.manual_seed(SEED)
        results.append(call(library))
    same(*results)
    assert nbtorch.get_rng_state().tolist() == oracle.get_rng_state().tolist()


@pytest.mark.parametrize("name, args, kwargs", CREATION, ids=lambda v: str(v))
def test_creation(oracle, name, args, kwargs):
    def call(library):
        options = {k: getattr(library, v) if k == "dtype" else v for k, v in kwargs.items()}
        return getattr(library, name)(*args, **options)
    both(oracle, call)


@pytest.mark.parametrize("call", [
    lambda t: t.rand_like(t.zeros(3, 4)), lambda t: t.randn_like(t.zeros(30, 4).t()),
    lambda t: t.randn_like(t.zeros(2, 3), dtype=t.float64), lambda t: t.randint_like(t.zeros(3, 4), 5),
    lambda t: t.randint_like(t.zeros(3, 4), 2, 5), lambda t: t.bernoulli(t.linspace(0, 1, 20)),
    lambda t: t.bernoulli(t.zeros(20), 0.5), lambda t: t.zeros(20).bernoulli(0.3),
    lambda t: t.zeros(4, 5).bernoulli_(t.linspace(0, 1, 5)), lambda t: t.zeros(20, dtype=t.int64).bernoulli_(0.5),
    lambda t: t.normal(t.arange(20.0), t.linspace(0.5, 3, 20)), lambda t: t.normal(t.arange(20.0), 2.0),
    lambda t: t.normal(1.5, t.linspace(0.5, 3, 20)), lambda t: t.normal(t.zeros(4, 5), t.ones(5)),
    lambda t: t.normal(t.zeros(4)), lambda t: t.empty(3, 3).t().normal_(), lambda t: t.empty(8, 8)[:, ::2].uniform_(1, 2),
    lambda t: t.empty(2, 16, 4, 4).to(memory_format=t.channels_last).normal_(), lambda t: t.empty(5).random_(),
    lambda t: t.empty(5, dtype=t.int64).random_(3), lambda t: t.empty(5, dtype=t.int64).random_(-3, 9),
    lambda t: t.empty(5, dtype=t.uint8).random_(), lambda t: t.empty(9).exponential_(2.0), lambda t: t.empty(9).cauchy_(),
    lambda t: t.empty(9).geometric_(0.3), lambda t: t.empty(9).log_normal_(),
    lambda t: t.multinomial(t.tensor([0.1, 0.5, 0.4]), 2), lambda t: t.multinomial(t.rand(3, 7), 50, True),
    lambda t: t.rand(2, 3, out=t.empty(2, 3)), lambda t: t.rand(4, generator=t.Generator().manual_seed(3)),
    lambda t: t.empty(8, dtype=t.complex64)[::2].uniform_(),
], ids=range(31))
def test_forms(oracle, call):
    both(oracle, call)


ERRORS = [
    lambda t: t.multinomial(t.tensor([-1.0, 2]), 1), lambda t: t.multinomial(t.tensor([0.0, 0]), 1),
    lambda t: t.multinomial(t.tensor([0.0, 0]), 2, True), lambda t: t.multinomial(t.tensor([0.0, 1]), 3),
    lambda t: t.multinomial(t.tensor([1, 2]), 1), lambda t: t.multinomial(t.rand(2, 2, 2), 1),
    lambda t: t.multinomial(t.tensor([1.0, 2]), 0), lambda t: t.empty(3).uniform_(3, 1),
    lambda t: t.empty(3, dtype=t.int64).uniform_(), lambda t: t.empty(3).normal_(0, -1),
    lambda t: t.randn(3, dtype=t.int64), lambda t: t.randint(5, 3, (2,)), lambda t: t.randint(0, 300, (2,), dtype=t.uint8),
    lambda t: t.randint(-1, 3, (2,), dtype=t.uint8), lambda t: t.randint(0, 3, (2,), dtype=t.bool),
    lambda t: t.randint(3, (2,), dtype=t.complex64), lambda t: t.empty(2).exponential_(0),
    lambda t: t.empty(2, dtype=t.int64).exponential_(), lambda t: t.empty(2).bernoulli_(1.5),
    lambda t: t.bernoulli(t.tensor([2.0, 0])), lambda t: t.bernoulli(t.tensor([1, 0])),
    lambda t: t.empty(2).geometric_(0), lambda t: t.empty(2).cauchy_(0, 0), lambda t: t.empty(2).log_normal_(0, 0),
    lambda t: t.randperm(-1), lambda t: t.randperm(3, dtype=t.bool), lambda t: t.normal(t.zeros(2), t.tensor([-1.0, 1])),
    lambda t: t.empty(2).random_(5, 2), lambda t: t.empty(3).bernoulli_(t.zeros(2)),
    lambda t: t.empty(2).uniform_(0, float("inf")), lambda t: t.rand(2, dtype=t.float64, out=t.empty(2)),
    lambda t: t.zeros(2, requires_grad=True).uniform_(), lambda t: t.set_rng_state(t.zeros(3, dtype=t.uint8)),
    lambda t: t.Generator().manual_seed(1.5), lambda t: t.Generator().manual_seed(1 << 64), lambda t: t.randint(3),
]


@pytest.mark.parametrize("call", ERRORS, ids=range(len(ERRORS)))
def test_errors(oracle, call):
    with pytest.raises(Exception) as theirs:
        call(oracle)
    with pytest.raises(type(theirs.value)) as ours:
        call(nbtorch)
    first = str(theirs.value).split("\n")[0]
    assert str(ours.value).startswith(first[:40])


def test_a_seed_repeats():
    nbtorch.manual_seed(-3)
    assert nbtorch.initial_seed() == (1 << 64) - 3
    a = nbtorch.randn(20)
    nbtorch.manual_seed(-3)
    assert (nbtorch.randn(20) == a).all()
    assert nbtorch.seed() == nbtorch.initial_seed()


def test_generators_are_apart():
    g, h = Generator().manual_seed(1), Generator().manual_seed(1)
    nbtorch.manual_seed(5)
    state = nbtorch.get_rng_state()
    a = nbtorch.rand(3, generator=g)
    assert (nbtorch.rand(3, generator=h) == a).all()
    assert (nbtorch.get_rng_state() == state).all()
    k = g.clone_state()
    assert (nbtorch.rand(3, generator=k) == nbtorch.rand(3, generator=g)).all()
    for again in (copy.deepcopy(g), pickle.loads(pickle.dumps(g))):
        assert again.get_state().tolist() == g.get_state().tolist()
    assert Generator().initial_seed() == 67280421310721 and str(g.device) == "cpu"


def test_fork_rng_restores():
    nbtorch.manual_seed(5)
    with nbtorch.random.fork_rng():
        inside = nbtorch.rand(3)
    assert (nbtorch.rand(3) == inside).all()
    with nbtorch.random.fork_rng(enabled=False):
        inside = nbtorch.rand(3)
    assert not (nbtorch.rand(3) == inside).all()


def test_a_fill_cuts_history():
    x = nbtorch.ones(3, requires_grad=True)
    y = x * 2
    y.uniform_()
    y.backward(nbtorch.ones(y.shape))
    assert x.grad.tolist() == [0, 0, 0]


def test_dropout_mask_and_gradient(oracle):
    nbtorch.manual_seed(3)
    oracle.manual_seed(3)
    x = nbtorch.ones(50, requires_grad=True)
    y = nbtorch.ops._dropout(x, 0.3)
    assert y.tolist() == oracle.nn.functional.dropout(oracle.ones(50), 0.3).tolist()
    y.backward(nbtorch.ones(y.shape))
    assert x.grad.tolist() == y.tolist()
