"""Arithmetic of two or more operands, element by element, with broadcasting and type promotion."""
import math

from ..core.op import OPS, alias, composite, op
from ..core.tensor import Tensor
from . import rules
from .rules import float_promote, promote

_FP32 = {"cuda": "fp32"}
_WIDEST = {"cuda": "promote"}


def cj(v):
    """Conjugate of a saved tensor or Python number."""
    return v.conj() if isinstance(v, Tensor) else v.conjugate()


def both(name):
    """A check that both operands are tensors, for ops that take no Python numbers."""
    def check(input, other):
        for position, t in ((1, input), (2, other)):
            if not isinstance(t, Tensor):
                raise TypeError(
                    f"{name}(): argument '{'input' if position == 1 else 'other'}' (position {position}) must be "
                    f"Tensor, not {type(t).__name__}"
                )
    return check


def _count(out_shape):
    return math.prod(out_shape)


# ---- addition

add = op("add(input, other, *, alpha=1)", "add", rule=promote, inplace=True, flops=_count,
         vjp={"input": lambda g: g, "other": lambda g, alpha: g if alpha == 1 else g * cj(alpha)})


def _no_bool(infos):
    bools = [d.category == 0 for d, _ in infos]
    if all(bools):
        raise RuntimeError("Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or "
                           "`logical_xor()` operator instead.")
    if any(bools):
        raise RuntimeError("Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to "
                           "invert a mask, use the `~` or `logical_not()` operator instead.")
    return promote(infos)


sub = op("sub(input: Number, other, *, alpha=1)", "subtract", rule=_no_bool, inplace=True, flops=_count,
         vjp={"input": lambda g: g, "other": lambda g, alpha: -g if alpha == 1 else g * -cj(alpha)})


@composite("rsub(input, other, *, alpha=1)", out=False)
def rsub(input, other, alpha):
    """other - alpha * input."""
    if not isinstance(input, Tensor):
        raise TypeError(f"rsub(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}")
    return sub(other, input, alpha=alpha)


alias("subtract", sub)

mul = op("mul(input, other)", "multiply", rule=promote, inplace=True, flops=_count,
         vjp={"input": lambda g, other: g * cj(other), "other": lambda g, input: g * cj(input)})
alias("multiply", mul)

addcmul = op(
    "addcmul(input, tensor1, tensor2, *, value=1)",
    "addcmul",
    rule=rules.refuse("bool", "addcmul_cpu_out", promote),
    inplace=True,
    amp=_WIDEST,
    vjp={
        "input": lambda g: g,
        "tensor1": lambda g, tensor2, value: g * cj(_scaled(tensor2, value)),
        "tensor2": lambda g, tensor1, value: g * cj(_scaled(tensor1, value)),
    },
)


def _whole_addcdiv(infos):
    if all(d.category < 2 for d, _ in infos[1:]):
        raise RuntimeError(
            "Integer division with addcdiv is no longer supported, and in a future  release addcdiv will "
            "perform a true division of tensor1 and tensor2."
        )
    return promote(infos)


addcdiv = op("addcdiv(input, tensor1, tensor2, *, value=1)", "addcdiv", rule=_whole_addcdiv, inplace=True, amp=_WIDEST,
             vjp={"input": lambda g: g, "tensor1": lambda g, tensor2, value: g * cj(value / tensor2),
                  "tensor2": lambda g, tensor1, tensor2, value:
                      -g * cj(_scaled(tensor1, value) / (tensor2 * tensor2))})


def _scaled(t, value):
    return t if value == 1 else t * value


def _lerp_rule(infos):
    first = infos[0][0]
    if first.category < 2:
        raise NotImplementedError(f"\"lerp_kernel_tensor\" not implemented for '{rules.dt.scalar_name(first)}'")
    for (d, _), name in zip(infos[1:], ("end", "weight")):
        if d is not first and not (name == "weight" and infos[2][1] < 2):
            raise RuntimeError(f"expected dtype {rules._cpp(first)} for `{name}` but got dtype {rules._cpp(d)}")
    return [None, None, first]


lerp = op("lerp(input, end, weight)", "lerp", rule=_lerp_rule, inplace=True,
          vjp={"input": lambda g, weight: g * cj(1 - weight), "end": lambda g, weight: g * cj(weight),
               "weight": lambda g, input, end: g * (end - input).conj()})

# ---- division

true_divide = op("true_divide(input: Number, other)", "true_divide", rule=float_promote, inplace=True, node="Div",
                 vjp={"input": lambda g, other: g / cj(other),
                      "other": lambda g, input, other: -g * cj(input / other / other)})


def _nothing(g):
    return g.new_zeros(g.shape)


_floor_divide = op(
    "floor_divide(input: Number, other)",
    "floor_divide",
    rule=rules.refuse("bool complex", "div_floor_cpu", promote),
    inplace=True,
    vjp={"input": _nothing, "other": _nothing},
)
floor_divide = _floor_divide
_trunc_divide = op(
    "_trunc_divide(input: Number, other)",
    "trunc_divide",
    rule=rules.refuse("bool complex", "div_trunc_cpu", promote),
    inplace=True,
    node="Div",
    vjp={"input": _nothing, "other": _nothing},
)


def _divider(rounding_mode, suffix=""):
    name = {None: "true_divide", "floor": "floor_divide", "trunc": "_trunc_divide"}.get(rounding_mode)
    if name is None:
        raise RuntimeError("div expected rounding_mode to be one of None, 'trunc', or 'floor' but found "
                           f"'{rounding_mode}'")
    return OPS[name].inplace_function if suffix else OPS[name].function


@composite("div(input, other, *, rounding_mode=None)", inplace=True)
def div(input, other, rounding_mode):
    """input / other: exact, or rounded down ("floor") or towards zero ("trunc")."""
    if rounding_mode is None:
        return true_divide(input, other)
    return _divider(rounding_mode)(input, other)


def div_(input, other, *, rounding_mode=None):
    """In-place version of :func:`div`."""
    return _divider(rounding_mode, "_")(input, other)


OPS["div"].inplace_function = div_
alias("divide", div)

remainder = op(
    "remainder(input: Number, other)",
    "remainder",
    rule=rules.refuse("bool complex", "remainder_cpu", promote),
    inplace=True,
    vjp={"input": lambda g: g, "other": lambda g, input, other: -g * floor_divide(input, other)},
)
fmod = op("fmod(input, other)", "fmod", rule=rules.refuse("bool complex", "fmod_cpu", promote), inplace=True,
          vjp={"input": lambda g: g, "other": lambda g, input, other: -g * _trunc_divide(input, other)})

# ---- powers and logarithms of two operands


def _pow_input(g, input, exponent):
    if isinstance(exponent, Tensor):
        slope = exponent * input.pow(exponent - 1)
        return g * where(exponent == 0, slope.new_zeros(()), slope).conj()
    if exponent == 0:
        return _nothing(g)
    if exponent == 2:
        return g * (input * 2).conj()
    return g * (input.pow(exponent - 1) * exponent).conj()


def _pow_exponent(g, input, exponent, out):
    if not isinstance(input, Tensor):
        import cmath
        if input == 0:
            return where(exponent == 0 if exponent.is_complex() else exponent >= 0, g.new_zeros(()),
                         g * (out * -math.inf).conj())
        logarithm = cmath.log(input)
        return g * (out * (logarithm if out.is_complex() else logarithm.real if input > 0 else math.nan)).conj()
    if exponent.is_complex():
        zero = (input == 0) & (exponent.real >= 0)
    else:
        zero = (input == 0) & (exponent >= 0)
    return g * where(zero, out.new_zeros(()), out * input.to(out.dtype).log()).conj()


def _whole_powers(input, exponent):
    if type(exponent) is int and exponent < 0 and isinstance(input, Tensor) and input.dtype.category == 1:
        raise RuntimeError("Integers to negative integer powers are not allowed.")


pow = op(
    "pow(input: Number, exponent)",
    "power",
    check=_whole_powers,
    rule=rules.refuse("bool", "pow", promote),
    inplace=True,
    amp=_FP32,
    vjp={"input": _pow_input, "exponent": _pow_exponent},
)


@composite("float_power(input, exponent)", inplace=True)
def float_power(input, exponent):
    """input ** exponent in double precision."""
    from ..core import dtype as dt
    operands = [v for v in (input, exponent)]
    if not any(isinstance(v, Tensor) for v in operands):
        raise TypeError("float_power(): argument 'input' (position 1) must be Tensor, not " + type(input).__name__)
    is_complex = any(isinstance(v, complex) or isinstance(v, Tensor) and v.is_complex() for v in operands)
    target = dt.complex128 if is_complex else dt.float64
    base, exponent = (v.to(target) if isinstance(v, Tensor) else v for v in operands)
    if not isinstance(base, Tensor):
        base = complex(base) if is_complex else float(base)
    elif not isinstance(exponent, Tensor):
        exponent = complex(exponent) if is_complex else float(exponent)
    return pow(base, exponent)


def float_power_(input, exponent):
    """In-place version of :func:`float_power`. Raises RuntimeError unless the input is of double precision."""
    complex_ = (
        input.is_complex()
        or isinstance(exponent, complex)
        or isinstance(exponent, Tensor)
        and exponent.is_complex()
    )
    needed = rules.dt.complex128 if complex_ else rules.dt.float64
    if input.dtype is not needed:
        raise RuntimeError(f"the base given to float_power_ has dtype {rules.dt.scalar_name(input.dtype)} but the "
                           f"operation's result requires dtype {rules.dt.scalar_name(needed)}")
    return OPS["pow"].inplace_function(input, exponent.to(needed) if isinstance(exponent, Tensor) else exponent)


OPS["float_power"].inplace_function = float_power_
logaddexp = op(
    "logaddexp(input, other)",
    "logaddexp_any",
    check=both("logaddexp"),
    rule=rules.refuse("bool int", "logaddexp_cpu", promote),
    vjp={
        "input": lambda g, input, other: g / (1 + (other - input).exp()).conj(),
        "other": lambda g, input, other: g / (1 + (input - other).exp()).conj(),
    },
)
logaddexp2 = op(
    "logaddexp2(input, other)",
    "logaddexp2",
    check=both("logaddexp2"),
    rule=rules.refuse("bool int complex", "logaddexp2_cpu", promote),
    vjp={
        "input": lambda g, input, other: g / (1 + (other - input).exp2()),
        "other": lambda g, input, other: g / (1 + (input - other).exp2()),
    },
)
xlogy = op(
    "xlogy(input: Number, other)",
    "xlogy",
    rule=rules.refuse("complex", "xlogy_cpu", float_promote),
    inplace=True,
    on="torch method special",
    vjp={
        "input": lambda g, input, other: xlogy(g, other).masked_fill((input == 0) & (other <= 0), 0),
        "other": lambda g, input, other: g * input / other,
    },
)


@composite("ldexp(input, other)", inplace=True)
def ldexp(input, other):
    """input * 2 ** other."""
    both("ldexp")(input, other)
    factor = pow(2.0, other)
    return mul(input, factor.to(input.dtype) if other.dtype.category < 2 and input.is_floating_point() else factor)


# ---- choice

_where = op("_where(condition, input: Number, other: Number)", "where", rule=rules.after_first, node="Where",
            vjp={"input": lambda g, condition: _where(condition, g, 0),
                 "other": lambda g, condition: _where(condition, 0, g)})


@composite("where(condition, input=None, other=None)", on="torch")
def where(condition, input, other):
    """input where the condition holds, else other; with the condition alone, nonzero(as_tuple=True)."""
    if input is None and other is None:
        return condition.nonzero(as_tuple=True)
    if condition.dtype.category and condition.dtype.name != "uint8":
        raise RuntimeError("where expected condition to be a boolean tensor, but got a tensor with dtype "
                           f"{rules.dt.scalar_name(condition.dtype)}")
    return _where(condition, input, other)


def where_method(self, condition, other):
    """self where the condition holds, else other.

    https://docs.pytorch.org/docs/stable/generated/torch.Tensor.where.html
    """
    return where(condition, self, other)


Tensor.where = where_method

masked_fill = op("masked_fill(input, mask, value)", "masked_fill", inplace=True, out=False,
                 vjp={"input": lambda g, mask: g.masked_fill(mask, 0),
                      "value": lambda g, mask: _where(mask, g, 0).sum()}, check=lambda input, mask, value:
                 _check_fill(input, mask, value))


def _check_fill(input, mask, value):
    if mask.dtype.name != "bool":
        raise RuntimeError("masked_fill only supports boolean masks, but got mask with dtype "
                           f"{rules._cpp(mask.dtype)}")
    if isinstance(value, Tensor):
        if value.dim():
            raise RuntimeError("masked_fill only supports a 0-dimensional value tensor, but got tensor with "
                               f"{value.dim()} dimension(s).")
        if value.is_complex() and not input.is_complex():
            raise RuntimeError("value cannot be converted to type at::Half without overflow")
    elif isinstance(value, complex) and not input.is_complex():
        raise RuntimeError(f"value cannot be converted to type {rules._cpp(input.dtype)} without overflow")
