"""Samples of activations, convolutions, norms, attention and recurrent layers."""
from .harness import K, samples

FLOATS = "float32 float64 float16 bfloat16 int64 bool"
REAL = "float32 float64"


def _pointwise(name, *extra):
    def made(m):
        for shape in ((3, 4), (), (0, 3), (2, 3, 5)):
            yield (m(*shape, low=-4, high=4), *extra)
    samples(name, dtypes=FLOATS)(made)


for _name, *_extra in (("relu",), ("threshold", 0.5, -2.0), ("hardshrink", 0.7), ("softshrink", 0.7), ("gelu",),
                       ("softplus", 2.0, 5.0), ("logsigmoid",), ("selu",), ("celu", 1.3), ("softsign",),
                       ("tanhshrink",)):
    _pointwise(_name, *_extra)


@samples("prelu", dtypes="float32 float64 float16 bfloat16 int64")
def prelu(m):
    yield m(3, 4), m(1)
    yield m(2, 3, 4), m(3)
    yield m(5), m(1)
    yield m(3, 4), m(3)                           # refused


@samples("glu", dtypes=FLOATS)
def glu(m):
    yield m(3, 4), K(dim=1)
    yield m(4, 3), K(dim=0)
    yield m(3, 3), K(dim=0)                       # refused: odd


@samples("rrelu", dtypes=REAL)
def rrelu(m):
    yield m(3, 4), K(training=False)
    yield m(3, 4), 0.1, 0.4, True
    yield m(3, 4), 0.5, 0.1                       # refused


@samples("softmax", "log_softmax", dtypes=FLOATS)
def softmax(m):
    yield m(3, 4), 1
    yield m(3, 4, 2), 1
    yield m(3, 4, 2), -3
    yield m(0, 3), 1
    yield m(), 0
    yield m(3, 4), 2                              # refused


@samples("gumbel_softmax", dtypes=REAL, grad=False, values=False)
def gumbel(m):
    yield (m(3, 4),)
    yield m(3, 4), K(tau=0.5, hard=True, dim=0)


@samples("conv1d", dtypes="float32 float64 int64 complex64 complex128")
def conv1d(m):
    yield m(2, 3, 7), m(4, 3, 3), m(4)
    yield m(2, 4, 8), m(4, 2, 2), None, 2, 1, 1, 2
    yield m(3, 7), m(4, 3, 4), m(4), 1, "same"
    yield m(0, 3, 7), m(4, 3, 3), m(4)
    yield m(2, 3, 7), m(4, 2, 3)                  # refused: channels
    yield m(2, 3, 2), m(4, 3, 3)                  # refused: kernel larger than the input


@samples("conv2d", dtypes="float32 float64 complex128")
def conv2d(m):
    yield m(2, 3, 6, 5), m(4, 3, 3, 2), m(4)
    yield m(2, 4, 6, 5), m(8, 1, 3, 3), m(8), (2, 1), (1, 2), (1, 2), 4
    yield m(2, 3, 6, 5), m(4, 3, 1, 1)
    yield m(3, 6, 5), m(4, 3, 2, 2), None, 1, "same"
    yield m(2, 3, 6, 5), m(4, 3, 2, 2), m(3)      # refused: bias


@samples("conv3d", dtypes=REAL)
def conv3d(m):
    yield m(2, 2, 4, 3, 5), m(4, 2, 2, 3, 2), m(4), 1, 1
    yield m(2, 2, 4, 3, 5), m(4, 1, 2, 1, 2), None, (2, 1, 1), 0, 1, 2


@samples("conv_transpose1d", dtypes="float32 float64 int64 complex128")
def conv_transpose1d(m):
    yield m(2, 3, 5), m(3, 4, 3), m(4)
    yield m(2, 4, 5), m(4, 2, 3), m(4), 2, 1, 1, 2
    yield m(2, 3, 5), m(4, 3, 3)                  # refused
    yield m(2, 3, 5), m(3, 4, 3), None, 1, 0, 1   # refused: output padding


@samples("conv_transpose2d", dtypes=REAL)
def conv_transpose2d(m):
    yield m(2, 3, 5, 4), m(3, 4, 3, 2), m(4), (2, 1), 1, (1, 0), 1, 1
    yield m(3, 5, 4), m(3, 4, 2, 2), None, 2


@samples("conv_transpose3d", dtypes=REAL)
def conv_transpose3d(m):
    yield m(2, 3, 3, 4, 2), m(3, 2, 2, 2, 2), m(2), 2, 1, 1, 1, 1


@samples("convolution", dtypes=REAL)
def convolution(m):
    yield m(2, 3, 6, 5), m(4, 3, 3, 2), m(4), (1, 1), (0, 1), (1, 1), False, (0, 0), 1
    yield m(2, 3, 6, 5), m(3, 4, 3, 2), None, (2, 2), (0, 1), (1, 1), True, (1, 0), 1


@samples("conv_tbc", dtypes=REAL)
def conv_tbc(m):
    yield m(6, 2, 3), m(3, 3, 4), m(4), 1


@samples("linear", dtypes="float32 float64 int64 complex128")
def linear(m):
    yield m(4, 5), m(3, 5), m(3)
    yield m(2, 4, 5), m(3, 5)
    yield m(5), m(3, 5), m(3)
    yield m(5), m(5)
    yield m(0, 5), m(3, 5), m(3)
    yield m(4, 5), m(7, 6)                        # refused


@samples("bilinear", dtypes=REAL)
def bilinear(m):
    yield m(4, 3), m(4, 2), m(5, 3, 2), m(5)
    yield m(2, 4, 3), m(2, 4, 2), m(5, 3, 2)
    yield m(4, 3), m(4, 2), m(5, 2, 2)            # refused


@samples("batch_norm", dtypes="float32 float64 int64")
def batch_norm(m):
    yield m(4, 3, 5), m(3), m(3), m(3), m.positive(3), True, 0.1, 1e-5, False
    yield m(4, 3), None, None, m(3), m.positive(3), False, 0.1, 1e-5, False
    yield m(4, 3, 2, 2), m(3), None, None, None, True, 0.1, 1e-3, False
    yield m(4, 3), m(2), None, None, None, True, 0.1, 1e-3, False        # refused


@samples("native_batch_norm", dtypes=REAL)
def native_batch_norm(m):
    yield m(4, 3, 5), m(3), m(3), m(3), m.positive(3), True, 0.1, 1e-5
    yield m(4, 3, 5), m(3), m(3), m(3), m.positive(3), False, 0.1, 1e-5


@samples("instance_norm", dtypes=REAL)
def instance_norm(m):
    yield m(4, 3, 5), m(3), m(3), None, None, True, 0.1, 1e-5, False
    yield m(4, 3, 5), None, None, m(3), m.positive(3), False, 0.1, 1e-5, False
    yield m(4, 3, 5), None, None, m(3), m.positive(3), True, 0.1, 1e-5, False


@samples("layer_norm", dtypes="float32 float64 float16 bfloat16 int64")
def layer_norm(m):
    yield m(4, 3, 5), (5,), m(5), m(5)
    yield m(4, 3, 5), (3, 5)
    yield m(3, 5), (3, 5), m(3, 5)
    yield m(0, 5), (5,), m(5), m(5)
    yield m(4, 3, 5), (4,)                        # refused


@samples("native_layer_norm", dtypes=REAL)
def native_layer_norm(m):
    yield m(4, 3, 5), (5,), m(5), m(5), 1e-5
    yield m(4, 3, 5), (3, 5), None, None, 1e-5


@samples("group_norm", dtypes="float32 float64 int64")
def group_norm(m):
    yield m(4, 6, 5), 3, m(6), m(6)
    yield m(4, 6), 2
    yield m(4, 6, 2, 2), 6, m(6)
    yield m(4, 6, 2), 4                           # refused


@samples("native_group_norm", dtypes=REAL)
def native_group_norm(m):
    yield m(4, 6, 5), m(6), m(6), 4, 6, 5, 3, 1e-5


@samples("rms_norm", dtypes="float32 float64 complex64 complex128 int64")
def rms_norm(m):
    yield m(4, 3, 5), (5,), m(5)
    yield m(4, 3, 5), (3, 5), None, 1e-3
    yield m(4, 3, 5), (4,)                        # refused


@samples("local_response_norm", dtypes=REAL)
def local_response_norm(m):
    yield m(2, 5, 4), 3
    yield m(2, 5, 4, 3), 2, 0.1, 0.5, 2.0


@samples("normalize", dtypes="float32 float64 complex128 int64")
def normalize(m):
    yield (m(3, 4),)
    yield m(3, 4), K(p=1.0, dim=0, eps=1e-3)


@samples("scaled_dot_product_attention", dtypes="float32 float64 int64")
def attention(m):
    yield m(2, 3, 5, 4), m(2, 3, 5, 4), m(2, 3, 5, 6)
    yield m(2, 5, 4), m(2, 5, 4), m(2, 5, 4), K(is_causal=True)
    yield m(2, 3, 5, 4), m(2, 3, 7, 4), m(2, 3, 7, 6), K(attn_mask=m(5, 7), scale=0.7)
    yield m(2, 3, 5, 4), m(2, 3, 7, 4), m(2, 3, 7, 6), K(attn_mask=m.mask(2, 1, 5, 7))
    yield m(2, 4, 5, 4), m(2, 2, 5, 4), m(2, 2, 5, 4), K(enable_gqa=True)
    yield m(4), m(4), m(4)                        # refused


@samples("multi_head_attention_forward", dtypes=REAL)
def heads(m):
    yield (m(5, 2, 6), m(7, 2, 6), m(7, 2, 6), 6, 3, m(18, 6), m(18), None, None, False, 0.0, m(6, 6), m(6))
    x = m(5, 2, 6)
    yield (x, x, x, 6, 3, m(18, 6), None, m(1, 1, 6), m(1, 1, 6), True, 0.0, m(6, 6), None,
           K(need_weights=False, attn_mask=m(5, 5)))
    yield (m(5, 6), m(7, 6), m(7, 6), 6, 2, m(18, 6), m(18), None, None, False, 0.0, m(6, 6), m(6),
           K(average_attn_weights=False, key_padding_mask=m(7)))


def _gates(m, n, hidden=4, inputs=3):
    return [m(n * hidden, inputs), m(n * hidden, hidden), m(n * hidden), m(n * hidden)]


@samples("lstm", dtypes=REAL)
def lstm(m):
    yield m(5, 2, 3), [m(1, 2, 4), m(1, 2, 4)], _gates(m, 4), True, 1, 0.0, False, False, False
    yield m(2, 5, 3), [m(2, 2, 4), m(2, 2, 4)], _gates(m, 4) + _gates(m, 4), True, 1, 0.0, False, True, True


@samples("gru", dtypes=REAL)
def gru(m):
    yield m(5, 2, 3), m(1, 2, 4), _gates(m, 3), True, 1, 0.0, False, False, False
    yield m(5, 2, 3), m(2, 2, 4), _gates(m, 3)[:2] + _gates(m, 3)[:2], False, 1, 0.0, False, True, False


@samples("rnn_tanh", "rnn_relu", dtypes=REAL)
def rnn(m):
    yield m(5, 2, 3), m(1, 2, 4), _gates(m, 1), True, 1, 0.0, False, False, False
    yield (m(5, 2, 3), m(2, 2, 4), _gates(m, 1) + _gates(m, 1, inputs=4), True, 2, 0.0, False, False, False)


@samples("lstm_cell", dtypes=REAL)
def lstm_cell(m):
    yield m(2, 3), [m(2, 4), m(2, 4)], *_gates(m, 4)


@samples("gru_cell", dtypes=REAL)
def gru_cell(m):
    yield m(2, 3), m(2, 4), *_gates(m, 3)


@samples("rnn_tanh_cell", "rnn_relu_cell", dtypes=REAL)
def rnn_cell(m):
    yield m(2, 3), m(2, 4), *_gates(m, 1)


@samples("dropout", "feature_dropout", "alpha_dropout", "feature_alpha_dropout", dtypes=REAL)
def dropout(m):
    yield m(3, 4, 5), 0.3, True
    yield m(3, 4, 5), 0.3, False
    yield m(3, 4, 5), 1.0, True
    yield m(3, 4), 1.5, True                      # refused


@samples("native_dropout", dtypes="float32", values=False, grad=False)
def native_dropout(m):
    yield m(3, 4), 0.3, True
