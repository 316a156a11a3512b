"""What the bus carries: references only, nothing formatted. Times are `time.perf_counter_ns()`."""


class Record:
    """Base of all records; fields are the slots, in order. Each class gets a constructor of its own: a loop over the
    fields would be most of what a full observer costs."""

    __slots__ = ()

    def __init_subclass__(cls):
        fields = cls.__slots__
        lines = "".join(f"\n    self.{name} = {name}" for name in fields)
        scope = {}
        exec(f"def __init__(self, {', '.join(f'{name}=None' for name in fields)}):{lines}", scope)
        cls.__init__ = scope["__init__"]

    def __repr__(self):
        fields = ", ".join(f"{n}={getattr(self, n, None)!r}" for n in self.__slots__)
        return f"{type(self).__name__}({fields})"


class OpEnter(Record):
    """An op call begins. `parent` is the seq of the enclosing op call or None."""

    __slots__ = ("seq", "parent", "op", "args", "attrs", "thread", "t0", "phase")


class OpExit(Record):
    """The op call ended; `out` is the result (None on error)."""

    __slots__ = ("seq", "op", "out", "t0", "t1", "error", "phase")


class NodeMade(Record):
    """The autograd graph grew by `node`."""

    __slots__ = ("node", "op", "out")


class NodeRun(Record):
    """The engine ran `node`; `grads` are what it sent to its edges."""

    __slots__ = ("node", "grads", "t0", "t1")


class Backward(Record):
    """A backward pass over `roots` (tensors) begins (`when` = "enter") or ended ("exit")."""

    __slots__ = ("roots", "when")


class Alloc(Record):
    """A storage came to life."""

    __slots__ = ("storage_id", "nbytes", "device", "storage")


class Free(Record):
    """A storage died."""

    __slots__ = ("storage_id", "nbytes", "device")


class Tag(Record):
    """`storage` belongs to `category`: parameter, buffer, gradient, optimizer_state, input."""

    __slots__ = ("storage", "category")


class Cast(Record):
    """Autocast changed an argument of `op` from dtype `src` to `dst`."""

    __slots__ = ("op", "arg", "src", "dst", "cached", "nbytes")


class Scale(Record):
    """GradScaler moved its scale."""

    __slots__ = ("old", "new", "overflow")


class SpanEnter(Record):
    """A named stretch begins: kind is "module", "record_function" or "composite"."""

    __slots__ = ("kind", "name", "path", "t")


class SpanExit(Record):
    """The innermost open stretch of this kind and name ended."""

    __slots__ = ("kind", "name", "path", "t")


class Step(Record):
    """An optimizer finished a step."""

    __slots__ = ("optimizer",)
