"""Samples of reductions, running sums and extremes, matrix products and what is built of them."""
from .harness import K, samples


@samples("sum", "nansum", "mean", "nanmean")
def summed(m):
    yield (m(3, 4),)
    yield m(3, 4), 1
    yield m(2, 3, 4), (0, 2), True
    yield (m(),)
    yield m(0, 3), 0


@samples("prod")
def products(m):
    yield (m(3, 4),)
    yield m(3, 4), 1
    yield m(3, 4), 0, True


@samples("var", "std", "var_mean", "std_mean")
def spreads(m):
    yield (m(3, 4),)
    yield m(3, 4), 1
    yield m(3, 4), False
    yield m(2, 3, 4), (0, 2), K(correction=0, keepdim=True)


@samples("all", "any")
def truths(m):
    yield (m(3, 4),)
    yield m(3, 4), 1
    yield m(2, 3, 4), (0, 2), True


@samples("count_nonzero")
def counted(m):
    yield (m(3, 4),)
    yield m(3, 4), 1


@samples("norm")
def norms(m):
    yield (m(3, 4),)
    for p in (0, 1, 2, 3, 1.5, float("inf"), float("-inf")):
        yield m(3, 4), p, 1
    yield m(3, 4), 2, (0, 1), True


@samples("dist")
def distance(m):
    yield m(3, 4), m(3, 4)
    yield m(3, 4), m(4), 3


@samples("renorm")
def renormed(m):
    yield m(3, 4), 2, 0, 1.0


@samples("logsumexp")
def logsumexp(m):
    yield m(3, 4), 1
    yield m(3, 4), (0, 1), True


@samples("trace")
def trace(m):
    yield (m(3, 4),)
    yield (m(3),)


@samples("amax", "amin")
def extremes(m):
    yield (m(3, 4),)
    yield m(3, 4), 1
    yield m(3, 4), (0, 1), True


@samples("argmax", "argmin", dtypes="float32 float64 float16 bfloat16 complex64")
def where(m):
    yield (m(3, 4),)
    yield m(3, 4), 1
    yield m(3, 4), 0, True


@samples("max", "min", dtypes="float32 float64 float16 bfloat16 complex64")
def extreme(m):
    yield (m(3, 4),)
    yield m(3, 4), 1
    yield m(3, 4), 0, True
    yield m(3, 4), m(4)
    yield (m(0),)


@samples("aminmax")
def both(m):
    yield (m(3, 4),)
    yield m(3, 4), K(dim=1, keepdim=True)


@samples("quantile", "nanquantile", dtypes="float32 float64")
def quantile(m):
    yield m(3, 5), 0.3
    yield m(3, 5), m.unit(2), 1, True
    yield m(3, 5), 0.3, K(interpolation="nearest")


@samples("cumsum", "cumprod")
def running(m):
    yield m(3, 4), 1
    yield m(3, 4), 0
    yield m(), 0


@samples("cummax", "cummin", dtypes="float32 float64 float16 bfloat16 int64 bool")
def running_extremes(m):
    yield m(3, 4), 1
    yield m(5), 0


@samples("logcumsumexp")
def running_logs(m):
    yield m(3, 4), 1


@samples("diff")
def differences(m):
    yield (m(3, 4),)
    yield m(3, 4), 2
    yield m(3, 4), 1, 0, m(1, 4)


@samples("trapezoid", "cumulative_trapezoid")
def integrals(m):
    yield (m(3, 4),)
    yield m(3, 4), m(4)
    yield m(3, 4), K(dx=0.5, dim=0)


@samples("gradient")
def slopes(m):
    yield (m(5),)
    yield m(4, 4), K(spacing=2.0, dim=1, edge_order=2)


@samples("cov")
def covariance(m):
    yield (m(3, 5),)
    yield m(3, 5), K(correction=0)


@samples("corrcoef")
def correlation(m):
    yield (m(3, 5),)


@samples("mm")
def mm(m):
    yield m(3, 4), m(4, 2)
    yield m(3, 4), m(3, 4)
    yield m.fixed("float32", 0, 4), m.fixed("float32", 4, 2)


@samples("bmm")
def bmm(m):
    yield m(2, 3, 4), m(2, 4, 2)
    yield m(2, 3, 4), m(3, 4, 2)


@samples("mv")
def mv(m):
    yield m(3, 4), m(4)


@samples("dot", "vdot", "inner", "outer")
def vectors(m):
    yield m(3), m(3)


@samples("matmul")
def matmul(m):
    yield m(3), m(3)
    yield m(3, 4), m(4)
    yield m(3), m(3, 4)
    yield m(3, 4), m(4, 2)
    yield m(2, 3, 4), m(4, 2)
    yield m(2, 3, 4), m(4)
    yield m(3, 4), m(2, 4, 2)
    yield m(4), m(2, 4, 2)
    yield m(2, 1, 3, 4), m(3, 4, 2)
    yield m(3, 4), m(3, 4)


@samples("addmm")
def addmm(m):
    yield m(3, 2), m(3, 4), m(4, 2)
    yield m(2), m(3, 4), m(4, 2), K(beta=2, alpha=3)
    yield m(3, 2), m(3, 4), m(3, 2)


@samples("baddbmm")
def baddbmm(m):
    yield m(2, 3, 2), m(2, 3, 4), m(2, 4, 2), K(beta=2, alpha=3)


@samples("addbmm")
def addbmm(m):
    yield m(3, 2), m(2, 3, 4), m(2, 4, 2), K(beta=2, alpha=3)


@samples("addmv")
def addmv(m):
    yield m(3), m(3, 4), m(4), K(beta=2, alpha=3)


@samples("addr")
def addr(m):
    yield m(3, 4), m(3), m(4)
    yield m(3, 4), m(3), m(4), K(beta=2, alpha=3)


@samples("tensordot")
def tensordot(m):
    yield m(2, 3, 4), m(3, 4, 2)
    yield m(2, 3, 4), m(4, 3, 2), ([1, 2], [1, 0])


@samples("chain_matmul", dtypes="float32 float64")
def chain(m):
    yield m(2, 3), m(3, 4), m(4, 2)


@samples("kron")
def kron(m):
    yield m(2, 3), m(3, 2)


@samples("cross")
def cross(m):
    yield m(2, 3), m(2, 3)
    yield m(3, 4), m(3, 4), 0


@samples("einsum")
def einsum(m):
    yield "ij,jk->ik", m(2, 3), m(3, 4)
    yield "bij,bjk", m(2, 2, 3), m(2, 3, 2)
    yield "ii->i", m(3, 3)
    yield "ij->", m(2, 3)
    yield "...ij,...jk->...ik", m(2, 2, 3), m(3, 4)
    yield "i,j,k->ijk", m(2), m(3), m(2)
    yield "ij,jk->ik", m(2, 3), m(4, 4)
