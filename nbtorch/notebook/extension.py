"""Loading and unloading: one Session per shell holds everything that was hooked, so that unloading leaves
nothing.
"""

import time
import weakref

from ..events.bus import subscribe
from ..profiler import stacks
from . import live, magics, places, runcell
from .comm import Hub

_sessions = weakref.WeakKeyDictionary()


def session_of(shell):
    """The Session of a shell, None when the extension is not loaded there."""
    return _sessions.get(shell)


class Session:
    """What nbtorch has put into one shell."""

    def __init__(self, shell):
        self.shell = shell
        self.cells = places.Cells(shell)
        self.marker = places.Marker(self.cells)
        self.graphs = live.Graphs(self.cells.source)
        self.history = live.History()
        self.calls = live.Calls()
        self.names = live.Names(shell.user_ns)
        self.hub = Hub(self)
        self.sampler = live.Sampler(self.sampled, self.names, self.hub.listening, lambda: self.cells.current)
        self.memory = self.engines = self.amp_message = self.profile_message = None
        self.busy, self.steps_before, self._last_sample = False, 0, (None, 0.0)
        self.subscription = None

    # ---- hooks --------------------------------------------------------------------

    def load(self):
        """Install magics, transformers, events and the observer of places."""
        shell = self.shell
        runcell.install(shell)
        magics.install(shell, self)
        shell.events.register("pre_run_cell", self.before)
        shell.events.register("post_run_cell", self.after)
        stacks.namers.append(self.cells.label)
        self.switch(True)
        self.hub.register()

    def unload(self):
        """Take everything out again and end the cluster."""
        shell = self.shell
        self.hub.close()
        self.switch(False)
        if self.engines is not None:
            self.engines.stop()
            self.engines = None
        stacks.namers.remove(self.cells.label)
        shell.events.unregister("pre_run_cell", self.before)
        shell.events.unregister("post_run_cell", self.after)
        magics.uninstall(shell)
        runcell.uninstall(shell)

    def switch(self, on):
        """Turn the observer of places on or off (`%nbtorch on|off`)."""
        if on and self.subscription is None:
            self.subscription = subscribe(self.marker, light=True)
        elif not on and self.subscription is not None:
            self.subscription.close()
            self.subscription = None

    def before(self, info):
        """A cell is about to run."""
        self.cells.before(info)
        self.busy, self.steps_before = True, self.sampler.steps + self.sampler.backwards

    def after(self, result):
        """A cell has run."""
        self.busy = False
        self.cells.remember()

    # ---- live --------------------------------------------------------------------

    def start_live(self):
        """Observers for a front end that looks."""
        from ..profiler.memory import Memory

        self.memory = Memory(lambda: self.cells.here(4))
        return self.sampler, self.memory

    def stop_live(self):
        """The last front end has gone."""
        self.memory = None

    def sampled(self, graph):
        """The sampler has a new step."""
        self.hub.publish(self.graphs.add(graph), "graph")

    def training(self):
        """Whether the running cell has made a step."""
        return self.busy and self.sampler.steps + self.sampler.backwards > self.steps_before

    def step(self):
        """Optimizer steps (or backward passes) seen so far."""
        return max(self.sampler.steps, self.sampler.backwards) or None

    def sample(self):
        """A MemorySample when memory has changed (or a second has passed while a cell runs), else None."""
        memory = self.memory
        if memory is None:
            return None
        now, state = time.monotonic(), memory.snapshot()[0::2]
        if state == self._last_sample[0] and (not self.busy or now - self._last_sample[1] < 1.0):
            return None
        self._last_sample = (state, now)
        found = live.sample(memory, self.cells.current, self.step())
        self.history.add(found)
        return found

    def top(self, limit):
        """MemoryTop of what is alive."""
        from ..profiler.memory import scan

        memory = self.memory
        if memory is not None:
            with memory.lock:
                lives = list(memory.live.values())
        else:
            lives = list(scan().values())
        return live.top(lives, self.variables(), limit)

    def variables(self):
        """{id of storage: name} of tensors the user can name: variables, parameters, gradients, optimizer
        state.
        """
        return live.variables(self.shell.user_ns)

    def cluster_message(self):
        """ClusterState, None without a cluster."""
        if self.engines is None:
            return None
        from ..events import messages as M

        alive = set(self.engines.alive())
        ranks = [
            M.Rank(rank=rank, host="127.0.0.1", state="idle" if rank in alive else "dead")
            for rank in range(self.engines.size)
        ]
        return M.ClusterState(backend="nb", ranks=ranks)


def load(shell):
    """`%load_ext nbtorch`: install everything once."""
    if shell in _sessions:
        return
    session = Session(shell)
    session.load()
    _sessions[shell] = session


def unload(shell):
    """`%unload_ext nbtorch`: remove everything."""
    session = _sessions.pop(shell, None)
    if session is not None:
        session.unload()
