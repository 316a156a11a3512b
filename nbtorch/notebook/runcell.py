"""How a context-like cell magic runs its cell: the cell itself is wrapped, never run a second time from
inside.

A magic that runs its body through ``ip.run_cell`` swallows the body's failure, breaks top-level ``await`` and
shifts line numbers.  So two small transformers are installed instead.  The input transformer replaces each
leading ``%%name args`` line by one marker call on the same line (line numbers stay true); the AST transformer
takes the markers off and puts the rest of the cell into ``with <context of name>(args):``.  The marker
carries everything, so no state passes between the two and it does not matter how often a front end transforms
the same text.

The contexts themselves are registered by name by the magics (``register``).
"""

from __future__ import annotations

import ast
import re
import sys

MARKER = "__nbtorch_header__"
_HEADER = re.compile(r"^%%(?P<name>[A-Za-z_]\w*)(?P<rest>[^\n]*)$")
_RANKS = re.compile(r"^%%(?P<name>rank|on)\[(?P<spec>[^\]\n]*)\](?P<rest>[^\n]*)$")

contexts = {}
_values = []


def register(name, factory):
    """Make ``%%name`` wrap its cell in ``factory(argument_string)``, a context manager."""
    contexts[name] = factory


def context(name, args):
    """The context manager of one header line; called by the wrapped cell."""
    factory = contexts.get(name)
    if factory is None:
        from IPython.core.error import UsageError

        raise UsageError(f"Cell magic `%%{name}` not found: run %load_ext nbtorch again.")
    return factory(args)


def keep(value):
    """Hold the cell's last value while the context closes."""
    _values.append(value)
    return value


def take():
    """Give the held value to the display hook and forget it, so that showing a value keeps nothing alive."""
    return _values.pop() if _values else None


def show(value):
    """Display one expression's value, for the setting that displays all of them."""
    sys.displayhook(value)


# ---- source --------------------------------------------------------------------


def header(line):
    """(name, args) if the line is a header of one of our context magics, else None."""
    found = _HEADER.match(line.rstrip("\r\n"))
    if found is None:
        return None
    name, rest = found["name"], found["rest"].strip()
    if name == "nbtorch":
        name, _, rest = rest.partition(" ")
        rest = rest.strip()
    if name not in contexts or rest.endswith("?"):
        return None
    return name, rest


def transform_lines(lines):
    """Input transformer: turn leading headers of ours into marker calls; leave every other cell as it is."""
    if not lines or not lines[0].startswith("%%"):
        return lines
    ranks = _RANKS.match(lines[0].rstrip("\r\n"))
    if ranks is not None:
        return [
            f"%%{ranks['name']} {ranks['spec'].replace(' ', '') or 'all'} {ranks['rest'].strip()}\n",
            *lines[1:],
        ]
    out, at = [], 0
    while at < len(lines):
        found = header(lines[at])
        if found is not None:
            out.append(f"{MARKER}({found[0]!r}, {found[1]!r})\n")
        elif lines[at].strip() or not out:
            break
        else:
            out.append(lines[at])
        at += 1
    if at < len(lines) and lines[at].startswith("%%"):
        return lines  # a cell magic of somebody else stands below: the registered magic runs it
    return out + lines[at:] if out else lines


transform_lines.has_side_effects = True  # a terminal then waits for a blank line, as after any cell magic


# ---- tree --------------------------------------------------------------------


def _marker(node):
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        call = node.value
        if isinstance(call.func, ast.Name) and call.func.id == MARKER and len(call.args) == 2:
            return call.args[0].value, call.args[1].value
    return None


def _call(function, *args):
    """An expression calling a function of this module; it needs no name in the user's namespace."""
    source = f"__import__({__name__!r}, fromlist=['x']).{function}()"
    tree = ast.parse(source, mode="eval").body
    tree.args = list(args)
    return tree


def _placed(node, place):
    for child in ast.walk(node):
        ast.copy_location(child, place)
    return node


class Wrapper(ast.NodeTransformer):
    """AST transformer: put what follows our marker calls into their ``with`` statements."""

    def __init__(self, shell=None):
        self.shell = shell

    def visit(self, node):
        if isinstance(node, ast.Module):
            return wrap(node, getattr(self.shell, "ast_node_interactivity", "last_expr"))
        return node


def wrap(tree, interactivity="last_expr"):
    """The module with its marked body wrapped; the same module when it carries no marker."""
    headers = []
    while len(headers) < len(tree.body) and (found := _marker(tree.body[len(headers)])) is not None:
        headers.append((found, tree.body[len(headers)]))
    if not headers:
        return tree
    body = tree.body[len(headers) :]
    future = [node for node in body if isinstance(node, ast.ImportFrom) and node.module == "__future__"]
    body = [node for node in body if node not in future]
    tail = []
    if interactivity == "all":
        body = [_shown(node) for node in body]
    elif body and isinstance(body[-1], ast.Expr) and interactivity != "none":
        last = body[-1]
        body[-1] = ast.copy_location(ast.Expr(_kept(last.value, "keep")), last)
        tail = [_placed(ast.Expr(_call("take")), last)]
    if not body:
        body = [ast.copy_location(ast.Pass(), headers[-1][1])]
    for (name, args), place in reversed(headers):
        opened = _placed(_call("context", ast.Constant(name), ast.Constant(args)), place)
        statement = ast.With(items=[ast.withitem(context_expr=opened, optional_vars=None)], body=body)
        body = [ast.copy_location(statement, place)]
    tree.body = future + body + tail
    return tree


def _kept(value, function):
    call = _placed(_call(function), value)
    call.args = [value]  # the user's own expression keeps its own lines
    return call


def _shown(node):
    return (
        ast.copy_location(ast.Expr(_kept(node.value, "show")), node) if isinstance(node, ast.Expr) else node
    )


# ---- the plain way --------------------------------------------------------------------


def run_body(shell, body):
    """Run a cell body from inside a registered magic: foreign magic below ours, or ``run_cell_magic`` called
    by code.

    Failures reach the outer cell once.  Top-level ``await`` is not possible here; that is said plainly.
    """
    from IPython.core.error import UsageError

    lines = body.splitlines(keepends=True)
    while lines and not lines[0].strip():
        lines.pop(0)
    if lines and lines[0].startswith("%%") and header(lines[0]) is None:
        name, _, line = lines[0][2:].strip().partition(" ")
        return shell.run_cell_magic(name, line.strip(), "".join(lines[1:]))
    source = shell.transform_cell("".join(lines))
    if shell.should_run_async(body, transformed_cell=source, preprocessing_exc_tuple=None):
        raise UsageError(
            "top-level await does not work below another cell magic; make ours the first line of the cell."
        )
    name = shell.compile.cache(source, shell.execution_count, raw_code=body)
    tree = shell.transform_ast(shell.compile.ast_parse(source, filename=name))
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(shell.compile(tree, name, "exec"), shell.user_global_ns, shell.user_ns)
    if last is None:
        return None
    value = eval(compile(ast.Expression(last.value), name, "eval"), shell.user_global_ns, shell.user_ns)
    quiet = source.rstrip().endswith(";")
    return None if quiet else value


# ---- install --------------------------------------------------------------------


def install(shell):
    """Put both transformers into the shell; installing twice does nothing."""
    if transform_lines not in shell.input_transformers_cleanup:
        shell.input_transformers_cleanup.append(transform_lines)
    if not any(isinstance(each, Wrapper) for each in shell.ast_transformers):
        shell.ast_transformers.append(Wrapper(shell))


def uninstall(shell):
    """Take both transformers out again."""
    while transform_lines in shell.input_transformers_cleanup:
        shell.input_transformers_cleanup.remove(transform_lines)
    for each in [each for each in shell.ast_transformers if isinstance(each, Wrapper)]:
        shell.ast_transformers.remove(each)
    _values.clear()
