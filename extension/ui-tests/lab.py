"""A private JupyterLab server and a browser on it, for tests of the panel."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

ROOT = Path(__file__).parents[2]
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
]
RUN_CELL = """async index => {
  window.jupyterapp.shell.currentWidget.content.activeCellIndex = index;
  await window.jupyterapp.commands.execute('notebook:run-cell');
  const outputs = window.jupyterapp.shell.currentWidget.content.widgets[index].model.outputs.toJSON();
  return outputs.filter(each => each.output_type === 'error').map(each => each.traceback.join('\\n')).join('\\n');
}"""
IDLE = "() => window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel?.status === 'idle'"


def chromium():
    """Path of a Chromium, or None."""
    names = ["chromium", "chromium-browser", "google-chrome"]
    return os.environ.get("NBTORCH_CHROMIUM") or next(filter(None, map(shutil.which, names)), None)


def notebook(cells):
    """A notebook of code cells, as JSON."""
    made = [
        {
            "cell_type": "code",
            "id": f"cell-{n}",
            "metadata": {},
            "execution_count": None,
            "outputs": [],
            "source": text,
        }
        for n, text in enumerate(cells)
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return json.dumps({"cells": made, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5})


class Lab:
    """JupyterLab in a folder of its own, which sees this checkout and its built panel."""

    def __init__(self, folder):
        self.folder, self.work = folder, folder / "work"
        for name in ("home", "config", "data/labextensions/nbtorch", "runtime", "work"):
            (folder / name).mkdir(parents=True)
        shutil.copytree(
            ROOT / "nbtorch" / "labextension", folder / "data/labextensions/nbtorch", dirs_exist_ok=True
        )
        news = folder / "settings" / "@jupyterlab" / "apputils-extension"
        news.mkdir(parents=True)  # the news pop-up would cover the corner
        (news / "notification.jupyterlab-settings").write_text(
            '{"fetchNews": "false", "checkForUpdates": false}'
        )
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.token = secrets.token_hex(16)
        self.log = (folder / "log").open("wb")
        self.process = subprocess.Popen(
            self._command(), cwd=self.work, env=self._environment(), stdout=self.log, stderr=self.log
        )
        self._wait()

    def _command(self):
        return [
            sys.executable, "-m", "jupyterlab", "--no-browser", "--ip=127.0.0.1", f"--port={self.port}",
            f"--IdentityProvider.token={self.token}", "--allow-root", "--expose-app-in-browser",
        ]  # fmt: skip

    def _environment(self):
        own = {
            "HOME": "home",
            "JUPYTER_CONFIG_DIR": "config",
            "JUPYTER_DATA_DIR": "data",
            "JUPYTER_RUNTIME_DIR": "runtime",
            "JUPYTERLAB_SETTINGS_DIR": "settings",
        }
        paths = {name: str(self.folder / path) for name, path in own.items()}
        return {**os.environ, **paths, "PYTHONPATH": str(ROOT)}

    def _wait(self):
        until = time.monotonic() + 60
        while time.monotonic() < until:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api?token={self.token}"):
                    return
            except (urllib.error.URLError, ConnectionError):
                time.sleep(0.3)
        raise TimeoutError((self.folder / "log").read_text())

    def open(self, context, name, cells):
        """A page on a new notebook whose kernel is idle; `page.faults` collects what went wrong in it."""
        (self.work / name).write_text(notebook(cells))
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.faults = []
        page.on("pageerror", lambda error: page.faults.append(str(error)))
        page.on("console", lambda message: message.type == "error" and page.faults.append(message.text))
        page.goto(f"http://127.0.0.1:{self.port}/lab/tree/{name}?reset&token={self.token}")
        page.wait_for_function(IDLE)
        return page

    def stop(self):
        """Ends the server and its kernels."""
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(5)
        self.log.close()
