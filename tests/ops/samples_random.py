"""Samples of the random ops; their values are compared with PyTorch's in test_random.py."""
from .harness import K, samples


@samples("rand", "randn", dtypes="float32", grad=False, values=False)
def shapes(m):
    yield 2, 3
    yield ((3, 4),)
    yield 5, K(requires_grad=True)


@samples("randint", dtypes="float32", grad=False, values=False)
def bounds(m):
    yield 5, (2, 3)
    yield -3, 7, (4,)


@samples("randperm", dtypes="float32", grad=False, values=False)
def count(m):
    yield (7,)


@samples("rand_like", "randn_like", dtypes="float32 float64 float16 bfloat16", grad=False, values=False)
def like(m):
    yield (m(2, 3),)


@samples("randint_like", dtypes="float32 int64", grad=False, values=False)
def integers_like(m):
    yield m(2, 3), 5
    yield m(2, 3), 2, 5


@samples("bernoulli", dtypes="float32 float64 float16 bfloat16", grad=False, values=False)
def probabilities(m):
    yield (m.unit(3, 4),)
    yield m.unit(3, 4), 0.5


@samples("multinomial", dtypes="float32 float64 float16 bfloat16", grad=False, values=False)
def weights(m):
    yield m.unit(5), 2
    yield m.unit(3, 5), 7, True


@samples("normal", dtypes="float32 float64", grad=False, values=False)
def normals(m):
    yield m(3, 4), m.unit(3, 4)
    yield m(3, 4), 2.0
    yield 1.5, m.unit(3)
