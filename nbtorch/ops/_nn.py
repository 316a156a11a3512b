"""What the neural-network families share: argument forms, dtype refusals, reductions, and second derivatives."""
from ..core.dtype import scalar_name
from ..core.modes import enable_grad, is_grad_enabled
from ..core.tensor import Tensor


def ints(value, n, complain=None):
    """`n` integers from one integer, a sequence of one, or a sequence of n; `complain(value)` makes the error."""
    if isinstance(value, int):
        return (value,) * n
    if isinstance(value, Tensor) and value.dim() == 0:
        return (int(value),) * n
    value = tuple(int(v) for v in value)
    if len(value) == 1:
        return value * n
    if len(value) != n:
        raise complain(value) if complain else RuntimeError(f"expected {n} values, got {list(value)}")
    return value


def unimplemented(kernel, input):
    """PyTorch's refusal of a dtype by a kernel."""
    return NotImplementedError(f"\"{kernel}\" not implemented for '{scalar_name(input.dtype)}'")


def floats_only(kernel, complex_too=False):
    """A record's check: the first argument must be floating point."""
    def check(input, *rest):
        d = input.dtype
        if not (d.is_floating_point or complex_too and d.is_complex):
            raise unimplemented(kernel, input)
    return check


def conj(t):
    """The conjugate, and the tensor itself where it is real."""
    return t.conj() if t.is_complex() else t


def replay(function, inputs, gs):
    """Second derivatives of a fused op: differentiate `function`, the same computation written in ops.

    inputs: its tensor arguments (None allowed). gs: gradients of its results. Returns one gradient per input."""
    from ..core.engine import grad
    create = is_grad_enabled()
    with enable_grad():
        fresh = [None if t is None else t.view_as(t) if create and t.requires_grad
                 else t.detach().requires_grad_(t.dtype.category >= 2) for t in inputs]
        outs = function(*fresh)
    outs = outs if isinstance(outs, (tuple, list)) else (outs,)
    pairs = [(o, g) for o, g in zip(outs, gs) if o is not None and g is not None and o.requires_grad]
    wanted = [t for t in fresh if t is not None and t.requires_grad]
    if not pairs:
        return [None] * len(inputs)
    found = iter(grad([o for o, _ in pairs], wanted, [g for _, g in pairs], create_graph=create, allow_unused=True))
    return [next(found) if t is not None and t.requires_grad else None for t in fresh]


def check_reduction(reduction):
    """Raises ValueError for an unknown reduction."""
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")


def legacy_reduction(size_average, reduce, reduction):
    """The `reduction` that the two deprecated arguments ask for."""
    if size_average is None and reduce is None:
        return reduction
    import warnings
    size_average = True if size_average is None else size_average
    reduce = True if reduce is None else reduce
    ret = "mean" if size_average and reduce else "sum" if reduce else "none"
    warnings.warn(f"size_average and reduce args will be deprecated, please use reduction='{ret}' instead.",
                  stacklevel=4)
    return ret


def reduced(loss, reduction):
    """The loss itself, its mean or its sum."""
    if reduction == "none":
        return loss
    if reduction == "mean":
        return loss.mean()
    check_reduction(reduction)
    return loss.sum()
