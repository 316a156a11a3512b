"""Every notebook runs from top to bottom, twice with a kernel restart between, and is stored without outputs."""
import ast
import os
import sys
from pathlib import Path

import pytest

nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed; notebooks cannot be run")
import nbformat
import psutil
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
MARK = "NBTORCH_NOTEBOOK_TEST"
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")


def read(path):
    """A notebook file."""
    return nbformat.read(path, as_version=4)


def marked(mark):
    """Processes that inherited our mark: the kernel and all it started, however deep."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(MARK) == mark and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.Error:
            continue                        # gone meanwhile, or not ours
    return found


class ThisPython(AsyncKernelManager):
    """Kernels of the interpreter that runs the tests, whatever kernels are installed."""

    kernel_spec = KernelSpec(argv=[sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
                             display_name="test", language="python")


def check_providers(client, notebook):
    """The fast kernels that are installed were used, and for what they are meant for."""
    cell = nbformat.v4.new_code_cell("from nbtorch.config import config\nprint(repr(config()))")
    notebook.cells.append(cell)
    client.execute_cell(cell, len(notebook.cells) - 1)
    facts = ast.literal_eval(notebook.cells.pop().outputs[0]["text"])
    meant = {"onednn": {"convolution", "convolution_backward_weight", "convolution_backward_input", "addmm"},
             "numba": {"log_softmax", "nll_loss", "batch_norm", "fused_adam_", "max_pool2d_with_indices"}}
    for name, kernels in meant.items():
        if facts["providers"].get(name) == "in use":
            assert kernels <= set(facts["calls"][name]), (name, sorted(facts["calls"][name]))


def execute(path, folder, leaves=()):
    """Run a notebook in private folders with cold compile caches; returns it with outputs.

    leaves: names of files that it may leave behind.
    """
    work = folder / "work"
    work.mkdir(parents=True, exist_ok=True)
    notebook = read(path)
    env = {**os.environ, MARK: str(folder), "IPYTHONDIR": str(folder / "ipython"),
           "NUMBA_CACHE_DIR": str(folder / "numba"),
           "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))}
    client = nbclient.NotebookClient(notebook, timeout=600, kernel_manager_class=ThisPython,
                                     resources={"metadata": {"path": str(work)}})
    with client.setup_kernel(env=env):
        for index, cell in enumerate(notebook.cells):
            client.execute_cell(cell, index)
        if path.stem == "00_first_light":
            check_providers(client, notebook)
        there = marked(str(folder))
        assert len(there) == 1, f"left over beside the kernel: {[p.cmdline() for p in there]}"
    assert {each.name for each in work.iterdir()} == set(leaves), "the notebook left other files behind"
    return notebook


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_stored_without_outputs(path):
    notebook = read(path)
    nbformat.validate(notebook)
    assert notebook.metadata.kernelspec.name == "python3"
    for cell in notebook.cells:
        assert not cell.get("outputs") and cell.get("execution_count") is None
    assert notebook.cells[-1].cell_type == "code" and "assert" in notebook.cells[-1].source


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_runs_twice(path, tmp_path):
    for _ in range(2):
        done = execute(path, tmp_path)
        _, alive = psutil.wait_procs(marked(str(tmp_path)), timeout=15)
        assert not alive, "processes outlived the kernel"
    shown = {mime for cell in done.cells for output in cell.get("outputs", ()) for mime in output.get("data", ())}
    if path.stem == "00_first_light":       # what a saved notebook keeps without a kernel
        assert {"image/svg+xml", "text/html", "image/png", "application/vnd.nbtorch.graph.v1+json"} <= shown
