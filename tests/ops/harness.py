"""Samples of op calls that torch and nbtorch both understand, and comparing what comes back."""
import importlib
import zlib
from pathlib import Path

import numpy as np

import nbtorch
from nbtorch.backend.dtypes import numpy_dtype

SAMPLES = {}                                      # op name -> Samples
TOLERANCE = {"float16": (5e-3, 1e-3), "bfloat16": (2e-2, 1e-2), "float32": (1e-4, 1e-5), "complex64": (1e-4, 1e-5),
             "float64": (1e-7, 1e-9), "complex128": (1e-7, 1e-9)}
DTYPES = ("float32", "float64", "float16", "bfloat16", "int64", "int32", "uint8", "bool", "complex64", "complex128")


class K(dict):
    """Keyword arguments of a sample."""


class Arg:
    """A tensor of a sample, kept as an array."""

    def __init__(self, array, differentiable):
        self.array, self.differentiable = array, differentiable


class Samples:
    """The sample generator of an op and what it is good for."""

    def __init__(self, function, dtypes, grad, exact, values):
        self.function, self.grad, self.exact, self.values = function, grad, exact, values
        self.dtypes = tuple(dtypes.split()) if dtypes else DTYPES

    def make(self, name, dtype):
        """The list of (args, kwargs) for a dtype, the same on every call."""
        m, found = Maker(zlib.crc32(name.encode()), dtype), []
        for sample in self.function(m):
            sample = sample if isinstance(sample, tuple) else (sample,)
            kwargs = sample[-1] if sample and isinstance(sample[-1], K) else {}
            found.append((sample[:-1] if kwargs else sample, dict(kwargs)))
        return found


def samples(*names, dtypes=None, grad=True, exact=False, values=True):
    """Declare the samples of some ops: a generator function taking a Maker. values=False: only shape and dtype are
    compared (random or uninitialised results)."""
    def register(function):
        for name in names:
            if name in SAMPLES:
                raise ValueError(f"samples of {name!r} are declared twice")
            SAMPLES[name] = Samples(function, dtypes, grad, exact, values)
        return function
    return register


class Maker:
    """Makes sample tensors of the dtype under test; see README.md here."""

    def __init__(self, seed, dtype):
        self.random, self.dtype = np.random.RandomState(seed), dtype

    def __call__(self, *shape, low=-2.0, high=2.0, dtype=None):
        dtype = dtype or self.dtype
        uniform = lambda: self.random.uniform(low, high, shape)  # noqa: E731
        if dtype == "bool":
            return Arg(np.asarray(self.random.rand(*shape) > 0.5), False)
        if dtype.startswith("complex"):
            return Arg(np.asarray(uniform() + 1j * uniform()).astype(dtype), True)
        if dtype.startswith(("int", "uint")):
            bottom = max(0, int(low)) if dtype.startswith("u") else int(np.floor(low))
            return Arg(np.asarray(self.random.randint(bottom, max(int(np.ceil(high)), bottom) + 1, shape)).astype(dtype), False)
        return Arg(np.asarray(uniform()).astype(numpy_dtype(dtype)), True)

    def positive(self, *shape):
        """Values between 0.2 and 3."""
        return self(*shape, low=0.2, high=3.0)

    def unit(self, *shape):
        """Values between 0.05 and 0.95."""
        return self(*shape, low=0.05, high=0.95)

    def index(self, high, *shape):
        """int64 values in [0, high)."""
        return Arg(np.asarray(self.random.randint(0, high, shape)).astype("int64"), False)

    def mask(self, *shape):
        """A bool tensor."""
        return self(*shape, dtype="bool")

    def fixed(self, dtype, *shape, **bounds):
        """A tensor of this dtype whatever is under test."""
        return self(*shape, dtype=dtype, **bounds)


def load():
    """Import every samples_*.py beside this file."""
    for path in sorted(Path(__file__).parent.glob("samples_*.py")):
        importlib.import_module(f"tests.ops.{path.stem}" if __package__ == "tests.ops" else path.stem)
    return SAMPLES


def _tree(function, value):
    if isinstance(value, Arg):
        return function(value)
    if isinstance(value, (list, tuple)) and not isinstance(value, K):
        return type(value)(_tree(function, v) for v in value)
    if isinstance(value, dict):
        return {k: _tree(function, v) for k, v in value.items()}
    if type(value).__name__ == "dtype":
        return function(value)
    return value


def to(T, sample, grad=False, layout="plain"):
    """(args, kwargs, leaves) of a sample as tensors of framework T. layout "strided" makes inputs non-contiguous."""
    leaves = []

    def convert(arg):
        if not isinstance(arg, Arg):
            return getattr(T, arg.name if hasattr(arg, "name") else str(arg).removeprefix("torch."))
        a = arg.array.copy()
        if layout == "strided" and a.ndim:
            a = np.repeat(a, 2, axis=-1)[..., ::2].swapaxes(0, -1).copy(order="C").swapaxes(0, -1)
        half = a.dtype.name == "bfloat16"
        t = T.from_numpy(a.astype("float32") if half else a)
        t = t.to(T.bfloat16) if half else t
        if grad and arg.differentiable:
            t.requires_grad_()
            leaves.append(t)
        return t
    args, kwargs = sample
    return _tree(convert, args), _tree(convert, kwargs), leaves


def tensors_of(result):
    """Every tensor in a result, in order."""
    if isinstance(result, (tuple, list)):
        return [t for r in result for t in tensors_of(r)]
    return [result] if hasattr(result, "detach") else []


def array_of(t):
    """A NumPy copy of a tensor of either framework; bfloat16 as float32."""
    t = t.detach()
    name = str(t.dtype).removeprefix("torch.")
    if name == "bfloat16":
        t = t.float()
    if hasattr(t, "resolve_conj"):
        t = t.resolve_conj()
    return np.array(t.numpy(force=True)), name            # force: torch has zero tensors without memory


def difference(ours, theirs, values=True):
    """None when two results agree, else a sentence."""
    if isinstance(theirs, (bool, int, float, str, type(None))) or not hasattr(theirs, "detach") and not isinstance(theirs, (tuple, list)):
        same = ours == theirs or (isinstance(theirs, float) and np.isclose(ours, theirs, equal_nan=True))
        return None if same or str(ours) == str(theirs) else f"{ours!r} instead of {theirs!r}"
    if isinstance(theirs, (tuple, list)):
        if not isinstance(ours, (tuple, list)) or len(ours) != len(theirs):
            return f"structure {type(ours).__name__} instead of {type(theirs).__name__} of {len(theirs)}"
        return next((d for d in map(lambda p: difference(*p, values), zip(ours, theirs)) if d), None)
    a, our_name = array_of(ours)
    b, name = array_of(theirs)
    if our_name != name:
        return f"dtype {our_name} instead of {name}"
    if a.shape != b.shape:
        return f"shape {a.shape} instead of {b.shape}"
    rtol, atol = TOLERANCE.get(name, (0, 0))
    if values and not np.allclose(a, b, rtol=rtol, atol=atol, equal_nan=True):
        worst = np.nanmax(np.abs(a.astype("complex128") - b.astype("complex128"))) if a.size else 0
        return f"values differ by up to {worst:.3g}: {a.reshape(-1)[:4]} instead of {b.reshape(-1)[:4]}"
    return None


def function_of(T, record, name=None):
    """The public function of a record in framework T (a method where there is no function), or None."""
    name = name or record.public
    spaces = {"torch": T, "F": T.nn.functional, "linalg": getattr(T, "linalg", None), "fft": getattr(T, "fft", None),
              "special": getattr(T, "special", None)}
    for where in record.on:
        space = spaces.get(where)
        if space is not None and hasattr(space, name):
            return getattr(space, name)
    if "method" in record.on and hasattr(T.Tensor, name):
        found = getattr(T.Tensor, name)
        return found if callable(found) else (lambda x: getattr(x, name))
    return None


def public_records():
    """Records users can reach."""
    from nbtorch.core.op import OPS
    return {name: record for name, record in OPS.items() if record.on != ["none"]}


__all__ = ["DTYPES", "K", "SAMPLES", "difference", "function_of", "load", "nbtorch", "public_records", "samples", "to"]
