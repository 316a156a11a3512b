"""The transport: right sums, errors that name what is missing, no way in without the key."""

import multiprocessing.connection as mpc
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from nbtorch.distributed.transports.loopback import HOST, Hub, Link

KEY = b"k" * 32


@pytest.fixture
def ranks():
    """A function starting a group of n ranks as threads: (hub, links)."""
    opened = []

    def start(size, timeout=5.0):
        hub = Hub(size, KEY, timeout=timeout)
        with ThreadPoolExecutor(size) as pool:
            links = list(pool.map(lambda rank: Link(rank, size, hub.port, KEY, timeout), range(size)))
        opened.append((hub, links))
        return hub, links

    yield start
    for hub, links in opened:
        for link in links:
            link.close()
        hub.close()
    left = [t.name for t in threading.enumerate() if t.name.startswith("nbtorch-hub")]
    assert not left


def together(links, function):
    with ThreadPoolExecutor(len(links)) as pool:
        return [f.result() for f in [pool.submit(function, link) for link in links]]


def failures(links, function):
    def attempt(link):
        try:
            function(link)
        except RuntimeError as error:
            return str(error)
        return None

    return together(links, attempt)


@pytest.mark.parametrize("size", [1, 2, 4])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int64", "complex64"])
def test_sums_agree_with_numpy_on_every_rank(ranks, size, dtype):
    _, links = ranks(size)
    parts = [(np.arange(12).reshape(3, 4) * (rank + 1)).astype(dtype) for rank in range(size)]
    for result in together(links, lambda link: link.call("all_reduce", parts[link.rank], op="sum")):
        assert result.dtype == dtype
        np.testing.assert_array_equal(result, sum(parts[1:], parts[0]))


def test_other_collectives(ranks):
    _, links = ranks(3)
    parts = [np.full((2,), float(rank + 1)) for rank in range(3)]
    for op, expected in {"max": 3, "min": 1, "product": 6, "avg": 2}.items():
        for result in together(links, lambda link: link.call("all_reduce", parts[link.rank], op=op)):
            np.testing.assert_array_equal(result, expected)
    got = together(links, lambda link: link.call("broadcast", parts[link.rank], root=1))
    assert got[1] is None and got[0][0] == got[2][0] == 2
    assert [g.tolist() for g in together(links, lambda link: link.call("all_gather", parts[link.rank]))] == [
        [[1, 1], [2, 2], [3, 3]]
    ] * 3
    got = together(
        links,
        lambda link: link.call("scatter", np.arange(6.0).reshape(3, 2) if link.rank == 2 else None, root=2),
    )
    assert [g.tolist() for g in got] == [[0, 1], [2, 3], [4, 5]]
    assert together(links, lambda link: link.call("barrier")) == [None] * 3


def test_empty_and_zero_dimensional(ranks):
    _, links = ranks(2)
    for shape in ((), (0,), (3, 0)):
        for result in together(
            links, lambda link: link.call("all_reduce", np.ones(shape, "float32"), op="sum")
        ):
            assert result.shape == shape


def test_timeout_names_collective_shape_and_missing_ranks(ranks):
    _, links = ranks(3)
    begun = time.monotonic()
    errors = failures(
        links[:2], lambda link: link.call("all_reduce", np.ones((256, 256), "float32"), op="sum", timeout=0.3)
    )
    assert time.monotonic() - begun < 2
    for error in errors:
        assert "all_reduce #1 (256x256 float32) timed out after 0.3 s" in error
        assert "rank 2 did not arrive" in error and "ranks 0, 1 waited" in error
    late = failures(links[2:], lambda link: link.call("all_reduce", np.ones((256, 256), "float32"), op="sum"))
    assert "timed out" in late[0]
    assert together(links, lambda link: link.call("barrier")) == [None] * 3  # the group is in step again


def test_disagreement_is_an_error_on_all_ranks(ranks):
    _, links = ranks(2)
    errors = failures(links, lambda link: link.call("all_reduce", np.ones(2 + link.rank), op="sum"))
    assert all("ranks disagree" in error and "3 float64" in error for error in errors)
    errors = failures(
        links,
        lambda link: link.call("barrier" if link.rank else "all_gather", None if link.rank else np.ones(1)),
    )
    assert all("ranks disagree" in error for error in errors)


def test_a_rank_that_leaves_wakes_the_others(ranks):
    _, links = ranks(2)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(failures, links[:1], lambda link: link.call("all_reduce", np.ones(3), op="sum"))
        time.sleep(0.2)
        links[1].conn.close()
        begun = time.monotonic()
        assert "rank 1 is gone" in waiting.result()[0]
        assert time.monotonic() - begun < 1
    assert "rank 1" in failures(links[:1], lambda link: link.call("barrier"))[0]


def test_interrupted_ranks_are_in_step_again_after_resync(ranks):
    _, links = ranks(2)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(failures, links[:1], lambda link: link.call("all_reduce", np.ones(3), op="sum"))
        time.sleep(0.1)
        links[1].resync(1)
        assert "abandoned" in waiting.result()[0]
    links[0].resync(1)
    for result in together(links, lambda link: link.call("all_reduce", np.ones(3), op="sum")):
        assert result.tolist() == [2, 2, 2]


def test_without_the_key_nobody_gets_in():
    hub = Hub(1, KEY, timeout=5.0)
    try:
        with pytest.raises((mpc.AuthenticationError, EOFError, OSError)):
            mpc.Client((HOST, hub.port), authkey=b"wrong" * 8)
        assert hub.listener.address[0] == "127.0.0.1"
        silent = mpc.Client((HOST, hub.port))  # connects, then says nothing: must not keep others out
        link = Link(0, 1, hub.port, KEY, 5.0)
        link.call("barrier")
        link.close()
        silent.close()
    finally:
        hub.close()


CHILD = """
import sys, numpy as np
from nbtorch.distributed.group import form
group = form("file://" + sys.argv[1], int(sys.argv[2]), 2, 20.0)
group.submit("barrier").wait()
print("in", flush=True)
group.submit("all_reduce", np.ones(4), op="sum").wait()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
@pytest.mark.parametrize("victim", [0, 1])
def test_killing_a_process_is_noticed_at_once(tmp_path, victim):
    path = str(tmp_path / "meet")
    command = [sys.executable, "-c", CHILD, path, str(victim)]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    from nbtorch.distributed.group import DistBackendError, form

    group = form("file://" + path, 1 - victim, 2, 20.0)
    try:
        if os.name == "posix":
            assert os.stat(path).st_mode & 0o077 == 0
        group.submit("barrier").wait()
        assert child.stdout.readline() == "in\n"
        group.submit("all_reduce", np.ones(4), op="sum").wait()
        child.send_signal(signal.SIGKILL)
        child.wait()
        begun = time.monotonic()
        with pytest.raises(DistBackendError, match="rank 0|rank 1 is gone|rank 1 gone"):
            group.submit("all_reduce", np.ones(4), op="sum").wait()
        assert time.monotonic() - begun < 2
    finally:
        child.kill()
        child.wait()
        child.stdout.close()
        group.close()
