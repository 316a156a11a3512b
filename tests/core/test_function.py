"""User-defined functions and who sees them."""
import nbtorch as torch


def test_observers_see_the_node_of_a_function_and_what_it_saves():
    from nbtorch.core.graph import saved_storages
    from nbtorch.events.bus import subscribe
    from nbtorch.events.records import NodeMade

    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            return 2 * ctx.saved_tensors[0] * g
    names = []

    def look(record):
        if isinstance(record, NodeMade):
            names.append((record.node.name(), record.out.shape, [a.nbytes for _, a, _ in saved_storages(record.node)]))
    with subscribe(look, light=True):
        Square.apply(torch.ones(3, requires_grad=True))
    assert names == [("SquareBackward", (3,), [12])]
