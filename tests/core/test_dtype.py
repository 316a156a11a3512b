"""Python's types as dtypes, and Python numbers that fit none."""
import pytest

import nbtorch as torch
import nbtorch.nn.functional as F

real = pytest.importorskip("torch", reason="real torch is not installed, so there is nothing to compare with")

CALLS = {
    "ones": lambda t, d: t.ones(2, dtype=d), "full": lambda t, d: t.full((2,), 3, dtype=d),
    "zeros_like": lambda t, d: t.zeros_like(t.ones(1), dtype=d), "sum": lambda t, d: t.ones(2).sum(dtype=d),
    "to": lambda t, d: t.ones(2).to(d), "to keyword": lambda t, d: t.ones(2).to(dtype=d),
    "tensor": lambda t, d: t.tensor([1], dtype=d), "as_tensor": lambda t, d: t.as_tensor([1], dtype=d),
    "new_zeros": lambda t, d: t.ones(2).new_zeros(2, dtype=d),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("kind", [bool, int, float])
def test_python_types_name_dtypes(name, kind):
    assert repr(CALLS[name](torch, kind).dtype) == repr(CALLS[name](real, kind).dtype)


def test_other_things_are_no_dtypes():
    with pytest.raises(TypeError, match=r"ones\(\): argument 'dtype' must be torch.dtype, not str"):
        torch.ones(2, dtype="float32")
    assert F.softmax(torch.ones(2), 0, dtype=float).dtype is torch.float64


@pytest.mark.parametrize("value", [2 ** 63, [2 ** 63], [2 ** 70]])
def test_integers_beyond_64_bits_do_not_become_tensors(value):
    for t in (torch, real):
        with pytest.raises(ValueError, match="Overflow when unpacking long long"):
            t.tensor(value)


def test_a_dict_is_no_sequence():
    with pytest.raises(RuntimeError, match="Could not infer dtype of dict"):
        torch.tensor({1: 2})


@pytest.mark.parametrize("kind", [int, float, complex])
def test_several_elements_are_no_number(kind):
    for t in (torch, real):
        with pytest.raises(ValueError, match="only one element tensors can be converted to Python scalars"):
            kind(t.tensor([1, 2]))
