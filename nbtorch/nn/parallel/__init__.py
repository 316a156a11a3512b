"""Modules over several devices."""

from .data_parallel import DataParallel, data_parallel
from .scatter_gather import gather, replicate, scatter

__all__ = ["DataParallel", "data_parallel", "gather", "replicate", "scatter"]
