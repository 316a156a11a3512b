"""The magics: they parse and display. Each name also works below `%nbtorch` and `%%nbtorch`, which never
clash.
"""

import re

from IPython.core.error import UsageError
from IPython.core.magic import no_var_expand
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring

from . import contexts, runcell

_REPORT = (
    argument("-o", "--output", metavar="NAME", help="store the report under this name"),
    argument("-q", "--quiet", action="store_true", help="show nothing"),
    argument("--text", action="store_true", help="plain text, no HTML"),
)


def reporting(function):
    """The arguments every reporting magic takes."""
    for decorate in reversed(_REPORT):
        function = decorate(function)
    return function


def with_source(function, line):
    """Arguments of a line that is options, source, options; and the source as it was written.

    argparse alone would squeeze the source's spaces and take the end of `f(x, -1)` for an option.
    """
    parser = function.parser
    values = {name: each.nargs != 0 for each in parser._actions for name in each.option_strings}
    tokens = list(re.finditer(r"\S+", line))
    first = 0
    while first < len(tokens) and (token := tokens[first].group()).startswith("-"):
        if token not in values and not token.startswith("--") and token[:2] not in values:
            break  # a source such as -x
        first += 1 + values.get(token, False)
    if first >= len(tokens):
        return parser.parse_argstring(line), ""
    begin = tokens[first].start()
    for token in tokens[first + 1 :]:
        if token.group().partition("=")[0] in values:
            try:
                args = parser.parse_argstring(line[:begin] + line[token.start() :])
            except UsageError:
                continue  # a minus in the source
            if not getattr(args, "statement", None) and not getattr(args, "expression", None):
                return args, line[begin : token.start()].strip()
    return parser.parse_argstring(line[:begin]), line[begin:].strip()


class Commands:
    """The magic functions of one session."""

    def __init__(self, session):
        self.session = session

    # ---- contexts --------------------------------------------------------------------

    def _around(self, name, line, cell):
        """The plain way to run a context magic: below a foreign cell magic, or called by code."""
        with runcell.context(name, line):
            return runcell.run_body(self.session.shell, cell)

    @magic_arguments()
    @argument("-d", "--device", default="cpu", choices=("cpu", "cuda"), help="device type")
    @argument("-t", "--dtype", help="float16 or bfloat16; the device's default otherwise")
    @argument("--off", action="store_true", help="run without autocast, for comparison")
    @reporting
    def autocast(self, line, cell=None):
        """Run the cell under torch.autocast and say what it did; as a line, say whether autocast is on."""
        if cell is not None:
            return self._around("autocast", line, cell)
        from ..amp import policy

        for device in ("cpu", "cuda"):
            state = "on" if policy.is_autocast_enabled(device) else "off"
            print(f"autocast {device}: {state}, {policy.get_autocast_dtype(device).name}")
        return None

    @no_var_expand
    @magic_arguments()
    @argument(
        "-s",
        "--sort",
        default="total",
        help="total (with what an op calls), self, calls, memory or flops",
        choices=(
            "self",
            "total",
            "calls",
            "memory",
            "flops",
            "self_cpu_time_total",
            "cpu_time_total",
            "count",
        ),
    )
    @argument("-l", "--limit", type=int, default=20, help="rows")
    @argument("-m", "--memory", action="store_true", help="bytes allocated by each op")
    @argument("-f", "--flops", action="store_true", help="floating point operations")
    @argument("--shapes", action="store_true", help="rows by input shapes")
    @argument("--stack", type=int, default=0, metavar="N", help="rows by the line of the call")
    @argument("--trace", metavar="FILE", help="also write a Chrome trace")
    @reporting
    @argument("statement", nargs="*", help="line form: the statement to profile")
    def profile(self, line, cell=None):
        """Profile the cell, or one statement."""
        if cell is not None:
            return self._around("profile", line, cell)
        args, statement = with_source(self.profile, line)
        if not statement:
            raise UsageError("%profile needs a statement; %%profile profiles a cell")
        with contexts.profile(self.session, args):
            return runcell.run_body(self.session.shell, statement)

    @magic_arguments()
    @argument("-n", "--top", type=int, default=10, help="how many tensors to list")
    @reporting
    def memory(self, line, cell=None):
        """Peak, difference and leftovers of the cell; as a line, the state now."""
        if cell is not None:
            return self._around("memory", line, cell)
        args = parse_argstring(self.memory, line)
        contexts.finish(self.session, args, contexts.memory_now(self.session, args))
        return None

    @no_var_expand
    @magic_arguments()
    @argument(
        "--most", type=int, default=60, help="how many boxes at most before modules are collapsed further"
    )
    @argument("--svg", metavar="FILE", help="also write the picture")
    @reporting
    @argument("expression", nargs="*", help="line form: a tensor with history")
    def graph(self, line, cell=None):
        """Show the autograd graph of a tensor, or of what the cell builds."""
        if cell is not None:
            return self._around("graph", line, cell)
        args, expression = with_source(self.graph, line)
        if not expression:
            raise UsageError("%graph needs a tensor, such as %graph loss")
        self._graph_of(expression, args)
        return None

    def _graph_of(self, expression, args):
        from ..core.tensor import Tensor
        from .views import graph as graphs

        value = self.session.shell.ev(expression)
        if not isinstance(value, Tensor):
            raise UsageError(f"%graph shows a tensor's history; {expression} is a {type(value).__name__}")
        if value.grad_fn is None:
            raise UsageError(
                f"{expression} has no history: it does not come from tensors that require a gradient"
            )
        found, _ = graphs.walk([value.grad_fn], self.session.names())
        found.title, found.run = f"graph of {expression}", self.session.cells.current
        contexts.show_graph(self.session, args, found)

    # ---- engines --------------------------------------------------------------------

    @magic_arguments()
    @argument("action", nargs="?", default="status", choices=("start", "status", "stop"))
    @argument("-n", "--engines", type=int, default=2, help="how many ranks")
    @argument("--seed", type=int, default=0, help="rank r gets seed + r")
    @argument("--timeout", type=float, default=1800.0, help="seconds a collective waits for absent ranks")
    @reporting
    def cluster(self, line):
        """Start, show or stop this notebook's engines: one process a rank, the process group joined."""
        from .reports import ClusterReport

        session, args = self.session, parse_argstring(self.cluster, line)
        if args.action == "start":
            if session.engines is not None:
                raise UsageError("the cluster is running already; %cluster stop ends it")
            if args.engines < 1:
                raise UsageError("a cluster has at least one engine")
            from .engines import Engines

            session.engines = Engines(args.engines, args.seed, args.timeout).start()
        elif args.action == "stop":
            if session.engines is not None:
                engines, session.engines = session.engines, None
                engines.stop()
                if not args.quiet:
                    print("the engines are stopped")
            elif not args.quiet:
                print("no engines are running")
            return
        contexts.finish(session, args, ClusterReport(self._engines().status()))
        session.hub.publish(session.cluster_message())

    def _engines(self):
        engines = self.session.engines
        if engines is None:
            raise UsageError("no engines are running: start them with %cluster start -n 2")
        return engines

    @magic_arguments()
    @argument("ranks", nargs="*", help="all, 0,2, 0-2 or !0")
    def rank(self, line, cell):
        """Run the cell on ranks; output comes with its rank, as it is made."""
        args, engines = parse_argstring(self.rank, line), self._engines()
        try:
            from .engines import parse_ranks

            ranks = parse_ranks(re.sub(r"[\s,]+", ",", " ".join(args.ranks)), engines.size)
        except ValueError as error:
            raise UsageError(f"%%rank: {error}") from None
        try:
            engines.run(cell, ranks, show_output)
        finally:
            self.session.hub.publish(self.session.cluster_message())

    # ---- the umbrella --------------------------------------------------------------------

    def nbtorch(self, line, cell=None):
        """`%nbtorch NAME …` is `%NAME …` for any of our magics; `on`, `off` switch places and notices,
        `status` tells.
        """
        name, _, rest = line.strip().partition(" ")
        if name in ("on", "off") and cell is None:
            self.session.switch(name == "on")
            return None
        if name in ("", "status") and cell is None:
            state = "on" if self.session.subscription is not None else "off"
            engines = self.session.engines.size if self.session.engines is not None else 0
            print(
                f"nbtorch {state}; panel {'open' if self.session.hub.listening() else 'closed'}; {engines} engines"
            )
            return None
        if name not in NAMES or (cell is not None) > NAMES[name][1]:
            raise UsageError(
                f"nbtorch has no {'cell ' if cell is not None else ''}magic {name!r}; it has {', '.join(NAMES)}"
            )
        function = getattr(self, "rank" if name == "on" else name)
        return function(rest.strip()) if cell is None else function(rest.strip(), cell)


# name -> (kind, has a cell form)
NAMES = {
    "autocast": ("line_cell", True),
    "profile": ("line_cell", True),
    "memory": ("line_cell", True),
    "graph": ("line_cell", True),
    "cluster": ("line", False),
    "rank": ("cell", True),
    "on": ("cell", True),
}
CONTEXTS = ("autocast", "profile", "memory", "graph")


def show_output(rank, kind, content):
    """What a rank printed, displayed or returned, marked with its rank."""
    import sys

    from IPython.display import publish_display_data

    if kind in ("stdout", "stderr"):
        stream = sys.stdout if kind == "stdout" else sys.stderr
        marked = "".join(f"[{rank}] {line}" for line in content.splitlines(keepends=True))
        print(marked, end="" if marked.endswith("\n") else "\n", file=stream, flush=True)
        return
    data = (
        content.get("data", content)
        if isinstance(content, dict)
        else getattr(content, "data", {"text/plain": str(content)})
    )
    metadata = content.get("metadata", {}) if isinstance(content, dict) else {}
    rich = {mime: value for mime, value in data.items() if mime != "text/plain"}
    if rich:
        print(f"[{rank}] {'Out' if kind == 'result' else ''}", flush=True)
        publish_display_data(dict(data), metadata)
    else:
        print("\n".join(f"[{rank}] {line}" for line in data.get("text/plain", "").splitlines()), flush=True)


_before = {}


def install(shell, session):
    """Register the magics; `%%rank` only where nobody else has it."""
    commands = Commands(session)
    saved = _before[shell] = {}
    known = shell.magics_manager.magics
    for name, (kind, _) in [*NAMES.items(), ("nbtorch", ("line_cell", True))]:
        if name == "rank" and name in known["cell"]:
            continue
        for each in kind.split("_"):
            saved[each, name] = known[each].get(name)
        shell.register_magic_function(getattr(commands, "rank" if name == "on" else name), kind, name)
    for name in CONTEXTS:
        parse, make = getattr(commands, name), getattr(contexts, name)
        runcell.register(
            name, lambda line, parse=parse, make=make: make(session, parse_argstring(parse, line))
        )


def uninstall(shell):
    """Take the magics out and put back what they replaced."""
    known = shell.magics_manager.magics
    for (kind, name), function in _before.pop(shell, {}).items():
        if function is None:
            known[kind].pop(name, None)
        else:
            known[kind][name] = function
    for name in CONTEXTS:
        runcell.contexts.pop(name, None)
