"""One budget for every library with threads, applied in every thread that computes."""
import json
import os
import subprocess
import sys
import threading

import pytest

from nbtorch.backend import hostmem, threads


@pytest.fixture(autouse=True)
def restored():
    before = threads.get_num_threads()
    yield
    threads.set_num_threads(before)


def fresh(code, **environment):
    """Run code in a new interpreter; what it prints as JSON. None removes a variable."""
    names = ("OPENBLAS_THREAD_TIMEOUT", "OMP_WAIT_POLICY", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "GOMP_SPINCOUNT")
    env = {name: value for name, value in os.environ.items() if name not in names}
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False,
                          env={**env, **environment})
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", ["set_num_threads", "set_num_interop_threads"])
@pytest.mark.parametrize("value, message", [
    (0, "expects a positive integer"), (-1, "expects a positive integer"),
    (1.5, "expects an int, but got float"), (True, "expects an int, but got bool"), (None, "but got NoneType")])
def test_errors_are_pytorchs(name, value, message):
    with pytest.raises(RuntimeError, match=f"{name} .*{message}"):
        getattr(threads, name)(value)


def test_interop_threads_can_be_set_once():
    code = ("import json\nfrom nbtorch.backend import threads as t\nt.set_num_interop_threads(3)\n"
            "try:\n    t.set_num_interop_threads(4)\nexcept RuntimeError as error:\n"
            "    print(json.dumps([t.get_num_interop_threads(), str(error)]))")
    count, error = fresh(code)
    assert count == 3 and error.startswith("Error: cannot set number of interop threads after")


def test_default_is_the_cores_or_what_openmp_is_told():
    code = "import json\nfrom nbtorch.backend import threads as t\nprint(json.dumps([t.get_num_threads(), t.cores()]))"
    count, cores = fresh(code)
    assert count == cores
    assert fresh(code, OMP_NUM_THREADS="3,1")[0] == 3


BLAS = "import json\nfrom nbtorch.backend import threads as t\n" \
       "counts = lambda: [get() for _, get in t.blas()]\n"


def test_blas_follows_the_budget_until_a_pool_is_shared():
    if not threads.blas():
        pytest.skip("NumPy's BLAS has no thread functions")
    before, shared, after = fresh(
        BLAS + "t.set_num_threads(3)\nbefore = counts()\nt.add_pool('numba', True)\n"
               "print(json.dumps([before, counts(), t.describe()['note']]))")
    assert before == [3] * len(before) and shared == [1] * len(shared) and "held to one thread" in after


def test_oneDNN_takes_the_pool_in_both_import_orders():
    from nbtorch.backend import onednn
    if not onednn.available()[0] or not threads.blas() or not threads.one_pool():
        pytest.skip("no oneDNN on OpenMP here")
    end = "from nbtorch.backend import onednn\nonednn.available()\nt.set_num_threads(2)\nprint(json.dumps(counts()))"
    for first in ("", "import numpy\n"):
        counts = fresh(first + BLAS + end)
        assert counts == [1] * len(counts)


def test_limits_reach_every_thread_once():
    calls = []
    threads.add_pool("test pool", False, lambda count: calls.append((threading.get_ident(), count)))
    try:
        threads.set_num_threads(2)
        calls.clear()
        worker = threading.Thread(target=lambda: (threads.ensure(), threads.ensure()))
        worker.start()
        worker.join()
        threads.ensure()
        assert [count for _, count in calls] == [2] and calls[0][0] != threading.get_ident()
        threads.set_num_threads(1)
        assert calls[-1] == (threading.get_ident(), 1)
    finally:
        del threads._pools["test pool"]


def test_environment_is_only_set_before_load_and_only_if_free():
    code = ("import json, os\nfrom nbtorch.backend import threads\n"
            "print(json.dumps([os.environ.get(n) for n in ('OPENBLAS_THREAD_TIMEOUT', 'OMP_WAIT_POLICY')]))")
    assert fresh("import numpy\n" + code)[0] is None
    assert fresh(code, OPENBLAS_THREAD_TIMEOUT="9", OMP_WAIT_POLICY="active") == ["9", "active"]
    assert fresh("import sys\nsys.path\n" + code)[1] == "passive"


def test_describe_names_budget_and_pools():
    threads.set_num_threads(2)
    rows = threads.describe()
    assert rows["threads"] == 2 and rows["cores"] >= 1 and isinstance(rows["pools"], dict)


def test_large_blocks_are_reused_unless_opted_out():
    code = ("import json\nfrom nbtorch.backend import hostmem\n"
            "print(json.dumps([hostmem.reuse_large_blocks(), hostmem.state()]))")
    assert fresh(code, NBTORCH_MALLOPT="0") == ["NBTORCH_MALLOPT=0"] * 2
    done = fresh(code)
    assert done[0] == done[1] and (not sys.platform.startswith("linux") or "MiB" in done[0] or "glibc" in done[0])
    assert isinstance(hostmem.release(), bool)
