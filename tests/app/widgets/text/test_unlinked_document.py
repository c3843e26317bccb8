"""Markdown as a document: what is put in the place of pictures and links stands where they stood."""

import os
from pathlib import Path

import pytest
from PySide6.QtGui import QFont, QImage
from pytestqt.qtbot import QtBot
from traps import Trap

from lmviz.app.widgets.text.unlinked_document import MOST_CELLS, UnlinkedDocument, markdown_document

PICTURE = "\ufffc"


def picture_of(name: str) -> QImage | str:
    return QImage(4, 4, QImage.Format.Format_RGB32) if name == "known" else f"({name})"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("![x](a)![x](b) and ![x](a)![x](a)", "(a)(b) and (a)"),
        ("𝄞 ![x](a)𝄞[𝄞𝄞](b)𝄞", "𝄞 (a)𝄞𝄞𝄞 (b)𝄞"),
        ("**![x](a)**![x](known)[a](a)![x](b)", f"(a){PICTURE}a(b)"),
        ("[![x](a)](b)![x](c) [d](e)" * 3, "(a)(c) d (e)" * 3),
        ("- ![x](a)\n- ![x](known)\n\n> ![x](b)", f"(a)\n{PICTURE}\n(b)"),
    ],
)
def test_what_replaces_a_picture_or_a_link_stands_in_its_place(text: str, shown: str, qtbot: QtBot) -> None:
    document = markdown_document(text, QFont(), picture_of)
    assert document.toPlainText() == shown.replace(PICTURE, "\ufffc")


def test_where_links_are_not_said_words_are_as_they_were(qtbot: QtBot) -> None:
    document = markdown_document("a [b](c) ![x](d)[e](f)", QFont(), lambda name: "", says_addresses=False)
    assert document.toPlainText() == "a b e"


def test_a_text_is_cut_where_qt_would_take_long(qtbot: QtBot) -> None:
    def length(text: str, most: int) -> int:
        return len(markdown_document(text, QFont(), picture_of, most=most).toPlainText())

    assert length("a" * 30, 20) == 22
    assert length("a" * 20, 20) == 20
    row = "|" + "a|" * 9 + "\n"
    assert length("||\n|-|\n" + row * 5, 9_000) < 5 * 10
    table = f"{'|' * 10}\n{'|-' * 9}|\n" + row * 900
    assert length(table, 90_000) == pytest.approx(2 * MOST_CELLS, rel=0.2)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no FIFOs here")
def test_the_document_itself_opens_no_picture(tmp_path: Path, qtbot: QtBot) -> None:
    trap = Trap(tmp_path / "fifo")
    document = UnlinkedDocument(QFont())
    for text in ("before", f"![x]({trap.path}) ![x](file://{trap.path})"):
        document.setMarkdown(text)
        assert document.size().height() > 0
    assert not trap.was_read
    trap.close()
