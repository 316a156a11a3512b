"""Recurrent layers. Source: https://docs.pytorch.org/docs/stable/nn.html#recurrent-layers

Input (L, N, input_size), (N, L, input_size) with `batch_first`, (L, input_size) without a batch, or a PackedSequence;
output has hidden_size (or proj_size) features for each direction.
"""

import math
import numbers
import warnings

from ... import ops
from ...core.modes import state
from .. import init
from ..parameter import Parameter
from ..utils.rnn import PackedSequence
from .module import Module

__all__ = ["RNNBase", "RNN", "LSTM", "GRU", "RNNCellBase", "RNNCell", "LSTMCell", "GRUCell"]

_GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}


def apply_permutation(tensor, permutation, dim=1):
    """Reorders the batch of a hidden state."""
    return tensor.index_select(dim, permutation)


class RNNBase(Module):
    """Weights, checks and the call shared by RNN, LSTM and GRU."""

    __constants__ = ["mode", "input_size", "hidden_size", "num_layers", "bias", "batch_first", "dropout",
                     "bidirectional", "proj_size"]
    __jit_unused_properties__ = ["all_weights"]

    def __init__(self, mode, input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0,
                 bidirectional=False, proj_size=0, device=None, dtype=None):
        super().__init__()
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout)
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        self._check_arguments(dropout)
        self._flat_weights_names = []
        self._all_weights = []
        for layer in range(num_layers):
            for suffix in ("", "_reverse")[: 2 if bidirectional else 1]:
                self._add_layer(layer, suffix, {"device": device, "dtype": dtype})
        self.reset_parameters()

    def _check_arguments(self, dropout):
        if not isinstance(dropout, numbers.Number) or not 0 <= dropout <= 1 or isinstance(dropout, bool):
            raise ValueError(
                "dropout should be a number in range [0, 1] representing the probability of an element being zeroed"
            )
        if dropout > 0 and self.num_layers == 1:
            warnings.warn(
                "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects "
                f"num_layers greater than 1, but got dropout={dropout} and num_layers={self.num_layers}",
                stacklevel=4,
            )
        for name, kind in (("bias", bool), ("batch_first", bool), ("input_size", int), ("hidden_size", int)):
            value = getattr(self, name)
            if not isinstance(value, kind):
                raise TypeError(f"{name} should be of type {kind.__name__}, got: {type(value).__name__}")
            if kind is int and value <= 0:
                raise ValueError(f"{name} must be greater than zero")
        if self.num_layers <= 0:
            raise ValueError("num_layers must be greater than zero")
        if self.proj_size < 0:
            raise ValueError("proj_size should be a positive integer or zero to disable projections")
        if self.proj_size >= self.hidden_size:
            raise ValueError("proj_size has to be smaller than hidden_size")
        if self.mode not in _GATES:
            raise ValueError("Unrecognized RNN mode: " + self.mode)

    def _add_layer(self, layer, suffix, factory):
        gates = _GATES[self.mode] * self.hidden_size
        hidden = self.proj_size or self.hidden_size
        inputs = self.input_size if layer == 0 else hidden * (2 if self.bidirectional else 1)
        shapes = {"weight_ih": (gates, inputs), "weight_hh": (gates, hidden)}
        if self.bias:
            shapes.update(bias_ih=(gates,), bias_hh=(gates,))
        if self.proj_size > 0:
            shapes["weight_hr"] = (self.proj_size, self.hidden_size)
        names = []
        for kind, shape in shapes.items():
            names.append(f"{kind}_l{layer}{suffix}")
            setattr(self, names[-1], Parameter(ops.empty(shape, **factory)))
        self._flat_weights_names += names
        self._all_weights.append(names)

    @property
    def _flat_weights(self):
        return [getattr(self, name) for name in self._flat_weights_names]

    @property
    def all_weights(self):
        """The weights, one list for each layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    def __setstate__(self, state):
        state = {k: v for k, v in state.items() if k not in ("_flat_weights", "_flat_weight_refs")}
        super().__setstate__(state)
        self.__dict__.setdefault("proj_size", 0)

    def reset_parameters(self):
        """Draws every weight uniformly within ``1/sqrt(hidden_size)``."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def flatten_parameters(self):
        """Only cuDNN needs the weights in one piece of memory; kept for PyTorch's programs."""

    def check_input(self, input, batch_sizes):
        """Raises ValueError for a wrong dtype and RuntimeError for a wrong shape."""
        weight = getattr(self, self._flat_weights_names[0])
        # under autocast (a layer on the door) the op casts
        if input.dtype != weight.dtype and not state().layers:
            raise ValueError(
                f"RNN input dtype ({input.dtype}) does not match weight dtype ({weight.dtype}). "
                f"Convert input: input.to({weight.dtype}), or convert model: model.to({input.dtype})"
            )
        dims = 2 if batch_sizes is not None else 3
        if input.dim() != dims:
            raise RuntimeError(f"input must have {dims} dimensions, got {input.dim()}")
        if self.input_size != input.size(-1):
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {input.size(-1)}"
            )

    def _expected_size(self, input, batch_sizes, features):
        if batch_sizes is not None:
            batch = int(batch_sizes[0])
        else:
            batch = input.size(0) if self.batch_first else input.size(1)
        return self.num_layers * (2 if self.bidirectional else 1), batch, features

    def get_expected_hidden_size(self, input, batch_sizes):
        """(layers * directions, batch, hidden_size or proj_size)."""
        return self._expected_size(input, batch_sizes, self.proj_size or self.hidden_size)

    def check_hidden_size(self, hx, expected_hidden_size, msg="Expected hidden size {}, got {}"):
        """Raises RuntimeError unless `hx` has the expected size."""
        if tuple(hx.size()) != tuple(expected_hidden_size):
            raise RuntimeError(msg.format(expected_hidden_size, list(hx.size())))

    def check_forward_args(self, input, hidden, batch_sizes):
        """Checks input and hidden state."""
        self.check_input(input, batch_sizes)
        self.check_hidden_size(hidden, self.get_expected_hidden_size(input, batch_sizes))

    def permute_hidden(self, hx, permutation):
        """Reorders the batch of a hidden state."""
        return hx if permutation is None else apply_permutation(hx, permutation)

    def forward(self, input, hx=None):
        if isinstance(input, PackedSequence):
            return self._forward_packed(input, hx)
        if input.dim() not in (2, 3):
            raise ValueError(f"{self._kind}: Expected input to be 2D or 3D, got {input.dim()}D {self._tail}instead")
        batched = input.dim() == 3
        if hx is not None:
            self._check_rank(hx, batched)
        if not batched:
            batch_dim = 0 if self.batch_first else 1
            input = input.unsqueeze(batch_dim)
            hx = None if hx is None else _map(hx, lambda h: h.unsqueeze(1))
        if hx is None:
            hx = self._zero_state(input, None)
        self.check_forward_args(input, hx, None)
        output, hidden = self._run(input, hx, None)
        if not batched:
            output, hidden = output.squeeze(batch_dim), _map(hidden, lambda h: h.squeeze(1))
        return output, hidden

    def _forward_packed(self, packed, hx):
        data, batch_sizes, sorted_indices, unsorted_indices = packed
        hx = self._zero_state(data, batch_sizes) if hx is None else self.permute_hidden(hx, sorted_indices)
        self.check_forward_args(data, hx, batch_sizes)
        output, hidden = self._run(data, hx, batch_sizes)
        output = PackedSequence(output, batch_sizes, sorted_indices, unsorted_indices)
        return output, self.permute_hidden(hidden, unsorted_indices)

    _tail = ""  # only RNN says "2D tensor"

    @property
    def _kind(self):
        return "RNN" if self.mode.startswith("RNN") else self.mode

    def _zero_state(self, input, batch_sizes):
        return ops.zeros(self.get_expected_hidden_size(input, batch_sizes), dtype=input.dtype, device=input.device)

    def _check_rank(self, hx, batched):
        expected = 3 if batched else 2
        if hx.dim() != expected:
            kind = "batched 3-D" if batched else "unbatched 2-D"
            raise RuntimeError(
                f"For {kind} input, hx should also be {expected}-D but got {hx.dim()}-D tensor"
            )

    def _run(self, input, hx, batch_sizes):
        """Calls the op of this kind of network: (output, hidden)."""
        op = {"LSTM": ops.lstm, "GRU": ops.gru, "RNN_TANH": ops.rnn_tanh, "RNN_RELU": ops.rnn_relu}[self.mode]
        options = (self._flat_weights, self.bias, self.num_layers, self.dropout, self.training, self.bidirectional)
        if batch_sizes is None:
            output, *hidden = op(input, hx, *options, self.batch_first)
        else:
            output, *hidden = op(input, batch_sizes, hx, *options)
        return output, hidden[0] if len(hidden) == 1 else tuple(hidden)

    def extra_repr(self):
        shown = [f"{self.input_size}, {self.hidden_size}"]
        plain = {"proj_size": 0, "num_layers": 1, "bias": True, "batch_first": False, "dropout": 0,
                 "bidirectional": False}
        shown += [f"{name}={getattr(self, name)}" for name, usual in plain.items() if getattr(self, name) != usual]
        return ", ".join(shown)


def _map(state, function):
    return tuple(function(s) for s in state) if isinstance(state, (tuple, list)) else function(state)


class RNN(RNNBase):
    """Elman network: ``h' = tanh(W_ih x + b_ih + W_hh h + b_hh)`` (or relu). Arguments as RNNBase plus nonlinearity."""

    _tail = "tensor "

    def __init__(self, *args, **kwargs):
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        nonlinearity = args[3] if len(args) > 3 else kwargs.pop("nonlinearity", "tanh")
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        super().__init__(f"RNN_{nonlinearity.upper()}", *args[:3], *args[4:], **kwargs)
        self.nonlinearity = nonlinearity


class LSTM(RNNBase):
    """Long short-term memory; the state is a pair (h, c). With `proj_size` the output is projected."""

    def __init__(self, *args, **kwargs):
        super().__init__("LSTM", *args, **kwargs)

    def get_expected_cell_size(self, input, batch_sizes):
        """(layers * directions, batch, hidden_size)."""
        return self._expected_size(input, batch_sizes, self.hidden_size)

    def _check_rank(self, hx, batched):
        expected = 3 if batched else 2
        if hx[0].dim() != expected or hx[1].dim() != expected:
            kind = "batched 3-D" if batched else "unbatched 2-D"
            raise RuntimeError(
                f"For {kind} input, hx and cx should also be {expected}-D but got ({hx[0].dim()}-D, {hx[1].dim()}-D) "
                "tensors"
            )

    def _zero_state(self, input, batch_sizes):
        options = {"dtype": input.dtype, "device": input.device}
        return (
            ops.zeros(self.get_expected_hidden_size(input, batch_sizes), **options),
            ops.zeros(self.get_expected_cell_size(input, batch_sizes), **options),
        )

    def check_forward_args(self, input, hidden, batch_sizes):
        """Checks input, hidden state and cell state."""
        self.check_input(input, batch_sizes)
        self.check_hidden_size(
            hidden[0], self.get_expected_hidden_size(input, batch_sizes), "Expected hidden[0] size {}, got {}"
        )
        self.check_hidden_size(
            hidden[1], self.get_expected_cell_size(input, batch_sizes), "Expected hidden[1] size {}, got {}"
        )

    def permute_hidden(self, hx, permutation):
        """Reorders the batch of both states."""
        if permutation is None:
            return hx
        return apply_permutation(hx[0], permutation), apply_permutation(hx[1], permutation)


class GRU(RNNBase):
    """Gated recurrent units."""

    def __init__(self, *args, **kwargs):
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        super().__init__("GRU", *args, **kwargs)


class RNNCellBase(Module):
    """Weights shared by the cells."""

    __constants__ = ["input_size", "hidden_size", "bias"]

    def __init__(self, input_size, hidden_size, bias, num_chunks, device=None, dtype=None):
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        gates = num_chunks * hidden_size
        self.weight_ih = Parameter(ops.empty((gates, input_size), device=device, dtype=dtype))
        self.weight_hh = Parameter(ops.empty((gates, hidden_size), device=device, dtype=dtype))
        for name in ("bias_ih", "bias_hh"):
            self.register_parameter(name, Parameter(ops.empty(gates, device=device, dtype=dtype)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self):
        """Draws every weight uniformly within ``1/sqrt(hidden_size)``."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def extra_repr(self):
        text = f"{self.input_size}, {self.hidden_size}"
        if self.bias is not True:
            text += f", bias={self.bias}"
        nonlinearity = self.__dict__.get("nonlinearity", "tanh")
        return text if nonlinearity == "tanh" else f"{text}, nonlinearity={nonlinearity}"

    def _step(self, op, input, hx):
        """One step of `op`, adding and removing the batch dimension where there is none."""
        kind = type(self).__name__
        if input.dim() not in (1, 2):
            raise ValueError(f"{kind}: Expected input to be 1D or 2D, got {input.dim()}D instead")
        pair = isinstance(hx, (tuple, list))
        for at, state in enumerate(hx if pair else (hx,)):
            if state is not None and state.dim() not in (1, 2):
                name = f"hx[{at}]" if pair else "hidden"
                raise ValueError(f"{kind}: Expected {name} to be 1D or 2D, got {state.dim()}D instead")
        batched = input.dim() == 2
        if not batched:
            input = input.unsqueeze(0)
        if hx is None:
            hx = ops.zeros((input.size(0), self.hidden_size), dtype=input.dtype, device=input.device)
            hx = (hx, hx) if isinstance(self, LSTMCell) else hx
        elif not batched:
            hx = tuple(h.unsqueeze(0) for h in hx) if pair else hx.unsqueeze(0)
        out = op(input, hx, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        return out if batched else _map(out, lambda t: t.squeeze(0))


class RNNCell(RNNCellBase):
    """One step of an Elman network: input (N, input_size) and hidden (N, hidden_size) to new hidden."""

    __constants__ = ["input_size", "hidden_size", "bias", "nonlinearity"]

    def __init__(self, input_size, hidden_size, bias=True, nonlinearity="tanh", device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, num_chunks=1, device=device, dtype=dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input, hx=None):
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        return self._step(ops.rnn_tanh_cell if self.nonlinearity == "tanh" else ops.rnn_relu_cell, input, hx)


class LSTMCell(RNNCellBase):
    """One step of an LSTM: input (N, input_size) and (h, c) to new (h, c)."""

    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, num_chunks=4, device=device, dtype=dtype)

    def forward(self, input, hx=None):
        return self._step(ops.lstm_cell, input, hx)


class GRUCell(RNNCellBase):
    """One step of a GRU: input (N, input_size) and hidden (N, hidden_size) to new hidden."""

    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, num_chunks=3, device=device, dtype=dtype)

    def forward(self, input, hx=None):
        return self._step(ops.gru_cell, input, hx)
