"""Which cell and line made something: cell files to run numbers, and an observer that writes it on autograd
nodes.

A kernel names a cell's code by a hash of its source, so equal cells share a name; the run number is noted
before each run.
"""

import os
import sys
import threading

from ..events import records as R

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
LIMIT = 80


class Place:
    """Run number of a cell (or a file) and a line; equal places are one object."""

    __slots__ = ("run", "file", "line")

    def __init__(self, run, file, line):
        self.run, self.file, self.line = run, file, line

    def __repr__(self):
        return f"In[{self.run}]:{self.line}" if self.run is not None else f"{self.file}:{self.line}"


class Cells:
    """The cells that have run in a shell, by the file name of their code; the compiler knows each name's
    newest run.
    """

    def __init__(self, shell):
        self.shell, self.sources = shell, {}
        self.runs = getattr(shell.compile, "_filename_map", {})
        self.known = {}  # (file name, line) -> Place, for the current run
        self._names, self._raw = (), ""

    def before(self, info):
        """pre_run_cell: note the code names the cell about to run may get (versions differ in when they count
        up).
        """
        self._raw = info.raw_cell or ""
        count, code = self.shell.execution_count, info.transformed_cell or self._raw
        self._names = [
            self.shell.compile.get_code_name(self._raw, code, number) for number in (count - 1, count)
        ]
        self.known.clear()

    @property
    def current(self):
        """Run number of the cell that runs, or ran last; None before the first."""
        return max((self.runs[name] for name in self._names if name in self.runs), default=None)

    def remember(self):
        """post_run_cell: keep the cell's source, so that a line can be shown later."""
        self.sources[self.current] = self._raw
        while len(self.sources) > 200:
            self.sources.pop(next(iter(self.sources)))

    def label(self, name):
        """`In[3]` for a cell's code, None for other files."""
        run = self.runs.get(name)
        return None if run is None else f"In[{run}]"

    def here(self, depth=1):
        """The innermost cell line on the stack; without one, the innermost line outside nbtorch; else None."""
        frame, outside, left = sys._getframe(depth), None, LIMIT
        while frame is not None and left:
            name = frame.f_code.co_filename
            if name in self.runs:
                return self.place(name, frame.f_lineno)
            if outside is None and not name.startswith(PACKAGE) and not name.startswith("<"):
                outside = (name, frame.f_lineno)
            frame, left = frame.f_back, left - 1
        return self.place(*outside) if outside is not None else None

    def place(self, name, line):
        """The Place of a line of code."""
        found = self.known.get((name, line))
        if found is None:
            run = self.runs.get(name)
            found = Place(run, "" if run is not None else os.path.basename(name), line)
            if len(self.known) < 10_000:
                self.known[name, line] = found
        return found

    def source(self, place):
        """The text of the line, when the cell's source is known."""
        if place is not None and place.run == self.current:
            return _line(self._raw, place.line)
        return _line(self.sources.get(place.run, ""), place.line) if place is not None else ""


def _line(source, number):
    lines = source.splitlines()
    return lines[number - 1].strip() if 0 < number <= len(lines) else ""


class Marker(threading.local):
    """Light observer, always on: writes place, module and result shape into each new node's metadata."""

    def __init__(self, cells):
        self.cells, self.modules = cells, []

    def __call__(self, record):
        kind = type(record)
        if kind is R.NodeMade:
            metadata = record.node.metadata
            metadata["place"] = self.cells.here(2)
            out = record.out
            metadata["out"] = ((tuple(out.shape), out.dtype.name),) if hasattr(out, "dtype") else ()
            if self.modules:
                metadata["module"], metadata["module_type"] = self.modules[-1]
        elif kind is R.SpanEnter:
            if record.kind == "module":
                self.modules.append((record.path, record.name))
        elif kind is R.SpanExit:
            if record.kind == "module" and self.modules:
                self.modules.pop()
