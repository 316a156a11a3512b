"""Every op again on the plain NumPy kernels alone; the compiled ones are compared with them in tests/backend."""
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_golden_numbers_on_numpy_alone():
    found = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/ops/test_golden.py"],
                           cwd=ROOT, env={**os.environ, "NBTORCH_KERNELS": "numpy"}, capture_output=True, text=True)
    assert found.returncode == 0, found.stdout[-3000:]


def test_the_override_keeps_other_providers_out():
    code = ("import nbtorch as t; t.nn.functional.softmax(t.randn(64, 512), 1); t.randn(300, 300) @ t.randn(300, 300)\n"
            "from nbtorch.backend.registry import counts; print(sorted(counts()))")
    found = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env={**os.environ, "NBTORCH_KERNELS": "numpy"},
                           capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "['numpy']"
