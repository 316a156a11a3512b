"""Samples of views, splitting, joining, indexing along dimensions, and creation."""
from .harness import samples


@samples("view")
def viewed(m):
    yield m(2, 6), 3, 4
    yield m(2, 6), (3, -1)
    yield m(2, 6), -1
    yield m(2, 3), 4, 2


@samples("reshape")
def shapes(m):
    yield m(2, 6), (3, -1)
    yield m(2, 6), (-1,)
    yield m(2, 3), (4, 2)


@samples("transpose", "swapaxes", "swapdims")
def exchanged(m):
    yield m(2, 3, 4), 0, -1
    yield m(2, 3), 0, 5
    yield m(), 0, 0


@samples("permute", "permute_copy")
def orders(m):
    yield m(2, 3, 4), (2, 0, 1)
    yield m(2, 3), (0, 0)


@samples("squeeze", "squeeze_copy")
def squeezed(m):
    yield (m(1, 3, 1),)
    yield m(1, 3, 1), 0
    yield m(1, 3, 1), (0, 2)
    yield m(1, 3, 1), 1


@samples("unsqueeze", "unsqueeze_copy")
def unsqueezed(m):
    yield m(2, 3), 1
    yield m(2, 3), -1
    yield m(2, 3), 4


@samples("expand", "expand_copy", "broadcast_to")
def expanded(m):
    yield m(3, 1), (3, 4)
    yield m(3, 1), (2, -1, 4)
    yield m(3), (4,)


@samples("expand_as", "view_as", "reshape_as")
def as_other(m):
    yield m(2, 3), m(2, 3)
    yield m(1, 3), m(2, 3)


@samples("select", "select_copy")
def selected(m):
    yield m(2, 3, 4), 1, 2
    yield m(2, 3), -1, -1
    yield m(2, 3), 0, 2


@samples("narrow", "narrow_copy")
def narrowed(m):
    yield m(2, 5), 1, 1, 3
    yield m(2, 5), 1, -2, 2
    yield m(2, 5), 1, 3, 3


@samples("diagonal", "diagonal_copy")
def diagonals(m):
    yield (m(3, 4),)
    yield m(2, 3, 4), 1, 0, 2
    yield m(2, 3), -1


@samples("as_strided", "as_strided_copy")
def strided(m):
    yield m(12), (2, 3), (4, 1)
    yield m(12), (3, 3), (2, 1), 1


@samples("unfold", "unfold_copy")
def windows(m):
    yield m(2, 7), 1, 3, 2
    yield m(7), 0, 8, 1


@samples("flatten")
def flattened(m):
    yield (m(2, 3, 4),)
    yield m(2, 3, 4), 1
    yield m(2, 3, 4), 0, 1
    yield (m(),)


@samples("unflatten")
def unflattened(m):
    yield m(2, 6), 1, (2, 3)
    yield m(2, 6), 1, (-1, 2)


@samples("ravel", "t", "t_copy", "adjoint", "fliplr", "flipud", "alias_copy")
def plain(m):
    yield (m(2, 3),)


@samples("movedim")
def moved(m):
    yield m(2, 3, 4), 0, 2
    yield m(2, 3, 4), (0, 1), (1, 2)


@samples("split", "split_copy")
def parts(m):
    yield m(5, 2), 2
    yield m(2, 5), 3, 1


@samples("split_with_sizes", "split_with_sizes_copy", "unsafe_split_with_sizes")
def sized(m):
    yield m(5, 2), (2, 3)
    yield m(5, 2), (2, 2)


@samples("chunk", "unsafe_chunk", "unsafe_split", "tensor_split")
def chunks(m):
    yield m(5, 2), 2
    yield m(2, 5), 3, 1


@samples("unbind", "unbind_copy")
def unbound(m):
    yield (m(3, 2),)
    yield m(3, 2), 1


@samples("hsplit", "vsplit")
def named_split(m):
    yield m(4, 4), 2
    yield m(4, 4), (1, 3)


@samples("dsplit")
def deep_split(m):
    yield m(2, 2, 4), 2


@samples("transpose_copy")
def transposed_copy(m):
    yield m(2, 3, 4), 0, -1


@samples("view_copy")
def view_copies(m):
    yield m(2, 6), (3, 4)


@samples("view_as_real_copy", dtypes="complex64 complex128")
def pairs(m):
    yield (m(3),)


@samples("view_as_complex_copy", dtypes="float32 float64")
def joined_pairs(m):
    yield (m(3, 2),)


@samples("select_scatter")
def select_scatter(m):
    yield m(2, 3), m(3), 0, 1


@samples("slice_scatter")
def slice_scatter(m):
    yield m(4, 3), m(2, 3), 0, 1, 3


@samples("diagonal_scatter")
def diagonal_scatter(m):
    yield m(3, 3), m(3)


@samples("as_strided_scatter", grad=False)         # torch's own gradient keeps the overwritten part
def as_strided_scatter(m):
    yield m(12), m(2, 3), (2, 3), (4, 1)


@samples("sum_to_size")
def summed(m):
    yield m(2, 3), 1, 3
    yield m(2, 3), 2, 2


@samples("broadcast_shapes", dtypes="float32")
def shape_pairs(m):
    yield (2, 1), (3,)
    yield (2, 2), (3,)


@samples("broadcast_tensors", "meshgrid", "atleast_1d", "atleast_2d", "atleast_3d", "block_diag")
def several(m):
    yield m(3), m(3)
    yield (m(3),)


@samples("cartesian_prod")
def products(m):
    yield m(3), m(2)


@samples("cat")
def joined(m):
    yield ([m(2, 3), m(1, 3)],)
    yield [m(2, 3), m(2, 1)], 1
    yield ([m(2, 3), m.fixed("float64", 2, 3)],)
    yield ([m(2, 3), m(2, 2)],)


@samples("stack")
def stacked(m):
    yield ([m(2, 3), m(2, 3)],)
    yield [m(2, 3), m(2, 3)], -1
    yield ([m(2, 3), m(2, 2)],)


@samples("hstack", "vstack", "dstack", "column_stack")
def named_stack(m):
    yield ([m(2, 3), m(2, 3)],)
    yield ([m(3), m(3)],)


@samples("repeat", "tile")
def repeated(m):
    yield m(2, 3), (2, 1)
    yield m(3), (2, 2)


@samples("repeat_interleave")
def interleaved(m):
    yield m(2, 3), 2
    yield m(2, 3), 2, 1
    yield m(3), m.index(3, 3)


@samples("roll")
def rolled(m):
    yield m(2, 3), 1
    yield m(2, 3), (1, -1), (0, 1)


@samples("flip")
def flipped(m):
    yield m(2, 3), (0,)
    yield m(2, 3), (0, -1)


@samples("rot90")
def turned(m):
    yield (m(2, 3),)
    yield m(2, 3), 3, (1, 0)


@samples("tril", "triu")
def triangles(m):
    yield (m(3, 4),)
    yield m(2, 3, 3), 1
    yield m(3, 3), -1


@samples("diag", "diag_embed", "diagflat")
def diagonal_matrices(m):
    yield (m(3),)
    yield m(3, 3), 1


@samples("combinations")
def combinations(m):
    yield (m(4),)
    yield m(4), 3, True


@samples("tril_indices", "triu_indices", dtypes="float32")
def triangle_positions(m):
    yield 3, 4
    yield 3, 4, 1


@samples("zeros", "ones", dtypes="float32")
def sizes(m):
    yield 2, 3
    yield ((2, 3),)
    yield (2, 0)
    yield 2, -1


@samples("empty", dtypes="float32", values=False)
def uninitialised(m):
    yield 2, 3


@samples("full", dtypes="float32")
def filled(m):
    yield (2, 3), 1
    yield (2, 3), 1.5
    yield (2,), True
    yield (2,), 1j


@samples("scalar_tensor", dtypes="float32")
def scalar(m):
    yield (3,)


@samples("empty_permuted", dtypes="float32", values=False)
def permuted(m):
    yield (2, 3, 4), (2, 0, 1)


@samples("empty_strided", dtypes="float32", values=False)
def gapped(m):
    yield (2, 3), (4, 1)


@samples("arange", dtypes="float32")
def counted(m):
    yield (5,)
    yield 1, 5, 2
    yield 0.5, 2.0, 0.25
    yield 5, 1


@samples("range", dtypes="float32")
def inclusive(m):
    yield 1, 4
    yield 1, 4, 0.5


@samples("linspace", "logspace", dtypes="float32")
def spaced(m):
    yield 0, 1, 5
    yield -2, 2, 1
    yield 0, 1, -1


@samples("eye", dtypes="float32")
def identity(m):
    yield (3,)
    yield 2, 3


@samples("zeros_like", "ones_like", grad=False)
def like(m):
    yield (m(2, 3),)


@samples("empty_like", grad=False, values=False)
def empty_like(m):
    yield (m(2, 3),)


@samples("full_like", grad=False)
def full_like(m):
    yield m(2, 3), 1


@samples("new_zeros", "new_ones", grad=False)
def new(m):
    yield m(2), 2, 3
    yield m(2), (2, 3)


@samples("new_empty", grad=False, values=False)
def new_empty(m):
    yield m(2), (2, 3)


@samples("new_full", grad=False)
def new_full(m):
    yield m(2), (2, 3), 1


@samples("new_empty_strided", grad=False, values=False)
def new_gapped(m):
    yield m(2), (2, 3), (3, 1)
