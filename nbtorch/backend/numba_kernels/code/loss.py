"""Negative log likelihood of (batch, classes). A target outside the classes gives its row as the answer, else -1."""
from .jit import compiled


@compiled("int64(T[:,::1], int64[::1], T[::1], uint8, int64, T[::1], T[::1])")
def nll_loss(logp, target, weight, weighted, ignore, loss, total):
    weights = total[0] * 0
    for r in range(target.size):
        t = target[r]
        loss[r] = 0
        if t != ignore:
            if t < 0 or t >= logp.shape[1]:
                return r
            w = weight[t] if weighted else logp.dtype.type(1)
            loss[r] = -logp[r, t] * w
            weights += w
    total[0] = weights
    return -1


@compiled("int64(T[::1], uint8, int64[::1], T[::1], uint8, int64, T, T[:,::1])")
def nll_loss_backward(grad, each, target, weight, weighted, ignore, share, out):
    for r in range(target.size):
        for i in range(out.shape[1]):
            out[r, i] = 0
        t = target[r]
        if t != ignore:
            if t < 0 or t >= out.shape[1]:
                return r
            w = weight[t] if weighted else out.dtype.type(1)
            out[r, t] = -grad[r if each else 0] * (w * share)
    return -1
