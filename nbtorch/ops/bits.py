"""Bits, logic, and tests of single elements."""
from ..core import dtype as dt
from ..core.op import composite, op
from . import rules
from .pointwise import both
from .rules import bits, promote

bitwise_and = op("bitwise_and(input: Number, other)", "bitwise_and", rule=bits, inplace=True)
bitwise_or = op("bitwise_or(input: Number, other)", "bitwise_or", rule=bits, inplace=True)
bitwise_xor = op("bitwise_xor(input: Number, other)", "bitwise_xor", rule=bits, inplace=True)


def _invertible(infos):
    if infos[0][0].category >= 2:
        raise NotImplementedError(f"\"bitwise_not_cpu\" not implemented for '{dt.scalar_name(infos[0][0])}'")
    return [None]


def _shift_rule(infos):
    target = rules.common(infos)
    if target.category != 1:
        raise NotImplementedError(f"\"shift_cpu\" not implemented for '{dt.scalar_name(target)}'")
    return [target] * len(infos)


bitwise_not = op("bitwise_not(input)", "invert", rule=_invertible, inplace=True)
bitwise_left_shift = op("bitwise_left_shift(input: Number, other)", "left_shift", rule=_shift_rule, inplace=True)
bitwise_right_shift = op("bitwise_right_shift(input: Number, other)", "right_shift", rule=_shift_rule, inplace=True)


def _whole(name):
    def rule(infos):
        target = rules.common(infos)
        if target.category != 1:
            raise NotImplementedError(f"\"{name}_cpu\" not implemented for '{dt.scalar_name(target)}'")
        return [target] * len(infos)
    return rule


gcd = op("gcd(input, other)", "gcd", check=both("gcd"), rule=_whole("gcd"), inplace=True)
lcm = op("lcm(input, other)", "lcm_abs", check=both("lcm"), rule=_whole("lcm"), inplace=True)

logical_and = op("logical_and(input, other)", "logical_and", check=both("logical_and"), rule=promote, inplace=True)
logical_or = op("logical_or(input, other)", "logical_or", check=both("logical_or"), rule=promote, inplace=True)
logical_xor = op("logical_xor(input, other)", "logical_xor", check=both("logical_xor"), rule=promote, inplace=True)
logical_not = op("logical_not(input)", "logical_not", inplace=True)

isnan = op("isnan(input)", "isnan", out=False)
isinf = op("isinf(input)", "isinf", out=False)
isfinite = op("isfinite(input)", "isfinite", out=False)
isreal = op("isreal(input)", "isreal", out=False)


def _ordered(name):
    def rule(infos):
        if infos[0][0].is_complex:
            raise RuntimeError(f"{name} does not support complex inputs.")
        return [None]
    return rule


isposinf = op("isposinf(input)", "isposinf", rule=_ordered("isposinf"))
isneginf = op("isneginf(input)", "isneginf", rule=_ordered("isneginf"))
signbit = op("signbit(input)", "signbit_any", rule=_ordered("signbit"))


@composite("is_nonzero(input)", out=False)
def is_nonzero(input):
    """Whether the single element is not zero. Raises RuntimeError for other sizes."""
    if input.numel() == 0:
        raise RuntimeError("Boolean value of Tensor with no values is ambiguous")
    return bool(input)
