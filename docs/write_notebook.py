"""Writes docs/notebooks/every-result.ipynb: how each kind of result shows itself. It holds no outputs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

PATH = Path(__file__).parent / "notebooks" / "every-result.ipynb"

CELLS = (
    "# How results show themselves\n\n"
    "The last value of a cell is drawn, and answers the pointer where a notebook runs scripts. Its numbers "
    "are in its attributes. All models here come with lmviz; run the cells from above.",
    ["import lmviz", "", 'model = lmviz.open_model("stories-transformer")', "model"],
    "## What a model computes",
    ['text = "The owl saw the dog and the"', "trace = lmviz.trace(model, text)", "trace"],
    ["lmviz.next_token(model, text, temperature=0.8, top_k=40)"],
    ["lmviz.logit_lens(model, trace)"],
    ["lmviz.gradient(model, text)"],
    "One tap by itself, and one head of it:",
    ['lmviz.show(trace, "layers/1/attention/weights", head=2)'],
    ['lmviz.explain(model, trace, "layers/0/residual1", (1, 3))'],
    "## What an answer hangs on",
    [
        'contrast = lmviz.contrast(text, "The cow saw the dog and the", measure="logit:dog")',
        'lmviz.patch(model, contrast, progress=lmviz.progress_bar("patching"))',
    ],
    ["lmviz.ablate(model, contrast)"],
    ["lmviz.attribute(model, contrast)"],
    ["lmviz.circuit(model, contrast, keep=8)"],
    ["lmviz.head_scores(model, words=8, rows=2)"],
    "## What it writes",
    ["steps = lmviz.sample(model, text, tokens=6, seed=1)", "drawn = list(steps)", "steps"],
    ["lmviz.beam_search(model, text, width=3, length=4)"],
    "## Two models, and several texts",
    ['lmviz.difference(lmviz.open_model("stories-transformer", 0), model, text)'],
    ['lmviz.compare([model, "stories-gru"], text)'],
    ['lmviz.trace(model, [text, "Once there was an owl"])'],
    "## A text and a training",
    ['corpus = lmviz.load_corpus("farm")', "corpus"],
    [
        "import tempfile",
        "",
        "folder = tempfile.mkdtemp()",
        "run = lmviz.train(",
        '    "gru", corpus, out=f"{folder}/run", steps=40, width=16, seed=0,',
        '    progress=lmviz.progress_bar("training"),',
        ")",
        "run",
    ],
    [
        "race = lmviz.race(",
        '    corpus, {"family": "gru", "width": 16, "steps": 20, "learning_rate": [0.001, 0.01]},',
        '    out=f"{folder}/race",',
        ")",
        "told = list(race)",
        "race",
    ],
    ["lmviz.loss_map(run.folder, corpus)"],
    "## A page to send\n\n`lmviz.page` writes results as one HTML file, without lmviz or a network.",
    ["lmviz.page([trace, lmviz.logit_lens(model, trace)])"],
)
"""A text is Markdown, and a list the lines of a cell of Python."""


def notebook() -> dict[str, Any]:
    """The notebook as its file has it."""
    cells = []
    for number, cell in enumerate(CELLS):
        is_text = isinstance(cell, str)
        lines = cell.split("\n") if isinstance(cell, str) else list(cell)
        values: dict[str, Any] = {
            "cell_type": "markdown" if is_text else "code",
            "id": f"cell-{number}",
            "metadata": {},
            "source": [f"{line}\n" for line in lines[:-1]] + lines[-1:],
        }
        cells.append(values if is_text else values | {"execution_count": None, "outputs": []})
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def written() -> str:
    """The file's content."""
    return json.dumps(notebook(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    PATH.parent.mkdir(exist_ok=True)
    PATH.write_text(written(), encoding="utf-8")
