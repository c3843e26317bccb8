"""In large type the board follows what a panel comes to hold, also where all panels share one place."""

from collections.abc import Callable

import pytest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from lmviz.app.board.lengths import hint_of
from lmviz.app.look.theme import theme_switch
from lmviz.app.panels.panel import Panel
from lmviz.app.session.session import Session
from lmviz.app.window.main_window import MainWindow

LONG = "a sentence that needs more than one line in large type, wherever it may stand, " * 12


class Holding(Panel):
    """A panel that holds what it is given."""

    def refresh(self) -> None:
        pass


def with_sentence(panel: Panel) -> QLabel:
    """A long sentence at the foot of a panel."""
    label = QLabel(LONG)
    label.setWordWrap(True)
    panel.column.addWidget(label)
    return label


def has_room(label: QLabel) -> bool:
    return label.isVisible() and label.height() >= label.heightForWidth(label.width())


@pytest.mark.parametrize("few", [False, True])
def test_all_lines_of_a_sentence_count_where_the_perspective_scrolls(
    session: Session, few: bool, qtbot: QtBot
) -> None:
    theme_switch().set_type_size(200)
    panel = Holding(session)
    qtbot.addWidget(panel)
    label = with_sentence(panel)
    panel.resize(500, 100)
    panel.show()
    needed = label.heightForWidth(label.width())
    assert needed > 3 * label.fontMetrics().height(), "it has several lines"
    assert hint_of(panel, few=few, projected=False).height() >= needed


@pytest.mark.slow
@pytest.mark.parametrize("is_in_front", [False, True])
def test_what_grows_in_a_shared_place_has_room_once_it_is_seen(
    window: MainWindow, read: Session, drawn: Callable[[], None], is_in_front: bool, qtbot: QtBot
) -> None:
    window.resize(1280, 720)
    window.set_type_size(200)
    window.show_perspective("inside")
    drawn()
    board = window.perspective
    panel = next(panel for panel in board.panels if panel.objectName() == "lens_over_text_view")
    for _ in range(2):  # what it needs is known by then
        board.bring_forward("lens_over_text_view")
        drawn()
        assert panel.is_in_sight
        board.bring_forward("picture_view")
        drawn()
        assert not panel.is_in_sight
    if is_in_front:
        board.bring_forward("lens_over_text_view")
        drawn()
    label = with_sentence(panel)
    board.bring_forward("lens_over_text_view")
    qtbot.waitUntil(lambda: has_room(label))
