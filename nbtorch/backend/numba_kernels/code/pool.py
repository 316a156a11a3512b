"""Max pooling of planes (height, width). `*_split` divides the planes among `n` threads.

NaN wins over every number, and of several NaN the last is the one reported, as in PyTorch.
"""
from numba import prange

from .jit import compiled, part


@part
def _pairs(a, out, where):
    """Windows of 2 x 2 without overlap: no bounds to check, so the loop vectorises."""
    width = a.shape[2]
    for p in range(out.shape[0]):
        for r in range(out.shape[1]):
            top, low, y, at = a[p, 2 * r], a[p, 2 * r + 1], out[p, r], where[p, r]
            start = 2 * r * width
            for i in range(y.size):
                best, index = top[2 * i], start + 2 * i
                v = top[2 * i + 1]
                better = v > best or v != v
                best, index = (v, start + 2 * i + 1) if better else (best, index)
                v = low[2 * i]
                better = v > best or v != v
                best, index = (v, start + width + 2 * i) if better else (best, index)
                v = low[2 * i + 1]
                better = v > best or v != v
                best, index = (v, start + width + 2 * i + 1) if better else (best, index)
                y[i] = best
                at[i] = index


@part
def _windows(a, kh, kw, sh, sw, ph, pw, dh, dw, out, where):
    height, width = a.shape[1], a.shape[2]
    for p in range(out.shape[0]):
        for r in range(out.shape[1]):
            for c in range(out.shape[2]):
                y0, x0 = r * sh - ph, c * sw - pw
                y1, x1 = min(y0 + (kh - 1) * dh + 1, height), min(x0 + (kw - 1) * dw + 1, width)
                while y0 < 0:
                    y0 += dh
                while x0 < 0:
                    x0 += dw
                best, index = a[p, y0, x0], y0 * width + x0
                for y in range(y0, y1, dh):
                    for x in range(x0, x1, dw):
                        v = a[p, y, x]
                        if v > best or v != v:
                            best, index = v, y * width + x
                out[p, r, c] = best
                where[p, r, c] = index


@compiled("void(T[:,:,::1], T[:,:,::1], int64[:,:,::1])")
def pairs(a, out, where):
    _pairs(a, out, where)


@compiled("void(int64, T[:,:,::1], T[:,:,::1], int64[:,:,::1])", parallel=True)
def pairs_split(n, a, out, where):
    for k in prange(n):
        lo, hi = a.shape[0] * k // n, a.shape[0] * (k + 1) // n
        _pairs(a[lo:hi], out[lo:hi], where[lo:hi])


@compiled("void(T[:,:,::1], int64, int64, int64, int64, int64, int64, int64, int64, T[:,:,::1], int64[:,:,::1])")
def windows(a, kh, kw, sh, sw, ph, pw, dh, dw, out, where):
    _windows(a, kh, kw, sh, sw, ph, pw, dh, dw, out, where)


@part
def _scatter(g, where, out):
    for p in range(g.shape[0]):
        u, at, z = g[p], where[p], out[p]
        for i in range(z.size):
            z[i] = 0
        for i in range(u.size):
            z[at[i]] += u[i]


@compiled("void(T[:,::1], int64[:,::1], T[:,::1])")
def scatter(g, where, out):
    _scatter(g, where, out)


@compiled("void(int64, T[:,::1], int64[:,::1], T[:,::1])", parallel=True)
def scatter_split(n, g, where, out):
    for k in prange(n):
        lo, hi = g.shape[0] * k // n, g.shape[0] * (k + 1) // n
        _scatter(g[lo:hi], where[lo:hi], out[lo:hi])
