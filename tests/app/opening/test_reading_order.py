"""At first each card says whether to look at it first, second or third; once looked at, it does not."""

import pytest
from PySide6.QtCore import QEvent, QPointF
from PySide6.QtGui import QEnterEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from lmviz.app.opening.reading_order import ORDER
from lmviz.app.opening.settings import Settings
from lmviz.app.window.main_window import MainWindow


def marks(window: MainWindow, perspective: str) -> list[int]:
    """The numbers on the cards, in the order in which one looks at them."""
    found = [window.find_control(name) for name in ORDER[perspective]]
    return [panel.card.mark for panel in found if panel is not None]


def test_three_cards_are_marked_until_the_pointer_has_rested_there(window: MainWindow, qtbot: QtBot) -> None:
    window.show_perspective("train")
    assert marks(window, "train") == [0, 0, 0], "only where a session begins"
    window.beginning.reading_order.begin()
    qtbot.waitUntil(lambda: marks(window, "train") == [1, 2, 3])
    card = window.find_control("loss_view").card
    where = QPointF(5, 5)
    QApplication.sendEvent(card, QEnterEvent(where, where, where))
    QApplication.sendEvent(card, QEvent(QEvent.Type.Leave))
    assert marks(window, "train") == [1, 2, 3], "it was only passed over"
    QApplication.sendEvent(card, QEnterEvent(where, where, where))
    qtbot.waitUntil(lambda: marks(window, "train") == [1, 0, 3])
    window.show_perspective("corpus")
    window.show_perspective("train")
    assert window.settings.lines("view/looked_at") == ["train/loss_view"]


@pytest.mark.slow
def test_what_was_looked_at_is_remembered(window: MainWindow, settings: Settings, qtbot: QtBot) -> None:
    settings.keep("view/looked_at", ["train/plan_view", "train/live_sample_view"])
    window.show_perspective("train")
    window.beginning.reading_order.begin()
    qtbot.waitUntil(lambda: marks(window, "train") == [0, 2, 0])


def test_every_marked_panel_is_one_of_its_perspective(window: MainWindow, qtbot: QtBot) -> None:
    window.beginning.reading_order.begin()
    for perspective, views in ORDER.items():
        window.show_perspective(perspective)
        qtbot.waitUntil(lambda p=perspective, v=views: len(marks(window, p)) == len(v))
