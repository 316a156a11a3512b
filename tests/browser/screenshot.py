"""`python -m tests.browser.screenshot docs/images`: the README's picture, taken while the first notebook trains."""
import shutil
import sys
import tempfile
from pathlib import Path

from . import jupyter

NOTEBOOK = "00_first_light.ipynb"


def wide_panel(lab, share):
    """Hide the file browser and give the panel its share of the width."""
    lab.command("application:toggle-left-area")
    lab.page.evaluate("""share => {
        const split = window.jupyterapp.shell._hsplitPanel;
        split.setRelativeSizes([0, 1 - share, share]);
    }""", share)


def shoot(folder, target):
    """Run the notebook up to its training, and take the picture in the middle of it."""
    (folder / "notebooks").mkdir()
    shutil.copy(jupyter.ROOT / "notebooks" / NOTEBOOK, folder / "notebooks")
    with jupyter.server(folder, folder / "notebooks") as (url, token), jupyter.browser(folder, (1440, 860)) as page:
        lab = jupyter.Lab(page, url, token)
        lab.open(NOTEBOOK)
        lab.command("nbtorch:show-graph")
        wide_panel(lab, 0.36)
        training = next(i for i, (kind, source) in enumerate(lab.cells())
                        if kind == "code" and "for seed in range(3)" in source)
        for index in range(training):
            if lab.cells()[index][0] == "code":
                lab.run(index)
        lab.start(training)
        page.wait_for_function("() => Number(document.querySelector('#nbtorch-panel').dataset.nbtorchStep) > 150")
        lab.click_box("3")
        page.wait_for_timeout(700)
        assert lab.running(), "the training ended before the picture was taken"
        page.screenshot(path=str(target / "graph.png"))
        lab.finish(training)


def main():
    """Write graph.png into the folder named on the command line."""
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        shoot(Path(folder), target)
    print(target / "graph.png", (target / "graph.png").stat().st_size, "bytes")


if __name__ == "__main__":
    main()
