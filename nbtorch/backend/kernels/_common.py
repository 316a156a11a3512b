"""Helpers every kernel file shares: half precision through float32, silent floating point, special functions."""
import contextlib

HALF = ("float16", "bfloat16")


def is_half(a):
    """Whether an array is float16 or bfloat16 (asking a NumPy dtype its name would cost 4 us)."""
    dtype = getattr(a, "dtype", None)
    return dtype is not None and dtype.itemsize == 2 and dtype.kind in "fV"


def wide(xp, a):
    """`a` in the precision it is computed in: half types as float32, everything else unchanged."""
    return a.astype(xp.float32) if is_half(a) else a


def narrow(xp, a, like):
    """`a` rounded to the dtype of `like` (an array or a dtype); unchanged if it has it already."""
    dtype = getattr(like, "dtype", like)
    return a if a.dtype == dtype else a.astype(dtype)


def quiet(xp):
    """A context without floating-point warnings (CuPy never warns)."""
    return xp.errstate(all="ignore") if hasattr(xp, "errstate") else contextlib.nullcontext()


def special(xp):
    """scipy.special, or cupyx's for CuPy arrays; imported at first use."""
    if xp.__name__ == "cupy":
        from cupyx.scipy import special as functions
    else:
        from scipy import special as functions
    return functions
