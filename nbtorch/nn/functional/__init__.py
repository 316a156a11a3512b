"""torch.nn.functional: every op that is public there, plus the forms with `inplace=`, `training=` and `return_indices=`.

Source: https://docs.pytorch.org/docs/stable/nn.functional.html
"""
from ...ops.bind import public as _public

globals().update(_public("F"))

from ...ops import (celu_, logit, relu_, rrelu_, selu_, sigmoid, tanh, threshold_)  # noqa: E402, F401
from .activation import *  # noqa: E402, F401, F403
from .dropout import *  # noqa: E402, F401, F403
from .embedding import *  # noqa: E402, F401, F403
from .norm import *  # noqa: E402, F401, F403
from .pooling import *  # noqa: E402, F401, F403
