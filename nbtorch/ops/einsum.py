"""Einstein summation, reduced to permute, reshape and one batched product per pair of operands."""
import math

from ..core.op import composite
from .matmul import bmm

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def _from_sublists(args):
    """(equation, operands) of the form einsum(op1, [0, 1], op2, [1, 2], ..., [0, 2])."""
    parts, operands, output = [], [], None
    args = list(args)
    while args:
        first = args.pop(0)
        if hasattr(first, "_a"):
            operands.append(first)
            parts.append(_letters(args.pop(0)))
        else:
            output = _letters(first)
    return ",".join(parts) + ("" if output is None else "->" + output), operands


def _letters(indices):
    out = []
    for i in indices:
        if i is Ellipsis:
            out.append("...")
        elif not 0 <= i < len(LETTERS):
            raise RuntimeError(f"einsum(): expected subscripts to be within range [0, 52), but got {i}")
        else:
            out.append(LETTERS[i])
    return "".join(out)


def _parse(equation, operands):
    """Subscripts of each operand as tuples of letters ("." for broadcast dimensions, numbered from the right) and of
    the output."""
    text = equation.replace(" ", "")
    left, arrow, right = text.partition("->")
    inputs = left.split(",")
    if len(inputs) != len(operands):
        word = "fewer" if len(inputs) > len(operands) else "more"
        raise RuntimeError(f"einsum(): {word} operands were provided than specified in the equation")
    for c in left.replace(",", "").replace("...", "") + right.replace("...", ""):
        if c not in LETTERS:
            raise RuntimeError(f"einsum(): invalid subscript given at index {text.index(c)} in the equation string, "
                               "subscripts must be in [a-zA-Z]")
    subscripts, widest = [], 0
    for i, (part, t) in enumerate(zip(inputs, operands)):
        named = part.replace("...", "")
        extra = t._a.ndim - len(named)
        if extra < 0 or extra and "..." not in part:
            raise RuntimeError(f"einsum(): the number of subscripts in the equation ({len(named)}) "
                               + ("is more than the number of dimensions" if extra < 0 else
                                  "does not match the number of dimensions")
                               + f" ({t._a.ndim}) for operand {i}" + ("" if extra < 0 else " and no ellipsis was given"))
        widest = max(widest, extra)
        subscripts.append(_expand(part, extra))
    dots = tuple(f".{k}" for k in range(widest - 1, -1, -1))
    if arrow:
        output = tuple(c for piece in (_expand(right, widest) if "..." in right else tuple(right)) for c in (piece,))
    else:
        every = [c for s in subscripts for c in s if not c.startswith(".")]
        output = dots + tuple(sorted(c for c in set(every) if every.count(c) == 1))
    return subscripts, output


def _expand(part, extra):
    before, dots, after = part.partition("...")
    middle = tuple(f".{k}" for k in range(extra - 1, -1, -1)) if dots else ()
    return tuple(before) + middle + tuple(after)


def _check_output(subscripts, output):
    every = {c for s in subscripts for c in s}
    for c in output:
        if output.count(c) > 1:
            raise RuntimeError(f"einsum(): output subscript {c} appears more than once in the output")
        if c not in every:
            raise RuntimeError(f"einsum(): output subscript {c} does not appear in the equation for any input operand")


def _diagonals(t, s):
    """One dimension per letter: repeated letters take the diagonal."""
    for c in dict.fromkeys(s):
        while s.count(c) > 1:
            i = s.index(c)
            j = s.index(c, i + 1)
            x, y = t._a.shape[i], t._a.shape[j]
            if x != y:
                raise RuntimeError(f"einsum(): subscript {c} is repeated for operand 0 but the sizes don't match, {y} != {x}")
            t = t.diagonal(0, i, j).movedim(-1, i)
            s = s[:j] + s[j + 1:]
    return t, s


def _sizes(operands, subscripts):
    sizes = {}
    for n, (t, s) in enumerate(zip(operands, subscripts)):
        for size, c in zip(t._a.shape, s):
            known = sizes.get(c, 1)
            if size != known and 1 not in (size, known):
                raise RuntimeError(f"einsum(): subscript {c} has size {size} for operand {n} which does not broadcast "
                                   f"with previously seen size {known}")
            sizes[c] = max(size, known) if size else 0
    return sizes


def _sum_out(t, s, keep):
    """Sum over letters not in `keep`."""
    gone = [i for i, c in enumerate(s) if c not in keep]
    if gone:
        t = t.sum(gone)
    return t, tuple(c for c in s if c in keep)


def _pair(a, sa, b, sb, keep, sizes):
    """Contract two operands: letters in both and not kept are summed in a batched product."""
    a, sa = _sum_out(a, sa, set(sb) | keep)
    b, sb = _sum_out(b, sb, set(sa) | keep)
    shared = [c for c in sa if c in sb]
    for c in shared:                              # size 1 against n: summed or broadcast as n
        n = max(a._a.shape[sa.index(c)], b._a.shape[sb.index(c)])
        a = _stretch(a, sa.index(c), n)
        b = _stretch(b, sb.index(c), n)
    batch, summed = [c for c in shared if c in keep], [c for c in shared if c not in keep]
    rows, columns = [c for c in sa if c not in shared], [c for c in sb if c not in shared]
    shape = lambda t, s, letters: [t._a.shape[s.index(c)] for c in letters]  # noqa: E731
    B, R, S, Q = shape(a, sa, batch), shape(a, sa, rows), shape(a, sa, summed), shape(b, sb, columns)
    out_letters = (*batch, *rows, *columns)
    if not summed:                                # an outer product needs no matrix product
        x = a.permute([sa.index(c) for c in batch + rows]).reshape(*B, *R, *[1] * len(columns))
        y = b.permute([sb.index(c) for c in batch + columns]).reshape(*B, *[1] * len(rows), *Q)
        return x * y, out_letters
    x = a.permute([sa.index(c) for c in batch + rows + summed]).reshape(math.prod(B), math.prod(R), math.prod(S))
    y = b.permute([sb.index(c) for c in batch + summed + columns]).reshape(math.prod(B), math.prod(S), math.prod(Q))
    return bmm(x, y).reshape(*B, *R, *Q), out_letters


def _stretch(t, dim, n):
    if t._a.shape[dim] == n:
        return t
    shape = list(t._a.shape)
    shape[dim] = n
    return t.expand(shape)


def _order(operands, subscripts, output):
    """Pairs to contract, in opt_einsum's order for more than two operands."""
    if len(operands) <= 2:
        return [tuple(range(len(operands)))]
    import opt_einsum
    letters = {c: LETTERS[i] for i, c in enumerate(dict.fromkeys(c for s in subscripts for c in s))}
    equation = ",".join("".join(letters[c] for c in s) for s in subscripts) + "->" + "".join(letters[c] for c in output)
    path, _ = opt_einsum.contract_path(equation, *[tuple(t._a.shape) for t in operands], shapes=True, optimize="auto")
    return path


@composite("einsum(*args)", on="torch", amp={"cuda": "low"})
def einsum(args):
    """Sum of products over the subscripts of an equation such as "bij,bjk->bik".

    https://docs.pytorch.org/docs/stable/generated/torch.einsum.html
    """
    if len(args) < 2:
        raise ValueError("einsum(): must specify the equation string and at least one operand, or at least one operand "
                         "and its subscripts list")
    equation, operands = (args[0], list(args[1:])) if isinstance(args[0], str) else _from_sublists(args)
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = list(operands[0])
    subscripts, output = _parse(equation, operands)
    _check_output(subscripts, output)
    pairs = [_diagonals(t, s) for t, s in zip(operands, subscripts)]
    terms = [(t, s) for t, s in pairs]
    sizes = _sizes([t for t, _ in terms], [s for _, s in terms])
    for path in _order([t for t, _ in terms], [s for _, s in terms], output):
        chosen = [terms.pop(i) for i in sorted(path, reverse=True)][::-1]
        keep = set(output).union(*[s for _, s in terms]) if terms else set(output)
        t, s = chosen[0]
        for other, other_s in chosen[1:]:
            t, s = _pair(t, s, other, other_s, keep, sizes)
        terms.append(_sum_out(t, s, keep))
    t, s = terms[0]
    return t.permute([s.index(c) for c in output]) if s != output else t
