"""torch.linalg: what is there so far; the whole namespace is to come."""
from .. import ops as _ops
from ..ops.bind import public as _public

matmul = _ops.matmul
cross = _ops.cross
diagonal = _ops.diagonal
globals().update(_public("linalg"))
