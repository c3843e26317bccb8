import os
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextDocument
from PySide6.QtWidgets import QPushButton, QWidget
from pytestqt.qtbot import QtBot

from lmviz.app.widgets.base.plain import InkedLabel, Label, caption, paragraph, window_title
from lmviz.looks.ink import Inked

WORDS = ("<b>bold</b>", '<a href="x">y</a>', "a &amp; b & c", "<img src='/none'>")


def pictures(html: str) -> int:
    document = QTextDocument()
    document.setHtml(html)
    return document.toRawText().count("\ufffc")


@pytest.mark.parametrize("words", WORDS)
def test_a_label_shows_a_text_as_it_is_written(words: str, qtbot: QtBot) -> None:
    label = Label(words)
    qtbot.addWidget(label)
    assert label.textFormat() == Qt.TextFormat.PlainText
    assert label.text() == words
    label.setText("")
    label.setText(words)
    assert label.text() == words


def test_a_label_shows_what_would_turn_its_text_round(qtbot: QtBot) -> None:
    label = Label("a\u202eb")
    qtbot.addWidget(label)
    assert label.text() == "a⟨U+202E⟩b"


@pytest.mark.parametrize("words", WORDS)
def test_pieces_and_tooltips_show_a_text_as_it_is_written(words: str, qtbot: QtBot) -> None:
    label = InkedLabel()
    qtbot.addWidget(label)
    label.set_pieces([Inked("of ", True), Inked(words)])
    for html, said in ((label.text(), f"of {words}"), (paragraph(words), words)):
        document = QTextDocument()
        document.setHtml(html)
        assert document.toPlainText() == said
        assert not pictures(html)
    assert label.accessibleName() == f"of {words}"


def test_a_tooltip_keeps_line_breaks_and_has_a_paragraph_for_each_text() -> None:
    document = QTextDocument()
    document.setHtml(paragraph("one\ntwo", "", "three"))
    assert document.toPlainText().replace("\u2028", "\n") == "one\ntwo\nthree"
    assert paragraph("") == ""


def test_a_caption_stands_on_one_line_and_has_no_key(qtbot: QtBot) -> None:
    button = QPushButton(caption("R&D\nof\ta\u202e"))
    qtbot.addWidget(button)
    assert button.shortcut().isEmpty()
    assert button.text() == "R&&D of a⟨U+202E⟩"


def test_the_title_of_a_window_is_as_it_is_written(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    window.setWindowTitle(window_title("R&D [*]\n\u202ea"))
    assert window.windowTitle() == "R&D [*][*] ⟨U+202E⟩a"  # the doubled mark is shown as one


def test_a_picture_that_a_name_asks_for_is_not_read(tmp_path: Path, qtbot: QtBot) -> None:
    """Reading it would wait for ever: nobody writes into the FIFO."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    label = Label(f"<img src='{fifo}'>")
    qtbot.addWidget(label)
    label.setToolTip(paragraph(label.text()))
    label.show()
    label.grab()
    with pytest.raises(OSError, match="No such device"):  # nobody has it open for reading
        os.open(fifo, os.O_WRONLY | os.O_NONBLOCK)
