"""Samples of arithmetic, unary functions, bits and comparisons."""
from .harness import K, samples


@samples("add", "sub", "rsub")
def alpha(m):
    yield m(3, 4), m(3, 4)
    yield m(3, 1), m(4)
    yield m(2, 3), 2
    yield m(2, 3), 2.5
    yield m(), m(2, 3)
    yield m(2, 0), m(1, 1)
    yield m(2, 3), m(2, 3), K(alpha=2)
    yield m(2, 3), m.fixed("int64", 3)
    yield m(2, 3), m.fixed("float64")
    yield m(3), m.fixed("complex64", 3)


@samples("mul", "maximum", "minimum", "fmax", "fmin", "eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or",
         "logical_xor")
def binary(m):
    yield m(3, 4), m(3, 4)
    yield m(3, 1), m(4)
    yield m(2, 3), 2
    yield m(2, 3), 1.5
    yield m(), m(2, 3)
    yield m(2, 0), m(1, 1)
    yield m(2, 3), m.fixed("int64", 3)
    yield m(2, 3), m.fixed("float64")


@samples("true_divide", "hypot", "atan2", "copysign", "xlogy", "logaddexp", "logaddexp2", "float_power", "ldexp")
def quotients(m):
    yield m.positive(3, 4), m.positive(3, 4)
    yield m.positive(3, 1), m.positive(4)
    yield m.positive(2, 3), 2
    yield m.positive(2, 3), 1.5
    yield m.positive(2, 3), m.fixed("float64", low=0.5)


@samples("nextafter", "heaviside", "igamma", "igammac")
def same_dtype(m):
    yield m.positive(3, 4), m.positive(3, 4)
    yield m.positive(3, 1), m.positive(4)


@samples("div")
def divided(m):
    yield m.positive(3, 4), m.positive(3, 4)
    yield m.positive(3, 1), 2
    yield m(3, 2, low=-9, high=9), 2, K(rounding_mode="floor")
    yield m(3, 2, low=-9, high=9), 2, K(rounding_mode="trunc")
    yield m(3, 2, low=-9, high=9), m(2, low=1, high=3), K(rounding_mode="floor")
    yield m(3, 2), 0.5, K(rounding_mode="up")


@samples("floor_divide", "remainder", "fmod")
def whole_quotients(m):
    yield m(3, 4, low=-9, high=9), m(3, 4, low=1, high=3)
    yield m(3, 4, low=-9, high=9), m(4, low=-3, high=-1)
    yield m(3, 1, low=-9, high=9), 2
    yield m(3, 2), m.fixed("int64", 2, low=1)
    yield m(3, 2), 0


@samples("pow")
def powers(m):
    yield m.positive(3, 4), m.positive(3, 4)
    yield m.positive(3, 1), m.positive(4)
    yield m(3, 2), 2
    yield m(3, 2), 3
    yield m(3, 2), 0
    yield m.positive(3, 2), 0.5
    yield m.positive(3, 2), -1
    yield 2, m(3)
    yield 0.5, m(3)


@samples("addcmul", "addcdiv")
def three(m):
    yield m(3, 4), m(3, 4), m.positive(3, 4)
    yield m(3, 4), m(4), m.positive(3, 1)
    yield m(3, 4), m(4), m.positive(3, 1), K(value=2)


@samples("lerp")
def between(m):
    yield m(3, 4), m(3, 4), 0.3
    yield m(3, 4), m(4), m.unit(3, 4)


@samples("clamp")
def limits(m):
    yield m(3, 4), -1, 1
    yield m(3, 4), None, 0.5
    yield m(3, 4), m(4), m(3, 1)
    yield m(3, 4), K(min=0)
    yield (m(3),)


@samples("clamp_min", "clamp_max")
def limit(m):
    yield m(3, 4), 1
    yield m(3, 4), m(4)


@samples("where")
def chosen(m):
    yield m.mask(3, 4), m(3, 4), m(4)
    yield m.mask(3, 1), m(3, 4), 0.0
    yield m.mask(3, 1), 1, m(3, 4)
    yield (m.mask(3, 2),)


@samples("masked_fill")
def filled(m):
    yield m(3, 4), m.mask(3, 4), 1
    yield m(3, 4), m.mask(4), m()


@samples("exp", "exp2", "expm1", "sin", "cos", "sinh", "cosh", "tanh", "asinh", "atan", "sigmoid", "erf", "erfc", "sinc",
         "square", "neg", "positive", "abs", "sign", "sgn", "angle", "floor", "ceil", "trunc", "frac", "deg2rad", "rad2deg",
         "logical_not", "isnan", "isinf", "isfinite", "isreal", "isposinf", "isneginf", "signbit")
def unary(m):
    yield (m(3, 4),)
    yield (m(),)
    yield (m(2, 0),)


@samples("log", "log2", "log10", "log1p", "sqrt", "rsqrt", "reciprocal", "lgamma", "digamma")
def unary_positive(m):
    yield (m.positive(3, 4),)
    yield (m.positive(),)


@samples("asin", "acos", "atanh", "erfinv", "tan")
def unary_small(m):
    yield (m(3, 4, low=-0.9, high=0.9),)


@samples("acosh")
def unary_large(m):
    yield (m(3, 4, low=1.2, high=3),)


@samples("logit")
def unary_unit(m):
    yield (m.unit(3, 4),)
    yield m.unit(3, 4), 0.1


@samples("round")
def rounded(m):
    yield (m(3, 4),)
    yield m(3, 4), K(decimals=1)


@samples("nan_to_num")
def numbers(m):
    yield (m(3, 4),)
    yield m(3, 4), 1.0, 2.0, 3.0


@samples("frexp", dtypes="float32 float64 float16 bfloat16")
def mantissas(m):
    yield (m.positive(3, 4),)


@samples("polygamma")
def derivatives(m):
    yield 1, m.positive(3)
    yield 2, m.positive(3)


@samples("mvlgamma")
def gammas(m):
    yield m(3, 4, low=2, high=4), 2


@samples("bitwise_and", "bitwise_or", "bitwise_xor")
def bits(m):
    yield m(3, 4, low=-9, high=9), m(3, 4, low=-9, high=9)
    yield m(3, 1), m(4)
    yield m(3, 4), 3


@samples("bitwise_left_shift", "bitwise_right_shift", "gcd", "lcm")
def shifts(m):
    yield m(3, 4, low=0, high=9), m(3, 4, low=0, high=3)


@samples("bitwise_not")
def inverted(m):
    yield (m(3, 4),)


@samples("isclose", "allclose")
def near(m):
    yield m(3, 4), m(3, 4)
    yield m(3, 4), m(3, 4), 0.5, 0.5


@samples("equal")
def equal(m):
    yield m(3, 4), m(3, 4)
    yield m(3, 4), m(4)


@samples("isin")
def members(m):
    yield m(3, 4), m(5)
    yield m(3, 4), m(5), K(invert=True)


@samples("is_nonzero")
def single(m):
    yield (m(1),)


@samples("complex", "polar", dtypes="float32 float64")
def parts(m):
    yield m.positive(3, 4), m(3, 4)


@samples("real", "imag", "view_as_real")
def part(m):
    yield (m(3, 4),)
    yield (m(),)


@samples("view_as_complex")
def pairs(m):
    yield (m(3, 2),)


@samples("result_type")
def types(m):
    yield m(3), m.fixed("int64")
    yield m(3), 1.5


@samples("promote_types", "can_cast", dtypes="float32")
def type_pairs(m):
    import nbtorch
    yield nbtorch.int8, nbtorch.uint8
    yield nbtorch.float16, nbtorch.bfloat16
    yield nbtorch.float32, nbtorch.int64
    yield nbtorch.float64, nbtorch.complex64


@samples("ndtr", dtypes="float32 float64 int64 int32 uint8 bool")
def normal_area(m):
    yield (m(3, 4, low=-5, high=5),)
    yield (m(0, 3),)
    yield (m(),)
