"""DistributedSampler: every process takes its own share of the samples."""

import math
import sys

from ... import ops
from ...core.generator import Generator
from .sampler import Sampler

__all__ = ["DistributedSampler"]


def _group():
    # utils lies below distributed and may not import it; where it is in use, it is loaded.
    distributed = sys.modules.get(f"{__name__.split('.')[0]}.distributed")
    if distributed is None or not distributed.is_available():
        raise RuntimeError("Requires distributed package to be available")
    return distributed


class DistributedSampler(Sampler):
    """Shuffles (by `seed` and epoch, equally everywhere) and gives process `rank` every `num_replicas`-th sample.

    Call ``set_epoch`` before each epoch for another order. Raises ValueError for a rank outside the group,
    RuntimeError when size or rank is not given and there is no process group.
    """

    def __init__(self, dataset, num_replicas=None, rank=None, shuffle=True, seed=0, drop_last=False):
        num_replicas = _group().get_world_size() if num_replicas is None else num_replicas
        rank = _group().get_rank() if rank is None else rank
        if rank >= num_replicas or rank < 0:
            raise ValueError(f"Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]")
        self.dataset = dataset
        self.num_replicas = num_replicas
        self.rank = rank
        self.epoch = 0
        self.drop_last = drop_last
        count = len(dataset)
        if drop_last and count % num_replicas != 0:
            self.num_samples = math.ceil((count - num_replicas) / num_replicas)
        else:
            self.num_samples = math.ceil(count / num_replicas)
        self.total_size = self.num_samples * num_replicas
        self.shuffle = shuffle
        self.seed = seed

    def __iter__(self):
        count = len(self.dataset)
        if self.shuffle:
            generator = Generator()
            generator.manual_seed(self.seed + self.epoch)
            indices = ops.randperm(count, generator=generator).tolist()
        else:
            indices = list(range(count))
        if self.drop_last:
            indices = indices[: self.total_size]
        else:  # repeat from the start until every process has as many
            indices = (indices * math.ceil(self.total_size / max(count, 1)))[: self.total_size]
        if len(indices) != self.total_size:
            raise AssertionError(
                f"Number of indices ({len(indices)}) does not match total_size ({self.total_size})"
            )
        return iter(indices[self.rank : self.total_size : self.num_replicas])

    def __len__(self):
        return self.num_samples

    def set_epoch(self, epoch):
        """Chooses the order of the next pass."""
        self.epoch = epoch
