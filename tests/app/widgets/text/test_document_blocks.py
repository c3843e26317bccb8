"""Markdown as data: what it says in which order, and what it is tagged as in a PDF."""

import io
from pathlib import Path
from typing import Any

import pytest
from pypdf import PdfReader

from lmviz.app.widgets.text.document_blocks import blocks_of
from lmviz.app.widgets.text.printed import Printed, PrintedPart, words_of
from lmviz.app.widgets.text.printed_files import write_printed

MARKDOWN = """# Large

Some **bold** and *slanted* `code`, [a link](https://example.org).

- one
  - inner
- two

3. third

```
x = 1

y = 2
```

> said

| a | b |
|---|---|
| 1 | 2 |

- [ ] to do
- [x] done

##### Small
"""


def blocks(markdown: str) -> list[dict[str, Any]]:
    return blocks_of(words_of(markdown), 2, lambda words: words)


def said(runs: list[dict[str, Any]]) -> str:
    return "".join(run["words"] for run in runs)


def test_each_kind_of_block_is_found_in_its_order(qapp) -> None:
    found = blocks(MARKDOWN)
    kinds = [block["kind"] for block in found]
    assert kinds == ["heading", "paragraph", "list", "list", "code", "quote", "table", "list", "heading"]
    heading, words, points, numbers, code, quote, table, boxes, small = found
    assert (heading["level"], small["level"]) == (3, 4), "no level is left out"
    looks = {run["words"]: (run["bold"], run["slanted"], run["code"]) for run in words["runs"]}
    assert looks["bold"] == (True, False, False)
    assert looks["slanted"] == (False, True, False)
    assert looks["code"] == (False, False, True)
    assert said(words["runs"]) == "Some bold and slanted code, a link."
    assert [said(item["runs"]) for item in points["items"]] == ["one", "two"]
    [below] = points["items"][0]["below"]
    assert said(below["items"][0]["runs"]) == "inner"
    assert (points["numbered"], numbers["numbered"], numbers["first"]) == (False, True, 3)
    assert code["words"] == "x = 1\n\ny = 2"
    assert said(quote["runs"]) == "said"
    assert [*map(said, table["head"])] == ["a", "b"]
    assert [[*map(said, row)] for row in table["rows"]] == [["1", "2"]]
    assert [said(item["runs"]) for item in boxes["items"]] == ["☐ to do", "☑ done"]


@pytest.mark.parametrize("markdown", ["", "![a](b)", "\n\n", "-", "|a|\n|-|\n"])
def test_what_says_nothing_is_set_as_well(markdown: str, qapp, tmp_path: Path) -> None:
    write_printed(Printed("A title", "", (PrintedPart("One", markdown),)), tmp_path / "a.pdf")
    assert "One" in PdfReader(io.BytesIO((tmp_path / "a.pdf").read_bytes())).pages[0].extract_text()


@pytest.mark.slow
@pytest.mark.parametrize("depth", [20, 200])
def test_deep_lists_are_set(depth: int, qapp, tmp_path: Path) -> None:
    markdown = "\n".join(f"{'  ' * level}- word" for level in range(depth))
    write_printed(Printed("A title", "", (PrintedPart("One", markdown),)), tmp_path / "a.pdf")
    assert (tmp_path / "a.pdf").exists()
