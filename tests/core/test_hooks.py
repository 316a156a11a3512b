"""Hooks that answer wrongly, hooks on what is saved, and what user-defined Functions may return."""
import gc

import pytest

import nbtorch as torch
from nbtorch.autograd import Function
from nbtorch.autograd.graph import register_multi_grad_hook, saved_tensors_hooks
from nbtorch.core.storage import live_storages


@pytest.mark.parametrize("wrong, error, text", [
    (lambda g: torch.ones(5), RuntimeError, "hook '<lambda>' has changed the size of value"),
    (lambda g: 3, TypeError, "expected Variable, but hook returned 'int'"),
    (lambda g: g.double(), RuntimeError, "has changed the type of value .was torch.FloatTensor got torch.DoubleTensor"),
])
def test_a_tensor_hook_must_give_a_gradient_like_the_one_it_got(wrong, error, text):
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.register_hook(wrong)
    with pytest.raises(error, match=text):
        y.sum().backward()
    assert x.grad is None and torch.is_grad_enabled()


def test_node_hooks_see_gradients_as_the_inputs_want_them():
    x, b, seen = torch.ones(2, 3, requires_grad=True), torch.ones(3, requires_grad=True), []
    y = x * b
    y.grad_fn.register_hook(lambda inputs, outputs: seen.extend(g.shape for g in inputs))
    y.sum().backward()
    assert seen == [(2, 3), (3,)]
    y = x * b
    y.grad_fn.register_hook(lambda inputs, outputs: (inputs[0],))
    with pytest.raises(RuntimeError, match=r"returned an incorrect number of values \(got 1, but expected 2\)"):
        y.sum().backward()


def test_saved_tensor_hooks_that_write_or_give_no_tensor_are_errors():
    x = torch.ones(2, requires_grad=True)
    with saved_tensors_hooks(lambda t: t.mul_(2), lambda t: t), pytest.raises(RuntimeError, match="modifying its input"):
        x.clone().exp()
    with saved_tensors_hooks(lambda t: t, lambda t: 3):
        y = x * x
    with pytest.raises(TypeError, match="unpack_hook expected to be a Tensor but got result of type int"):
        y.sum().backward()


def test_multi_grad_hooks_leave_no_cycle():
    def step():
        x = torch.ones(4, requires_grad=True)
        y = x * 2
        handle = register_multi_grad_hook((x, y), lambda grads: None)
        y.sum().backward()
        handle.remove()
    step()
    gc.collect()
    gc.disable()
    try:
        before = len(live_storages())
        for _ in range(5):
            step()
        assert len(live_storages()) == before
    finally:
        gc.enable()


class Scale(Function):
    """x * k, with k by default 2; backward answers what the test says."""

    answer = None

    @staticmethod
    def forward(ctx, x, k=2):
        ctx.k = k
        return x * k

    @staticmethod
    def backward(ctx, g):
        return Scale.answer(ctx, g)


class Split(Function):
    """The same in the style with setup_context."""

    @staticmethod
    def forward(x, k=2):
        return x * k

    @staticmethod
    def setup_context(ctx, inputs, output):
        _, ctx.k = inputs

    @staticmethod
    def backward(ctx, g):
        return g * ctx.k, None


def test_keywords_and_defaults_of_forward_are_inputs():
    x = torch.ones(2, requires_grad=True)
    Scale.answer = lambda ctx, g: (g * ctx.k, None)
    for function in (Scale, Split):
        for given in ({}, {"k": 3}):
            x.grad = None
            function.apply(x, **given).sum().backward()
            assert x.grad.tolist() == [given.get("k", 2)] * 2


@pytest.mark.parametrize("answer, text", [
    (lambda ctx, g: torch.ones(7), r"Function ScaleBackward returned an invalid gradient at index 0 - got \[7\] but expected "
                                   r"shape compatible with \[2\]"),
    (lambda ctx, g: 3.0, r"expected Variable or None \(got float\)"),
    (lambda ctx, g: (g, g, g), r"incorrect number of gradients \(expected 1, got 3\)"),
])
def test_wrong_answers_of_backward_are_errors(answer, text):
    x = torch.ones(2, requires_grad=True)
    Scale.answer = answer
    with pytest.raises(RuntimeError, match=text):
        Scale.apply(x).sum().backward()


def test_save_for_backward_takes_tensors_only():
    class Keep(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x, 3)
            return x * 2
    with pytest.raises(TypeError, match="can only save variables, but argument 1 is of type int"):
        Keep.apply(torch.ones(2, requires_grad=True))


def test_grad_says_which_input_was_not_used():
    x, y = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="The differentiated Tensor at index 1 appears to not have been used"):
        torch.autograd.grad((x * 2).sum(), [x, y])
    with pytest.raises(ValueError, match="Expected allow_unused to be True"):
        torch.autograd.grad((x * 2).sum(), [x, y], allow_unused=False, materialize_grads=True)
    with pytest.raises(RuntimeError, match="cannot be empty"):
        torch.autograd.grad((x * 2).sum(), [])
