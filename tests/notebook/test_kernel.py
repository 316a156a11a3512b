"""In a real kernel: status of failing cells, requests answered while a cell runs, and nothing sent without a
front end.
"""

import os
import time
import warnings
from pathlib import Path

import pytest

from nbtorch.events import messages as M
from nbtorch.events import schema

from .kernels import kernel

ROOT = str(Path(__file__).parents[2])


@pytest.fixture(scope="module")
def k(tmp_path_factory):
    """A kernel with the extension loaded, a subshell, and a small model to train."""
    env = {**os.environ, "PYTHONPATH": ROOT}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with kernel(tmp_path_factory.mktemp("kernel"), env) as started:
            reply, _ = started.run(
                "%load_ext nbtorch\nimport time\nimport nbtorch as torch\n"
                "w = torch.tensor([1., 2.], requires_grad=True)\n"
                "def train(seconds):\n"
                "    end = time.time() + seconds\n"
                "    while time.time() < end:\n"
                "        loss = (w * w).exp() * 0.01\n"
                "        loss.backward(torch.tensor([1., 1.]))\n"
            )
            assert reply["status"] == "ok", reply
            started.open_subshell()
            yield started


def hello(k, number=1):
    rpc = k.open_comm(M.RPC_TARGET)
    batch, _ = k.ask(
        rpc, {"kind": "request.hello", "request": number, "version": M.VERSION, "client": "test"}
    )
    return rpc, batch


def kinds(batches):
    return {item["kind"] for batch in batches for item in batch["items"]}


def test_a_failing_cell_is_an_error_once(k):
    reply, messages = k.run("%%profile -q\na = 1\n1 / 0")
    assert reply["status"] == "error" and reply["ename"] == "ZeroDivisionError"
    assert [m["msg_type"] for m in messages].count("error") == 1
    assert "line 3" in "\n".join(reply["traceback"])


def test_await_and_display_work(k):
    reply, messages = k.run("%%memory -q\n%%autocast -q\nimport asyncio\nawait asyncio.sleep(0.01)\n6 * 7")
    assert reply["status"] == "ok"
    assert [m["content"]["data"]["text/plain"] for m in messages if m["msg_type"] == "execute_result"] == [
        "42"
    ]


def test_outputs_draw_without_the_front_end(k):
    _, messages = k.run("%graph (w * w).exp()")
    bundle = next(m["content"]["data"] for m in messages if m["msg_type"] == "display_data")
    schema.check_batch(bundle[M.GRAPH_MIME])
    assert bundle["image/svg+xml"].startswith("<svg") and "Exp" in bundle["text/plain"]


def test_without_a_front_end_nothing_is_sent_or_watched(k):
    before = len(k.iopub)
    k.run("train(0.3)")
    assert not [m for m in k.iopub[before:] if m["msg_type"].startswith("comm")]
    _, messages = k.run("from nbtorch.events.bus import bus\nprint(len(bus.subscribers), len(bus.nodes))")
    assert [m["content"]["text"].strip() for m in messages if m["msg_type"] == "stream"] == ["0 1"]


def test_requests_are_answered_while_a_cell_trains(k):
    begun = time.monotonic()
    rpc, first = hello(k)
    schema.check_batch(first)
    status = next(item for item in first["items"] if item["kind"] == "status")
    assert "kernel.calls" in kinds([first])
    data = status["data_comm"]
    assert data and status["training"] is False
    cell = k.start_cell("train(4)")
    k.pump(0.8)
    told = []
    for number in range(2, 8):
        graph = next(
            (
                item
                for batch in reversed(k.batches(data))
                for item in batch["items"]
                if item["kind"] == "graph.snapshot"
            ),
            None,
        )
        assert graph is not None
        answer, seconds = k.ask(
            rpc, {"kind": "request.detail", "request": number, "graph": graph["graph"], "node": 1}
        )
        schema.check_batch(answer)
        told.append((answer["items"][0], seconds))
    assert max(seconds for _, seconds in told) < 1.0
    detail = told[0][0]
    assert detail["kind"] == "graph.detail" and detail["place"]["run"] is not None and detail["saved"]
    top, seconds = k.ask(rpc, {"kind": "request.top", "request": 20, "limit": 5})
    assert top["items"][0]["kind"] == "memory.top" and seconds < 2.0
    reply, _ = k.end_of(cell)
    assert reply["status"] == "ok"
    batches = k.batches(data)
    for batch in batches:
        schema.check_batch(batch)
    assert kinds(batches) >= {"graph.snapshot", "graph.values", "memory.sample", "status"}
    assert len(batches) <= 4.5 * 20 + 10
    calls = [
        item["providers"] for batch in batches for item in batch["items"] if item["kind"] == "kernel.calls"
    ]
    assert 2 <= len(calls) <= time.monotonic() - begun + 1  # once a second, while it changes
    totals = [sum(each["calls"] for each in providers) for providers in calls]
    assert totals == sorted(set(totals)) and totals[-1] > 100
    assert any(item["kind"] == "status" and item["training"] for batch in batches for item in batch["items"])
    snapshots = sum(item["kind"] == "graph.snapshot" for batch in batches for item in batch["items"])
    assert snapshots >= 2  # sent again while busy, for a page that was reloaded
    k.comm("comm_close", {"comm_id": rpc, "data": {}})
    k.pump(0.5)
    _, messages = k.run("print(len(bus.subscribers), len(bus.nodes))")
    assert [m["content"]["text"].strip() for m in messages if m["msg_type"] == "stream"] == ["0 1"]


def test_hostile_requests_get_errors(k):
    rpc, _ = hello(k, 100)
    for number, (request, code) in enumerate(
        [
            ({"kind": "request.detail", "graph": 10**6, "node": 3}, "unknown-id"),
            ({"kind": "request.detail", "graph": "x", "node": 3}, "bad-request"),
            ({"kind": "nonsense"}, "bad-request"),
            ({"kind": "request.hello", "version": 999, "client": ""}, "version"),
            ({"kind": "request.hello", "version": 1, "client": "x" * 5000}, "too-large"),
        ],
        101,
    ):
        answer, _ = k.ask(rpc, {**request, "request": number})
        assert [item["kind"] for item in answer["items"]] == ["error"]
        assert answer["items"][0]["code"] == code
    k.comm("comm_close", {"comm_id": rpc, "data": {}})
