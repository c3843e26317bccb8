"""A plot that changes while one looks leaves nothing of what it was before on the screen."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from covering import others_slow
from PySide6.QtCore import QRect
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from lmviz.app.session.session import Session
from lmviz.app.widgets.kit.axes import Axes
from lmviz.app.window.main_window import MainWindow

ONLY_PANELS = ("over_time",)


def on_screen(window: QWidget, plot: QWidget) -> QImage:
    """What has been painted there, bit by bit, since it came on the screen."""
    place = QRect(plot.mapTo(window, plot.rect().topLeft()), plot.size())
    picture = window.screen().grabWindow(window.winId(), *place.getRect())
    return picture.toImage().convertToFormat(QImage.Format.Format_RGB32)


def painted_anew(window: QWidget, plot: QWidget) -> QImage:
    place = QRect(plot.mapTo(window, plot.rect().topLeft()), plot.size())
    # The whole window, as on the screen: painted from another place, a line between two pixels is rounded
    # to the other one.
    return window.grab().toImage().copy(place).convertToFormat(QImage.Format.Format_RGB32)


@pytest.mark.parametrize("turns", others_slow([40, 160], 40))
def test_no_mark_of_a_former_step_stays(
    window: MainWindow, session: Session, make_run: Callable[..., Path], turns: int, qtbot: QtBot
) -> None:
    window.show_perspective("train")
    session.library.open(make_run("gru", 60, width=8, learning_rate=0.01))
    qtbot.waitUntil(lambda: session.library.model is not None)
    [plot] = window.perspective.findChildren(Axes)
    [panel] = [panel for panel in window.perspective.panels if panel.isAncestorOf(plot)]

    def nothing_is_awaited() -> bool:
        return panel.is_up_to_date and not panel.is_behind and not session.reading.is_busy

    chance = random.Random(0)
    # Another step comes before this one is painted, while it is read, or when it has been drawn.
    waits = (
        lambda: None,
        QApplication.processEvents,
        lambda: qtbot.waitUntil(lambda: panel.is_up_to_date),
        lambda: qtbot.waitUntil(nothing_is_awaited),
    )
    for turn in range(turns):
        if turn % 8 == 0:  # other words after it, so that other curves come
            session.reading.set_prefix(" ".join(chance.choices(["the", "cows", "eat", "dog"], k=3)))
        session.library.choose_step(chance.choice(session.library.model.snapshots))
        chance.choice(waits)()
        if turn % 2:
            qtbot.waitUntil(lambda: nothing_is_awaited() and plot.isVisible())
            qtbot.waitUntil(lambda: on_screen(window, plot) == painted_anew(window, plot))
