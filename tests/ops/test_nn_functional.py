"""torch.nn.functional beyond the op matrix.

Forms with inplace= and return_indices=, second derivatives, random masks.
"""
import warnings

import numpy as np
import pytest

import nbtorch
import nbtorch.nn.functional as F

pytestmark = pytest.mark.oracle


def pair(oracle, array, grad=False):
    """The same array as a tensor of each framework."""
    made = [T.from_numpy(array.copy()) for T in (nbtorch, oracle)]
    return [t.requires_grad_() for t in made] if grad else made


def normal(*shape, seed=0):
    return np.random.RandomState(seed).randn(*shape)


def same(ours, theirs, **how):
    np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), **{"rtol": 1e-9, "atol": 1e-12, **how})


ACTIVATIONS = ("relu", "relu6", "leaky_relu", "elu", "selu", "celu", "silu", "mish", "hardtanh", "hardsigmoid",
               "hardswish")


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations_and_their_inplace_forms(oracle, name):
    ours, theirs = pair(oracle, normal(5, 7) * 4, grad=True)
    for inplace in (False, True):
        a, b = (getattr(M.nn.functional, name)(x * 1, inplace=inplace) for M, x in ((nbtorch, ours), (oracle, theirs)))
        same(a, b)
        a, = nbtorch.autograd.grad(a, ours, nbtorch.ones_like(a))
        b, = oracle.autograd.grad(b, theirs, oracle.ones_like(b))
        same(a, b, rtol=1e-7)                     # PyTorch's 1/6 of hardsigmoid is a float32
    x = nbtorch.from_numpy(normal(3))
    assert getattr(F, name)(x, inplace=True) is x and x._version == 1


TWICE = {
    "conv": (lambda M, x, w, b: M.nn.functional.conv2d(x, w, b, 2, 1, 1, 2), (2, 4, 7, 6), (6, 2, 3, 3), (6,)),
    "conv_transpose": (lambda M, x, w, b: M.nn.functional.conv_transpose2d(x, w, b, 2, 1, 1, 2), (2, 4, 5, 4),
                       (4, 3, 3, 3), (6,)),
    "batch_norm": (lambda M, x, w, b: M.nn.functional.batch_norm(x, None, None, w, b, True), (4, 3, 5), (3,), (3,)),
    "layer_norm": (lambda M, x, w, b: M.nn.functional.layer_norm(x, (5,), w, b), (4, 3, 5), (5,), (5,)),
    "group_norm": (lambda M, x, w, b: M.nn.functional.group_norm(x, 2, w, b), (4, 4, 5), (4,), (4,)),
    "rms_norm": (lambda M, x, w: M.nn.functional.rms_norm(x, (5,), w), (4, 3, 5), (5,)),
    "gelu": (lambda M, x: M.nn.functional.gelu(x), (4, 5)),
    "gelu tanh": (lambda M, x: M.nn.functional.gelu(x, approximate="tanh"), (4, 5)),
    "silu": (lambda M, x: M.nn.functional.silu(x), (4, 5)),
    "mish": (lambda M, x: M.nn.functional.mish(x), (4, 5)),
    "elu": (lambda M, x: M.nn.functional.elu(x, 1.5), (4, 5)),
    "hardswish": (lambda M, x: M.nn.functional.hardswish(x * 3), (4, 5)),
    "attention": (lambda M, q, k, v: M.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True),
                  (2, 3, 5, 4), (2, 3, 5, 4), (2, 3, 5, 6)),
    "lstm cell": (lambda M, x, h, c, wi, wh: M.lstm_cell(x, (h, c), wi, wh), (2, 3), (2, 4), (2, 4), (16, 3), (16, 4)),
    "max_pool": (lambda M, x: M.nn.functional.max_pool2d(x, 3, 2, 1) ** 2, (2, 3, 7, 7)),
}


@pytest.mark.parametrize("name", TWICE)
def test_second_derivatives(oracle, name):
    function, *shapes = TWICE[name]
    found = []
    for M in (nbtorch, oracle):
        leaves = [M.from_numpy(normal(*s, seed=i)).requires_grad_() for i, s in enumerate(shapes)]
        out = function(M, *leaves)
        loss = sum((o * o).sum() + o.sin().sum() for o in (out if isinstance(out, tuple) else (out,)))
        first = M.autograd.grad(loss, leaves, create_graph=True)
        second = M.autograd.grad(sum((g * g * g).sum() for g in first), leaves, allow_unused=True)
        found.append([*first, *(g if g is not None else M.zeros_like(x) for g, x in zip(second, leaves))])
    for a, b in zip(*found):
        same(a, b, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("name, args", [("dropout", (0.3,)), ("dropout1d", (0.3,)), ("alpha_dropout", (0.3, True)),
                                        ("feature_alpha_dropout", (0.3, True)), ("rrelu", (0.1, 0.4, True)),
                                        ("gumbel_softmax", ())])
@pytest.mark.parametrize("dtype", ("float32", "float64", "bfloat16"))
def test_random_ops_draw_what_pytorch_draws(oracle, name, args, dtype):
    found = []
    for M in (nbtorch, oracle):
        M.manual_seed(11)
        x = M.from_numpy(normal(4, 9, 50)).to(getattr(M, dtype))
        found.append(getattr(M.nn.functional, name)(x, *args).float())
    same(*found, rtol=1e-2 if dtype == "bfloat16" else 1e-5, atol=1e-6)


@pytest.mark.parametrize("n", (1, 2, 3))
def test_pooling_returns_positions(oracle, n):
    x = normal(2, 3, *(9, 8, 7)[:n])
    x[0, 0] = -np.inf
    x[1, 1, ..., 2] = np.nan
    ours, theirs = pair(oracle, x)
    for name, args in ((f"max_pool{n}d", (3, 2, 1)), (f"adaptive_max_pool{n}d", (3,))):
        if name.startswith("adaptive"):           # which NaN is reported differs from build to build
            ours, theirs = pair(oracle, normal(2, 3, *(9, 8, 7)[:n]))
        a = getattr(F, name)(ours, *args, return_indices=True)
        b = getattr(oracle.nn.functional, name)(theirs, *args, return_indices=True)
        same(a[0], b[0])
        assert a[1].dtype is nbtorch.int64 and np.array_equal(a[1].numpy(), b[1].numpy())
    assert F.max_pool1d(nbtorch.ones(1, 1, 4), 2).shape == (1, 1, 2)


def test_batch_norm_moves_running_statistics(oracle):
    found = []
    for M in (nbtorch, oracle):
        mean, var = M.zeros(3, dtype=M.float64), M.ones(3, dtype=M.float64)
        for step in range(3):
            M.nn.functional.batch_norm(M.from_numpy(normal(4, 3, 2, seed=step)), mean, var, training=True, momentum=0.3)
        out = M.nn.functional.batch_norm(M.from_numpy(normal(4, 3)), mean, var)
        found.append((mean, var, out))
    for a, b in zip(*found):
        same(a, b)


def test_batch_norm_leaves_statistics_alone_when_evaluating():
    mean, var = nbtorch.zeros(3), nbtorch.ones(3)
    F.batch_norm(nbtorch.ones(2, 3), mean, var)
    assert mean._version == 0 and var._version == 0


def test_embedding_renormalises_rows(oracle):
    index = np.array([[0, 2], [2, 4]])
    found = []
    for M in (nbtorch, oracle):
        weight = M.from_numpy(normal(6, 3) * 3)
        found.append((M.nn.functional.embedding(M.from_numpy(index), weight, max_norm=1.0), weight))
    for a, b in zip(*found):
        same(a, b, rtol=1e-6)


@pytest.mark.parametrize("mode", ("sum", "mean", "max"))
def test_embedding_bag_with_empty_bags_and_padding(oracle, mode):
    found = []
    for M in (nbtorch, oracle):
        weight = M.from_numpy(normal(6, 3)).requires_grad_()
        index, offsets = M.tensor([0, 2, 2, 5, 1, 3]), M.tensor([0, 2, 2, 5])
        out = M.nn.functional.embedding_bag(index, weight, offsets, mode=mode, padding_idx=5)
        out.sin().sum().backward()
        found.append((out, weight.grad))
    for a, b in zip(*found):
        same(a, b)


def test_sparse_gradients_are_refused_in_words():
    weight = nbtorch.ones(3, 2, requires_grad=True)
    with pytest.raises(NotImplementedError, match="sparse"):
        F.embedding(nbtorch.tensor([1]), weight, sparse=True)
    with nbtorch.no_grad():
        assert F.embedding(nbtorch.tensor([1]), weight, sparse=True).shape == (1, 2)


def test_softmax_without_dim_warns():
    with pytest.warns(UserWarning, match="Implicit dimension choice for softmax"):
        assert F.softmax(nbtorch.ones(2, 4))[0, 0].item() == 0.25


def test_attention_rows_that_see_nothing_are_zero(oracle):
    mask = np.tril(np.ones((5, 5), bool), -1)
    found = []
    for M in (nbtorch, oracle):
        q = M.from_numpy(normal(1, 2, 5, 4)).requires_grad_()
        out = M.nn.functional.scaled_dot_product_attention(q, q, q, attn_mask=M.from_numpy(mask))
        out.sin().sum().backward()
        found.append((out, q.grad))
    for a, b in zip(*found):
        same(a, b)


@pytest.mark.parametrize("kind", ("LSTM", "GRU", "RNN"))
@pytest.mark.parametrize("options", ({}, {"bidirectional": True, "num_layers": 2},
                                     {"bias": False, "batch_first": True}))
def test_packed_sequences(oracle, kind, options):
    theirs = getattr(oracle.nn, kind)(4, 5, **options).double()
    ours = getattr(nbtorch.nn, kind)(4, 5, **options).double()
    ours.load_state_dict({k: nbtorch.from_numpy(v.numpy()) for k, v in theirs.state_dict().items()})
    first = options.get("batch_first", False)
    found = []
    for M, net in ((nbtorch, ours), (oracle, theirs)):
        x = M.from_numpy(normal(*((3, 6, 4) if first else (6, 3, 4)))).requires_grad_()
        packed = M.nn.utils.rnn.pack_padded_sequence(x, M.tensor([6, 4, 2]), batch_first=first)
        out, hidden = net(packed)
        states = hidden if isinstance(hidden, tuple) else (hidden,)
        (out.data.sin().sum() + sum((h ** 3).sum() for h in states)).backward()
        found.append([out.data, *states, x.grad, *(p.grad for p in net.parameters())])
    for a, b in zip(*found):
        same(a, b)


def test_a_recurrent_layer_refuses_a_second_derivative():
    net, x = nbtorch.nn.LSTM(2, 3), nbtorch.randn(4, 1, 2, requires_grad=True)
    g, = nbtorch.autograd.grad(net(x)[0].sum(), x, create_graph=True)
    with pytest.raises(NotImplementedError, match="cannot be differentiated twice"):
        g.sum().backward()


def test_convolutions_of_large_images_go_through_small_buffers(oracle, monkeypatch):
    from nbtorch.backend.kernels import conv
    monkeypatch.setattr(conv, "COLUMN_BYTES", 2000)
    x, w = normal(2, 3, 20, 9), normal(4, 3, 3, 3)
    out = conv.convolution(np, x, w, None, (1, 1), (1, 1), (1, 1), False, (0, 0), 1)
    same(nbtorch.from_numpy(out), oracle.nn.functional.conv2d(*map(oracle.from_numpy, (x, w)), padding=1))
    grad, _ = conv.convolution_backward_weight(np, out, x, w.shape, False, (1, 1), (1, 1), (1, 1), False, (0, 0), 1)
    expected = oracle.nn.grad.conv2d_weight(oracle.from_numpy(x), w.shape, oracle.from_numpy(out), padding=1)
    same(nbtorch.from_numpy(grad), expected)


REFUSED = [
    ("conv channels", lambda M: M.nn.functional.conv2d(M.ones(1, 5, 4, 4), M.ones(4, 2, 2, 2), groups=2)),
    ("conv stride", lambda M: M.nn.functional.conv1d(M.ones(1, 2, 4), M.ones(4, 2, 2), stride=0)),
    ("conv dtype", lambda M: M.nn.functional.conv1d(M.ones(2, 3, 4), M.ones(2, 3, 2).double())),
    ("linear", lambda M: M.nn.functional.linear(M.ones(4, 5), M.ones(7, 6))),
    ("softmax", lambda M: M.nn.functional.softmax(M.ones(3).long(), 0)),
    ("gelu", lambda M: M.nn.functional.gelu(M.ones(3).long())),
    ("relu", lambda M: M.nn.functional.relu(M.ones(3).bool())),
    ("layer_norm", lambda M: M.nn.functional.layer_norm(M.ones(2, 4), (3,))),
    ("batch_norm", lambda M: M.nn.functional.batch_norm(M.ones(1, 3), None, None, training=True)),
    ("cross_entropy", lambda M: M.nn.functional.cross_entropy(M.ones(3, 4), M.tensor([1, 2, 4]))),
    ("nll", lambda M: M.nn.functional.nll_loss(M.ones(2, 3, 4, 5), M.ones(2, 4, 4).long())),
    ("embedding", lambda M: M.nn.functional.embedding(M.tensor([5]), M.ones(3, 4))),
    ("dropout", lambda M: M.nn.functional.dropout(M.ones(3), 1.5)),
    ("max_pool", lambda M: M.nn.functional.max_pool2d(M.ones(1, 1, 3, 3), 2, padding=2)),
    ("interpolate", lambda M: M.nn.functional.interpolate(M.ones(1, 1, 3, 3))),
    ("pad", lambda M: M.nn.functional.pad(M.ones(1, 3), (3, 0), "reflect")),
    ("one_hot", lambda M: M.nn.functional.one_hot(M.tensor([3]), 2)),
]


@pytest.mark.parametrize("call", [c for _, c in REFUSED], ids=[n for n, _ in REFUSED])
def test_refusals_read_as_pytorchs(oracle, call):
    errors = []
    for M in (nbtorch, oracle):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with pytest.raises(Exception) as caught:
                call(M)
        errors.append((type(caught.value), str(caught.value).splitlines()[0]))
    assert errors[0] == errors[1]
