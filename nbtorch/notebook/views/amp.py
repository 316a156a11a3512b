"""What autocast did: an observer that counts dtypes, casts and saved bytes, and its report's words."""

from ...core.graph import saved_storages
from ...events import messages as M
from ...events import records as R
from .graph import is_parameter, size_text

LOW = ("float16", "bfloat16")


class AmpLog:
    """Observer. Saved bytes are those of the largest tape: distinct storages, parameters not counted."""

    def __init__(self):
        self.ops, self.casts, self.cached, self.cast_bytes, self.overflows, self.scale = {}, 0, 0, 0, 0, None
        self._open = {}  # seq of running ops with a policy, or inside one -> whether inside
        self.copies, self._copying = {}, {}  # storage id of a copy -> (source id, source is a parameter)
        self.parameters, self.saved, self.steps = set(), {}, 0  # storage id -> (bytes, item size, low?)
        self.actual = self.in_float32 = 0
        self._actions = {
            R.OpEnter: self._enter,
            R.OpExit: self._exit,
            R.Cast: self._cast,
            R.Free: self._free,
            R.NodeMade: self._node,
            R.Backward: self._backward,
            R.Scale: self._scaled,
        }

    def __call__(self, record):
        action = self._actions.get(type(record))
        if action is not None:
            action(record)

    def _row(self, op):
        return self.ops.setdefault(op.name, {"mark": op.amp, "dtypes": {}, "casts": 0, "cast_bytes": 0})

    def _enter(self, record):
        inside = record.parent in self._open
        if inside or record.op.amp is not None:
            self._open[record.seq] = inside
        if record.op.name == "_to_copy":
            source = record.args[0]
            self._copying[record.seq] = (id(source._s), is_parameter(source))

    def _exit(self, record):
        source, inside = self._copying.pop(record.seq, None), self._open.pop(record.seq, False)
        out = record.out[0] if type(record.out) in (tuple, list) and record.out else record.out
        if not hasattr(out, "_a") or record.phase == "backward":
            return
        if source is not None:
            if source[0] != id(out._s):
                self.copies[id(out._s)] = source
        elif out.dtype.is_floating_point and record.op.amp is not None and not inside:
            counts = self._row(record.op)["dtypes"]
            counts[out.dtype.name] = counts.get(out.dtype.name, 0) + 1

    def _cast(self, record):
        row = self._row(record.op)
        if record.cached:
            self.cached += 1
            return
        self.casts += 1
        self.cast_bytes += record.nbytes
        row["casts"] += 1
        row["cast_bytes"] += record.nbytes

    def _node(self, record):
        for entry in saved_storages(record.node):
            storage = entry[2]
            root = getattr(storage, "root", None) or storage
            self.saved[id(root)] = (root.nbytes, root.data.dtype.itemsize, str(root.data.dtype) in LOW)
        for edge in record.node.edges:
            variable = getattr(edge[0], "variable", None) if edge is not None else None
            if variable is not None and is_parameter(variable):
                self.parameters.add(id(variable._s))  # the tape keeps a parameter that is there anyway

    def _free(self, record):
        self.saved.pop(record.storage_id, None)
        self.copies.pop(record.storage_id, None)
        self.parameters.discard(record.storage_id)

    def _backward(self, record):
        if record.when == "enter":
            self.steps += 1
            self.measure()
        else:
            self.saved.clear()

    def _scaled(self, record):
        self.scale = record.new
        self.overflows += bool(record.overflow)

    def measure(self):
        """Compare what is saved now with what float32 would save; keeps the largest."""
        actual, instead, counted = 0, 0, set()
        for key, (nbytes, itemsize, low) in self.saved.items():
            if key in self.parameters:
                continue
            actual += nbytes
            source = self.copies.get(key)
            if source is not None and (source[1] or source[0] in self.saved or source[0] in counted):
                continue  # float32 would save the source, which is there already
            if source is not None:
                counted.add(source[0])
            instead += nbytes * 4 // itemsize if low else nbytes
        if actual >= self.actual:
            self.actual, self.in_float32 = actual, instead

    # ---- told --------------------------------------------------------------------

    def counts(self):
        """(calls with a low precision result, calls in float32 or wider)."""
        low = sum(n for row in self.ops.values() for dtype, n in row["dtypes"].items() if dtype in LOW)
        return low, sum(n for row in self.ops.values() for n in row["dtypes"].values()) - low

    def rows(self):
        """[(op, dtype, calls, casts, cast bytes)], busiest first."""
        found = []
        for op, row in self.ops.items():
            for i, (dtype, count) in (
                enumerate(sorted(row["dtypes"].items())) if row["dtypes"] else [(0, ("", 0))]
            ):
                found.append(
                    (op, dtype, count, row["casts"] if i == 0 else 0, row["cast_bytes"] if i == 0 else 0)
                )
        return sorted(found, key=lambda row: (-row[2], row[0]))

    def sentence(self):
        """One line: ops by precision, casts, saved bytes and what they come to."""
        low, high = self.counts()
        line = (
            f"{low} op calls in low precision, {high} in float32; {self.casts} casts "
            f"({size_text(self.cast_bytes)}), {self.cached} from the cache"
        )
        return line + ". " + self.memory_sentence()

    def memory_sentence(self):
        """What autocast did to the bytes saved for backward."""
        if not self.in_float32 and not self.actual:
            return "Nothing was saved for backward."
        told = f"Saved for backward: {size_text(self.actual)}, in float32 it would be {size_text(self.in_float32)}"
        difference = self.in_float32 - self.actual
        if difference > 0:
            return f"{told}: autocast spares {size_text(difference)} ({difference * 100 / self.in_float32:.1f} %)."
        if difference < 0:
            return (
                f"{told}: autocast INCREASES memory by {size_text(-difference)}, since low precision copies of weights "
                "outweigh the activations."
            )
        return f"{told}: no difference."

    def message(self, emulated=False):
        """The report as an AmpSummary."""
        ops = [
            M.AmpOp(
                op=M.short(op),
                dtypes=[M.DtypeCount(dtype=d, count=n) for d, n in sorted(row["dtypes"].items())][:16],
                casts=row["casts"],
                cast_bytes=row["cast_bytes"],
            )
            for op, row in list(self.ops.items())[:500]
        ]
        return M.AmpSummary(
            ops=ops,
            casts=self.casts,
            cached_casts=self.cached,
            cast_bytes=self.cast_bytes,
            saved_bytes=self.actual,
            scale=self.scale,
            overflows=self.overflows,
            emulated=emulated,
        )
