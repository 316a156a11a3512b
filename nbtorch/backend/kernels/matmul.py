"""Matrix products. Half types are computed in float32 and rounded once."""
from ..registry import kernel
from ._common import narrow, wide


def _refuse_bool(a, name):
    if a.dtype.kind == "b":
        raise RuntimeError(f"\"{name}\" not implemented for 'Bool'")


def _product(xp, a, b, name):
    _refuse_bool(a, name)
    wa = wide(xp, a)
    if wa is a:
        return xp.matmul(a, b)
    return narrow(xp, xp.matmul(wa, wide(xp, b)), a)


@kernel("mm")
def mm(xp, a, b):
    """(n, k) @ (k, m)."""
    return _product(xp, a, b, "addmm_impl_cpu_")


@kernel("bmm")
def bmm(xp, a, b):
    """(batch, n, k) @ (batch, k, m)."""
    return _product(xp, a, b, "bmm")


@kernel("mv")
def mv(xp, a, b):
    """(n, k) @ (k)."""
    return _product(xp, a, b, "addmv_impl_cpu")


@kernel("dot")
def dot(xp, a, b):
    """Sum of products of two vectors."""
    _refuse_bool(a, "dot")
    wa = wide(xp, a)
    out = xp.dot(wa, wide(xp, b))
    return xp.asarray(out, wa.dtype) if wa is a else narrow(xp, xp.asarray(out), a)


@kernel("vdot")
def vdot(xp, a, b):
    """Dot product with the first vector conjugated."""
    return dot(xp, xp.conjugate(a), b)


def _scaled_sum(xp, c, product, beta, alpha, like):
    """beta * c + alpha * product, computed wide; a zero beta ignores c, NaN included."""
    if alpha != 1:
        product = product * product.dtype.type(alpha)
    if beta == 0:
        return narrow(xp, product, like)
    c = wide(xp, c)
    if beta != 1:
        c = c * c.dtype.type(beta)
    if c.ndim <= product.ndim and product.flags.writeable and product.dtype == c.dtype:
        try:
            return narrow(xp, xp.add(product, c, out=product), like)
        except ValueError:
            raise RuntimeError(f"The expanded size of the tensor ({product.shape[-1]}) must match the existing size "
                               f"({c.shape[-1] if c.ndim else 1}) at non-singleton dimension {product.ndim - 1}.  Target "
                               f"sizes: {list(product.shape)}.  Tensor sizes: {list(c.shape)}") from None
    return narrow(xp, c + product, like)


@kernel("addmm")
def addmm(xp, c, a, b, beta, alpha):
    """beta * c + alpha * (a @ b)."""
    _refuse_bool(a, "addmm_impl_cpu_")
    return _scaled_sum(xp, c, xp.matmul(wide(xp, a), wide(xp, b)), beta, alpha, a)


@kernel("baddbmm")
def baddbmm(xp, c, a, b, beta, alpha):
    """beta * c + alpha * (a @ b) by batch."""
    _refuse_bool(a, "baddbmm")
    return _scaled_sum(xp, c, xp.matmul(wide(xp, a), wide(xp, b)), beta, alpha, a)


@kernel("addbmm")
def addbmm(xp, c, a, b, beta, alpha):
    """beta * c + alpha * sum over the batch of a @ b."""
    _refuse_bool(a, "addbmm")
    return _scaled_sum(xp, c, xp.matmul(wide(xp, a), wide(xp, b)).sum(0), beta, alpha, a)


@kernel("addmv")
def addmv(xp, c, a, b, beta, alpha):
    """beta * c + alpha * (a @ vector)."""
    return _scaled_sum(xp, c, xp.matmul(wide(xp, a), wide(xp, b)), beta, alpha, a)


@kernel("addr")
def addr(xp, c, a, b, beta, alpha):
    """beta * c + alpha * outer(a, b)."""
    if c.dtype.kind == "b":
        product = xp.outer(a, b) & bool(alpha)
        return xp.broadcast_to(c, product.shape) & bool(beta) | product
    return _scaled_sum(xp, c, xp.outer(wide(xp, a), wide(xp, b)), beta, alpha, a)
