"""Shared by all tests: seeds, the oracle, and where the golden facts are."""
import importlib.util
import json
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture(autouse=True)
def seeded():
    """Every test starts from the same seed."""
    import nbtorch
    nbtorch.manual_seed(0)


@pytest.fixture(scope="session")
def oracle():
    """Real torch; the test is skipped without it."""
    if importlib.util.find_spec("torch") is None:
        pytest.skip("real torch is not installed, so there is nothing to compare with")
    import torch
    torch.set_num_threads(1)
    return torch


@pytest.fixture(scope="session")
def golden():
    """Numbers made with real torch, for machines without it: golden("rng") reads tests/golden/rng.json."""
    return lambda name: json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))
