"""LSTM layers over sequences of equal length: a matrix product and one compiled pass for each time step."""
import numpy as np

from ._common import SMALL, code


def _takes(x, batch_sizes, *others):
    return (batch_sizes is None and x.ndim == 3 and 4 * x.size >= SMALL
            and all(a.dtype.char == "f" for a in (x, *others) if a is not None))


def _order(steps, reverse):
    return range(steps - 1, -1, -1) if reverse else range(steps)


def lstm_layer(x, h0, c0, weight, batch_sizes, reverse):
    """(outputs, last h, last c, gates, cells); see the generic kernel."""
    if not _takes(x, batch_sizes, h0, c0, weight):
        return NotImplemented
    steps, batch, wide = x.shape
    n = wide // 4
    x, gates, turned = np.ascontiguousarray(x), np.empty(x.shape, x.dtype), np.ascontiguousarray(weight.T)
    out, cells = np.empty((steps, batch, n), x.dtype), np.empty((steps, batch, n), x.dtype)
    share, h, c = np.empty((batch, wide), x.dtype), np.ascontiguousarray(h0), np.ascontiguousarray(c0)
    step = code("rnn").lstm_step["f"]
    for t in _order(steps, reverse):
        np.matmul(h, turned, share)
        step(x[t], share, c, gates[t], cells[t], out[t])
        h, c = out[t], cells[t]
    return out, h.copy(), c.copy(), gates.reshape(-1, wide), cells.reshape(-1, n)


def lstm_layer_backward(grad_out, grad_h, grad_c, out, h0, c0, weight, gates, cells, batch_sizes, reverse):
    """Gradients of x, h0, c0 and weight; each incoming gradient may be None."""
    if not _takes(out, batch_sizes, grad_out, grad_h, grad_c, h0, c0, weight, gates, cells):
        return NotImplemented
    steps, batch, n = out.shape
    a, states = np.ascontiguousarray(gates).reshape(steps, batch, -1), np.ascontiguousarray(cells).reshape(out.shape)
    dx = np.empty(a.shape, out.dtype)
    dh = np.zeros((batch, n), out.dtype) if grad_h is None else np.array(grad_h, order="C")
    dc = np.zeros((batch, n), out.dtype) if grad_c is None else np.array(grad_c, order="C")
    start, weight = np.ascontiguousarray(c0), np.ascontiguousarray(weight)
    step, order = code("rnn").lstm_step_backward["f"], list(_order(steps, reverse))
    for k in range(steps - 1, -1, -1):
        t = order[k]
        if grad_out is not None:
            dh += grad_out[t]
        step(a[t], states[order[k - 1]] if k else start, states[t], dh, dc, dx[t])
        np.matmul(dx[t], weight, dh)
    previous = np.empty(out.shape, out.dtype)
    previous[order[0]] = h0
    if reverse:
        previous[:-1] = out[1:]
    else:
        previous[1:] = out[:-1]
    dw = np.matmul(dx.reshape(-1, 4 * n).T, previous.reshape(-1, n))
    return dx, dh, dc, dw
