"""torch.autograd.graph: nodes, edges, and hooks on what the tape saves."""
from typing import NamedTuple

from ..core.engine import edge_of
from ..core.graph import Node
from ..core.modes import LOCAL

__all__ = ["GradientEdge", "Node", "disable_saved_tensors_hooks", "get_gradient_edge", "increment_version",
           "register_multi_grad_hook", "save_on_cpu", "saved_tensors_hooks"]


class GradientEdge(NamedTuple):
    """Where a gradient goes: a node and the number of its output."""

    node: Node
    output_nr: int


def get_gradient_edge(tensor):
    """The edge a gradient of `tensor` goes to. Raises RuntimeError when it does not require grad."""
    edge = edge_of(tensor)
    if edge is None:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    return GradientEdge(*edge)


_forbidden = []                                   # messages of the enclosing disable_saved_tensors_hooks


class saved_tensors_hooks:
    """Inside, everything saved for backward passes through `pack_hook(tensor)`, and back through `unpack_hook(packed)`.

    https://docs.pytorch.org/docs/stable/autograd.html#torch.autograd.graph.saved_tensors_hooks
    """

    def __init__(self, pack_hook, unpack_hook):
        self.pair = (pack_hook, unpack_hook)

    def __enter__(self):
        if _forbidden:
            raise RuntimeError(_forbidden[-1])
        local = LOCAL.state
        self.before, local.saved_hooks = local.saved_hooks, (*local.saved_hooks, self.pair)

    def __exit__(self, *exc):
        LOCAL.state.saved_hooks = self.before


class save_on_cpu(saved_tensors_hooks):
    """Keep what is saved for backward in host memory. https://docs.pytorch.org/docs/stable/autograd.html"""

    def __init__(self, pin_memory=False, device_type="cuda"):
        super().__init__(lambda t: (t.device, t.cpu()), lambda packed: packed[1].to(packed[0]))


class disable_saved_tensors_hooks:
    """Inside, `saved_tensors_hooks` raises RuntimeError with this message."""

    def __init__(self, error_message):
        self.message = error_message

    def __enter__(self):
        if LOCAL.state.saved_hooks:
            raise RuntimeError(self.message)
        _forbidden.append(self.message)

    def __exit__(self, *exc):
        _forbidden.pop()


def increment_version(tensor):
    """Tell autograd that `tensor` (or each of an iterable) was written to behind its back."""
    for t in [tensor] if hasattr(tensor, "_s") else tensor:
        t._s.version += 1


def register_multi_grad_hook(tensors, fn, *, mode="all"):
    """`fn(grads)` once all (or `fn(grad)` at the first) of the tensors' gradients arrived. Returns a handle."""
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    n, count = len(tensors), [0]                  # the hooks hold no tensor: a tensor's node holds the hooks
    grads = [None] * n

    def hook(i):
        def arrived(g):
            count[0] += 1
            grads[i] = g
            if mode == "any" and count[0] == 1:
                fn(g)
            elif mode == "all" and count[0] == n:
                fn(list(grads))
                count[0] = 0
                grads[:] = [None] * n
        return arrived
    return _Handles([t.register_hook(hook(i)) for i, t in enumerate(tensors)])


class _Handles:
    def __init__(self, handles):
        self.handles = handles

    def remove(self):
        """Take all hooks out again."""
        for handle in self.handles:
            handle.remove()
