"""The panel in a real JupyterLab with a real kernel. Run: python -m pytest extension/ui-tests"""

from __future__ import annotations

import pytest

sync_api = pytest.importorskip("playwright.sync_api")
pytest.importorskip("jupyterlab")

from lab import FLAGS, IDLE, RUN_CELL, Lab, chromium  # noqa: E402

pytestmark = [
    pytest.mark.skipif(chromium() is None, reason="needs Chromium; NBTORCH_CHROMIUM may say where it is"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

LOAD = "%load_ext nbtorch\nimport nbtorch as torch"
MODEL = """import time
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.ReLU(), torch.nn.Linear(32, 32))
        self.head = torch.nn.Linear(32, 1)
    def forward(self, x):
        return self.head(torch.relu(self.body(x)))
model = Net(); params = list(model.parameters()); x = torch.randn(64, 8); y = x[:, :1]
def train(seconds):
    end = time.time() + seconds
    while time.time() < end:
        for p in params: p.grad = None
        loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()
        with torch.no_grad():
            for p in params: p -= 0.01 * p.grad
        time.sleep(0.01)
    return loss"""
PANEL = "document.querySelector('#nbtorch-panel').dataset"


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    server = Lab(tmp_path_factory.mktemp("lab"))
    yield server
    server.stop()


@pytest.fixture(scope="module")
def context(tmp_path_factory):
    with sync_api.sync_playwright() as playwright:
        profile = str(tmp_path_factory.mktemp("profile"))
        options = {"executable_path": chromium(), "headless": True, "args": FLAGS}
        made = playwright.chromium.launch_persistent_context(
            profile, viewport={"width": 1400, "height": 900}, **options
        )
        yield made
        made.close()


def show(page, tab="graph"):
    page.evaluate("tab => window.jupyterapp.commands.execute(`nbtorch:show-${tab}`)", tab)


def panel(page, name):
    """What the panel says of itself on its element."""
    return page.evaluate(f"name => {PANEL}[`nbtorch${{name}}`]", name)


def wait(page, condition):
    """Waits until a condition on the panel's data set, `d`, holds."""
    page.wait_for_function(f"() => {{ const d = {PANEL}; return {condition}; }}", timeout=20_000)


def run(page, index):
    """Runs a cell to its end, which must be a good one."""
    assert page.evaluate(RUN_CELL, index) == ""


def finish(page):
    """Waits for the cell that `start` started."""
    assert page.evaluate("() => window.running") == ""


def start(page, index):
    """Runs a cell without waiting; its promise is window.running."""
    page.evaluate(f"index => {{ window.running = ({RUN_CELL})(index); }}", index)


def prompt(page, index):
    return page.locator(".jp-Notebook .jp-CodeCell .jp-InputPrompt").nth(index).inner_text()


@pytest.fixture
def trained(lab, context):
    """A page whose cell 2 trains for a while; nbtorch is loaded and the panel is not yet open."""
    page = lab.open(context, "train.ipynb", [LOAD, MODEL, "loss = train(9)", "%graph loss", "loss"])
    run(page, 0)
    run(page, 1)
    yield page
    assert page.faults == []
    page.close()


def test_says_what_to_do_without_nbtorch(lab, context):
    page = lab.open(context, "plain.ipynb", ["x = 1", LOAD])
    show(page)
    wait(page, "d.nbtorchLink === 'absent'")
    assert "%load_ext nbtorch" in page.inner_text("#nbtorch-panel")
    run(page, 1)
    wait(page, "d.nbtorchLink === 'live'")
    page.close()


def test_numbers_change_and_clicks_are_answered_while_the_cell_runs(trained):
    page = trained
    start(page, 2)
    show(page)  # in the middle of the cell
    wait(page, "Number(d.nbtorchNodes) > 5 && Number(d.nbtorchStep) > 0")
    first = int(panel(page, "Step"))
    item = page.locator(".nbt-outline-item:not([aria-expanded])", has_text="Relu").first
    before = item.inner_text()
    wait(page, f"Number(d.nbtorchStep) > {first}")
    page.wait_for_function(
        "before => ![...document.querySelectorAll('.nbt-outline-item')].some(e => e.textContent === before)",
        arg=before,
    )
    item.dispatch_event("click")
    page.wait_for_selector(".nbt-detail[data-nbtorch-answered='true']", timeout=3_000)
    assert prompt(page, 2) == "[*]:"  # the cell is still running
    assert "In [3]" in page.inner_text(".nbt-detail") or "In [2]" in page.inner_text(".nbt-detail")
    show(page, "memory")
    wait(page, "Number(d.nbtorchSamples) > 2")
    page.wait_for_function("() => Number(document.querySelector('.nbt-memory').dataset.nbtorchTop) > 0")
    finish(page)


def test_data_is_back_after_a_reload_in_the_middle_of_a_cell(trained):
    page = trained
    show(page)
    wait(page, "d.nbtorchLink === 'live'")
    start(page, 2)
    wait(page, "Number(d.nbtorchStep) > 0")
    page.wait_for_timeout(1_500)  # the layout is saved a second after it changed
    page.goto(page.url.replace("?reset", ""))
    page.wait_for_selector("#nbtorch-panel", state="attached")
    show(page)
    wait(page, "Number(d.nbtorchNodes) > 5")
    page.wait_for_function(IDLE)


def test_restart_starts_anew(trained):
    page = trained
    show(page)
    run(page, 2)
    wait(page, "Number(d.nbtorchNodes) > 5")
    old = panel(page, "Session")
    page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()")
    wait(page, "d.nbtorchNodes === '0'")
    page.wait_for_function(IDLE)
    for index in (0, 1):
        run(page, index)
    start(page, 2)
    wait(page, "d.nbtorchLink === 'live' && Number(d.nbtorchNodes) > 5")
    assert panel(page, "Session") != old
    finish(page)


def test_saved_graph_is_drawn_in_the_output_and_follows_the_theme(trained):
    page = trained
    run(page, 2)
    run(page, 3)
    output = page.locator(".nbt-output .nbt-graph")
    output.wait_for()
    assert int(output.get_attribute("data-nbtorch-nodes")) > 5
    pixel = """() => { const c = document.querySelector('.nbt-output .nbt-canvas');
      return c.getContext('2d').getImageData(3, 3, 1, 1).data[0]; }"""
    page.wait_for_function(f"() => ({pixel})() > 200")
    page.evaluate(
        "() => window.jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab Dark'})"
    )
    page.wait_for_function(f"() => ({pixel})() < 80")
    page.evaluate(
        "() => window.jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab Light'})"
    )
