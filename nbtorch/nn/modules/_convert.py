"""The part of Module that changes dtype, device and memory of all parameters and buffers."""

import warnings

from ... import ops
from ...core.device import device as Device
from ...core.device import memory_format as MemoryFormat
from ...core.dtype import bfloat16, float16, float32, float64
from ...core.dtype import dtype as DType
from ...core.modes import no_grad
from ...core.tensor import Tensor
from ..parameter import tag


def parse_to(*args, **kwargs):
    """The arguments of ``Module.to`` as (device, dtype, non_blocking, memory_format).

    Raises TypeError for arguments ``to`` does not have.
    """
    known = {"device": None, "dtype": None, "non_blocking": False, "memory_format": None}
    unknown = [name for name in kwargs if name not in (*known, "tensor")]
    if unknown:
        raise TypeError(f"to() got an unexpected keyword argument '{unknown[0]}'")
    rest = list(args)
    first = kwargs.pop("tensor", None)
    if first is None and rest and isinstance(rest[0], Tensor):
        first = rest.pop(0)
    if first is not None:
        known.update(device=first.device, dtype=first.dtype)
    elif rest and isinstance(rest[0], DType):
        known["dtype"] = rest.pop(0)
    elif rest:
        place = rest.pop(0)
        known["device"] = None if place is None else Device(place)
        if rest and (rest[0] is None or isinstance(rest[0], DType)):
            known["dtype"] = rest.pop(0)
    if rest:
        known["non_blocking"] = bool(rest.pop(0))
    if len(rest) > 1:
        raise TypeError(f"to() received an invalid combination of arguments - got {len(args)} positional arguments")
    known.update(kwargs)
    if known["device"] is not None:
        known["device"] = Device(known["device"])
    if known["memory_format"] is not None and not isinstance(known["memory_format"], MemoryFormat):
        raise TypeError(f"to(): argument 'memory_format' must be torch.memory_format, not {known['memory_format']!r}")
    return known["device"], known["dtype"], known["non_blocking"], known["memory_format"]


class ConvertMixin:
    """Conversions; parameters keep their identity, only their data changes."""

    def _apply(self, fn, recurse=True):
        """Replaces the data of every parameter, gradient and buffer by ``fn`` of it."""
        if recurse:
            for module in self.children():
                module._apply(fn)
        for param in self._parameters.values():
            if param is None:
                continue
            grad = param.grad
            with no_grad():
                changed = fn(param)
                if changed is not param:
                    param.data = changed
                    tag(param, "parameter")
                if grad is not None:
                    param.grad = None  # the old gradient may not fit the new dtype or device
                    grad.data = fn(grad)
                    param.grad = grad
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
                tag(self._buffers[name], "buffer")
        return self

    def to(self, *args, **kwargs):
        """Moves or casts: ``to(device)``, ``to(dtype)``, ``to(device, dtype)``, ``to(tensor)``, ``to(memory_format=)``.

        Only floating point and complex tensors are cast. Works in place and returns the module; raises TypeError for
        integer dtypes.
        """
        device, dtype, non_blocking, memory_format = parse_to(*args, **kwargs)
        if dtype is not None:
            if not (dtype.is_floating_point or dtype.is_complex):
                raise TypeError(
                    f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={dtype}"
                )
            if dtype.is_complex:
                warnings.warn(
                    "Complex modules are a new feature under active development whose design may change, "
                    "and some modules might not work as expected when using complex tensors as parameters or buffers. "
                    "Please file an issue at https://github.com/pytorch/pytorch/issues/new?template=bug-report.yml "
                    "if a complex module does not work as expected.",
                    stacklevel=2,
                )

        def convert(tensor):
            cast = dtype if tensor.is_floating_point() or tensor.is_complex() else None
            options = {"memory_format": memory_format} if memory_format is not None and tensor.dim() in (4, 5) else {}
            if device is not None:
                options["device"] = device
            if cast is not None:
                options["dtype"] = cast
            try:
                return tensor.to(non_blocking=non_blocking, **options) if options else tensor
            except NotImplementedError as error:
                if str(error) != "Cannot copy out of meta tensor; no data!":
                    raise
                raise NotImplementedError(
                    f"{error} Please use torch.nn.Module.to_empty() instead of torch.nn.Module.to() "
                    "when moving module from meta to a different device."
                ) from None

        return self._apply(convert)

    def to_empty(self, *, device, recurse=True):
        """Moves to `device` without copying: the values are undefined afterwards."""
        return self._apply(lambda t: ops.empty_like(t, device=device), recurse=recurse)

    def type(self, dst_type):
        """Casts every parameter and buffer, integers included."""
        return self._apply(lambda t: t.type(dst_type))

    def float(self):
        """Casts floating point parameters and buffers to float32."""
        return self._apply(lambda t: t.to(float32) if t.is_floating_point() else t)

    def double(self):
        """Casts floating point parameters and buffers to float64."""
        return self._apply(lambda t: t.to(float64) if t.is_floating_point() else t)

    def half(self):
        """Casts floating point parameters and buffers to float16."""
        return self._apply(lambda t: t.to(float16) if t.is_floating_point() else t)

    def bfloat16(self):
        """Casts floating point parameters and buffers to bfloat16."""
        return self._apply(lambda t: t.to(bfloat16) if t.is_floating_point() else t)

    def cpu(self):
        """Moves to the CPU."""
        return self._apply(lambda t: t.cpu())

    def cuda(self, device=None):
        """Moves to a GPU (the current one by default)."""
        return self._apply(lambda t: t.cuda(device))

    def share_memory(self):
        """Moves parameters and buffers to shared memory."""
        return self._apply(lambda t: t.share_memory_())

    def zero_grad(self, set_to_none=True):
        """Drops the gradients of all parameters, or fills them with zeros."""
        if getattr(self, "_is_replica", False):
            warnings.warn(
                "Calling .zero_grad() from a module created with nn.DataParallel() has no effect. "
                "The parameters are copied (in a differentiable manner) from the original module. "
                "This means they are not leaf nodes in autograd and so don't accumulate gradients. "
                "If you need gradients in your forward method, consider using autograd.grad instead.",
                stacklevel=2,
            )
        for param in self.parameters():
            if param.grad is None:
                continue
            if set_to_none:
                param.grad = None
                continue
            if param.grad.grad_fn is not None:
                param.grad.detach_()
            else:
                param.grad.requires_grad_(False)
            param.grad.zero_()

    def _replicate_for_data_parallel(self):
        replica = type(self).__new__(type(self))
        replica.__dict__.update(self.__dict__)
        replica.__dict__.update(
            _parameters={}, _buffers=self._buffers.copy(), _modules=self._modules.copy(), _is_replica=True
        )
        return replica
