"""Modules over several devices or processes."""

import importlib

from .data_parallel import DataParallel, data_parallel
from .scatter_gather import gather, replicate, scatter

__all__ = ["DataParallel", "DistributedDataParallel", "data_parallel", "gather", "replicate", "scatter"]


def __getattr__(name):
    # The class lives in nbtorch.distributed, which imports nn; it is fetched when first named.
    if name == "DistributedDataParallel":
        return importlib.import_module("...distributed.ddp", __name__).DistributedDataParallel
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
