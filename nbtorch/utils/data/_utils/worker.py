"""What worker processes know about themselves, and how their errors travel."""

import sys
import traceback
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class WorkerInfo:
    """Id, number of workers, seed and the dataset copy of the worker that asks."""

    id: int
    num_workers: int
    seed: int
    dataset: Any
    rng: Any = None
    worker_method: str = "multiprocessing"


_state = {"info": None}


def get_worker_info():
    """In a worker process its WorkerInfo, in the main process None."""
    return _state["info"]


def set_worker_info(info):
    """Called once in each worker process."""
    _state["info"] = info


class KeyErrorMessage(str):
    """A text that KeyError prints as it is; it would print its repr, on one line, otherwise."""

    __slots__ = ()

    def __repr__(self):
        return self


class ExceptionWrapper:
    """An exception as type and text, so that no frame of the worker has to be kept or sent."""

    def __init__(self, exc_info=None, where="in background"):
        exc_info = sys.exc_info() if exc_info is None else exc_info
        self.exc_type = exc_info[0]
        self.exc_msg = "".join(traceback.format_exception(*exc_info))
        self.where = where

    def reraise(self):
        """Raises an exception of the same type whose message holds the worker's traceback."""
        # no local holds the exception: its traceback would hold this frame, and the iterator would outlive its loop
        raise self._exception()

    def _exception(self):
        message = f"Caught {self.exc_type.__name__} {self.where}.\nOriginal {self.exc_msg}"
        if self.exc_type is KeyError:
            message = KeyErrorMessage(message)
        try:
            if getattr(self.exc_type, "message", None):
                return self.exc_type(message=message)
            return self.exc_type(message)
        except Exception:  # a type with other arguments cannot be made from a text
            return RuntimeError(message)
