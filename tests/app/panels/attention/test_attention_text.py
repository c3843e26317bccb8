"""The text with its arcs."""

import numpy as np
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from lmviz.app.panels.panel import Panel
from lmviz.app.session.session import Session
from lmviz.app.window.main_window import MainWindow

ONLY_PANELS = ("attention_text",)


def test_a_text_grows_arcs_only_for_the_chosen_head(panels: dict[str, Panel], session: Session) -> None:
    text = panels["attention_text_view"]
    session.attention.choose_head(1, 1)
    text.refresh()
    expected = session.reading.current.trace["layers/1/attention/weights"].array[1]
    np.testing.assert_allclose(text.weights, expected)


def test_shift_over_a_word_of_the_prefix_shows_who_looks_at_it(
    panels: dict[str, Panel], window: MainWindow, session: Session, qtbot: QtBot
) -> None:
    drawn = panels["attention_text_view"]
    qtbot.keyPress(window.prefix_bar.edit, Qt.Key.Key_Shift)
    assert not session.attention.looked_at  # a capital letter is being typed
    qtbot.keyRelease(window.prefix_bar.edit, Qt.Key.Key_Shift)
    before = drawn.grab().toImage()
    session.focus.hover_position(1)
    qtbot.waitUntil(lambda: drawn.grab().toImage() != before)
    looks = drawn.grab().toImage()
    qtbot.keyPress(window.prefix_bar.edit, Qt.Key.Key_Shift)
    assert session.attention.looked_at
    qtbot.waitUntil(lambda: drawn.grab().toImage() != looks)
    qtbot.keyRelease(window.prefix_bar.edit, Qt.Key.Key_Shift)
    assert not session.attention.looked_at
    qtbot.waitUntil(lambda: drawn.grab().toImage() == looks)
