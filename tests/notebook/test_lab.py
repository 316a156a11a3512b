"""`make lab` says what is wrong and what to do about it."""
import socket

import pytest

from nbtorch.notebook import lab


@pytest.fixture
def taken():
    """A port that somebody listens on."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        s.listen()
        yield s.getsockname()[1]


@pytest.fixture
def launched(monkeypatch):
    """What JupyterLab was started with."""
    from jupyterlab.labapp import LabApp
    calls = []
    monkeypatch.setattr(LabApp, "launch_instance", classmethod(lambda cls, argv: calls.append(argv)))
    return calls


def test_a_port_in_use_gives_way_to_the_next(taken, capsys):
    chosen = lab.choose_port(taken)
    assert chosen != taken and lab.port_is_free(chosen)
    assert f"Port {taken} is in use" in (said := capsys.readouterr().out) and "make lab PORT=" in said


def test_no_port_at_all(taken):
    with pytest.raises(SystemExit, match="all in use.*make lab PORT="):
        lab.choose_port(taken, tries=1)


@pytest.mark.parametrize("port", [0, -1, 70000])
def test_a_port_that_cannot_be(port):
    with pytest.raises(SystemExit, match="1 to 65535"):
        lab.choose_port(port)


def test_a_notebook_that_is_not_there(launched):
    with pytest.raises(SystemExit, match="no notebook at nothing.ipynb.*NOTEBOOK="):
        lab.main(["nothing.ipynb"])
    assert not launched


def test_the_address_leads_to_the_notebook(launched, tmp_path):
    (tmp_path / "my notebook.ipynb").write_text("{}")
    lab.main([str(tmp_path / "my notebook.ipynb"), "--port", "9123"])
    assert f"--ServerApp.root_dir={tmp_path}" in launched[0]
    assert "--LabApp.default_url=/lab/tree/my%20notebook.ipynb" in launched[0]


def test_without_jupyterlab(monkeypatch):
    monkeypatch.setattr(lab.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SystemExit, match="make lab installs it"):
        lab.main([])


def test_without_the_panel_it_says_so_and_goes_on(monkeypatch, tmp_path, launched, capsys):
    monkeypatch.setattr("jupyter_core.paths.jupyter_path", lambda *parts: [str(tmp_path)])
    lab.main(["--port", "9123", "--no-browser", "--ServerApp.log_level=40"])
    assert "panel is not installed" in (said := capsys.readouterr().out) and "pip install" in said
    assert len(launched) == 1 and "--no-browser" in launched[0] and "--ServerApp.log_level=40" in launched[0]
    assert "--ip=127.0.0.1" in launched[0]


def test_with_the_panel_nothing_is_said(monkeypatch, tmp_path, launched, capsys):
    (tmp_path / "nbtorch").mkdir()
    (tmp_path / "nbtorch" / "package.json").write_text("{}")
    monkeypatch.setattr("jupyter_core.paths.jupyter_path", lambda *parts: [str(tmp_path)])
    lab.main(["--no-browser", "--port", "9123"])
    assert "panel" not in capsys.readouterr().out
