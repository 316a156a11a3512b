"""Samples of pooling, losses, embeddings and distances."""
from .harness import K, samples

REAL = "float32 float64"
WHOLE = "float32 float64 int64"


@samples("max_pool1d", "max_pool1d_with_indices", dtypes=WHOLE)
def max_pool1d(m):
    yield m(2, 3, 8), 3
    yield m(3, 8), 3, 2, 1, 1, True
    yield m(2, 3, 8), 2, 1, 0, 3
    yield m(2, 3, 8), 2, 1, 2                     # refused: padding


@samples("max_pool2d", dtypes=WHOLE)
def max_pool2d(m):
    yield m(2, 3, 6, 5), 2
    yield m(3, 6, 5), (3, 2), (2, 1), (1, 0), (1, 2), True
    yield m(0, 3, 6, 5), 2
    yield m(2, 3, 1, 1), 2                        # refused: too small


@samples("max_pool3d", dtypes=REAL)
def max_pool3d(m):
    yield m(2, 3, 4, 5, 4), 2, 1
    yield m(3, 4, 5, 4), (2, 3, 2), 2, 1, 1, True


@samples("avg_pool1d", dtypes=WHOLE)
def avg_pool1d(m):
    yield m(2, 3, 8), 3
    yield m(3, 8), 3, 2, 1, True, False


@samples("avg_pool2d", dtypes=WHOLE)
def avg_pool2d(m):
    yield m(2, 3, 6, 5), 2
    yield m(3, 6, 5), (3, 2), (2, 1), (1, 1), True, False
    yield m(2, 3, 6, 5), 3, 2, 1, K(divisor_override=-7)
    yield m(2, 3, 6, 5), 2, K(divisor_override=0)          # refused


@samples("avg_pool3d", dtypes=REAL)
def avg_pool3d(m):
    yield m(2, 3, 4, 5, 4), 2, 1, 1


@samples("lp_pool1d", dtypes=REAL)
def lp_pool1d(m):
    yield m.positive(2, 3, 8), 3.0, 2


@samples("lp_pool2d", dtypes=REAL)
def lp_pool2d(m):
    yield m.positive(2, 3, 6, 4), 2.0, (2, 3), 2, True


@samples("lp_pool3d", dtypes=REAL)
def lp_pool3d(m):
    yield m.positive(2, 3, 4, 4, 4), 2.0, 2


def _unpool(n):
    def made(m):
        size = (2,) * n
        yield m(1, 2, *size), m.fixed("int64", 1, 2, *size, low=0, high=0), 2
        yield m(1, 2, *size), m.fixed("int64", 1, 2, *size, low=400, high=400), 2       # refused
    # several elements for one position: the last one wins, which has no gradient of its own
    samples(f"max_unpool{n}d", dtypes=REAL, grad=False)(made)


for _n in (1, 2, 3):
    _unpool(_n)


def _adaptive(n):
    size = (7, 6, 5)[:n]

    def made(m):
        yield m(2, 3, *size), 3
        yield m(3, *size), (4, 1, 2)[:n]
        yield m(0, 3, *size), 2
        yield m(*size[:1]), 2                     # refused: dimensions
    samples(f"adaptive_avg_pool{n}d", f"adaptive_max_pool{n}d_with_indices", dtypes=WHOLE)(made)
    if n == 1:
        samples("adaptive_max_pool1d", dtypes=WHOLE)(made)
    if n > 1:
        def fractional(m):
            yield m(2, 3, *size), 2, K(output_size=3, _random_samples=m.unit(2, 3, n))
            yield m(2, 3, *size), 2, K(output_ratio=(0.5,) * n, _random_samples=m.unit(2, 3, n))
        samples(f"fractional_max_pool{n}d_with_indices", dtypes=REAL)(fractional)


for _n in (1, 2, 3):
    _adaptive(_n)


# ---- losses

@samples("nll_loss", dtypes=WHOLE)
def nll_loss(m):
    for reduction in ("mean", "sum", "none"):
        yield m(4, 5), m.index(5, 4), K(reduction=reduction)
    yield m(4, 5, 2, 3), m.index(5, 4, 2, 3), m.fixed("float64" if m.dtype == "float64" else "float32", 5, low=0.1), \
        K(ignore_index=2)
    yield m(5), m.index(5)
    yield m(4, 5), m.index(5, 3)                  # refused
    yield m(4, 5), m.fixed("int64", 4, low=7, high=9)      # refused: out of bounds


@samples("cross_entropy", dtypes=WHOLE)
def cross_entropy(m):
    yield m(4, 5), m.index(5, 4)
    yield m(4, 5, 3), m.index(5, 4, 3), m(5, low=0.1), K(ignore_index=1, label_smoothing=0.2)
    yield m(4, 5), m.unit(4, 5), K(label_smoothing=0.1, reduction="sum")
    yield m(4, 5), m.unit(4, 5), m(5, low=0.1), K(reduction="none")
    yield m(4, 5), m.index(5, 3)                  # refused
    yield m(4, 5), m.index(5, 4), K(label_smoothing=1.5)   # refused


@samples("linear_cross_entropy", dtypes=REAL)
def linear_cross_entropy(m):
    yield m(4, 3), m(5, 3), m.index(5, 4)
    yield m(4, 3), m(5, 2, 3), m.index(5, 4, 2), K(linear_bias=m(5, 2))


@samples("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "soft_margin_loss", dtypes=REAL)
def differences(m):
    for reduction in ("mean", "sum", "none"):
        yield m(4, 5), m(4, 5), K(reduction=reduction)
    yield m(4, 5), m(4, 1)
    yield m(4, 5), m(3, 5)                        # refused
    yield m(4, 5), m(4, 5), K(reduction="median")          # refused


@samples("binary_cross_entropy", dtypes=REAL)
def binary_cross_entropy(m):
    yield m.unit(4, 5), m.unit(4, 5)
    yield m.unit(4, 5), m.unit(4, 5), m.positive(5), K(reduction="sum")
    yield m(4, 5, low=2, high=3), m.unit(4, 5)    # refused
    yield m.unit(4, 5), m.unit(4, 1)              # refused


@samples("binary_cross_entropy_with_logits", dtypes=REAL)
def binary_cross_entropy_with_logits(m):
    yield m(4, 5), m.unit(4, 5)
    yield m(4, 5), m.unit(4, 5), m.positive(5), K(pos_weight=m.positive(5), reduction="none")
    yield m(4, 5), m.unit(4, 1)                   # refused


@samples("kl_div", dtypes=WHOLE)
def kl_div(m):
    yield m(4, 5), m.unit(4, 5), K(reduction="batchmean")
    yield m(4, 5), m(4, 5), K(log_target=True, reduction="sum")


@samples("poisson_nll_loss", dtypes=REAL)
def poisson_nll_loss(m):
    yield m(4, 5), m.positive(4, 5)
    yield m.positive(4, 5), m.positive(4, 5), K(log_input=False, full=True)


@samples("gaussian_nll_loss", dtypes=REAL)
def gaussian_nll_loss(m):
    yield m(4, 5), m(4, 5), m.positive(4, 5)
    yield m(4, 5), m(4, 5), m.positive(4), K(full=True, reduction="sum")
    yield m(4, 5), m(4, 5), 0.5
    yield m(4, 5), m(4, 5), m.positive(3)         # refused


@samples("hinge_embedding_loss", dtypes=REAL)
def hinge(m):
    yield m(4, 5), m.fixed("int64", 4, 5, low=-1, high=1), 1.5


@samples("margin_ranking_loss", dtypes=REAL)
def ranking(m):
    yield m(4), m(4), m.fixed("int64", 4, low=1, high=1), 0.5
    yield m(4), m(4, 1), m.fixed("int64", 4, low=1, high=1)        # refused


@samples("cosine_embedding_loss", dtypes=REAL)
def cosine_embedding(m):
    yield m(4, 5), m(4, 5), m.fixed("int64", 4, low=1, high=1)
    yield m(5), m(5), m.fixed("int64", low=-1, high=-1), 0.2


@samples("multi_margin_loss", dtypes=REAL)
def multi_margin(m):
    yield m(4, 5), m.index(5, 4)
    yield m(4, 5), m.index(5, 4), 2, 0.5, m.positive(5)
    yield m(5), m.index(5), K(reduction="none")


@samples("multilabel_margin_loss", dtypes=REAL)
def multilabel_margin(m):
    yield m(4, 5), m.fixed("int64", 4, 5, low=-1, high=4)
    yield m(5), m.fixed("int64", 5, low=-1, high=4)


@samples("multilabel_soft_margin_loss", dtypes=REAL)
def multilabel_soft_margin(m):
    yield m(4, 5), m.unit(4, 5)
    yield m(4, 5), m.unit(4, 5), m.positive(5), K(reduction="none")


@samples("triplet_margin_loss", "triplet_margin_with_distance_loss", dtypes=REAL)
def triplet(m):
    yield m(4, 5), m(4, 5), m(4, 5)
    yield m(4, 5), m(4, 5), m(4, 5), K(margin=0.5, swap=True, reduction="none")
    yield m(4, 5), m(4, 5), m(4, 5), K(margin=-0.5)        # refused


@samples("ctc_loss", dtypes=REAL)
def ctc_loss(m):
    yield m(8, 2, 5, low=-3, high=-0.1), m.fixed("int64", 2, 3, low=1, high=4), (8, 6), (3, 2)
    yield m(8, 2, 5, low=-3, high=-0.1), m.fixed("int64", 5, low=1, high=4), (8, 6), (3, 2), K(reduction="none")
    yield m(2, 1, 5, low=-3, high=-0.1), m.fixed("int64", 1, 3, low=2, high=2), (2,), (3,), K(zero_infinity=True)


# ---- lookup and distance

@samples("embedding", dtypes=REAL)
def embedding(m):
    yield m(6, 3), m.index(6, 4, 2)
    yield m(6, 3), m.index(6, 4), 2
    yield m(6, 3), m.fixed("int64", 2, low=6, high=7)      # refused
    yield m(6), m.index(6, 2)                     # refused


@samples("embedding_bag", dtypes=REAL)
def embedding_bag(m):
    offsets = m.fixed("int64", 1, low=0, high=0)
    yield m(6, 3), m.index(6, 5), offsets, False, 2      # others: test_nn_functional.py


@samples("one_hot", dtypes="int64 float32")
def one_hot(m):
    yield (m.index(4, 3, 2),)
    yield m.index(4, 3), 6
    yield m.index(4, 0), 3
    yield (m(3, low=-3, high=-1),)                # refused


@samples("cosine_similarity", dtypes="float32 float64 int64")
def cosine_similarity(m):
    yield m(4, 5), m(4, 5)
    yield m(4, 5), m(5), K(dim=-1, eps=0.5)


@samples("pairwise_distance", dtypes="float32 float64 complex128")
def pairwise_distance(m):
    yield m(4, 5), m(4, 5)
    yield m(4, 5), m(5), 1.0, 1e-3, True


@samples("pdist", dtypes=REAL)
def pdist(m):
    for p in (2.0, 1.0, 0.0, 3.5, float("inf")):
        yield m(5, 3), p
    yield (m(2, 2, 2),)                           # refused


@samples("cdist", dtypes=REAL)
def cdist(m):
    for p in (2.0, 1.0, 0.0, float("inf")):
        yield m(2, 4, 3), m(2, 5, 3), p
    yield m(30, 3), m(28, 3)
    yield m(4, 3), m(4, 2)                        # refused
