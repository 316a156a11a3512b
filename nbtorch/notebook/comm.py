"""The kernel's side of the live panels: one comm it alone writes, one on which front ends ask.

A comm's requests go to the shell that last sent on it, so a training cell that published on the asking comm
would keep requests waiting until its end.  Requests may be handled in another thread while a cell runs:
handlers read snapshots under locks and never touch tensors.  Nothing runs and nothing listens until a front
end has said hello.
"""

import threading
import time
import uuid

from .. import __version__
from ..events import messages as M
from ..events import schema
from ..events.bus import subscribe

FLUSH = 0.05  # seconds between two flushes
RESEND = 2.0  # a page that was reloaded in the middle of a cell sees everything again this soon


class Hub:
    """Collects items, keeps the newest of each state, sends batches; answers requests."""

    def __init__(self, session):
        self.session, self.id = session, uuid.uuid4().hex
        self.lock = threading.RLock()
        self.data, self.asking = None, {}  # our comm; front ends' comms by id
        self.pending, self.order, self.dropped, self.seq = {}, [], 0, 0
        self.thread, self.stopping = None, threading.Event()
        self.subscription, self.resent, self.changed = None, 0.0, False

    # ---- front ends --------------------------------------------------------------------

    def register(self):
        """Let front ends open the asking comm; True when this shell's kernel has comms."""
        manager = self._manager()
        if manager is not None:
            manager.register_target(M.RPC_TARGET, self.opened)
        return manager is not None

    def _manager(self):
        kernel = getattr(self.session.shell, "kernel", None)
        return getattr(kernel, "comm_manager", None)

    def opened(self, comm, message):
        """A front end opened its asking comm."""
        with self.lock:
            self.asking[comm.comm_id] = comm
        comm.on_msg(lambda msg: self.asked(comm, msg))
        comm.on_close(lambda msg: self.gone(comm.comm_id))

    def gone(self, comm_id):
        """A front end closed; with the last one everything live stops."""
        with self.lock:
            self.asking.pop(comm_id, None)
            last = not self.asking
        if last:
            self.sleep()

    def asked(self, comm, message):
        """Answer one request, whatever it is, with one Batch."""
        content, buffers = message.get("content", {}).get("data"), message.get("buffers")
        number = content.get("request") if isinstance(content, dict) else None
        number = number if type(number) is int else None
        try:
            if buffers:
                raise schema.SchemaError("request: buffers are not expected")
            items = self.answer(schema.parse_request(content))
        except schema.SchemaError as error:
            code = "too-large" if "over the limit" in str(error) else "bad-request"
            items = [M.Error(code=code, text=M.short(str(error), 4000))]
        except Exception as error:  # a broken view must not break the kernel's comms
            items = [M.Error(code="internal", text=M.short(f"{type(error).__name__}: {error}", 4000))]
        comm.send(self._batch(items, number))

    def answer(self, request):
        """The items that answer a request."""
        if isinstance(request, M.Hello):
            if request.version != M.VERSION:
                return [
                    M.Error(
                        code="version", text=f"this kernel speaks version {M.VERSION}, not {request.version}"
                    )
                ]
            self.wake()
            return [self.status(), *self.everything(), self.session.calls.message()]
        if isinstance(request, M.SnapshotRequest):
            return [self.status(), *self.everything()]
        if isinstance(request, M.DetailRequest):
            found = self.session.graphs.detail(request.graph, request.node)
            return [
                found or M.Error(code="unknown-id", text=f"graph {request.graph} has no node {request.node}")
            ]
        return [self.session.top(max(1, min(100, request.limit)))]

    # ---- state --------------------------------------------------------------------

    def status(self):
        """Whether training runs, and where data comes."""
        session = self.session
        return M.Status(
            session=self.id,
            nbtorch=__version__,
            training=session.training(),
            step=session.step(),
            run=session.cells.current,
            data_comm=self.data.comm_id if self.data is not None else "",
        )

    def everything(self):
        """The newest of every state, as items."""
        items = [
            self.session.graphs.whole(),
            self.session.history.message(),
            self.session.amp_message,
            self.session.profile_message,
            self.session.cluster_message(),
        ]
        return [item for item in items if item is not None]

    def listening(self):
        """Whether any front end looks."""
        return self.data is not None

    def wake(self):
        """Open the data comm and start what is live."""
        with self.lock:
            if self.data is not None:
                return
            import comm

            self.data = comm.create_comm(target_name=M.DATA_TARGET, data=self._batch([], None))
            self.stopping.clear()
            self.subscription = subscribe(*self.session.start_live())
            self.thread = threading.Thread(target=self._run, name="nbtorch-hub-flush", daemon=True)
            self.thread.start()

    def sleep(self):
        """Close the data comm and stop what is live; afterwards nothing costs."""
        with self.lock:
            data, self.data = self.data, None
            subscription, self.subscription = self.subscription, None
            self.pending.clear()
            self.order.clear()
        self.stopping.set()
        if subscription is not None:
            subscription.close()
            self.session.stop_live()
        if data is not None:
            data.close()
        if self.thread is not None and self.thread is not threading.current_thread():
            self.thread.join(2.0)
        self.thread = None

    def close(self):
        """Unregister, close every comm."""
        manager = self._manager()
        if manager is not None and M.RPC_TARGET in getattr(manager, "targets", {}):
            manager.unregister_target(M.RPC_TARGET, self.opened)
        self.sleep()
        with self.lock:
            asking, self.asking = list(self.asking.values()), {}
        for each in asking:
            each.close()

    # ---- sending --------------------------------------------------------------------

    def publish(self, item, key=None):
        """Queue an item. Of items with one key (by default their kind) only the newest is sent."""
        if self.data is None:
            return
        key = key or item.kind
        with self.lock:
            if key in self.pending:
                self.dropped += 1
                if (
                    key == "graph"
                    and isinstance(self.pending[key], M.GraphSnapshot)
                    and isinstance(item, M.GraphValues)
                ):
                    item = self.session.graphs.whole()  # the structure has not been sent yet
            else:
                self.order.append(key)
            self.pending[key] = item

    def _batch(self, items, request):
        with self.lock:
            self.seq += 1
            return M.dump(M.Batch(seq=self.seq, dropped=self.dropped, request=request, items=items))

    def _run(self):
        while not self.stopping.wait(FLUSH):
            self.flush()

    def flush(self):
        """Send what is queued and what is counted, and now and then everything again while a cell runs."""
        session, now = self.session, time.monotonic()
        fresh = [item for item in (session.sample(), session.calls.fresh()) if item is not None]
        with self.lock:
            if self.data is None:
                return
            items = [self.pending.pop(key) for key in self.order]
            self.order.clear()
        items += fresh
        busy = session.busy
        if busy and now - self.resent > RESEND:
            self.resent = now
            items = [item for item in items if not isinstance(item, (M.GraphSnapshot, M.GraphValues))]
            items = [self.status(), *self.everything(), *items]
        elif items or busy != self.changed:
            items.insert(0, self.status())
        self.changed = busy
        data = self.data
        if items and data is not None:
            data.send(self._batch(items, None))
