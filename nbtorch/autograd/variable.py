"""torch.autograd.Variable: the pre-0.4 name of a tensor."""
from ..core.tensor import Tensor, TensorMeta


class _VariableMeta(TensorMeta):
    def __call__(cls, data=None, requires_grad=False, volatile=False):
        from ..core.interop import tensor
        t = data.detach() if isinstance(data, Tensor) else tensor(data)
        return t.requires_grad_(requires_grad) if requires_grad else t

    def __instancecheck__(cls, value):
        return isinstance(value, Tensor)


class Variable(metaclass=_VariableMeta):
    """`Variable(tensor, requires_grad)` returns a tensor; isinstance holds for every tensor.

    https://docs.pytorch.org/docs/stable/autograd.html#variable-deprecated
    """
