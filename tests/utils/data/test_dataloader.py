"""DataLoader: the same batches as PyTorch from the same seed, and worker processes that fail loudly and end quietly."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import nbtorch
from nbtorch.utils import data

ROOT = Path(nbtorch.__path__[0]).parent


class Numbers(data.Dataset):
    """Sample i is (a tensor filled with i, i)."""

    def __init__(self, count, size=4):
        self.count, self.size = count, size

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        if index >= self.count:
            raise IndexError(index)
        return nbtorch.full((self.size,), float(index)), index


class FailsAt(Numbers):
    def __init__(self, count, at, error):
        super().__init__(count)
        self.at, self.error = at, error

    def __getitem__(self, index):
        if index == self.at:
            raise self.error
        return index


class DiesAt(Numbers):
    def __getitem__(self, index):
        if index == 3:
            os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))
        return index


class Shares(data.IterableDataset):
    """Worker w gives (w, 0), (w, 1), ...; `count` and 4 w more of them."""

    def __init__(self, count):
        self.count = count

    def __iter__(self):
        info = data.get_worker_info()
        worker = 0 if info is None else info.id
        for at in range(self.count + 4 * worker):
            yield worker, at


def order(loader):
    return [index for _, indices in loader for index in indices.tolist()]


def leftovers(pid=None):
    """Folders in shared memory that a process (this one) left."""
    shared = Path("/dev/shm")
    return sorted(p.name for p in shared.glob(f"nbtorch-loader-{pid or os.getpid()}-*")) if shared.is_dir() else []


@pytest.mark.parametrize("options", [
    {}, {"shuffle": True}, {"shuffle": True, "drop_last": True}, {"shuffle": True, "batch_size": 4},
], ids=str)
@pytest.mark.parametrize("workers", [0, 2])
def test_same_order_as_torch(options, workers):
    torch = pytest.importorskip("torch")

    class Theirs(torch.utils.data.Dataset):
        __init__, __len__, __getitem__ = Numbers.__init__, Numbers.__len__, lambda self, index: (0, index)

    expected, got = [], []
    for library, dataset, result in ((torch, Theirs(11), expected), (nbtorch, Numbers(11), got)):
        library.manual_seed(5)
        count = 0 if library is torch else workers
        loader = library.utils.data.DataLoader(dataset, num_workers=count, **options)
        result += [order(loader), order(loader), library.randn(2).tolist()]
    assert got[:2] == expected[:2]
    np.testing.assert_allclose(got[2], expected[2], rtol=1e-5)  # and the default generator is left at the same place


def test_golden_order_without_torch():
    nbtorch.manual_seed(0)
    assert order(data.DataLoader(Numbers(30), batch_size=4, shuffle=True)) == [
        6, 21, 3, 8, 19, 1, 5, 28, 10, 16, 11, 24, 14, 13, 0, 18, 27, 17, 29, 23, 7, 20, 25, 9, 4, 15, 12, 2, 22, 26]


def test_generator_orders_the_samples():
    torch = pytest.importorskip("torch")
    orders = []
    for library, dataset in ((torch, list(range(9))), (nbtorch, list(range(9)))):
        generator = library.Generator().manual_seed(3)
        loader = library.utils.data.DataLoader(dataset, shuffle=True, generator=generator)
        orders.append([[int(x) for x in loader] for _ in range(2)])
    assert orders[0] == orders[1]


def test_workers_are_seeded_as_torch_seeds_them():
    def draw(batch):
        import random
        return random.random(), np.random.rand(), nbtorch.rand(1).item(), data.get_worker_info().seed

    nbtorch.manual_seed(1)
    rows = list(data.DataLoader([0, 1], num_workers=2, collate_fn=draw))
    assert rows == [
        (0.4495910966205341, 0.7809243576395145, pytest.approx(0.5113104581832886), 7692698082559361259),
        (0.5858821825793612, 0.49401011740198875, pytest.approx(0.3022708296775818), 7692698082559361260)]
    assert data.get_worker_info() is None


def test_large_batches_come_back_whole_and_writable():
    x = nbtorch.randn(64, 3000)
    loader = data.DataLoader(data.TensorDataset(x, nbtorch.arange(64)), batch_size=32, num_workers=1)
    batches = list(loader)
    assert (nbtorch.cat([b[0] for b in batches]) == x).all()
    batches[0][0].add_(1)
    assert leftovers() == []


def test_values_of_all_kinds_travel():
    values = {"bf16": nbtorch.ones(3, dtype=nbtorch.bfloat16), "text": "a", "none": None, "empty": nbtorch.empty(0, 2),
              "scalar": nbtorch.tensor(2.5), "bool": nbtorch.tensor([True]), "array": np.arange(3), "nested": [(1, 2)]}
    (got,) = data.DataLoader([values], batch_size=None, num_workers=1, collate_fn=lambda v: v)
    assert got["bf16"].dtype is nbtorch.bfloat16 and got["bf16"].float().tolist() == [1.0, 1.0, 1.0]
    assert got["empty"].shape == (0, 2) and got["scalar"].shape == () and got["scalar"].item() == 2.5
    assert got["bool"].tolist() == [True] and got["array"].tolist() == [0, 1, 2]
    assert got["text"] == "a" and got["none"] is None and got["nested"] == [(1, 2)]


@pytest.mark.parametrize("error", [ValueError("five"), KeyError("five"), UnicodeDecodeError("utf8", b"", 0, 1, "x")], ids=repr)
def test_error_in_worker_comes_with_its_traceback(error):
    kind = RuntimeError if isinstance(error, UnicodeDecodeError) else type(error)
    with pytest.raises(kind) as caught:
        list(data.DataLoader(FailsAt(9, 5, error), num_workers=1))
    text = str(caught.value)
    assert text.startswith(f"Caught {type(error).__name__} in DataLoader worker process 0.\nOriginal Traceback")
    assert "__getitem__" in text
    del caught
    assert leftovers() == []


def test_iteration_goes_on_after_an_error():
    iterator = iter(data.DataLoader(FailsAt(4, 1, ValueError("one")), num_workers=1))
    assert next(iterator).tolist() == [0]
    with pytest.raises(ValueError):
        next(iterator)
    assert [int(x) for x in iterator] == [2, 3]


def test_error_in_worker_init_fn():
    def init(worker):
        raise LookupError(f"worker {worker}")

    with pytest.raises(LookupError, match="worker 0"):
        list(data.DataLoader(Numbers(3), num_workers=1, worker_init_fn=init))


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL")
def test_killed_worker_is_noticed_and_named():
    loader = data.DataLoader(DiesAt(8), num_workers=1, persistent_workers=True)
    iterator = iter(loader)
    pid = iterator._pool.processes[0].pid
    start = time.monotonic()
    with pytest.raises(RuntimeError, match=rf"DataLoader worker \(pid {pid}\) is killed by signal: Killed.*SIGKILL"):
        list(iterator)
    assert time.monotonic() - start < 2
    assert leftovers() == []


def test_exit_code_of_a_worker_is_told():
    def leave(worker):
        os._exit(7)

    with pytest.raises(RuntimeError, match="exited unexpectedly with exit code 7"):
        list(data.DataLoader(Numbers(3), num_workers=1, worker_init_fn=leave))


def test_timeout():
    def slow(batch):
        time.sleep(3)

    with pytest.raises(RuntimeError, match="DataLoader timed out after 0.3 seconds"):
        list(data.DataLoader(Numbers(2), num_workers=1, collate_fn=slow, timeout=0.3))


def test_dataset_that_cannot_be_sent_fails_here():
    import threading
    with pytest.raises(TypeError, match="pickle"):
        iter(data.DataLoader([threading.Lock()], num_workers=1))
    assert leftovers() == []


def test_persistent_workers_stay_and_forget_an_abandoned_pass():
    loader = data.DataLoader(Numbers(20), num_workers=2, persistent_workers=True, prefetch_factor=3)
    for _ in loader:
        break
    pids = [p.pid for p in loader._iterator._pool.processes]
    assert order(loader) == list(range(20)) == order(loader)
    assert [p.pid for p in loader._iterator._pool.processes] == pids
    processes = loader._iterator._pool.processes
    del loader
    assert all(p.poll() is not None for p in processes)


def test_workers_end_with_the_iterator():
    iterator = iter(data.DataLoader(Numbers(50), num_workers=2))
    next(iterator)
    processes = iterator._pool.processes
    del iterator
    assert all(p.poll() is not None for p in processes)
    assert leftovers() == []


def test_iterable_dataset_over_workers_as_in_torch():
    got = [[x.tolist() for x in batch] for batch in data.DataLoader(Shares(5), batch_size=2, num_workers=2)]
    assert got == [[[0, 0], [0, 1]], [[1, 1], [0, 1]], [[0, 0], [2, 3]], [[1, 1], [2, 3]], [[0], [4]],
                   [[1, 1], [4, 5]], [[1, 1], [6, 7]], [[1], [8]]]
    persistent = data.DataLoader(Shares(2), batch_size=None, num_workers=2, persistent_workers=True)
    assert sorted(map(tuple, persistent)) == sorted(map(tuple, persistent)) != []


def test_longer_than_said():
    class Says(Shares):
        def __len__(self):
            return 1

    loader = data.DataLoader(Says(2))
    assert len(loader) == 1
    with pytest.warns(UserWarning, match="was reported to be 1"):
        list(loader)


def test_unordered_gives_everything():
    loader = data.DataLoader(Numbers(20), num_workers=2, in_order=False)
    assert sorted(order(loader)) == list(range(20))


SCRIPT = """
import nbtorch
from nbtorch.utils import data
print("main runs")
class Mine(data.Dataset):
    def __len__(self): return 3
    def __getitem__(self, index): return helper(index)
def helper(index): return index * 10
print([int(x) for x in data.DataLoader(Mine(), num_workers=1, collate_fn=lambda batch: batch[0])])
iterator = iter(data.DataLoader(Mine(), num_workers=1))
next(iterator)  # left open at exit
"""


def test_unguarded_script_works_and_is_run_once(tmp_path):
    script = tmp_path / "train.py"
    script.write_text(SCRIPT)
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env=environment) as process:
        out, errors = process.communicate(timeout=120)
    assert out == "main runs\n[0, 10, 20]\n", errors
    assert errors == ""
    assert leftovers(process.pid) == []


@pytest.mark.skipif(os.name == "nt", reason="needs SIGKILL")
def test_workers_end_when_the_main_process_is_killed(tmp_path):
    script = tmp_path / "train.py"
    script.write_text(
        "import time\nfrom nbtorch.utils import data\n"
        "it = iter(data.DataLoader(list(range(100)), num_workers=1))\nnext(it)\n"
        "print(it._pool.processes[0].pid, it._pool.directory, flush=True)\ntime.sleep(60)\n")
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
    main = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True, env=environment)
    pid, directory = main.stdout.readline().split()
    main.kill()
    main.wait()
    main.stdout.close()
    deadline = time.monotonic() + 10
    while (_runs(int(pid)) or os.path.exists(directory)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _runs(int(pid)) and not os.path.exists(directory)


def _runs(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize(("options", "text"), [
    ({"num_workers": -1}, "num_workers option should be non-negative"),
    ({"timeout": -1}, "timeout option should be non-negative"),
    ({"prefetch_factor": 2}, "prefetch_factor option could only be specified"),
    ({"persistent_workers": True}, "persistent_workers option needs num_workers > 0"),
    ({"sampler": [0], "shuffle": True}, "sampler option is mutually exclusive with shuffle"),
    ({"batch_sampler": [[0]], "batch_size": 2}, "batch_sampler option is mutually exclusive"),
    ({"batch_size": None, "drop_last": True}, "batch_size=None option disables auto-batching"),
    ({"batch_size": 0}, "batch_size should be a positive integer value"),
    ({"multiprocessing_context": "spawn"}, "multiprocessing_context can only be used with"),
], ids=str)
def test_bad_arguments(options, text):
    with pytest.raises(ValueError, match=text):
        data.DataLoader([0, 1], **options)


def test_profilers_see_the_wait_for_a_batch():
    from nbtorch.events.bus import subscribe
    seen = []
    with subscribe(lambda record: seen.append((type(record).__name__, getattr(record, "name", "")))):
        list(data.DataLoader([1]))
    name = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
    assert ("SpanEnter", name) in seen and ("SpanExit", name) in seen


def test_attributes_are_fixed_after_construction():
    loader = data.DataLoader([0, 1])
    with pytest.raises(ValueError, match="batch_size attribute should not be set after DataLoader is initialized"):
        loader.batch_size = 3
    with pytest.raises(ValueError, match="expected unspecified shuffle option, but got shuffle=True"):
        data.DataLoader(Shares(1), shuffle=True)


INTERRUPTED = """
from nbtorch.utils import data

class Slow(data.Dataset):
    def __len__(self):
        return 100

    def __getitem__(self, i):
        import time
        time.sleep(0.1)
        return i

print("go", flush=True)
try:
    for batch in data.DataLoader(Slow(), 2, num_workers=2):
        pass
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="process groups are POSIX")
def test_an_interrupt_while_workers_start_is_the_main_process_s_alone(tmp_path):
    script = tmp_path / "train.py"
    script.write_text(INTERRUPTED)
    main = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            env={**os.environ, "PYTHONPATH": str(ROOT)}, start_new_session=True)
    assert main.stdout.readline() == "go\n"
    time.sleep(0.3)                               # the workers are there, and still importing
    os.killpg(main.pid, signal.SIGINT)
    out, err = main.communicate(timeout=60)
    assert (out, err, main.returncode) == ("interrupted\n", "", 0)
