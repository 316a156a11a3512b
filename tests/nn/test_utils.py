"""nn.utils and nn.init against PyTorch."""

import copy
import warnings

import numpy as np
import pytest

import nbtorch

torch = pytest.importorskip("torch")


def close(a, b, tolerance=1e-5):
    if isinstance(a, (list, tuple)):
        assert len(a) == len(b)
        for x, y in zip(a, b):
            close(x, y, tolerance)
    elif isinstance(a, (str, bool, type(None))):
        assert a == b
    else:
        np.testing.assert_allclose(_array(a), _array(b), rtol=1e-4, atol=tolerance)


def _array(value):
    return value.detach().numpy() if hasattr(value, "detach") else np.asarray(value)


def both(scenario, tolerance=1e-5):
    results = []
    for library in (nbtorch, torch):
        library.manual_seed(6)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            results.append(scenario(library))
    close(*results, tolerance)


INITS = [
    ("uniform_", (-1, 3)), ("normal_", (1, 2)), ("trunc_normal_", ()), ("trunc_normal_", (0.0, 1.0, 1.5, 4.0)),
    ("trunc_normal_", (0.0, 0.02)), ("constant_", (3.5,)), ("ones_", ()), ("zeros_", ()), ("eye_", ()),
    ("xavier_uniform_", (2.0,)), ("xavier_normal_", ()), ("kaiming_uniform_", (0.3, "fan_out", "leaky_relu")),
    ("kaiming_normal_", (0, "fan_in", "relu")), ("orthogonal_", (1.5,)), ("sparse_", (0.3,)),
]


@pytest.mark.parametrize("name, args", INITS, ids=lambda v: str(v))
@pytest.mark.parametrize("shape", [(5, 8), (8, 5)], ids=str)
@pytest.mark.parametrize("own", [False, True], ids=["default", "generator"])
def test_init_draws_as_torch(name, args, shape, own):
    def scenario(t):
        options = {}
        if own and name.split("_")[0] in ("uniform", "normal", "trunc", "xavier", "kaiming", "orthogonal"):
            options["generator"] = t.Generator().manual_seed(5)
        x = t.empty(shape)
        made = getattr(t.nn.init, name)(x, *args, **options)
        return [made is x, x, t.rand(1)]

    both(scenario, 1e-5)


def test_init_of_convolutions_and_errors():
    both(lambda t: [t.nn.init.dirac_(t.empty(4, 3, 3, 3)), t.nn.init.dirac_(t.empty(4, 2, 3), 2),
                    t.nn.init.kaiming_uniform_(t.empty(4, 3, 2, 2), a=5**0.5), t.nn.init.calculate_gain("selu"),
                    t.nn.init.calculate_gain("leaky_relu", 0.2), t.nn.init.orthogonal_(t.empty(3, 2, 2)),
                    t.nn.init.uniform(t.empty(3))])
    for call, text in ((lambda i: i.eye_(nbtorch.empty(3)), "Only tensors with 2 dimensions are supported"),
                       (lambda i: i.dirac_(nbtorch.empty(3, 3)), "Only tensors with 3, 4, or 5 dimensions"),
                       (lambda i: i.xavier_normal_(nbtorch.empty(3)), "Fan in and fan out can not be computed"),
                       (lambda i: i.kaiming_normal_(nbtorch.empty(3, 3), mode="x"), "Mode x not supported"),
                       (lambda i: i.calculate_gain("x"), "Unsupported nonlinearity x")):
        with pytest.raises(ValueError, match=text):
            call(nbtorch.nn.init)
    with pytest.warns(UserWarning, match="no-op"):
        nbtorch.nn.init.kaiming_uniform_(nbtorch.empty(0, 3))


def params(t):
    a, b = t.nn.Parameter(t.ones(2, 2)), t.nn.Parameter(t.ones(3))
    (a * t.tensor([[3.0, 4.0], [0.0, 1.0]])).sum().backward()
    (b * 2).sum().backward()
    return a, b, t.nn.Parameter(t.ones(1))


def test_clipping():
    def scenario(t):
        out = []
        for norm in (2.0, 1.0, float("inf"), 0.5):
            ps = params(t)
            out += [t.nn.utils.clip_grad_norm_(ps, 1.5, norm), ps[0].grad, ps[1].grad]
        ps = params(t)
        t.nn.utils.clip_grad_value_(ps, 1.5)
        out += [ps[0].grad, t.nn.utils.get_total_norm([ps[0].grad]), t.nn.utils.clip_grad_norm_(ps[0], 100.0), ps[0].grad,
                t.nn.utils.clip_grad_norm_([t.nn.Parameter(t.ones(1))], 1.0), t.nn.utils.get_total_norm([])]
        ps[0].grad[0, 0] = float("nan")
        with pytest.raises(RuntimeError, match="is non-finite, so it cannot be clipped"):
            t.nn.utils.clip_grad_norm_(ps, 1.0, error_if_nonfinite=True)
        return out

    both(scenario)


def test_vectors():
    def scenario(t):
        net = t.nn.Linear(2, 3)
        vector = t.nn.utils.parameters_to_vector(net.parameters())
        t.nn.utils.vector_to_parameters(t.arange(9.0), net.parameters())
        return [vector, net.weight, net.bias, isinstance(net.weight, t.nn.Parameter)]

    both(scenario)


def test_packed_sequences():
    def scenario(t):
        rnn = t.nn.utils.rnn
        x = t.arange(24.0).reshape(4, 3, 2).requires_grad_()
        out = []
        for options in ({}, {"batch_first": True}):
            packed = rnn.pack_padded_sequence(x, t.tensor([4, 2, 1]) if not options else [3, 3, 2, 1], **options)
            padded, lengths = rnn.pad_packed_sequence(packed, padding_value=-1.0, **options)
            out += [packed.data, packed.batch_sizes, padded, lengths, rnn.pad_packed_sequence(packed, total_length=6)[0]]
        packed = rnn.pack_padded_sequence(x, [1, 4, 2], enforce_sorted=False)
        out += [packed.data, packed.sorted_indices, packed.unsorted_indices, *rnn.pad_packed_sequence(packed)]
        packed.data.sum().backward()
        parts = [t.ones(2), t.ones(3) * 2, t.ones(1)]
        out += [x.grad, rnn.pad_sequence(parts), rnn.pad_sequence(parts, True, -1.0, "left"),
                rnn.unpack_sequence(rnn.pack_sequence(parts, enforce_sorted=False)),
                rnn.unpad_sequence(rnn.pad_sequence(parts), t.tensor([2, 3, 1]))]
        for kind in ("LSTM", "GRU", "RNN"):
            net = getattr(t.nn, kind)(2, 3, bidirectional=True)
            result, hidden = net(packed)
            out += [result.data, hidden[0], *rnn.pad_packed_sequence(result)]
        out += [packed.double().data, packed.is_cuda, str(packed.to(t.float64).data.dtype)]
        return out

    both(scenario)
    with pytest.raises(RuntimeError, match="must be sorted in decreasing order"):
        nbtorch.nn.utils.rnn.pack_padded_sequence(nbtorch.ones(3, 2, 1), [1, 2])
    with pytest.raises(RuntimeError, match="has to be greater than 0"):
        nbtorch.nn.utils.rnn.pack_padded_sequence(nbtorch.ones(3, 2, 1), [1, 0])


@pytest.mark.parametrize("make", [
    lambda t: t.nn.utils.weight_norm(t.nn.Linear(3, 4)),
    lambda t: t.nn.utils.weight_norm(t.nn.Conv2d(3, 4, 2), dim=None),
    lambda t: t.nn.utils.spectral_norm(t.nn.Linear(3, 4)),
    lambda t: t.nn.utils.spectral_norm(t.nn.ConvTranspose2d(3, 4, 2)),
    lambda t: t.nn.utils.parametrizations.weight_norm(t.nn.Linear(3, 4)),
    lambda t: t.nn.utils.parametrizations.spectral_norm(t.nn.Conv2d(3, 4, 2)),
    lambda t: t.nn.utils.parametrizations.orthogonal(t.nn.Linear(4, 4)),
    lambda t: t.nn.utils.parametrizations.orthogonal(t.nn.Linear(3, 4), orthogonal_map="householder"),
    lambda t: t.nn.utils.parametrizations.orthogonal(t.nn.Linear(4, 3), orthogonal_map="cayley"),
])
def test_norms_and_parametrizations(make):
    def scenario(t):
        net = make(t)
        x = t.linspace(-1, 1, 48).reshape(1, 3, 4, 4) if net.weight.dim() == 4 else t.linspace(-1, 1, 12).reshape(-1, net.in_features)
        out = [sorted(net.state_dict()), repr(net)]
        for _ in range(2):
            result = net(x)
            result.sum().backward()
            out += [result, net.weight, [p.grad for p in net.parameters()]]
        twin = copy.deepcopy(net.eval()) if hasattr(net, "parametrizations") else net.eval()
        return [*out, twin(x)]

    both(scenario, 2e-4)


def test_parametrize_mechanism():
    def scenario(t):
        parametrize = t.nn.utils.parametrize

        class Symmetric(t.nn.Module):
            def forward(self, x):
                return x.triu() + x.triu(1).transpose(-1, -2)

            def right_inverse(self, x):
                return x.triu()

        class Double(t.nn.Module):
            def forward(self, x):
                return x * 2

            def right_inverse(self, x):
                return x / 2

        net = t.nn.Linear(3, 3)
        weight = net.weight
        parametrize.register_parametrization(net, "weight", Symmetric())
        out = [net.weight, [n for n, _ in net.named_parameters()], type(net).__name__, repr(net),
               net.parametrizations.weight.original is weight, parametrize.is_parametrized(net, "bias")]
        parametrize.register_parametrization(net, "weight", Double())
        net.weight = t.eye(3)
        out += [net.weight, net.parametrizations.weight.original, list(net.state_dict())]
        with parametrize.cached():
            out.append(net.weight is net.weight)
        out += [net.weight is net.weight, parametrize.type_before_parametrizations(net) is t.nn.Linear]
        parametrize.remove_parametrizations(net, "weight")
        out += [net.weight, type(net).__name__, net.weight is weight, [n for n, _ in net.named_parameters()]]
        with pytest.raises(ValueError, match="does not have a parameter, a buffer, or a parametrized element"):
            parametrize.register_parametrization(net, "nothing", Double())
        return out

    both(scenario)


def test_skip_init_draws_nothing():
    nbtorch.manual_seed(0)
    net = nbtorch.nn.utils.skip_init(nbtorch.nn.Linear, 3, 4, dtype=nbtorch.float64)
    drawn = nbtorch.rand(1).item()
    nbtorch.manual_seed(0)
    assert net.weight.shape == (4, 3) and net.weight.dtype is nbtorch.float64 and drawn == nbtorch.rand(1).item()
    with pytest.raises(RuntimeError, match="Module must support a 'device' arg"):
        nbtorch.nn.utils.skip_init(nbtorch.nn.ReLU)


def test_data_parallel_without_gpu_runs_the_module():
    if nbtorch.cuda.is_available():
        pytest.skip("there is a GPU here")
    net = nbtorch.nn.DataParallel(nbtorch.nn.Linear(2, 3))
    assert list(net.state_dict()) == ["module.weight", "module.bias"]
    assert net(nbtorch.ones(4, 2)).shape == (4, 3) and net.device_ids == []
