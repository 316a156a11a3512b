"""torch.distributed for the ranks of one machine. https://docs.pytorch.org/docs/stable/distributed.html"""

from .collectives import (all_gather, all_gather_into_tensor, all_reduce, barrier, broadcast, default_timeout,
                          destroy_process_group, gather, get_backend, get_rank, get_world_size, init_process_group,
                          is_available, is_initialized, monitored_barrier, reduce, reduce_scatter_tensor, scatter)
from .group import DistBackendError, DistError, ProcessGroup, ReduceOp, Work

__all__ = ["DistBackendError", "DistError", "ProcessGroup", "ReduceOp", "Work", "all_gather", "all_gather_into_tensor",
           "all_reduce", "barrier", "broadcast", "default_timeout", "destroy_process_group", "gather", "get_backend",
           "get_rank", "get_world_size", "init_process_group", "is_available", "is_initialized", "monitored_barrier",
           "reduce", "reduce_scatter_tensor", "scatter"]
