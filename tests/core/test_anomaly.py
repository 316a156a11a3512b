"""Anomaly detection names the function and the forward line."""
import gc

import pytest

import nbtorch as torch
from nbtorch.core.storage import live_bytes


def make_nan(x):
    return (x * 0) / (x * 0)                      # the line the warning must show


def test_nan_in_backward_is_an_error_naming_the_function():
    x = torch.ones(2, requires_grad=True)
    with pytest.warns(UserWarning, match="Anomaly Detection has been enabled"), torch.autograd.detect_anomaly():
        y = make_nan(x).sum()
        with pytest.warns(UserWarning, match="the line the warning must show"), \
                pytest.raises(RuntimeError, match="Function 'DivBackward0' returned nan values in its 1th output."):
            y.backward()
    assert not torch.is_anomaly_enabled()


def test_off_again_and_without_the_check():
    x = torch.ones(2, requires_grad=True)
    with torch.autograd.set_detect_anomaly(True, check_nan=False):
        make_nan(x).sum().backward()
    assert torch.isnan(x.grad).all() and not torch.is_anomaly_enabled()


def test_nothing_is_kept_alive():
    x = torch.ones(100, requires_grad=True)

    def step():
        with torch.autograd.set_detect_anomaly(True):
            (x * 2).sin().sum().backward()
        x.grad = None
    step()
    gc.collect()
    gc.disable()
    try:
        before = live_bytes()
        for _ in range(5):
            step()
        assert live_bytes() == before
    finally:
        gc.enable()
