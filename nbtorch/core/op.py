"""The op record: everything that is true of one op, said once. Functions, methods, in-place and out= forms,
autocast policy, FLOPs, docs and the test matrix are derived from the records in OPS."""
import inspect

from ..backend import registry
from .signature import Signature, composite_for, composite_inplace_for, function_for, inplace_for

OPS = {}                                          # name -> Op
ALIASES = {}                                      # alias -> function
ENV = {}                                          # what generated functions call; dispatch.py fills it


class Formula:
    """A derivative formula and where each of its parameters comes from."""

    __slots__ = ("function", "inputs", "names", "joint", "single", "input")

    def __init__(self, function, key, op):
        keys = key if isinstance(key, tuple) else (key,)
        tensor_names = [p.name for p in op.signature.tensors]
        unknown = [k for k in keys if k not in tensor_names]
        if unknown:
            raise TypeError(f"{op.name}: formula for unknown tensor argument {unknown[0]!r}")
        self.function, self.joint = function, isinstance(key, tuple)
        self.inputs = tuple(tensor_names.index(k) for k in keys)
        self.names = tuple(inspect.signature(function).parameters)
        self.input, self.single = self.inputs[0], not self.joint and not op.has_list   # the common case


class Op:
    """One record. See docs in op() for the fields."""

    def __init__(self, sig, kernel=None, *, rule=None, vjp=None, jvp=None, amp=None, flops=None, view=False,
                 many=False, inplace=False, out=None, aux=(), returns=None, nondiff=(), mutates=(), on=None,
                 check=None, normalize=None, deterministic=True, dtypes=None, doc=None, node=None, body=None, key=None):
        self.signature = Signature(sig)
        self.public, self.kernel, self.rule = self.signature.name, kernel, rule
        self.name = key or self.public            # two namespaces may use one public name for different ops
        self.amp, self.flops, self.view, self.many, self.jvp = amp, flops, view, many, jvp
        self.aux, self.nondiff, self.mutates = tuple(aux), tuple(nondiff), tuple(mutates)
        self.returns = tuple(returns.split()) if isinstance(returns, str) else returns
        self.on = (on if on is not None else "none" if self.name.startswith("_") else "torch method").split()
        self.inplace, self.check, self.normalize = inplace, check, normalize
        self.takes_out = "torch" in self.on or "linalg" in self.on if out is None else out
        self.out_rules = tuple(out.split()) if isinstance(out, str) else ()
        if view or many or mutates:
            self.takes_out = bool(out)
        self.deterministic, self.dtypes, self.body = deterministic, dtypes, body
        self.doc = doc or f"See https://docs.pytorch.org/docs/stable/generated/torch.{self.name}.html"
        self.node_name = (node or "".join(w[:1].upper() + w[1:] for w in self.name.strip("_").split("_"))) + "Backward0"
        self.tensor_names = tuple(p.name for p in self.signature.tensors)
        self.attr_names = tuple(p.name for p in self.signature.attrs)
        self.n_out = len(self.returns) - 1 if self.returns else 1
        self.simple = not (view or many or self.aux or self.mutates or self.n_out > 1)
        self.layout = tuple(range(len(self.tensor_names) + 1))
        self.has_list = any(p.kind == "list" for p in self.signature.tensors)
        self.formulas = tuple(Formula(f, key, self) for key, f in (vjp or {}).items())
        self.plans, self.recorders, self.node_class, self.result_type = {}, {}, None, None
        self.function = self.inplace_function = None

    def kernels_for(self, device):
        """The providers' kernels, in the order they are asked."""
        return registry.kernels_for(self.kernel, device)

    @property
    def differentiable(self):
        """Whether any derivative formula is declared."""
        return bool(self.formulas)

    def __repr__(self):
        return f"<op {self.signature.text}>"

    def __reduce__(self):
        return find, (self.name,)


def find(name):
    """The record of this name (pickling)."""
    return OPS[name]


def _register(record):
    if record.name in OPS:
        raise ValueError(f"op {record.name!r} is declared twice")
    OPS[record.name] = record


def op(sig, kernel, **fields):
    """Declare an op with a kernel and return its public function.

    sig: PyTorch's signature as text. kernel: the kernel's name in the backend.
    rule: dtype rule (casts of the tensor arguments). vjp: {argument or tuple of arguments: formula}; the names of a
    formula's parameters say what is saved for backward: g, gs, out, an argument, <argument>_shape or _strides, an attribute, an aux
    or result name. aux: hidden results of the kernel. returns: names of a named tuple result. many: the kernel returns
    a list. view: the result looks at the first argument's memory. mutates: arguments the kernel writes. amp, flops,
    jvp, deterministic, dtypes, nondiff, check, normalize, on, inplace, out, doc, node, key: see core/README.md.
    """
    record = Op(sig, kernel, **fields)
    _register(record)
    record.function = function_for(record, ENV, record.takes_out)
    if record.inplace:
        record.inplace_function = inplace_for(record, ENV)
    return record.function


def composite(sig, **fields):
    """Declare an op made of other ops: decorates `body(*all parameters in order)` and returns the public function."""
    def decorate(body):
        fields.setdefault("doc", body.__doc__)
        record = Op(sig, None, body=body, **fields)
        _register(record)
        record.function = composite_for(record, body, ENV, record.takes_out)
        if record.inplace:
            record.inplace_function = composite_inplace_for(record, body, ENV)
        return record.function
    return decorate


def alias(name, function):
    """Another public name for a function; it appears wherever the original does."""
    ALIASES[name] = function
    return function
