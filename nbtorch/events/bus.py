"""The one event stream. Layers of the door change calls; observers of this bus only look."""
import sys
import threading
import traceback


class Bus:
    """Holds the observers as an immutable tuple, so that nobody listening costs one truth test."""

    __slots__ = ("subscribers", "_lock", "_changed")

    def __init__(self):
        self.subscribers = ()
        self._lock = threading.Lock()
        self._changed = []

    def _set(self, subscribers):
        self.subscribers = subscribers
        for callback in self._changed:
            callback(subscribers)

    def on_change(self, callback):
        """`callback(subscribers)` runs whenever somebody starts or stops listening."""
        self._changed.append(callback)

    def add(self, observer):
        with self._lock:
            self._set((*self.subscribers, observer))

    def remove(self, observer):
        with self._lock:
            self._set(tuple(s for s in self.subscribers if s is not observer))


bus = Bus()


def emit(record):
    """Hand `record` to every observer. One that raises is reported once and stops listening."""
    for observer in bus.subscribers:
        try:
            observer(record)
        except Exception:
            bus.remove(observer)
            print(f"nbtorch: observer {observer!r} failed and was unsubscribed:", file=sys.stderr)
            traceback.print_exc()


class Subscription:
    """Keeps observers subscribed until closed; a context manager that yields them."""

    def __init__(self, observers):
        self.observers = observers
        self._open = True
        for observer in observers:
            bus.add(observer)

    def close(self):
        if self._open:
            self._open = False
            for observer in self.observers:
                bus.remove(observer)

    def __enter__(self):
        return self.observers

    def __exit__(self, *exc):
        self.close()


def subscribe(*observers):
    """Subscribe callables taking one record. Use as a context manager, or keep the result and `close()` it.

    Observers must not keep the tensors a record refers to: reduce them to ids, shapes and numbers at once.
    """
    return Subscription(observers)
