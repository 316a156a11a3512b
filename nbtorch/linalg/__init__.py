"""torch.linalg: factorisations, solvers, norms and functions of matrices, over batches.

https://docs.pytorch.org/docs/stable/linalg.html
"""
from .. import ops as _ops
from ..ops.bind import public as _public
from ..ops.linalg import LinAlgError  # noqa: F401

matmul = _ops.matmul
globals().update(_public("linalg"))
