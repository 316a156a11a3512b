"""A pickle machine that knows only what weights need: containers, numbers, strings, and the globals it is
allowed.

It is not Python's unpickler with a filter: opcodes it does not list stop it, REDUCE calls only functions of
the allow-list, and BUILD sets state on allowed types alone. The same rules as PyTorch's `weights_only=True`.
"""
import collections
import struct
from pickle import UnpicklingError, decode_long

from ..core.tensor import Tensor
from .names import ALLOWED, public_name

BLOCKED = ("sys", "os", "posix", "nt", "subprocess", "builtins.eval", "builtins.exec")
MAX_STACK = 1 << 20                               # nesting a checkpoint may reach
_safe = {}                                        # "module.name" -> object allowed by the user


def add_safe_globals(things):
    """Allow checkpoints to name these classes and functions; (object, "module.name") gives it another name.

    https://docs.pytorch.org/docs/stable/notes/serialization.html#torch.serialization.add_safe_globals
    """
    _safe.update(_named(things))


def _named(things):
    return {(t[1] if isinstance(t, tuple) else public_name(t)): (t[0] if isinstance(t, tuple) else t) for t in things}


def get_safe_globals():
    """What add_safe_globals allowed."""
    return list(_safe.values())


def clear_safe_globals():
    """Forget what add_safe_globals allowed."""
    _safe.clear()


class safe_globals:
    """Context manager: allow these classes and functions inside.

    https://docs.pytorch.org/docs/stable/notes/serialization.html#torch.serialization.safe_globals
    """

    def __init__(self, things):
        self.things = things

    def __enter__(self):
        self.before = dict(_safe)
        add_safe_globals(self.things)

    def __exit__(self, *exc):
        _safe.clear()
        _safe.update(self.before)


def find_global(module, name):
    """The object behind a global. Raises UnpicklingError, naming it, unless it is allowed."""
    full = f"{module}.{name}"
    found = _safe.get(full, ALLOWED.get(full))
    if found is not None:
        return found
    if module.partition(".")[0] in BLOCKED or full in BLOCKED:
        raise UnpicklingError(f"Trying to load unsupported GLOBAL {full} whose module {module} is blocked.")
    if module in ("builtins", "__builtin__"):
        full = name
    raise UnpicklingError(f"Unsupported global: GLOBAL {full} was not an allowed global by default. Please "
                          f"use `torch.serialization.add_safe_globals([{full}])` or the "
                          f"`torch.serialization.safe_globals([{full}])` context manager to allowlist this "
                          "global if you trust this class/function.")


class _Mark:
    """What MARK leaves on the stack."""


MARK = _Mark()


class Machine:
    """Runs one pickle from a binary file. `persistent_load(pid)` gives storages. See load()."""

    def __init__(self, file, persistent_load=None, find=find_global):
        self.file, self.persistent_load, self.find = file, persistent_load, find
        self.stack, self.memo = [], {}

    def read(self, n):
        """Exactly n bytes."""
        data = self.file.read(n)
        if len(data) != n:
            raise UnpicklingError("pickle data was truncated")
        return data

    def line(self):
        """Text up to the end of the line."""
        data = self.file.readline(1 << 16)
        if not data.endswith(b"\n"):
            raise UnpicklingError("pickle data was truncated")
        return data[:-1].decode("utf-8")

    def number(self, form):
        """One packed number."""
        return struct.unpack(form, self.read(struct.calcsize(form)))[0]

    def marked(self):
        """What lies above the last mark."""
        stack = self.stack
        for at in range(len(stack) - 1, -1, -1):
            if stack[at] is MARK:
                items = stack[at + 1:]
                del stack[at:]
                return items
        raise UnpicklingError("unexpected MARK found")

    def load(self):
        """The object the pickle describes. Raises UnpicklingError for anything that is not allowed."""
        stack, opcodes = self.stack, OPCODES
        try:
            while True:
                code = self.read(1)[0]
                if code == 0x2e:                              # STOP
                    result = stack.pop()
                    if result is MARK:
                        raise UnpicklingError("malformed pickle: it ends in a mark")
                    return result
                handler = opcodes.get(code)
                if handler is None:
                    raise UnpicklingError(f"Unsupported operand {code}")
                handler(self)
                if len(stack) > MAX_STACK:
                    raise UnpicklingError("the pickle is nested too deeply")
        except (IndexError, KeyError, struct.error, UnicodeDecodeError, TypeError, AttributeError, OverflowError) as e:
            raise UnpicklingError(f"malformed pickle: {type(e).__name__}: {e}") from e

    def string(self, form):
        """A string with its length before it."""
        return self.read(self.number(form)).decode("utf-8", "surrogatepass")

    def sized(self, form):
        """Bytes with their length before them."""
        n = self.number(form)
        if n < 0 or n > 1 << 31:
            raise UnpicklingError("negative or absurd byte count in a pickle")
        return self.read(n)

    def top_tuple(self, n):
        """Replace the last n items by their tuple."""
        items = tuple(self.stack[-n:])
        if len(items) != n or MARK in items:
            raise UnpicklingError("malformed pickle: too few items for a tuple")
        self.stack[-n:] = [items]


def _global(m):
    module, name = m.line(), m.line()
    m.stack.append(m.find(module, name))


def _stack_global(m):
    name, module = m.stack.pop(), m.stack.pop()
    if type(name) is not str or type(module) is not str:
        raise UnpicklingError("STACK_GLOBAL requires str")
    m.stack.append(m.find(module, name))


_ALLOWED_IDS = {id(thing) for thing in ALLOWED.values() if thing is not Tensor}


def _callable(function):
    return id(function) in _ALLOWED_IDS or any(known is function for known in _safe.values())


def _reduce(m):
    args, function = m.stack.pop(), m.stack.pop()
    if not _callable(function):
        raise UnpicklingError(f"Trying to call reduce for unrecognized function {function}")
    if type(args) is not tuple:
        raise UnpicklingError("malformed pickle: REDUCE without a tuple of arguments")
    if function is bytearray and (len(args) > 1 or args and type(args[0]) is not bytes):
        raise UnpicklingError("bytearray() is allowed for bytes only")
    m.stack.append(function(*args))


def _new_object(m):
    args, kind = m.stack.pop(), m.stack.pop()
    if not isinstance(kind, type) or not (_callable(kind) or kind is Tensor):
        raise UnpicklingError(f"Trying to create new object for unrecognized class {kind}")
    m.stack.append(Tensor._make_subclass(kind, *args) if kind is Tensor else kind.__new__(kind, *args))


def _build(m):
    state, thing = m.stack.pop(), m.stack[-1]
    kind = type(thing)
    if kind is collections.OrderedDict:
        thing.__dict__.update(state)
    elif any(known is kind for known in _safe.values()):
        if hasattr(thing, "__setstate__"):
            thing.__setstate__(state)
        else:
            thing.__dict__.update(state)
    else:
        raise UnpicklingError("Can only build Tensor, Parameter, OrderedDict or types allowlisted via "
                              f"`add_safe_globals`, but got {kind}")


def _dict_items(m):
    items = m.marked()
    target = m.stack[-1]
    if not isinstance(target, dict) or len(items) % 2:
        raise UnpicklingError(f"Can only set items of a dict, got {type(target).__name__}")
    for key, value in zip(items[::2], items[1::2]):
        target[key] = value


def _set_item(m):
    value, key = m.stack.pop(), m.stack.pop()
    if not isinstance(m.stack[-1], dict):
        raise UnpicklingError(f"Can only set items of a dict, got {type(m.stack[-1]).__name__}")
    m.stack[-1][key] = value


def _append(m):
    item = m.stack.pop()
    if type(m.stack[-1]) is not list:
        raise UnpicklingError(f"Can only append to lists, but got {type(m.stack[-1])}")
    m.stack[-1].append(item)


def _appends(m):
    items = m.marked()
    if type(m.stack[-1]) is not list:
        raise UnpicklingError(f"Can only extend lists, but got {type(m.stack[-1])}")
    m.stack[-1].extend(items)


def _add_items(m):
    items = m.marked()
    if type(m.stack[-1]) is not set:
        raise UnpicklingError(f"Can only add to sets, but got {type(m.stack[-1])}")
    m.stack[-1].update(items)


def _persistent(m):
    pid = m.stack.pop()
    if m.persistent_load is None or type(pid) is not tuple:
        raise UnpicklingError("a persistent ID in a pickle that may have none")
    m.stack.append(m.persistent_load(pid))


def _protocol(m):
    if m.read(1)[0] > 5:
        raise UnpicklingError("unsupported pickle protocol")


def _push(make):
    return lambda m: m.stack.append(make(m))


def _get(form):
    return lambda m: m.stack.append(m.memo[m.number(form)])


def _put(form):
    def put(m):
        m.memo[m.number(form)] = m.stack[-1]
    return put


def _memoize(m):
    m.memo[len(m.memo)] = m.stack[-1]


def _long(form):
    return _push(lambda m: decode_long(m.sized(form)))


OPCODES = {
    0x80: _protocol, ord("c"): _global, 0x93: _stack_global, ord("R"): _reduce, 0x81: _new_object, ord("b"): _build,
    ord("("): _push(lambda m: MARK), ord("Q"): _persistent, ord("0"): lambda m: m.stack.pop() and None,
    ord("N"): _push(lambda m: None), 0x88: _push(lambda m: True), 0x89: _push(lambda m: False),
    ord("}"): _push(lambda m: {}), ord("]"): _push(lambda m: []), ord(")"): _push(lambda m: ()),
    0x8f: _push(lambda m: set()), 0x90: _add_items, 0x91: _push(lambda m: frozenset(m.marked())),
    ord("t"): _push(lambda m: tuple(m.marked())), 0x85: lambda m: m.top_tuple(1), 0x86: lambda m: m.top_tuple(2),
    0x87: lambda m: m.top_tuple(3), ord("s"): _set_item, ord("u"): _dict_items, ord("a"): _append, ord("e"): _appends,
    ord("J"): _push(lambda m: m.number("<i")), ord("K"): _push(lambda m: m.number("<B")),
    ord("M"): _push(lambda m: m.number("<H")), 0x8a: _long("<B"), 0x8b: _long("<i"),
    ord("G"): _push(lambda m: m.number(">d")), ord("X"): _push(lambda m: m.string("<I")),
    0x8c: _push(lambda m: m.string("<B")), 0x8d: _push(lambda m: m.string("<Q")),
    ord("U"): _push(lambda m: m.sized("<B").decode("latin1")),
    ord("T"): _push(lambda m: m.sized("<i").decode("latin1")),
    ord("C"): _push(lambda m: m.sized("<B")), ord("B"): _push(lambda m: m.sized("<I")),
    0x8e: _push(lambda m: m.sized("<Q")), 0x96: _push(lambda m: bytearray(m.sized("<Q"))),
    ord("h"): _get("<B"), ord("j"): _get("<I"), ord("q"): _put("<B"), ord("r"): _put("<I"), 0x94: _memoize,
    0x95: lambda m: m.read(8) and None,
}


def globals_in(file):
    """Names of all globals of the pickle in a binary file, without running it."""
    import pickletools
    names, strings = set(), []
    for opcode, arg, _ in pickletools.genops(file):
        if opcode.name == "GLOBAL":
            names.add(arg.replace(" ", ".", 1))
        elif opcode.name == "STACK_GLOBAL" and len(strings) > 1:
            names.add(".".join(strings[-2:]))
        if isinstance(arg, str) and opcode.name.endswith("UNICODE"):
            strings.append(arg)
    return names


def unsafe_globals(names):
    """Those of the names that a load would refuse."""
    return sorted(n for n in names if n not in ALLOWED and n not in _safe)

