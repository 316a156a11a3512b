"""The magics through a shell: reports, places, failures, and that nothing is left behind."""

import gc
import weakref

import pytest

from nbtorch.events.bus import bus
from nbtorch.notebook import extension, reports, runcell

EVIL = "<img src=x onerror=alert(1)>"


@pytest.fixture
def nb(shell):
    """A shell with the extension loaded and nbtorch imported."""
    shell.run_line_magic("load_ext", "nbtorch")
    run(shell, "import nbtorch as torch")
    run(
        shell,
        "x = torch.tensor([[1., 2.], [3., 4.]], requires_grad=True)\ny = torch.tensor([1., 2.], requires_grad=True)",
    )
    return shell


def run(shell, text):
    return shell.run_cell(text, store_history=True)


def told(capsys):
    captured = capsys.readouterr()
    return captured.out + captured.err


def good(shell, text):
    result = run(shell, text)
    assert result.success, result.error_in_exec or result.error_before_exec
    return result.result


def test_loading_twice_and_unloading_leaves_no_hook(shell):
    before = (
        set(shell.magics_manager.magics["line"]),
        set(shell.magics_manager.magics["cell"]),
        list(shell.input_transformers_cleanup),
        list(shell.ast_transformers),
        bus.nodes,
        {name: list(calls) for name, calls in shell.events.callbacks.items()},
    )
    shell.run_line_magic("load_ext", "nbtorch")
    extension.load(shell)
    assert len(bus.nodes) == len(before[4]) + 1
    assert sum(isinstance(t, runcell.Wrapper) for t in shell.ast_transformers) == 1
    shell.run_line_magic("unload_ext", "nbtorch")
    after = (
        set(shell.magics_manager.magics["line"]),
        set(shell.magics_manager.magics["cell"]),
        list(shell.input_transformers_cleanup),
        list(shell.ast_transformers),
        bus.nodes,
        {name: list(calls) for name, calls in shell.events.callbacks.items()},
    )
    assert before == after


def test_rank_of_somebody_else_is_left_alone(shell):
    shell.register_magic_function(lambda line, cell: "theirs", "cell", "rank")
    shell.run_line_magic("load_ext", "nbtorch")
    assert shell.run_cell_magic("rank", "0", "x") == "theirs"
    assert "on" in shell.magics_manager.magics["cell"]
    shell.run_line_magic("unload_ext", "nbtorch")
    assert shell.run_cell_magic("rank", "0", "x") == "theirs"


def test_graph_of_a_tensor_names_cells_and_lines(nb, capsys):
    good(nb, "def f(a):\n    return a.exp()\n")
    good(nb, "z = f(x * y)\nloss = z * 2")
    run_number = nb.execution_count - 1
    good(nb, "%graph --text -o g loss")
    report = nb.user_ns["g"]
    assert isinstance(report, reports.GraphReport)
    places = {row[0]: row[4] for row in report.rows}
    assert places["Exp"] == f"In[{run_number - 1}]:2"  # the line of the function, in the cell that defined it
    assert f"In[{run_number}]:" in report.text()
    assert {row[2] for row in report.rows if row[1] == "input"} == {"x", "y"}
    assert "loss" in capsys.readouterr().out


def test_rerun_of_an_equal_cell_gets_its_own_number(nb):
    for _ in range(2):
        good(nb, "z = x * y")
    good(nb, "%graph -q -o g z")
    assert nb.user_ns["g"].rows[0][4] == f"In[{nb.execution_count - 2}]:1"


@pytest.mark.parametrize(
    "expression, words", [("12", "is a int"), ("torch.tensor([1.])", "no history"), ("", "needs a tensor")]
)
def test_graph_says_what_it_cannot_show(nb, capsys, expression, words):
    run(nb, f"%graph {expression}")
    assert words in told(capsys)


def test_graph_cell_shows_the_step_it_made(nb):
    good(nb, "%%graph -q -o g\nfor _ in range(3):\n    (x * y).exp().sum().backward()")
    report = nb.user_ns["g"]
    assert {row[0] for row in report.rows} >= {"Exp", "Mul"}
    good(nb, "%%graph -q -o g\nq = x * x\nr = x * y")
    assert sum(row[1] == "loss" for row in nb.user_ns["g"].rows) == 2


def test_graph_cell_of_backward_has_gradient_norms(nb):
    good(nb, "%%graph -q -o g\n(x * y).backward(torch.tensor([[1., 1.], [1., 1.]]))")
    box = {box.name: box for box in nb.user_ns["g"].graph.boxes if box.name}
    assert box["y"].value_name == "grad norm"
    assert box["y"].value == pytest.approx((4.0**2 + 6.0**2) ** 0.5)
    mul = nb.user_ns["g"].graph.boxes[0]
    assert mul.freed and mul.backward_ms is not None and mul.forward_ms is not None


def test_memory_cell_reports_peak_delta_and_what_is_left(nb, capsys):
    good(nb, "big = torch.tensor([0.] * 1000)\n")
    good(nb, "%%memory --text -o m\nkept = big * 2\ngone = big * 3\ndel gone")
    report = nb.user_ns["m"]
    assert report.delta == 4000 and report.alive == 1
    assert report.peak_by["other"] >= report.by["other"] + 4000
    row = report.rows[0]
    assert row[:4] == ("kept", "1000", "float32", "3.9 KiB") and row[5] == f"In[{nb.execution_count - 1}]:2"
    assert "3.9 KiB" in capsys.readouterr().out


def test_memory_line_tells_categories(nb, capsys):
    good(nb, "z = (x * y).exp()")
    good(nb, "%memory --text -o m")
    by = nb.user_ns["m"].by
    assert by["parameter"] >= 24 and by["activation"] == 16
    assert "RSS" in capsys.readouterr().out


def test_profile_cell_lists_top_level_ops(nb, capsys):
    good(nb, "%%profile --text -m --stack 1 -o p\nfor _ in range(4):\n    (x * y).exp()")
    report = nb.user_ns["p"]
    calls = {row["op"]: row["calls"] for row in report.data}
    assert calls == {"aten::mul": 4, "aten::exp": 4}
    assert any("In[" in row["place"] for row in report.data)
    assert "Self CPU time total" in report.table() and "aten::mul" in capsys.readouterr().out
    assert good(nb, "%profile -q x * y") is not None


def test_autocast_cell_turns_it_on_and_off_again(nb):
    good(
        nb,
        "%%autocast -q -t bf16 -o a\ninside = torch.is_autocast_enabled('cpu')\nz = (x * y).exp()"
        if hasattr(nb.user_ns["torch"], "is_autocast_enabled")
        else "%%autocast -q -o a\nz = (x * y).exp()",
    )
    from nbtorch.amp import policy

    assert not policy.is_autocast_enabled("cpu")
    assert nb.user_ns["a"].title == "autocast on cpu, bfloat16"
    assert nb.user_ns.get("inside", True)


def test_a_failing_cell_leaves_no_observer_and_no_autocast(nb):
    subscribers = bus.subscribers
    for header in ("%%autocast -q", "%%profile -q", "%%memory -q", "%%graph -q"):
        result = run(nb, header + "\nx * y\n1 / 0")
        assert isinstance(result.error_in_exec, ZeroDivisionError)
        assert bus.subscribers == subscribers
    from nbtorch.amp import policy

    assert not policy.is_autocast_enabled("cpu")


def test_all_headers_stack(nb):
    assert good(nb, "%%autocast -q\n%%profile -q\n%%memory -q\n%%graph -q\nw = x * y\n41 + 1") == 42


def test_reports_keep_no_tensor(nb):
    good(nb, "%%memory -q -o m\n%%profile -q -o p\n%%graph -q -o g\nt = (x * y).exp()")
    reference = weakref.ref(nb.user_ns["t"]._s)
    nb.user_ns.pop("t")
    nb.user_ns_hidden.pop("t", None)
    gc.collect()
    assert reference() is None


def test_umbrella_and_help(nb, capsys):
    good(nb, "%nbtorch status")
    assert "panel closed" in capsys.readouterr().out
    good(nb, "%%nbtorch profile -q -o p2\nx * y")
    assert nb.user_ns["p2"].data
    good(nb, "%nbtorch off")
    good(nb, "z = x * y")
    assert "place" not in nb.user_ns["z"].grad_fn.metadata
    good(nb, "%nbtorch on")
    run(nb, "%nbtorch nothing")
    assert "no magic 'nothing'" in told(capsys)
    assert "--flops" in nb.find_cell_magic("profile").__doc__


def test_without_engines_the_error_says_what_to_do(nb, capsys):
    for text in ("%%rank 0\n1", "%%on all\n1", "%cluster status", "%%rank[0,1]\n1"):
        result = run(nb, text)
        assert not result.success
        assert "%cluster start" in told(capsys)


def test_bad_arguments_fail_the_cell_before_its_body(nb):
    result = run(nb, "%%autocast -t float99 -q\nran = 1")
    assert not result.success and "ran" not in nb.user_ns
    assert not run(nb, "%%profile --nonsense\nran = 1").success and "ran" not in nb.user_ns


def test_names_are_escaped_in_html(nb):
    nb.user_ns[EVIL] = nb.user_ns["x"]
    good(nb, "%%memory -q -o m\nk = x * y")
    good(nb, "z = x * y\n%graph -q -o g z")
    for report in (nb.user_ns["m"], nb.user_ns["g"]):
        for mime, text in report._repr_mimebundle_().items():
            if mime in ("text/html", "image/svg+xml"):
                assert "<img" not in text and "<script" not in text


@pytest.mark.parametrize(
    "line, value",
    [
        ("'a  b'", "a  b"),
        ("max(1, -1)", 1),
        ("-3 + 1", -2),
        ("--limit 5 {1, 2} | set()", {1, 2}),
        ("-l5 sum([2, 3]) --sort=calls -m", 5),
        ("4 - 1", 3),
        ("max([1, 2], key=lambda s: -s)", 1),
    ],
)
def test_a_profiled_statement_is_run_as_written(nb, line, value):
    assert good(nb, f"%profile --text {line}") == value


def test_the_expression_of_graph_is_taken_as_written(nb, capsys):
    good(nb, "named = {'a  b': x * 2}\n%graph --text torch.sum(named['a  b'], -1)")
    assert "graph of torch.sum(named['a  b'], -1): 3 nodes" in told(capsys)
    good(nb, "%graph -(x * 2) --text")
    assert "graph of -(x * 2): 3 nodes" in told(capsys)
    good(nb, "%graph (x * 2).sum() --text -o kept")
    assert "graph of (x * 2).sum(): 3 nodes" in told(capsys) and nb.user_ns["kept"].graph.total == 3
    assert not run(nb, "%graph --nonsense x").success


def test_in_place_ops_have_their_line_too(nb, capsys):
    good(nb, "%%graph --text\nz = x * 2\nz.add_(1)\nz[0] = 5\nloss = z.relu_().sum()")
    lines = told(capsys).splitlines()
    for op, line in {"Add": 3, "torch::autograd::CopySlices": 4, "Relu": 5}.items():
        (found,) = [each for each in lines if each.split()[0] == op]
        assert f":{line}" in found, found


def test_a_module_that_cannot_tell_its_parameters_disturbs_nothing(nb, capsys):
    good(nb, "class Broken(torch.nn.Module):\n    def __init__(self):\n        self.size = 3\nbroken = Broken()")
    good(nb, "%graph --text (x * 2).sum()")
    assert "  x  2x2" in told(capsys)
    good(nb, "%memory --text")
    assert "x " in told(capsys)


def test_an_interrupt_that_falls_into_a_tensors_death_is_not_lost(nb):
    import time

    from nbtorch.events import records as R
    from nbtorch.events.bus import subscribe

    pressed = []

    def press(record):
        if type(record) is R.Free and not pressed:
            pressed.append(1)
            raise KeyboardInterrupt

    with subscribe(press), pytest.raises(KeyboardInterrupt):
        nb.user_ns["torch"].ones(3)
        end = time.monotonic() + 5
        while time.monotonic() < end:
            time.sleep(0.01)
    assert pressed
