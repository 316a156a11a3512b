"""JupyterLab in a real browser: a server with private folders, Chromium, and a page that runs cells by command.

Cells are waited for by the command's own promise: the kernel's status says "idle" between a busy cell's comm messages.
"""
import contextlib
import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FLAGS = ["--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-sync",
         "--disable-component-update", "--disable-dev-shm-usage"]
QUIET = {"@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False}}
# Notes when and what the page draws on canvases, so that tests see the numbers that a reader sees.
INIT = """
window.__drawn = [];
const draw = CanvasRenderingContext2D.prototype.fillText;
CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
  if (window.__recording) window.__drawn.push([Date.now() / 1000, text]);
  return draw.call(this, text, ...rest);
};
"""


def chromium():
    """Path of a Chromium or Chrome on this machine, or None."""
    for name in ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"):
        if path := shutil.which(name):
            return path
    return None


def free_port():
    """A port of the loopback interface that is free now."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def environment(folder):
    """Private Jupyter folders below `folder`, the panel of this working tree, and no news pop-up."""
    settings = folder / "settings"
    for name, values in QUIET.items():
        package, _, plugin = name.partition(":")
        path = settings / package / f"{plugin}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values), encoding="utf-8")
    panel = folder / "share" / "labextensions" / "nbtorch"
    panel.parent.mkdir(parents=True)
    shutil.copytree(ROOT / "nbtorch" / "labextension", panel)
    env = {**os.environ, "HOME": str(folder / "home"), "JUPYTER_PATH": str(folder / "share"),
           "JUPYTERLAB_SETTINGS_DIR": str(settings), "JUPYTERLAB_WORKSPACES_DIR": str(folder / "workspaces"),
           "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))}
    for name in ("config", "data", "runtime"):
        env[f"JUPYTER_{name.upper()}_DIR"] = str(folder / name)
    env.pop("JUPYTER_TOKEN", None)
    for name in ("home", "config", "data", "runtime"):
        (folder / name).mkdir()
    return env


@contextlib.contextmanager
def server(folder, notebooks):
    """A JupyterLab that serves the folder `notebooks`; gives its address and token. Everything is gone afterwards."""
    port, token = free_port(), secrets.token_hex(16)
    log = folder / "server.log"
    with log.open("wb") as into:
        process = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", "--no-browser", "--ip=127.0.0.1", f"--port={port}", "--allow-root",
             f"--IdentityProvider.token={token}", "--expose-app-in-browser", f"--ServerApp.root_dir={notebooks}"],
            env=environment(folder), stdout=into, stderr=subprocess.STDOUT, cwd=folder)
    try:
        _wait_until_up(process, f"http://127.0.0.1:{port}/api?token={token}", log)
        yield f"http://127.0.0.1:{port}", token
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_until_up(process, url, log, seconds=120):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if process.poll() is None:
            with contextlib.suppress(OSError), urllib.request.urlopen(url, timeout=5):
                return
            time.sleep(0.3)
            continue
        break
    raise RuntimeError("JupyterLab did not start:\n" + log.read_text(encoding="utf-8")[-4000:])


@contextlib.contextmanager
def browser(folder, size=(1500, 950)):
    """A page in a new Chromium with its own profile; `page.errors` collects uncaught errors."""
    from playwright.sync_api import sync_playwright
    with sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            str(folder / "profile"), executable_path=chromium(), headless=True, chromium_sandbox=False, args=FLAGS,
            viewport={"width": size[0], "height": size[1]})
        try:
            page = context.pages[0]
            page.set_default_timeout(60_000)
            page.add_init_script(INIT)
            yield page
        finally:
            context.close()


class Lab:
    """A page of JupyterLab with one notebook open."""

    def __init__(self, page, url, token):
        self.page, self.url, self.token, self.errors = page, url, token, []
        page.on("pageerror", lambda error: self.errors.append(str(error)))

    def open(self, notebook):
        """Open a notebook and wait until its kernel is there."""
        self.page.goto(f"{self.url}/lab/tree/{notebook}?token={self.token}", wait_until="domcontentloaded")
        self.page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=120_000)
        self.page.wait_for_function(
            "() => window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel?.status === 'idle'",
            timeout=120_000)

    def command(self, name, **arguments):
        """Run a command of JupyterLab to its end."""
        return self.page.evaluate("([name, args]) => window.jupyterapp.commands.execute(name, args).then(() => null)",
                                  [name, arguments])

    def cells(self):
        """[(type, source)] of the open notebook."""
        return self.page.evaluate("""() => window.jupyterapp.shell.currentWidget.content.widgets.map(
            cell => [cell.model.type, cell.model.sharedModel.getSource()])""")

    def start(self, index):
        """Start a cell, and return at once; `finish` waits for it."""
        self.page.evaluate("""index => {
            const notebook = window.jupyterapp.shell.currentWidget.content;
            notebook.activeCellIndex = index;
            notebook.deselectAll();
            window.__cell = window.jupyterapp.commands.execute('notebook:run-cell').then(() => 'done', String);
        }""", index)

    def running(self):
        """Whether the started cell still runs."""
        return self.page.evaluate("() => Promise.race([window.__cell.then(() => false), Promise.resolve(true)])")

    def finish(self, index):
        """Wait for the started cell; returns its outputs. AssertionError when it failed."""
        self.page.evaluate("() => window.__cell")
        outputs = self.page.evaluate("""index => {
            const cell = window.jupyterapp.shell.currentWidget.content.widgets[index];
            return cell.model.sharedModel.toJSON().outputs ?? [];
        }""", index)
        failed = [f"{o['ename']}: {o['evalue']}" for o in outputs if o["output_type"] == "error"]
        assert not failed, f"cell {index} failed: {failed[0]}"
        return outputs

    def run(self, index):
        """Run a cell to its end; its outputs."""
        self.start(index)
        return self.finish(index)

    def add(self, source):
        """A new code cell at the end; its index."""
        return self.page.evaluate("""async source => {
            const { commands, shell } = window.jupyterapp;
            const notebook = shell.currentWidget.content;
            notebook.activeCellIndex = notebook.widgets.length - 1;
            await commands.execute('notebook:insert-cell-below');
            notebook.activeCell.model.sharedModel.setSource(source);
            return notebook.activeCellIndex;
        }""", source)

    # ---- the panel -----------------------------------------------------------------

    def panel(self, name):
        """A fact the panel tells about itself: Link, Step, Nodes, Samples."""
        return self.page.get_attribute("#nbtorch-panel", f"data-nbtorch-{name}")

    def click_box(self, path):
        """Click a closed module's box on the canvas: the pointer goes down the middle until the box says its name."""
        canvas = self.page.locator("#nbtorch-panel canvas.nbt-canvas")
        edge = canvas.bounding_box()
        for y in range(10, int(edge["height"]) - 10, 12):
            self.page.mouse.move(edge["x"] + edge["width"] / 2, edge["y"] + y)
            if (canvas.get_attribute("title") or "").startswith(f"{path}:"):
                self.page.mouse.click(edge["x"] + edge["width"] / 2, edge["y"] + y + 4)
                return
        raise AssertionError(f"no box {path} is drawn")

    def record(self, on=True):
        """Start or stop noting what is drawn; stopping returns [(time, text)]."""
        return self.page.evaluate("""on => {
            const drawn = window.__drawn;
            window.__drawn = [];
            window.__recording = on;
            return drawn;
        }""", on)


def text_of(outputs):
    """All that a cell printed."""
    return "".join(o["text"] if isinstance(o["text"], str) else "".join(o["text"])
                   for o in outputs if o["output_type"] == "stream")
