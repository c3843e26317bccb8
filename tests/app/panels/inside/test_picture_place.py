"""Where one is in the picture of a model, and that it can be scrolled there."""

from collections.abc import Callable
from pathlib import Path

import pytest
from covering import in_families
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from lmviz.app.panels.panel import Panel
from lmviz.app.session.session import Session
from lmviz.app.widgets.diagrams.ladder import LadderView
from lmviz.app.widgets.kit.picture import Spot
from lmviz.app.window.main_window import MainWindow

ONLY_PANELS = ("picture",)


def test_the_unrolled_picture_scrolls_to_the_chosen_position(
    window: MainWindow, session: Session, lstm_run: Path, qtbot: QtBot
) -> None:
    window.show_perspective("inside")
    session.library.open(lstm_run)
    qtbot.waitUntil(lambda: session.library.model is not None)
    session.reading.set_prefix("the cows eat grass " * 8)
    view = next(found for found in window.perspective.panels if found.objectName() == "picture_view").unrolled

    def is_in_sight(position: int) -> bool:
        return view.visibleRegion().contains(view.cell_rectangle(position, 0).center().toPoint())

    qtbot.waitUntil(lambda: session.reading.position > 20 and is_in_sight(session.reading.position))
    last = session.reading.position
    session.focus.choose_position(0)
    qtbot.waitUntil(lambda: is_in_sight(0) and not is_in_sight(last))
    session.focus.choose_position(last - 2)
    qtbot.waitUntil(lambda: is_in_sight(last - 2) and not is_in_sight(0))


@in_families("ngram", "rnn")
def test_the_picture_says_where_one_is(inside: dict[str, Panel], session: Session, qtbot: QtBot) -> None:
    picture, trace = inside["picture_view"], session.reading.current.trace
    if any(stage.by_position for stage in trace.stages):
        unrolled = picture.unrolled
        place = unrolled.cell_rectangle(1, 0).topLeft().toPoint() + QPoint(4, 4)
        qtbot.mouseClick(unrolled, Qt.MouseButton.LeftButton, pos=place)
        assert session.focus.position == 1
        assert trace.stages[session.focus.stage].place == "layers/0"
    elif picture.findChild(LadderView).isVisible():
        qtbot.waitUntil(lambda: not picture.findChild(LadderView).rectangle(Spot("rung 2")).isEmpty())
        place = picture.findChild(LadderView).rectangle(Spot("rung 2")).topLeft().toPoint() + QPoint(3, 3)
        qtbot.mouseClick(picture.findChild(LadderView), Qt.MouseButton.LeftButton, pos=place)
        assert trace.stages[session.focus.stage].place == "orders/2"


@pytest.mark.slow
def test_the_picture_of_another_family_can_be_scrolled_to_its_end(
    window: MainWindow, session: Session, make_run: Callable[..., Path], lstm_run: Path, qtbot: QtBot
) -> None:
    text = "the cows eat grass and " * 6
    session.library.open(make_run("ngram", 3, order=2))
    qtbot.waitUntil(lambda: session.library.model is not None)
    session.reading.set_prefix(text)
    window.show_perspective("inside")
    qtbot.waitUntil(
        lambda: session.reading.current is not None and session.reading.current.trace.text == text,
    )
    session.library.open(lstm_run)
    qtbot.waitUntil(lambda: session.reading.current.trace.family == "lstm")
    panel = next(panel for panel in window.perspective.panels if panel.objectName() == "picture_view")
    needed = panel.unrolled.minimumSizeHint
    qtbot.waitUntil(lambda: panel.unrolled.width() == needed().width() > panel.width())
