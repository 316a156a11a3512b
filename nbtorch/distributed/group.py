"""Process groups: the ordered queue of one group's collectives, and the handle of one of them."""

import os
import secrets
import threading
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet

from . import rendezvous
from .transports.loopback import Hub, Link


class DistError(RuntimeError):
    """Base of errors of this package (torch.distributed.DistError)."""


class DistBackendError(DistError):
    """A collective failed: a rank is missing, died, or called something else."""


class ReduceOp:
    """Names of the reductions a collective can apply."""

    SUM, AVG, PRODUCT, MIN, MAX = "sum", "avg", "product", "min", "max"
    BAND, BOR, BXOR = "band", "bor", "bxor"


class Work:
    """Handle of a collective that runs in the group's own thread."""

    def __init__(self, future, finish):
        self._future, self._finish = future, finish
        self._lock, self._finished, self._error = threading.Lock(), False, None

    def is_completed(self):
        """Whether the collective ended, well or not."""
        return self._future.done()

    def exception(self):
        """The error of an ended collective, or None."""
        return self._future.exception() if self._future.done() else None

    def wait(self, timeout=None):
        """Wait for the end and put the result in place; raises DistBackendError when the collective failed."""
        seconds = timeout.total_seconds() if hasattr(timeout, "total_seconds") else timeout
        result = _patient(self._future, seconds)
        with self._lock:
            if not self._finished:
                self._finished = True
                self._finish(result)
        return True


def _patient(future, seconds=None):
    """future.result() in short waits, so that an interrupt gets in on every system."""
    import time

    end = None if seconds is None else time.monotonic() + seconds
    while True:
        try:
            return future.result(0.2 if end is None else max(0.0, min(0.2, end - time.monotonic())))
        except NotYet:
            if future.done():
                raise
            if end is not None and time.monotonic() >= end:
                raise DistBackendError(f"wait() timed out after {seconds:g} s") from None


class ProcessGroup:
    """The ranks that take part in a collective, in one fixed order of calls."""

    def __init__(self, rank, size, port, key, timeout, hub=None, path=None):
        self._rank, self._size = rank, size
        self.hub, self.path = hub, path
        self.link = Link(rank, size, port, key, timeout)
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="nbtorch-collectives")

    def rank(self):
        """This process's number in the group."""
        return self._rank

    def size(self):
        """How many ranks the group has."""
        return self._size

    def submit(self, kind, array=None, finish=None, **options):
        """Queue one collective; the Work writes the result with ``finish(array)`` when waited for."""
        return Work(self._pool.submit(self._run, kind, array, options), finish or (lambda result: None))

    def _run(self, kind, array, options):
        try:
            return self.link.call(kind, array, **options)
        except RuntimeError as error:
            raise DistBackendError(str(error)) from None

    def resync(self, generation):
        """After an interrupted cell: forget half-done collectives; all ranks call it with the same number."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="nbtorch-collectives")
        self.link.resync(generation)

    def close(self):
        """Leave; rank 0 then also stops the hub and removes the rendezvous file."""
        self.link.close()
        self._pool.shutdown(wait=False, cancel_futures=True)
        if self.hub is not None:
            self.hub.close()
            if self.path is not None and os.path.exists(self.path):
                os.remove(self.path)


def form(init_method, rank, world_size, timeout):
    """Join (rank 0: open) a group and wait until all ranks are in."""
    path, port, key, rank, world_size = rendezvous.where(init_method, rank, world_size)
    if rank < 0 or world_size < 1:
        raise ValueError("init_process_group needs rank and world_size for this init_method")
    if rank >= world_size:
        raise ValueError(f"rank {rank} does not fit world_size {world_size}")
    hub = None
    if rank == 0:
        key = key or secrets.token_bytes(32)
        hub = Hub(world_size, key, port, timeout)
        port = hub.port
        if path is not None:
            rendezvous.publish(path, port, key)
    elif path is not None:
        port, key = rendezvous.lookup(path, timeout)
    try:
        return ProcessGroup(rank, world_size, port, key, timeout, hub, path)
    except RuntimeError as error:
        if hub is not None:
            hub.close()
        raise DistBackendError(str(error)) from None
