"""Matrix products. Half types are multiplied in float32 and rounded once; whole numbers in their own width."""
from ..registry import kernel
from ._common import is_half, narrow, wide
from ._dims import as_type


def _product(xp, a, b):
    """a @ b in a dtype BLAS or NumPy computes exactly as PyTorch does."""
    if a.dtype.itemsize == 2 and is_half(a):
        return narrow(xp, xp.matmul(wide(xp, a), wide(xp, b)), a)
    return xp.matmul(a, b)


@kernel("mm")
def mm(xp, a, b):
    """(m, k) @ (k, n)."""
    return _product(xp, a, b)


@kernel("bmm")
def bmm(xp, a, b):
    """(batch, m, k) @ (batch, k, n)."""
    return _product(xp, a, b)


@kernel("mv")
def mv(xp, a, b):
    """(m, k) @ (k,)."""
    return _product(xp, a, b)


@kernel("dot")
def dot(xp, a, b):
    """Sum of products of two vectors."""
    return xp.asarray(_product(xp, a, b))


@kernel("vdot")
def vdot(xp, a, b):
    """dot with the first vector conjugated."""
    return xp.asarray(_product(xp, a.conj(), b))


def _mixed(xp, c, product, beta, alpha):
    """beta * c + alpha * product; NaN in c does not pass beta = 0."""
    if alpha != 1:
        product = product * as_type(xp, alpha, product.dtype)
    if beta == 0:
        return product
    c = wide(xp, c)
    return product + (c if beta == 1 else c * as_type(xp, beta, c.dtype))


def _add_product(name, sum_over_batch=False):
    @kernel(name)
    def run(xp, c, a, b, beta=1, alpha=1):
        wa, wb = wide(xp, a), wide(xp, b)
        product = xp.matmul(wa, wb)
        if sum_over_batch:
            product = product.sum(0, product.dtype)
        return narrow(xp, xp.asarray(_mixed(xp, c, product, beta, alpha)), a)
    run.__doc__ = f"{name}: beta * c + alpha * (a @ b)."


_add_product("addmm")
_add_product("baddbmm")
_add_product("addmv")
_add_product("addbmm", True)


@kernel("addr")
def addr(xp, c, a, b, beta=1, alpha=1):
    """beta * c + alpha * outer(a, b)."""
    if c.dtype.kind == "b":
        product = xp.logical_and(a[:, None], b[None, :]) & bool(alpha)
        return xp.logical_or(product, c) if beta else product
    product = wide(xp, a)[:, None] * wide(xp, b)[None, :]
    return narrow(xp, xp.asarray(_mixed(xp, c, product, beta, alpha)), c)


@kernel("cross")
def cross(xp, a, b, dim):
    """Cross product of 3-vectors along a dimension."""
    a, b = xp.moveaxis(a, dim, 0), xp.moveaxis(b, dim, 0)
    parts = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    return xp.ascontiguousarray(xp.stack(parts, dim))
