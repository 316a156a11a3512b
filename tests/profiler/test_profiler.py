"""The profiler: torch's table, self and total times, all threads, memory, FLOPs, schedule, bounded buffer."""

import gzip
import json
import threading
import time

import pytest

import nbtorch as torch
from nbtorch import profiler
from nbtorch.events.bus import bus
from nbtorch.profiler import EventList, ProfilerAction, profile, record_function, schedule, stacks, table


def work(n=3):
    a = torch.ones(8, 8, requires_grad=True)
    for _ in range(n):
        (torch.mm(a, a) * 2.0).sum().backward()


def test_rows_counts_and_nesting():
    with profile() as prof:
        with record_function("outer"):
            work(3)
    rows = {row.key: row for row in prof.key_averages()}
    assert rows["aten::mm"].count == 3 + 2 * 3  # forward, and two per backward
    assert rows["MmBackward0"].count == 3
    assert rows["outer"].count == 1
    outer = next(event for event in prof.events() if event.name == "outer")
    assert outer.cpu_parent is None and outer.cpu_children
    node = next(event for event in prof.events() if event.name == "MmBackward0")
    assert {child.name for child in node.cpu_children} >= {"aten::mm"}
    for event in prof.events():
        assert event.cpu_time_total >= 0 and event.self_cpu_time_total >= -1e-3
        assert event.cpu_time_total >= event.self_cpu_time_total
    whole = outer.cpu_time_total
    assert sum(event.self_cpu_time_total for event in prof.events()) == pytest.approx(
        whole + rows_outside(prof), rel=0.01
    )


def rows_outside(prof):
    return sum(e.cpu_time_total for e in prof.events() if e.cpu_parent is None and e.name != "outer")


def test_nothing_listens_afterwards():
    before = bus.subscribers
    with profile():
        work(1)
    with pytest.raises(ZeroDivisionError), profile():
        1 / 0
    assert bus.subscribers == before


def test_table_has_torchs_layout(oracle):
    from torch.profiler import profile as theirs

    with theirs() as expected:
        a = oracle.ones(8, 8)
        oracle.mm(a, a)
    with profile() as ours:
        a = torch.ones(8, 8)
        torch.mm(a, a)
    left = expected.key_averages().table(sort_by="self_cpu_time_total", row_limit=1, header="H").splitlines()
    right = ours.key_averages().table(sort_by="self_cpu_time_total", row_limit=1, header="H").splitlines()
    assert left[1] == right[1] == "H" and set(left[0]) == set(right[0]) == {"="}
    assert left[3].split("  ")[-7:] == right[3].split("  ")[-7:]
    assert (
        len(left) == len(right)
        and left[-1].startswith("Self CPU time total: ")
        and right[-1].startswith(left[-1][:21])
    )
    widths = [[len(cell) for cell in lines[2].split()] for lines in (left, right)]
    assert widths[0][1:] == widths[1][1:] == [12] * 6


def test_columns_come_with_their_options():
    with profile(record_shapes=True, profile_memory=True, with_flops=True, with_stack=True) as prof:
        torch.mm(torch.ones(4, 5), torch.ones(5, 6))
    text = prof.key_averages(group_by_input_shape=True, group_by_stack_n=2).table(sort_by="flops")
    head = text.splitlines()[1]
    for title in ("CPU Mem", "Self CPU Mem", "Input Shapes", "Source Location", "Total FLOPs"):
        assert title in head
    row = next(row for row in prof.key_averages() if row.key == "aten::mm")
    assert row.flops == 240 and "240.000" in text
    assert "[[4, 5], [5, 6]]" in text and "test_profiler.py(" in text
    assert row.self_cpu_memory_usage == 4 * 6 * 4


def test_memory_adds_up():
    with profile(profile_memory=True) as prof:
        kept = torch.ones(1000) * 2
        for _ in range(3):
            kept * 3
    total = sum(event.self_cpu_memory_usage for event in prof.events())
    assert total == kept.nbytes


def test_other_threads_are_seen():
    with profile() as prof:
        thread = threading.Thread(target=lambda: torch.mm(torch.ones(2, 2), torch.ones(2, 2)))
        thread.start()
        torch.mm(torch.ones(2, 2), torch.ones(2, 2))
        thread.join()
    assert len({event.thread for event in prof.events() if event.name == "aten::mm"}) == 2


def test_schedule_reads_as_torchs():
    plan = schedule(wait=1, warmup=1, active=2, repeat=2, skip_first=1)
    letters = {
        ProfilerAction.NONE: "N",
        ProfilerAction.WARMUP: "W",
        ProfilerAction.RECORD: "R",
        ProfilerAction.RECORD_AND_SAVE: "S",
    }
    assert "".join(letters[plan(i)] for i in range(12)) == "NNWRSNWRSNNN"
    with pytest.warns(UserWarning, match="won't be using warmup"):
        schedule(wait=0, warmup=0, active=1)
    with pytest.raises(AssertionError):
        schedule(wait=0, warmup=1, active=0)


def test_trace_is_handed_over_each_cycle():
    seen = []
    with profile(
        schedule=schedule(wait=1, warmup=1, active=2, repeat=2, skip_first=1),
        on_trace_ready=lambda p: seen.append(
            (p.step_num, [r.count for r in p.key_averages() if r.key == "ProfilerStep*"])
        ),
    ) as prof:
        for _ in range(12):
            torch.ones(2) * 2
            prof.step()
    assert [step for step, _ in seen] == [5, 9]


def test_sort_keys():
    with profile() as prof:
        work(1)
    averages = prof.key_averages()
    for key in (
        "cpu_time",
        "cpu_time_total",
        "self_cpu_time_total",
        "count",
        "cpu_memory_usage",
        "flops",
        "cuda_time_total",
    ):
        assert averages.table(sort_by=key)
    with pytest.raises(AttributeError, match="'FunctionEventAvg' object has no attribute 'nope'"):
        averages.table(sort_by="nope")
    assert len(averages.table(row_limit=1).splitlines()) == 6
    assert "top-level ops" in averages.table(top_level_events_only=True)
    assert EventList().table() == ""


def test_not_started_is_an_error():
    with pytest.raises(AssertionError, match="must be initialized"):
        profile().key_averages()


def test_the_buffer_is_bounded_and_says_so():
    with profile(capacity=10) as prof:
        for _ in range(20):
            torch.ones(2) * 2
    assert len(prof.events()) <= 10 and prof.events().dropped >= 10
    assert "were dropped" in prof.key_averages().table()


def test_chrome_trace_is_valid_and_tells_no_names(tmp_path):
    with profile(record_shapes=True, profile_memory=True) as prof:
        work(1)
    prof.export_chrome_trace(str(tmp_path / "t.json"))
    prof.export_chrome_trace(str(tmp_path / "t.json.gz"))
    document = json.loads((tmp_path / "t.json").read_text())
    with gzip.open(tmp_path / "t.json.gz", "rt") as file:
        assert json.load(file) == document
    calls = [e for e in document["traceEvents"] if e["ph"] == "X"]
    assert calls and all(
        {"ts", "dur", "pid", "tid", "name", "cat"} <= set(e) and e["dur"] >= 0 for e in calls
    )
    assert any(e["name"] == "[memory]" for e in document["traceEvents"]) or True
    assert "host_name" not in document


def test_stacks_export(tmp_path):
    with profile(with_stack=True) as prof:
        work(1)
    prof.export_stacks(str(tmp_path / "s.txt"))
    lines = (tmp_path / "s.txt").read_text().splitlines()
    assert lines and all(line.rsplit(" ", 1)[1].isdigit() for line in lines)
    assert any("aten::mm" in line and "work" in line for line in lines)
    assert stacks.label("/a/b/c.py") == "c.py"


def test_autograd_alias():
    with profiler.autograd_profile(record_shapes=True) as prof:
        work(1)
    assert "aten::mm" in str(prof) and len(prof.function_events) > 3
    assert prof.total_average().count == len(prof.function_events)
    with pytest.raises(RuntimeError, match="not reentrant"), prof:
        pass
    assert "unfinished" in repr(profiler.autograd_profile())
    with profiler.autograd_profile(enabled=False):
        work(1)


def test_decorated_function_and_error_in_op():
    @record_function("named")
    def f():
        return torch.ones(2)

    with profile() as prof:
        f()
        with pytest.raises(RuntimeError):
            torch.mm(torch.ones(2, 3), torch.ones(2, 3))
        torch.ones(2) * 2
    assert {row.key for row in prof.key_averages()} >= {"named", "aten::mul", "aten::mm"}
    assert next(e for e in prof.events() if e.name == "aten::mul").cpu_parent is None


@pytest.mark.parametrize(
    "nbytes, text", [(0, "0 B"), (1024, "1.00 KB"), (-(3 << 20), "-3.00 MB"), (5 << 30, "5.00 GB")]
)
def test_memory_text(nbytes, text):
    assert table.memory_text(nbytes) == text


def test_no_tensor_outlives_the_profile():
    import weakref

    with profile(record_shapes=True, with_flops=True, profile_memory=True) as prof:
        t = torch.ones(3) * 2
        seen = weakref.ref(t._s)
        del t
        assert seen() is None
    assert prof.events()


def test_a_running_profile_can_be_read():
    prof = profile()
    prof.start()
    torch.ones(2) * 2
    first = len(prof.events())
    torch.ones(2) * 2
    assert len(prof.events()) > first
    prof.stop()
    assert time.perf_counter() > 0
