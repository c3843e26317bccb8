"""The simplex in the window: dragged, even, and up to the counts."""

from collections.abc import Callable

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QLabel, QLineEdit, QPushButton
from pytestqt.qtbot import QtBot

from lmviz.app.panels.corpus.simplex import SimplexPanel
from lmviz.app.session.session import Session
from lmviz.app.widgets.plots.line_plot import LinePlot
from lmviz.app.widgets.plots.simplex_bars import SimplexBars
from lmviz.app.window.main_window import MainWindow


@pytest.fixture
def simplex(window: MainWindow, session: Session, drawn: Callable[[], None], qtbot: QtBot) -> SimplexPanel:
    """The panel in front, with the farm open."""
    window.show_perspective("corpus")
    with qtbot.waitSignal(session.text.changed):
        session.text.open("farm")
    panel = next(panel for panel in window.perspective.panels if isinstance(panel, SimplexPanel))
    panel.parentWidget().raise_()
    qtbot.waitUntil(lambda: panel.counted is not None)
    drawn()
    return panel


def said(panel: SimplexPanel) -> str:
    return panel.findChild(QLabel, "simplex_likelihood").text()


def bars(panel: SimplexPanel) -> SimplexBars:
    return panel.findChild(SimplexBars)


def click(panel: SimplexPanel, name: str, qtbot: QtBot) -> None:
    qtbot.mouseClick(panel.findChild(QPushButton, name), Qt.MouseButton.LeftButton)


@pytest.mark.slow
def test_an_example_is_there_at_once(simplex: SimplexPanel) -> None:
    assert simplex.findChild(QLineEdit).text() == "cows eat"
    assert set(simplex.counted.words) == {"corn", "grass", "hay", "if", "which"}
    assert said(simplex) == "Σ c ln p = −17.7038 nats"


def test_a_bar_is_dragged_and_the_others_give_way(simplex: SimplexPanel, qtbot: QtBot) -> None:
    view = bars(simplex)
    start, end = (view.place_of(1, share).toPoint() for share in (0.2, 0.6))
    qtbot.mousePress(view, Qt.MouseButton.LeftButton, pos=start)
    qtbot.mouseMove(view, end)
    qtbot.mouseRelease(view, Qt.MouseButton.LeftButton, pos=end)
    shares = simplex.shares
    assert shares[1] == pytest.approx(0.6, abs=0.01)
    assert np.delete(shares, 1) == pytest.approx(np.full(4, (1 - shares[1]) / 4))
    assert view.current == 1


@pytest.mark.slow
def test_the_ascent_comes_to_rest_at_the_counts(simplex: SimplexPanel, qtbot: QtBot) -> None:
    qtbot.keyClick(bars(simplex), Qt.Key.Key_Right)
    assert simplex.shares[0] == pytest.approx(0.21)
    seen = []
    click(simplex, "simplex_ascend_button", qtbot)
    qtbot.waitUntil(lambda: seen.append(said(simplex)) or said(simplex) == "Σ c ln p = −16.1495 nats")
    assert len(set(seen)) > 5, "it could be watched"
    qtbot.waitUntil(lambda: np.array_equal(simplex.shares, simplex.counted.best))
    assert np.abs(simplex.exported_arrays()["pull"]).max() < 1e-9
    click(simplex, "simplex_even_button", qtbot)
    assert said(simplex) == "Σ c ln p = −17.7038 nats"


def test_the_picture_says_how_high_the_maximum_is_once_it_is_reached(simplex: SimplexPanel) -> None:
    plot = simplex.findChild(LinePlot)
    assert "maximum" in plot.names.accessibleDescription()
    assert "16.1495" not in plot.names.accessibleDescription()
    simplex.shares = simplex.counted.best
    simplex.refresh()
    assert "maximum −16.1495" in plot.names.accessibleDescription()


@pytest.mark.slow
def test_whoever_takes_hold_of_a_bar_stops_the_ascent(simplex: SimplexPanel, qtbot: QtBot) -> None:
    click(simplex, "simplex_ascend_button", qtbot)
    qtbot.waitUntil(lambda: simplex.shares[0] > 0.21)
    view = bars(simplex)
    qtbot.mouseClick(view, Qt.MouseButton.LeftButton, pos=view.place_of(2, 0.5).toPoint() + QPoint(0, 1))
    assert simplex.shares[2] == pytest.approx(0.5, abs=0.01)
    assert not simplex.is_ascending


@pytest.mark.slow
def test_a_phrase_with_too_many_continuations_is_said(simplex: SimplexPanel, qtbot: QtBot) -> None:
    field = simplex.findChild(QLineEdit)
    field.selectAll()
    qtbot.keyClicks(field, "the")
    qtbot.waitUntil(lambda: "8 can be drawn" in simplex.complaint)
    assert simplex.exported_arrays() == {}
    field.clear()
    qtbot.waitUntil(lambda: field.text() == "cows eat")
    assert simplex.complaint == ""


@pytest.mark.slow
def test_of_characters_a_space_that_is_typed_counts(
    simplex: SimplexPanel, session: Session, qtbot: QtBot
) -> None:
    with qtbot.waitSignal(session.text.changed):
        session.text.open("farm", tokenizer="characters")
    simplex.findChild(QLineEdit).setText(" e")
    qtbot.waitUntil(lambda: simplex.counted is not None and simplex.counted.context == " e")


@pytest.mark.slow
def test_its_python_gives_the_same_number(simplex: SimplexPanel) -> None:
    found: dict[str, object] = {}
    exec(simplex.recipe(), found)
    assert found["likelihood"] == pytest.approx(-17.7038, abs=5e-5)
    assert found["most"] == pytest.approx(-16.1495, abs=5e-5)


@pytest.mark.slow
def test_in_a_small_window_the_pictures_stand_below_one_another_in_full(
    simplex: SimplexPanel, window: MainWindow, qtbot: QtBot
) -> None:
    view, curve = bars(simplex), simplex.findChild(LinePlot)
    window.resize(1000, 640)
    qtbot.waitUntil(lambda: curve.geometry().top() > view.geometry().bottom())
    for picture in (view, curve):
        assert picture.height() >= picture.minimumSizeHint().height()
    button = simplex.findChild(QPushButton, "simplex_ascend_button")
    assert button.geometry().top() > curve.geometry().bottom()
    perspective = window.perspective
    qtbot.waitUntil(lambda: perspective.width() <= perspective.parentWidget().width())
    window.resize(1440, 900)
    qtbot.waitUntil(lambda: curve.geometry().left() > view.geometry().right())
