"""One direction of one recurrent layer over all time steps, forward and backward.

`x` holds the input's share of every gate, (time, batch, gates * hidden), or (steps, gates * hidden) packed with
`batch_sizes`: how many sequences reach each time step, never growing. Reverse layers run from the last step to the
first; a sequence that is not reached yet keeps its initial state.
"""
from ..registry import kernel
from ._common import narrow, wide


def _steps(x, batch_sizes, reverse):
    """[(rows of x flattened, sequences)] in the order they are computed."""
    sizes = [x.shape[1]] * x.shape[0] if batch_sizes is None else list(batch_sizes)
    found, start = [], 0
    for n in sizes:
        found.append((slice(start, start + n), n))
        start += n
    return found[::-1] if reverse else found


def _flat(a):
    return a.reshape(-1, a.shape[-1])


def _previous(xp, states, initial, steps):
    """The state before each step, for all rows: those of the step computed before, initial where there is none."""
    out = xp.empty(states.shape, states.dtype)
    before = None
    for rows, n in steps:
        known = 0 if before is None else min(n, before[1])
        if known:
            out[rows][:known] = states[before[0]][:known]
        out[rows][known:] = initial[known:n]
        before = rows, n
    return out


def _sigmoid_tanh(xp, a, scale, shift):
    """tanh(a * scale) * scale + shift in place: scale 1/2 and shift 1/2 make a sigmoid of it, 1 and 0 leave tanh."""
    a *= scale
    xp.tanh(a, a)
    a *= scale
    a += shift


def _lstm_scales(xp, hidden, dtype):
    scale = xp.full(4 * hidden, 0.5, dtype)
    scale[2 * hidden:3 * hidden] = 1
    shift = xp.full(4 * hidden, 0.5, dtype)
    shift[2 * hidden:3 * hidden] = 0
    return scale, shift


@kernel("lstm_layer")
def lstm_layer(xp, x, h0, c0, weight, batch_sizes, reverse):
    """(outputs, last h, last c, gates, cells); gates in PyTorch's order: input, forget, cell, output."""
    like, lead = x, x.shape[:-1]
    steps = _steps(x, batch_sizes, reverse)
    gates, h, c = xp.array(_flat(wide(xp, x)), order="C"), wide(xp, h0).copy(), wide(xp, c0).copy()
    turned, n = xp.ascontiguousarray(wide(xp, weight).swapaxes(0, 1)), h.shape[1]
    out, cells = xp.empty((gates.shape[0], n), gates.dtype), xp.empty((gates.shape[0], n), gates.dtype)
    scale, shift = _lstm_scales(xp, n, gates.dtype)
    product = xp.empty((h.shape[0], 4 * n), gates.dtype)
    for rows, size in steps:
        a = gates[rows]
        a += xp.matmul(h[:size], turned, product[:size])
        _sigmoid_tanh(xp, a, scale, shift)
        state = c[:size]
        state *= a[:, n:2 * n]
        state += a[:, :n] * a[:, 2 * n:3 * n]
        cells[rows] = state
        xp.multiply(xp.tanh(state), a[:, 3 * n:], out[rows])
        h[:size] = out[rows]
    return (narrow(xp, out, like).reshape(*lead, n), narrow(xp, h, like), narrow(xp, c, like),
            narrow(xp, gates, like), narrow(xp, cells, like))


def _lstm_slopes(xp, gates, cells, earlier, n):
    """What the errors of a step are multiplied with, for all steps at once: (N, 4, hidden) for the gates in their order
    (the first three take the cell's error, the last the output's), and (N, hidden) from output to cell."""
    i, _, g, o = (gates[:, k * n:(k + 1) * n] for k in range(4))
    squashed = xp.tanh(cells)
    slopes = xp.empty((gates.shape[0], 4, n), gates.dtype)
    xp.multiply(gates, 1 - gates, slopes.reshape(gates.shape))             # right for the three sigmoids
    slopes[:, 0] *= g
    slopes[:, 1] *= earlier
    slopes[:, 2] = i * (1 - g * g)
    slopes[:, 3] *= squashed
    squashed *= squashed
    through = o - o * squashed
    return slopes, through


@kernel("lstm_layer_backward")
def lstm_layer_backward(xp, grad_out, grad_h, grad_c, out, h0, c0, weight, gates, cells, batch_sizes, reverse):
    """Gradients of x, h0, c0 and weight; each incoming gradient may be None."""
    like, lead = out, out.shape[:-1]
    steps = _steps(out, batch_sizes, reverse)
    gates, cells, weight = wide(xp, gates), wide(xp, cells), wide(xp, weight)
    h0, c0 = wide(xp, h0), wide(xp, c0)
    n = h0.shape[1]
    dh = xp.zeros_like(h0) if grad_h is None else wide(xp, grad_h).copy()
    dc = xp.zeros_like(c0) if grad_c is None else wide(xp, grad_c).copy()
    incoming = None if grad_out is None else _flat(wide(xp, grad_out))
    dx, through = _lstm_slopes(xp, gates, cells, _previous(xp, cells, c0, steps), n)
    forget = gates[:, n:2 * n]
    for rows, size in reversed(steps):
        error, into = dh[:size], dc[:size]
        if incoming is not None:
            error += incoming[rows]
        into += error * through[rows]
        d = dx[rows]                              # holds the slopes until here
        d[:, :3] *= into[:, None]
        d[:, 3] *= error
        into *= forget[rows]
        xp.matmul(d.reshape(size, 4 * n), weight, error)
    dx = dx.reshape(-1, 4 * n)
    dw = xp.matmul(dx.swapaxes(0, 1), _previous(xp, _flat(wide(xp, out)), h0, steps))
    return (narrow(xp, dx, like).reshape(*lead, 4 * n), narrow(xp, dh, like), narrow(xp, dc, like),
            narrow(xp, dw, like))


@kernel("gru_layer")
def gru_layer(xp, x, h0, weight, bias, batch_sizes, reverse):
    """(outputs, last h, gates); gates are reset, update, new, and the hidden share of new before it is reset."""
    like, lead = x, x.shape[:-1]
    steps = _steps(x, batch_sizes, reverse)
    flat, h = _flat(wide(xp, x)), wide(xp, h0).copy()
    turned, n = xp.ascontiguousarray(wide(xp, weight).swapaxes(0, 1)), h.shape[1]
    gates = xp.empty((flat.shape[0], 4 * n), flat.dtype)
    out = xp.empty((flat.shape[0], n), flat.dtype)
    for rows, size in steps:
        hidden = xp.matmul(h[:size], turned)
        if bias is not None:
            hidden += wide(xp, bias)
        a, share = gates[rows], flat[rows]
        both = a[:, :2 * n]
        xp.add(hidden[:, :2 * n], share[:, :2 * n], both)
        _sigmoid_tanh(xp, both, flat.dtype.type(0.5), flat.dtype.type(0.5))
        a[:, 3 * n:] = hidden[:, 2 * n:]
        new = share[:, 2 * n:] + a[:, :n] * hidden[:, 2 * n:]
        xp.tanh(new, new)
        a[:, 2 * n:3 * n] = new
        state = h[:size]
        state -= new
        state *= a[:, n:2 * n]
        state += new
        out[rows] = state
    return narrow(xp, out, like).reshape(*lead, n), narrow(xp, h, like), narrow(xp, gates, like)


@kernel("gru_layer_backward")
def gru_layer_backward(xp, grad_out, grad_h, out, h0, weight, gates, batch_sizes, reverse):
    """Gradients of x, h0, weight and bias; each incoming gradient may be None."""
    like, lead = out, out.shape[:-1]
    steps = _steps(out, batch_sizes, reverse)
    gates, weight, h0 = wide(xp, gates), wide(xp, weight), wide(xp, h0)
    n = h0.shape[1]
    dx, dhidden = (xp.empty((gates.shape[0], 3 * n), gates.dtype) for _ in range(2))
    dh = xp.zeros_like(h0) if grad_h is None else wide(xp, grad_h).copy()
    incoming = None if grad_out is None else _flat(wide(xp, grad_out))
    before = _previous(xp, _flat(wide(xp, out)), h0, steps)
    for rows, size in reversed(steps):
        r, z, new, hidden = (gates[rows][:, k * n:(k + 1) * n] for k in range(4))
        error = dh[:size] if incoming is None else dh[:size] + incoming[rows]
        d, dm = dx[rows], dhidden[rows]
        dnew = error * (1 - z) * (1 - new * new)
        d[:, 2 * n:] = dnew
        d[:, :n] = dnew * hidden * r * (1 - r)
        d[:, n:2 * n] = error * (before[rows] - new) * z * (1 - z)
        dm[:, :2 * n] = d[:, :2 * n]
        dm[:, 2 * n:] = dnew * r
        dh[:size] = error * z + xp.matmul(dm, weight)
    dw = xp.matmul(dhidden.swapaxes(0, 1), before)
    return (narrow(xp, dx, like).reshape(*lead, 3 * n), narrow(xp, dh, like), narrow(xp, dw, like),
            narrow(xp, dhidden.sum(0), like))


@kernel("rnn_layer")
def rnn_layer(xp, x, h0, weight, nonlinearity, batch_sizes, reverse):
    """(outputs, last h) of a plain recurrent layer; nonlinearity is tanh or relu."""
    like, lead = x, x.shape[:-1]
    steps = _steps(x, batch_sizes, reverse)
    out, h = xp.array(_flat(wide(xp, x)), order="C"), wide(xp, h0).copy()
    turned = xp.ascontiguousarray(wide(xp, weight).swapaxes(0, 1))
    for rows, size in steps:
        a = out[rows]
        a += xp.matmul(h[:size], turned)
        if nonlinearity == "tanh":
            xp.tanh(a, a)
        else:
            xp.maximum(a, a.dtype.type(0), out=a)
        h[:size] = a
    return narrow(xp, out, like).reshape(*lead, h.shape[1]), narrow(xp, h, like)


@kernel("rnn_layer_backward")
def rnn_layer_backward(xp, grad_out, grad_h, out, h0, weight, nonlinearity, batch_sizes, reverse):
    """Gradients of x, h0 and weight; each incoming gradient may be None."""
    like, lead = out, out.shape[:-1]
    steps = _steps(out, batch_sizes, reverse)
    flat, weight, h0 = _flat(wide(xp, out)), wide(xp, weight), wide(xp, h0)
    dx = xp.empty(flat.shape, flat.dtype)
    dh = xp.zeros_like(h0) if grad_h is None else wide(xp, grad_h).copy()
    incoming = None if grad_out is None else _flat(wide(xp, grad_out))
    for rows, size in reversed(steps):
        error = dh[:size] if incoming is None else dh[:size] + incoming[rows]
        a = flat[rows]
        dx[rows] = error * (1 - a * a) if nonlinearity == "tanh" else xp.where(a > 0, error, 0)
        dh[:size] = xp.matmul(dx[rows], weight)
    dw = xp.matmul(dx.swapaxes(0, 1), _previous(xp, flat, h0, steps))
    return narrow(xp, dx, like).reshape(*lead, h0.shape[1]), narrow(xp, dh, like), narrow(xp, dw, like)
