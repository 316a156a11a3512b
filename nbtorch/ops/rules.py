"""Dtype rules: what the tensor arguments of an op are cast to before its kernel runs.

A rule takes `infos`, one (dtype, rank) per tensor argument present (rank 2: has dimensions, 1: 0-d tensor, 0: Python
number) and returns one target dtype (or None: leave it) per argument. Results are cached per pattern by the door.
https://docs.pytorch.org/docs/stable/tensor_attributes.html#type-promotion-doc
"""
import math

from ..core import dtype as dt
from ..core.dtype import get_default_dtype

_FLOATS = {"float16": 0, "bfloat16": 0, "float32": 1, "float64": 2}


def _promote_ints(a, b):
    if a.is_signed == b.is_signed:
        return a if a.itemsize >= b.itemsize else b
    signed, unsigned = (a, b) if a.is_signed else (b, a)
    if unsigned is not dt.uint8:
        raise RuntimeError("Promotion for uint16, uint32, uint64 types is not supported, attempted to promote "
                           f"{dt.scalar_name(a)} and {dt.scalar_name(b)}")
    return dt.int16 if signed is dt.int8 else signed


def _promote_floats(a, b):
    if a is b:
        return a
    if _FLOATS[a.name] == _FLOATS[b.name]:
        return dt.float32                         # float16 with bfloat16: neither holds the other
    return a if _FLOATS[a.name] > _FLOATS[b.name] else b


def promote_types(type1, type2):
    """The smallest dtype both arguments can be cast to without losing their category.

    https://docs.pytorch.org/docs/stable/generated/torch.promote_types.html
    """
    a, b = type1, type2
    if a is b:
        return a
    if a.category != b.category:
        low, high = (a, b) if a.category < b.category else (b, a)
        if high is dt.complex64 and low is dt.float64:
            return dt.complex128
        return high
    if a.category == 1:
        return _promote_ints(a, b)
    if a.category == 2:
        return _promote_floats(a, b)
    return dt.complex128


def _combine(higher, lower):
    """A higher-priority group decides the precision, a lower one only raises the category."""
    if higher is None or lower is None:
        return higher or lower
    if higher.is_complex:
        return higher
    if higher.is_floating_point:
        return higher.to_complex() if lower.is_complex else higher
    if higher is dt.bool_ or lower.category >= 2:
        return promote_types(higher, lower)
    return higher


def common(infos):
    """PyTorch's result type of several operands: tensors with dimensions before 0-d tensors before numbers."""
    groups = [None, None, None]
    for d, rank in infos:
        if rank == 0 and d.is_complex:
            d = get_default_dtype().to_complex()
        elif rank == 0 and d.is_floating_point:
            d = get_default_dtype()
        groups[rank] = d if groups[rank] is None else promote_types(groups[rank], d)
    return _combine(groups[2], _combine(groups[1], groups[0]))


def same(infos):
    """No casts."""
    return [None] * len(infos)


def promote(infos):
    """Everything to the common dtype."""
    return [common(infos)] * len(infos)


def _at_least_float(d):
    return d if d.category >= 2 else get_default_dtype()


def float_promote(infos):
    """Everything to the common dtype, whole numbers and bool to the default dtype."""
    return [_at_least_float(common(infos))] * len(infos)


def float_like(infos):
    """Each argument by itself: whole numbers and bool to the default dtype."""
    return [_at_least_float(d) if d.category < 2 else None for d, _ in infos]


def int_widen(infos):
    """Each argument by itself: bool and whole numbers to int64."""
    return [dt.int64 if d.category < 2 else None for d, _ in infos]


def first(infos):
    """Everything to the dtype of the first argument."""
    return [None] + [infos[0][0]] * (len(infos) - 1)


def after_first(infos):
    """The first argument as it is (a condition), the others to their common dtype."""
    return [None, *promote(infos[1:])]


def like_first_except(*kept):
    """The arguments at the given positions as they are (indices, masks), the others to the dtype of the first."""
    def rule(infos):
        return [None if i == 0 or i in kept else infos[0][0] for i in range(len(infos))]
    return rule


def promote_except(*kept):
    """The arguments at the given positions as they are, the others to their common dtype."""
    def rule(infos):
        target = common([info for i, info in enumerate(infos) if i not in kept])
        return [None if i in kept else target for i in range(len(infos))]
    return rule


def refuse(kinds, kernel, rule=None):
    """A rule that raises what PyTorch raises when its kernel has no loop for a dtype, else does as `rule` says.

    kinds: words among bool, int, float, complex; the dtype judged is the common one after the rule's casts.
    """
    refused = {("bool", "int", "float", "complex").index(kind) for kind in kinds.split()}

    def checked(infos):
        targets = [None] * len(infos) if rule is None else rule(infos)
        found = common([(t or d, rank) for t, (d, rank) in zip(targets, infos)])
        if found.category in refused:
            raise NotImplementedError(f"\"{kernel}\" not implemented for '{dt.scalar_name(found)}'")
        return targets
    return checked


def bits(infos):
    """Common dtype of bool and whole-number operands. Raises for floats, as bitwise ops do."""
    target = common(infos)
    if target.category >= 2:
        raise NotImplementedError(f"\"bitwise_cpu\" not implemented for '{dt.scalar_name(target)}'")
    return [target] * len(infos)


def must_match(name):
    """A rule for matrix products: the dtypes must be equal already."""
    def rule(infos):
        found = {d for d, _ in infos}
        if dt.bool_ in found:
            kernel = {"mm": "addmm_impl_cpu_", "mv": "addmv_impl_cpu"}.get(name, name)
            raise NotImplementedError(f"\"{kernel}\" not implemented for 'Bool'")
        if len(found) > 1:
            a, b = infos[-2][0], infos[-1][0]
            if a is b:
                a = infos[0][0]
            raise RuntimeError(f"expected m1 and m2 to have the same dtype, but got: {_cpp(a)} != {_cpp(b)}"
                               if name == "mm" else
                               f"expected scalar type {dt.scalar_name(a)} but found {dt.scalar_name(b)}")
        return [None] * len(infos)
    return rule


_CPP = {"float32": "float", "float64": "double", "float16": "c10::Half", "bfloat16": "c10::BFloat16",
        "int64": "long long", "int32": "int", "int16": "short", "int8": "signed char", "uint8": "unsigned char",
        "bool": "bool", "complex64": "c10::complex<float>", "complex128": "c10::complex<double>"}


def _cpp(d):
    return _CPP.get(d.name, d.name)


_C_INTEGERS = {"uint8": "uint8_t", "int8": "int8_t", "int16": "int16_t", "int32": "int", "int64": "int64_t"}


def check_fits(value, dtype):
    """Raise PyTorch's error if a Python number cannot be stored as `dtype`."""
    name, known = dtype.name, type(value) in (bool, int, float, complex)
    if not known or name == "bool":
        return
    if dtype.category < 3 and type(value) is complex:
        fits, value = value.imag == 0, value.real
        name = "float64" if not fits and name in ("float16", "bfloat16") else name
    else:
        fits = True
    if dtype.category == 1:
        info, whole = dt.iinfo(dtype), type(value) is not float
        low = info.min if dtype.is_signed else -info.max if whole else 0      # negative integers wrap around, as in C
        fits = fits and low <= value <= info.max                              # never true of NaN
    elif name in ("float32", "complex64"):
        high = dt.finfo(dt.BY_NAME["float32"]).max
        parts = (value.real, value.imag) if type(value) is complex else (value,)
        fits = fits and not any(high < abs(x) < math.inf for x in parts)
    if not fits:
        raise RuntimeError(f"value cannot be converted to type {_C_INTEGERS.get(name) or _cpp(dt.BY_NAME[name])} without "
                           "overflow")


def _operand(value):
    if isinstance(value, (bool, int, float, complex)):
        return dt.from_python(value), 0
    return value.dtype, 2 if value.dim() else 1


def result_type(tensor1, tensor2):
    """The dtype an arithmetic op on the two operands (tensors or Python numbers) gives.

    https://docs.pytorch.org/docs/stable/generated/torch.result_type.html
    """
    return common([_operand(tensor1), _operand(tensor2)])


def can_cast(from_, to):
    """Whether PyTorch's casting rules allow `from_` to be stored as `to`: no smaller category.

    https://docs.pytorch.org/docs/stable/generated/torch.can_cast.html
    """
    return to.category >= from_.category
