"""Geometry of two operands, the larger and the smaller of them, and limits."""
from ..core.op import alias, composite, op
from . import rules
from .pointwise import _WIDEST, _nothing, both, where
from .rules import float_promote, promote

# ---- geometry and extremes

_atan2_scale = lambda g, input, other: (g / (input * input + other * other)).masked_fill(
    (input == 0) & (other == 0), 0
)
atan2 = op("atan2(input, other)", "arctan2", check=both("atan2"), rule=float_promote, inplace=True, amp=_WIDEST,
           vjp={"input": lambda g, input, other: _atan2_scale(g, input, other) * other,
                "other": lambda g, input, other: _atan2_scale(g, input, other) * -input})
alias("arctan2", atan2)
hypot = op(
    "hypot(input, other)",
    "hypot",
    check=both("hypot"),
    rule=rules.refuse("bool int complex", "hypot_cpu", promote),
    inplace=True,
    vjp={"input": lambda g, input, out: g * (input / out), "other": lambda g, other, out: g * (other / out)},
)
copysign = op("copysign(input, other)", "copysign", rule=float_promote, inplace=True,
              vjp={"input": lambda g, input, out: g * (out / input).masked_fill(input == 0, 0), "other": _nothing})
nextafter = op(
    "nextafter(input, other)",
    "nextafter",
    check=both("nextafter"),
    rule=rules.refuse("bool int complex", "nextafter_cpu", promote),
    inplace=True,
    vjp={"input": lambda g: g, "other": _nothing},
)


def _heaviside_rule(infos):
    if infos[0][0] is not infos[1][0]:
        raise RuntimeError("heaviside is not yet implemented for tensors with different dtypes.")
    if infos[0][0].is_complex:
        raise RuntimeError("heaviside is not yet implemented for complex tensors.")
    return [None, None]


heaviside = op("heaviside(input, values)", "heaviside_any", check=both("heaviside"), rule=_heaviside_rule, inplace=True)


def _ordered(name):
    def rule(infos):
        if any(d.is_complex for d, _ in infos):
            raise RuntimeError(f"{name} not implemented for complex tensors.")
        return promote(infos)
    return rule


def _share(g, winner, loser):
    """The gradient of a maximum: all of it where the operand won, half at a tie."""
    return where(winner, where(loser, g / 2, g), g.new_zeros(()))


maximum = op("maximum(input, other)", "maximum", check=both("maximum"), rule=_ordered("maximum"),
             vjp={"input": lambda g, input, other: _share(g, input >= other, input <= other),
                  "other": lambda g, input, other: _share(g, other >= input, other <= input)})
minimum = op("minimum(input, other)", "minimum", check=both("minimum"), rule=_ordered("minimum"),
             vjp={"input": lambda g, input, other: _share(g, input <= other, input >= other),
                  "other": lambda g, input, other: _share(g, other <= input, other >= input)})
fmax = op("fmax(input, other)", "fmax", check=both("fmax"), rule=_ordered("fmax"),
          vjp={"input": lambda g, input, other: g.masked_fill(~((input >= other) | other.isnan()), 0),
               "other": lambda g, input, other: g.masked_fill((input >= other) | other.isnan(), 0)})
fmin = op("fmin(input, other)", "fmin", check=both("fmin"), rule=_ordered("fmin"),
          vjp={"input": lambda g, input, other: g.masked_fill(~((input <= other) | other.isnan()), 0),
               "other": lambda g, input, other: g.masked_fill((input <= other) | other.isnan(), 0)})

# ---- limits


def _clamp_rule(infos):
    if any(d.is_complex for d, _ in infos):
        raise NotImplementedError("clamp is not supported for complex types")
    return rules.refuse("bool" if len(infos) == 3 else "", "clamp_cpu", promote)(infos)


_clamp_backward = op("_clamp_backward(grad, input, min: Number=None, max: Number=None)", "clamp_backward",
                     vjp={"grad": lambda g, input, min, max: _clamp_backward(g, input, min, max)})


def _below(g, input, min, max):
    under = input < min
    return g * (under if max is None else under & (min < max))


def _above(g, input, min, max):
    return g * (input > max if min is None else (input > max) | (max < min))


def _need_limit(input, min, max):
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")


clamp = op("clamp(input, min: Number=None, max: Number=None)", "clamp", rule=_clamp_rule, inplace=True,
           check=_need_limit, vjp={"input": lambda g, input, min, max: _clamp_backward(g, input, min, max),
                                   "min": _below, "max": _above})
alias("clip", clamp)


@composite("clamp_min(input, min)", inplace=True)
def clamp_min(input, min):
    """Elements, at least `min`."""
    return clamp(input, min)


@composite("clamp_max(input, max)", inplace=True)
def clamp_max(input, max):
    """Elements, at most `max`."""
    return clamp(input, None, max)
