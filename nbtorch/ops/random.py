"""Random numbers: in-place fills, and the creation functions made of `empty` and a fill, as PyTorch makes
them.

Source of the surface: https://docs.pytorch.org/docs/stable/torch.html#random-sampling
"""
import warnings

from ..backend.kernels.random import random_range
from ..core.dtype import finfo, iinfo, int64, scalar_name
from ..core.inplace import resize
from ..core.modes import no_grad
from ..core.op import OPS, composite, op
from ..core.tensor import Tensor

C_NAMES = {"bool": "bool", "uint8": "unsigned char", "int8": "signed char", "int16": "short", "int32": "int",
           "int64": "long int", "float16": "c10::Half", "bfloat16": "c10::BFloat16", "float32": "float",
           "float64": "double", "uint16": "unsigned short", "uint32": "unsigned int", "uint64": "unsigned long"}
DIGITS = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}
OPTIONS = ("generator=None, out=None, dtype=None, layout=None, device=None, requires_grad: bool=False, "
           "pin_memory: bool=False")
LIKE_OPTIONS = ("generator=None, dtype=None, layout=None, device=None, requires_grad: bool=False, "
                "memory_format=None")


def _no_gradient(g):
    return g.new_zeros(g.shape)


def _continuous(input, what, kernel):
    if not (input.dtype.is_floating_point or input.dtype.is_complex):
        if what:
            raise RuntimeError(f"{what} is a continuous probability distribution. dtype must be a floating "
                               f"point but you specified {kernel(input.dtype)}")
        raise NotImplementedError(f'"{kernel}" not implemented for \'{scalar_name(input.dtype)}\'')


def _check_uniform(input, low, high, generator):
    _continuous(input, "", "check_uniform_bounds")
    real = input.dtype.to_real()
    limit, name = finfo(real).max, C_NAMES[real.name]
    for bound, word in ((low, "from"), (high, "to")):
        if not -limit <= bound <= limit:
            raise RuntimeError(f"{word} is out of bounds for {name}")
    if low > high:
        raise RuntimeError(f"uniform_ expects to return a [from, to) range, but found from={low:g} > to={high:g}")
    if high - low > limit:
        raise RuntimeError(f"uniform_ expects to-from <= std::numeric_limits<{scalar_name(real)}>::max(), "
                           f"but found to={high:g} and from={low:g} which result in to-from to exceed the limit")


def _check_normal(input, mean, std, generator):
    if std < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")
    _continuous(input, "", "normal_kernel_cpu")


def _check_random(input, low, high, generator):
    dtype, name = input.dtype, C_NAMES.get(input.dtype.name)
    low, high = random_range(input._a.dtype, low, high)
    if low is None:
        if dtype.is_complex or dtype.name in ("uint16", "uint32", "uint64"):
            raise NotImplementedError(f'"random_kernel_cpu" not implemented for \'{scalar_name(dtype)}\'')
        return
    if low >= high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    if dtype.is_complex:
        raise RuntimeError("check_random_bounds handles only integral, floating-point and boolean types")
    if dtype.is_floating_point:
        least, most = -finfo(dtype).max, finfo(dtype).max
    else:
        least, most = (0, 1) if dtype.name == "bool" else (iinfo(dtype).min, iinfo(dtype).max)
    for bound, word in ((low, "from"), (high - 1, "to - 1")):
        if not least <= bound <= most:
            raise RuntimeError(f"{word} is out of bounds for {name}")
        digits = DIGITS.get(dtype.name, 64)
        if not -(1 << digits) <= bound <= 1 << digits:
            warnings.warn(f"{word} is out of bounds [-(2^{digits}), 2^{digits}]. Due to precision limitations {name} "
                          "can support discrete uniform distribution only within this range. This warning "
                          "will become an error in version 1.7 release, please fix the code in advance", UserWarning, stacklevel=5)


def _check_bernoulli(input, p, generator):
    if not isinstance(p, Tensor):
        if not 0 <= p <= 1:
            raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p:g}")
        return
    if not p.dtype.is_floating_point:
        raise NotImplementedError(f'"bernoulli_tensor_cpu_p_" not implemented for \'{scalar_name(p.dtype)}\'')
    shape, given = tuple(input.shape), tuple(p.shape)
    for d in range(1, len(given) + 1):
        if d > len(shape) or given[-d] not in (1, shape[-d]):
            have = shape[-d] if d <= len(shape) else 1
            raise RuntimeError(f"The expanded size of the tensor ({have}) must match the existing size ({given[-d]}) "
                               f"at non-singleton dimension {max(len(shape) - d, 0)}.  Target sizes: {list(shape)}.  "
                               f"Tensor sizes: {list(given)}")


def _check_exponential(input, lambd, generator):
    _continuous(input, "Exponential distribution", scalar_name)
    if not lambd > 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={lambd:g}")


def _check_cauchy(input, median, sigma, generator):
    _continuous(input, "Cauchy distribution", lambda d: C_NAMES[d.name])
    if not sigma > 0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma:g}")


def _check_geometric(input, p, generator):
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p:g}")
    if input.dtype.is_complex or input.dtype.name == "bool":
        raise NotImplementedError(f'"geometric_cpu" not implemented for \'{scalar_name(input.dtype)}\'')


def _check_log_normal(input, mean, std, generator):
    if not std > 0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std:g}")
    _continuous(input, "", "log_normal_cpu")


def _fill(sig, kernel, check):
    return op(sig, kernel, on="none", inplace=True, check=check, vjp={"input": _no_gradient}, deterministic=True)


_fill("uniform(input, from_: float=0.0, to: float=1.0, *, generator=None)", "uniform_fill", _check_uniform)
_fill("_normal(input, mean: float=0.0, std: float=1.0, *, generator=None)", "normal_fill", _check_normal)
_fill("random(input, from_: int=..., to: int=..., *, generator=None)", "random_fill", _check_random)
_fill("_bernoulli(input, p: Number=0.5, *, generator=None)", "bernoulli_fill", _check_bernoulli)
_fill("exponential(input, lambd: float=1.0, *, generator=None)", "exponential_fill", _check_exponential)
_fill("cauchy(input, median: float=0.0, sigma: float=1.0, *, generator=None)", "cauchy_fill", _check_cauchy)
_fill("geometric(input, p: float, *, generator=None)", "geometric_fill", _check_geometric)
_fill("log_normal(input, mean: float=1.0, std: float=2.0, *, generator=None)", "log_normal_fill", _check_log_normal)
_randperm = op("_randperm(input, *, generator=None)", "randperm_fill", mutates=("input",))


def _new(name, shape, size, out, dtype, layout, device, pin_memory):
    """The tensor a creation function fills: `out` in the wanted shape, or a new one."""
    size = shape if size is None else size
    if out is None:
        options = {k: v for k, v in (("dtype", dtype), ("layout", layout), ("device", device)) if v is not None}
        if pin_memory:
            options["pin_memory"] = True
        return OPS["empty"].function(tuple(size), **options)
    if dtype is not None and dtype is not out.dtype:
        raise RuntimeError(f"dtype {scalar_name(dtype)} does not match dtype of out parameter "
                           f"({scalar_name(out.dtype)})")
    if tuple(size) != tuple(out.shape):
        if out.numel():
            warnings.warn(f"An output with one or more elements was resized since it had shape {list(out.shape)}, "
                          f"which does not match the required output shape {list(size)}. This behavior is "
                          "deprecated, and in a future PyTorch release outputs will not be resized unless "
                          "they have zero elements. You can explicitly reuse an out tensor t by resizing it, inplace, to zero elements with t.resize_(0).",
                          UserWarning, stacklevel=4)
        resize(out, tuple(size))
    return out


def _filled(tensor, requires_grad):
    return tensor.requires_grad_() if requires_grad else tensor


@composite(f"rand(*shape, size=None, {OPTIONS})", on="torch", out=False)
def rand(shape, size, generator, out, dtype, layout, device, requires_grad, pin_memory):
    """Uniform numbers of [0, 1).

    https://docs.pytorch.org/docs/stable/generated/torch.rand.html
    """
    t = _new("rand", shape, size, out, dtype, layout, device, pin_memory)
    return _filled(t.uniform_(0.0, 1.0, generator=generator), requires_grad)


@composite(f"randn(*shape, size=None, {OPTIONS})", on="torch", out=False)
def randn(shape, size, generator, out, dtype, layout, device, requires_grad, pin_memory):
    """Normal numbers of mean 0 and variance 1.

    https://docs.pytorch.org/docs/stable/generated/torch.randn.html
    """
    t = _new("randn", shape, size, out, dtype, layout, device, pin_memory)
    return _filled(t.normal_(0.0, 1.0, generator=generator), requires_grad)


def _bounds(name, args, low, high, size):
    """low, high, size of the call forms (high, size), (low, high, size) and their keywords."""
    args = list(args)
    if args and size is None and not isinstance(args[-1], (int, Tensor)):
        size = args.pop()
    if len(args) == 2 and low is None and high is None:
        low, high = args
    elif len(args) == 1:
        low, high = (low, args[0]) if high is None else (args[0], high)
    elif args:
        high = None
    if high is None:
        got = ", ".join(type(a).__name__ for a in args)
        raise TypeError(f"{name}() received an invalid combination of arguments - got ({got})")
    return int(low or 0), int(high), size


@composite(f"randint(*args, low: int=None, high: int=None, size=None, {OPTIONS})", on="torch", out=False)
def randint(args, low, high, size, generator, out, dtype, layout, device, requires_grad, pin_memory):
    """Integers of [low, high), int64 unless a dtype is named: randint(high, size) or randint(low, high,
    size).

    https://docs.pytorch.org/docs/stable/generated/torch.randint.html
    """
    low, high, size = _bounds("randint", args, low, high, size)
    if size is None:
        raise TypeError("randint() received an invalid combination of arguments - got (int), but a size is needed")
    if dtype is None and out is None:
        dtype = int64
    t = _new("randint", (), size, out, dtype, layout, device, pin_memory)
    return _filled(t.random_(low, high, generator=generator), requires_grad)


@composite(f"randperm(n: int, *, {OPTIONS})", on="torch", out=False)
def randperm(n, generator, out, dtype, layout, device, requires_grad, pin_memory):
    """A random order of the integers 0 to n-1.

    https://docs.pytorch.org/docs/stable/generated/torch.randperm.html
    """
    n = int(n)
    dtype = dtype or (int64 if out is None else out.dtype)
    if n < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{n}]")
    if dtype.is_complex or dtype.name == "bool":
        raise NotImplementedError(f'"randperm" not implemented for \'{scalar_name(dtype)}\'')
    if n > (1 << DIGITS[dtype.name] if dtype.is_floating_point else iinfo(dtype).max):
        raise RuntimeError(f"n is too large for result tensor type: '{dtype!r}'" if dtype.is_floating_point else
                           f"value cannot be converted to type {dtype.name}_t without overflow")
    t = _new("randperm", (), (n,), out, dtype, layout, device, pin_memory)
    _randperm(t, generator=generator)
    return _filled(t, requires_grad)


def _like(input, dtype, layout, device, memory_format):
    options = {k: v for k, v in (("dtype", dtype), ("layout", layout), ("device", device),
                                 ("memory_format", memory_format)) if v is not None}
    return OPS["empty_like"].function(input, **options)


@composite(f"rand_like(input, *, {LIKE_OPTIONS})", on="torch", out=False)
def rand_like(input, generator, dtype, layout, device, requires_grad, memory_format):
    """Uniform numbers of [0, 1) in the shape, dtype and layout of `input`.

    https://docs.pytorch.org/docs/stable/generated/torch.rand_like.html
    """
    t = _like(input, dtype, layout, device, memory_format)
    return _filled(t.uniform_(0.0, 1.0, generator=generator), requires_grad)


@composite(f"randn_like(input, *, {LIKE_OPTIONS})", on="torch", out=False)
def randn_like(input, generator, dtype, layout, device, requires_grad, memory_format):
    """Normal numbers in the shape, dtype and layout of `input`.

    https://docs.pytorch.org/docs/stable/generated/torch.randn_like.html
    """
    t = _like(input, dtype, layout, device, memory_format)
    return _filled(t.normal_(0.0, 1.0, generator=generator), requires_grad)


@composite(f"randint_like(input, *args, low: int=None, high: int=None, {LIKE_OPTIONS})", on="torch", out=False)
def randint_like(input, args, low, high, generator, dtype, layout, device, requires_grad, memory_format):
    """Integers of [low, high) in the shape, dtype and layout of `input`: randint_like(input, high) or (input,
    low, high).

    https://docs.pytorch.org/docs/stable/generated/torch.randint_like.html
    """
    low, high, _ = _bounds("randint_like", args, low, high, ())
    t = _like(input, dtype, layout, device, memory_format)
    return _filled(t.random_(low, high, generator=generator), requires_grad)


@composite("bernoulli(input, p: float=None, *, generator=None, out=None)", on="torch method", out=False)
def bernoulli(input, p, generator, out):
    """Ones with the probabilities in `input` (or with probability p for every element), in its dtype.

    https://docs.pytorch.org/docs/stable/generated/torch.bernoulli.html
    """
    with no_grad():
        if out is not None:
            out = _new("bernoulli", (), tuple(input.shape), out, None, None, None, False)
        elif p is None:
            out = OPS["empty"].function(tuple(input.shape), dtype=input.dtype, device=input.device)
        else:
            out = OPS["empty_like"].function(input)
        return out.bernoulli_(input.detach() if p is None else p, generator=generator)


@composite(f"normal(mean: Number=0.0, std: Number=1.0, size=None, *, {OPTIONS})", on="torch", out=False)
def normal(mean, std, size, generator, out, dtype, layout, device, requires_grad, pin_memory):
    """Normal numbers of the given means and standard deviations: tensors, numbers, or two numbers and a size.

    https://docs.pytorch.org/docs/stable/generated/torch.normal.html
    """
    if size is not None:
        t = _new("normal", (), size, out, dtype, layout, device, pin_memory)
        return _filled(t.normal_(mean, std, generator=generator), requires_grad)
    tensors = [t for t in (mean, std) if isinstance(t, Tensor)]
    if not tensors:
        raise TypeError(f"normal() received an invalid combination of arguments - got ({type(mean).__name__}, "
                        f"{type(std).__name__})")
    with no_grad():
        if isinstance(std, Tensor) and std.numel() and not (std >= 0).all():
            raise RuntimeError("normal expects all elements of std >= 0.0")
        shape = tuple(OPS["broadcast_tensors"].function(mean, std)[0].shape) if len(tensors) == 2 else tensors[0].shape
        t = _new("normal", (), tuple(shape), out, tensors[0].dtype if out is None else None, None,
                 tensors[0].device, False)
        if not isinstance(std, Tensor):
            return t.normal_(0.0, std, generator=generator).add_(mean)
        return t.normal_(0.0, 1.0, generator=generator).mul_(std).add_(mean)


def _check_multinomial(input, num_samples, replacement, generator):
    if not input.dtype.is_floating_point:
        raise RuntimeError("multinomial only supports floating-point dtypes for input, got: "
                           f"{scalar_name(input.dtype)}")
    if input.dim() not in (1, 2):
        raise RuntimeError("prob_dist must be 1 or 2 dim")
    if num_samples <= 0:
        raise RuntimeError("cannot sample n_sample <= 0 samples")
    if not replacement and num_samples > input.size(-1):
        raise RuntimeError("cannot sample n_sample > prob_dist.size(-1) samples without replacement")
    if input.size(-1) > 1 << 24:
        raise RuntimeError("number of categories cannot exceed 2^24")


multinomial = op("multinomial(input, num_samples: int, replacement: bool=False, *, generator=None)", "multinomial",
                 check=_check_multinomial, out="exact",
                 doc="Indices drawn by the weights in the last dimension of `input` (1 or 2 dimensions), as int64.\n\n"
                     "https://docs.pytorch.org/docs/stable/generated/torch.multinomial.html")

_dropout = op("_dropout(input, p: float, *, generator=None)", "dropout", aux=("mask",), node="Mul",
              vjp={"input": lambda g, mask, p: _dropout_backward(g, mask, p)},
              doc="input * mask / (1 - p), the mask kept with probability 1 - p; drawn as PyTorch draws it.")
_dropout_backward = op("_dropout_backward(input, mask, p: float)", "dropout_backward", node="Mul",
                       vjp={"input": lambda g, mask, p: _dropout_backward(g, mask, p)})
