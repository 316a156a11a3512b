"""Workers of this notebook: an ipyparallel cluster on 127.0.0.1, one engine a rank, with a process group
already joined.

The controller's messages are signed (HMAC) with a key that lies in a folder only this user can read; the
folder goes with the cluster.  While a cell runs on ranks, the registrations of the engines are watched, not
their results: a dead engine ends the cell at once, which a result that waits for it never would.
"""

import atexit
import os
import re
import signal
import tempfile
import time

from . import engine_side

GRACE = 0.3  # how long ranks get to see a death themselves before they are interrupted


class RankError(RuntimeError):
    """A cell failed on some ranks; the rendered traceback shows each distinct failure once."""

    def __init__(self, message, rendered=()):
        super().__init__(message)
        self.rendered = list(rendered)

    def _render_traceback_(self):
        return self.rendered or [f"RankError: {self}"]


def parse_ranks(spec, size):
    """Ranks of a spec: `all`, `0,2`, `0-2`, `!0`. ValueError says what is wrong with it."""
    chosen, refused, text = set(), set(), spec.replace(" ", "") or "all"
    for part in text.split(","):
        target, part = (refused, part[1:]) if part.startswith("!") else (chosen, part)
        if part == "all":
            target.update(range(size))
            continue
        found = re.fullmatch(r"(\d+)(?:-(\d+))?", part)
        if found is None:
            raise ValueError(f"ranks are given as all, 0,2, 0-2 or !0, not {spec!r}")
        first, last = int(found[1]), int(found[2] or found[1])
        if last >= size or first > last:
            raise ValueError(f"rank {part} does not exist: there are ranks 0 to {size - 1}")
        target.update(range(first, last + 1))
    if not (left := (chosen or set(range(size))) - refused):
        raise ValueError(f"no rank is left of {spec!r}")
    return sorted(left)


class Engines:
    """One cluster: its processes, its client, and the rank of each engine."""

    def __init__(self, size, seed=0, timeout=1800.0):
        self.size, self.seed, self.timeout = size, seed, timeout
        self.cluster = self.client = None
        self.ids, self.pids, self.dead, self.last = [], {}, {}, {}
        self.generation = 0
        self.folder = tempfile.mkdtemp(prefix="nbtorch-cluster-")  # readable by this user only

    def start(self):
        """Start controller and engines, give ranks, form the process group."""
        import ipyparallel

        try:
            self.cluster = ipyparallel.Cluster(
                n=self.size,
                profile_dir=os.path.join(self.folder, "profile"),
                controller_ip="127.0.0.1",
                log_level=40,
                shutdown_atexit=True,
            )
            self.cluster.start_cluster_sync()
            self.client = self.cluster.connect_client_sync()
            self.client.wait_for_engines(self.size, timeout=120, interactive=False)
            if not self.client.session.key:
                raise RuntimeError("the cluster's messages are not signed; it is not used")
            self.ids = sorted(self.client.ids)
            self._setup()
        except BaseException:
            self.stop()
            raise
        atexit.register(self._at_exit)
        return self

    def _setup(self):
        pid = os.getpid()
        owner = (pid, engine_side.start_time(pid), self._controller(), self.folder)
        meeting = os.path.join(self.folder, f"meeting-{self.generation}")
        waiting = [
            self.client[engine].apply_async(
                engine_side.setup, rank, self.size, meeting, self.seed + rank, self.timeout, owner
            )
            for rank, engine in enumerate(self.ids)
        ]
        self.pids = {rank: result.get(timeout=120) for rank, result in enumerate(waiting)}
        self.client.purge_everything()

    def _controller(self):
        pid = getattr(getattr(self.cluster, "controller", None), "pid", None)
        return (pid, engine_side.start_time(pid)) if pid else None

    # ---- running --------------------------------------------------------------------

    def alive(self):
        """Ranks whose engines are registered; notes the ones that are gone."""
        registered = set(self.client.ids)
        for rank, engine in enumerate(self.ids):
            if engine not in registered:
                self.dead.setdefault(rank, time.time())
        return [rank for rank in range(self.size) if rank not in self.dead]

    def run(self, code, ranks, show):
        """Run code on ranks until all are done; `show(rank, kind, content)` gets output as it comes.

        RankError when one failed or died; KeyboardInterrupt passes on to the ranks.
        """
        gone = sorted(set(ranks) - set(self.alive()))
        if gone:
            raise RankError(
                f"rank {gone[0]} is dead: its engine ended; %cluster stop and %cluster start bring a new cluster"
            )
        if not code.lstrip("\n").startswith("%%"):
            code = "#\n" + code  # the header line stays counted: line numbers are the cell's
        results = {
            rank: self.client[self.ids[rank]].execute(code, silent=False, block=False) for rank in ranks
        }
        self.last.update(dict.fromkeys(ranks, time.time()))
        flow = Flow(results, show)
        try:
            self._wait(results, flow)
        except KeyboardInterrupt:
            self._interrupt(results, flow)
            self._resync()
            raise
        flow.finish()
        failed = {rank: result for rank, result in results.items() if not result.successful()}
        if failed:
            raise failure(failed)

    def _wait(self, results, flow):
        while not all(result.ready() for result in results.values()):
            time.sleep(0.02)
            flow.pump()
            dead = [rank for rank in results if rank not in self.alive()]
            if dead:
                self._bury(dead, results, flow)

    def _bury(self, dead, results, flow):
        """An engine died: free the others, then end the cell."""
        end = time.monotonic() + GRACE
        others = {rank: result for rank, result in results.items() if rank not in dead}
        while time.monotonic() < end and not all(result.ready() for result in others.values()):
            time.sleep(0.02)
        self._interrupt(others, flow)
        names = ", ".join(map(str, dead))
        raise RankError(
            f"rank {names} died while running this cell (its engine process ended). The other ranks were "
            "interrupted and can run cells; their process group has lost a rank, so collectives fail until "
            "%cluster stop and %cluster start."
        )

    def _interrupt(self, results, flow, patience=5.0):
        """SIGINT to the ranks that still run, until they have stopped."""
        end = time.monotonic() + patience
        busy = [rank for rank, result in results.items() if not result.ready()]
        if busy:
            self.client.send_signal(signal.SIGINT, targets=[self.ids[rank] for rank in busy], block=False)
        while time.monotonic() < end and not all(results[rank].ready() for rank in busy):
            time.sleep(0.02)
        flow.pump()

    def _resync(self):
        alive = self.alive()
        if len(alive) < self.size:
            return  # the group has lost a rank and cannot be in step again
        self.generation += 1
        try:
            self.client[self.ids].apply_async(engine_side.resync, self.generation).get(timeout=10)
        except Exception as error:
            print(
                f"nbtorch: the process group could not be put in step again ({error}); "
                "%cluster stop and %cluster start bring a new one"
            )

    def status(self):
        """[(rank, pid, state, seconds since its last cell or None)]."""
        alive, queue = set(self.alive()), {}
        try:
            queue = self.client.queue_status()
        except Exception as error:
            queue = {"unknown": str(error)}
        rows = []
        for rank, engine in enumerate(self.ids):
            tasks = queue.get(engine, {})
            busy = isinstance(tasks, dict) and tasks.get("queue", 0)
            since = time.time() - self.last[rank] if rank in self.last else None
            rows.append(
                (
                    rank,
                    self.pids.get(rank),
                    "dead" if rank not in alive else "busy" if busy else "idle",
                    since,
                )
            )
        return rows

    # ---- ending --------------------------------------------------------------------

    def stop(self):
        """End every process that was started and remove every file; calling it twice is harmless."""
        atexit.unregister(self._at_exit)
        processes = self._processes()
        if self.client is not None:
            alive = [self.ids[rank] for rank in self.alive()] if self.ids else []
            if alive:
                try:
                    self.client[alive].apply_async(engine_side.leave).get(timeout=0.5)
                    self.client.shutdown(targets=alive, block=False)  # faster than the signals that follow
                except Exception:  # a busy or dying engine leaves by being ended below
                    alive = []
            self.client.close()
            self.client = None
        cluster, self.cluster = self.cluster, None
        try:
            if cluster is not None:
                cluster.stop_cluster_sync()
        finally:
            end(processes)
            engine_side.remove(self.folder)

    def _at_exit(self):
        """The kernel ends and will not be given long: no farewells, the processes and the files go at once."""
        processes, self.cluster.shutdown_atexit = self._processes(), False
        engine_side.remove(self.folder, 1)
        end(processes, 0.0)
        engine_side.remove(self.folder)

    def _processes(self):
        """Every process below the ones this cluster started."""
        import psutil

        found, roots = [], list(self.pids.values())
        for launcher in [
            getattr(self.cluster, "controller", None),
            *getattr(self.cluster, "engines", {}).values(),
        ]:
            process = getattr(launcher, "process", None)
            if process is not None and process.pid:
                roots.append(process.pid)
        for pid in roots:
            try:
                process = psutil.Process(pid)
                found += [process, *process.children(recursive=True)]
            except psutil.Error:
                continue  # it has ended by itself
        return found


def end(processes, patience=0.3):
    """Make sure that these processes (psutil objects, so a reused number is never hit) have ended.

    The helper process of an engine outlives it by seconds; a kernel that shuts down does not get that long.
    """
    import psutil

    _, alive = psutil.wait_procs(processes, timeout=patience)
    for process in alive:
        try:
            process.kill()
        except psutil.NoSuchProcess:
            continue
    psutil.wait_procs(alive, timeout=1.0)


class Flow:
    """Passes on what ranks print and display, as it comes."""

    def __init__(self, results, show):
        self.results, self.show = results, show
        self.seen = {rank: {"stdout": 0, "stderr": 0, "outputs": 0} for rank in results}

    def pump(self, last=False):
        """Show what is new; whole lines only until the end."""
        for rank, result in self.results.items():
            seen = self.seen[rank]
            for stream in ("stdout", "stderr"):
                text = (getattr(result, stream) or "")[seen[stream] :]
                if not last:
                    text = text[: text.rfind("\n") + 1]
                if text:
                    seen[stream] += len(text)
                    self.show(rank, stream, text)
            for output in (result.outputs or [])[seen["outputs"] :]:
                seen["outputs"] += 1
                self.show(rank, "display", output)

    def finish(self):
        """Wait for output still on its way, then show it and the values."""
        for result in self.results.values():
            result.wait_for_output(2)
        self.pump(last=True)
        for rank, result in self.results.items():
            if result.successful() and getattr(result.get(), "execute_result", None):
                self.show(rank, "result", result.get().execute_result)


def failure(failed):
    """One RankError for all failed ranks; equal failures are told once."""
    groups = {}
    for rank, result in failed.items():
        error = result.exception()
        error = getattr(error, "elist", None) and error.elist[0] or error
        name, value = getattr(error, "ename", type(error).__name__), getattr(error, "evalue", str(error))
        text = getattr(error, "traceback", None) or f"{name}: {value}"
        groups.setdefault((name, value), [[], text])[0].append(rank)
    rendered, told = [], []
    for (name, value), (ranks, text) in groups.items():
        who = ("rank " if len(ranks) == 1 else "ranks ") + ", ".join(map(str, ranks))
        told.append(f"{who}: {name}: {value}")
        rendered += [f"--- {who} ---", *(text if isinstance(text, (list, tuple)) else text.splitlines())]
    rendered.append("RankError: " + "; ".join(told))
    return RankError("; ".join(told), rendered)
