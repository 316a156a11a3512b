"""How a tensor prints: PyTorch's text, digit for digit."""
import math

from .dtype import bool_, get_default_dtype, int64


class PrintOptions:
    """precision, threshold, edgeitems, linewidth, sci_mode."""

    def __init__(self):
        self.precision, self.threshold, self.edgeitems, self.linewidth, self.sci_mode = 4, 1000, 3, 80, None


OPTIONS = PrintOptions()
PROFILES = {"default": (4, 1000, 3, 80), "short": (2, 1000, 2, 80), "full": (4, math.inf, 3, 80)}


def set_printoptions(precision=None, threshold=None, edgeitems=None, linewidth=None, profile=None, sci_mode=None):
    """Change how tensors print. https://docs.pytorch.org/docs/stable/generated/torch.set_printoptions.html"""
    if profile is not None:
        if profile not in PROFILES:
            raise ValueError(f"profile must be one of {sorted(PROFILES)}, but got {profile!r}")
        OPTIONS.precision, OPTIONS.threshold, OPTIONS.edgeitems, OPTIONS.linewidth = PROFILES[profile]
    for name, value in (("precision", precision), ("threshold", threshold), ("edgeitems", edgeitems),
                        ("linewidth", linewidth)):
        if value is not None:
            setattr(OPTIONS, name, value)
    OPTIONS.sci_mode = sci_mode


class Numbers:
    """Formats all numbers of one tensor alike: as integers, fixed or scientific, in one width."""

    def __init__(self, values, floating):
        self.floating, self.whole, self.sci, self.width = floating, True, False, 1
        if not floating:
            self.width = max((len(str(v)) for v in values), default=1)
            return
        finite = [abs(v) for v in values if v and math.isfinite(v)]
        if not finite:
            return
        signed = [v for v in values if v and math.isfinite(v)]
        low, high, p = min(finite), max(finite), OPTIONS.precision
        self.whole = all(v == math.ceil(v) for v in finite)
        self.sci = high / low > 1000.0 or high > 1e8 or not self.whole and low < 1e-4
        if OPTIONS.sci_mode is not None:
            self.sci = OPTIONS.sci_mode
        if self.sci:
            self.width = max(len(f"{v:.{p}e}") for v in signed)
        elif self.whole:
            self.width = max(len(f"{v:.0f}") for v in signed) + 1
        else:
            self.width = max(len(f"{v:.{p}f}") for v in signed)

    def text(self, value):
        """One number, right-aligned."""
        if not self.floating:
            shown = str(value)
        elif self.sci:
            shown = f"{value:.{OPTIONS.precision}e}"
        elif self.whole:
            shown = f"{value:.0f}" + ("" if math.isinf(value) or math.isnan(value) else ".")
        else:
            shown = f"{value:.{OPTIONS.precision}f}"
        return shown.rjust(self.width)


class ComplexNumbers:
    """Real and imaginary parts each in a format of their own."""

    def __init__(self, values):
        self.real, self.imag = Numbers([v.real for v in values], True), Numbers([v.imag for v in values], True)
        self.width = self.real.width + self.imag.width + 1

    def text(self, value):
        """One complex number."""
        imag = self.imag.text(value.imag).lstrip()
        return self.real.text(value.real) + ("" if imag.startswith("-") else "+") + imag + "j"


def _edges(values, ndim):
    """Nested lists cut to their first and last items, with None for what is left out."""
    if ndim == 0:
        return values
    e = OPTIONS.edgeitems
    if len(values) > 2 * e:
        return [_edges(v, ndim - 1) for v in values[:e]] + [None] + [_edges(v, ndim - 1) for v in values[-e:]]
    return [_edges(v, ndim - 1) for v in values]


def _cut(a):
    """Edge items of an array, as an array and before lists are made: large tensors print quickly."""
    e = OPTIONS.edgeitems
    for d, n in enumerate(a.shape):
        if n > 2 * e + 1:
            middle = a.take([e], d)
            head, tail = a.take(range(e), d), a.take(range(n - e, n), d)
            a = _join(head, middle, tail, d)
    return a


def _join(head, middle, tail, d):
    from ..backend.arrays import module_of
    return module_of(head).concatenate((head, middle, tail), d)


def _flat(values, ndim):
    if values is None:
        return
    if ndim == 0:
        yield values
        return
    for v in values:
        yield from _flat(v, ndim - 1)


def _row(values, indent, numbers):
    per_line = max(1, int(math.floor((OPTIONS.linewidth - indent) / (numbers.width + 2))))
    texts = [" ..." if v is None else numbers.text(v) for v in values]
    lines = [", ".join(texts[i:i + per_line]) for i in range(0, len(texts), per_line)] or [""]
    return "[" + ("," + "\n" + " " * (indent + 1)).join(lines) + "]"


def _block(values, ndim, indent, numbers):
    if ndim == 0:
        return numbers.text(values)
    if ndim == 1:
        return _row(values, indent, numbers)
    parts = ["..." if v is None else _block(v, ndim - 1, indent + 1, numbers) for v in values]
    return "[" + ("," + "\n" * (ndim - 1) + " " * (indent + 1)).join(parts) + "]"


def _numbers_text(t, indent):
    a, d = t._a, t.dtype
    if d.category >= 2 and d.itemsize == 2:
        a = a.astype("float32")
    if t.is_cuda:
        a = a.get()
    summarize = a.size > OPTIONS.threshold
    values = (_cut(a) if summarize else a).tolist()
    if summarize:
        values = _edges(values, a.ndim)
    flat = list(_flat(values, a.ndim))
    numbers = ComplexNumbers(flat) if d.is_complex else Numbers(flat, d.is_floating_point)
    return _block(values, a.ndim, indent, numbers)


def _with_suffixes(text, suffixes, indent, force_newline):
    parts = [text]
    last = len(text) - text.rfind("\n") + 1
    for suffix in suffixes:
        if force_newline or last + len(suffix) + 2 > OPTIONS.linewidth:
            parts.append(",\n" + " " * indent + suffix)
            last, force_newline = indent + len(suffix), False
        else:
            parts.append(", " + suffix)
            last += len(suffix) + 2
    return "".join(parts) + ")"


def _usual(dtype):
    default = get_default_dtype()
    return dtype in (default, int64, bool_, default.to_complex())


def tensor_text(t):
    """The repr of a tensor, without gradient tracking."""
    prefix = "tensor("
    suffixes = []
    if t.device.type != "cpu":
        suffixes.append(f"device='{t.device}'")
    if t._a.size == 0:
        if t._a.ndim != 1:
            suffixes.append("size=" + str(tuple(t._a.shape)))
        if t.dtype is not get_default_dtype():
            suffixes.append(f"dtype={t.dtype!r}")
        text = "[]"
    else:
        if not _usual(t.dtype):
            suffixes.append(f"dtype={t.dtype!r}")
        text = _numbers_text(t, len(prefix))
    try:
        node = t.grad_fn
        name = None if node is None else node.name().rsplit("::", 1)[-1]
    except RuntimeError:                          # a view whose history a write made ambiguous
        name = "Invalid"
    if name is not None:
        suffixes.append(f"grad_fn=<{name}>")
    elif t.requires_grad:
        suffixes.append("requires_grad=True")
    shown = _with_suffixes(prefix + text, suffixes, len(prefix), False)
    name = type(t).__name__
    return shown if name == "Tensor" else f"{name} containing:\n{shown}" if name == "Parameter" else \
        f"{name}({shown[len(prefix):]}"
