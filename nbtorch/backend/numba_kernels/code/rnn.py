"""One time step of an LSTM, elementwise, for all sequences. Gates stand in PyTorch's order: input, forget, cell, output."""
import numpy as np

from . import math
from .jit import compiled

_ONE = np.float32(1.0)


@compiled("void(float32[:,::1], float32[:,::1], float32[:,::1], float32[:,::1], float32[:,::1], float32[:,::1])")
def lstm_step(x, share, before, gates, cells, out):
    """`x` is the input's share of the gates, `share` the hidden state's."""
    n = cells.shape[1]
    for b in range(cells.shape[0]):
        i, f, g, o = gates[b, :n], gates[b, n:2 * n], gates[b, 2 * n:3 * n], gates[b, 3 * n:]
        xi, xf, xg, xo = x[b, :n], x[b, n:2 * n], x[b, 2 * n:3 * n], x[b, 3 * n:]
        si, sf, sg, so = share[b, :n], share[b, n:2 * n], share[b, 2 * n:3 * n], share[b, 3 * n:]
        c, new, h = before[b], cells[b], out[b]
        for j in range(n):
            i[j] = math.sigmoid(xi[j] + si[j])
        for j in range(n):
            f[j] = math.sigmoid(xf[j] + sf[j])
        for j in range(n):
            g[j] = math.tanh(xg[j] + sg[j])
        for j in range(n):
            o[j] = math.sigmoid(xo[j] + so[j])
        for j in range(n):
            state = f[j] * c[j] + i[j] * g[j]
            new[j] = state
            h[j] = o[j] * math.tanh(state)


@compiled("void(float32[:,::1], float32[:,::1], float32[:,::1], float32[:,::1], float32[:,::1], float32[:,::1])")
def lstm_step_backward(gates, before, cells, error, into, dx):
    """`error` is the output's; `into`, the cell's, moves on to the step before; `dx` gets the gates'."""
    n = cells.shape[1]
    for b in range(cells.shape[0]):
        i, f, g, o = gates[b, :n], gates[b, n:2 * n], gates[b, 2 * n:3 * n], gates[b, 3 * n:]
        di, df, dg, do = dx[b, :n], dx[b, n:2 * n], dx[b, 2 * n:3 * n], dx[b, 3 * n:]
        c, new, u, w = before[b], cells[b], error[b], into[b]
        for j in range(n):
            t = math.tanh(new[j])
            do[j] = u[j] * t * (o[j] * (_ONE - o[j]))
            w[j] += u[j] * o[j] * (_ONE - t * t)
        for j in range(n):
            di[j] = w[j] * g[j] * (i[j] * (_ONE - i[j]))
        for j in range(n):
            dg[j] = w[j] * i[j] * (_ONE - g[j] * g[j])
        for j in range(n):
            df[j] = w[j] * c[j] * (f[j] * (_ONE - f[j]))
        for j in range(n):
            w[j] *= f[j]
