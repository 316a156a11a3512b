"""The same answers on machines without torch: every op against numbers made with it (tests/golden/make_ops.py)."""
import json
import warnings
from pathlib import Path

import numpy as np
import pytest

import nbtorch

from ..golden.make_ops import answers
from .harness import load, public_records
from .test_matrix import known_gaps

TABLE = json.loads((Path(__file__).parents[1] / "golden" / "ops.json").read_text(encoding="utf-8"))
SAMPLES, RECORDS = load(), public_records()


def close(ours, theirs):
    """Whether two [dtype, shape, numbers] facts agree."""
    if ours is None or theirs is None:
        given = theirs if ours is None else ours
        return given is None or not np.any(np.asarray(given[2], dtype=float))
    return ours[:2] == theirs[:2] and np.allclose(np.asarray(ours[2], dtype=float), np.asarray(theirs[2], dtype=float),
                                                  rtol=2e-4, atol=2e-5, equal_nan=True)


@pytest.mark.parametrize("name", sorted(TABLE))
def test_golden_numbers(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = answers(nbtorch, RECORDS[name], SAMPLES[name])
    listed = {case[1] for kind in ("values", "gradients1") for case in known_gaps(kind) if case[0] == name}
    for what, theirs in TABLE[name].items():
        if what in listed or what == "grad" and "float64" in listed:
            continue
        if theirs is None or ours[what] is None:
            if theirs is not None or what != "grad" and ours[what] is not None:
                pytest.fail(f"{name} [{what}]: {'refused' if ours[what] is None else 'accepted'} unlike torch")
            continue
        for i, (a, b) in enumerate(zip(ours[what], theirs)):
            assert close(a, b), f"{name} [{what}] result {i}: {a} instead of {b}"
        assert len(ours[what]) == len(theirs)
