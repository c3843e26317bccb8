import os
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor, QDesktopServices, QImage
from pytestqt.qtbot import QtBot

from lmviz.app.widgets.text.markdown_label import MarkdownLabel
from lmviz.app.widgets.text.unlinked_document import MOST

PICTURE = "\ufffc"
RED = QColor("red")


@pytest.fixture
def label(qtbot: QtBot) -> MarkdownLabel:
    label = MarkdownLabel("words")
    qtbot.addWidget(label)
    label.resize(300, 200)
    label.show()
    return label


def save(path: Path, width: int) -> None:
    picture = QImage(width, 20, QImage.Format.Format_RGB32)
    picture.fill(RED)
    assert picture.save(str(path))


def reds(label: MarkdownLabel) -> list[tuple[int, int]]:
    drawn = label.grab().toImage()
    return [
        (x, y) for x in range(drawn.width()) for y in range(drawn.height()) if drawn.pixelColor(x, y) == RED
    ]


def test_markdown_is_set_and_html_stands_as_it_is_written(label: MarkdownLabel) -> None:
    label.setText("A **bold** word, <b>a</b> <img src='/dev/zero'> & <a href=\"x\">y</a>.\n\n<table>\n")
    assert label.shown == "A bold word, <b>a</b> <img src='/dev/zero'> & <a href=\"x\">y</a>.\n<table>"
    assert label.text().startswith("A **bold**")


def test_what_would_turn_the_text_round_is_seen(label: MarkdownLabel) -> None:
    label.setText("a\u202eb")
    assert label.shown == "a⟨U+202E⟩b"


def test_a_link_says_where_it_leads_and_leads_nowhere(
    label: MarkdownLabel, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda _: pytest.fail("it was opened"))
    label.linkActivated.connect(lambda _: pytest.fail("it was opened"))
    label.setText("[the paper](http://a.b/c) and http://d.e/f and [x](/dev/zero)")
    assert label.shown == "the paper (http://a.b/c) and http://d.e/f and x (/dev/zero)"
    for x in range(2, 290, 8):
        qtbot.mouseClick(label, Qt.MouseButton.LeftButton, pos=QPoint(x, 8))


def test_a_picture_beside_the_lesson_is_drawn_within_the_width(
    label: MarkdownLabel, tmp_path: Path, qtbot: QtBot
) -> None:
    save(tmp_path / "a.png", 50)
    save(tmp_path / "wide.png", 3000)
    label.set_folder(tmp_path)
    label.setText("![a](a.png)")
    qtbot.waitUntil(lambda: label.shown == PICTURE)
    assert len(reds(label)) == 50 * 20
    label.setText("![a](wide.png)")
    qtbot.waitUntil(lambda: label.shown == PICTURE)
    assert reds(label)
    assert label.minimumSizeHint().width() < 300
    assert max(x for x, _ in reds(label)) < 300


def test_in_the_place_of_another_picture_stands_why_it_is_not_shown(
    label: MarkdownLabel, tmp_path: Path, qtbot: QtBot
) -> None:
    os.mkfifo(tmp_path / "fifo.png")
    label.set_folder(tmp_path)
    label.setText("See ![x](/dev/zero) and ![y](fifo.png), and ![]().")
    qtbot.waitUntil(lambda: "not an ordinary file" in label.shown)
    assert "See The picture “/dev/zero” is not shown: it is not in the folder of the" in label.shown
    assert PICTURE not in label.shown
    label.set_folder(None)
    label.setText("![y](fifo.png)")
    qtbot.waitUntil(lambda: "it is not in the folder" in label.shown)


def test_a_picture_of_a_text_that_has_gone_is_not_shown(
    label: MarkdownLabel, tmp_path: Path, qtbot: QtBot
) -> None:
    save(tmp_path / "a.png", 50)
    label.set_folder(tmp_path)
    label.setText("![a](a.png)")
    label.setText("![b](none.png)")
    qtbot.waitUntil(lambda: "no such file" in label.shown)
    label.setText("words")
    assert label.shown == "words"


def test_lines_wrap_and_make_it_higher(label: MarkdownLabel) -> None:
    label.setText("word " * 40 + "\n\n    " + "code " * 40 + "\n\n" + "x" * 400)
    assert label.heightForWidth(150) > label.heightForWidth(300) > 100
    assert label.minimumSizeHint().width() < 200


def test_a_very_long_text_is_cut(label: MarkdownLabel) -> None:
    label.setText("|a|b|\n|-|-|\n" + "|a|b|\n" * 33_000)
    assert len(label.shown) < MOST
    assert label.heightForWidth(300) > 0
