"""Collectives of ranks on one machine, over authenticated sockets on 127.0.0.1.

Rank 0's process holds the ``Hub``: one thread per rank reads contributions and answers them.  The hub, not
the ranks, knows who has arrived, so every failure names the collective, its number and shape, and the ranks
that are missing; a rank whose process dies is noticed through its closed socket and wakes everybody at once.
Connections prove knowledge of a shared key (HMAC challenge both ways) before a frame is read.
"""

import threading
import time
from multiprocessing import AuthenticationError, connection

from . import wire

HOST = "127.0.0.1"
TICK = 0.02


class Call:
    """One collective in progress at the hub."""

    def __init__(self, number, kind, timeout):
        self.number, self.kind = number, kind
        self.parts, self.shapes = {}, {}
        self.deadline = time.monotonic() + timeout
        self.timeout = timeout
        self.done, self.error, self.results = False, None, {}

    def title(self):
        """`all_reduce #5 (256x256 float32)`."""
        shape = next(iter(self.shapes.values()), None)
        return f"{self.kind} #{self.number}" + (f" ({shape})" if shape else "")


def described(array):
    """`256x256 float32`, as errors name what a rank brought."""
    if array is None:
        return ""
    return ("x".join(map(str, array.shape)) if array.ndim else "scalar") + f" {array.dtype.name}"


def _ranks(ranks):
    ranks = sorted(ranks)
    return ("rank " if len(ranks) == 1 else "ranks ") + ", ".join(map(str, ranks))


class Hub:
    """Accepts the ranks of one group and carries out their collectives."""

    def __init__(self, size, key, port=0, timeout=1800.0):
        self.size, self.key, self.timeout = size, key, timeout
        self.listener = connection.Listener((HOST, port), backlog=max(8, size))
        self.port = self.listener.address[1]
        self.changed = threading.Condition()
        self.joined, self.lost, self.calls = {}, {}, {}
        self.generation = 0
        self.closed = False
        self.threads = [threading.Thread(target=self._accept, name="nbtorch-hub", daemon=True)]
        self.threads[0].start()

    # ---- joining --------------------------------------------------------------------

    def _accept(self):
        while not self.closed and len(self.joined) < self.size:
            try:
                conn = self.listener.accept()
            except OSError:
                if self.closed:
                    break
                continue
            if self.closed:
                conn.close()
                break
            thread = threading.Thread(
                target=self._welcome, args=(conn,), name="nbtorch-hub-rank", daemon=True
            )
            thread.start()
            self.threads.append(thread)
        self.listener.close()

    def _welcome(self, conn):
        wire.prompt(conn)
        try:
            connection.deliver_challenge(conn, self.key)
            connection.answer_challenge(conn, self.key)
            hello, _ = wire.receive(conn)
            rank = int(hello["rank"])
        except (AuthenticationError, EOFError, OSError, ValueError, KeyError, TypeError):
            conn.close()
            return
        with self.changed:
            refusal = None
            if not 0 <= rank < self.size or hello.get("size") != self.size:
                refusal = f"rank {rank} of {hello.get('size')} does not fit a group of {self.size}"
            elif rank in self.joined:
                refusal = f"rank {rank} has joined already"
            else:
                self.joined[rank] = conn
            self.changed.notify_all()
        if refusal is not None:
            wire.send(conn, {"error": refusal})
            conn.close()
            return
        if len(self.joined) == self.size:
            self._wake()
        self._serve(conn, rank)

    def _wake(self):
        """Let the accept loop look again: a blocked accept is only woken by a connection."""
        try:
            connection.Client((HOST, self.port)).close()
        except OSError:
            self.listener.close()

    # ---- serving --------------------------------------------------------------------

    def _serve(self, conn, rank):
        reason = "its process died"
        try:
            self._wait_for_all(conn)
            while True:
                header, array = wire.receive(conn)
                if header["kind"] == "leave":
                    reason = "it has left the group"
                    break
                if header["kind"] == "resync":
                    self._resync(rank, header["generation"])
                    wire.send(conn, {"resync": header["generation"]})
                    continue
                call = self._arrive(rank, header, array)
                self._finish(call, conn)
                with self.changed:
                    answer = {"error": call.error} if call.error else {"number": call.number}
                    result = None if call.error else call.results.get(rank)
                wire.send(conn, answer, result)
        except (EOFError, OSError):
            pass  # the reason above says it
        except (ValueError, KeyError, TypeError) as error:
            reason = f"it sent a malformed message ({error})"
        with self.changed:
            self.lost[rank] = reason
            for call in self.calls.values():
                if rank not in call.parts:
                    self._fail(call, f"{call.title()} cannot finish: rank {rank} is gone ({reason})")
            self.changed.notify_all()
        conn.close()

    def _wait_for_all(self, conn):
        end = time.monotonic() + self.timeout
        with self.changed:
            while len(self.joined) < self.size and not self.closed:
                if time.monotonic() > end:
                    break
                self.changed.wait(0.1)
            missing = set(range(self.size)) - set(self.joined)
        if missing:
            wire.send(
                conn,
                {
                    "error": f"timed out after {self.timeout:g} s waiting for {_ranks(missing)} to join the group"
                },
            )
            raise EOFError
        wire.send(conn, {"joined": self.size})

    def _arrive(self, rank, header, array):
        with self.changed:
            number = header["number"]
            call = self.calls.get(number)
            if call is None:
                call = self.calls[number] = Call(number, header["kind"], header.get("timeout", self.timeout))
            shape = header.get("what") or ""
            call.shapes[rank] = shape
            first = next(iter(call.parts.values()), None)
            call.parts[rank] = (header, array)
            if first is not None and not call.done:
                self._compare(call, rank, header, first[0])
            gone = set(self.lost) - set(call.parts)
            if gone and not call.done:
                each = "; ".join(f"rank {r}: {self.lost[r]}" for r in sorted(gone))
                self._fail(call, f"{call.title()} cannot finish: {_ranks(gone)} gone ({each})")
            if len(call.parts) == self.size and not call.done:
                self._complete(call)
            if len(call.parts) == self.size:
                self.calls.pop(number, None)
            self.changed.notify_all()
        return call

    def _compare(self, call, rank, header, first):
        keys = ("kind", "op", "root") if call.kind == "scatter" else ("kind", "op", "root", "what")
        for key in keys:
            if header.get(key) != first.get(key):
                others = sorted(set(call.parts) - {rank})
                self._fail(
                    call,
                    f"{call.kind} #{call.number}: ranks disagree: rank {others[0]} called {_said(first)}, "
                    f"rank {rank} called {_said(header)}",
                )
                return

    def _fail(self, call, message):
        if not call.done:
            call.done, call.error = True, message

    def _complete(self, call):
        headers = {rank: part[0] for rank, part in call.parts.items()}
        arrays = {rank: part[1] for rank, part in call.parts.items()}
        try:
            call.results = wire.compute(call.kind, headers[0], [arrays[rank] for rank in range(self.size)])
            call.done = True
        except (ValueError, TypeError, KeyError) as error:
            self._fail(call, f"{call.title()}: {error}")
        call.parts = dict.fromkeys(call.parts)  # the arrays are not needed any more

    def _finish(self, call, conn):
        """Wait until the call is done, its time is over, or the peer is gone or has something new to say."""
        with self.changed:
            while not call.done:
                self.changed.wait(TICK)
                if call.done:
                    return
                if time.monotonic() > call.deadline:
                    missing = set(range(self.size)) - set(call.parts)
                    self._fail(
                        call,
                        f"{call.title()} timed out after {call.timeout:g} s: {_ranks(missing)} did not arrive; "
                        f"{_ranks(call.parts)} waited",
                    )
                    self.changed.notify_all()
                elif conn.poll(0):
                    if self._closed(conn):
                        raise EOFError
                    return self._fail(call, f"{call.title()} was interrupted")

    @staticmethod
    def _closed(conn):
        """Whether a readable connection is readable because its other end is gone."""
        import socket

        probe = socket.socket(fileno=conn.fileno())
        try:
            return probe.recv(1, socket.MSG_PEEK) == b""
        except OSError:
            return True
        finally:
            probe.detach()  # the descriptor stays the connection's

    def _resync(self, rank, generation):
        with self.changed:
            if generation > self.generation:
                self.generation = generation
                for call in self.calls.values():
                    self._fail(call, f"{call.title()} was abandoned: the group was resynchronised")
                self.calls.clear()
                self.changed.notify_all()

    def close(self):
        """Stop accepting; connections end as their ranks leave."""
        self.closed = True
        with self.changed:
            self.changed.notify_all()
        if self.threads[0].is_alive():
            self._wake()
        for thread in self.threads:
            thread.join(2.0)
        for conn in self.joined.values():
            conn.close()
        self.listener.close()


def _said(header):
    extra = [
        header.get("what") or "",
        header.get("op") or "",
        f"src={header['root']}" if header.get("root") is not None else "",
    ]
    return f"{header['kind']}({', '.join(part for part in extra if part)})"


class Link:
    """One rank's connection to the hub. Calls are synchronous; one thread at a time."""

    def __init__(self, rank, size, port, key, timeout=1800.0):
        self.rank, self.size, self.timeout = rank, size, timeout
        self.number = 0
        self.lock = threading.Lock()
        self.broken = None
        self.conn = self._connect(port, key, timeout)
        wire.prompt(self.conn)
        wire.send(self.conn, {"rank": rank, "size": size})
        answer = self._answer(timeout + 5.0)
        if "error" in answer[0]:
            self.conn.close()
            raise RuntimeError(f"init_process_group: {answer[0]['error']}")

    @staticmethod
    def _connect(port, key, timeout):
        end = time.monotonic() + timeout
        while True:
            try:
                return connection.Client((HOST, port), authkey=key)
            except ConnectionError as error:
                if time.monotonic() > end:
                    raise RuntimeError(
                        f"init_process_group: rank 0 does not listen on {HOST}:{port}"
                    ) from error
                time.sleep(0.05)

    def _answer(self, patience):
        end = time.monotonic() + patience
        while not self.conn.poll(
            min(0.5, max(0.0, end - time.monotonic()))
        ):  # short waits, so that interrupts get in
            if time.monotonic() > end:
                raise TimeoutError
        return wire.receive(self.conn)

    def call(self, kind, array=None, op=None, root=None, timeout=None):
        """Carry out one collective; the result array or None. RuntimeError says what went wrong and who is
        missing.
        """
        with self.lock:
            if self.broken:
                raise RuntimeError(self.broken)
            self.number += 1
            timeout = self.timeout if timeout is None else timeout
            header = {
                "kind": kind,
                "number": self.number,
                "op": op,
                "root": root,
                "timeout": timeout,
                "what": described(array),
            }
            needed = kind != "broadcast" or root == self.rank  # the others only say what they expect
            try:
                wire.send(self.conn, header, array if needed else None)
                answer, result = self._answer(timeout + 5.0)
            except (EOFError, OSError) as error:
                if isinstance(error, TimeoutError):
                    self.broken = (
                        f"{kind} #{self.number}: rank 0, which coordinates the group, does not answer"
                    )
                else:
                    self.broken = (
                        f"{kind} #{self.number} cannot finish: rank 0, which coordinates the group, is gone"
                    )
                raise RuntimeError(self.broken) from None
            except BaseException:
                self.broken = (
                    f"{kind} #{self.number} was interrupted, so this rank is out of step with the others: "
                    "call destroy_process_group() and init_process_group() again on all ranks"
                )
                raise
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return result

    def resync(self, generation):
        """Forget interrupted collectives; every rank of the group calls this with the same, higher
        generation.
        """
        with self.lock:
            wire.send(self.conn, {"kind": "resync", "generation": generation})
            while "resync" not in self._answer(5.0)[0]:
                continue  # late answers to calls that were interrupted
            self.number, self.broken = generation << 32, None

    def close(self):
        """Leave the group."""
        try:
            wire.send(self.conn, {"kind": "leave"})
        except OSError:
            self.broken = "the group is gone"
        self.conn.close()
