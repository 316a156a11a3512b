"""Transformer masks and padding against PyTorch."""

import warnings

import numpy as np
import pytest

import nbtorch

torch = pytest.importorskip("torch")


def encoder(t, **options):
    t.manual_seed(2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        layer = t.nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
        return t.nn.TransformerEncoder(layer, 2, norm=t.nn.LayerNorm(8), **options)


@pytest.mark.parametrize("options", [{}, {"enable_nested_tensor": False}], ids=str)
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("padding", ["end", "start", None])
@pytest.mark.parametrize("causal", [False, True])
def test_encoder_with_masks(options, training, padding, causal):
    if causal and padding == "start" and not training:
        pytest.skip("PyTorch's inference shortcut gives nan for a row that may attend to nothing; its own slow path does not")
    x = np.random.RandomState(0).randn(2, 5, 8).astype(np.float32)
    hidden = {"end": [[0, 0, 0, 1, 1], [0, 0, 0, 0, 0]], "start": [[1, 1, 0, 0, 0], [0, 0, 0, 0, 0]], None: None}[padding]
    results = []
    for t in (nbtorch, torch):
        net = encoder(t, **options).train(training)
        mask = t.nn.Transformer.generate_square_subsequent_mask(5) if causal else None
        pad = None if hidden is None else t.tensor(hidden).bool()
        if causal and pad is not None:
            pad = t.zeros(2, 5).masked_fill(pad, float("-inf"))
        with t.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            results.append(net(t.tensor(x), mask=mask, src_key_padding_mask=pad).numpy())
    np.testing.assert_allclose(*results, rtol=1e-4, atol=1e-5)


def test_transformer_refuses_what_does_not_fit():
    net = nbtorch.nn.Transformer(8, 2, 1, 1, 16)
    with pytest.raises(RuntimeError, match="the batch number of src and tgt must be equal"):
        net(nbtorch.ones(3, 2, 8), nbtorch.ones(3, 1, 8))
    with pytest.raises(RuntimeError, match="the feature number of src and tgt must be equal to d_model"):
        net(nbtorch.ones(3, 2, 7), nbtorch.ones(3, 2, 8))
    with pytest.raises(AssertionError, match="embed_dim must be divisible by num_heads"):
        nbtorch.nn.MultiheadAttention(7, 2)
    with pytest.raises(AssertionError, match="only bool and floating types of key_padding_mask are supported"):
        q = nbtorch.ones(3, 2, 8)
        nbtorch.nn.MultiheadAttention(8, 2)(q, q, q, key_padding_mask=nbtorch.ones(2, 3, dtype=nbtorch.int64))
