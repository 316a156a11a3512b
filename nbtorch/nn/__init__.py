"""Neural networks: modules, their functional forms, parameters, initial values."""

from . import functional, init, modules, parameter, parallel, utils
from .modules import *
from .parallel import DataParallel
from .parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter
