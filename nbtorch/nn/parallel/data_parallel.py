"""DataParallel: one module on several GPUs of one process; without a GPU it just runs the module."""

from ...core.device import device as Device
from ..modules.module import Module

__all__ = ["DataParallel", "data_parallel"]


def _gpu_count():
    from ... import cuda

    return cuda.device_count() if cuda.is_available() else 0


class DataParallel(Module):
    """Runs `module`; batches are split along `dim` over the devices where there are several.

    https://docs.pytorch.org/docs/stable/generated/torch.nn.DataParallel.html
    """

    def __init__(self, module, device_ids=None, output_device=None, dim=0):
        super().__init__()
        count = _gpu_count()
        self.module = module
        self.dim = dim
        if count == 0:
            self.device_ids = []
            return
        ids = list(range(count)) if device_ids is None else list(device_ids)
        if not ids:
            raise RuntimeError("no available devices were found")
        self.device_ids = [_index(i) for i in ids]
        self.output_device = self.device_ids[0] if output_device is None else _index(output_device)
        self.src_device_obj = Device("cuda", self.device_ids[0])
        if len(self.device_ids) == 1:
            self.module.to(self.src_device_obj)

    def forward(self, *inputs, **kwargs):
        if len(self.device_ids) <= 1:
            return self.module(*inputs, **kwargs)
        from .scatter_gather import gather, replicate, scatter_kwargs

        parts, named = scatter_kwargs(inputs, kwargs, self.device_ids, self.dim)
        if not parts and not named:
            parts, named = [()], [{}]
        if len(parts) == 1:
            return self.module(*parts[0], **named[0])
        replicas = replicate(self.module, self.device_ids[: len(parts)])
        outputs = [replica(*part, **names) for replica, part, names in zip(replicas, parts, named)]
        return gather(outputs, self.output_device, self.dim)


def _index(value):
    return value if isinstance(value, int) else Device(value).index or 0


def data_parallel(module, inputs, device_ids=None, output_device=None, dim=0, module_kwargs=None):
    """Runs `module` once as ``DataParallel`` would."""
    inputs = inputs if isinstance(inputs, tuple) else (inputs,)
    return DataParallel(module, device_ids, output_device, dim)(*inputs, **(module_kwargs or {}))
