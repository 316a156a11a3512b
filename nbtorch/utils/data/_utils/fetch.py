"""From indices to a batch."""

from .collate import default_collate


class MapFetcher:
    """Takes samples of a map-style dataset by index."""

    def __init__(self, dataset, auto_collation, collate_fn, drop_last):
        self.dataset = dataset
        self.auto_collation = auto_collation
        self.collate_fn = collate_fn
        # Rows of tensors that would only be stacked again can be taken all at once.
        self.whole = getattr(dataset, "_collated", None) if collate_fn is default_collate else None

    def fetch(self, index):
        """The batch at a list of indices, or, without batching, the sample at one."""
        if not self.auto_collation:
            return self.collate_fn(self.dataset[index])
        if self.whole is not None and (batch := self.whole(index)) is not None:
            return batch
        if getattr(self.dataset, "__getitems__", None):
            return self.collate_fn(self.dataset.__getitems__(index))
        return self.collate_fn([self.dataset[i] for i in index])


class IterableFetcher:
    """Takes the next samples of an iterable dataset."""

    def __init__(self, dataset, auto_collation, collate_fn, drop_last):
        self.iterator = iter(dataset)
        self.auto_collation = auto_collation
        self.collate_fn = collate_fn
        self.drop_last = drop_last
        self.ended = False

    def fetch(self, index):
        """As many samples as `index` is long. Raises StopIteration at the end."""
        if self.ended:
            raise StopIteration
        if not self.auto_collation:
            return self.collate_fn(next(self.iterator))
        samples = []
        for _ in index:
            try:
                samples.append(next(self.iterator))
            except StopIteration:
                self.ended = True
                break
        if not samples or (self.drop_last and len(samples) < len(index)):
            raise StopIteration
        return self.collate_fn(samples)


def make_fetcher(iterable, dataset, auto_collation, collate_fn, drop_last):
    """The fetcher for this kind of dataset."""
    kind = IterableFetcher if iterable else MapFetcher
    return kind(dataset, auto_collation, collate_fn, drop_last)
