"""Views are pure: a tape in, boxes, text and SVG out."""

import time
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest

import nbtorch as torch
from nbtorch.events import messages as M
from nbtorch.events import schema
from nbtorch.notebook import live, reports
from nbtorch.notebook.views import graph as graphs
from nbtorch.notebook.views import layout, svg, tables

EVIL = "<img src=x onerror=alert(1)>\"'&\x00"


def leaves():
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    return x, torch.tensor([1.0, 2.0], requires_grad=True)


def test_walk_gives_boxes_edges_and_saved_bytes():
    x, y = leaves()
    z = (x * y).exp()
    graph, boxes = graphs.walk([z.grad_fn], {id(x): "x", id(y): "y"})
    assert [box.op for box in graph.boxes] == ["Exp", "Mul", "AccumulateGrad", "AccumulateGrad"]
    assert [box.role for box in graph.boxes] == ["loss", "op", "input", "input"]
    assert [box.name for box in graph.boxes[2:]] == ["x", "y"]
    assert graph.boxes[0].inputs == [1] and graph.boxes[1].inputs == [2, 3]
    assert graph.boxes[0].saved_bytes == 16  # exp keeps its result
    assert graph.boxes[1].saved_bytes == 16 + 8 and graph.total == 4
    assert len(boxes) == 4


class Parameter(torch.Tensor):
    """Stands for nn.Parameter."""


def test_parameters_are_not_counted_as_saved():
    weight = torch.Tensor._make_subclass(Parameter, torch.tensor([1.0, 2.0]), True)
    graph, _ = graphs.walk([(weight * weight).grad_fn])
    assert graph.saved_bytes() == 0 and graph.boxes[1].role == "parameter"


def test_a_long_chain_neither_recurses_nor_fills_the_page():
    x = torch.tensor([1.0], requires_grad=True)
    y = x
    for _ in range(3000):
        y = y * 1.0001
    begun = time.monotonic()
    graph, _ = graphs.walk([y.grad_fn])
    assert graph.total == 3001
    assert len(graphs.collapse(graph)) <= 60
    assert svg.draw(graph).startswith("<svg") and time.monotonic() - begun < 5
    cut, _ = graphs.walk([y.grad_fn], most=100)
    assert len(cut.boxes) == 100 and cut.total > 100
    assert "more nodes" in graphs.text(cut)


def boxes(*described):
    made = []
    for id, op, role, module, inputs in described:
        box = graphs.Box(id, op)
        box.role, box.module, box.module_type, box.inputs = role, module, module.title(), list(inputs)
        made.append(box)
    return graphs.Graph(made, len(made))


def test_modules_collapse_by_path_and_deeper_paths_go_first():
    rows = [(0, "Loss", "loss", "", [1])]
    for i in range(1, 100):
        rows.append((i, "Mul", "op", f"layers.{i}.inner", [i + 1] if i < 99 else []))
    graph = boxes(*rows)
    assert {g.title for g in graphs.collapse(graph, most=60)} == {"Loss", "layers"}
    assert len(graphs.collapse(graph, most=200)) == 100


def test_svg_is_well_formed_escaped_and_without_script():
    graph = boxes(
        (0, EVIL, "loss", "", [1]), (1, "Mul", "op", EVIL, [2]), (2, "AccumulateGrad", "parameter", EVIL, [])
    )
    graph.title = EVIL
    text = svg.draw(graph)
    root = ElementTree.fromstring(text)
    tags = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert tags <= {"svg", "g", "rect", "text", "path", "title"}
    assert not [name for element in root.iter() for name in element.attrib if name.startswith("on")]
    assert "<img" not in text and "\x00" not in text


def test_html_tables_escape_everything():
    html = tables.html(EVIL, [EVIL], (EVIL,), [(EVIL,)])
    assert "<img" not in html
    assert tables.text(("op", "n"), [("a", 1), ("b", 22)]).splitlines()[-1].endswith("22")


def test_layout_points_down_and_boxes_do_not_overlap():
    inputs = {0: {1, 2}, 1: {3}, 2: {3}, 3: {4, 5}, 6: {0}}
    keys = [6, 0, 1, 2, 3, 4, 5]
    at, (wide, high) = layout.place(keys, inputs, lambda key: 80)
    for key, sources in inputs.items():
        for source in sources:
            assert at[source][1] < at[key][1]
    for a in keys:
        for b in keys:
            assert a == b or at[a][1] != at[b][1] or abs(at[a][0] - at[b][0]) >= 80
    assert all(0 <= x <= wide and 0 <= y <= high for x, y in at.values())


def test_layout_survives_cycles_and_depth():
    at, _ = layout.place(["a", "b"], {"a": {"b"}, "b": {"a"}}, lambda key: 10)
    assert set(at) == {"a", "b"}
    chain = {i: {i + 1} for i in range(9999)}
    begun = time.monotonic()
    layout.place(list(range(10000)), chain, lambda key: 10)
    assert time.monotonic() - begun < 3


def test_messages_of_a_graph_fit_the_schema():
    x, y = leaves()
    z = (x * y).exp().sum() if hasattr(x, "sum") else (x * y).exp()
    graph, _ = graphs.walk([z.grad_fn], {id(x): EVIL})
    report = reports.GraphReport(graph)
    bundle = report._repr_mimebundle_()
    schema.check_batch(bundle[M.GRAPH_MIME])
    assert set(bundle) == {M.GRAPH_MIME, "image/svg+xml", "text/plain"}
    graph.boxes[0].value = float("nan")
    schema.check_batch(M.dump(M.Batch(seq=1, items=[graphs.values(graph, 1)])))


def test_graphs_send_structure_once_and_numbers_after():
    x, y = leaves()
    kept = live.Graphs()
    first = kept.add(graphs.walk([(x * y).grad_fn])[0])
    again = kept.add(graphs.walk([(x * y).grad_fn])[0])
    other = kept.add(graphs.walk([(x * y).exp().grad_fn])[0])
    assert [m.kind for m in (first, again, other)] == ["graph.snapshot", "graph.values", "graph.snapshot"]
    assert (first.graph, again.graph, other.graph) == (1, 1, 2)
    assert kept.detail(2, 0).op == "Exp"
    assert kept.detail(2, 99) is None and kept.detail(77, 0) is None
    assert kept.whole().graph == 2


@pytest.mark.parametrize(
    "nbytes, text", [(0, "0 B"), (1536, "1.5 KiB"), (57 << 20, "57.0 MiB"), (-2048, "-2.0 KiB")]
)
def test_sizes_read_well(nbytes, text):
    assert graphs.size_text(nbytes) == text


def test_history_thins_itself():
    history = live.History(limit=100)
    for i in range(1000):
        history.add(M.MemorySample(time=float(i), live=i, peak=i, by=M.Categories()))
    samples = history.message().samples
    assert 50 <= len(samples) <= 100 and samples[0].time < 30 and samples[-1].time > 900


def test_norms_tell_nan_and_skip_the_huge():
    import numpy as np

    assert live.norm(SimpleNamespace(_a=np.array([3.0, 4.0]))) == 5.0
    assert live.norm(SimpleNamespace(_a=np.array([np.nan]))) != live.norm(SimpleNamespace(_a=np.array([1.0])))
    assert live.norm(SimpleNamespace(_a=np.zeros(live.NORM_LIMIT + 1, "int8"))) is None


def test_kernel_calls_are_told_by_provider_busiest_first():
    counts = {"numpy": {"add": 3, "mul": 3, "sum": 5}, "elsewhere": {"add": 1}, "onednn": {EVIL * 9: 2}}
    message = live.kernel_calls(counts, most=2)
    assert [(each.provider, each.calls) for each in message.providers] == [
        ("onednn", 2),
        ("numpy", 11),
        ("elsewhere", 1),
    ]
    assert [each.name for each in message.providers[1].busiest] == ["sum", "add"]
    schema.check_batch(M.dump(M.Batch(seq=1, items=[message])))


def test_kernel_calls_are_told_once_an_interval_while_they_change(monkeypatch):
    counts, now = [{}], [100.0]
    monkeypatch.setattr(live.registry, "counts", lambda: dict(counts[0]))
    monkeypatch.setattr(live.time, "monotonic", lambda: now[0])
    calls = live.Calls(interval=1.0)
    assert calls.fresh() is None  # nothing has been called
    counts[0] = {"numpy": {"add": 1}}
    now[0] += 0.9
    assert calls.fresh() is None and calls.message().providers[0].calls == 1
    now[0] += 0.2
    assert calls.fresh().providers[0].calls == 1  # what one page asked for is still told to the others
    now[0] += 5
    assert calls.fresh() is None
    counts[0] = {"numpy": {"add": 2}}
    assert calls.fresh() is None
    now[0] += 1
    assert calls.fresh().providers[0].calls == 2
