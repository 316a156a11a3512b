"""What runs in a DataLoader worker process."""

import contextlib
import json
import os
import queue
import random
import shutil
import signal
import socket
import sys
import threading
from multiprocessing.connection import Connection

from ._transport import Parcel, receive, send
from ._utils.fetch import make_fetcher
from ._utils.worker import ExceptionWrapper, WorkerInfo, set_worker_info

GRACE = 5.0  # seconds between the parent's going away and a hard exit


def no_delay(sock):
    """Small messages go out at once; without this every large one waits for an acknowledgement first."""
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return sock


def main():
    """Connects to the parent named on standard input and serves it until it goes away."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles the interrupt and closes the workers
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # blocked by the parent until now
    call = json.loads(sys.stdin.readline())
    sys.stdin.close()
    try:
        sock = no_delay(socket.create_connection(("127.0.0.1", call["port"])))
        sock.sendall(bytes.fromhex(call["token"]) + call["id"].to_bytes(4, "big"))
    except ConnectionError:
        return  # the parent gave up before this process had started
    connection = Connection(sock.detach())
    tasks = queue.Queue()
    epoch = [0]  # the newest epoch the parent has begun
    abandoned = threading.Event()
    reader = threading.Thread(target=_read, args=(connection, tasks, epoch, abandoned, call["directory"]), daemon=True)
    reader.start()
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # the parent closed its end with a batch on its way
        _serve(connection, tasks, epoch, call["directory"])
    reader.join(1)
    if abandoned.is_set() and call["directory"] is not None:
        # the parent may have been killed before it could remove it; a batch on its way may have been put there since
        shutil.rmtree(call["directory"], ignore_errors=True)


def _read(connection, tasks, epoch, abandoned, directory):
    """Takes every message off the connection at once, so that the parent never waits to send one."""
    try:
        while True:
            head, parcel = receive(connection)
            if head[0] == "stop":
                break
            if head[0] == "epoch":
                epoch[0] = head[1]
            tasks.put((head, parcel))
    except (EOFError, OSError):
        abandoned.set()
        if directory is not None:  # now too: user code may keep the main thread from ever coming back
            shutil.rmtree(directory, ignore_errors=True)
    tasks.put(None)
    watchdog = threading.Timer(GRACE, os._exit, (1,))
    watchdog.daemon = True
    watchdog.start()


class _Setup:
    """The dataset and functions of this worker; an error while getting them ready answers every task."""

    def __init__(self, options, parcel):
        self.options = options
        self.where = f"in DataLoader worker process {options['id']}"
        self.broken = self.failure = self.fetcher = None
        try:
            sys.path[:] = options["sys_path"]
            self.dataset, self.collate_fn, init_fn = parcel.open()
            self._seed()
            if init_fn is not None:
                init_fn(options["id"])
        except Exception:
            self.broken = ExceptionWrapper(where=self.where)
        self.restart()

    def _seed(self):
        import numpy as np

        from ...backend.threads import set_num_threads
        from ...random import manual_seed

        options = self.options
        base, worker = options["base_seed"], options["id"]
        set_num_threads(1)
        random.seed(base + worker)
        manual_seed(base + worker)
        entropy = [worker, base & 0xFFFFFFFF, base >> 32, 0]
        np.random.seed(np.random.SeedSequence(entropy).generate_state(4))
        set_worker_info(WorkerInfo(worker, options["num_workers"], base + worker, self.dataset))

    def restart(self):
        """A new pass over the dataset."""
        options, self.failure = self.options, self.broken
        if self.failure is not None:
            return
        try:
            self.fetcher = make_fetcher(
                options["iterable"], self.dataset, options["auto_collation"], self.collate_fn, options["drop_last"]
            )
        except Exception:
            self.failure = ExceptionWrapper(where=self.where)

    def answer(self, index, directory):
        """("batch" | "end" | "error", parcel)."""
        if self.failure is not None:
            return "error", _pack_failure(self.failure)
        try:
            return "batch", Parcel.pack(self.fetcher.fetch(index), directory)
        except StopIteration as stop:
            if self.options["iterable"]:
                return "end", None
            return "error", _pack_failure(ExceptionWrapper((StopIteration, stop, stop.__traceback__), self.where))
        except Exception:
            return "error", _pack_failure(ExceptionWrapper(where=self.where))


def _pack_failure(failure):
    try:
        return Parcel.pack(failure)
    except Exception:
        failure.exc_type = RuntimeError  # a type that cannot be sent; its name is in the text
        return Parcel.pack(failure)


def _serve(connection, tasks, epoch, directory):
    setup, ended = None, False
    while (item := tasks.get()) is not None:
        head, parcel = item
        if head[0] == "start":
            setup = _Setup(head[1], parcel)
        elif head[0] == "epoch":
            ended = False
            setup.restart()
        else:
            _, task_epoch, number, index = head
            if task_epoch != epoch[0] or ended:
                continue  # left over from a pass the parent gave up
            kind, answer = setup.answer(index, directory)
            ended = kind == "end"
            send(connection, (kind, task_epoch, number), answer)
