"""The autograd graph as plain records: walked from a tape's roots, collapsed by module, told as messages or
as text.
"""

import hashlib

from ...core.graph import AccumulateGrad, saved_storages
from ...events import messages as M

MOST = 5_000  # nodes a snapshot holds


class Box:
    """One node of a walked tape, as numbers and names."""

    __slots__ = (
        "id",
        "op",
        "role",
        "name",
        "module",
        "module_type",
        "place",
        "shapes",
        "dtypes",
        "saved",
        "saved_bytes",
        "freed",
        "inputs",
        "forward_ms",
        "backward_ms",
        "value",
        "value_name",
    )

    def __init__(self, id, op):
        self.id, self.op, self.role, self.name, self.module, self.module_type = id, op, "op", "", "", ""
        self.place, self.shapes, self.dtypes, self.saved, self.saved_bytes = None, [], [], [], 0
        self.freed, self.inputs, self.forward_ms, self.backward_ms, self.value, self.value_name = (
            False,
            [],
            None,
            None,
            None,
            "",
        )


class Graph:
    """A walked tape: boxes in order from the roots down; `total` counts also those that were cut."""

    def __init__(self, boxes, total, title="", run=None, loss=None, step=0):
        self.boxes, self.total, self.title, self.run, self.loss, self.step = (
            boxes,
            total,
            title,
            run,
            loss,
            step,
        )

    def saved_bytes(self):
        """Bytes of distinct storages the tape keeps for backward, parameters not counted."""
        return sum(box.saved_bytes for box in self.boxes)

    def signature(self):
        """A digest of the structure, without the numbers."""
        text = repr([(b.op, b.role, b.module, b.inputs, b.shapes, b.saved_bytes and 1) for b in self.boxes])
        return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


def walk(roots, names=None, most=MOST):
    """Walk the tape below some nodes. names: {id of leaf tensor: name}. Returns (Graph, {node: Box}).

    The dict holds nodes; callers use it while backward runs and drop it.
    """
    names, order, made = names or {}, [], {}
    stack = [(node, None) for node in roots if node is not None]
    for node, _ in stack:
        made.setdefault(node, None)
    queue, total = list(made), len(made)
    at = 0
    while at < len(queue):  # breadth first, so that a cut keeps what is near the loss
        node = queue[at]
        at += 1
        order.append(node)
        for edge in node.edges:
            if edge is not None and edge[0] not in made:
                made[edge[0]] = None
                total += 1
                if len(queue) < most:
                    queue.append(edge[0])
    parameters = {
        id(_root(n.variable._s)) for n in order if type(n) is AccumulateGrad and is_parameter(n.variable)
    }
    index, seen = {node: i for i, node in enumerate(order)}, set()
    boxes = {}
    for node in order:
        boxes[node] = _box(node, index, names, parameters, seen)
    for root in roots:
        if root in boxes and boxes[root].role == "op":
            boxes[root].role = "loss"
    graph = Graph(list(boxes.values()), total)
    _adopt(graph)
    return graph, boxes


def is_parameter(tensor):
    """Whether a leaf is a module's parameter (told by its class name: nn may not have been imported)."""
    return any(c.__name__ == "Parameter" for c in type(tensor).__mro__) or getattr(tensor, "_is_param", False)


def _root(storage):
    return getattr(storage, "root", None) or storage


def _box(node, index, names, parameters, seen):
    if type(node) is AccumulateGrad:
        tensor = node.variable
        box = Box(index[node], "AccumulateGrad")
        box.role, box.name = "parameter" if is_parameter(tensor) else "input", names.get(id(tensor), "")
        box.shapes, box.dtypes = [list(tensor.shape)], [tensor.dtype.name]
        return box
    box = Box(index[node], node.name().removesuffix("Backward0"))
    written = getattr(node, "inner", None)  # a write through a view was made where its own op was called
    metadata = node._metadata or getattr(written, "_metadata", None) or {}
    box.place, box.module = metadata.get("place"), metadata.get("module", "")
    box.module_type = metadata.get("module_type", "")
    box.forward_ms = metadata["forward_ns"] / 1e6 if "forward_ns" in metadata else None
    box.inputs = [index[edge[0]] for edge in node.edges if edge is not None and edge[0] in index]
    box.shapes = [list(meta.shape) for meta in _outputs(node)]
    box.dtypes = [meta.dtype for meta in _outputs(node)]
    box.freed = node.saved is None
    for name, array, storage in saved_storages(node):
        root, nbytes = _root(storage), storage.nbytes or _root(storage).nbytes
        box.saved.append((name, list(array.shape), str(array.dtype), nbytes, storage.version))
        if id(root) not in seen and id(root) not in parameters:
            seen.add(id(root))
            box.saved_bytes += nbytes
    return box


class Meta:
    """Shape and dtype of an output."""

    __slots__ = ("shape", "dtype")

    def __init__(self, shape, dtype):
        self.shape, self.dtype = shape, dtype


def _outputs(node):
    """Shapes of what a node's op returned, as far as its metadata says."""
    found = (node._metadata or {}).get("out")
    return [Meta(shape, dtype) for shape, dtype in found] if found else []


def _adopt(graph):
    """Leaves belong to the module of what consumes them."""
    by_id = {box.id: box for box in graph.boxes}
    for box in graph.boxes:
        for source in box.inputs:
            leaf = by_id[source]
            if leaf.role == "parameter" and not leaf.module:
                leaf.module, leaf.module_type, leaf.place = box.module, box.module_type, box.place


# ---- messages --------------------------------------------------------------------


def place_message(place, source=""):
    """A Place as its message."""
    if place is None:
        return None
    return M.Place(run=place.run, file=M.short(place.file), line=place.line, source=M.short(source))


def snapshot(graph, number, source=lambda place: ""):
    """The graph as a GraphSnapshot message."""
    nodes = [
        M.GraphNode(
            id=box.id,
            op=M.short(box.op),
            role=box.role,
            name=M.short(box.name),
            module=M.short(box.module),
            module_type=M.short(box.module_type),
            place=place_message(box.place, source(box.place) if box.place else ""),
            shapes=box.shapes[:64],
            dtypes=box.dtypes[:64],
            saved_bytes=box.saved_bytes,
            freed=box.freed,
            value=box.value,
            value_name=box.value_name,
            inputs=box.inputs[:4096],
        )
        for box in graph.boxes
    ]
    return M.GraphSnapshot(
        graph=number,
        step=graph.step,
        loss=graph.loss,
        title=M.short(graph.title),
        run=graph.run,
        total_nodes=graph.total,
        nodes=nodes,
    )


def values(graph, number):
    """The numbers of a graph whose structure the front end knows."""
    return M.GraphValues(
        graph=number,
        step=graph.step,
        loss=graph.loss,
        values=[box.value for box in graph.boxes],
        freed=[box.id for box in graph.boxes if box.freed],
    )


def detail(box, number, source=""):
    """Everything about one box, as GraphDetail."""
    saved = [
        M.SavedTensor(name=M.short(name), shape=shape, dtype=dtype, bytes=nbytes, version=version)
        for name, shape, dtype, nbytes, version in box.saved[:64]
    ]
    return M.GraphDetail(
        graph=number,
        node=box.id,
        op=M.short(box.op),
        name=M.short(box.name),
        module=M.short(box.module),
        module_type=M.short(box.module_type),
        place=place_message(box.place, source),
        shapes=box.shapes[:64],
        dtypes=box.dtypes[:64],
        saved=saved,
        saved_bytes=box.saved_bytes,
        freed=box.freed,
        forward_ms=box.forward_ms,
        backward_ms=box.backward_ms,
        grad_norm=box.value if box.value_name == "grad norm" else None,
        value=box.value,
        value_name=box.value_name,
    )


# ---- collapsing --------------------------------------------------------------------


class Group:
    """What is drawn as one box: a module's nodes, the nodes of one line, or one node."""

    __slots__ = (
        "key",
        "title",
        "kind",
        "members",
        "inputs",
        "saved_bytes",
        "place",
        "shape",
        "order",
        "parameters",
    )

    def __init__(self, key, title, kind, order):
        self.key, self.title, self.kind, self.order = key, title, kind, order
        self.members, self.inputs, self.saved_bytes, self.place, self.shape, self.parameters = (
            0,
            set(),
            0,
            None,
            None,
            0,
        )


def collapse(graph, most=60):
    """Groups of at most about `most` boxes: by full module path if that fits, else by shorter paths, then by
    line.
    """
    deepest = max((box.module.count(".") + 1 for box in graph.boxes if box.module), default=0)
    for depth in range(deepest, 0, -1):
        groups = _grouped(graph, depth, False)
        if len(groups) <= most:
            return groups
    groups = _grouped(graph, min(deepest, 1), False)
    return groups if len(groups) <= most else _grouped(graph, min(deepest, 1), True)


def _key(box, depth, by_line):
    if box.module and depth:
        return ("module", ".".join(box.module.split(".")[:depth]))
    if by_line and box.role in ("op", "loss"):
        return ("line", repr(box.place), box.op if box.place is None else "")
    if box.role == "parameter" and by_line:
        return ("parameters",)
    return ("node", box.id)


def _title(key, box, depth):
    if key[0] == "module":
        full = box.module.count(".") + 1 <= depth
        return f"{key[1]} {box.module_type}" if full and box.module_type else key[1]
    if key[0] == "line":
        return repr(box.place) if box.place is not None else box.op
    if key[0] == "parameters":
        return "parameters"
    return box.name or {"parameter": "parameter", "input": "input"}.get(box.role, box.op)


def _grouped(graph, depth, by_line):
    groups, of = {}, {}
    for order, box in enumerate(graph.boxes):
        key = _key(box, depth, by_line)
        group = groups.get(key)
        if group is None:
            kind = "module" if key[0] == "module" else box.role if key[0] == "node" else "line"
            group = groups[key] = Group(key, _title(key, box, depth), kind, order)
        of[box.id] = group
        group.members += 1
        group.saved_bytes += box.saved_bytes
        group.place = group.place or box.place
        if box.role == "parameter":
            group.parameters += 1
        elif group.shape is None and box.shapes:
            group.shape = box.shapes[0]
    for box in graph.boxes:
        for source in box.inputs:
            if of[source] is not of[box.id]:
                of[box.id].inputs.add(of[source].key)
    return list(groups.values())


# ---- text --------------------------------------------------------------------


def size_text(nbytes):
    """Bytes for people: 512 B, 1.5 KiB, 57.1 MiB."""
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if abs(nbytes) >= size:
            return f"{nbytes / size:.1f} {unit}"
    return f"{nbytes} B"


def text(graph, most=60):
    """The collapsed graph as lines, from the loss down, each with its place and what it saves."""
    groups = collapse(graph, most)
    by_key = {group.key: group for group in groups}
    lines = [
        (graph.title or "autograd graph")
        + f": {graph.total} nodes, saved for backward {size_text(graph.saved_bytes())}"
    ]
    for group in sorted(groups, key=lambda each: each.order):
        if group.kind == "parameter":
            continue
        parts = [f"  {group.title}"]
        if group.shape is not None:
            parts.append("x".join(map(str, group.shape)) or "scalar")
        if group.members > 1:
            parts.append(f"{group.members} nodes")
        if group.saved_bytes:
            parts.append(f"saves {size_text(group.saved_bytes)}")
        if group.place is not None:
            parts.append(repr(group.place))
        sources = [by_key[key].title for key in group.inputs if by_key[key].kind != "parameter"]
        if sources:
            parts.append("<- " + ", ".join(sorted(sources)))
        lines.append("  ".join(parts))
    if graph.total > len(graph.boxes):
        lines.append(f"  … {graph.total - len(graph.boxes)} more nodes")
    return "\n".join(lines)
