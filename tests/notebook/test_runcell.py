"""Cells under our magics behave exactly as without them: one failure, true lines, await, values shown once."""

import contextlib
import traceback
import weakref

import pytest

from nbtorch.notebook import runcell


@pytest.fixture
def cell(shell):
    """A shell with two context magics, and the list of what entered and left."""
    log = []

    def factory(name):
        @contextlib.contextmanager
        def enter(args):
            log.append(("in", name, args))
            try:
                yield
            finally:
                log.append(("out", name))

        return enter

    before = dict(runcell.contexts)
    for name in ("demo", "other"):
        runcell.register(name, factory(name))
    runcell.install(shell)
    shell.seen = log
    yield shell
    runcell.uninstall(shell)
    runcell.contexts.clear()
    runcell.contexts.update(before)


def run(shell, text):
    return shell.run_cell(text, store_history=True)


def test_the_body_runs_inside_and_its_last_value_is_the_cells_value(cell):
    result = run(cell, "%%demo -a 3\nx = 4\nx + 1")
    assert result.success and result.result == 5
    assert cell.seen == [("in", "demo", "-a 3"), ("out", "demo")]
    assert cell.user_ns["x"] == 4


def test_headers_stack_and_nest(cell):
    assert run(cell, "%%demo\n%%other z\n1").result == 1
    assert cell.seen == [("in", "demo", ""), ("in", "other", "z"), ("out", "other"), ("out", "demo")]


def test_the_umbrella_magic_wraps_too(cell):
    assert run(cell, "%%nbtorch demo -a\n7").result == 7
    assert cell.seen[0] == ("in", "demo", "-a")


def test_a_failing_cell_fails_once_with_its_true_line(cell, capsys):
    result = run(cell, "%%demo\n%%other\na = 1\n1 / 0\nb = 2")
    assert isinstance(result.error_in_exec, ZeroDivisionError)
    assert capsys.readouterr().out.count("ZeroDivisionError") <= 2  # IPython's head line and last line
    frames = traceback.extract_tb(result.error_in_exec.__traceback__)
    assert frames[-1].lineno == 4
    assert cell.seen[-2:] == [("out", "other"), ("out", "demo")]
    assert "b" not in cell.user_ns


def test_await_works_at_the_top(cell):
    assert run(cell, "%%demo\nimport asyncio\nawait asyncio.sleep(0)\n11").result == 11


def test_semicolon_hides_the_value_and_magic_lines_stay(cell, capsys):
    run(cell, "%%demo\n5;")
    assert "5" not in capsys.readouterr().out
    result = run(
        cell, "%%demo\nlines = !echo hi\ntext = '''a\n%%other\nb'''\n%time y = 3\n(lines[0], text, y)"
    )
    assert result.result == ("hi", "a\n%%other\nb", 3)


def test_showing_a_value_keeps_nothing_alive(cell):
    run(cell, "class Thing:\n    pass")
    cell.user_ns["ref"] = weakref.ref
    result = run(cell, "%%demo\nthing = Thing()\nr = ref(thing)\n[thing]")
    assert result.success
    assert runcell._values == []
    assert not [name for name in cell.user_ns if "nbtorch" in name]


def test_future_imports_and_definitions(cell):
    assert run(cell, "%%demo\nfrom __future__ import annotations\ndef f(x: Nope): return x\nf(3)").result == 3
    assert run(cell, "f(4)").result == 4


def test_a_foreign_cell_magic_below_runs_through_the_registered_magic(cell):
    lines = ["%%demo\n", "%%time\n", "1\n"]
    assert runcell.transform_lines(lines) == lines
    runcell.run_body(cell, "%%capture held\nprint('hello')")
    assert cell.user_ns["held"].stdout == "hello\n"


def test_the_plain_way_gives_value_and_failure(cell):
    assert runcell.run_body(cell, "k = 2\nk * 5") == 10
    assert runcell.run_body(cell, "k;") is None
    with pytest.raises(ZeroDivisionError):
        runcell.run_body(cell, "1/0")
    with pytest.raises(Exception, match="await"):
        runcell.run_body(cell, "import asyncio\nawait asyncio.sleep(0)")


def test_other_cells_and_help_are_left_alone():
    for lines in (["x = 1\n"], ["%%nobody here\n", "x\n"], [], ["print('%%demo')\n"]):
        assert runcell.transform_lines(lines) == lines
    assert runcell.transform_lines(["%%rank[0, 1]\n", "x\n"]) == ["%%rank 0,1 \n", "x\n"]


def test_all_interactivity_shows_each_expression(cell, capsys):
    cell.ast_node_interactivity = "all"
    run(cell, "%%demo\n1\n2")
    out = capsys.readouterr().out
    assert "1" in out and "2" in out


def test_help_line_is_not_wrapped(cell):
    assert runcell.transform_lines(["%%demo?\n"]) == ["%%demo?\n"]
