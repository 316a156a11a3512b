"""Samples of gathering, scattering, masks, sorting and searching."""
from .harness import K, samples


@samples("index_select")
def index_select(m):
    yield m(3, 4), 1, m.index(4, 5)
    yield m(3, 4), 0, m.index(3)


@samples("index_add", "index_copy")
def index_add(m):
    yield m(4, 3), 0, m.fixed("int64", 2, low=0, high=0), m(2, 3)
    yield m(3, 4), 1, m.index(2, 1), m(3, 1)


@samples("index_fill")
def index_fill(m):
    yield m(3, 4), 1, m.index(4, 2), 1
    yield m(3, 4), 0, m.index(3, 2), m()


@samples("index_reduce")
def index_reduce(m):
    yield m.positive(4, 3), 0, m.index(4, 3), m.positive(3, 3), "prod"
    yield m.positive(4, 3), 0, m.index(4, 3), m.positive(3, 3), "amax"
    yield m.positive(4, 3), 0, m.index(4, 3), m.positive(3, 3), "mean", K(include_self=False)


@samples("index_put")
def index_put(m):
    yield m(3, 4), (m.fixed("int64", 1, low=1, high=1), m.index(4, 1)), m(1)
    yield m(3, 4), (m.mask(3, 4),), m()
    yield m(3, 4), (m.index(3, 5),), m(4), K(accumulate=True)


@samples("gather")
def gather(m):
    yield m(3, 4), 1, m.index(4, 3, 2)
    yield m(3, 4), 0, m.index(3, 2, 2)


@samples("take_along_dim")
def take_along_dim(m):
    yield m(3, 4), m.index(4, 3, 2), 1


@samples("scatter")
def scatter(m):
    yield m(3, 4), 1, m.fixed("int64", 3, 1, low=2, high=2), m(3, 4)
    yield m(3, 4), 0, m.index(3, 1, 2), 1
    yield m(3, 4), 0, m.index(3, 2, 2), m(3, 4), K(reduce="add")


@samples("scatter_add")
def scatter_add(m):
    yield m(3, 4), 1, m.index(4, 3, 5), m(3, 5)


@samples("scatter_reduce")
def scatter_reduce(m):
    for how in ("sum", "prod", "mean", "amax", "amin"):
        yield m(3, 4), 1, m.index(4, 3, 5), m(3, 5), how
        yield m(3, 4), 1, m.index(4, 3, 5), m(3, 5), how, K(include_self=False)


@samples("masked_select")
def masked_select(m):
    yield m(3, 4), m.mask(3, 4)
    yield m(3, 4), m.mask(4)


@samples("masked_scatter")
def masked_scatter(m):
    yield m(3, 4), m.mask(3, 4), m(12)


@samples("take")
def take(m):
    yield m(3, 4), m.index(12, 2, 3)


@samples("put")
def put(m):
    yield m(3, 4), m.fixed("int64", 1, low=5, high=5), m(1)
    yield m(3, 4), m.index(12, 5), m(5), K(accumulate=True)


@samples("nonzero", "argwhere")
def nonzero(m):
    yield (m(3, 4),)
    yield (m(),)


@samples("nonzero_static")
def nonzero_static(m):
    yield m(3, 4), K(size=5)


@samples("unravel_index", dtypes="int64")
def unravel(m):
    yield m.index(12, 3), (3, 4)


@samples("sort", "argsort", dtypes="float32 float64 float16 bfloat16 complex64")
def ordered(m):
    yield (m(3, 4),)
    yield m(3, 4), 0, True
    yield (m(),)


@samples("msort", dtypes="float32 float64 int64 uint8 bool")
def sorted_rows(m):
    yield (m(3, 4),)


@samples("topk", dtypes="float32 float64")
def largest(m):
    yield m(3, 4), 2
    yield m(40, 3), 3, 0, False
    yield m(3), 4


@samples("kthvalue", dtypes="float32 float64 float16 bfloat16")
def ranked(m):
    yield m(3, 4), 2
    yield m(3, 4), 2, 0, True


@samples("mode", dtypes="int64")
def mode(m):
    yield (m(3, 9),)


@samples("median", "nanmedian", dtypes="float32 float64 float16 bfloat16")
def median(m):
    yield (m(3, 5),)
    yield m(3, 4), 1
    yield m(3, 4), 0, True


@samples("unique", dtypes="float32 float64 int64 int32 uint8 bool")
def unique(m):
    yield (m(3, 4),)
    yield m(3, 4), K(return_inverse=True, return_counts=True)
    yield m(3, 2), K(dim=0)


@samples("unique_consecutive", dtypes="float32 float64 int64 int32 uint8 bool")
def runs(m):
    yield (m(9),)
    yield m(9), K(return_inverse=True, return_counts=True)


@samples("bincount", dtypes="int64 int32 uint8 float32")
def counts(m):
    yield (m(9, low=0, high=5),)
    yield m(9, low=0, high=5), m.fixed("float32", 9), 8


@samples("searchsorted", dtypes="float32 float64 int64 int32")
def searched(m):
    yield m(1), m(3)
    yield m(1), m(3), K(right=True)


@samples("bucketize", dtypes="float32 float64 int64 int32")
def buckets(m):
    yield m(3), m(1)


@samples("histogram", dtypes="float32 float64")
def histogram(m):
    yield m(20), 5
    yield m(20), 5, K(range=(-1.0, 1.0), density=True)


@samples("histc", dtypes="float32 float64 int64")
def histc(m):
    yield (m(20),)
    yield m(20), 4, -1, 1
