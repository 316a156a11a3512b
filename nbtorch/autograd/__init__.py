"""Automatic differentiation: torch.autograd."""
from ..core.engine import backward, grad
from ..core.function import Function
from ..core.modes import (enable_grad, inference_mode, is_grad_enabled, no_grad, set_grad_enabled)
from . import function, grad_mode, graph
from .gradcheck import GradcheckError, gradcheck, gradgradcheck
from .variable import Variable

__all__ = ["Function", "GradcheckError", "Variable", "backward", "enable_grad", "function", "grad", "grad_mode",
           "gradcheck", "gradgradcheck", "graph", "inference_mode", "is_grad_enabled", "no_grad", "set_grad_enabled"]


def __getattr__(name):
    if name == "profiler":                             # a façade of a layer above; loaded when asked for
        import importlib
        return importlib.import_module(f"{__name__}.profiler")
    raise AttributeError(f"module 'torch.autograd' has no attribute '{name}' in nbtorch")
