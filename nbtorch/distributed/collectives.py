"""torch.distributed's collectives on tensors, over the default group."""

import datetime
import threading

from . import group as _group
from .group import ReduceOp

_default = {"group": None}
_lock = threading.Lock()
default_timeout = datetime.timedelta(minutes=30)


def is_available():
    """Whether the package is usable here: always."""
    return True


def is_initialized():
    """Whether init_process_group has been called."""
    return _default["group"] is not None


def init_process_group(
    backend=None,
    init_method=None,
    timeout=None,
    world_size=-1,
    rank=-1,
    store=None,
    group_name="",
    pg_options=None,
    device_id=None,
):
    """Join the default process group; returns when all ranks are in.

    Ranks of one machine, over authenticated loopback sockets. init_method: "file:///path" (makes its own
    key), "env://" or "tcp://127.0.0.1:port" (key in NBTORCH_DIST_KEY). ValueError for missing numbers,
    DistBackendError naming the ranks that did not come. https://docs.pytorch.org/docs/stable/distributed.html
    """
    if backend not in (None, "nb", "gloo"):
        raise RuntimeError(
            f"init_process_group: backend {backend!r} is not available here; use 'nb' (also called 'gloo')"
        )
    if store is not None:
        raise RuntimeError("init_process_group: store= is not supported; use init_method='file:///path'")
    seconds = (timeout or default_timeout).total_seconds()
    with _lock:
        if is_initialized():
            raise ValueError("trying to initialize the default process group twice!")
        _default["group"] = _group.form(init_method, rank, world_size, seconds)


def destroy_process_group(group=None):
    """Leave the group and close its sockets and threads; calling it twice is harmless."""
    with _lock:
        current, _default["group"] = _default["group"], None
    if current is not None:
        current.close()


def get_default_group():
    """The default ProcessGroup; ValueError when there is none."""
    if _default["group"] is None:
        raise ValueError(
            "Default process group has not been initialized, please make sure to call init_process_group."
        )
    return _default["group"]


def get_rank(group=None):
    """This process's rank in the group."""
    return (group or get_default_group()).rank()


def get_world_size(group=None):
    """Number of ranks in the group."""
    return (group or get_default_group()).size()


def get_backend(group=None):
    """Name of the group's backend."""
    return "nb" if (group or get_default_group()) else ""


def _array(tensor):
    return tensor.detach().cpu()._a


def _writer(tensor):
    from ..core.modes import no_grad
    from ..core.tensor import Tensor

    def write(array):
        if array is not None:
            with no_grad():
                tensor.copy_(Tensor._wrap(array.reshape(tensor.shape)))

    return write


def _go(group, kind, array, finish, async_op, **options):
    work = (group or get_default_group()).submit(kind, array, finish, **options)
    if async_op:
        return work
    work.wait()
    return None


def all_reduce(tensor, op=ReduceOp.SUM, group=None, async_op=False):
    """Reduce the tensor over all ranks, in place, the same result (bit for bit) on each."""
    return _go(group, "all_reduce", _array(tensor), _writer(tensor), async_op, op=op)


def reduce(tensor, dst=0, op=ReduceOp.SUM, group=None, async_op=False):
    """Reduce over all ranks into rank dst's tensor."""
    return _go(group, "reduce", _array(tensor), _writer(tensor), async_op, op=op, root=dst)


def broadcast(tensor, src=0, group=None, async_op=False):
    """Copy rank src's tensor into every rank's; shapes and dtypes must agree."""
    return _go(group, "broadcast", _array(tensor), _writer(tensor), async_op, root=src)


def all_gather(tensor_list, tensor, group=None, async_op=False):
    """Fill tensor_list with every rank's tensor, in rank order."""
    size = get_world_size(group)
    if len(tensor_list) != size:
        raise ValueError(
            f"all_gather: tensor_list has {len(tensor_list)} tensors, the group has {size} ranks"
        )

    def spread(arrays):
        for each, array in zip(tensor_list, arrays):
            _writer(each)(array)

    return _go(group, "all_gather", _array(tensor), spread, async_op)


def all_gather_into_tensor(output_tensor, input_tensor, group=None, async_op=False):
    """Like all_gather into one tensor, concatenated (or stacked) along the first dimension."""
    return _go(group, "all_gather", _array(input_tensor), _writer(output_tensor), async_op)


def gather(tensor, gather_list=None, dst=0, group=None, async_op=False):
    """Collect every rank's tensor in rank dst's gather_list."""
    if get_rank(group) == dst and gather_list is None:
        raise ValueError("Argument ``gather_list`` must be specified on destination rank.")

    def spread(arrays):
        for each, array in zip(gather_list or (), () if arrays is None else arrays):
            _writer(each)(array)

    return _go(group, "gather", _array(tensor), spread, async_op, root=dst)


def scatter(tensor, scatter_list=None, src=0, group=None, async_op=False):
    """Give rank i the i-th tensor of rank src's scatter_list."""
    array = None
    if get_rank(group) == src:
        if scatter_list is None:
            raise ValueError("Argument ``scatter_list`` must be specified on source rank.")
        from ..core.modes import no_grad
        from ..ops import stack

        with no_grad():
            array = _array(stack([each.detach() for each in scatter_list]))
    return _go(group, "scatter", array, _writer(tensor), async_op, root=src)


def reduce_scatter_tensor(output, input, op=ReduceOp.SUM, group=None, async_op=False):
    """Reduce over all ranks, then give rank i the i-th block of the first dimension."""
    size = get_world_size(group)
    if input.shape[0] % size:
        raise RuntimeError(
            f"reduce_scatter_tensor: input of {input.shape[0]} rows does not split over {size} ranks"
        )
    return _go(group, "reduce_scatter", _array(input), _writer(output), async_op, op=op)


def barrier(group=None, async_op=False, device_ids=None):
    """Wait until every rank is here."""
    return _go(group, "barrier", None, None, async_op)


def monitored_barrier(group=None, timeout=None, wait_all_ranks=False):
    """barrier with its own timeout; the error names the ranks that did not come."""
    seconds = None if timeout is None else timeout.total_seconds()
    return _go(group, "barrier", None, None, False, timeout=seconds)
