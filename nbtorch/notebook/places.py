"""Which cell and line made something: cell files to run numbers, and an observer that writes it on autograd nodes.

A kernel names a cell's code by a hash of its source, so equal cells share a name; the run number is noted before each run.
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
    """The cells that have run in a shell, by the file name of their code."""

    def __init__(self, shell):
        self.shell, self.runs, self.current, self.sources = shell, {}, None, {}
        self.known = {}                                 # (file name, line) -> Place, for the current run

    def before(self, info):
        """pre_run_cell: note the number and code name of the cell about to run."""
        if not getattr(info, "store_history", True) and self.current is not None:
            return
        self.current = self.shell.execution_count
        raw = info.raw_cell or ""
        self.note(self.shell.compile.get_code_name(raw, info.transformed_cell or raw, self.current), raw)

    def note(self, name, raw=""):
        """Code of this name belongs to the current run."""
        if self.current is None:
            self.current = self.shell.execution_count
        self.runs[name] = self.current
        self.sources[self.current] = raw
        while len(self.sources) > 200:
            self.sources.pop(next(iter(self.sources)))
        self.known.clear()

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
        lines = self.sources.get(place.run, "").splitlines() if place is not None else []
        return lines[place.line - 1].strip() if place is not None and 0 < place.line <= len(lines) else ""


class Marker(threading.local):
    """Observer: writes place, module and forward time into each new node's metadata."""

    def __init__(self, cells):
        self.cells, self.modules, self.made = cells, [], []

    def __call__(self, record):
        kind = type(record)
        if kind is R.NodeMade:
            metadata = record.node.metadata
            metadata["place"] = self.cells.here(2)
            out = record.out
            metadata["out"] = ((tuple(out.shape), out.dtype.name),) if hasattr(out, "dtype") else ()
            if self.modules:
                metadata["module"], metadata["module_type"] = self.modules[-1]
            self.made.append(metadata)
        elif kind is R.OpExit:
            if self.made:
                self.made.pop()["forward_ns"] = record.t1 - record.t0
                if len(self.made) > 100:
                    self.made.clear()
        elif kind is R.SpanEnter:
            if record.kind == "module":
                self.modules.append((record.path, record.name))
        elif kind is R.SpanExit:
            if record.kind == "module" and self.modules:
                self.modules.pop()
