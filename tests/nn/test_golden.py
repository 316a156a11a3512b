"""Printed form, initial values and outputs of every module, against numbers made with PyTorch 2.13."""

import numpy as np
import pytest

import nbtorch

from .facts import SPECS, facts, spec_id


def nearly(got, expected):
    assert got[0] == expected[0]
    np.testing.assert_allclose(got[1:], expected[1:], rtol=1e-3, atol=2e-3)


@pytest.mark.parametrize("spec", SPECS, ids=spec_id)
def test_golden(spec, golden):
    expected = golden("nn")[spec_id(spec)]
    got = facts(nbtorch, spec)
    assert got["repr"] == expected["repr"]
    assert list(got["state"]) == list(expected["state"])
    for name, value in expected["state"].items():
        nearly(got["state"][name], value)
    for value, reference in zip(got.get("out", []), expected.get("out", []), strict=True):
        nearly(value, reference)
