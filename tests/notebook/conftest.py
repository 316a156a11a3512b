"""A shell of its own for each test, and kernels that are gone afterwards."""

import atexit

import pytest


@pytest.fixture
def shell(monkeypatch, tmp_path):
    """A fresh InteractiveShell without history on disk."""
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    InteractiveShell.clear_instance()
    config = Config()
    config.HistoryManager.enabled = False
    ip = InteractiveShell.instance(config=config)
    yield ip
    if "nbtorch" in ip.extension_manager.loaded:
        ip.extension_manager.unload_extension("nbtorch")
    ip.atexit_operations()
    atexit.unregister(ip.atexit_operations)
    InteractiveShell.clear_instance()
