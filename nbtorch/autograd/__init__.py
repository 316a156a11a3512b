"""Automatic differentiation: torch.autograd."""
from ..core.engine import backward, grad
from ..core.function import Function
from ..core.modes import (enable_grad, inference_mode, is_grad_enabled, no_grad, set_grad_enabled)
from . import anomaly_mode, function, grad_mode, graph
from .anomaly_mode import detect_anomaly, is_anomaly_check_nan_enabled, is_anomaly_enabled, set_detect_anomaly
from .gradcheck import GradcheckError, gradcheck, gradgradcheck
from .variable import Variable

__all__ = ["anomaly_mode", "detect_anomaly", "set_detect_anomaly", "is_anomaly_enabled", "is_anomaly_check_nan_enabled", "Function", "GradcheckError", "Variable", "backward", "enable_grad", "function", "grad", "grad_mode",
           "gradcheck", "gradgradcheck", "graph", "inference_mode", "is_grad_enabled", "no_grad", "set_grad_enabled"]


def __getattr__(name):
    if name == "profiler":                             # a façade of a layer above; loaded when asked for
        import importlib
        return importlib.import_module(f"{__name__}.profiler")
    raise AttributeError(f"module 'torch.autograd' has no attribute '{name}' in nbtorch")
