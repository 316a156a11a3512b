"""The tape and its engine: hooks, accumulation, retained and higher-order graphs, memory."""
import gc
import weakref

import pytest

import nbtorch as torch
from nbtorch.core.storage import live_bytes


def leaf(*values):
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


def test_gradients_accumulate_until_zeroed():
    x = leaf(1.0, 2.0)
    (x * x).sum().backward()
    (x * x).sum().backward()
    assert x.grad.tolist() == [4.0, 8.0]


def test_second_backward_needs_retain_graph():
    y = (leaf(2.0) ** 2).sum()
    y.backward(retain_graph=True)
    y.backward()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        y.backward()


def test_create_graph_gives_higher_derivatives():
    x = leaf(3.0)
    first, = torch.autograd.grad((x ** 4).sum(), x, create_graph=True)
    second, = torch.autograd.grad(first.sum(), x, create_graph=True)
    third, = torch.autograd.grad(second.sum(), x)
    assert (first.item(), second.item(), third.item()) == (108.0, 108.0, 72.0)


def test_grad_names_unused_inputs():
    x, unused = leaf(1.0), leaf(1.0)
    with pytest.raises(RuntimeError, match="appears to not have been used in the graph"):
        torch.autograd.grad((x * 2).sum(), [x, unused])
    assert torch.autograd.grad((x * 2).sum(), [x, unused], allow_unused=True)[1] is None


def test_tensor_hook_replaces_gradient_and_can_be_removed():
    x = leaf(1.0, 1.0)
    y = x * 3
    handle = y.register_hook(lambda g: g * 10)
    y.sum().backward()
    assert x.grad.tolist() == [30.0, 30.0]
    handle.remove()
    x.grad = None
    (x * 3).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


def test_leaf_hook_and_post_accumulate_hook():
    x, seen = leaf(1.0), []
    x.register_hook(lambda g: seen.append(("hook", g.item())))
    x.register_post_accumulate_grad_hook(lambda t: seen.append(("post", t.grad.item())))
    (x * 5).sum().backward()
    assert seen == [("hook", 5.0), ("post", 5.0)]


def test_retain_grad_on_a_non_leaf():
    x = leaf(2.0)
    y = x * x
    y.retain_grad()
    (y * 3).sum().backward()
    assert y.grad.tolist() == [3.0]


def test_two_leaves_never_share_one_gradient():
    x, y = leaf(1.0), leaf(1.0)
    (x + y).sum().backward()
    x.grad.add_(5.0)
    assert y.grad.tolist() == [1.0]


def test_the_given_gradient_is_not_taken_over():
    x, g = leaf(1.0, 2.0), torch.ones(2, dtype=torch.float64)
    x.clone().backward(g)
    x.grad.mul_(7.0)
    assert g.tolist() == [1.0, 1.0]


def test_no_grad_records_nothing_and_nests():
    x = leaf(1.0)
    with torch.no_grad():
        assert not (x * 2).requires_grad
        with torch.enable_grad():
            assert (x * 2).requires_grad
    assert (x * 2).requires_grad


def test_version_check_names_the_culprit():
    x = leaf(1.0, 2.0)
    y = x.exp()
    y.mul_(2.0)
    with pytest.raises(RuntimeError, match=r"\[torch.DoubleTensor \[2\]\], which is output 0 of .* is at version 1; expected version 0"):
        (y.sum() + x.exp().mul(1.0).sum()).backward()


def test_saved_tensor_hooks_see_what_backward_needs():
    x, packed, unpacked = leaf(2.0), [], []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: packed.append(t.item()) or t,
                                                  lambda t: unpacked.append(t.item()) or t):
        y = (x * x).sum()
    y.backward()
    assert packed == unpacked == [2.0, 2.0] and x.grad.item() == 4.0


def test_a_deep_chain_needs_no_recursion():
    x = leaf(1.0)
    y = x
    for _ in range(20000):
        y = y + 0.0
    y.sum().backward()
    assert x.grad.item() == 1.0
    ref = weakref.ref(y)
    del y
    assert ref() is None


def test_live_bytes_stay_constant_without_the_collector():
    w = torch.randn(64, 64, requires_grad=True)
    x = torch.randn(32, 64)

    def step():
        loss = ((x @ w).tanh() ** 2).mean()
        loss.backward()
        with torch.no_grad():
            w.sub_(w.grad, alpha=0.1)
        w.grad = None
    step()
    gc.collect()
    gc.disable()
    try:
        before = live_bytes()
        for _ in range(100):
            step()
        assert live_bytes() == before
    finally:
        gc.enable()


def test_live_bytes_equal_numpys_own_count():
    import tracemalloc
    tracemalloc.start()
    try:
        domain = tracemalloc.DomainFilter(inclusive=True, domain=389047)
        gc.collect()
        before, start = live_bytes(), tracemalloc.take_snapshot().filter_traces([domain])
        kept = [torch.randn(50, 40) for _ in range(5)]
        kept += [kept[0][3:7], kept[1].t(), kept[2] + 1, (kept[3] @ kept[4].t()).sum(0)]
        gc.collect()
        now = tracemalloc.take_snapshot().filter_traces([domain])
        numpys = sum(t.size for t in now.traces) - sum(t.size for t in start.traces)
        assert live_bytes() - before == numpys
    finally:
        tracemalloc.stop()


def test_function_with_context():
    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, scale):
            ctx.save_for_backward(x)
            ctx.scale = scale
            return scale * x ** 3

        @staticmethod
        def backward(ctx, g):
            x, = ctx.saved_tensors
            assert ctx.needs_input_grad == (True, False)
            return 3 * ctx.scale * x ** 2 * g, None
    x = leaf(2.0)
    y = Cube.apply(x, 2.0)
    assert y.grad_fn.name() == "CubeBackward"
    assert torch.autograd.gradcheck(lambda t: Cube.apply(t, 2.0), [x])
    assert torch.autograd.gradgradcheck(lambda t: Cube.apply(t, 2.0), [x])


def test_function_that_writes_its_input():
    class Double_(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(2)

        @staticmethod
        def backward(ctx, g):
            return 2 * g
    x = leaf(1.0, 2.0)
    y = x * 1
    z = Double_.apply(y)
    assert z is y
    z.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_graph_can_be_walked():
    x = leaf(1.0)
    y = (x * 2).sum()
    node = y.grad_fn
    assert node.name() == "SumBackward0"
    (mul, number), = node.next_functions
    assert (mul.name(), number) == ("MulBackward0", 0)
    assert mul.next_functions[0][0].variable is x
    assert mul.next_functions[0][0].name() == "torch::autograd::AccumulateGrad"
