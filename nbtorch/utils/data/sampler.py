"""Samplers: the order in which samples are taken. Source: https://docs.pytorch.org/docs/stable/data.html"""

import itertools

from ... import ops
from ...core.dtype import float64, int64
from ...core.generator import Generator
from ...core.interop import as_tensor

__all__ = ["BatchSampler", "RandomSampler", "Sampler", "SequentialSampler", "SubsetRandomSampler",
           "WeightedRandomSampler"]


class Sampler:
    """Base class: subclasses define ``__iter__`` over indices, and ``__len__`` where it is known."""

    def __class_getitem__(cls, item):
        return cls

    def __init__(self, data_source=None):
        """Takes and ignores what older subclasses pass."""

    def __iter__(self):
        raise NotImplementedError(f"{type(self).__name__} does not define __iter__")


def _require_count(num_samples):
    if not isinstance(num_samples, int) or isinstance(num_samples, bool) or num_samples <= 0:
        raise ValueError(f"num_samples should be a positive integer value, but got num_samples={num_samples}")


class SequentialSampler(Sampler):
    """0, 1, 2, ..."""

    def __init__(self, data_source):
        self.data_source = data_source

    def __iter__(self):
        return iter(range(len(self.data_source)))

    def __len__(self):
        return len(self.data_source)


class RandomSampler(Sampler):
    """A random order, or, with `replacement`, `num_samples` independent draws.

    Draws one seed from the default generator at the start of each pass, unless `generator` is given.
    """

    def __init__(self, data_source, replacement=False, num_samples=None, generator=None):
        self.data_source = data_source
        self.replacement = replacement
        self._num_samples = num_samples
        self.generator = generator
        if not isinstance(replacement, bool):
            raise TypeError(f"replacement should be a boolean value, but got replacement={replacement}")
        _require_count(self.num_samples)

    @property
    def num_samples(self):
        """How many indices a pass gives."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self):
        count = len(self.data_source)
        generator = self.generator
        if generator is None:
            generator = Generator()
            generator.manual_seed(int(ops.empty((), dtype=int64).random_().item()))
        whole, rest = divmod(self.num_samples, 32 if self.replacement else count)
        for _ in range(whole):
            if self.replacement:
                yield from ops.randint(high=count, size=(32,), dtype=int64, generator=generator).tolist()
            else:
                yield from ops.randperm(count, generator=generator).tolist()
        if self.replacement:
            yield from ops.randint(high=count, size=(rest,), dtype=int64, generator=generator).tolist()
        else:
            # drawn even for rest == 0, as PyTorch does: the generator may be the caller's
            yield from ops.randperm(count, generator=generator).tolist()[:rest]

    def __len__(self):
        return self.num_samples


class SubsetRandomSampler(Sampler):
    """The given indices in random order."""

    def __init__(self, indices, generator=None):
        self.indices = indices
        self.generator = generator

    def __iter__(self):
        for at in ops.randperm(len(self.indices), generator=self.generator).tolist():
            yield self.indices[at]

    def __len__(self):
        return len(self.indices)


class WeightedRandomSampler(Sampler):
    """`num_samples` draws with the given probabilities (they need not add up to 1)."""

    def __init__(self, weights, num_samples, replacement=True, generator=None):
        _require_count(num_samples)
        if not isinstance(replacement, bool):
            raise ValueError(f"replacement should be a boolean value, but got replacement={replacement}")
        weights = as_tensor(weights, dtype=float64)
        if weights.dim() != 1:
            raise ValueError(
                f"weights should be a 1d sequence but given weights have shape {tuple(weights.shape)}"
            )
        self.weights = weights
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def __iter__(self):
        yield from ops.multinomial(self.weights, self.num_samples, self.replacement, generator=self.generator).tolist()

    def __len__(self):
        return self.num_samples


class BatchSampler(Sampler):
    """Lists of `batch_size` indices from another sampler."""

    def __init__(self, sampler, batch_size, drop_last):
        if not isinstance(batch_size, int) or isinstance(batch_size, bool) or batch_size <= 0:
            raise ValueError(f"batch_size should be a positive integer value, but got batch_size={batch_size}")
        if not isinstance(drop_last, bool):
            raise ValueError(f"drop_last should be a boolean value, but got drop_last={drop_last}")
        self.sampler = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __iter__(self):
        indices = iter(self.sampler)
        while batch := list(itertools.islice(indices, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch

    def __len__(self):
        whole, rest = divmod(len(self.sampler), self.batch_size)
        return whole + (1 if rest and not self.drop_last else 0)
