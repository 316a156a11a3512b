"""Views written in place, in the corners: views made under no_grad, results of user-defined Functions, expanded memory."""
import pytest

import nbtorch as torch
from nbtorch.autograd import Function


class Triple(Function):
    """Writes its second argument in place."""

    @staticmethod
    def forward(ctx, k, x):
        ctx.mark_dirty(x)
        return x.mul_(3)

    @staticmethod
    def backward(ctx, g):
        return None, g * 3


class Same(Function):
    """The identity whose gradient is five times too large, to see whether it ran."""

    @staticmethod
    def forward(ctx, x):
        return x

    @staticmethod
    def backward(ctx, g):
        return g * 5


def test_a_function_that_writes_to_a_view_changes_the_gradient_of_the_base():
    x = torch.ones(4, requires_grad=True)
    y = x.clone()
    v = y[:2]
    assert Triple.apply(1, v) is v
    y.sum().backward()
    assert x.grad.tolist() == [3, 3, 1, 1]
    assert y.grad_fn.name() == "torch::autograd::CopySlices"


def test_a_view_made_under_no_grad_is_not_written_with_grad_mode_on():
    leaf = torch.ones(4, requires_grad=True)
    for base in (leaf, leaf.clone()):
        with torch.no_grad():
            view = base[:2]
        assert view.requires_grad and view.is_leaf
        with pytest.raises(RuntimeError, match="A view was created in no_grad mode and is being modified inplace with"):
            view.mul_(2)
        assert base.tolist() == [1, 1, 1, 1]
    assert leaf.is_leaf


def test_a_view_made_under_no_grad_has_no_history_after_its_base_was_written():
    x = torch.ones(4, requires_grad=True)
    with torch.no_grad():
        view = x[:2]
        view.mul_(2)
        assert (view + 1).tolist() == [3, 3]
    assert x.is_leaf and view.is_leaf and "grad_fn=<Invalid>" in repr(view)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="A view was created in no_grad mode and its base or another view"):
            view * 2


def test_results_of_functions_that_look_at_their_inputs_are_not_written():
    x = torch.ones(4, requires_grad=True)
    y = Same.apply(x)
    assert y._is_view() and y._base is x
    with pytest.raises(RuntimeError, match="Output 0 of Same is a view and is being modified inplace. This view was"):
        y.mul_(2)
    y.sum().backward()
    assert x.grad.tolist() == [5, 5, 5, 5] and x.tolist() == [1, 1, 1, 1]


def test_retain_grad_follows_in_place_writes_and_comes_after_the_hooks():
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.retain_grad()
    y.mul_(3)
    y.register_hook(lambda g: g + 1)
    y.sum().backward()
    assert y.grad.tolist() == [2, 2] and x.grad.tolist() == [12, 12]
    y.grad.add_(1)                                # memory of its own
    assert x.grad.tolist() == [12, 12]


def test_expanded_memory_takes_constants_only():
    x = torch.zeros(3).expand(2, 3)
    assert x.fill_(2).tolist() == [[2] * 3] * 2 and x.zero_().tolist() == [[0] * 3] * 2
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        x.add_(1)
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        torch.add(torch.ones(2, 3), 1, out=x)


@pytest.mark.parametrize("dtype, number", [("uint8", 300), ("uint8", -256), ("int8", 128.0), ("int64", float("nan")),
                                           ("float32", 1e39), ("float32", 1j), ("uint8", -0.5)])
def test_fill_refuses_numbers_that_do_not_fit(dtype, number):
    with pytest.raises(RuntimeError, match="value cannot be converted to type .* without overflow"):
        torch.zeros(2, dtype=getattr(torch, dtype)).fill_(number)
    assert torch.zeros(1, dtype=torch.uint8).fill_(-1).item() == 255
