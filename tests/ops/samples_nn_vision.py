"""Samples of padding, resizing and rearranging images, and of the torch namespace's losses."""
from .harness import K, samples

REAL = "float32 float64"


# ---- vision

@samples("constant_pad_nd", dtypes="float32 int64 bool complex128")
def constant_pad(m):
    yield m(3, 4), (1, 2, 0, 3), 1
    yield m(3, 4), (-1, 2)
    yield m(3, 4), (-5, 0)                        # refused


@samples("pad", dtypes="float32 float64 int64 complex128")
def pad(m):
    yield m(2, 3, 4), (1, 2)
    for mode in ("reflect", "replicate", "circular"):
        yield m(2, 3, 4, 5), (2, 1, 0, 3), mode
        yield m(2, 3, 4), (1, -2), mode
    yield m(2, 3, 4), (1,)                        # refused
    yield m(2, 3, 4), (4, 0), "reflect"           # refused
    yield m(2, 3, 4), (1, 1), "mirror"            # refused


@samples("interpolate", dtypes="float32 float64 int64")
def interpolate(m):
    yield m(2, 3, 5), K(size=8)
    yield m(2, 3, 5, 4), K(scale_factor=2)
    yield m(2, 3, 5, 4), K(scale_factor=(1.3, 0.7), mode="nearest-exact")
    yield m(2, 3, 5), K(scale_factor=1.7, mode="linear", align_corners=True)
    yield m(2, 3, 5, 4), K(scale_factor=1.7, mode="bilinear")
    yield m(2, 3, 5, 4), K(scale_factor=1.7, mode="bilinear", recompute_scale_factor=True)
    yield m(2, 3, 8, 9), K(size=(5, 4), mode="bilinear", antialias=True)
    yield m(2, 3, 8, 9), K(size=(5, 12), mode="bicubic")
    yield m(2, 3, 8, 9), K(size=(5, 12), mode="bicubic", antialias=True, align_corners=True)
    yield m(1, 2, 3, 4, 3), K(size=(5, 3, 4), mode="trilinear")
    yield m(2, 3, 5, 4), K(size=(3, 2), mode="area")
    yield m(2, 3, 5), K(size=3, mode="bilinear")  # refused
    yield (m(2, 3, 5),)                           # refused


@samples("upsample", "upsample_nearest", "upsample_bilinear", dtypes=REAL)
def upsample(m):
    yield m(2, 3, 5, 4), K(scale_factor=2)
    yield m(2, 3, 5, 4), K(size=(7, 3))


@samples("im2col", dtypes="float32 complex128")
def unfold(m):
    yield m(2, 3, 6, 5), 2
    yield m(3, 6, 5), (3, 2), (1, 2), (1, 0), (2, 1)
    yield m(2, 3, 2, 2), 3                        # refused


@samples("fold", dtypes="float32 complex128")
def fold(m):
    yield m(2, 12, 20), (6, 5), 2
    yield m(6, 20), (6, 5), (2, 1), 1, 0, (1, 1)
    yield m(6, 25), (6, 5), (2, 1)
    yield m(2, 5, 4), (3, 3), 2                   # refused


@samples("pixel_shuffle", dtypes="float32 int64 complex128")
def pixel_shuffle(m):
    yield m(2, 8, 3, 2), 2
    yield m(2, 7, 3, 2), 2                        # refused


@samples("pixel_unshuffle", dtypes="float32 int64 complex128")
def pixel_unshuffle(m):
    yield m(2, 3, 4, 6), 2
    yield m(2, 3, 4, 5), 2                        # refused


@samples("channel_shuffle", "native_channel_shuffle", dtypes="float32 complex128")
def channel_shuffle(m):
    yield m(2, 6, 3, 2), 3


def _grids(m, *modes):
    for mode in modes:
        yield from ((m(2, 3, 4, 5), m(2, 3, 2, 2, low=-1.4, high=1.4), *mode), )


@samples("grid_sample", dtypes=REAL)
def grid_sample(m):
    for mode in ("bilinear", "nearest", "bicubic"):
        for padding in ("zeros", "border", "reflection"):
            yield m(2, 3, 4, 5), m(2, 3, 2, 2, low=-1.4, high=1.4), mode, padding, True
            yield m(2, 3, 4, 5), m(2, 3, 2, 2, low=-1.4, high=1.4), mode, padding, False
    yield m(2, 3, 4, 5, 3), m(2, 2, 3, 2, 3, low=-1.4, high=1.4), "bilinear", "reflection", False


@samples("grid_sampler", "grid_sampler_2d", dtypes=REAL)
def grid_sampler(m):
    yield from _grids(m, (0, 0, False), (1, 1, True), (2, 2, False))


@samples("grid_sampler_3d", dtypes=REAL)
def grid_sampler_3d(m):
    yield m(2, 3, 4, 5, 3), m(2, 2, 3, 2, 3, low=-1.4, high=1.4), 0, 1, True


@samples("affine_grid", dtypes=REAL)
def affine_grid(m):
    yield m(2, 2, 3), (2, 3, 4, 5), True
    yield m(2, 3, 4), (2, 1, 2, 3, 4), False


# ---- the torch namespace's losses, with the reduction as a number

@samples("torch_binary_cross_entropy_with_logits", dtypes=REAL)
def torch_logits(m):
    yield m(4, 5), m.unit(4, 5), None, m.positive(5), 2
    yield m(4, 5), m.unit(4, 5)


@samples("torch_cosine_embedding_loss", dtypes=REAL)
def torch_cosine(m):
    yield m(4, 5), m(4, 5), m.fixed("int64", 4, low=1, high=1), 0.1, 0


@samples("torch_ctc_loss", dtypes=REAL)
def torch_ctc(m):
    yield m(8, 2, 5, low=-3, high=-0.1), m.fixed("int64", 2, 3, low=1, high=4), (8, 6), (3, 2), 0, 2


@samples("torch_hinge_embedding_loss", dtypes=REAL)
def torch_hinge(m):
    yield m(4, 5), m.fixed("int64", 4, 5, low=1, high=1), 1.5, 0


@samples("torch_kl_div", dtypes=REAL)
def torch_kl(m):
    yield m(4, 5), m.unit(4, 5)
    yield m(4, 5), m(4, 5), 2, K(log_target=True)


@samples("torch_margin_ranking_loss", dtypes=REAL)
def torch_ranking(m):
    yield m(4), m(4), m.fixed("int64", 4, low=1, high=1), 0.5, 2


@samples("torch_poisson_nll_loss", dtypes=REAL)
def torch_poisson(m):
    yield m.positive(4, 5), m.positive(4, 5), False, True, 1e-6, 1


@samples("torch_triplet_margin_loss", dtypes=REAL)
def torch_triplet(m):
    yield m(4, 5), m(4, 5), m(4, 5), 0.5, 2.0, 1e-6, True, 0
