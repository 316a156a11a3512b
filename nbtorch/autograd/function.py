"""torch.autograd.function."""
from ..core.function import Function, FunctionNode as FunctionCtx, once_differentiable

__all__ = ["Function", "FunctionCtx", "once_differentiable"]
