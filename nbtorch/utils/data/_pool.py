"""The worker processes of a DataLoader, as the main process sees them."""

import hmac
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
from multiprocessing.connection import Connection, wait

from ._transport import Parcel, receive, send, shared_directory
from ._worker import no_delay

POLITE = 2.0  # seconds a worker gets to finish its sample when the loader closes
START = 120.0  # seconds a worker gets to start


class WorkerPool:
    """Starts `count` processes through nbtorch's own entry module and talks to them over loopback connections."""

    def __init__(self, count, shared, options):
        self.directory = shared_directory()
        self.processes, self.connections = [], [None] * count
        try:
            # the same pickle, and where possible the same memory, for all workers
            parcel = Parcel.pack(shared, self.directory, keep=True)
            self._start(count)
            for worker in range(count):
                own = {"id": worker, "num_workers": count, "sys_path": sys.path, **options}
                send(self.connections[worker], ("start", own), parcel)
        except BaseException:
            self.close()
            raise

    def _start(self, count):
        token = secrets.token_bytes(32)
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            for worker in range(count):
                call = {"port": port, "token": token.hex(), "id": worker, "directory": self.directory}
                self.processes.append(_launch(call))
            server.settimeout(0.2)
            deadline = time.monotonic() + START
            while any(connection is None for connection in self.connections):
                self._accept(server, token)
                self.check()
                if time.monotonic() > deadline:
                    raise RuntimeError(f"DataLoader workers did not start within {START:.0f} seconds")

    def _accept(self, server, token):
        try:
            sock, _ = server.accept()
        except TimeoutError:
            return
        sock.settimeout(5.0)
        hello = _read_exactly(sock, len(token) + 4)
        if not hmac.compare_digest(hello[: len(token)], token):
            sock.close()  # somebody else on this machine found the port
            return
        sock.settimeout(None)
        worker = int.from_bytes(hello[len(token) :], "big")
        self.connections[worker] = Connection(no_delay(sock).detach())

    def send(self, worker, head):
        """Sends a message. Raises RuntimeError naming the worker when it is gone."""
        try:
            send(self.connections[worker], head)
        except OSError:
            self.fail(worker)

    def receive(self, timeout):
        """Messages that arrived within `timeout` seconds: a list of (worker, head, parcel)."""
        open_connections = {c: worker for worker, c in enumerate(self.connections) if c is not None}
        messages = []
        for connection in wait(list(open_connections), timeout):
            worker = open_connections[connection]
            try:
                messages.append((worker, *receive(connection)))
            except (EOFError, OSError):
                self.fail(worker)
        if not messages:
            self.check()
        return messages

    def stop(self, worker):
        """Lets one worker end."""
        self.send(worker, ("stop",))
        self.connections[worker].close()
        self.connections[worker] = None

    def check(self):
        """Raises RuntimeError when a worker that should be there has ended."""
        for worker, process in enumerate(self.processes):
            stopped = self.connections[worker] is None and process.poll() == 0
            if process.poll() is not None and not stopped:
                self.fail(worker)

    def fail(self, worker):
        """Closes everything and raises RuntimeError that tells how this worker ended."""
        process = self.processes[worker]
        try:
            code = process.wait(1.0)
        except subprocess.TimeoutExpired:
            code = None
        self.close()
        raise RuntimeError(_cause_of_death(process.pid, code))

    def close(self):
        """Ends all workers and removes what is shared with them; safe to call twice."""
        for connection in self.connections:
            if connection is not None:
                connection.close()
        self.connections = [None] * len(self.connections)
        deadline = time.monotonic() + POLITE
        for end in (None, subprocess.Popen.terminate, subprocess.Popen.kill):
            for process in self.processes:
                if end is not None and process.poll() is None:
                    end(process)
            for process in self.processes:
                try:
                    process.wait(max(0.0, deadline - time.monotonic()))
                except subprocess.TimeoutExpired:
                    continue
            deadline = time.monotonic() + 1.0
        if self.directory is not None:
            shutil.rmtree(self.directory, ignore_errors=True)
            self.directory = None


def _launch(call):
    package = __name__.split(".")[0]
    root = os.path.dirname(os.path.abspath(sys.modules[package].__path__[0]))
    environment = dict(os.environ)
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, [root, environment.get("PYTHONPATH")]))
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        environment.setdefault(name, "1")  # one thread each: the workers are the parallelism
    mask = getattr(signal, "pthread_sigmask", None)
    before = mask and mask(signal.SIG_BLOCK, {signal.SIGINT})  # Ctrl-C is not for a worker, not even while it starts
    try:
        process = subprocess.Popen(
            [sys.executable, "-m", f"{package}.utils.data._worker_main"], stdin=subprocess.PIPE, env=environment
        )
    finally:
        if mask:
            mask(signal.SIG_SETMASK, before)
    try:
        process.stdin.write(json.dumps(call).encode() + b"\n")
        process.stdin.close()
    except OSError:
        process.stdin = None  # it died at once; check() will tell
    return process


def _read_exactly(sock, count):
    data = b""
    try:
        while len(data) < count:
            part = sock.recv(count - len(data))
            if not part:
                break
            data += part
    except OSError:
        return b""
    return data


def _cause_of_death(pid, code):
    if code is not None and code < 0:
        number = -code
        text = f"DataLoader worker (pid {pid}) is killed by signal: {signal.strsignal(number)}. "
        text += f"({signal.Signals(number).name})"
        if number == getattr(signal, "SIGKILL", None):
            text += " The system kills processes like this when memory runs out."
        return text
    if code is None:
        return f"DataLoader worker (pid(s) {pid}) closed its connection unexpectedly"
    return (
        f"DataLoader worker (pid(s) {pid}) exited unexpectedly with exit code {code}. Details are lost due to "
        "multiprocessing. Rerunning with num_workers=0 may give better error trace."
    )
