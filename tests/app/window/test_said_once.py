"""In a window in which there is little to see yet, no sentence stands twice: one place says what to do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
from covering import others_slow, walk_through
from layout_faults import noted_texts
from PySide6.QtGui import QPolygonF
from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot

from lmviz.app.session.session import Session
from lmviz.app.widgets.base.empty_text import EmptyText
from lmviz.app.window.main_window import MainWindow
from tests.app.conftest import wait_for_reading

WORDS = 4  # from which on what stands somewhere is a sentence and not a name or a number


def sentences(window: MainWindow) -> list[str]:
    """All sentences that can be read in the perspective."""
    painted: list[tuple[str, QPolygonF, bool]] = []
    with noted_texts(painted):
        window.perspective.grab()
    labels = [label for label in window.perspective.findChildren(QLabel) if label.isVisible()]
    written = [label.text() for label in labels if not (isinstance(label, EmptyText) and label.is_quiet)]
    found = [*(text for text, _, _ in painted), *written]
    return [text for text in found if len(text.split()) >= WORDS and not text.replace(", ", "")[0].isdigit()]


@pytest.mark.parametrize("is_open", others_slow([False, True], False), ids=["nothing", "a model"])
@walk_through("features")
def test_no_sentence_stands_twice_before_anything_is_asked(
    window: MainWindow,
    session: Session,
    drawn: Callable[[], None],
    answered: Callable[[], None],
    qtbot: QtBot,
    is_open: bool,
    perspectives: tuple[str, ...],
) -> None:
    window.resize(1440, 900)
    if is_open:
        session.library.open("stories-transformer")
        qtbot.waitUntil(lambda: session.library.model is not None)
        session.reading.set_prefix("Maya put the brown stone in the")
        wait_for_reading(session, qtbot)
    for name in perspectives:
        window.show_perspective(name)
        drawn()
        answered()
        drawn()
        qtbot.waitUntil(lambda: max(Counter(sentences(window)).values(), default=1) == 1)


@pytest.mark.slow
@pytest.mark.parametrize("first_perspective", ["features"])
def test_it_is_said_where_a_button_starts_what_is_missing(
    window: MainWindow, session: Session, drawn: Callable[[], None], qtbot: QtBot
) -> None:
    window.resize(1440, 900)
    drawn()
    button = window.perspective.findChild(QPushButton, "shipped_features_button")
    qtbot.waitUntil(button.isVisible)
    said = button.parentWidget().findChild(EmptyText)
    seen = [each for each in window.perspective.findChildren(EmptyText) if each.isVisible()]
    same = [each for each in seen if each.text() == said.text()]
    qtbot.waitUntil(lambda: [each for each in same if not each.is_quiet] == [said])
    assert len(same) > 1
    button.click()
    qtbot.waitUntil(lambda: session.library.model is not None)
