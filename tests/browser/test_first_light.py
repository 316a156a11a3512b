"""The first-light notebook in JupyterLab in Chromium: it runs, and the panel beside it tells the truth meanwhile."""
import importlib.util
import re
import shutil
import statistics

import pytest

from . import jupyter

if importlib.util.find_spec("playwright") is None:
    pytest.skip("playwright is not installed: pip install playwright", allow_module_level=True)
if importlib.util.find_spec("jupyterlab") is None:
    pytest.skip("JupyterLab is not installed", allow_module_level=True)
if jupyter.chromium() is None:
    pytest.skip("no Chromium or Chrome on this machine (Debian: apt install chromium)", allow_module_level=True)

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.filterwarnings("ignore::ResourceWarning")]
NOTEBOOK = "00_first_light.ipynb"
CLICKS = 20

# Steps slow enough that each is drawn; the kernel notes when a step ended and what its own number is.
STEPS = """
torch.manual_seed(0)
model = make_model()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
told = []
for step in range(25):
    loss = F.cross_entropy(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    told.append((time.time(), model[0].weight.grad.norm().item(), loss.item()))
    optimizer.step()
    time.sleep(0.15)
print(told)
"""
BUSY = {
    "pure Python": "end, n = time.time() + {s}, 0\nwhile time.time() < end:\n    n += sum(i * i for i in range(1000))",
    "small NumPy calls": "import numpy as np\nend, a = time.time() + {s}, np.ones(1000)\n"
                         "while time.time() < end:\n    a = np.sqrt(a * a + 1e-9)",
    "long matrix products": "import numpy as np\nend, a = time.time() + {s}, np.ones((1500, 1500))\n"
                            "while time.time() < end:\n    b = a @ a",
}
# Clicks a line of the outline (a real click event on the real handler) and waits for the kernel's answer in the pane.
CLICK = """([key, seconds]) => new Promise((resolve, reject) => {
    const pane = document.querySelector('#nbtorch-panel .nbt-detail');
    const item = document.querySelector(`#nbtorch-panel [data-nbtorch-key="${key}"]`);
    if (item === null) return reject(new Error(`no ${key} in the outline`));
    const begun = performance.now();
    const seen = () => pane.dataset.nbtorchDetail === key && pane.dataset.nbtorchAnswered === 'true';
    const done = answer => { watch.disconnect(); clearTimeout(late); resolve(answer); };
    const watch = new MutationObserver(() => seen() && done([performance.now() - begun, pane.innerText]));
    watch.observe(pane, { attributes: true, childList: true, subtree: true });
    const late = setTimeout(() => done(null), 1000 * seconds);
    item.click();
})"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """JupyterLab with a copy of the notebook open, and the panel beside it."""
    folder = tmp_path_factory.mktemp("lab")
    (folder / "notebooks").mkdir()
    shutil.copy(jupyter.ROOT / "notebooks" / NOTEBOOK, folder / "notebooks")
    with jupyter.server(folder, folder / "notebooks") as (url, token), jupyter.browser(folder) as page:
        lab = jupyter.Lab(page, url, token)
        lab.open(NOTEBOOK)
        lab.command("nbtorch:show-graph")
        page.wait_for_selector("#nbtorch-panel", state="visible")
        yield lab


def code_cells(lab):
    return [index for index, (kind, _) in enumerate(lab.cells()) if kind == "code"]


def find(lab, text):
    return next(index for index, (kind, source) in enumerate(lab.cells()) if kind == "code" and text in source)


def real(value):
    """A number as the panel writes it: four digits at a steady width."""
    size = abs(value)
    if size and (size < 1e-3 or size >= 1e5):
        mantissa, exponent = f"{value:.2e}".split("e")
        return f"{mantissa}e{'−' if exponent[0] == '-' else '+'}{int(exponent[1:])}".replace("-", "−")
    return f"{value:.{1 if size >= 1000 else 2 if size >= 100 else 3 if size >= 10 else 4}f}".replace("-", "−")


def test_before_the_extension_is_loaded_the_panel_says_how(lab):
    lab.page.wait_for_selector('#nbtorch-panel[data-nbtorch-link="absent"]')
    assert "%load_ext nbtorch" in lab.page.inner_text("#nbtorch-panel")


def test_the_notebook_runs_and_the_graph_appears_while_it_trains(lab):
    training = find(lab, "for seed in range(3)")
    for index in code_cells(lab):
        if index != training:
            lab.run(index)
            continue
        lab.start(index)
        lab.page.wait_for_selector('#nbtorch-panel[data-nbtorch-link="live"]')
        lab.page.wait_for_function("() => Number(document.querySelector('#nbtorch-panel').dataset.nbtorchNodes) >= 20")
        first = int(lab.panel("step"))
        lab.page.wait_for_function(
            "first => Number(document.querySelector('#nbtorch-panel').dataset.nbtorchStep) > first + 5", arg=first)
        lab.click_box("3")
        lab.page.wait_for_selector('#nbtorch-panel .nbt-detail[data-nbtorch-detail="m:3"]')
        assert "Conv2d" in lab.page.inner_text("#nbtorch-panel .nbt-detail")
        cover = "() => getComputedStyle(document.querySelector('#nbtorch-panel .nbt-outline')).opacity"
        assert lab.page.evaluate(cover) == "0", "the outline covers the box that was clicked"
        assert lab.running(), "the training cell ended before the panel could follow it"
        assert int(lab.panel("samples")) > 2
        lab.finish(index)
        # every epoch ended with a smaller batch, whose graph is another one
        assert lab.page.is_visible('#nbtorch-panel .nbt-detail[data-nbtorch-detail="m:3"]')
    assert not lab.errors


def test_a_drawn_number_follows_the_step_within_a_second_and_is_the_kernels_own(lab):
    page = lab.page
    page.click('#nbtorch-panel button[title="Open all modules"]')
    cell = lab.add(STEPS)
    lab.start(cell)
    page.wait_for_function("() => document.querySelector('#nbtorch-panel [data-nbtorch-key^=\"n:\"]') !== null")
    lab.record()
    told = eval(jupyter.text_of(lab.finish(cell)), {"__builtins__": {}})
    page.wait_for_timeout(300)
    drawn = lab.record(False)
    delays = []
    for when, norm, _ in told:
        seen = [at for at, text in drawn if text == real(norm) and at >= when - 0.01]
        if seen:
            delays.append(seen[0] - when)
    assert len(delays) >= 15, f"{len(delays)} of {len(told)} steps were seen drawn: {[real(n) for _, n, _ in told]}"
    print(f"drawn after {statistics.median(delays) * 1e3:.0f} ms in the median, {max(delays) * 1e3:.0f} ms at most, "
          f"{len(delays)} of {len(told)} steps")
    assert max(delays) < 1.0
    assert page.get_attribute("#nbtorch-panel .nbt-graph", "data-nbtorch-loss") == real(told[-1][2])


def new_graph(lab, extra):
    """Make a step whose graph nobody has asked about yet (`extra` more ops); {parameter: its gradient's norm}."""
    before = lab.page.get_attribute("#nbtorch-panel .nbt-graph", "data-nbtorch-graph")
    outputs = lab.run(lab.add("model.zero_grad()\nloss = F.cross_entropy(model(images), labels)" + " + 0" * extra + "\n"
                              "loss.backward()\nprint({n: p.grad.norm().item() for n, p in model.named_parameters()})"))
    lab.page.wait_for_function(
        "before => document.querySelector('#nbtorch-panel .nbt-graph').dataset.nbtorchGraph !== before", arg=before)
    return eval(jupyter.text_of(outputs), {"__builtins__": {}})


@pytest.mark.parametrize("kind", BUSY)
def test_clicks_are_answered_while_a_cell_runs(lab, kind):
    page = lab.page
    norms = new_graph(lab, 1 + list(BUSY).index(kind))
    cell = lab.add(BUSY[kind].format(s=12))
    lab.start(cell)
    page.wait_for_timeout(1000)
    keys = page.evaluate("() => [...document.querySelectorAll('#nbtorch-panel [data-nbtorch-key^=\"n:\"]')]"
                         ".map(item => item.dataset.nbtorchKey)")
    assert len(keys) >= CLICKS, f"only {len(keys)} nodes are drawn"
    answers = [page.evaluate(CLICK, [key, 3]) for key in keys[:CLICKS]]
    busy = lab.running()
    answered = [answer[0] for answer in answers if answer is not None]
    print(f"{kind}: {len(answered)} of {CLICKS} answered, median {statistics.median(answered or [0]):.0f} ms, "
          f"slowest {max(answered or [0]):.0f} ms")
    lab.finish(cell)
    assert busy, "the cell ended before the clicks did"
    assert len(answered) == CLICKS
    assert statistics.median(answered) < 150
    texts = [answer[1] for answer in answers]
    assert any(re.search(r"In \[\d+\], line 2", text) for text in texts)
    assert any("Saved for backward" in text and "×32×8×8" in text and "float32" in text for text in texts)
    for name, norm in norms.items():        # the two numbers a parameter's pane shows are the kernel's own
        for text in texts:
            if text.startswith(name + "\n"):
                assert text.count(real(norm)) == 2, (name, norm, text)


def test_dark_theme_redraws_and_the_page_has_no_errors(lab):
    page = lab.page
    corner = """() => { const c = document.querySelector('#nbtorch-panel canvas.nbt-canvas');
        return [...c.getContext('2d').getImageData(2, 2, 1, 1).data].slice(0, 3); }"""
    light = page.evaluate(corner)
    lab.command("apputils:change-theme", theme="JupyterLab Dark")
    page.wait_for_function("() => document.body.dataset.jpThemeLight === 'false'")
    page.wait_for_timeout(1000)
    dark = page.evaluate(corner)
    assert min(light) > 200 and max(dark) < 80, (light, dark)
    assert not lab.errors
    assert page.locator("#nbtorch-panel b, #nbtorch-panel img, #nbtorch-panel script").count() == 0


def test_after_a_restart_the_notebook_and_the_panel_go_on(lab):
    lab.page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()")
    for index in code_cells(lab)[:3]:
        lab.run(index)
    lab.run(lab.add("model = make_model()\nimages, labels = next(iter(DataLoader(train_set, batch_size=8)))\n"
                    "F.cross_entropy(model(images), labels).backward()"))
    lab.page.wait_for_function("""() => document.querySelector('#nbtorch-panel').dataset.nbtorchLink === 'live'
        && Number(document.querySelector('#nbtorch-panel').dataset.nbtorchNodes) >= 20""")
    assert not lab.errors
