"""torch.nn.functional: every op that is public there, plus forms with `inplace=` and `return_indices=`.

Source: https://docs.pytorch.org/docs/stable/nn.functional.html
"""
from ...ops.bind import public as _public

globals().update(_public("F"))

from ...ops import celu_, logit, relu_, rrelu_, selu_, sigmoid, tanh, threshold_  # noqa: F401
from .activation import *
from .dropout import *
from .embedding import *
from .norm import *
from .pooling import *
