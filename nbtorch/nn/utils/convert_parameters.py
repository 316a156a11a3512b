"""Parameters as one vector and back. Source: https://docs.pytorch.org/docs/stable/nn.html#utilities"""

from ... import ops
from ...core.tensor import Tensor

__all__ = ["parameters_to_vector", "vector_to_parameters"]


def _require_one_device(parameter, device):
    if device is not None and parameter.device != device:
        raise TypeError("Found two parameters on different devices, this is currently not supported.")
    return parameter.device


def parameters_to_vector(parameters):
    """All parameters, flattened, one after the other. Raises TypeError when they are on different devices."""
    device, parts = None, []
    for parameter in parameters:
        device = _require_one_device(parameter, device)
        parts.append(parameter.reshape(-1))
    return ops.cat(parts)


def vector_to_parameters(vec, parameters):
    """Makes the parameters views of consecutive parts of `vec`. Raises TypeError when `vec` is no tensor."""
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {type(vec).__name__}")
    device, at = None, 0
    for parameter in parameters:
        device = _require_one_device(parameter, device)
        count = parameter.numel()
        parameter.data = vec[at : at + count].view_as(parameter).data
        at += count
