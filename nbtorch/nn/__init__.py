"""Neural networks: modules, their functional forms, parameters, initial values."""

from . import attention, functional, grad, init, modules, parallel, parameter, utils  # noqa: F401
from .modules import *  # noqa: F403
from .parallel import DataParallel  # noqa: F401
from .parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter  # noqa: F401
