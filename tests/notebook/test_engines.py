"""Engines from a real kernel: output by rank, collectives, a death in the middle of a cell, and nothing left
behind.
"""

import os
import re
import signal
import sys
import time
import warnings
from pathlib import Path

import psutil
import pytest

from nbtorch.notebook.engines import parse_ranks

from .kernels import kernel

ROOT = str(Path(__file__).parents[2])


@pytest.mark.parametrize(
    "spec, ranks",
    [
        ("all", [0, 1, 2, 3]),
        ("", [0, 1, 2, 3]),
        ("0,2", [0, 2]),
        ("1-3", [1, 2, 3]),
        ("!0", [1, 2, 3]),
        ("0-2,!1", [0, 2]),
        (" 3 ", [3]),
    ],
)
def test_rank_specs(spec, ranks):
    assert parse_ranks(spec, 4) == ranks


@pytest.mark.parametrize("spec", ["4", "a", "2-1", "0-9", "-1", "0;1", "[0]", "all,!all", "!0-3"])
def test_bad_rank_specs_say_so(spec):
    with pytest.raises(ValueError, match="rank"):
        parse_ranks(spec, 4)


@pytest.fixture(scope="module")
def k(tmp_path_factory):
    """A kernel with two engines."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with kernel(tmp_path_factory.mktemp("engines"), {**os.environ, "PYTHONPATH": ROOT}) as started:
            reply, messages = started.run("%load_ext nbtorch\n%cluster start -n 2 --timeout 20")
            assert reply["status"] == "ok", "\n".join(reply.get("traceback", []))
            shown = [m["content"]["data"] for m in messages if m["msg_type"] == "display_data"]
            assert len(shown) == 1 and "text/html" in shown[0], "only the report, no progress bar to be saved"
            yield started


def printed(messages):
    return "".join(m["content"]["text"] for m in messages if m["msg_type"] == "stream")


def pids(k):
    return [
        int(n)
        for n in re.findall(
            r"pid (\d+)", printed(k.run("%%rank all\nimport os\nprint('pid', os.getpid())")[1])
        )
    ]


def test_cells_run_on_chosen_ranks_with_their_output(k):
    _, messages = k.run("%%rank all\nprint('hello from', rank, 'of', world_size)\nrank * 10")
    text = printed(messages)
    assert "[0] hello from 0 of 2\n" in text and "[1] hello from 1 of 2\n" in text
    assert "[0] 0\n" in text and "[1] 10\n" in text
    assert "[0]" not in printed(k.run("%%rank 1\nprint(rank)")[1])
    assert "[1]" not in printed(k.run("%%on !1\nprint(rank)")[1])
    assert "[1] 1\n" in printed(k.run("%%rank[1]\nprint(rank)")[1])
    both = printed(k.run("%%rank 0, 1\nprint(rank)")[1])
    assert "[0] 0\n" in both and "[1] 1\n" in both
    assert k.run("%%rank !0,!1\nprint(rank)")[0]["status"] == "error"


def test_output_comes_while_the_cell_runs(k):
    sent = k.start_cell("%%rank 0\nimport time\nprint('early', flush=True)\ntime.sleep(2)\nprint('late')")
    k.pump(1.2)
    assert "[0] early" in printed(k.iopub) and "[0] late" not in printed(k.iopub)
    assert k.end_of(sent)[0]["status"] == "ok"


def test_collectives_join_the_ranks(k):
    _, messages = k.run(
        "%%rank all\nt = torch.tensor([1., 2.]) * (rank + 1)\ndist.all_reduce(t)\nprint(t.tolist())"
    )
    assert printed(messages).count("[3.0, 6.0]") == 2


def test_magics_work_on_ranks(k):
    _, messages = k.run("%%rank 1\n%%profile --text\nt = torch.tensor([1.]) * 2")
    assert "[1] aten::mul" in printed(messages)


def test_a_failing_rank_fails_the_cell_once_and_is_named(k):
    reply, messages = k.run("%%rank all\nif rank == 1:\n    raise KeyError('lost')")
    assert reply["status"] == "error" and reply["ename"] == "RankError"
    assert "rank 1: KeyError" in reply["evalue"] and [m["msg_type"] for m in messages].count("error") == 1
    text = "\n".join(reply["traceback"])
    assert "line 3" in re.sub(r"\x1b\[[0-9;]*m", "", text)
    both, _ = k.run("%%rank all\n1 / 0")
    assert "ranks 0, 1: ZeroDivisionError" in both["evalue"]
    assert "\n".join(both["traceback"]).count("--- ranks 0, 1 ---") == 1


def test_skipping_a_collective_names_who_is_missing(k):
    reply, _ = k.run(
        "%%rank all\nfrom datetime import timedelta\nimport time\n"
        "if rank == 0:\n    dist.monitored_barrier(timeout=timedelta(seconds=0.5))\n"
    )
    assert reply["status"] == "error" and "rank 1 did not arrive" in reply["evalue"]
    k.run("%%rank 1\ntry:\n    dist.barrier()\nexcept RuntimeError:\n    print('told later')")
    assert printed(k.run("%%rank all\ndist.barrier()\nprint('met')")[1]).count("met") == 2


def test_an_interrupt_reaches_the_ranks_and_the_group_goes_on(k):
    sent = k.start_cell(
        "%%rank all\nimport time\nif rank == 0:\n    dist.barrier()\nelse:\n    time.sleep(30)"
    )
    k.pump(1.0)
    k.manager.interrupt_kernel()
    begun = time.monotonic()
    reply, _ = k.end_of(sent)
    assert (
        reply["status"] == "error" and reply["ename"] == "KeyboardInterrupt" and time.monotonic() - begun < 10
    )
    assert (
        printed(k.run("%%rank all\nt = torch.tensor([1.])\ndist.all_reduce(t)\nprint(t.item())")[1]).count(
            "2.0"
        )
        == 2
    )


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
def test_a_death_ends_the_cell_at_once_and_stop_leaves_nothing(k):
    victims = pids(k)
    assert len(victims) == 2
    family = {
        p.pid: p.create_time()
        for p in psutil.Process(k.manager.provisioner.process.pid).children(recursive=True)
    }
    code = (
        "from nbtorch.notebook.extension import session_of\nprint(session_of(get_ipython()).engines.folder)"
    )
    folder = printed(k.run(code)[1]).strip()
    assert os.path.isdir(folder) and os.stat(folder).st_mode & 0o077 == 0
    sent = k.start_cell("%%rank all\nimport time\nfor _ in range(300):\n    time.sleep(0.1)")
    k.pump(1.0)
    os.kill(victims[1], signal.SIGKILL)
    begun = time.monotonic()
    reply, _ = k.end_of(sent)
    assert time.monotonic() - begun < 5
    assert reply["status"] == "error" and "rank 1 died" in reply["evalue"]
    assert "[0] still 0" in printed(k.run("%%rank 0\nprint('still', rank)")[1])
    gone, _ = k.run("%%rank all\n1")
    assert gone["status"] == "error" and "rank 1 is dead" in gone["evalue"]
    lost, _ = k.run("%%rank 0\ndist.barrier()")
    assert lost["status"] == "error" and "rank 1" in lost["evalue"]
    _, messages = k.run("%cluster status --text")
    assert re.search(r"1\s+\d+\s+dead", printed(messages))
    reply, _ = k.run("%cluster stop")
    assert reply["status"] == "ok"
    left = [
        pid
        for pid, began in family.items()
        if psutil.pid_exists(pid)
        and psutil.Process(pid).create_time() == began
        and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    ]
    assert not left
    assert not os.path.exists(folder)
    again, _ = k.run("%%rank 0\n1")
    assert again["status"] == "error"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
@pytest.mark.parametrize("violently", [False, True])
def test_the_engines_go_with_their_kernel(tmp_path, violently):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with kernel(tmp_path, {**os.environ, "PYTHONPATH": ROOT}) as started:
            reply, _ = started.run("%load_ext nbtorch\n%cluster start -n 1 -q")
            assert reply["status"] == "ok", "\n".join(reply.get("traceback", []))
            own = psutil.Process(started.manager.provisioner.process.pid)
            family = own.children(recursive=True)
            assert len(family) >= 2
            if violently:
                own.kill()
            else:
                started.manager.shutdown_kernel(now=False)
            _, left = psutil.wait_procs(family, timeout=15)
            left = [p for p in left if p.is_running() and p.status() != psutil.STATUS_ZOMBIE]
            assert not left
