"""How many floating point operations a call is worth, from the formula on its record."""

import inspect
from functools import cache


@cache
def _names(formula):
    return tuple(inspect.signature(formula).parameters)


def shape_of(value):
    """Shape of a tensor argument as a tuple, a list of shapes for a list, () for anything else."""
    if type(value) in (list, tuple) and value and hasattr(value[0], "_a"):
        return [shape_of(each) for each in value]
    return tuple(value.shape) if hasattr(value, "_a") else ()


def arguments(op, tensors, attrs):
    """{parameter name: value} of one call, for an op with a kernel or a composite (all parameters in one
    tuple).
    """
    if op.body is not None and not attrs:
        return {p.name: value for p, value in zip(op.signature.parameters, tensors)}
    return {**dict(zip(op.tensor_names, tensors)), **dict(zip(op.attr_names, attrs))}


def inputs(op, tensors, attrs):
    """What the formula of a call needs, as shapes and attributes; None for an op without a formula."""
    if op.flops is None:
        return None
    given = arguments(op, tensors, attrs)
    found = {}
    for name in _names(op.flops):
        if name == "out_shape":
            continue
        if name.endswith("_shape") and name[:-6] in given:
            found[name] = shape_of(given[name[:-6]])
        else:
            value = given.get(name)
            found[name] = shape_of(value) if hasattr(value, "_a") else value
    return found


def count(op, values, out):
    """FLOPs of a call, from what `inputs` kept and its result; 0 when there is no formula or no result."""
    if values is None or out is None:
        return 0
    if "out_shape" in _names(op.flops):
        first = out[0] if isinstance(out, (tuple, list)) and out else out
        values = {**values, "out_shape": shape_of(first)}
    return int(op.flops(**values))
