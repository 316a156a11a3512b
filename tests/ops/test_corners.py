"""Corners of assignment, creation and scattering where the kind of error or the dtype is easily missed."""
import pytest

import nbtorch

real = pytest.importorskip("torch", reason="real torch is not installed, so there is nothing to compare with")


@pytest.mark.parametrize("t", [nbtorch, real])
def test_a_mask_takes_a_single_value_of_another_dtype(t):
    x, mask = t.zeros(2, 3), t.tensor([True, False])
    x[mask] = t.tensor(5)
    x[mask, 0] = t.tensor(7.0, dtype=t.float64)
    assert x.tolist() == [[7, 5, 5], [0, 0, 0]]
    for index in ([0, 1], mask):
        with pytest.raises(RuntimeError, match="Index put requires the source and destination dtypes match"):
            x[index] = t.tensor([5] * 3) if index is mask else t.tensor(5)


@pytest.mark.parametrize("t", [nbtorch, real])
def test_indices_out_of_range_of_gather_and_scatter(t):
    x, far = t.ones(2, 3), t.tensor([[7]])
    for call in (lambda: x.gather(0, far), lambda: x.scatter(0, far, 1.0), lambda: x.scatter_add(0, far, t.ones(1, 1))):
        with pytest.raises(RuntimeError, match="index 7 is out of bounds for dimension 0 with size 2"):
            call()


@pytest.mark.parametrize("t", [nbtorch, real])
@pytest.mark.parametrize("dtype, number", [("uint8", 300), ("int8", -129), ("int32", float("inf")), ("float32", 1e39)])
def test_full_refuses_numbers_that_do_not_fit(t, dtype, number):
    with pytest.raises(RuntimeError, match="value cannot be converted to type .* without overflow"):
        t.full((2,), number, dtype=getattr(t, dtype))


def test_broadcast_to_takes_sizes_one_by_one():
    assert nbtorch.ones(3).broadcast_to(2, 3).shape == nbtorch.broadcast_to(nbtorch.ones(3), (2, 3)).shape == (2, 3)
    assert nbtorch.ones(3).broadcast_to(size=(2, 3)).shape == (2, 3)
