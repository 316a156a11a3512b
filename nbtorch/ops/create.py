"""New tensors: zeros, ones, full, empty, arange, linspace, eye, and the *_like and new_* forms."""
from ..core import dtype as dt
from ..core.device import device_of
from ..core.modes import default_device
from ..core.op import composite, op
from ..core.tensor import Tensor
from .rules import check_fits

OPTIONS = "dtype=None, layout=None, device=None, pin_memory: bool=False, requires_grad: bool=False"
LIKE = "dtype=None, layout=None, device=None, pin_memory: bool=False, requires_grad: bool=False, memory_format=None"

_full_new = op("_full_new(shape: tuple, value: float, dtype: object)", "full_new")
_empty_new = op("_empty_new(shape: tuple, dtype: object)", "empty_new")
_empty_ordered = op("_empty_ordered(shape: tuple, order: tuple, dtype: object)", "empty_ordered")
_empty_gapped = op("_empty_gapped(shape: tuple, strides: tuple, dtype: object)", "empty_gapped")
_arange = op("_arange(start: float, end: float, step: float, dtype: object)", "arange")
_linspace = op("_linspace(start: float, end: float, steps: int, dtype: object)", "linspace")
_logspace = op("_logspace(start: float, end: float, steps: int, base: float, dtype: object)", "logspace")
_eye = op("_eye(n: int, m: int, dtype: object)", "eye")
_empty_like = op("_empty_like(input, dtype: object, memory_format=None)", "empty_like_order")


def placed(t, device, requires_grad):
    """A new tensor on the device it was asked for, as a leaf that requires grad if asked."""
    where = default_device() if device is None else device_of(device)
    if where.type != "cpu":
        t = t.to(where)
    return t.requires_grad_() if requires_grad else t


def _sizes(size):
    shape = tuple(int(n) for n in size)
    for n in shape:
        if n < 0:
            raise RuntimeError(f"Trying to create tensor with negative dimension {n}: {list(shape)}")
    return shape


def tensor_of(values, like):
    """A 1-d tensor of Python numbers in the float dtype and device of `like`."""
    t = like.new_tensor(values) if like.dtype.category >= 2 else like.float().new_tensor(values)
    return t


def _filled(name, value):
    def body(size, dtype, layout, device, pin_memory, requires_grad):
        return placed(_full_new(_sizes(size), value, dtype or dt.get_default_dtype()), device, requires_grad)
    body.__doc__ = f"A new tensor of {name}. size: integers or one sequence."
    return composite(f"{name}(*size, {OPTIONS})", on="torch")(body)


zeros, ones = _filled("zeros", 0), _filled("ones", 1)


@composite(f"empty(*size, {OPTIONS}, memory_format=None)", on="torch")
def empty(size, dtype, layout, device, pin_memory, requires_grad, memory_format):
    """A new uninitialised tensor. size: integers or one sequence."""
    shape, dtype = _sizes(size), dtype or dt.get_default_dtype()
    if memory_format is not None and memory_format.name.startswith("channels_last"):
        made = _empty_ordered(shape, (0, *range(2, len(shape)), 1), dtype)
    else:
        made = _empty_new(shape, dtype)
    return placed(made, device, requires_grad)


def _number_of(value):
    return value.item() if isinstance(value, Tensor) else value


@composite(f"full(size: tuple, fill_value: float, *, {OPTIONS})", on="torch")
def full(size, fill_value, dtype, layout, device, pin_memory, requires_grad):
    """A new tensor of one number; its dtype follows the number."""
    size = (size,) if isinstance(size, int) else size
    value = _number_of(fill_value)
    if dtype is None:
        dtype = fill_value.dtype if isinstance(fill_value, Tensor) else dt.from_python(value)
    check_fits(value, dtype)
    return placed(_full_new(_sizes(size), value, dtype), device, requires_grad)


@composite(f"scalar_tensor(s: float, *, {OPTIONS})", on="torch", out=False)
def scalar_tensor(s, dtype, layout, device, pin_memory, requires_grad):
    """A 0-d tensor of one number."""
    return placed(_full_new((), s, dtype or dt.get_default_dtype()), device, requires_grad)


@composite(f"empty_permuted(size: tuple, physical_layout: tuple, *, {OPTIONS})", on="torch", out=False)
def empty_permuted(size, physical_layout, dtype, layout, device, pin_memory, requires_grad):
    """A new uninitialised tensor whose dimensions lie in memory in the given order."""
    shape, order = _sizes(size), tuple(physical_layout)
    if len(order) != len(shape):
        raise RuntimeError(
            f"Number of dimensions in size does not match the length of the physical_layout; i.e. len(size) "
            f"= {len(shape)} is not equal to len(physical_layout) = {len(order)}"
        )
    if any(not 0 <= d < len(shape) for d in order):
        bad = next(d for d in order if not 0 <= d < len(shape))
        raise RuntimeError(
            f"Dimension out of range (expected to be between 0 and {len(shape) - 1}, but got {bad} at index "
            f"{order.index(bad)}).  NB: negative dims not currently supported; file an issue if you want it."
        )
    if len(set(order)) != len(order):
        raise RuntimeError("Duplicate dim not allowed")
    return placed(_empty_ordered(shape, order, dtype or dt.get_default_dtype()), device, requires_grad)


@composite(f"empty_strided(size: tuple, stride: tuple, *, {OPTIONS})", on="torch", out=False)
def empty_strided(size, stride, dtype, layout, device, pin_memory, requires_grad):
    """A new uninitialised tensor with the given strides."""
    if len(size) != len(stride):
        raise RuntimeError("mismatch in length of strides and shape")
    return placed(_empty_gapped(_sizes(size), tuple(stride), dtype or dt.get_default_dtype()), device, requires_grad)


@composite(f"arange(start=None, end=None, step=1, *, {OPTIONS})", on="torch")
def arange(start, end, step, dtype, layout, device, pin_memory, requires_grad):
    """start, start + step, ... up to but not including end; int64 when all three are whole numbers."""
    start, end, step = map(_number_of, (start, end, step))
    if end is None:
        start, end = 0, start
    if start is None:
        start = 0
    if dtype is None:
        whole = all(isinstance(v, int) for v in (start, end, step))
        dtype = dt.int64 if whole else dt.get_default_dtype()
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if any(isinstance(v, float) and v - v != 0 for v in (start, end)):
        raise RuntimeError(f"unsupported range: {start} -> {end}")
    if (end - start) / step < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    return placed(_arange(start, end, step, dtype), device, requires_grad)


@composite(f"range(start=0, end=None, step=1, *, {OPTIONS})", on="torch")
def range_(start, end, step, dtype, layout, device, pin_memory, requires_grad):
    """start, start + step, ... up to and including end (deprecated in favour of arange)."""
    if end is None:
        start, end = 0, start
    dtype = dtype or dt.get_default_dtype()
    count = int((end - start) / step) + 1
    return placed(_arange(start, start + (count - 0.5) * step, step, dt.float64).to(dtype), device, requires_grad)


def _spaced_dtype(dtype, *ends):
    if dtype is not None:
        return dtype
    if any(isinstance(v, complex) or isinstance(v, Tensor) and v.is_complex() for v in ends):
        return dt.get_default_dtype().to_complex()
    return dt.get_default_dtype()


def _check_spaced(name, start, end, steps):
    for what, v in (("start", start), ("end", end)):
        if isinstance(v, Tensor) and v.dim():
            raise RuntimeError(
                f"{name} only supports 0-dimensional start and end tensors, but got {what} with {v.dim()} "
                "dimension(s)."
            )
    if not isinstance(steps, int):
        raise TypeError(f"{name}() received an invalid combination of arguments - got ({type(start).__name__}, "
                        f"{type(end).__name__}, {type(steps).__name__})")
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")


@composite(f"linspace(start, end, steps: int, *, {OPTIONS})", on="torch")
def linspace(start, end, steps, dtype, layout, device, pin_memory, requires_grad):
    """`steps` evenly spaced numbers from start to end."""
    _check_spaced("linspace", start, end, steps)
    dtype = _spaced_dtype(dtype, start, end)
    return placed(_linspace(_number_of(start), _number_of(end), steps, dtype), device, requires_grad)


@composite(f"logspace(start, end, steps: int, base: float=10.0, *, {OPTIONS})", on="torch")
def logspace(start, end, steps, base, dtype, layout, device, pin_memory, requires_grad):
    """base ** (`steps` evenly spaced exponents)."""
    _check_spaced("logspace", start, end, steps)
    dtype = _spaced_dtype(dtype, start, end)
    return placed(_logspace(_number_of(start), _number_of(end), steps, base, dtype), device, requires_grad)


@composite(f"eye(n: int, m=None, *, {OPTIONS})", on="torch")
def eye(n, m, dtype, layout, device, pin_memory, requires_grad):
    """Ones on the diagonal of an n x m matrix."""
    m = n if m is None else m
    for name, v in (("n", n), ("m", m)):
        if v < 0:
            raise RuntimeError(f"{name} must be greater or equal to 0, got {v}")
    return placed(_eye(n, m, dtype or dt.get_default_dtype()), device, requires_grad)


# ---- in the shape of another tensor

def _like(input, dtype, device, requires_grad, memory_format, value=None):
    made = _empty_like(input, dtype or input.dtype, memory_format)
    if device is not None:
        made = made.to(device_of(device))
    if value is not None:
        made.fill_(value)
    return made.requires_grad_() if requires_grad else made


@composite(f"empty_like(input, *, {LIKE})", on="torch", out=False)
def empty_like(input, dtype, layout, device, pin_memory, requires_grad, memory_format):
    """An uninitialised tensor in shape, dtype and dimension order of the input."""
    return _like(input, dtype, device, requires_grad, memory_format)


@composite(f"zeros_like(input, *, {LIKE})", on="torch", out=False)
def zeros_like(input, dtype, layout, device, pin_memory, requires_grad, memory_format):
    """Zeros in shape, dtype and dimension order of the input."""
    return _like(input, dtype, device, requires_grad, memory_format, 0)


@composite(f"ones_like(input, *, {LIKE})", on="torch", out=False)
def ones_like(input, dtype, layout, device, pin_memory, requires_grad, memory_format):
    """Ones in shape, dtype and dimension order of the input."""
    return _like(input, dtype, device, requires_grad, memory_format, 1)


@composite(f"full_like(input, fill_value: float, *, {LIKE})", on="torch", out=False)
def full_like(input, fill_value, dtype, layout, device, pin_memory, requires_grad, memory_format):
    """One number in shape, dtype and dimension order of the input."""
    value = _number_of(fill_value)
    check_fits(value, dtype or input.dtype)
    return _like(input, dtype, device, requires_grad, memory_format, value)


def _new(self, shape, value, dtype, device, requires_grad):
    dtype = dtype or self.dtype
    made = _empty_new(_sizes(shape), dtype) if value is None else _full_new(_sizes(shape), value, dtype)
    where = self.device if device is None else device_of(device)
    made = made if where.type == "cpu" else made.to(where)
    return made.requires_grad_() if requires_grad else made


@composite(f"new_zeros(input, *size, {OPTIONS})", on="method")
def new_zeros(input, size, dtype, layout, device, pin_memory, requires_grad):
    """Zeros of another size in dtype and on device of the input."""
    return _new(input, size, 0, dtype, device, requires_grad)


@composite(f"new_ones(input, *size, {OPTIONS})", on="method")
def new_ones(input, size, dtype, layout, device, pin_memory, requires_grad):
    """Ones of another size in dtype and on device of the input."""
    return _new(input, size, 1, dtype, device, requires_grad)


@composite(f"new_empty(input, *size, {OPTIONS})", on="method")
def new_empty(input, size, dtype, layout, device, pin_memory, requires_grad):
    """An uninitialised tensor of another size in dtype and on device of the input."""
    return _new(input, size, None, dtype, device, requires_grad)


@composite(f"new_full(input, size: tuple, fill_value: float, *, {OPTIONS})", on="method")
def new_full(input, size, fill_value, dtype, layout, device, pin_memory, requires_grad):
    """One number, in another size, in dtype and on device of the input."""
    size = (size,) if isinstance(size, int) else size
    return _new(input, size, _number_of(fill_value), dtype, device, requires_grad)


@composite(f"new_empty_strided(input, size: tuple, stride: tuple, *, {OPTIONS})", on="method")
def new_empty_strided(input, size, stride, dtype, layout, device, pin_memory, requires_grad):
    """An uninitialised tensor with the given strides in dtype and on device of the input."""
    return empty_strided(size, stride, dtype=dtype or input.dtype, device=device or input.device,
                         requires_grad=requires_grad)
