"""Signature strings of op records: parsed once, then turned into plain Python functions.

`"select(input, dim: int, index: int)"`: a parameter without annotation and default, or annotated Tensor, Number or
list, is a tensor argument; everything else is an attribute. `*size` collects integers or one sequence.
Functions are generated, so that no call ever binds a signature.
"""
from .dtype import as_dtype, dtype

TENSOR_KINDS = ("Tensor", "Number", "list")
NUMPY_NAMES = {"axis": "dim", "keepdims": "keepdim", "axes": "dims", "x": "input", "a": "input"}


class Parameter:
    """One parameter: `kind` is "tensor", "number" (tensor or Python number), "list" or "attr"."""

    __slots__ = ("name", "kind", "default", "keyword_only", "star", "annotation")

    def __init__(self, text, keyword_only):
        head, _, default = (part.strip() for part in _cut(text, "="))
        name, _, annotation = (part.strip() for part in _cut(head, ":"))
        self.star, self.name = name.startswith("*"), name.lstrip("*")
        self.default, self.annotation, self.keyword_only = default or None, annotation, keyword_only
        if self.star or (annotation and annotation not in TENSOR_KINDS) or (default and not annotation):
            self.kind = "attr"
        else:
            self.kind = {"list": "list", "Number": "number"}.get(annotation, "tensor")

    @property
    def source(self):
        """As it stands in a `def`."""
        name = "*" + self.name if self.star else self.name
        return name if self.default is None else f"{name}={self.default}"


class Signature:
    """A parsed signature string."""

    __slots__ = ("name", "parameters", "tensors", "attrs", "text")

    def __init__(self, text):
        self.text = text
        self.name, _, rest = text.partition("(")
        self.parameters, keyword_only = [], False
        for part in split_top(rest.rstrip()[:-1]):
            if part == "*":
                keyword_only = True
                continue
            self.parameters.append(Parameter(part, keyword_only))
            keyword_only = keyword_only or self.parameters[-1].star
        self.tensors = [p for p in self.parameters if p.kind != "attr"]
        self.attrs = [p for p in self.parameters if p.kind == "attr"]

    @property
    def takes_renamed(self):
        """Whether calls may use other keywords: NumPy's names, or the name of the collected sizes."""
        return any(p.star or p.name in NUMPY_NAMES.values() for p in self.parameters)

    def def_source(self, name, extra=()):
        """The `def` line. `extra` are keyword-only additions such as out=None."""
        parts, starred = [], False
        for p in self.parameters:
            if p.keyword_only and not starred:
                parts.append("*")
                starred = True
            starred = starred or p.star
            parts.append(p.source)
        if extra:
            parts += ([] if starred else ["*"]) + list(extra)
        if self.takes_renamed:
            parts.append("**renamed")
        return f"def {name}({', '.join(parts)}):\n"


def _cut(text, mark):
    """Split at the first `mark` outside brackets and quotes."""
    depth, quote = 0, ""
    for i, c in enumerate(text):
        if quote:
            quote = "" if c == quote else quote
        elif c in "'\"":
            quote = c
        elif c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
        elif c == mark and not depth:
            return text[:i], mark, text[i + 1:]
    return text, "", ""


def split_top(text):
    """Comma-separated parts at bracket depth zero."""
    parts = []
    while text.strip():
        part, _, text = _cut(text, ",")
        parts.append(part.strip())
    return parts


def _tuple(names):
    return f"({', '.join(names)},)" if names else "()"


def _prologue(signature, name):
    lines = []
    star = next((p for p in signature.parameters if p.star), None)
    if any(p.name == "dtype" for p in signature.attrs) and not name.startswith("_"):
        lines.append(f"    if dtype is not None and type(dtype) is not DTYPE: dtype = AS_DTYPE(dtype, {name!r})\n")
    if signature.takes_renamed:
        lines.append(f"    if renamed: return RETRY({name!r}, FUNCTION[0], locals(), renamed)\n")
    if star:
        n = star.name
        lines.append(f"    if len({n}) == 1 and not isinstance({n}[0], int) and hasattr({n}[0], '__len__') and not hasattr({n}[0], '_a'): {n} = tuple({n}[0])\n")
    return "".join(lines)


def retry_with_pytorch_names(name, function, local, renamed):
    """Answer a call that used NumPy's argument names (axis, keepdims), as PyTorch accepts them."""
    translated, parameters = {}, function.signature.parameters
    star = next((p.name for p in parameters if p.star), None)
    for key, value in renamed.items():
        new = key if key == star else NUMPY_NAMES.get(key)
        if new not in local:
            raise TypeError(f"{name}() got an unexpected keyword argument '{key}'")
        translated[new] = value
    keywords = {k: v for k, v in local.items() if k != "renamed" and k not in translated}
    if star in translated:
        value = translated.pop(star)
        keywords[star] = (value,) if isinstance(value, int) else tuple(value)
    positional = keywords.pop(star, ()) if star else ()
    if positional:
        leading = [keywords.pop(p.name) for p in parameters[:[p.name for p in parameters].index(star)]]
        return function(*leading, *positional, **keywords, **translated)
    return function(**keywords, **translated)


def compile_function(op, source, name, doc, env):
    """Run generated source and return the function, dressed as a public one."""
    holder = [None]
    scope = {"OP": op, "RETRY": retry_with_pytorch_names, "FUNCTION": holder, "DTYPE": dtype,
             "AS_DTYPE": as_dtype, **env}
    exec(compile(source, f"<nbtorch op {name}>", "exec"), scope)
    function = holder[0] = scope[name]
    function.__module__, function.__doc__, function.op, function.signature = "nbtorch", doc, op, op.signature
    return function


def function_for(op, env, takes_out):
    """The public function of an op with a kernel."""
    s = op.signature
    tensors, attrs = _tuple([p.name for p in s.tensors]), _tuple([p.name for p in s.attrs])
    source = s.def_source(s.name, extra=("out=None",) if takes_out else ()) + _prologue(s, s.name)
    if takes_out:
        source += f"    if out is not None: return CALL_OUT(OP, {tensors}, {attrs}, out)\n"
    source += "    state_ = LOCAL.state\n"
    source += f"    if state_.layers or BUS.subscribers: return OBSERVED(OP, {tensors}, {attrs}, state_, RUN)\n"
    fast = {1: "RUN1", 2: "RUN2"}.get(len(s.tensors)) if op.simple and not op.has_list else None
    if op.view and not op.many and len(s.tensors) == 1 and op.n_out == 1:
        fast = "RUNVIEW"
    names = "".join(f"{p.name}, " for p in s.tensors) if fast else ""
    source += f"    return {fast or 'RUN'}(OP, {names}{tensors}, {attrs}, state_)\n"
    return compile_function(op, source, s.name, op.doc, env)


def inplace_for(op, env):
    """The method `name_` of an op with a kernel: the first tensor argument is written."""
    s = op.signature
    name = s.name.lstrip("_") + "_"
    source = s.def_source(name) + _prologue(s, name)
    source += f"    return CALL_INPLACE(OP, {_tuple([p.name for p in s.tensors])}, {_tuple([p.name for p in s.attrs])})\n"
    return compile_function(op, source, name, f"In-place version of :func:`{s.name}`.", env)


def composite_for(op, body, env, takes_out):
    """The public function of a composite: straight into its body unless layers or observers are on."""
    s = op.signature
    every = _tuple([p.name for p in s.parameters])
    source = s.def_source(s.name, extra=("out=None",) if takes_out else ()) + _prologue(s, s.name)
    if takes_out:
        source += f"    if out is not None: return STORE_OUT(OP, BODY({every[1:-1]}), out)\n"
    source += f"    if BUS.subscribers or LOCAL.state.layers: return CALL_COMPOSITE(OP, {every})\n"
    source += f"    return BODY({every[1:-1]})\n"
    return compile_function(op, source, s.name, op.doc, {**env, "BODY": body})


def composite_inplace_for(op, body, env):
    """The method `name_` of a composite: compute, then copy into the first argument."""
    s = op.signature
    name = s.name.lstrip("_") + "_"
    first = s.parameters[0].name
    every = ", ".join([f"OLD_VALUE({first})"] + [p.name for p in s.parameters[1:]])
    source = s.def_source(name) + _prologue(s, name)
    source += f"    return STORE_INPLACE(OP, {first}, BODY({every}))\n"
    return compile_function(op, source, name, f"In-place version of :func:`{s.name}`.", {**env, "BODY": body})
