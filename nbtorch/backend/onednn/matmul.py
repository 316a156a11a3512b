"""Matrix products through oneDNN: bfloat16, which NumPy has no fast product for, and float32 from a certain size on.

Transposed and sliced operands are read in place by their strides. Small float32 products are declined: NumPy's call
costs 1 us, one through here 4.
"""
import numpy as np

from .. import threads
from .lib import BF16, F16, F32, address
from .plan import Cache, Plan, contiguous_strides, strides_from

_DTYPES = {"float32": F32, "bfloat16": BF16, "float16": F16}
_codes = {}                                       # NumPy's dtype number -> oneDNN's (0: none), filled as seen
_FLOAT32 = np.dtype(np.float32)
_WORTH = 3 << 19                                  # multiplications from which float32 comes here
_WORTH_TRANSPOSED = 3 << 17                       # the same where b is transposed, as in a linear layer
plans = Cache(4096)


class Product(Plan):
    """a @ b (+ bias row), for one pair of shapes and strides (in elements; None: the array must be copied first)."""

    def __init__(self, a, a_strides, b, b_strides, dtype, out_dtype, bias):
        super().__init__()
        self.shape = shape = (*a[:-1], b[-1])
        self.copy_a, self.copy_b = a_strides is None, b_strides is None
        a_layout = self.layout(a, dtype, a_strides or contiguous_strides(a))
        b_layout = self.layout(b, dtype, b_strides or contiguous_strides(b))
        out_layout = self.layout(shape, out_dtype, contiguous_strides(shape))
        bias_layout = self.layout(bias, out_dtype, contiguous_strides(bias)) if bias else None
        made = self.descriptor("matmul", self.dnnl.engine, a_layout, b_layout, bias_layout, out_layout,
                               self.attributes())
        self.name = self.dnnl.implementation(made)
        self.a, self.b, self.out = self.memory(a_layout), self.memory(b_layout), self.memory(out_layout)
        self.bias = self.memory(bias_layout) if bias else None
        self.main = self.step(made, src=self.a, weights=self.b, bias=self.bias, dst=self.out)

    def run(self, a, b, bias, dtype):
        """The product as a new array of `dtype`."""
        if self.copy_a:
            a = np.ascontiguousarray(a)
        if self.copy_b:
            b = np.ascontiguousarray(b)
        out = np.empty(self.shape, dtype)
        library = self.dnnl
        point = library.point
        primitive, count, arguments = self.main
        with self.lock:
            if self.size:
                self.enter()
            point(self.a, address(a))
            point(self.b, address(b))
            point(self.out, address(out))
            if bias is not None:
                point(self.bias, address(bias))
            status = library.execute(primitive, library.stream, count, arguments)
        if status:
            raise RuntimeError(f"could not execute a primitive: oneDNN returned {status}")
        return out


def _build(a_shape, a_strides, b_shape, b_strides, item, dtype, out_dtype, bias, _):
    return Product(a_shape, _elements(a_shape, a_strides, item), b_shape, _elements(b_shape, b_strides, item),
                   dtype, out_dtype, bias)


def _elements(shape, strides, item):
    """Element strides, or None unless each matrix has rows or columns whose elements lie together."""
    strides = strides_from(shape, strides, item)
    if strides is None or min(strides[-2:]) != 1:
        return None
    return strides


def _code(dtype):
    code = _codes.get(dtype.num)
    if code is None:
        code = _codes[dtype.num] = _DTYPES.get(dtype.name, 0)
    return code


def _product(a, b, bias=None, wide=False):
    """a @ b for two arrays of 2 or 3 dimensions; `wide` asks for a float32 result. NotImplemented to decline."""
    dtype = a.dtype
    code = _code(dtype)
    if not code or b.dtype is not dtype and b.dtype != dtype:
        return NotImplemented
    work = a.size * b.shape[-1]
    if not work or code == F32 and work < _WORTH and (work < _WORTH_TRANSPOSED or b.flags.c_contiguous):
        return NotImplemented
    threads.ensure()
    plan = plans.get((a.shape, a.strides, b.shape, b.strides, a.itemsize, code, F32 if wide else code,
                      None if bias is None else bias.shape, threads.get_num_threads()), _build)
    if plan is None:
        return NotImplemented
    return plan.run(a, b, bias, _FLOAT32 if wide else dtype)


def mm(a, b):
    """(M, K) with (K, N) -> (M, N) in bfloat16 (float32 sums) or float32. Declines others."""
    if a.dtype.num == 11 and a.size * b.shape[-1] < _WORTH_TRANSPOSED:    # the usual refusal of float32, first
        return NotImplemented
    return _product(a, b)


def bmm(a, b):
    """(B, M, K) with (B, K, N) -> (B, M, N), as `mm`."""
    return _product(a, b)


def addmm(c, a, b, beta, alpha):
    """beta * c + alpha * (a @ b); a bias row is added inside the product, else the sum is made in float32."""
    if c.dtype != a.dtype:
        return NotImplemented
    columns = b.shape[-1]
    if alpha == 1 and beta == 1 and c.size == columns and c.shape[-1] == columns and c.flags.c_contiguous:
        return _product(a, b, c.reshape(1, columns))
    return _with_sum(c, a, b, beta, alpha)


def baddbmm(c, a, b, beta, alpha):
    """beta * c + alpha * (a @ b) by batch, the sum made in float32."""
    return NotImplemented if c.dtype != a.dtype else _with_sum(c, a, b, beta, alpha)


def _with_sum(c, a, b, beta, alpha):
    out = _product(a, b, wide=c.dtype.itemsize < 4)
    if out is NotImplemented:
        return out
    if alpha != 1:
        np.multiply(out, np.float32(alpha), out)
    if beta == 1:
        np.add(out, c, out)
    elif beta != 0:                               # with beta 0 what c holds, even NaN, does not count
        np.add(out, np.multiply(c, np.float32(beta), dtype=np.float32), out)
    return out.astype(a.dtype, copy=False)
