"""Activations, dropout masks, the cast to bfloat16: which calls the compiled flat loops take."""
import numpy as np

from ._common import SMALL, code, empty_like, fits, flat, same, threads


def _run(name, a, *arrays):
    out = empty_like(a)
    loops, n = code("elementwise"), threads(a.size)
    split = getattr(loops, name + "_split", None) if n > 1 else None
    arguments = [flat(x) if isinstance(x, np.ndarray) else x for x in (a, *arrays, out)]
    if split is not None:
        split[a.dtype.char](n, *arguments)
    else:
        getattr(loops, name)[a.dtype.char](*arguments)
    return out


def relu(a):
    """max(a, 0) on several threads; on one, NumPy is as fast."""
    if a.size < SMALL or not fits(a) or threads(a.size) < 2:
        return NotImplemented
    return _run("relu", a)


def threshold_backward(grad, a, threshold):
    """grad where a > threshold (also where a is NaN), else 0."""
    if a.size < SMALL or not fits(a) or not same(a, grad) or grad.shape != a.shape:
        return NotImplemented
    return _run("threshold_backward", grad, a, threshold)


def gelu(a, approximate):
    """a times the normal distribution function, exactly or by tanh."""
    if a.size < SMALL or not fits(a, "f"):
        return NotImplemented
    return _run("gelu_tanh" if approximate == "tanh" else "gelu", a)


def gelu_backward(grad, a, approximate):
    """grad times the slope of gelu at a."""
    if a.size < SMALL or not fits(a, "f") or not same(a, grad) or grad.shape != a.shape:
        return NotImplemented
    return _run("gelu_tanh_backward" if approximate == "tanh" else "gelu_backward", grad, a)


def dropout_backward(a, mask, p):
    """a * mask / (1 - p), the factor rounded as PyTorch rounds it."""
    if a.size < SMALL or not fits(a) or not mask.flags.c_contiguous or mask.shape != a.shape:
        return NotImplemented
    real = a.dtype.type
    return _run_mask(a, mask, real(1) / real(1.0 - p) if p < 1 else real(np.inf))


def _run_mask(a, mask, scale):
    out = empty_like(a)
    code("elementwise").scale_mask[a.dtype.char](flat(a), flat(mask).view(np.uint8), scale, flat(out))
    return out


def to_copy(a, dtype=None, device=None, memory_format=None):
    """A float32 array as bfloat16 (to nearest, ties to even); ml_dtypes takes several times as long."""
    if dtype is None or dtype.name != "bfloat16" or a.dtype.char != "f" or a.size < SMALL or not a.flags.c_contiguous:
        return NotImplemented
    if device is not None and device.type != "cpu" or memory_format is not None and memory_format.name != "preserve_format":
        return NotImplemented
    from ..dtypes import bfloat16
    out = np.empty(a.shape, bfloat16())
    code("elementwise").to_bfloat16["f"](flat(a), flat(out).view(np.uint16))
    return out
