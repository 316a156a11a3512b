"""The README's tour runs as it stands, its links lead somewhere, and its picture is small enough to load."""
import re

import nbformat
import pytest

from .test_notebooks import ROOT, execute

README = (ROOT / "README.md").read_text(encoding="utf-8")
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.mark.slow
def test_the_tour_runs(tmp_path):
    blocks = re.findall(r"^```python\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    assert len(blocks) > 8
    path = tmp_path / "tour.ipynb"
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(block.rstrip("\n")) for block in blocks])
    for cell in notebook.cells:
        if "# RuntimeError" in cell.source:
            cell.metadata["tags"] = ["raises-exception"]
    nbformat.write(notebook, path)
    done = execute(path, tmp_path / "run", leaves={"model.pt"})
    said = "\n".join(output.get("text", "") for cell in done.cells for output in cell.outputs)
    failed = [output for cell in done.cells for output in cell.outputs if output.output_type == "error"]
    assert len(failed) == 1
    assert "in module 1.1 (Linear(in_features=31, out_features=10, bias=True)) of Sequential" in failed[0].traceback[-1]
    assert "[0] gradient, averaged over both ranks: tensor([[4., 4., 4., 4.]])" in said
    assert "[1] gradient, averaged over both ranks: tensor([[4., 4., 4., 4.]])" in said


def test_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (ROOT / target).exists(), target
    for target in re.findall(r"`(tests/[\w/.]+)`", README):
        assert (ROOT / target).exists(), target


def test_pictures_are_real_and_small():
    for picture in (ROOT / "docs" / "images").iterdir():
        assert picture.suffix == ".png" and picture.stat().st_size < 300_000, picture.name
        assert picture.read_bytes().startswith(b"\x89PNG")
