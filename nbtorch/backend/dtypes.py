"""Dtype names and NumPy's dtypes for them. A code is the position of a name in NAMES."""
import functools

import numpy as np

NAMES = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64",
         "complex64", "complex128", "uint16", "uint32", "uint64")
CODE = {name: code for code, name in enumerate(NAMES)}

# NumPy's own type number -> code; several C types share a width, so go through the characters
CODE_OF_NUM = {np.dtype(c).num: CODE[np.dtype(c).name] for c in "?bBhHiIlLqQefdFD"}


@functools.lru_cache(None)
def bfloat16():
    """NumPy's bfloat16 from ml_dtypes, loaded at the first use of the dtype (it costs 5 ms)."""
    import ml_dtypes
    dtype = np.dtype(ml_dtypes.bfloat16)
    CODE_OF_NUM[dtype.num] = CODE["bfloat16"]
    return dtype


@functools.lru_cache(None)
def numpy_dtype(name):
    """NumPy's dtype for a dtype name."""
    return bfloat16() if name == "bfloat16" else np.dtype(name)


def code_of(array):
    """The code of an array's dtype. Raises TypeError for dtypes without a tensor counterpart."""
    code = CODE_OF_NUM.get(array.dtype.num)
    if code is None and array.dtype.name == "bfloat16":
        bfloat16()
        code = CODE_OF_NUM.get(array.dtype.num)
    if code is None:
        raise TypeError(f"can't convert np.ndarray of type {array.dtype.type.__module__}.{array.dtype.name}_. "
                        "The only supported types are: float64, float32, float16, complex64, complex128, int64, "
                        "int32, int16, int8, uint64, uint32, uint16, uint8, and bool.".replace("_. ", ". "))
    return code
