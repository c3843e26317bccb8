"""What is typed: tokens, unknown words, line breaks."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QLabel,
    QLineEdit,
    QWidget,
)
from pytestqt.qtbot import QtBot

from lmviz.app.panels.shared.next_word import NextWordPanel
from lmviz.app.session.session import Session
from lmviz.app.window.main_window import MainWindow


def find(window: MainWindow, kind: type[QWidget], name: str) -> QWidget:
    found = window.findChild(kind, name)
    assert found is not None, name
    return found


def test_what_is_typed_becomes_tokens_and_a_distribution(
    window: MainWindow, read: Session, qtbot: QtBot
) -> None:
    window.show_perspective("attention")
    edit = find(window, QLineEdit, "prefix_edit")
    edit.clear()
    with qtbot.waitSignal(read.reading.changed):
        qtbot.keyClicks(edit, "the hens see")
    qtbot.waitUntil(lambda: not read.reading.is_busy)
    assert read.reading.current.trace.tokens == ("⟨start⟩", "the", "hens", "see")
    panel = next(panel for panel in window.perspective.panels if isinstance(panel, NextWordPanel))
    qtbot.waitUntil(lambda: panel.distribution is not None)
    assert panel.distribution.probabilities.sum() == pytest.approx(1)
    qtbot.waitUntil(
        lambda: (
            panel.distribution.logits.tolist()
            == pytest.approx(read.reading.current.trace["logits"].array[-1])
        )
    )


def test_unknown_words_are_marked_and_said(window: MainWindow, read: Session, qtbot: QtBot) -> None:
    find(window, QLineEdit, "prefix_edit").setText("the <zebra> eats")
    said = find(window, QLabel, "prefix_info").text()
    assert "zebra" in said
    assert "&lt;" in said
    assert "unknown" in said


def test_return_writes_a_line_break(window: MainWindow, read: Session, qtbot: QtBot) -> None:
    edit = find(window, QLineEdit, "prefix_edit")
    edit.setText("the cows")
    qtbot.keyClick(edit, Qt.Key.Key_Return)
    assert read.reading.prefix == "the cows\n"
