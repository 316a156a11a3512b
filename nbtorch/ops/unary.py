"""Functions of one operand, element by element."""
import math

from ..core import dtype as dt
from ..core.op import OPS, alias, composite, op
from ..core.tensor import Tensor
from . import rules
from .pointwise import _nothing, both, where
from .rules import float_like, same

_FP32 = {"cuda": "fp32"}
_LN2, _LN10 = math.log(2), math.log(10)


def _math(name, kernel, formula, amp=None, on="torch method", rule=float_like, **more):
    return op(f"{name}(input)", kernel, rule=rule, inplace=True, amp=amp, on=on, vjp={"input": formula}, **more)


def _not_complex(name, rule=same):
    def check(infos):
        if infos[0][0].is_complex:
            raise RuntimeError(f"{name} is not supported for complex tensors.")
        return rule(infos)
    return check


# ---- exponentials and logarithms

_EXPM1 = "torch method special"
exp = _math("exp", "exp", lambda g, out: g * out.conj(), _FP32)
exp2 = _math("exp2", "exp2", lambda g, out: g * (out * _LN2).conj(), on=_EXPM1)
expm1 = _math("expm1", "expm1", lambda g, out: g * (out + 1).conj(), _FP32, on=_EXPM1)
log = _math("log", "log", lambda g, input: g / input.conj(), _FP32)
log2 = _math("log2", "log2", lambda g, input: g / (input * _LN2).conj(), _FP32)
log10 = _math("log10", "log10", lambda g, input: g / (input * _LN10).conj(), _FP32)
log1p = _math("log1p", "log1p", lambda g, input: g / (input + 1).conj(), _FP32, on=_EXPM1)
sqrt = _math("sqrt", "sqrt", lambda g, out: g / (2 * out).conj())
rsqrt = _math("rsqrt", "rsqrt", lambda g, out: g * (out.pow(3) * -0.5).conj(), _FP32)
reciprocal = _math("reciprocal", "reciprocal", lambda g, out: -g * (out * out).conj(), _FP32)
square = op(
    "square(input)",
    "square_any",
    inplace=True,
    node="Pow",
    vjp={"input": lambda g, input: g * (input * 2).conj()},
)

# ---- trigonometry

sin = _math("sin", "sin", lambda g, input: g * input.cos().conj())
cos = _math("cos", "cos", lambda g, input: g * -input.sin().conj())
tan = _math("tan", "tan", lambda g, out: g * (1 + out * out).conj(), _FP32)
sinh = _math("sinh", "sinh", lambda g, input: g * input.cosh().conj(), _FP32)
cosh = _math("cosh", "cosh", lambda g, input: g * input.sinh().conj(), _FP32)
tanh = _math("tanh", "tanh", lambda g, out: g * (1 - out * out).conj())
asin = _math("asin", "arcsin", lambda g, input: g * (1 - input * input).rsqrt().conj(), _FP32)
acos = _math("acos", "arccos", lambda g, input: g * -(1 - input * input).rsqrt().conj(), _FP32)
atan = _math("atan", "arctan", lambda g, input: g / (input * input + 1).conj())
asinh = _math("asinh", "arcsinh", lambda g, input: g * (input * input + 1).rsqrt().conj())
acosh = _math("acosh", "arccosh", lambda g, input: g * ((input - 1).rsqrt() * (input + 1).rsqrt()).conj())
atanh = _math("atanh", "arctanh", lambda g, input: g / (1 - input * input).conj())
for _name, _function in (("arcsin", asin), ("arccos", acos), ("arctan", atan), ("arcsinh", asinh), ("arccosh", acosh),
                         ("arctanh", atanh)):
    alias(_name, _function)
deg2rad = op("deg2rad(input)", "deg2rad_any", rule=_not_complex("deg2rad", float_like), inplace=True,
             vjp={"input": lambda g: g * (math.pi / 180)})
rad2deg = op("rad2deg(input)", "rad2deg_any", rule=_not_complex("rad2deg", float_like), inplace=True,
             vjp={"input": lambda g: g * (180 / math.pi)})


def _sinc_slope(g, input):
    z = input * math.pi
    slope = (z * z.cos() - z.sin()) / (z * input)
    return g * where(z == 0, slope.new_zeros(()), slope).conj()


sinc = _math("sinc", "sinc", _sinc_slope, on=_EXPM1)

# ---- probability and gamma functions


def _real(kernel):
    return rules.refuse("complex", kernel, float_like)


sigmoid = _math("sigmoid", "sigmoid", lambda g, out: g * ((1 - out) * out).conj())
alias("expit", sigmoid)


def _logit_slope(g, input, eps):
    low, high = (0.0, 1.0) if eps is None else (eps, 1 - eps)
    outside = g.new_full((), math.nan if eps is None else 0.0)
    return where((input >= low) & (input <= high), g / (input * (1 - input)), outside)


logit = op(
    "logit(input, eps=None)",
    "logit",
    rule=_real("logit_cpu"),
    inplace=True,
    on=_EXPM1,
    vjp={"input": _logit_slope},
)
erf = _math(
    "erf",
    "erf",
    lambda g, input: g * (input * input).neg().exp() * (2 / math.sqrt(math.pi)),
    on=_EXPM1,
    rule=_real("erf_vml_cpu"),
)
erfc = _math(
    "erfc",
    "erfc",
    lambda g, input: g * (input * input).neg().exp() * (-2 / math.sqrt(math.pi)),
    on=_EXPM1,
    rule=_real("erfc_vml_cpu"),
)
erfinv = _math(
    "erfinv",
    "erfinv",
    lambda g, out: g * (out * out).exp() * (math.sqrt(math.pi) / 2),
    _FP32,
    on=_EXPM1,
    rule=_real("erfinv_vml_cpu"),
)
lgamma = _math("lgamma", "lgamma", lambda g, input: g * input.digamma(), rule=_real("lgamma"))
digamma = _math("digamma", "digamma", lambda g, input: g * _polygamma(input, 1), on=_EXPM1, rule=_real("digamma"))
_polygamma = op("_polygamma(input, n: int)", "polygamma", rule=float_like, node="Polygamma", inplace=True,
                vjp={"input": lambda g, input, n: g * _polygamma(input, n + 1)})
igamma = op(
    "igamma(input, other)",
    "igamma",
    check=both("igamma"),
    rule=rules.refuse("bool int complex", "igamma_cpu", rules.promote),
    inplace=True,
)
igammac = op(
    "igammac(input, other)",
    "igammac",
    check=both("igammac"),
    rule=rules.refuse("bool int complex", "igammac_cpu", rules.promote),
    inplace=True,
)

# ---- signs and rounding


def _negatable(infos):
    if infos[0][0] is dt.bool_:
        raise RuntimeError("Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert "
                           "a mask, use the `~` or `logical_not()` operator instead.")
    return [None]


def _positive_rule(infos):
    if infos[0][0] is dt.bool_:
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return [None]


neg = op("neg(input)", "negative", rule=_negatable, inplace=True, vjp={"input": lambda g: -g})
alias("negative", neg)


@composite("positive(input)", out=False)
def positive(input):
    """The tensor itself. Raises RuntimeError for bool."""
    _positive_rule([(input.dtype, 2)])
    return input


abs = op(
    "abs(input)",
    "abs",
    rule=rules.refuse("bool", "abs_cpu"),
    inplace=True,
    vjp={"input": lambda g, input: g * input.sgn()},
)
alias("absolute", abs)
_plain_abs_inplace = OPS["abs"].inplace_function


def abs_(input):
    """In-place version of :func:`abs`. Raises RuntimeError for complex tensors."""
    if input.is_complex():
        raise RuntimeError("In-place abs is not supported for complex tensors.")
    return _plain_abs_inplace(input)


OPS["abs"].inplace_function = abs_


def _sign_rule(infos):
    if infos[0][0].is_complex:
        raise RuntimeError("Unlike NumPy, torch.sign() is not intended to support complex numbers. Please use "
                           "torch.sgn() instead.")
    return [None]


sign = op("sign(input)", "sign", rule=_sign_rule, inplace=True, vjp={"input": _nothing})


def _sgn_slope(g, input, out):
    if not input.is_complex():
        return _nothing(g)
    size = input.abs()
    return where(size == 0, g.new_zeros(()), (g - out * (g * out.conj()).real) / size)


sgn = op("sgn(input)", "sgn", inplace=True, vjp={"input": _sgn_slope})
angle = op("angle(input)", "angle", rule=float_like, vjp={"input": lambda g, input: _angle_slope(g, input)})


def _angle_slope(g, input):
    if not input.is_complex():
        return _nothing(g)
    size = input.abs()
    return where(size == 0, input.new_zeros(()), g * input * 1j / (size * size))


floor = op(
    "floor(input)",
    "floor",
    rule=_not_complex("floor", rules.refuse("bool", "floor_vml_cpu")),
    inplace=True,
    vjp={"input": _nothing},
)
ceil = op(
    "ceil(input)",
    "ceil",
    rule=_not_complex("ceil", rules.refuse("bool", "ceil_vml_cpu")),
    inplace=True,
    vjp={"input": _nothing},
)
trunc = op(
    "trunc(input)",
    "trunc",
    rule=_not_complex("trunc", rules.refuse("bool", "trunc_vml_cpu")),
    inplace=True,
    vjp={"input": _nothing},
)
alias("fix", trunc)
round = op(
    "round(input, *, decimals: int=0)",
    "round",
    rule=_not_complex("round", rules.refuse("bool", "round_cpu")),
    inplace=True,
    on="torch method special",
    vjp={"input": _nothing},
)
frac = op(
    "frac(input)",
    "frac",
    rule=_not_complex("frac", rules.refuse("bool int", "frac_cpu")),
    inplace=True,
    vjp={"input": lambda g: g},
)
nan_to_num = op("nan_to_num(input, nan=None, posinf=None, neginf=None)", "nan_to_num", inplace=True,
                vjp={"input": lambda g, input: g * input.isfinite()})


def _frexp_rule(infos):
    if not infos[0][0].is_floating_point:
        raise RuntimeError("torch.frexp() only supports floating-point dtypes")
    return [None]


frexp = op("frexp(input)", "frexp", rule=_frexp_rule, returns="frexp mantissa exponent", nondiff=("exponent",),
           vjp={"input": lambda g, exponent: g / 2.0 ** exponent})


@composite("polygamma(n: int, input)", on="torch special")
def polygamma(n, input):
    """The n-th derivative of digamma. Raises RuntimeError for negative n."""
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    return _polygamma(input, n)


def polygamma_method(self, n):
    """The n-th derivative of digamma at self."""
    return polygamma(n, self)


def polygamma_(self, n):
    """In-place version of :func:`polygamma`."""
    return OPS["_polygamma"].inplace_function(self, n)


Tensor.polygamma, Tensor.polygamma_ = polygamma_method, polygamma_


@composite("mvlgamma(input, p: int)", inplace=True)
def mvlgamma(input, p):
    """Logarithm of the multivariate gamma function of dimension p."""
    if p < 1:
        raise RuntimeError("p has to be greater than or equal to 1")
    if input.dtype is dt.bool_:
        raise RuntimeError("The input tensor may not be a boolean tensor.")
    from .create import tensor_of
    constant = p * (p - 1) * math.log(math.pi) / 4
    half_steps = tensor_of([-j / 2 for j in range(p)], input)
    return (input.unsqueeze(-1) + half_steps).lgamma().sum(-1) + constant


@composite("ndtr(input)", on="special")
def ndtr(input):
    """Area under the standard normal density up to each element; accurate in both tails (through erfc).

    https://docs.pytorch.org/docs/stable/special.html#torch.special.ndtr
    """
    return erfc(input * -math.sqrt(0.5)) * 0.5
