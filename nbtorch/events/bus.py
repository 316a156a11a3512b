"""The one event stream. Layers of the door change calls; observers of this bus only look."""
import sys
import threading
import traceback


class Bus:
    """Holds the observers as immutable tuples, so that nobody listening costs one truth test.

    `subscribers` get every record. `nodes` are these and the light observers, which get NodeMade and module spans only:
    they may stay on all the time, as nothing else is measured or emitted for them.
    """

    __slots__ = ("subscribers", "nodes", "_light", "_lock", "_changed")

    def __init__(self):
        self.subscribers = self.nodes = self._light = ()
        self._lock = threading.Lock()
        self._changed = []

    def _set(self, subscribers):
        self.subscribers = subscribers
        self.nodes = (*self._light, *subscribers)
        for callback in self._changed:
            callback(subscribers)

    def on_change(self, callback):
        """`callback(subscribers)` runs whenever somebody starts or stops listening."""
        self._changed.append(callback)

    def add(self, observer, light=False):
        with self._lock:
            if light:
                self._light = (*self._light, observer)
                self.nodes = (*self._light, *self.subscribers)
            else:
                self._set((*self.subscribers, observer))

    def remove(self, observer):
        with self._lock:
            self._light = tuple(s for s in self._light if s is not observer)
            self._set(tuple(s for s in self.subscribers if s is not observer))


bus = Bus()


def emit(record):
    """Hand `record` to every observer. One that raises is reported once and stops listening."""
    _hand(record, bus.subscribers)


def emit_node(record):
    """The same for a NodeMade or a module span, which light observers get too."""
    _hand(record, bus.nodes)


def _hand(record, observers):
    for observer in observers:
        try:
            observer(record)
        except Exception:
            bus.remove(observer)
            print(f"nbtorch: observer {observer!r} failed and was unsubscribed:", file=sys.stderr)
            traceback.print_exc()


class Subscription:
    """Keeps observers subscribed until closed; a context manager that yields them."""

    def __init__(self, observers, light=False):
        self.observers = observers
        self._open = True
        for observer in observers:
            bus.add(observer, light)

    def close(self):
        if self._open:
            self._open = False
            for observer in self.observers:
                bus.remove(observer)

    def __enter__(self):
        return self.observers

    def __exit__(self, *exc):
        self.close()


def subscribe(*observers, light=False):
    """Subscribe callables taking one record. Use as a context manager, or keep the result and `close()` it.

    light: only NodeMade and module spans, at a fraction of the cost of listening to everything. Observers must not keep
    the tensors a record refers to: reduce them to ids, shapes and numbers at once.
    """
    return Subscription(observers, light)
