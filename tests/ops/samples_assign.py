"""Copies, conjugates and fills."""
from .harness import samples


@samples("clone", "contiguous", "conj", "conj_physical", "resolve_conj", "resolve_neg")
def copied(m):
    yield (m(3, 4),)
    yield (m(0, 2),)
    yield (m(),)


@samples("fill", dtypes="float32 float64 float16 bfloat16 int64 int32 uint8 complex64 complex128")
def filled(m):
    yield m(2, 3), 1
    yield m(2, 3), m(low=0, high=2)
    yield m(), 2
