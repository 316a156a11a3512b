"""Collectives on tensors, the default group, and its errors."""

import os
import subprocess
import sys
from datetime import timedelta

import pytest

import nbtorch as torch
import nbtorch.distributed as dist

from .ranks import each, groups


@pytest.fixture
def two(tmp_path):
    with groups(2, tmp_path) as made:
        yield made


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64, torch.complex64])
def test_all_reduce_in_place(two, dtype):
    def run(group):
        t = torch.ones(2, 3, dtype=dtype) * (group.rank() + 1)
        version = t._version
        assert dist.all_reduce(t, group=group) is None
        assert t._version > version
        return t

    for t in each(two, run):
        assert t.dtype is dtype and t.tolist() == [[3] * 3] * 2


def test_async_work_and_reductions(two):
    def run(group):
        t = torch.tensor([1.0, 5.0]) * (group.rank() + 1)
        work = dist.all_reduce(t, dist.ReduceOp.MAX, group, async_op=True)
        assert work.wait() and work.is_completed() and work.exception() is None
        return t.tolist()

    assert each(two, run) == [[2.0, 10.0]] * 2


def test_the_others(two):
    def run(group):
        rank = group.rank()
        t = torch.tensor([float(rank)])
        dist.broadcast(t, 1, group)
        gathered = [torch.zeros(1), torch.zeros(1)]
        dist.all_gather(gathered, torch.tensor([rank + 10.0]), group)
        joined = torch.zeros(2)
        dist.all_gather_into_tensor(joined, torch.tensor([float(rank)]), group)
        part = torch.zeros(1)
        dist.scatter(part, [torch.tensor([7.0]), torch.tensor([8.0])] if rank == 0 else None, 0, group)
        block = torch.zeros(1)
        dist.reduce_scatter_tensor(block, torch.tensor([1.0, 2.0]), group=group)
        reduced = torch.tensor([1.0])
        dist.reduce(reduced, 0, group=group)
        collected = [torch.zeros(1), torch.zeros(1)] if rank == 0 else None
        dist.gather(torch.tensor([rank * 2.0]), collected, 0, group)
        dist.barrier(group)
        return (
            t.item(),
            [g.item() for g in gathered],
            joined.tolist(),
            part.item(),
            block.item(),
            reduced.item(),
            collected and [c.item() for c in collected],
        )

    assert each(two, run) == [
        (1.0, [10.0, 11.0], [0.0, 1.0], 7.0, 2.0, 2.0, [0.0, 2.0]),
        (1.0, [10.0, 11.0], [0.0, 1.0], 8.0, 4.0, 1.0, None),
    ]


def test_views_are_written_through(two):
    def run(group):
        base = torch.zeros(3, 2)
        view = base.t()[1]
        view.fill_(1.0)
        dist.all_reduce(view, group=group)
        return base.tolist()

    assert each(two, run) == [[[0.0, 2.0]] * 3] * 2


def test_mismatched_broadcast_is_refused(two):
    def run(group):
        with pytest.raises(dist.DistBackendError, match="ranks disagree"):
            dist.broadcast(torch.zeros(2 + group.rank()), 0, group)

    each(two, run)


def test_default_group(tmp_path):
    assert dist.is_available() and not dist.is_initialized()
    with pytest.raises(ValueError, match="has not been initialized"):
        dist.get_rank()
    dist.init_process_group("gloo", init_method=f"file://{tmp_path}/meet", rank=0, world_size=1)
    try:
        assert (dist.get_rank(), dist.get_world_size(), dist.is_initialized()) == (0, 1, True)
        with pytest.raises(ValueError, match="twice"):
            dist.init_process_group("gloo", init_method=f"file://{tmp_path}/meet2", rank=0, world_size=1)
        t = torch.tensor([2.0])
        dist.all_reduce(t)
        assert t.item() == 2.0
    finally:
        dist.destroy_process_group()
        dist.destroy_process_group()
    assert not dist.is_initialized() and not os.path.exists(tmp_path / "meet")


def test_missing_ranks_are_named_at_the_start(tmp_path):
    with pytest.raises(dist.DistBackendError, match="waiting for ranks 1, 2 to join"):
        dist.init_process_group(
            init_method=f"file://{tmp_path}/meet", rank=0, world_size=3, timeout=timedelta(seconds=0.3)
        )
    assert not dist.is_initialized()
    with pytest.raises(RuntimeError, match="waiting for rank 0"):
        dist.init_process_group(
            init_method=f"file://{tmp_path}/none", rank=1, world_size=2, timeout=timedelta(seconds=0.2)
        )


def test_bad_arguments(monkeypatch):
    for name in ("RANK", "WORLD_SIZE", "MASTER_PORT", "NBTORCH_DIST_KEY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ValueError, match="environment variable RANK expected"):
        dist.init_process_group()
    with pytest.raises(RuntimeError, match="NBTORCH_DIST_KEY"):
        dist.init_process_group(init_method="tcp://127.0.0.1:12345", rank=0, world_size=1)
    with pytest.raises(RuntimeError, match="one machine only"):
        dist.init_process_group(init_method="tcp://10.0.0.1:12345", rank=0, world_size=1)
    with pytest.raises(RuntimeError, match="No rendezvous handler"):
        dist.init_process_group(init_method="mpi://x", rank=0, world_size=1)
    with pytest.raises(RuntimeError, match="backend 'nccl' is not available"):
        dist.init_process_group("nccl")
    with pytest.raises(ValueError, match="does not fit"):
        dist.init_process_group(init_method="file:///nowhere", rank=3, world_size=2)


CHILD = """
import nbtorch as torch, nbtorch.distributed as dist, os
dist.init_process_group()
t = torch.ones(2) * (dist.get_rank() + 1)
dist.all_reduce(t)
dist.destroy_process_group()
print(t.tolist())
"""


def test_env_rendezvous_across_processes():
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    children = [
        subprocess.Popen(
            [sys.executable, "-c", CHILD],
            stdout=subprocess.PIPE,
            text=True,
            env={
                **os.environ,
                "RANK": str(rank),
                "WORLD_SIZE": "2",
                "MASTER_ADDR": "127.0.0.1",
                "MASTER_PORT": str(port),
                "NBTORCH_DIST_KEY": "secret",
            },
        )
        for rank in range(2)
    ]
    try:
        assert [child.communicate(timeout=60)[0].strip() for child in children] == ["[3.0, 3.0]"] * 2
    finally:
        for child in children:
            child.kill()
