"""DistributedDataParallel: every rank has the whole model, gradients are averaged while backward runs.

Gradients are gathered in buckets in reverse order of registration, roughly the order backward makes them; a
full bucket is reduced in the group's own thread while backward goes on.  The last one to fill waits for all
and writes the averages back.
"""

import contextlib

from ..core.engine import collect, edge_of
from ..core.modes import is_grad_enabled, no_grad
from ..core.tensor import Tensor
from ..nn.modules.module import Module
from . import collectives
from .group import ReduceOp

FIRST_BUCKET = 1 << 20
NOT_FINISHED = (
    "Expected to have finished reduction in the prior iteration before starting a new one. "
    "This error indicates that your module has parameters that were not used in producing loss. "
    "You can enable unused parameter detection by passing the keyword argument "
    "`find_unused_parameters=True` to `torch.nn.parallel.DistributedDataParallel`, and by making sure all "
    "`forward` function outputs participate in calculating loss."
)


class Bucket:
    """Parameters whose gradients travel together."""

    def __init__(self, indices):
        self.indices, self.waiting, self.work, self.flat = indices, set(indices), None, None


def make_buckets(params, cap):
    """Buckets of parameter indices, last parameter first, one dtype each, the first one small."""
    buckets, open_, sizes = [], {}, {}
    limit = min(FIRST_BUCKET, cap)
    for index in reversed(range(len(params))):
        dtype = params[index].dtype
        open_.setdefault(dtype, []).append(index)
        sizes[dtype] = sizes.get(dtype, 0) + params[index].nbytes
        if sizes[dtype] >= limit:
            buckets.append(Bucket(open_.pop(dtype)))
            sizes[dtype], limit = 0, cap
    return buckets + [Bucket(indices) for indices in open_.values()]


class Reducer:
    """Averages gradients over the group, bucket by bucket, in the same order on every rank."""

    def __init__(self, names, params, group, cap, find_unused):
        self.names, self.params, self.group, self.find_unused = names, params, group, find_unused
        self.buckets = make_buckets(params, cap)
        self.where = {index: bucket for bucket in self.buckets for index in bucket.indices}
        self.enabled, self.armed, self.started, self.launched, self.unused = True, False, False, 0, set()
        self.handles = [
            param.register_post_accumulate_grad_hook(self._hook(index)) for index, param in enumerate(params)
        ]

    def _hook(self, index):
        def ready(param):
            if not (self.armed and self.enabled):
                return
            if not self.started:  # only now is it certain that a backward follows the forward
                self.started = True
                for other in sorted(self.unused):
                    self.mark(other)
            self.mark(index)

        return ready

    def arm(self, outputs):
        """A forward that will be followed by a synchronised backward has ended."""
        if self.armed and self.started:
            missing = [self.names[i] for bucket in self.buckets for i in sorted(bucket.waiting)]
            raise RuntimeError(
                NOT_FINISHED
                + " Parameters which did not receive grad in the prior iteration: "
                + ", ".join(missing)
            )
        for bucket in self.buckets:
            bucket.waiting, bucket.work, bucket.flat = set(bucket.indices), None, None
        self.armed, self.started, self.launched = True, False, 0
        self.unused = self._unreached(outputs) if self.find_unused else set()

    def _unreached(self, outputs):
        edges = [edge for edge in (edge_of(t) for t in _tensors(outputs)) if edge is not None]
        _, leaves = collect(edges)
        reached = {id(node.variable) for node in leaves}
        return {index for index, param in enumerate(self.params) if id(param) not in reached}

    def mark(self, index):
        """The gradient of one parameter is there (or will not come)."""
        self.where[index].waiting.discard(index)
        while self.launched < len(self.buckets) and not self.buckets[self.launched].waiting:
            self._launch(self.buckets[self.launched])
            self.launched += 1
        if self.launched == len(self.buckets):
            self._finish()

    def _launch(self, bucket):
        from .. import ops

        with no_grad():
            parts = [self._gradient(index).reshape(-1) for index in bucket.indices]
            bucket.flat = ops.cat(parts) if len(parts) > 1 else parts[0].clone()
        bucket.work = collectives.all_reduce(bucket.flat, ReduceOp.AVG, self.group, async_op=True)

    def _gradient(self, index):
        from .. import ops

        grad = self.params[index].grad
        return grad if grad is not None else ops.zeros_like(self.params[index])

    def _finish(self):
        self.armed = False
        nowhere = self._used_nowhere()
        for bucket in self.buckets:
            bucket.work.wait()
            self._write(bucket, nowhere)
            bucket.work = bucket.flat = None

    def _used_nowhere(self):
        """Indices of parameters that no rank used; their gradients stay what they were."""
        if not self.find_unused:
            return set()
        from .. import ops

        used = ops.ones(len(self.params))
        with no_grad():
            for index in self.unused:
                used[index] = 0
        collectives.all_reduce(used, ReduceOp.MAX, self.group)
        return {index for index, value in enumerate(used.tolist()) if value == 0}

    def _write(self, bucket, nowhere):
        at = 0
        with no_grad():
            for index in bucket.indices:
                param = self.params[index]
                count = param.numel()
                if index not in nowhere:
                    average = bucket.flat[at : at + count].reshape(param.shape)
                    if param.grad is None:
                        param.grad = average.clone()
                    else:
                        param.grad.copy_(average)
                at += count


def _tensors(value):
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _tensors(each)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _tensors(each)
    elif hasattr(value, "__dataclass_fields__"):
        for name in value.__dataclass_fields__:
            yield from _tensors(getattr(value, name))


class DistributedDataParallel(Module):
    """Wrap a module so that backward leaves the mean of all ranks' gradients in every rank.

    Parameters and buffers are copied from rank 0 at construction; buffers again before each training forward
    when broadcast_buffers. bucket_cap_mb bounds how much is reduced at once. ValueError without a process
    group, RuntimeError without parameters that need a gradient, or when parameters stay unused without
    find_unused_parameters=True.
    https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html
    """

    def __init__(
        self,
        module,
        device_ids=None,
        output_device=None,
        dim=0,
        broadcast_buffers=True,
        init_sync=True,
        process_group=None,
        bucket_cap_mb=None,
        find_unused_parameters=False,
        check_reduction=False,
        gradient_as_bucket_view=False,
        static_graph=False,
    ):
        super().__init__()
        self.process_group = process_group or collectives.get_default_group()
        if not any(p.requires_grad for p in module.parameters()):
            raise RuntimeError(
                "DistributedDataParallel is not needed when a module doesn't have any parameter that "
                "requires a gradient."
            )
        self.module, self.device_ids, self.output_device, self.dim = module, device_ids, output_device, dim
        self.broadcast_buffers, self.find_unused_parameters = broadcast_buffers, find_unused_parameters
        self.require_backward_grad_sync = True
        if init_sync:
            self._copy_from_first([*module.parameters(), *module.buffers()])
        named = [(name, p) for name, p in module.named_parameters() if p.requires_grad]
        cap = int((25 if bucket_cap_mb is None else bucket_cap_mb) * (1 << 20))
        self.reducer = Reducer(
            [n for n, _ in named], [p for _, p in named], self.process_group, cap, find_unused_parameters
        )

    def _copy_from_first(self, tensors):
        for tensor in tensors:
            collectives.broadcast(tensor.detach(), 0, self.process_group)

    @contextlib.contextmanager
    def no_sync(self):
        """Backward inside adds to the gradients of this rank only; the next one outside averages the sums."""
        before, self.require_backward_grad_sync = self.require_backward_grad_sync, False
        self.reducer.enabled = False
        try:
            yield
        finally:
            self.require_backward_grad_sync = self.reducer.enabled = before

    def forward(self, *inputs, **kwargs):
        """The module's forward; a backward through its result is synchronised."""
        if self.broadcast_buffers and self.module.training and self.require_backward_grad_sync:
            self._copy_from_first(list(self.module.buffers()))
        outputs = self.module(*inputs, **kwargs)
        if self.require_backward_grad_sync and is_grad_enabled():
            self.reducer.arm(outputs)
        return outputs

    def __getstate__(self):
        raise TypeError(
            "a DistributedDataParallel module belongs to its process group; save module.state_dict() instead"
        )
