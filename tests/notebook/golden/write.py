"""Writes the golden batches: the same files are checked by Python tests and drawn by the front end's tests.

Run `python tests/notebook/golden/write.py` after a change to the messages.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

from nbtorch.events import messages as m

HERE = Path(__file__).parent


def node(id, op, module="", shape=(32, 64), inputs=(), **more):
    """A graph node with the fields that tests do not care about filled in."""
    more.setdefault("place", m.Place(run=4, line=7 + id % 9, source="out = model(x)"))
    more.setdefault("value", round(math.sin(id * 1.7), 4))
    more.setdefault("value_name", "mean")
    return m.GraphNode(
        id=id, op=op, module=module, shapes=[list(shape)], dtypes=["float32"], inputs=list(inputs), **more
    )


def parameter(id, name, module, shape):
    """A leaf that training changes; its number is the gradient's norm."""
    return node(
        id,
        "AccumulateGrad",
        module,
        shape,
        role="parameter",
        name=name,
        value=id / 100,
        value_name="grad norm",
    )


class Builder:
    """Adds the nodes of small modules in order."""

    def __init__(self):
        self.nodes = []

    def add(self, make, *args, **kwargs):
        """The new node's id."""
        id = len(self.nodes) + 1
        self.nodes.append(make(id, *args, **kwargs))
        return id

    def linear(self, module, source, inner, outer):
        """A linear layer: two parameters, a transpose and a product."""
        weight = self.add(parameter, "weight", module, (outer, inner))
        bias = self.add(parameter, "bias", module, (outer,))
        turned = self.add(node, "TBackward0", module, (inner, outer), [weight], module_type="Linear")
        return self.add(
            node, "AddmmBackward0", module, (32, outer), [bias, source, turned],
            module_type="Linear", saved_bytes=4 * 32 * inner,
        )  # fmt: skip

    def norm(self, module, source, size):
        """A layer norm."""
        weight = self.add(parameter, "weight", module, (size,))
        return self.add(
            node, "NativeLayerNormBackward0", module, (32, size), [source, weight],
            module_type="LayerNorm", saved_bytes=4 * 34 * size,
        )  # fmt: skip


def mlp():
    """A two-layer perceptron at step 3."""
    b = Builder()
    x = b.add(node, "Input", "", (32, 784), role="input", name="x", value_name="mean")
    h = b.linear("fc1", x, 784, 64)
    h = b.add(node, "ReluBackward0", "act", (32, 64), [h], module_type="ReLU", saved_bytes=8192)
    h = b.linear("fc2", h, 64, 10)
    b.add(node, "NllLossBackward0", "", (), [h], role="loss", name="loss", value=0.6931, value_name="loss")
    return m.GraphSnapshot(
        graph=1, step=3, loss=0.6931, title="MLP", run=4, total_nodes=len(b.nodes), nodes=b.nodes
    )


def transformer(layers=4, size=128):
    """Residual blocks, as deep models have them."""
    b = Builder()
    h = b.add(node, "Input", "", (32, size), role="input", name="tokens")
    for index in range(layers):
        at = f"encoder.layers.{index}"
        normed = b.norm(f"{at}.norm1", h, size)
        q, k, v = (b.linear(f"{at}.attention.{each}", normed, size, size) for each in ("q", "k", "v"))
        scores = b.add(node, "BmmBackward0", f"{at}.attention", (32, 32), [q, k], module_type="Attention")
        weights = b.add(node, "SoftmaxBackward0", f"{at}.attention", (32, 32), [scores], saved_bytes=4096)
        mixed = b.add(node, "BmmBackward0", f"{at}.attention", (32, size), [weights, v])
        h = b.add(node, "AddBackward0", at, (32, size), [h, mixed], module_type="EncoderLayer")
        normed = b.norm(f"{at}.norm2", h, size)
        up = b.linear(f"{at}.mlp.up", normed, size, 4 * size)
        act = b.add(
            node, "GeluBackward0", f"{at}.mlp", (32, 4 * size), [up], saved_bytes=65536, freed=index > 2
        )
        down = b.linear(f"{at}.mlp.down", act, 4 * size, size)
        h = b.add(node, "AddBackward0", at, (32, size), [h, down])
    logits = b.linear("head", h, size, 10)
    b.add(node, "NllLossBackward0", "", (), [logits], role="loss", name="loss", value=2.31, value_name="loss")
    return m.GraphSnapshot(
        graph=2, step=41, loss=2.31, title="Encoder", run=9, total_nodes=len(b.nodes), nodes=b.nodes
    )


def values(snapshot, step):
    """The next step's numbers for a snapshot."""
    numbers = [round(math.sin(each.id * 1.7 + step / 5), 4) for each in snapshot.nodes]
    loss = round(2.3 / (1 + step / 10), 4)
    return m.GraphValues(graph=snapshot.graph, step=step, loss=loss, values=[*numbers[:-1], loss], freed=[2])


def hostile():
    """Names that try to be markup, numbers that are not numbers, a cycle, and an edge from nowhere."""
    bad = "<img src=x onerror=alert(1)>"
    nodes = [
        node(1, bad, "<b>a</b>", value=float("nan"), inputs=[3]),
        node(2, "Add", "__proto__.constructor", inputs=[1, 99], value=float("inf"), name="'; DROP"),
        node(
            3, "Mul", "a..b.", inputs=[2, 3], value=None, place=m.Place(file="</script>", line=1, source=bad)
        ),
    ]
    return m.GraphSnapshot(graph=3, step=1, loss=float("nan"), title=bad, total_nodes=7, nodes=nodes)


def detail():
    """The answer to a click on the first linear layer of the perceptron."""
    saved = [
        m.SavedTensor(name="mat1", shape=[32, 784], dtype="float32", bytes=100352, version=0),
        m.SavedTensor(name="mat2", shape=[784, 64], dtype="float32", bytes=200704, version=3),
    ]
    return m.GraphDetail(
        graph=1, node=5, op="AddmmBackward0", module="fc1", module_type="Linear", name="",
        place=m.Place(run=4, line=12, source="h = self.fc1(x)"), shapes=[[32, 64]], dtypes=["float32"],
        saved=saved, saved_bytes=301056, forward_ms=0.41, backward_ms=0.83, grad_norm=0.0213,
        value=0.7985, value_name="mean",
    )  # fmt: skip


def sample(index, run=4):
    """Memory during training: rises in forward, falls in backward."""
    wave = abs(math.sin(index / 6))
    by = m.Categories(
        parameter=52_000_000, gradient=int(52_000_000 * (1 - wave)), activation=int(180_000_000 * wave),
        optimizer=104_000_000 if index > 10 else 0, other=6_000_000,
    )  # fmt: skip
    live = by.parameter + by.gradient + by.activation + by.optimizer + by.other
    return m.MemorySample(
        time=1_700_000_000 + index / 10, live=live, peak=341_900_000, by=by, rss=live + 190_000_000,
        pool=23_000_000, run=run, step=index // 6,
    )  # fmt: skip


def memory():
    """What the memory panel shows after a while."""
    names = ["encoder.weight", "head.weight", "", "exp_avg", "batch"]
    kinds = ["parameter", "gradient", "activation", "optimizer", "other"]
    tensors = [
        m.TopTensor(
            id=index, name=names[index], bytes=48_000_000 // (index + 1), shape=[4096 // (index + 1), 2930],
            dtype="float32", category=kinds[index],
            place=m.Place(run=3 + index, line=index + 2, source="model = Encoder()"),
        )
        for index in range(5)
    ]  # fmt: skip
    return [
        m.MemoryHistory(samples=[sample(index) for index in range(90)]),
        sample(90),
        m.MemoryTop(count=212, tensors=tensors),
        m.MemoryCell(run=3, peak=58_000_000, delta=52_000_000, alive=52_000_000, label="model = Encoder()"),
        m.MemoryCell(
            run=4, peak=341_900_000, delta=104_000_000, alive=156_000_000, label="for x, y in data:"
        ),
    ]


def kernel_calls():
    """Who answered: a provider with busy kernels, one with a hostile name, one that names none."""
    busy = [m.KernelCount(name="addmm", calls=1_000), m.KernelCount(name="relu", calls=204)]
    bad = [m.KernelCount(name="<img src=x onerror=alert(1)>", calls=880)]
    return m.KernelCalls(
        providers=[
            m.ProviderCalls(provider="onednn", calls=1_204, busiest=busy),
            m.ProviderCalls(provider="numba", calls=880, busiest=bad),
            m.ProviderCalls(provider="numpy", calls=5_310),
        ]
    )


def others():
    """One of each message that no other file holds."""
    casts = [
        m.AmpOp(op="addmm", dtypes=[m.DtypeCount(dtype="bfloat16", count=12)], casts=24, cast_bytes=98304)
    ]
    row = m.ProfileRow(op="addmm", calls=12, self_us=812.5, total_us=830.0, bytes=98304, flops=7_000_000)
    ranks = [
        m.Rank(rank=0, host="a", state="busy", step=4, live=1024),
        m.Rank(rank=1, state="dead", note="lost"),
    ]
    return [
        m.Status(session="s-1", nbtorch="0.1.0", training=True, step=41, run=4, data_comm="c0ffee"),
        m.AmpSummary(ops=casts, casts=24, cached_casts=6, cast_bytes=98304, saved_bytes=49152, scale=65536.0),
        m.ProfileTable(title="step", run=5, wall_us=1200.0, rows=[row]),
        m.ClusterState(backend="shm", ranks=ranks),
        kernel_calls(),
        m.Error(code="unknown-id", text="node 99 is not known"),
    ]


def batches():
    """File name to plain data, for every golden file."""
    many = {
        "graph_mlp": [mlp()],
        "graph_transformer": [transformer()],
        "graph_values": [mlp(), values(mlp(), 4)],
        "graph_hostile": [hostile()],
        "graph_detail": [mlp(), detail()],
        "memory": memory(),
        "others": others(),
    }
    files = {
        name: m.dump(m.Batch(seq=seq, items=items, dropped=0))
        for seq, (name, items) in enumerate(many.items(), 1)
    }
    requests = [
        m.Hello(request=1, version=m.VERSION, client="jupyterlab 0.1.0"), m.SnapshotRequest(request=2),
        m.DetailRequest(request=3, graph=1, node=5), m.TopRequest(request=4, limit=10),
    ]  # fmt: skip
    return {**files, "requests": m.dump(requests)}


def text(data):
    """The data as a golden file holds it."""
    return json.dumps(data, indent=1, sort_keys=False) + "\n"


if __name__ == "__main__":
    for name, data in batches().items():
        (HERE / f"{name}.json").write_text(text(data), encoding="utf-8", newline="\n")
