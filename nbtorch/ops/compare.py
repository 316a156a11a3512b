"""Comparisons."""
from ..core.op import alias, composite, op
from ..core.tensor import Tensor
from . import rules
from .pointwise import both
from .rules import promote


def _ordered(name):
    def rule(infos):
        if any(d.is_complex for d, _ in infos):
            raise NotImplementedError(f"\"compare_cpu\" not implemented for 'ComplexFloat' ({name})")
        return promote(infos)
    return rule


eq = op("eq(input, other)", "equal", rule=promote, inplace=True)
ne = op("ne(input, other)", "not_equal", rule=promote, inplace=True)
lt = op("lt(input, other)", "less", rule=_ordered("lt"), inplace=True)
le = op("le(input, other)", "less_equal", rule=_ordered("le"), inplace=True)
gt = op("gt(input, other)", "greater", rule=_ordered("gt"), inplace=True)
ge = op("ge(input, other)", "greater_equal", rule=_ordered("ge"), inplace=True)
for _name, _function in (("not_equal", ne), ("less", lt), ("less_equal", le), ("greater", gt), ("greater_equal", ge)):
    alias(_name, _function)


def _one_dtype(input, other, rtol, atol, equal_nan):
    both("isclose")(input, other)
    if input.dtype is not other.dtype:
        raise RuntimeError(f"{rules.dt.scalar_name(input.dtype)} did not match {rules.dt.scalar_name(other.dtype)}")
    if rtol < 0 or atol < 0:
        name, value = ("rtol", rtol) if rtol < 0 else ("atol", atol)
        raise RuntimeError(f"{name} must be greater than or equal to zero, but got {value}")


isclose = op("isclose(input, other, rtol: float=1e-05, atol: float=1e-08, equal_nan: bool=False)", "isclose", out=False,
             check=_one_dtype)


@composite("allclose(input, other, rtol: float=1e-05, atol: float=1e-08, equal_nan: bool=False)", out=False)
def allclose(input, other, rtol, atol, equal_nan):
    """Whether every |input - other| <= atol + rtol * |other|."""
    return bool(isclose(input, other, rtol, atol, equal_nan).all())


@composite("equal(input, other)", out=False)
def equal(input, other):
    """Whether shapes and all elements are equal. Raises RuntimeError for different dtypes."""
    if not isinstance(other, Tensor):
        raise TypeError(f"equal(): argument 'other' (position 2) must be Tensor, not {type(other).__name__}")
    if input.dtype is not other.dtype:
        raise RuntimeError(f"Expected object of data type {input.dtype} but got {other.dtype} for argument 'other'")
    return input._a.shape == other._a.shape and bool(eq(input, other).all())


def _no_bool(infos):
    for d, _ in infos:
        if d.category in (0, 3):
            raise RuntimeError(f"Unsupported input type encountered for isin(): {rules.dt.scalar_name(d)}")
    return promote(infos)


isin = op("isin(elements: Number, test_elements: Number, *, assume_unique: bool=False, invert: bool=False)", "isin",
          on="torch", rule=_no_bool)
