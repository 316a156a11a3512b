"""What the house promises about itself: imports, sizes, one version, no stray dependency."""
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_import_contracts():
    pytest.importorskip("importlinter", reason="import-linter is not installed")
    from importlinter.cli import lint_imports
    assert lint_imports(config_filename=str(ROOT / "pyproject.toml")) == 0


def test_sizes_are_within_budget():
    found = subprocess.run([sys.executable, str(ROOT / ".ci" / "size.py")], capture_output=True, text=True)
    assert found.returncode == 0, found.stdout


def imported(code):
    """Top-level packages loaded by a fresh interpreter running `code`."""
    text = subprocess.run([sys.executable, "-c", f"{code}\nimport sys; print(*sorted({{m.split('.')[0] for m in sys.modules}}))"],
                          capture_output=True, text=True, check=True, cwd=ROOT).stdout
    return set(text.split())


def test_import_loads_numpy_alone():
    before, after = imported("pass"), imported("import nbtorch")
    known = set(sys.stdlib_module_names)
    assert {m for m in after - before if m not in known and not m.startswith("_")} <= {"nbtorch", "numpy", "cython_runtime"}


def test_a_training_step_on_the_cpu_never_imports_cupy_or_jupyter():
    after = imported("import nbtorch as torch\nm = torch.nn.Linear(2, 2)\no = torch.optim.Adam(m.parameters())\n"
                     "m(torch.ones(1, 2)).sum().backward()\no.step()")
    assert not after & {"cupy", "IPython", "ipykernel", "ipywidgets", "ipyparallel", "matplotlib", "torch"}


def test_one_version():
    import nbtorch
    package = json.loads((ROOT / "extension" / "package.json").read_text(encoding="utf-8"))
    assert nbtorch.__version__ == package["version"]


def test_nothing_on_the_import_path_needs_posix():
    banned = re.compile(r"\bos\.fork\b|\bAF_UNIX\b|\bSIGALRM\b|\bsched_yield\b|\bfcntl\b")
    found = [f"{p.relative_to(ROOT)}:{i}" for p in (ROOT / "nbtorch").rglob("*.py")
             for i, line in enumerate(p.read_text(encoding="utf-8").splitlines(), 1)
             if banned.search(line) and not line.lstrip().startswith("#")]
    assert found == []


def test_no_swallowed_exceptions():
    silent = re.compile(r"except[^\n]*:\s*\n?\s*pass\b(?!\s*#)")     # `pass  # why it is right` may stand
    found = [str(p.relative_to(ROOT)) for p in (ROOT / "nbtorch").rglob("*.py")
             if silent.search(p.read_text(encoding="utf-8"))]
    assert found == []
