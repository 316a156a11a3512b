"""Comparing analytic gradients with finite differences: torch.autograd.gradcheck, gradgradcheck."""
from .. import ops
from ..core.engine import grad
from ..core.modes import no_grad
from ..core.tensor import Tensor


class GradcheckError(RuntimeError):
    """The analytic and the numeric gradient differ."""


def _differentiable(values):
    values = values if isinstance(values, (tuple, list)) else (values,)
    return [v for v in values if isinstance(v, Tensor) and v.requires_grad]


def _outputs(func, inputs):
    found = func(*inputs)
    found = found if isinstance(found, (tuple, list)) else (found,)
    return [o for o in found if isinstance(o, Tensor) and o.dtype.category >= 2]


def _pair(a, b):
    """Real inner product of two tensors, complex ones as pairs of reals."""
    product = (a.conj() * b).sum()
    return product.real.item() if product.is_complex() else product.item()


def _numeric(func, inputs, at, direction, weights, eps):
    """Central difference of sum(<weight, output>) along `direction` of input `at`."""
    values = []
    with no_grad():
        for sign in (1, -1):
            moved = list(inputs)
            moved[at] = inputs[at].detach() + sign * eps * direction
            values.append(sum(_pair(w, o) for w, o in zip(weights, _outputs(func, moved))))
    return (values[0] - values[1]) / (2 * eps)


def _basis(t):
    """Unit directions of a tensor, imaginary ones too for complex."""
    for i in range(t.numel()):
        for unit in ((1.0, 1j) if t.is_complex() else (1.0,)):
            e = ops.zeros(t.numel(), dtype=t.dtype)
            e[i] = unit
            yield i, unit, e.reshape(t.shape)


def _refuse(**asked):
    """Raise for checks that are not made, rather than pass without making them."""
    for name, wanted in asked.items():
        if wanted:
            raise NotImplementedError(f"{name}=True: forward mode and batched gradients are not available in nbtorch yet")


def gradcheck(func, inputs, *, eps=1e-6, atol=1e-5, rtol=1e-3, raise_exception=True, nondet_tol=0.0,
              check_undefined_grad=True, check_grad_dtypes=False, check_batched_grad=False, check_batched_forward_grad=False,
              check_forward_ad=False, check_backward_ad=True, fast_mode=False, masked=None):
    """True when backward of `func` agrees with central differences for every element of every differentiable input.

    Inputs should be float64 or complex128. Raises GradcheckError (or returns False) on a difference.
    https://docs.pytorch.org/docs/stable/generated/torch.autograd.gradcheck.gradcheck.html
    """
    _refuse(check_forward_ad=check_forward_ad, check_batched_grad=check_batched_grad,
            check_batched_forward_grad=check_batched_forward_grad)
    inputs = list(inputs) if isinstance(inputs, (tuple, list)) else [inputs]
    if not _differentiable(inputs):
        raise ValueError("gradcheck expects at least one input tensor to require gradient, but none of the them have "
                         "requires_grad=True.")
    outputs = [o for o in _outputs(func, inputs) if o.requires_grad]
    if not outputs:
        return True
    try:
        for number, output in enumerate(outputs):
            for at, t in enumerate(inputs):
                if isinstance(t, Tensor) and t.requires_grad:
                    _check_one(func, inputs, at, number, outputs, eps, atol, rtol)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def _check_one(func, inputs, at, number, outputs, eps, atol, rtol):
    """Compare, for one output and one input, all entries of the Jacobian."""
    output, t = outputs[number], inputs[at]
    for j, w_unit, w in _basis(output):
        g = grad(output, t, w, retain_graph=True, allow_unused=True)[0]
        weights = [w if i == number else ops.zeros(o.shape, dtype=o.dtype) for i, o in enumerate(outputs)]
        for i, unit, direction in _basis(t):
            numeric = _numeric(func, inputs, at, direction, weights, eps)
            analytic = 0.0 if g is None else _pair(g, direction)
            if abs(numeric - analytic) > atol + rtol * abs(numeric):
                raise GradcheckError(
                    f"Jacobian mismatch for output {number} with respect to input {at},\nnumerical:{numeric}\n"
                    f"analytical:{analytic}\n(output element {j} along {w_unit}, input element {i} along {unit})\n")


def gradgradcheck(func, inputs, grad_outputs=None, *, eps=1e-6, atol=1e-5, rtol=1e-3, gen_non_contig_grad_outputs=False,
                  raise_exception=True, nondet_tol=0.0, check_undefined_grad=True, check_grad_dtypes=False,
                  check_batched_grad=False, check_fwd_over_rev=False, check_rev_over_rev=True, fast_mode=False,
                  masked=False):
    """gradcheck of the gradient of `func`.

    https://docs.pytorch.org/docs/stable/generated/torch.autograd.gradcheck.gradgradcheck.html
    """
    _refuse(check_fwd_over_rev=check_fwd_over_rev, check_batched_grad=check_batched_grad)
    inputs = list(inputs) if isinstance(inputs, (tuple, list)) else [inputs]
    outputs = [o for o in _outputs(func, inputs) if o.requires_grad]
    if grad_outputs is None:
        grad_outputs = [ops.randn(o.shape, dtype=o.dtype).requires_grad_() for o in outputs]
    grad_outputs = list(grad_outputs) if isinstance(grad_outputs, (tuple, list)) else [grad_outputs]

    def gradient(*values):
        args, gs = values[:len(inputs)], values[len(inputs):]
        outs = [o for o in _outputs(func, args) if o.requires_grad]
        wanted = [a for a in args if isinstance(a, Tensor) and a.requires_grad]
        found = grad(outs, wanted, list(gs), create_graph=True, allow_unused=True)
        return tuple(g for g in found if g is not None)

    def prepared(*values):
        return gradient(*[v.detach().requires_grad_() if isinstance(v, Tensor) and isinstance(o, Tensor)
                          and o.requires_grad and not v.requires_grad else v
                          for v, o in zip(values, [*inputs, *grad_outputs])])
    return gradcheck(_with_grad(prepared), [*inputs, *grad_outputs], eps=eps, atol=atol, rtol=rtol,
                     raise_exception=raise_exception)


def _with_grad(function):
    from ..core.modes import enable_grad

    def run(*values):
        with enable_grad():
            return function(*values)
    return run
