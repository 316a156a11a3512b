"""Softmax and log-softmax. Source: https://docs.pytorch.org/docs/stable/nn.functional.html#softmax"""
from ..core.dtype import scalar_name
from ..core.op import composite, op
from ..core.tensor import dim_index
from ._nn import conj

FP32_ON_CUDA = {"cpu": None, "cuda": "fp32_dtype"}


def _check(name):
    def check(input, dim, dtype):
        n = input.dim()
        dim = dim_index(dim, n)
        d = input.dtype if dtype is None else dtype
        if not d.is_floating_point and input.numel():
            where = "lastdim_kernel_impl" if n == 0 or dim == n - 1 else "kernel_impl"
            raise NotImplementedError(f"\"{name}_{where}\" not implemented for '{scalar_name(d)}'")
    return check


_softmax_backward = op("_softmax_backward(grad, result, dim: int)", "softmax_backward", vjp={
    "grad": lambda g, result, dim: _softmax_backward(g, conj(result), dim),
    "result": lambda g, grad, result, dim: _softmax_bend(g, grad, result, dim)})


def _softmax_bend(g, grad, y, dim):
    # y * (grad - sum(grad * y)), differentiated in y
    gy = g * y
    return g * grad - g * (grad * y).sum(dim, True) - grad * gy.sum(dim, True)


softmax = op("softmax(input, dim: int, dtype=None)", "softmax", amp=FP32_ON_CUDA, check=_check("softmax"),
             vjp={"input": lambda g, out, dim: _softmax_backward(g, conj(out), dim)},
                 doc="exp(input) / sum(exp(input)) along dim. "
                     "https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.softmax.html")

_log_softmax_backward = op("_log_softmax_backward(grad, result, dim: int)", "log_softmax_backward", vjp={
    "grad": lambda g, result, dim: g - (g * conj(result).exp()).sum(dim, True),
    "result": lambda g, grad, result, dim: -g * result.exp() * grad.sum(dim, True)})
log_softmax = op("log_softmax(input, dim: int, dtype=None)", "log_softmax", amp=FP32_ON_CUDA,
                 check=_check("log_softmax"),
                 vjp={"input": lambda g, out, dim: _log_softmax_backward(g, conj(out), dim)},
                 doc="log(softmax(input)) along dim, without overflow. "
                     "https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.log_softmax.html")


@composite("gumbel_softmax(logits, tau: float=1, hard: bool=False, eps: float=1e-10, dim: int=-1)", on="F")
def gumbel_softmax(logits, tau, hard, eps, dim):
    """A draw from the Gumbel-softmax distribution (arXiv:1611.00712); one-hot with `hard`, straight through.

    https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.gumbel_softmax.html
    """
    noise = -logits.detach().new_empty(logits.shape).exponential_().log()
    soft = softmax((logits + noise) / tau, dim)
    if not hard:
        return soft
    index = soft.max(dim, True)[1]
    exact = soft.detach().new_zeros(soft.shape).scatter_(dim, index, 1.0)
    return exact - soft.detach() + soft
