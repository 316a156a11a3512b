"""Data types, as PyTorch names them."""
from ..backend import dtypes as backend_dtypes

CATEGORY = {"bool": 0, "int": 1, "float": 2, "complex": 3}
LONG_NAMES = {"float32": "float", "float64": "double", "float16": "half", "int64": "long", "int32": "int",
              "int16": "short", "int8": "int8", "uint8": "uint8", "bool": "bool", "bfloat16": "bfloat16",
              "complex64": "cfloat", "complex128": "cdouble"}


class dtype:
    """A tensor data type such as `torch.float32`. Compared by identity; there is one object per type.

    https://docs.pytorch.org/docs/stable/tensor_attributes.html#torch.dtype
    """

    __slots__ = ("name", "code", "itemsize", "category", "is_floating_point", "is_complex", "is_signed")

    def __init__(self, name, code):
        self.name, self.code = name, code
        kind = name.rstrip("0123456789")
        self.itemsize = 1 if name == "bool" else int(name[len(kind):]) // 8
        kind = {"bfloat": "float", "uint": "int"}.get(kind, kind)
        self.category = CATEGORY[kind]
        self.is_floating_point, self.is_complex = kind == "float", kind == "complex"
        self.is_signed = name != "bool" and not name.startswith("uint")

    def __repr__(self):
        return f"torch.{self.name}"

    def __reduce__(self):
        return _by_name, (self.name,)

    def to_real(self):
        """The real dtype of the same precision."""
        return {"complex64": float32, "complex128": float64}.get(self.name, self)

    def to_complex(self):
        """The complex dtype of the same precision."""
        return {"float64": complex128, "float32": complex64, "float16": complex64, "bfloat16": complex64}.get(self.name, self)


DTYPES = tuple(dtype(name, code) for code, name in enumerate(backend_dtypes.NAMES))
BY_NAME = {d.name: d for d in DTYPES}
(bool_, uint8, int8, int16, int32, int64, float16, bfloat16, float32, float64,
 complex64, complex128, uint16, uint32, uint64) = DTYPES
ALIASES = {"half": float16, "float": float32, "double": float64, "short": int16, "int": int32, "long": int64,
           "cfloat": complex64, "cdouble": complex128}
SCALAR_NAMES = {"bool": "Bool", "uint8": "Byte", "int8": "Char", "int16": "Short", "int32": "Int", "int64": "Long",
                "float16": "Half", "bfloat16": "BFloat16", "float32": "Float", "float64": "Double",
                "complex64": "ComplexFloat", "complex128": "ComplexDouble",
                "uint16": "UInt16", "uint32": "UInt32", "uint64": "UInt64"}       # as error messages spell them


PYTHON_TYPES = {bool: bool_, int: int64, float: float64, complex: complex128}


def as_dtype(value, name):
    """The dtype a caller of `name` means: one of ours, or Python's bool, int, float, complex. Raises TypeError."""
    found = value if type(value) is dtype else PYTHON_TYPES.get(value) if type(value) is type else None
    if found is None:
        what = value.__name__ if type(value) is type else type(value).__name__
        raise TypeError(f"{name}(): argument 'dtype' must be torch.dtype, not {what}")
    return found


def _by_name(name):
    return BY_NAME[name]


def scalar_name(d):
    """`Float` for float32: the spelling of PyTorch's error messages and legacy tensor types."""
    return SCALAR_NAMES[d.name]


class _Default:
    __slots__ = ("value",)


_default = _Default()
_default.value = float32


def get_default_dtype():
    """The dtype given to Python floats. https://docs.pytorch.org/docs/stable/generated/torch.get_default_dtype.html"""
    return _default.value


def set_default_dtype(d):
    """Set the dtype given to Python floats. Raises TypeError unless `d` is a floating dtype."""
    if not isinstance(d, dtype):
        raise TypeError(f"invalid dtype object: {d!r}")
    if not d.is_floating_point:
        raise TypeError("only floating-point types are supported as the default type")
    _default.value = d


def from_python(value):
    """The dtype a Python number gets: bool, int64, the default dtype, or its complex counterpart."""
    if isinstance(value, bool):
        return bool_
    if isinstance(value, int):
        return int64
    if isinstance(value, float):
        return get_default_dtype()
    return get_default_dtype().to_complex()


class finfo:
    """Numerical limits of a floating dtype: bits, eps, max, min, tiny, smallest_normal, resolution, dtype."""

    def __init__(self, type=None):
        d = get_default_dtype() if type is None else type
        if not (d.is_floating_point or d.is_complex):
            raise TypeError(f"torch.finfo() requires a floating point input type. Use torch.iinfo to handle '{d!r}'")
        d = d.to_real()
        bits, mantissa, exponent = {"float16": (16, 10, 5), "bfloat16": (16, 7, 8), "float32": (32, 23, 8),
                                    "float64": (64, 52, 11)}[d.name]
        top = 2.0 ** (2 ** (exponent - 1) - 1)
        self.bits, self.dtype, self.eps = bits, d.name, 2.0 ** -mantissa
        self.max = top * (2.0 - self.eps)
        self.min = -self.max
        self.tiny = self.smallest_normal = 2.0 ** (2 - 2 ** (exponent - 1))
        self.resolution = {"float16": 1e-3, "bfloat16": 1e-2, "float32": 1e-6, "float64": 1e-15}[d.name]

    def __repr__(self):
        return (f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, eps={self.eps:g}, "
                f"smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, dtype={self.dtype})")


class iinfo:
    """Numerical limits of an integer dtype: bits, max, min, dtype."""

    def __init__(self, type):
        if type.category != 1:
            raise TypeError(f"torch.iinfo() requires an integer input type. Use torch.finfo to handle '{type!r}'")
        self.bits, self.dtype = type.itemsize * 8, type.name
        self.max = 2 ** (self.bits - type.is_signed) - 1
        self.min = -2 ** (self.bits - 1) if type.is_signed else 0

    def __repr__(self):
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"
