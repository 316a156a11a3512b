"""Copies, conversions and writes: clone, copy_, fill_, zero_, to and the dtype and device methods."""
from ..core.device import CPU, contiguous_format, device, device_of, memory_format, preserve_format
from ..core.dtype import ALIASES, BY_NAME, DTYPES, as_dtype, dtype as dtype_class
from ..core.op import OPS, composite, op
from ..core.tensor import Tensor
from .rules import check_fits

clone = op("clone(input, *, memory_format=None)", "clone", out=False, vjp={"input": lambda g: g})
copy = op("copy(input, src: Number, non_blocking: bool=False)", "copy", on="none", inplace=True, node="Copy",
          vjp={"input": lambda g: _zeros(g), "src": lambda g: g})
fill = op("fill(input, value: Number)", "fill", inplace="constant", node="Fill",
          check=lambda input, value: check_fits(value, input.dtype),
          vjp={"input": lambda g: _zeros(g), "value": lambda g: g.sum()})
zero = op("zero(input)", "zero", on="none", inplace="constant", node="Zero", vjp={"input": lambda g: _zeros(g)})
_to_copy = op("_to_copy(input, dtype=None, device=None, memory_format=None)", "to_copy", node="ToCopy",
              vjp={"input": lambda g: g})
_sum_to = op("_sum_to(input, shape: tuple)", "sum_to", node="Sum", vjp={"input": lambda g, input_shape: g.expand(input_shape)})
_full_like_value = op("_full_like_value(input, value: float)", "full_like_value")


def _zeros(g):
    return _full_like_value(g, 0)


_conj_physical = op("conj_physical(input)", "conj", inplace=True, vjp={"input": lambda g: g.conj()})


@composite("_zeros_of(shape: tuple, key: int)", on="none")
def _zeros_of(shape, key):
    return OPS["zeros"].function(*shape, dtype=DTYPES[key >> 1 & 31]) if shape else OPS["zeros"].function(
        (), dtype=DTYPES[key >> 1 & 31])


@composite("conj(input)", out=False)
def conj(input):
    """The complex conjugate; a real tensor itself."""
    return _conj_physical(input) if input.dtype.is_complex else input


@composite("resolve_conj(input)", out=False)
def resolve_conj(input):
    """The tensor itself: conjugates are always materialised here."""
    return input


@composite("resolve_neg(input)", out=False)
def resolve_neg(input):
    """The tensor itself: negations are always materialised here."""
    return input


@composite("contiguous(input, memory_format=None)", on="method")
def contiguous(input, memory_format):
    """The tensor itself when its elements are in order in memory, else a copy in order."""
    if input.is_contiguous(memory_format):
        return input
    return clone(input, memory_format=memory_format or contiguous_format)


def _parse_to(args, kwargs):
    """dtype, device, copy of the many forms of `Tensor.to`."""
    dtype, where, copy_, rest = kwargs.pop("dtype", None), kwargs.pop("device", None), kwargs.pop("copy", False), []
    kwargs.pop("non_blocking", None)
    form, other = kwargs.pop("memory_format", None), kwargs.pop("other", None)
    if kwargs:
        raise TypeError(f"to() received an invalid combination of arguments: unexpected {', '.join(sorted(kwargs))}")
    for a in args:
        if isinstance(a, dtype_class):
            dtype = a
        elif isinstance(a, Tensor):
            other = a
        elif isinstance(a, type):
            dtype = a
        elif isinstance(a, memory_format):
            form = a
        elif isinstance(a, bool):
            rest.append(a)
        elif isinstance(a, (str, device)) or isinstance(a, int):
            where = device_of(a)
        elif a is not None:
            raise TypeError(f"to() received an invalid combination of arguments - got ({type(a).__name__})")
    if other is not None:
        dtype, where = other.dtype, other.device
    dtype = None if dtype is None else as_dtype(dtype, "to")
    return dtype, None if where is None else device_of(where), copy_ or (len(rest) > 1 and rest[1]), form


def to(self, *args, **kwargs):
    """The tensor in another dtype and/or on another device; itself when nothing changes and copy is False.

    https://docs.pytorch.org/docs/stable/generated/torch.Tensor.to.html
    """
    dtype, where, copy_, form = _parse_to(args, kwargs)
    if where is not None and where.type not in ("cpu", self.device.type):
        from ..backend.devices import require
        require(where)
    same = (dtype is None or dtype is self.dtype) and (where is None or where.type == self.device.type)
    if same and form is not None and form is not preserve_format and not self.is_contiguous(form):
        same = False
    if same and not copy_:
        return self
    return _to_copy(self, dtype, where, form)


def _caster(name):
    target = BY_NAME.get(name) or ALIASES.get(name)

    def cast(self, memory_format=None):
        return self if self.dtype is target else _to_copy(self, target, None, memory_format)
    cast.__name__, cast.__qualname__ = name, f"Tensor.{name}"
    cast.__doc__ = f"self.to({target!r})."
    return cast


CASTERS = {name: _caster(name) for name in
           ("float", "double", "half", "bfloat16", "long", "int", "short", "bool", "cfloat", "cdouble")}
CASTERS["byte"], CASTERS["char"] = _caster("uint8"), _caster("int8")


def type_as(self, other):
    """self.to(other.dtype and device)."""
    return self.to(other)


def tensor_type(self, dtype=None, non_blocking=False):
    """The legacy type name, or the tensor converted to a dtype or legacy type."""
    from ..core.dtype import scalar_name
    if dtype is None:
        return f"torch.{'cuda.' if self.is_cuda else ''}{scalar_name(self.dtype)}Tensor"
    if isinstance(dtype, str):
        name = dtype.rsplit(".", 1)[-1].removesuffix("Tensor")
        found = next((d for d in DTYPES if scalar_name(d) == name), None)
        if found is None:
            raise ValueError(f"invalid type: '{dtype}'")
        dtype = found
    return self.to(getattr(dtype, "dtype", dtype) if not isinstance(dtype, dtype_class) else dtype)


def cpu(self, memory_format=None):
    """The tensor in host memory."""
    return self.to(CPU)


def cuda(self, device=None, non_blocking=False, memory_format=None):
    """The tensor on a CUDA device. Raises when there is none."""
    return self.to(device_of("cuda" if device is None else device))
