"""Splitting inputs over devices, copying modules, and bringing outputs together.

Written against the device API; not verified with two GPUs.
"""

from collections.abc import Mapping

from ... import ops
from ...core.device import device as Device
from ...core.tensor import Tensor

__all__ = ["scatter", "scatter_kwargs", "gather", "replicate"]


def scatter(inputs, target_gpus, dim=0):
    """A list with one copy of `inputs` for each device; tensors are split along `dim`, other values are shared."""
    if isinstance(inputs, Tensor):
        places = [Device("cuda", i) if isinstance(i, int) else Device(i) for i in target_gpus]
        return [part.to(place) for part, place in zip(inputs.chunk(len(places), dim), places)]
    if isinstance(inputs, (tuple, list)) and inputs:
        columns = list(zip(*[scatter(value, target_gpus, dim) for value in inputs]))
        if hasattr(inputs, "_fields"):
            return [type(inputs)(*column) for column in columns]
        return [type(inputs)(column) for column in columns]
    if isinstance(inputs, Mapping) and inputs:
        columns = zip(*[scatter(value, target_gpus, dim) for value in inputs.values()])
        return [type(inputs)(zip(inputs.keys(), column)) for column in columns]
    return [inputs for _ in target_gpus]


def scatter_kwargs(inputs, kwargs, target_gpus, dim=0):
    """Arguments for each device: (list of tuples, list of dicts) of equal length."""
    parts = scatter(inputs, target_gpus, dim) if inputs else []
    named = scatter(kwargs, target_gpus, dim) if kwargs else []
    count = max(len(parts), len(named))
    parts = list(parts) + [()] * (count - len(parts))
    named = list(named) + [{}] * (count - len(named))
    return parts, named


def replicate(network, devices, detach=False):
    """Copies of `network` whose parameters are differentiable copies on each device."""
    return [_copy(network, Device("cuda", d) if isinstance(d, int) else Device(d), detach, {}) for d in devices]


def _copy(module, device, detach, memo):
    if id(module) in memo:
        return memo[id(module)]
    replica = memo[id(module)] = module._replicate_for_data_parallel()
    for name, param in module._parameters.items():
        if param is None:
            replica._parameters[name] = None
        else:
            # a plain attribute: the copy is no leaf, so it is no parameter of the replica
            object.__setattr__(replica, name, (param.detach() if detach else param).to(device))
    for name, buffer in module._buffers.items():
        replica._buffers[name] = None if buffer is None else buffer.to(device)
    for name, child in module._modules.items():
        replica._modules[name] = None if child is None else _copy(child, device, detach, memo)
    return replica


def gather(outputs, target_device, dim=0):
    """The outputs of all devices joined along `dim` on `target_device`."""
    first = outputs[0]
    place = Device("cuda", target_device) if isinstance(target_device, int) else Device(target_device)
    if isinstance(first, Tensor):
        if all(out.dim() == 0 for out in outputs):
            return ops.stack([out.to(place) for out in outputs])
        return ops.cat([out.to(place) for out in outputs], dim)
    if first is None:
        return None
    if isinstance(first, Mapping):
        if not all(len(out) == len(first) for out in outputs):
            raise ValueError("All dicts must have the same number of keys")
        return type(first)((key, gather([out[key] for out in outputs], target_device, dim)) for key in first)
    columns = [gather(list(column), target_device, dim) for column in zip(*outputs)]
    return type(first)(*columns) if hasattr(first, "_fields") else type(first)(columns)
