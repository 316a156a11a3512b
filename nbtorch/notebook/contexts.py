"""What each context-like magic does around its cell. Each is a context manager made from parsed arguments."""

import contextlib
import time

from ..events.bus import subscribe
from . import live, reports
from .views import graph as graphs
from .views.amp import AmpLog

DTYPES = {
    "float16": "float16",
    "half": "float16",
    "fp16": "float16",
    "bfloat16": "bfloat16",
    "bf16": "bfloat16",
}


def finish(session, args, report):
    """Store the report under -o, show it unless -q."""
    if args.output:
        session.shell.user_ns[args.output] = report
    if args.quiet:
        return
    if args.text:
        print(report.text())
        return
    from IPython.display import display

    display(report)


def native_calls():
    """Calls so far that a library with low precision arithmetic of its own answered on the CPU."""
    from ..backend import registry

    answered = registry.counts().get("onednn", {})
    return sum(calls for name, calls in answered.items() if name != "to_copy")


@contextlib.contextmanager
def autocast(session, args):
    """The cell under torch.autocast, then what it did."""
    from IPython.core.error import UsageError

    from .. import amp
    from ..amp import policy
    from ..core import dtype as dtypes

    name = DTYPES.get(args.dtype.removeprefix("torch.")) if args.dtype else None
    if args.dtype and name is None:
        raise UsageError(f"%%autocast: dtype is float16 or bfloat16, not {args.dtype}")
    dtype = getattr(dtypes, name) if name else policy.get_autocast_dtype(args.device)
    log = AmpLog()
    region, native = amp.autocast(args.device, dtype, enabled=not args.off), native_calls()
    try:
        with region, subscribe(log):
            yield region
            log.measure()
    finally:
        on = region._enabled
        emulated = on and args.device == "cpu" and (dtype.name == "float16" or native_calls() == native)
        report = reports.AmpReport(log, args.device, dtype.name, on, emulated)
        session.amp_message = report.message
        session.hub.publish(report.message)
        finish(session, args, report)


@contextlib.contextmanager
def profile(session, args):
    """The cell under the profiler, then its top-level ops."""
    from .. import profiler

    prof = profiler.profile(
        record_shapes=args.shapes,
        profile_memory=args.memory,
        with_flops=args.flops,
        with_stack=args.stack > 0,
    )
    begun = time.perf_counter()
    prof.start()
    try:
        yield prof
    finally:
        prof.stop()
        report = profile_report(session, args, prof, time.perf_counter() - begun)
        message = report.items()[0]
        session.profile_message = message
        session.hub.publish(message)
        if args.trace:
            prof.export_chrome_trace(args.trace)
        finish(session, args, report)


def profile_report(session, args, prof, wall):
    """Ops whose parent is not an op, added up by name (and shapes)."""
    events = prof.events()
    groups = {}
    for event in events:
        if event.kind != "cpu_op" or event.cpu_parent is not None and event.cpu_parent.kind == "cpu_op":
            continue
        shapes = str(event.input_shapes) if args.shapes else ""
        place = event.stack[0] if args.stack and event.stack else ""
        row = groups.setdefault(
            (event.name, shapes, place),
            {
                "op": event.name,
                "calls": 0,
                "self": 0.0,
                "total": 0.0,
                "memory": 0,
                "flops": 0,
                "shapes": shapes,
                "place": place,
            },
        )
        row["calls"] += 1
        row["self"] += event.self_cpu_time_total
        row["total"] += event.cpu_time_total
        row["memory"] += event.cpu_memory_usage if args.memory else 0
        row["flops"] += _all_flops(event)
    key = {
        "self": "self",
        "total": "total",
        "calls": "calls",
        "memory": "memory",
        "flops": "flops",
        "self_cpu_time_total": "self",
        "cpu_time_total": "total",
        "count": "calls",
    }[args.sort]
    rows = sorted(groups.values(), key=lambda row: -row[key])[: args.limit]
    table = events.key_averages(args.shapes, args.stack).table(
        sort_by="self_cpu_time_total", row_limit=args.limit
    )
    report = reports.ProfileReport(rows, wall, table, session.cells.current)
    if events.dropped:
        report.lines = (f"{events.dropped} of the oldest calls were dropped: the buffer was full",)
    return report


def _all_flops(event):
    stack, total = [event], 0
    while stack:
        current = stack.pop()
        if current.flops:
            total += current.flops  # a composite that counts speaks for its insides
        else:
            stack.extend(current.cpu_children)
    return total


@contextlib.contextmanager
def memory(session, args):
    """The cell's peak and difference by category, and what it left alive."""
    from ..events import messages as M
    from ..profiler.memory import Memory

    observer, before = Memory(lambda: session.cells.here(3)), live.rss()
    run, history = session.cells.current, live.History()
    try:
        with subscribe(observer):
            history.add(live.sample(observer, run))
            yield observer
    finally:
        after, total, by, peak, peak_by = live.rss(), *observer.snapshot()
        left = observer.left()
        history.add(live.sample(observer, run))
        top = live.top(left, session.variables(), args.top)
        delta = total - observer.start
        above = graphs.size_text(peak - observer.start)
        lines = [
            f"peak {graphs.size_text(peak)} ({_parts(peak_by)}), {above} above the start",
            f"now {graphs.size_text(total)} ({_parts(by)}), {_signed(delta)} by this cell",
            f"{observer.made} arrays made ({graphs.size_text(observer.allocated)}), {len(left)} still alive",
            f"process memory (RSS) {_signed((after or 0) - (before or 0))} to {graphs.size_text(after)}"
            if after
            else "",
        ]
        cell = M.MemoryCell(run=run or 0, peak=max(0, peak), delta=delta, alive=len(left))
        report = reports.MemoryReport("memory of this cell", lines, top, [history.message(), top, cell])
        report.peak, report.delta, report.by, report.peak_by, report.alive = (
            peak,
            delta,
            by,
            peak_by,
            len(left),
        )
        session.hub.publish(cell)
        finish(session, args, report)


def _parts(by):
    return ", ".join(f"{name} {graphs.size_text(value)}" for name, value in by.items() if value) or "nothing"


def _signed(nbytes):
    return ("+" if nbytes >= 0 else "-") + graphs.size_text(abs(nbytes))


def memory_now(session, args):
    """The state of memory now, as a report."""
    from ..events import messages as M
    from ..profiler.memory import CATEGORIES, scan

    lives = scan()
    by = dict.fromkeys(CATEGORIES, 0)
    for each in lives.values():
        by[each.category] += each.nbytes
    total, resident = sum(by.values()), live.rss()
    top = live.top(lives.values(), session.variables(), args.top)
    lines = [
        f"{graphs.size_text(total)} in {len(lives)} arrays ({_parts(by)})",
        f"process memory (RSS) {graphs.size_text(resident)}" if resident else "",
    ]
    sample = M.MemorySample(
        time=time.time(),
        live=total,
        peak=total,
        by=live.categories(by),
        rss=resident,
        run=session.cells.current,
    )
    report = reports.MemoryReport("memory now", lines, top, [M.MemoryHistory(samples=[sample]), top])
    report.total, report.by = total, by
    return report


@contextlib.contextmanager
def graph(session, args):
    """The graph of the newest step the cell makes; without a backward, of what it built and kept."""
    seen = []
    sampler = live.Sampler(
        lambda found: seen.append(found) or seen.__delitem__(slice(None, -1)),
        session.names,
        run=lambda: session.cells.current,
    )
    built = Built()
    try:
        with subscribe(sampler, built):
            yield
    finally:
        if seen:
            found = seen[-1]
        else:
            found, _ = graphs.walk(built.ends(), session.names())
        found.title, found.run = f"graph of cell {session.cells.current}", session.cells.current
        show_graph(session, args, found)


class Built:
    """Observer: weak references to the nodes a cell makes; `ends` are those nothing else consumes."""

    def __init__(self, limit=100_000):
        self.made, self.limit = {}, limit

    def __call__(self, record):
        import weakref

        if type(record).__name__ == "NodeMade" and len(self.made) < self.limit:
            self.made[record.node.seq] = weakref.ref(record.node)

    def ends(self):
        """Nodes still alive that no other one has among its edges."""
        alive = {node for node in (ref() for ref in self.made.values()) if node is not None}
        consumed = {edge[0] for node in alive for edge in node.edges if edge is not None}
        return [node for node in alive if node not in consumed]


def show_graph(session, args, found):
    """Number the graph, tell the panel, show it."""
    session.hub.publish(session.graphs.add(found), "graph")
    report = reports.GraphReport(found, session.graphs.number, session.cells.source, args.most)
    if args.svg:
        with open(args.svg, "w", encoding="utf-8") as file:
            file.write(report.svg())
    finish(session, args, report)
