"""One pass over a DataLoader: in this process, or handed out to workers."""

import itertools
import time
import warnings
import weakref

from ... import ops
from ...core.dtype import int64
from ...events.bus import bus, emit
from ...events.records import SpanEnter, SpanExit
from ._utils.fetch import make_fetcher
from ._utils.pin_memory import pin_memory
from ._utils.worker import ExceptionWrapper

POLL = 0.5  # seconds between looks at whether all workers live


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
