"""Where in a model a call is: spans for observers, and the module's name in error messages."""

import sys
import threading
from time import perf_counter_ns

from ...events.bus import bus, emit_node
from ...events.records import SpanEnter, SpanExit

_HAS_NOTES = sys.version_info >= (3, 11)


def child_name(parent, child):
    """The dotted name under which `parent` holds `child`, or None (a module kept outside ``_modules``)."""
    for name, module in parent._modules.items():
        if module is child:
            return name
    for name, module in parent.named_modules(remove_duplicate=False):
        if module is child:
            return name
    return None


class _Calls(threading.local):
    """The modules being called in this thread, outermost first, while somebody listens."""

    def __init__(self):
        self.stack = []  # (module, path)
        self.names = {}  # (id of parent, id of child) -> name, for the extent of the outermost call


_calls = _Calls()


def current_path():
    """Dotted path of the innermost module being called in this thread ("" outside; known only while observed)."""
    return _calls.stack[-1][1] if _calls.stack else ""


def _path_of(module):
    calls = _calls
    if not calls.stack:
        calls.names.clear()
        return ""
    parent, path = calls.stack[-1]
    key = (id(parent), id(module))
    if key not in calls.names:
        calls.names[key] = child_name(parent, module)
    name = calls.names[key]
    if not name:  # the module calls itself, or its parent does not register it
        return path if module is parent else f"{path}.{type(module).__name__}".lstrip(".")
    return f"{path}.{name}" if path else name


def spanned(module, call, args, kwargs):
    """``call(*args, **kwargs)`` between a SpanEnter and a SpanExit that name `module`."""
    path, kind = _path_of(module), type(module).__name__
    stack = _calls.stack
    stack.append((module, path))
    emit_node(SpanEnter("module", kind, path, perf_counter_ns()))
    try:
        return call(*args, **kwargs)
    finally:
        stack.pop()
        if bus.nodes:
            emit_node(SpanExit("module", kind, path, perf_counter_ns()))


def name_in_error(error, module):
    """Writes into `error` which module of which model it came from.

    Called by every module the exception passes, innermost first; each rewrites the one line, so no stack needs to be
    kept while calls succeed. The mark on the exception holds ids and text only and can be pickled.
    """
    mark = error.__dict__.get("_nbtorch_module")
    if mark is None:
        path, inner, line = "", _described(module), None
    else:
        seen, path, inner, line = mark
        if seen == id(module):
            return
        path = _extended(path, module, seen)
    told = f"in module {path} ({inner}) of {type(module).__name__}" if path else f"in module {inner}"
    _replace_line(error, line, told)
    error.__dict__["_nbtorch_module"] = (id(module), path, inner, told)


def _described(module):
    try:
        return f"{type(module).__name__}({module.extra_repr()})"
    except Exception:  # a user's extra_repr must not hide the error being reported
        return type(module).__name__


def _extended(path, parent, seen):
    for name, module in parent.named_modules(remove_duplicate=False):
        if id(module) == seen and name:
            return f"{name}.{path}" if path else name
    return path or "(unregistered)"


def _replace_line(error, old, new):
    if _HAS_NOTES:
        notes = error.__dict__.setdefault("__notes__", [])
        if old in notes:
            notes[notes.index(old)] = new
        else:
            notes.append(new)
        return
    # Python 3.10 has no notes; a KeyError's argument is the key, so only plain messages get the line.
    if len(error.args) == 1 and isinstance(error.args[0], str) and not isinstance(error, KeyError):
        text = error.args[0]
        if old is not None and text.endswith("\n" + old):
            text = text[: -len(old) - 1]
        error.args = (f"{text}\n{new}",)
