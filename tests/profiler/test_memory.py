"""Live bytes by category, from events and from a scan, agree with the arrays."""

import gc
import weakref

import nbtorch as torch
from nbtorch.events.bus import subscribe
from nbtorch.profiler.memory import Memory, describe, scan


def test_alive_peak_and_left():
    gc.collect()
    with subscribe(Memory()) as (memory,):
        start = memory.total
        kept = torch.ones(100)
        gone = torch.ones(1000)
        del gone
        assert memory.total == start + 400 and memory.peak == start + 4400
        assert [live.nbytes for live in memory.left()] == [400]
        assert describe(memory.left()[0]) == ([100], "float32")
    assert kept is not None


def test_views_count_once():
    with subscribe(Memory()) as (memory,):
        start = memory.total
        a = torch.ones(10, 10)
        views = [a.t(), a[0], a.detach(), a.view(100)]
        assert memory.total == start + 400 and len(views) == 4


def test_categories_from_tags_and_the_tape():
    w = torch.ones(10, requires_grad=True)
    with subscribe(Memory()) as (memory,):
        assert memory.now["parameter"] >= 40
        y = (w * 2).exp()
        assert memory.now["activation"] == 40
        y.sum().backward()
        assert memory.now["gradient"] == 40
        del y
    found = scan()
    assert found[id(w._s)].category == "parameter" and found[id(w.grad._s)].category == "gradient"


def test_scan_and_observer_agree():
    with subscribe(Memory()) as (memory,):
        a = torch.ones(50, requires_grad=True)
        b = (a * a).exp()
        assert memory.total == sum(live.nbytes for live in scan().values()) and b is not None


def test_nothing_is_held():
    with subscribe(Memory()) as (memory,):
        t = torch.ones(3)
        seen = weakref.ref(t._s)
        del t
        assert seen() is None
    assert memory.total >= 0


def test_places_are_kept():
    with subscribe(Memory(lambda: "here")) as (memory,):
        t = torch.ones(3)
        assert memory.left()[0].place == "here" and t is not None
