"""einsum: sums of products written as index letters, computed with permutations and batched matrix products."""
import math

from ..core.op import composite
from ..core.tensor import Tensor
from .matmul import bmm
from .pointwise import mul

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def _sublists(args):
    """(operands, equation) of the form einsum(op1, [0, 1], op2, [1, 2], [0, 2])."""
    operands, parts = list(args[:-1:2] if len(args) % 2 else args[::2]), args[1::2]

    def text(sublist):
        out = []
        for label in sublist:
            if label is Ellipsis:
                out.append("...")
            elif not 0 <= label < 52:
                raise RuntimeError(f"einsum(): not enough letters: expected subscripts in [0, 52) but got {label}")
            else:
                out.append(LETTERS[label])
        return "".join(out)
    equation = ",".join(map(text, parts))
    return operands, equation + ("->" + text(args[-1]) if len(args) % 2 else "")


def _check_letters(text, what):
    for c in text.replace("...", "", 1):
        if not (c.isascii() and c.isalpha()):
            raise RuntimeError(
                f"einsum(): invalid subscript given at index {text.index(c)} in the equation string, subscripts "
                f"must be in [a-zA-Z]"
                if c != "."
                else f"einsum(): found '.' for {what} that is not part of any ellipsis"
            )


def _labels(text, ndim, i):
    """Labels of one operand's dimensions; those under the ellipsis are numbered from the right."""
    _check_letters(text, f"operand {i}")
    if "..." in text:
        before, after = text.split("...", 1)
        hidden = ndim - len(before) - len(after)
        if hidden < 0:
            raise RuntimeError(
                f"einsum(): the number of subscripts in the equation ({len(before) + len(after)}) is more than "
                f"the number of dimensions ({ndim}) for operand {i}"
            )
        return [*before, *range(-hidden, 0), *after]
    if len(text) != ndim:
        raise RuntimeError(
            f"einsum(): the number of subscripts in the equation ({len(text)}) does not match the number of "
            f"dimensions ({ndim}) for operand {i} and no ellipsis was given"
        )
    return [*text]


def _output(right, inputs, hidden):
    every = [label for labels in inputs for label in labels]
    if right is None:
        once = sorted({c for c in every if isinstance(c, str) and every.count(c) == 1})
        return [*range(-hidden, 0), *once]
    _check_letters(right, "the output")
    if "..." in right:
        before, after = right.split("...", 1)
        out = [*before, *range(-hidden, 0), *after]
    else:
        out = [*right]
    for c in out:
        if out.count(c) > 1:
            raise RuntimeError(f"einsum(): output subscript {c} appears more than once in the output")
        if isinstance(c, str) and c not in every:
            raise RuntimeError(f"einsum(): output subscript {c} does not appear in the equation for any input operand")
    return out


def _diagonals(t, labels, i):
    """Repeated labels of one operand become diagonals."""
    d = 0
    while d < len(labels):
        first = labels.index(labels[d])
        if first < d:
            if t.shape[first] != t.shape[d]:
                raise RuntimeError(
                    f"einsum(): subscript {labels[d]} is repeated for operand {i} but the sizes don't match, "
                    f"{t.shape[d]} != {t.shape[first]}"
                )
            t = t.diagonal(0, first, d).movedim(-1, first)
            labels = labels[:d] + labels[d + 1:]
        else:
            d += 1
    return t, labels


def _sizes(operands, inputs):
    sizes = {}
    for t, labels in zip(operands, inputs):
        for n, label in zip(t.shape, labels):
            have = sizes.get(label, 1)
            if have != 1 and n != 1 and n != have:
                i = next(k for k, ls in enumerate(inputs) if label in ls)
                shapes = " ".join(f"{list(x.shape)}" for x in operands)
                raise RuntimeError(
                    "einsum(): operands do not broadcast with remapped shapes [original->remapped]: " + shapes
                    if isinstance(label, int) or i < 0
                    else f"einsum(): subscript {label} has size {n} for operand "
                    f"{next(k for k, o in enumerate(operands) if o is t)} which does not broadcast with "
                    f"previously seen size {have}"
                )
            sizes[label] = n if have == 1 else have
    return sizes


def _sum_out(t, labels, gone):
    """Sum over the labels in `gone`."""
    dims = [d for d, label in enumerate(labels) if label in gone]
    return (t.sum(dims), [label for label in labels if label not in gone]) if dims else (t, labels)


def _squeeze_ones(t, labels, others, sizes):
    """A dimension of size 1 that another operand stretches is dropped: it only broadcasts."""
    dims = [d for d, label in enumerate(labels) if t.shape[d] == 1 and sizes[label] != 1 and label in others]
    return (t.squeeze(dims), [label for d, label in enumerate(labels) if d not in dims]) if dims else (t, labels)


def _pair(a, la, b, lb, keep, sizes):
    """Contract two operands; labels not in `keep` are summed."""
    a, la = _squeeze_ones(a, la, lb, sizes)
    b, lb = _squeeze_ones(b, lb, la, sizes)
    a, la = _sum_out(a, la, [x for x in la if x not in lb and x not in keep])
    b, lb = _sum_out(b, lb, [x for x in lb if x not in la and x not in keep])
    batch = [x for x in la if x in lb and x in keep]
    summed = [x for x in la if x in lb and x not in keep]
    left, right = [x for x in la if x not in lb], [x for x in lb if x not in la]
    if not summed:                                # nothing to sum: one broadcast product
        labels = batch + left + right
        fit = [1 if x not in la else a.shape[la.index(x)] for x in labels]
        a = a.permute([la.index(x) for x in labels if x in la]).reshape(fit)
        fit = [1 if x not in lb else b.shape[lb.index(x)] for x in labels]
        b = b.permute([lb.index(x) for x in labels if x in lb]).reshape(fit)
        return mul(a, b), labels
    size = {x: n for t, ls in ((a, la), (b, lb)) for x, n in zip(ls, t.shape)}

    def shape(*groups):
        return [math.prod(size[x] for x in group) for group in groups]
    a = a.permute([la.index(x) for x in batch + left + summed]).reshape(shape(batch, left, summed))
    b = b.permute([lb.index(x) for x in batch + summed + right]).reshape(shape(batch, summed, right))
    labels = batch + left + right
    product = bmm(a, b) if batch else a.squeeze(0).matmul(b.squeeze(0)) if a.shape[0] == 1 else bmm(a, b)
    return product.reshape([size[x] for x in labels]), labels


def _order(operands, inputs, output):
    """Pairs of positions to contract, cheapest first when opt_einsum is installed, else left to right."""
    n = len(operands)
    try:
        import opt_einsum
    except ImportError:
        return [(0, 1)] * (n - 1)
    symbols, next_symbol = {}, iter(range(10 ** 6))
    for labels in (*inputs, output):
        for label in labels:
            if label not in symbols:
                symbols[label] = opt_einsum.get_symbol(next(next_symbol))
    equation = ",".join("".join(symbols[x] for x in labels) for labels in inputs)
    equation += "->" + "".join(symbols[x] for x in output)
    path, _ = opt_einsum.contract_path(equation, *(tuple(t.shape) for t in operands), shapes=True,
                                       optimize="auto" if n > 2 else [(0, 1)])
    return [pair for pair in path if len(pair) == 2]


def _contract(operands, inputs, output):
    sizes = _sizes(operands, inputs)
    if len(operands) == 1:
        t, labels = _sum_out(operands[0], inputs[0], [x for x in inputs[0] if x not in output])
        return t.permute([labels.index(x) for x in output])
    path = [(0, 1)] if len(operands) == 2 else _order(operands, inputs, output)
    for pair in path:
        i, j = sorted(pair)
        b, lb = operands.pop(j), inputs.pop(j)
        a, la = operands.pop(i), inputs.pop(i)
        keep = set(output).union(*inputs)
        t, labels = _pair(a, la, b, lb, keep, sizes)
        operands.append(t)
        inputs.append(labels)
    while len(operands) > 1:  # operands the path left over
        t, labels = _pair(
            operands.pop(0), inputs.pop(0), operands.pop(0), inputs.pop(0), set(output).union(*inputs), sizes
        )
        operands.append(t)
        inputs.append(labels)
    t, labels = _sum_out(operands[0], inputs[0], [x for x in inputs[0] if x not in output])
    t = t.permute([labels.index(x) for x in output])
    return t


@composite("einsum(*args)", on="torch", out=False, amp={"cuda": "low"})
def einsum(args):
    """Sum of products of operands as the equation says, e.g. "bij,bjk->bik"; or operands, each followed by its labels.

    https://docs.pytorch.org/docs/stable/generated/torch.einsum.html
    """
    if len(args) < 2:
        raise ValueError(
            "einsum(): must specify the equation string and at least one operand, or at least one operand and "
            "its subscripts list"
        )
    if isinstance(args[0], Tensor):
        operands, equation = _sublists(args)
    else:
        equation, operands = args[0], list(args[1:])
        if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
            operands = list(operands[0])
    equation = equation.replace(" ", "")
    left, arrow, right = equation.partition("->")
    terms = left.split(",")
    if len(terms) != len(operands):
        raise RuntimeError(
            f"einsum(): {'more' if len(operands) > len(terms) else 'fewer'} operands were provided than specified "
            "in the equation"
        )
    inputs = [_labels(text, t.dim(), i) for i, (text, t) in enumerate(zip(terms, operands))]
    hidden = max((sum(isinstance(x, int) for x in labels) for labels in inputs), default=0)
    output = _output(right if arrow else None, inputs, hidden)
    for i, (t, labels) in enumerate(zip(operands, inputs)):
        operands[i], inputs[i] = _diagonals(t, labels, i)
    return _contract(operands, inputs, output)
