"""From records to the public surface: Tensor methods, in-place methods, operators and namespaces."""
from ..core.op import ALIASES, OPS
from ..core.tensor import Tensor

OPERATORS = {
    "__add__": "add", "__sub__": "sub", "__mul__": "mul", "__truediv__": "div", "__floordiv__": "floor_divide",
    "__mod__": "remainder", "__pow__": "pow", "__matmul__": "matmul", "__and__": "bitwise_and", "__or__": "bitwise_or",
    "__xor__": "bitwise_xor", "__lshift__": "bitwise_left_shift", "__rshift__": "bitwise_right_shift",
    "__eq__": "eq", "__ne__": "ne", "__lt__": "lt", "__le__": "le", "__gt__": "gt", "__ge__": "ge",
}
REFLECTED = {"__radd__": "add", "__rmul__": "mul", "__rand__": "bitwise_and", "__ror__": "bitwise_or",
             "__rxor__": "bitwise_xor"}               # commutative: the tensor may stand first
SWAPPED = {"__rsub__": "sub", "__rtruediv__": "div", "__rdiv__": "div",
           "__rfloordiv__": "floor_divide", "__rmod__": "remainder",
           "__rpow__": "pow", "__rmatmul__": "matmul", "__rlshift__": "bitwise_left_shift",
           "__rrshift__": "bitwise_right_shift"}
INPLACE = {"__iadd__": "add", "__isub__": "sub", "__imul__": "mul", "__itruediv__": "div",
           "__ifloordiv__": "floor_divide", "__imod__": "remainder", "__ipow__": "pow", "__iand__": "bitwise_and",
           "__ior__": "bitwise_or", "__ixor__": "bitwise_xor", "__ilshift__": "bitwise_left_shift",
           "__irshift__": "bitwise_right_shift"}
UNARY = {"__neg__": "neg", "__abs__": "abs", "__invert__": "bitwise_not", "__pos__": "positive"}
PROPERTIES = ("T", "mT", "H", "mH", "real", "imag")
OPERANDS = (Tensor, int, float, complex)


def _binary(function):
    def operator(self, other):
        if isinstance(other, OPERANDS):
            return function(self, other)
        other = _operand(other)
        return NotImplemented if other is None else function(self, other)
    return _dress(operator, function)


def _swapped(function):
    def operator(self, other):
        if not isinstance(other, OPERANDS):
            other = _operand(other)
            if other is None:
                return NotImplemented
        return function(other, self)              # a number stays one: as a float32 tensor it would lose digits
    return _dress(operator, function)


def _operand(other):
    """NumPy scalars and arrays as operands; None for anything else."""
    if hasattr(other, "__array__") or hasattr(other, "__array_interface__"):
        from ..core.interop import as_tensor
        return as_tensor(other)
    return None


def _compare(function):
    def operator(self, other):
        if not isinstance(other, OPERANDS):
            other = _operand(other)
            if other is None:
                return NotImplemented
        return function(self, other)
    return _dress(operator, function)


def _dress(operator, function):
    operator.__doc__ = function.__doc__
    return operator


def _in_namespace(record, namespace):
    return namespace in record.on


def public(namespace):
    """{name: function} of a namespace: torch, F, linalg, fft, special."""
    found = {r.public: r.function for r in OPS.values() if _in_namespace(r, namespace)}
    if namespace in ("torch", "F"):
        for r in OPS.values():
            if r.inplace_function and _in_namespace(r, namespace):
                found[r.public + "_"] = r.inplace_function
    for name, function in ALIASES.items():
        if _in_namespace(function.op, namespace):
            found[name] = function
    return found


def every():
    """{name: function} of every record, private ones and in-place forms included."""
    found = {}
    for r in OPS.values():
        found[r.name] = r.function
        if r.inplace_function:
            found[r.inplace_function.__name__] = r.inplace_function
    found.update(ALIASES)
    return found


def bind_methods():
    """Give Tensor its methods and operators."""
    for r in OPS.values():
        if "method" in r.on and r.public not in PROPERTIES:    # properties are bound below
            setattr(Tensor, r.public, r.function)
        if r.inplace_function:
            setattr(Tensor, r.inplace_function.__name__, r.inplace_function)
    for name, function in ALIASES.items():
        if "method" in function.op.on:
            setattr(Tensor, name, function)
        if function.op.inplace_function:
            setattr(Tensor, name + "_", function.op.inplace_function)
    for dunder, name in OPERATORS.items():
        if name in OPS:
            function = OPS[name].function
            setattr(Tensor, dunder, _compare(function) if dunder in ("__eq__", "__ne__") else _binary(function))
    for table, make in ((REFLECTED, _binary), (SWAPPED, _swapped)):
        for dunder, name in table.items():
            if name in OPS:
                setattr(Tensor, dunder, make(OPS[name].function))
    for dunder, name in INPLACE.items():
        if name in OPS and OPS[name].inplace_function:
            setattr(Tensor, dunder, _binary(OPS[name].inplace_function))
    for dunder, name in UNARY.items():
        if name in OPS:
            setattr(Tensor, dunder, OPS[name].function)
    for name in PROPERTIES:
        if name in OPS:
            setattr(Tensor, name, property(OPS[name].function, doc=OPS[name].doc))


def bind_plain():
    """Methods that are no ops: conversions, indexing."""
    from . import assign, index
    for name, function in assign.CASTERS.items():
        setattr(Tensor, name, function)
    for name in ("to", "type_as", "cpu", "cuda"):
        setattr(Tensor, name, getattr(assign, name))
    Tensor.type = assign.tensor_type
    Tensor.__getitem__, Tensor.__setitem__ = index.getitem, index.setitem
