"""Recurrent layers and cells. Source: https://docs.pytorch.org/docs/stable/nn.html#recurrent-layers

A layer is one matrix product over all time steps for the input's share, then one op that walks through time.
"""
from ..core.op import composite, op
from .conv import linear
from .dropout import dropout as _drop

NO_SECOND = ("the derivative of the fused {} backward pass is not available, so a recurrent layer cannot be "
             "differentiated "
             "twice; write the time loop with the cell (nn.LSTMCell, nn.GRUCell, nn.RNNCell), which can be")


def _once(name):
    """A formula for the backward op: differentiating it again is refused in words rather than dropped in silence."""
    def refuse(gs):
        raise NotImplementedError(NO_SECOND.format(name))
    return refuse


_lstm_backward = op(
    "_lstm_layer_backward(grad_out: Tensor, grad_h: Tensor, grad_c: Tensor, out, h0, c0, weight, gates, cells, "
    "batch_sizes: tuple, reverse: bool)", "lstm_layer_backward", returns="lstm_backward x h0 c0 weight",
    vjp={("grad_out", "grad_h", "grad_c", "out", "h0", "c0", "weight"): _once("LSTM")})
_lstm_layer = op(
    "_lstm_layer(x, h0, c0, weight, batch_sizes: tuple, reverse: bool)", "lstm_layer", returns="lstm_layer output h c",
    aux=("gates", "cells"), node="LstmLayer", vjp={("x", "h0", "c0", "weight"):
        lambda gs, output, h0, c0, weight, gates, cells, batch_sizes, reverse:
        tuple(_lstm_backward(*gs, output, h0, c0, weight, gates, cells, batch_sizes, reverse))})
_gru_backward = op(
    "_gru_layer_backward(grad_out: Tensor, grad_h: Tensor, out, h0, weight, gates, batch_sizes: tuple, reverse: bool)",
    "gru_layer_backward", returns="gru_backward x h0 weight bias",
    vjp={("grad_out", "grad_h", "out", "h0", "weight"): _once("GRU")})
_gru_layer = op(
    "_gru_layer(x, h0, weight, bias: Tensor, batch_sizes: tuple, reverse: bool)", "gru_layer", returns="gru_layer "
                                                                                                       "output h",
    aux=("gates",), node="GruLayer", vjp={("x", "h0", "weight", "bias"):
        lambda gs, output, h0, weight, gates, batch_sizes, reverse:
        tuple(_gru_backward(*gs, output, h0, weight, gates, batch_sizes, reverse))})
_rnn_backward = op(
    "_rnn_layer_backward(grad_out: Tensor, grad_h: Tensor, out, h0, weight, nonlinearity: str, batch_sizes: tuple, "
    "reverse: bool)", "rnn_layer_backward", returns="rnn_backward x h0 weight",
    vjp={("grad_out", "grad_h", "out", "h0", "weight"): _once("RNN")})
_rnn_layer = op(
    "_rnn_layer(x, h0, weight, nonlinearity: str, batch_sizes: tuple, reverse: bool)", "rnn_layer",
    returns="rnn_layer output h", node="RnnLayer", vjp={("x", "h0", "weight"):
        lambda gs, output, h0, weight, nonlinearity, batch_sizes, reverse:
        tuple(_rnn_backward(*gs, output, h0, weight, nonlinearity, batch_sizes, reverse))})


# ---- one direction of one layer: (input, states, weights, batch sizes, reverse) -> (output, states)

def _lstm_direction(x, states, w, batch_sizes, reverse):
    h, c = states
    bias = None if len(w) < 4 else w[2] + w[3]
    if len(w) in (3, 5):
        return _lstm_projected(linear(x, w[0], bias), h, c, w[1], w[-1], batch_sizes, reverse)
    output, h, c = _lstm_layer(linear(x, w[0], bias), h, c, w[1], batch_sizes, reverse)
    return output, (h, c)


def _gru_direction(x, states, w, batch_sizes, reverse):
    share = linear(x, w[0], w[2] if len(w) > 2 else None)
    if share.dtype is not states[0].dtype:
        share = share.to(states[0].dtype)         # under autocast the state stays in float32, and with it the output
    output, h = _gru_layer(share, states[0], w[1], w[3] if len(w) > 2 else None, batch_sizes, reverse)
    return output, (h,)


def _rnn_direction(nonlinearity):
    def direction(x, states, w, batch_sizes, reverse):
        bias = w[2] + w[3] if len(w) > 2 else None
        output, h = _rnn_layer(linear(x, w[0], bias), states[0], w[1], nonlinearity, batch_sizes, reverse)
        return output, (h,)
    return direction


def _gates(gates, c):
    """One LSTM step from the sums of its four gates."""
    i, f, g, o = gates.chunk(4, -1)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c


def _lstm_projected(x, h, c, weight, projection, batch_sizes, reverse):
    """LSTM whose state is projected to fewer features: step by step."""
    from . import cat
    sizes = [x.shape[1]] * x.shape[0] if batch_sizes is None else batch_sizes
    flat, starts, outs = x.reshape(-1, x.shape[-1]), [], [None] * len(sizes)
    for n in sizes:
        starts.append((starts[-1][1] if starts else 0, (starts[-1][1] if starts else 0) + n))
    for t in (reversed(range(len(sizes))) if reverse else range(len(sizes))):
        n, (a, b) = sizes[t], starts[t]
        step, now = _gates(flat[a:b] + linear(h[:n], weight), c[:n])
        outs[t] = linear(step, projection)
        h, c = (outs[t], now) if n == h.shape[0] else (cat([outs[t], h[n:]]), cat([now, c[n:]]))
    return cat(outs).reshape(*x.shape[:-1], projection.shape[0]), (h, c)


# ---- stacks of layers

def _stack(x, states, weights, per_layer, direction, num_layers, dropout, train, bidirectional, batch_sizes):
    """All layers; `states` are tensors (layers * directions, batch, features)."""
    from . import cat, stack
    directions, last = 2 if bidirectional else 1, []
    for layer in range(num_layers):
        outs = []
        for d in range(directions):
            k = layer * directions + d
            w = weights[k * per_layer:(k + 1) * per_layer]
            out, final = direction(x, [s[k] for s in states], w, batch_sizes, d == 1)
            outs.append(out)
            last.append(final)
        x = cat(outs, -1) if bidirectional else outs[0]
        if dropout and train and layer < num_layers - 1:
            x = _drop(x, dropout, True)
    return (x, *(stack([final[i] for final in last], 0) for i in range(len(states))))


def _run(kind, direction, data, rest):
    """Either form of torch.lstm and its kin: (input, hx, params, has_biases, num_layers, dropout, train, bidirectional,
    batch_first), or packed: (data, batch_sizes, hx, params, _, num_layers, dropout, train, bidirectional)."""
    if isinstance(rest[2], bool):
        hx, params, _, num_layers, dropout, train, bidirectional, batch_first = rest
        sizes = None
        x = data.transpose(0, 1) if batch_first else data
    else:
        sizes, hx, params, _, num_layers, dropout, train, bidirectional = rest
        sizes, x, batch_first = tuple(int(n) for n in sizes.tolist()), data, False
    states = list(hx) if kind == "lstm" else [hx]
    if not params:
        raise RuntimeError("Expected more than 0 parameters")
    per_layer = len(params) // (num_layers * (2 if bidirectional else 1))
    out = _stack(x, states, list(params), per_layer, direction, num_layers, dropout, train, bidirectional, sizes)
    return (out[0].transpose(0, 1), *out[1:]) if batch_first else out


# positions as in the first form; in the packed form batch_sizes stands second and everything moves up by one
_FORM = ("(input, hx: object, params: object, has_biases: object, num_layers: object, dropout: object, train: object, "
         "bidirectional: object, batch_first: object)")
_AMP = {"cpu": None, "cuda": None}


def _declare(name, direction):
    def layer(data, *rest):
        return _run(name, direction, data, rest)
    return composite(name + _FORM, on="torch", out=False, amp=_AMP,
                     doc=f"The layers behind torch.nn.{name.split('_')[0].upper()}: (input, hx, params, has_biases, "
                         "num_layers, "
                         "dropout, train, bidirectional, batch_first), or packed (data, batch_sizes, hx, params, "
                         "has_biases, "
                         "num_layers, dropout, train, bidirectional).")(layer)


lstm = _declare("lstm", _lstm_direction)
gru = _declare("gru", _gru_direction)
rnn_tanh = _declare("rnn_tanh", _rnn_direction("tanh"))
rnn_relu = _declare("rnn_relu", _rnn_direction("relu"))


# ---- cells

_CELL = "(input, hx{}, w_ih, w_hh, b_ih: Tensor=None, b_hh: Tensor=None)"
LOW_ON_CUDA = {"cpu": None, "cuda": "low"}


@composite("lstm_cell" + _CELL.format(": object"), on="torch", amp=LOW_ON_CUDA, out=False)
def lstm_cell(input, hx, w_ih, w_hh, b_ih, b_hh):
    """One LSTM step: (h, c) from input (batch, in) and hx = (h, c)."""
    h, c = hx
    return _gates(linear(input, w_ih, b_ih) + linear(h, w_hh, b_hh), c)


@composite("gru_cell" + _CELL.format(""), on="torch", amp=LOW_ON_CUDA, out=False)
def gru_cell(input, hx, w_ih, w_hh, b_ih, b_hh):
    """One GRU step: h from input (batch, in) and h (batch, hidden)."""
    x, h = linear(input, w_ih, b_ih).chunk(3, -1), linear(hx, w_hh, b_hh).chunk(3, -1)
    reset, update = (x[0] + h[0]).sigmoid(), (x[1] + h[1]).sigmoid()
    new = (x[2] + reset * h[2]).tanh()
    return (hx - new) * update + new


@composite("rnn_tanh_cell" + _CELL.format(""), on="torch", amp=LOW_ON_CUDA, out=False)
def rnn_tanh_cell(input, hx, w_ih, w_hh, b_ih, b_hh):
    """One step: tanh of the two linear maps."""
    return (linear(input, w_ih, b_ih) + linear(hx, w_hh, b_hh)).tanh()


@composite("rnn_relu_cell" + _CELL.format(""), on="torch", amp=LOW_ON_CUDA, out=False)
def rnn_relu_cell(input, hx, w_ih, w_hh, b_ih, b_hh):
    """One step: relu of the two linear maps."""
    return (linear(input, w_ih, b_ih) + linear(hx, w_hh, b_hh)).relu()
