"""Whatever Markdown a stranger writes is shown and printed, and opens no picture that it names."""

# ruff: noqa: E501 (the pieces are a table)

import os
import random
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot
from traps import Trap

from lmviz.app.widgets.text.markdown_label import MarkdownLabel
from lmviz.app.widgets.text.printed import Printed, PrintedPart
from lmviz.app.widgets.text.printed_files import write_printed

PIECES = (
    "![x](NAMED)", "![x[1]](NAMED)", "![r]", "![][r]", "\n\n[r]: NAMED\n\n", "[a](b)", "[", "](", "]", "!", "**", "*",
    "_", "`", "```\n", "\n", "\n\n", "# ", "- ", "1. ", "- [x] ", "> ", "|a|b|\n|-|-|\n", "|", "    ", "\t", "<img src=NAMED>",
    "<!--", "&amp;", "&#0;", "\\", "~~", "---\n", "https://a.b", "𝄞", "\u202e", "\ufffc", "\u2029", "\ud800", "\0", "שלום", "word ",
)  # fmt: skip
COUNT = 250


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no FIFOs here")
def test_markdown_by_chance_is_shown_and_printed_and_opens_nothing(tmp_path: Path, qtbot: QtBot) -> None:
    trap, chance = Trap(tmp_path / "fifo"), random.Random(46)
    label = MarkdownLabel("words")
    qtbot.addWidget(label)
    label.resize(200, 200)
    parts = []
    for number in range(COUNT):
        text = "".join(chance.choices(PIECES, k=chance.randint(1, 30))).replace("NAMED", str(trap.path))
        label.setText(text)
        assert label.heightForWidth(200) > 0
        if number % 5 == 0:
            label.grab()
        parts.append(PrintedPart(text, text, question=text))
    path = tmp_path / "a.html"
    printed = Printed("A title", "", tuple(parts))
    write_printed(printed, path)
    assert "<img" not in path.read_text("utf-8")
    write_printed(printed, tmp_path / "a.pdf")
    assert not trap.was_read
    trap.close()
