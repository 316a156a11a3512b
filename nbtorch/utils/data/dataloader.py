"""DataLoader. Source: https://docs.pytorch.org/docs/stable/data.html"""

import itertools
import math
import multiprocessing
import os
import time
import warnings
import weakref

from ... import ops
from ...core.dtype import int64
from ...events.bus import bus, emit
from ...events.records import SpanEnter, SpanExit
from ._utils.collate import default_collate, default_convert
from ._utils.fetch import make_fetcher
from ._utils.pin_memory import pin_memory
from ._utils.worker import ExceptionWrapper, WorkerInfo, get_worker_info
from .dataset import IterableDataset
from .sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler

__all__ = ["DataLoader", "default_collate", "default_convert", "get_worker_info", "WorkerInfo"]

POLL = 0.5  # seconds between looks at whether all workers live


class _InfiniteConstantSampler(Sampler):
    """None, forever: an iterable dataset has its own order."""

    def __iter__(self):
        return itertools.repeat(None)


def _check_workers(num_workers, timeout, prefetch_factor, persistent_workers):
    if num_workers < 0:
        raise ValueError(
            "num_workers option should be non-negative; use num_workers=0 to disable multiprocessing."
        )
    if timeout < 0:
        raise ValueError("timeout option should be non-negative")
    if num_workers == 0 and prefetch_factor is not None:
        raise ValueError(
            "prefetch_factor option could only be specified in multiprocessing."
            "let num_workers > 0 to enable multiprocessing, otherwise set prefetch_factor to None."
        )
    if prefetch_factor is not None and prefetch_factor < 0:
        raise ValueError("prefetch_factor option should be non-negative")
    if persistent_workers and num_workers == 0:
        raise ValueError("persistent_workers option needs num_workers > 0")


def _check_order(iterable, batch_size, shuffle, sampler, batch_sampler, drop_last):
    if iterable:
        for name, value in (("shuffle", shuffle or None), ("sampler", sampler), ("batch_sampler", batch_sampler)):
            if value is not None:
                raise ValueError(
                    f"DataLoader with IterableDataset: expected unspecified {name} option, but got {name}={value}"
                )
    if sampler is not None and shuffle:
        raise ValueError("sampler option is mutually exclusive with shuffle")
    if batch_sampler is not None:
        if batch_size != 1 or shuffle or sampler is not None or drop_last:
            raise ValueError(
                "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last"
            )
    elif batch_size is None and drop_last:
        raise ValueError(
            "batch_size=None option disables auto-batching and is mutually exclusive with drop_last"
        )


class DataLoader:
    """Batches of a dataset, in order or shuffled, made here or in worker processes.

    Worker processes start through nbtorch's own entry module and get dataset, `collate_fn` and `worker_init_fn` by
    value, so they work from notebooks and unguarded scripts alike; `multiprocessing_context` is checked and kept, but
    changes nothing. An error in a worker is raised here with the worker's traceback; a killed worker raises
    RuntimeError with its pid and signal.
    https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.DataLoader
    """

    _FIXED = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")

    def __class_getitem__(cls, item):
        return cls

    def __init__(self, dataset, batch_size=1, shuffle=None, sampler=None, batch_sampler=None, num_workers=0,
                 collate_fn=None, pin_memory=False, drop_last=False, timeout=0, worker_init_fn=None,
                 multiprocessing_context=None, generator=None, *, prefetch_factor=None, persistent_workers=False,
                 pin_memory_device="", in_order=True):
        _check_workers(num_workers, timeout, prefetch_factor, persistent_workers)
        self.dataset = dataset
        self.num_workers = num_workers
        self.prefetch_factor = 2 if num_workers > 0 and prefetch_factor is None else prefetch_factor
        self.pin_memory = pin_memory
        self.pin_memory_device = pin_memory_device
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.multiprocessing_context = multiprocessing_context
        self.in_order = in_order
        self._iterable = isinstance(dataset, IterableDataset)
        _check_order(self._iterable, batch_size, shuffle, sampler, batch_sampler, drop_last)
        if batch_sampler is not None:
            batch_size, drop_last = None, False
        if sampler is None:
            if self._iterable:
                sampler = _InfiniteConstantSampler()
            else:
                sampler = RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)
        if batch_size is not None and batch_sampler is None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.sampler = sampler
        self.batch_sampler = batch_sampler
        self.generator = generator
        default = default_collate if self._auto_collation else default_convert
        self.collate_fn = default if collate_fn is None else collate_fn
        self.persistent_workers = persistent_workers
        self._IterableDataset_len_called = None
        self._iterator = None
        self.check_worker_number_rationality()
        self._initialized = True

    def __setattr__(self, attr, value):
        if attr in self._FIXED and getattr(self, "_initialized", False):
            raise ValueError(f"{attr} attribute should not be set after {type(self).__name__} is initialized")
        super().__setattr__(attr, value)

    @property
    def multiprocessing_context(self):
        """The context given; worker processes do not depend on it."""
        return self._multiprocessing_context

    @multiprocessing_context.setter
    def multiprocessing_context(self, context):
        if context is not None:
            if self.num_workers == 0:
                raise ValueError(
                    "multiprocessing_context can only be used with multi-process loading (num_workers > 0), "
                    f"but got num_workers={self.num_workers}"
                )
            known = multiprocessing.get_all_start_methods()
            if isinstance(context, str) and context not in known:
                raise ValueError(
                    f"multiprocessing_context option should specify a valid start method in {known!r}, "
                    f"but got multiprocessing_context={context!r}"
                )
            if not isinstance(context, (str, multiprocessing.context.BaseContext)):
                raise TypeError(
                    "multiprocessing_context option should be a valid context object or a string specifying the "
                    f"start method, but got multiprocessing_context={context}"
                )
        self._multiprocessing_context = context

    @property
    def _auto_collation(self):
        return self.batch_sampler is not None

    @property
    def _index_sampler(self):
        return self.batch_sampler if self._auto_collation else self.sampler

    def _get_iterator(self):
        return _SingleProcessDataLoaderIter(self) if self.num_workers == 0 else _MultiProcessingDataLoaderIter(self)

    def __iter__(self):
        if not (self.persistent_workers and self.num_workers > 0):
            return self._get_iterator()
        if self._iterator is None or self._iterator.closed:
            self._iterator = self._get_iterator()
        else:
            self._iterator._reset(self)
        return self._iterator

    def __len__(self):
        if not self._iterable:
            return len(self._index_sampler)
        length = self._IterableDataset_len_called = len(self.dataset)
        if self.batch_size is None:
            return length
        return length // self.batch_size if self.drop_last else math.ceil(length / self.batch_size)

    def check_worker_number_rationality(self):
        """Warns when there are more workers than processors."""
        if hasattr(os, "sched_getaffinity"):
            count = len(os.sched_getaffinity(0))
        else:
            count = os.cpu_count()
        if self.num_workers and count and self.num_workers > count:
            warnings.warn(
                f"This DataLoader will create {self.num_workers} worker processes in total. Our suggested max number "
                f"of worker in current system is {count}, which is smaller than what this DataLoader is going to "
                "create. Please be aware that excessive worker creation might get DataLoader running slow or even "
                "freeze, lower the worker number to avoid potential slowness/freeze if necessary.",
                stacklevel=3,
            )


class _BaseDataLoaderIter:
    """One pass over a loader."""

    closed = False

    def __init__(self, loader):
        self._dataset = loader.dataset
        self._iterable = loader._iterable
        self._IterableDataset_len_called = loader._IterableDataset_len_called
        self._index_sampler = loader._index_sampler
        self._num_workers = loader.num_workers
        self._pin_memory = loader.pin_memory and _can_pin()
        if loader.pin_memory and not self._pin_memory:
            warnings.warn(
                "'pin_memory' argument is set as true but no accelerator is found, "
                "then device pinned memory won't be used.",
                stacklevel=4,
            )
        self._sampler_iter = iter(self._index_sampler)
        self._base_seed = int(ops.empty((), dtype=int64).random_(generator=loader.generator).item())
        self._num_yielded = 0

    def __iter__(self):
        return self

    def _reset(self, loader, first_iter=False):
        self._sampler_iter = iter(self._index_sampler)
        self._num_yielded = 0
        self._IterableDataset_len_called = loader._IterableDataset_len_called

    def _next_index(self):
        return next(self._sampler_iter)

    def __next__(self):
        data = self._next_data() if not bus.subscribers else self._spanned()
        self._num_yielded += 1
        expected = self._IterableDataset_len_called
        if self._iterable and expected is not None and self._num_yielded > expected:
            self._warn_about_length(expected)
        return data

    def _spanned(self):
        """The next batch, between the two records by which profilers see how long training waited for it."""
        name = f"enumerate(DataLoader)#{type(self).__name__}.__next__"
        emit(SpanEnter("record_function", name, "", time.perf_counter_ns()))
        try:
            return self._next_data()
        finally:
            emit(SpanExit("record_function", name, "", time.perf_counter_ns()))

    def _warn_about_length(self, expected):
        text = (
            f"Length of IterableDataset {self._dataset} was reported to be {expected}"
            f"(when accessing len(dataloader)), but {self._num_yielded} samples have been fetched. "
        )
        if self._num_workers > 0:
            text += (
                "For multiprocessing data-loading, this could be caused by not properly configuring the "
                "IterableDataset replica at each worker. Please see "
                "https://pytorch.org/docs/stable/data.html#torch.utils.data.IterableDataset for examples."
            )
        warnings.warn(text, stacklevel=3)

    def __len__(self):
        return len(self._index_sampler)

    def __getstate__(self):
        raise NotImplementedError("{} cannot be pickled", type(self).__name__)

    def _finish(self, data):
        return pin_memory(data) if self._pin_memory else data


def _can_pin():
    from ... import cuda

    return cuda.is_available()


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    """Makes batches in this process."""

    def __init__(self, loader):
        super().__init__(loader)
        self._fetcher = make_fetcher(
            self._iterable, loader.dataset, loader._auto_collation, loader.collate_fn, loader.drop_last
        )

    def _next_data(self):
        return self._finish(self._fetcher.fetch(self._next_index()))


class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    """Hands indices to worker processes in turn and gives their batches in order (or, if asked, as they come)."""

    def __init__(self, loader):
        super().__init__(loader)
        self._timeout = loader.timeout
        self._in_order = loader.in_order
        self._persistent = loader.persistent_workers
        self._limit = loader.prefetch_factor * loader.num_workers
        self._epoch = 0
        self._pool = _make_pool(loader, self._base_seed)
        # at collection and at interpreter exit; holds the pool only, so that this object can die
        self._closer = weakref.finalize(self, self._pool.close)
        self._reset(loader, first_iter=True)

    @property
    def closed(self):
        """Whether the workers are gone."""
        return not self._closer.alive

    def _reset(self, loader, first_iter=False):
        super()._reset(loader, first_iter)
        if not first_iter:
            self._epoch += 1
            for worker in range(self._num_workers):
                self._send(worker, ("epoch", self._epoch))
        self._sent = self._next = 0
        self._tasks, self._done = {}, {}  # number -> worker; number -> batch
        self._active = [True] * self._num_workers
        self._turn = itertools.cycle(range(self._num_workers))
        for _ in range(self._limit):
            self._give_task()

    def _send(self, worker, head):
        try:
            self._pool.send(worker, head)
        except RuntimeError:
            self._closer.detach()
            raise

    def _give_task(self):
        """Sends the next index, if there is one, to the worker whose turn it is."""
        try:
            index = self._next_index()
        except StopIteration:
            return
        if not any(self._active):
            return
        if self._in_order:
            worker = next(worker for worker in self._turn if self._active[worker])
        else:
            load = list(self._tasks.values())
            worker = min((w for w, active in enumerate(self._active) if active), key=load.count)
        self._tasks[self._sent] = worker
        self._send(worker, ("fetch", self._epoch, self._sent, index))
        self._sent += 1

    def _next_data(self):
        while True:
            number = self._ready_number()
            if number is not None:
                data = self._done.pop(number)
                self._give_task()
                if isinstance(data, ExceptionWrapper):
                    data.reraise()
                return self._finish(data)
            if not self._tasks:
                if not self._persistent:
                    self._closer()
                raise StopIteration
            self._receive()

    def _ready_number(self):
        """The number of the batch to give now, or None while it is being made."""
        if not self._in_order:
            return next(iter(self._done), None)
        while self._next < self._sent and self._next not in self._done:
            if self._next in self._tasks:
                return None
            self._next += 1  # its worker had nothing more to give
        if self._next >= self._sent:
            return None
        self._next += 1
        return self._next - 1

    def _receive(self):
        started = time.monotonic()
        while True:
            wait = POLL
            if self._timeout > 0:
                wait = min(wait, self._timeout - (time.monotonic() - started))
                if wait <= 0:
                    raise RuntimeError(f"DataLoader timed out after {self._timeout} seconds")
            try:
                messages = self._pool.receive(wait)
            except RuntimeError:
                self._closer.detach()  # the pool has closed itself
                raise
            for worker, (kind, epoch, number), parcel in messages:
                self._take(worker, kind, epoch, number, parcel)
            if messages:
                return

    def _take(self, worker, kind, epoch, number, parcel):
        if epoch != self._epoch:
            if parcel is not None:
                parcel.discard()
        elif kind != "end":
            del self._tasks[number]
            self._done[number] = parcel.open()
        else:
            self._active[worker] = False
            self._tasks = {n: w for n, w in self._tasks.items() if w != worker}
            if not self._persistent:
                self._pool.stop(worker)
            self._give_task()


def _make_pool(loader, base_seed):
    from ._pool import WorkerPool

    options = {
        "base_seed": base_seed, "iterable": loader._iterable, "auto_collation": loader._auto_collation,
        "drop_last": loader.drop_last,
    }
    return WorkerPool(loader.num_workers, (loader.dataset, loader.collate_fn, loader.worker_init_fn), options)
