"""The notebook of the documentation is what its script writes, and runs as it stands."""

from __future__ import annotations

import json
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
sys.path.insert(0, str(DOCS))

import write_notebook  # noqa: E402

PICTURES = {"text/plain", "text/html", "image/svg+xml"}


def test_it_is_what_the_script_writes_without_outputs():
    content = write_notebook.PATH.read_text("utf-8")
    assert content == write_notebook.written(), "run docs/write_notebook.py"
    assert all(cell.get("outputs", []) == [] for cell in json.loads(content)["cells"])


class Counted(HTMLParser):
    """How many frames and pictures a page has."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.pictures = 0
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        source = dict(attributes).get("src") or ""
        self.pictures += tag == "img" and source.startswith("data:image/svg+xml")


@pytest.mark.slow
def test_nbconvert_runs_it_and_each_cell_draws_its_result(tmp_path):
    for name in ("nbconvert", "ipykernel"):
        pytest.importorskip(name, reason=f"{name} is not installed: pip install lmviz[notebook]")
    import nbformat
    from nbconvert import HTMLExporter
    from nbconvert.preprocessors import ExecutePreprocessor

    notebook = nbformat.reads(write_notebook.written(), as_version=4)
    resources = {"metadata": {"path": str(tmp_path)}}
    done, _ = ExecutePreprocessor(timeout=280, kernel_name="python3").preprocess(notebook, resources)
    cells = [cell for cell in done.cells if cell.cell_type == "code"]
    results = [output for cell in cells for output in cell.outputs if output.output_type == "execute_result"]
    assert len(results) == len(cells)
    assert all(set(result.data) == PICTURES for result in results)
    assert not [output for cell in cells for output in cell.outputs if output.output_type == "error"]
    html, _ = HTMLExporter().from_notebook_node(done)
    assert Counted(html).pictures == len(results)
