"""What magics show and store: names, sizes and numbers only, so that keeping a report keeps no tensor alive."""

from ..events import messages as M
from .views import graph as graphs
from .views import svg, tables
from .views.graph import size_text


class Report:
    """A table with a title; `rows` is its content as data."""

    title, lines, header, rows = "", (), (), ()

    def text(self):
        """The report as plain text."""
        parts = [self.title, *[line for line in self.lines if line]]
        if self.header:
            parts.append(tables.text(self.header, self.rows))
        return "\n".join(parts)

    def html(self):
        """The report as HTML, everything escaped."""
        return tables.html(self.title, self.lines, self.header, self.rows)

    def __repr__(self):
        return self.text()

    def items(self):
        """Messages for the front end; with a mime type they are stored in the output too."""
        return []

    mime = None

    def _repr_mimebundle_(self, include=None, exclude=None):
        bundle = {"text/plain": self.text(), "text/html": self.html()}
        items = self.items()
        if self.mime and items:
            bundle[self.mime] = M.dump(M.Batch(seq=0, items=items))
        return bundle


class GraphReport(Report):
    """An autograd graph: the saved output draws itself without a kernel."""

    mime = M.GRAPH_MIME

    def __init__(self, graph, number=1, source=lambda place: "", most=60):
        self.graph, self.number, self.source, self.most = graph, number, source, most
        self.title = graph.title or "autograd graph"
        self.header = ("op", "role", "name", "module", "place", "shape", "saved bytes")
        self.rows = [
            (
                b.op,
                b.role,
                b.name,
                b.module,
                repr(b.place) if b.place else "",
                "x".join(map(str, b.shapes[0])) if b.shapes else "",
                b.saved_bytes,
            )
            for b in graph.boxes
        ]

    def text(self):
        """The collapsed graph as a list, from the loss down."""
        return graphs.text(self.graph, self.most)

    def svg(self):
        """The collapsed graph as an SVG."""
        return svg.draw(self.graph, self.most)

    def html(self):
        """The SVG stands for HTML too."""
        return self.svg()

    def items(self):
        """The whole graph, and the details of its nodes for clicks without a kernel."""
        details = [
            graphs.detail(box, self.number, self.source(box.place) if box.place else "")
            for box in self.graph.boxes[:500]
        ]
        return [graphs.snapshot(self.graph, self.number, self.source), *details]

    def _repr_mimebundle_(self, include=None, exclude=None):
        bundle = {"text/plain": self.text(), "image/svg+xml": self.svg()}
        bundle[self.mime] = M.dump(M.Batch(seq=0, items=self.items()))
        return bundle


class AmpReport(Report):
    """What autocast did in a cell."""

    def __init__(self, log, device, dtype, enabled, emulated):
        self.title = f"autocast on {device}, {dtype}" if enabled else f"autocast off on {device}"
        self.lines = [log.sentence()]
        if emulated:
            self.lines.append(
                "Low precision is emulated here: kernels compute in float32 and round, which spares memory, "
                "not time."
            )
        self.header = ("op", "result dtype", "calls", "casts", "cast bytes")
        self.rows, self.saved_bytes, self.float32_bytes = log.rows(), log.actual, log.in_float32
        self.casts, self.cached, self.message = log.casts, log.cached, log.message(emulated)

    def items(self):
        """The AmpSummary."""
        return [self.message]


class ProfileReport(Report):
    """Top-level ops of a cell, the most time (with what they call) first; `table()` is torch.profiler's text."""

    def __init__(self, rows, wall, table, run, title="profile"):
        self.data, self.wall, self.run, self._table = rows, wall, run, table
        self.title = (
            f"{title}: {sum(r['calls'] for r in rows)} top-level calls, {wall * 1e3:.1f} ms wall time"
        )
        extra = [name for name in ("memory", "flops", "shapes", "place") if any(r.get(name) for r in rows)]
        self.header = ("op", "calls", "total ms", "self ms", "mean us", "%", *extra)
        whole = sum(r["total"] for r in rows) or 1.0
        self.rows = [
            (
                r["op"],
                r["calls"],
                f"{r['total'] / 1e3:.3f}",
                f"{r['self'] / 1e3:.3f}",
                f"{r['total'] / r['calls']:.1f}",
                f"{100 * r['total'] / whole:.1f}",
                *[self._cell(name, r.get(name)) for name in extra],
            )
            for r in rows
        ]
        self.lines = ()

    @staticmethod
    def _cell(name, value):
        if name == "memory":
            return size_text(value or 0)
        return f"{value:,}" if name == "flops" and value else str(value or "")

    def table(self):
        """torch.profiler's table of all calls, as text."""
        return self._table

    def items(self):
        """The ProfileTable."""
        rows = [
            M.ProfileRow(
                op=M.short(r["op"]),
                calls=r["calls"],
                self_us=r["self"],
                total_us=r["total"],
                bytes=max(0, r.get("memory") or 0),
                flops=r.get("flops") or 0,
            )
            for r in self.data[:500]
        ]
        return [M.ProfileTable(title="profile", run=self.run, wall_us=self.wall * 1e6, rows=rows)]


class MemoryReport(Report):
    """Peak, difference and what is left of a cell; or the state now."""

    mime = M.MEMORY_MIME

    def __init__(self, title, lines, tops, messages):
        self.title, self.lines, self._items = title, lines, messages
        self.header = ("tensor", "shape", "dtype", "bytes", "category", "made at") if tops.tensors else ()
        self.rows = [
            (
                t.name or "(no name)",
                "x".join(map(str, t.shape)) or "scalar",
                t.dtype,
                size_text(t.bytes),
                t.category,
                _place(t.place),
            )
            for t in tops.tensors
        ]

    def items(self):
        """The messages it was made from."""
        return self._items


def _place(place):
    if place is None:
        return ""
    return f"In[{place.run}]:{place.line}" if place.run is not None else f"{place.file}:{place.line}"


class ClusterReport(Report):
    """The ranks of the cluster."""

    def __init__(self, rows):
        self.title = f"{len(rows)} engines on 127.0.0.1"
        self.header = ("rank", "pid", "state", "last cell")
        self.rows = [
            (rank, pid, state, "" if since is None else f"{since:.0f} s ago")
            for rank, pid, state, since in rows
        ]
