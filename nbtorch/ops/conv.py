"""Convolutions and linear layers.

Source: https://docs.pytorch.org/docs/stable/nn.functional.html#convolution-functions
"""
from math import prod

from ..core.dtype import scalar_name
from ..core.op import composite, op
from ._nn import conj, ints

CPP = {"float32": "float", "float64": "double", "float16": "c10::Half", "bfloat16": "c10::BFloat16",
       "int64": "long int",
       "complex64": "c10::complex<float>", "complex128": "c10::complex<double>"}
GEOMETRY = "stride: tuple, padding: tuple, dilation: tuple, transposed: bool, output_padding: tuple, groups: int"


def _flops(input_shape, weight_shape, out_shape, transposed):
    """As PyTorch's flop counter: every weight once per position of the smaller image."""
    space = input_shape[2:] if transposed else out_shape[2:]
    return 2 * input_shape[0] * prod(space) * prod(weight_shape)


def _input_flops(grad_shape, weight_shape, input_shape, transposed):
    return _flops(grad_shape, weight_shape, input_shape, not transposed)


def _weight_flops(grad_shape, input_shape, weight_shape, transposed):
    """As PyTorch's flop counter, which counts groups as if every channel met every other."""
    batch, space = grad_shape[0], (input_shape if transposed else grad_shape)[2:]
    return 2 * batch * prod(space) * grad_shape[1] * input_shape[1] * prod(weight_shape[2:])


_backward_input = op(f"_convolution_backward_input(grad, weight, input_shape: tuple, {GEOMETRY})",
                     "convolution_backward_input", flops=_input_flops, vjp={
    "grad": lambda g, weight, stride, padding, dilation, transposed, output_padding, groups:
        convolution_op(g, conj(weight), None, stride, padding, dilation, transposed, output_padding, groups),
    "weight": lambda g, grad, weight_shape, stride, padding, dilation, transposed, output_padding, groups:
        _backward_weight(conj(grad), g, weight_shape, False, stride, padding, dilation, transposed, output_padding,
                         groups)})

_WEIGHT_VJP = {
    "grad": lambda g, input, stride, padding, dilation, transposed, output_padding, groups:
        convolution_op(conj(input), g, None, stride, padding, dilation, transposed, output_padding, groups),
    "input": lambda g, grad, input_shape, stride, padding, dilation, transposed, output_padding, groups:
        _backward_input(conj(grad), g, input_shape, stride, padding, dilation, transposed, output_padding, groups)}
_backward_weight = op(f"_convolution_backward_weight(grad, input, weight_shape: tuple, has_bias: bool, {GEOMETRY})",
                      "convolution_backward_weight", aux=("no_bias",), flops=_weight_flops, vjp=_WEIGHT_VJP)


def _both_vjp(gs, grad, input, stride, padding, dilation, transposed, output_padding, groups):
    g, g_bias = gs
    geometry = (stride, padding, dilation, transposed, output_padding, groups)
    into_grad = into_input = None
    if g is not None:
        into_grad = convolution_op(conj(input), g, None, *geometry)
        into_input = _backward_input(conj(grad), g, tuple(input.shape), *geometry)
    if g_bias is not None:
        share = g_bias.reshape(-1, *(1,) * (grad.dim() - 2)).expand_as(grad)
        into_grad = share if into_grad is None else into_grad + share
    return into_grad, into_input


_backward_both = op(f"_convolution_backward_both(grad, input, weight_shape: tuple, has_bias: bool, {GEOMETRY})",
                    "convolution_backward_weight", returns="convolution_backward weight bias", flops=_weight_flops,
                    vjp={("grad", "input"): _both_vjp})


def _weight_and_bias(g, input, weight_shape, bias_shape, stride, padding, dilation, transposed, output_padding, groups):
    geometry = (stride, padding, dilation, transposed, output_padding, groups)
    if bias_shape:
        weight, bias = _backward_both(g, conj(input), weight_shape, True, *geometry)
        return weight, bias
    return _backward_weight(g, conj(input), weight_shape, False, *geometry), None


_FIELDS = {"node": "Convolution", "flops": _flops, "vjp": {
    "input": lambda g, weight, input_shape, stride, padding, dilation, transposed, output_padding, groups:
        _backward_input(g, conj(weight), input_shape, stride, padding, dilation, transposed, output_padding, groups),
    ("weight", "bias"): _weight_and_bias}}
convolution_op = op(f"_convolution(input, weight, bias: Tensor, {GEOMETRY})", "convolution", **_FIELDS)
# transposed convolutions of few elements: as PyTorch sums them, and without the cost of a oneDNN plan
_small_op = op(f"_convolution(input, weight, bias: Tensor, {GEOMETRY})", "convolution_small", key="_convolution_small",
               **_FIELDS)
SMALL = 1 << 18                                   # multiplications


# ---- checks, in PyTorch's words

def _expand(value, n, name):
    return ints(value, n, lambda v: RuntimeError(
        f"expected {name} to be a single integer value or a list of {n} values to match the convolution dimensions, "
        "but "
        f"got {name}={list(v)}"))


def _check_dtypes(input, weight, bias):
    if input.dtype is not weight.dtype:
        if input.dtype.category < 2:
            raise RuntimeError(f"expected scalar type {scalar_name(input.dtype)} but found {scalar_name(weight.dtype)}")
        raise RuntimeError(f"Input type ({_type_text(input)}) and weight type ({_type_text(weight)}) should be the "
                           "same or "
                           "input should be a MKLDNN tensor and weight is a dense tensor")
    if bias is not None and bias.dtype is not input.dtype:
        raise RuntimeError(f"Input type ({CPP.get(input.dtype.name, input.dtype.name)}) and bias type "
                           f"({CPP.get(bias.dtype.name, bias.dtype.name)}) should be the same")
    if input.dtype.category == 0:
        raise NotImplementedError(f"\"slow_conv2d_cpu\" not implemented for '{scalar_name(input.dtype)}'")


def _type_text(t):
    return f"CPU{scalar_name(t.dtype)}Type" if t.dtype.name == "bfloat16" else f"torch.{scalar_name(t.dtype)}Tensor"


def _check_geometry(stride, padding, dilation, groups):
    if any(p < 0 for p in padding):
        raise RuntimeError("negative padding is not supported")
    if any(s <= 0 for s in stride):
        raise RuntimeError("non-positive stride is not supported")
    if any(d <= 0 for d in dilation):
        raise RuntimeError("non-positive dilation is not supported")
    if groups <= 0:
        raise RuntimeError("non-positive groups is not supported")


def _check_bias(bias, weight, channels, given):
    if bias is not None and (bias.dim() != 1 or bias.shape[0] != channels):
        raise RuntimeError(f"Given {given}weight of size {list(weight.shape)}, expected bias to be 1-dimensional with "
                           f"{channels} elements, but got bias of size {list(bias.shape)} instead")


def _check_shapes(input, weight, bias, padding, dilation, groups):
    shape, out = weight.shape, weight.shape[0]
    if out < groups:
        raise RuntimeError(f"Given groups={groups}, expected weight to be at least {groups} at dimension 0, but got "
                           "weight "
                           f"of size {list(shape)} instead")
    if out % groups:
        raise RuntimeError(f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, but "
                           "got "
                           f"weight of size [{list(shape)}] instead")
    if input.shape[1] != shape[1] * groups:
        raise RuntimeError(f"Given groups={groups}, weight of size {list(shape)}, expected input{list(input.shape)} "
                           "to have "
                           f"{shape[1] * groups} channels, but got {input.shape[1]} channels instead")
    _check_bias(bias, weight, out, "")
    padded = [n + 2 * p for n, p in zip(input.shape[2:], padding)]
    reach = [d * (k - 1) + 1 for d, k in zip(dilation, shape[2:])]
    if any(n < r for n, r in zip(padded, reach)):
        raise RuntimeError(f"Calculated padded input size per channel: ({' x '.join(map(str, padded))}). Kernel size: "
                           f"({' x '.join(map(str, reach))}). Kernel size can't be greater than actual input size")


def _check_transposed(input, weight, bias, groups):
    if input.shape[1] != weight.shape[0]:
        raise RuntimeError(f"Given transposed=1, weight of size {list(weight.shape)}, expected "
                           f"input{list(input.shape)} to "
                           f"have {weight.shape[0]} channels, but got {input.shape[1]} channels instead")
    if input.shape[1] % groups:
        raise RuntimeError(f"Given groups={groups}, expected input channels to be divisible by groups, but got "
                           f"{input.shape[1]} channels instead")
    _check_bias(bias, weight, weight.shape[1] * groups, "transposed=1, ")


def _batched(input, weight, n, name):
    """(input with a batch dimension, whether it was added)."""
    if weight.dim() != n + 2:
        raise RuntimeError(f"expected stride to be a single integer value or a list of {weight.dim() - 2} values to "
                           "match "
                           f"the convolution dimensions, but got stride={[1] * n}" if weight.dim() > 2 else
                           "weight should have at least three dimensions")
    if input.dim() == n + 2:
        return input, False
    if input.dim() != n + 1:
        raise RuntimeError(f"Expected {n + 1}D (unbatched) or {n + 2}D (batched) input to {name}, but got input of "
                           "size: "
                           f"{list(input.shape)}")
    return input.unsqueeze(0), True


def _same_padding(input, weight, stride, dilation, n):
    """(input, padding) that keep the size; an odd total puts the extra zeros at the end."""
    if any(s != 1 for s in stride):
        raise RuntimeError("padding='same' is not supported for strided convolutions")
    total = [d * (k - 1) for d, k in zip(dilation, weight.shape[2:])]
    if any(t % 2 for t in total):
        from .resize import constant_pad_nd
        extra = [x for t in reversed(total) for x in (0, t % 2)]
        input = constant_pad_nd(input, extra, 0)
    return input, tuple(t // 2 for t in total)


def _conv(n, name, input, weight, bias, stride, padding, dilation, groups):
    input, added = _batched(input, weight, n, name)
    stride, dilation = _expand(stride, n, "stride"), _expand(dilation, n, "dilation")
    if isinstance(padding, str):
        if padding not in ("same", "valid"):
            raise RuntimeError(f"Invalid padding string: '{padding}'")
        input, padding = _same_padding(input, weight, stride, dilation, n) if padding == "same" else (input, (0,) * n)
    else:
        padding = _expand(padding, n, "padding")
    _check_geometry(stride, padding, dilation, groups)
    _check_shapes(input, weight, bias, padding, dilation, groups)
    _check_dtypes(input, weight, bias)
    out = convolution_op(input, weight, bias, stride, padding, dilation, False, (0,) * n, groups)
    return out.squeeze(0) if added else out


def _conv_transpose(n, name, input, weight, bias, stride, padding, output_padding, groups, dilation):
    input, added = _batched(input, weight, n, name)
    stride, dilation = _expand(stride, n, "stride"), _expand(dilation, n, "dilation")
    padding, output_padding = _expand(padding, n, "padding"), _expand(output_padding, n, "output_padding")
    _check_geometry(stride, padding, dilation, groups)
    if any(o < 0 for o in output_padding):
        raise RuntimeError("negative output_padding is not supported")
    _check_transposed(input, weight, bias, groups)
    _check_output_padding(output_padding, stride, dilation)
    _check_dtypes(input, weight, bias)
    small = input.numel() * weight.numel() < SMALL * weight.shape[0]
    out = (_small_op if small else convolution_op)(input, weight, bias, stride, padding, dilation, True, output_padding,
                                                   groups)
    if any(s <= 0 for s in out.shape[2:]):
        raise RuntimeError(f"Given input size per channel: ({' x '.join(map(str, input.shape[2:]))}). Calculated "
                           "output "
                           f"size per channel: ({' x '.join(map(str, out.shape[2:]))}). Output size is too small")
    return out.squeeze(0) if added else out


def _check_output_padding(output_padding, stride, dilation):
    if not any(o >= s and o >= d for o, s, d in zip(output_padding, stride, dilation)):
        return
    if len(stride) == 1:                          # PyTorch computes one dimension as two
        output_padding, stride, dilation = (0, *output_padding), (1, *stride), (1, *dilation)
    names = ("depth", "height", "width")[-len(stride):]
    parts = [f"{what}_{name}: {v}" for what, values in (("output_padding", output_padding), ("stride", stride),
                                                       ("dilation", dilation)) for name, v in zip(names, values)]
    raise RuntimeError(f"output padding must be smaller than either stride or dilation, but got {' '.join(parts)}")


# ---- the public functions

_CONV = "(input, weight, bias: Tensor=None, stride=1, padding=0, dilation=1, groups: int=1)"
_CONV_T = "(input, weight, bias: Tensor=None, stride=1, padding=0, output_padding=0, groups: int=1, dilation=1)"


def _declare(n):
    def conv(input, weight, bias, stride, padding, dilation, groups):
        return _conv(n, f"conv{n}d", input, weight, bias, stride, padding, dilation, groups)

    def conv_transpose(input, weight, bias, stride, padding, output_padding, groups, dilation):
        return _conv_transpose(n, f"conv_transpose{n}d", input, weight, bias, stride, padding, output_padding, groups,
                               dilation)

    page = "https://docs.pytorch.org/docs/stable/generated/torch.nn.functional."
    shapes = ("input (batch, channels, *space) or without batch, weight (out, channels / groups, *kernel), bias (out)",
              "input (batch, channels, *space) or without batch, weight (channels, out / groups, *kernel), bias (out)")
    return (composite(f"conv{n}d{_CONV}", on="torch F", amp="low", out=False,
                      doc=f"{n}-D cross-correlation: {shapes[0]}. Raises RuntimeError for sizes that do not fit. "
                          f"{page}conv{n}d.html")(conv),
            composite(f"conv_transpose{n}d{_CONV_T}", on="torch F", amp="low", out=False,
                      doc=f"{n}-D transposed convolution: {shapes[1]}. {page}conv_transpose{n}d.html")(conv_transpose))


(conv1d, conv_transpose1d), (conv2d, conv_transpose2d), (conv3d, conv_transpose3d) = (_declare(n) for n in (1, 2, 3))


@composite(f"convolution(input, weight, bias: Tensor, {GEOMETRY})", on="torch", amp={"cpu": None, "cuda": "low"},
           out=False)
def convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups):
    """Any of the convolutions, by attributes."""
    n = weight.dim() - 2
    if transposed:
        return _conv_transpose(n, f"conv_transpose{n}d", input, weight, bias, stride, padding, output_padding, groups,
                               dilation)
    return _conv(n, f"conv{n}d", input, weight, bias, stride, padding, dilation, groups)


@composite("conv_tbc(input, weight, bias, pad: int=0)", on="torch F", amp="low", out=False)
def conv_tbc(input, weight, bias, pad):
    """1-D convolution of input (time, batch, channels) with weight (kernel, channels, out)."""
    return conv1d(input.permute(1, 2, 0), weight.permute(2, 1, 0), bias, 1, pad).permute(2, 0, 1)


# ---- linear

@composite("linear(input, weight, bias: Tensor=None)", on="F", amp="low")
def linear(input, weight, bias):
    """input (*, in) times weight (out, in) transposed, plus bias (out). Raises RuntimeError for sizes that do not fit.

    https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.linear.html
    """
    n = input.dim()
    if n == 2 and bias is not None and weight.dim() == 2:
        return bias.addmm(input, weight.t()) if bias.dim() == 1 else input.mm(weight.t()) + bias
    if n <= 2 or weight.dim() != 2:
        out = input.matmul(weight.t() if weight.dim() == 2 else weight)
        return out if bias is None else out + bias
    rows = input.reshape(-1, input.shape[-1])
    out = rows.mm(weight.t()) if bias is None else bias.addmm(rows, weight.t())
    return out.view(*input.shape[:-1], weight.shape[0])


@composite("bilinear(input1, input2, weight, bias: Tensor=None)", on="torch F", out=False,
           amp={"cpu": None, "cuda": "promote"})
def bilinear(input1, input2, weight, bias):
    """input1 (*, a), input2 (*, b) and weight (out, a, b) to (*, out).

    https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.bilinear.html
    """
    if input1.dim() != input2.dim():
        raise RuntimeError(f"bilinear(): input dimensions do not match: got {input1.dim()} and {input2.dim()}")
    for i, (a, b) in enumerate(zip(input1.shape[:-1], input2.shape[:-1])):
        if a != b:
            raise RuntimeError(f"bilinear(): input batch dimensions do not match at dim {i}: got {a} and {b}")
    for i, t in ((1, input1), (2, input2)):
        if t.shape[-1] != weight.shape[i]:
            raise RuntimeError(f"bilinear(): input{i} size does not match weight size: got {t.shape[-1]} but expected "
                               f"{weight.shape[i]}")
    if bias is not None and bias.shape[0] != weight.shape[0]:
        raise RuntimeError(f"bilinear(): bias size does not match weight size: got {bias.shape[0]} but expected "
                           f"{weight.shape[0]}")
    first = input1.reshape(-1, input1.shape[-1])
    second = input2.reshape(-1, input2.shape[-1])
    # (rows, out * b): rows of input1 against every output's matrix, then summed with input2
    mixed = first.mm(weight.permute(1, 0, 2).reshape(weight.shape[1], -1)).view(-1, weight.shape[0], weight.shape[2])
    out = (mixed * second.unsqueeze(1)).sum(-1).view(*input1.shape[:-1], weight.shape[0])
    return out if bias is None else out + bias
