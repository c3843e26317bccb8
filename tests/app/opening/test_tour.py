"""The tour: it waits for the person, can be left, and finds back."""

from collections.abc import Callable
from pathlib import Path

import pytest
from benches.opening import LONG, PREFIX, panel, press
from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot

from lmviz.app.opening.tour_steps import STEPS
from lmviz.app.session.offers import FIRST_TRAINING
from lmviz.app.widgets.plots.bars import BarsView
from lmviz.app.window.main_window import MainWindow
from lmviz.inspection.interventions import scale


@pytest.fixture
def touring(sleeping: MainWindow, qtbot: QtBot) -> Callable[[int], None]:
    """A tour that has begun; call it with the number of a step to wait until the tour points there."""
    sleeping.session.start()
    press(sleeping, qtbot, "welcome_tour")
    tour, light = sleeping.beginning.tour, sleeping.beginning.tour.spotlight

    def at(number: int) -> None:
        step = STEPS[number]
        qtbot.waitUntil(lambda: tour.step is step and light.sentence == step.sentence, timeout=LONG)
        assert light.control.objectName() == step.control
        assert light.control.isVisible()

    return at


def turn_to(window: MainWindow, qtbot: QtBot, at: Callable[[int], None], number: int) -> None:
    """Press "next" until the tour is at a step."""
    for passed in range(number):
        at(passed)
        press(window, qtbot, "tour_next")
    at(number)


def test_the_tour_waits_for_the_person_at_every_step(
    sleeping: MainWindow, touring: Callable[[int], None], qtbot: QtBot
) -> None:
    tour, light = sleeping.beginning.tour, sleeping.beginning.tour.spotlight
    assert len(STEPS) == 10
    touring(0)
    qtbot.waitUntil(lambda: sleeping.session.work.is_ready and not sleeping.session.reading.is_busy)
    touring(0)
    assert not any(timer.isActive() for timer in tour.findChildren(QTimer)), "time alone takes it nowhere"
    qtbot.keyClicks(sleeping.prefix_bar.edit, " the")
    touring(1)
    frame = light.geometry()
    middle = light.control.mapTo(sleeping, light.control.rect().center())
    assert frame.contains(middle)
    assert not light.card.geometry().contains(middle), "the card leaves free what it speaks of"
    for number in range(1, len(STEPS) - 1):
        touring(number)
        press(sleeping, qtbot, "tour_next")
    touring(9)
    assert sleeping.perspective.name == "train"
    assert sleeping.session.plan.current.family == FIRST_TRAINING.family
    assert sleeping.session.plan.current.training_options.steps == FIRST_TRAINING.training["steps"]
    with qtbot.waitSignal(tour.ended):
        press(sleeping, qtbot, "tour_next")
    assert not light.isVisible()
    assert tour.step is None


def test_only_what_a_step_asks_for_completes_it(
    sleeping: MainWindow, touring: Callable[[int], None], qtbot: QtBot
) -> None:
    session = sleeping.session
    turn_to(sleeping, qtbot, touring, 1)
    done = panel(sleeping, "tour_card").findChild(QLabel, "tour_done")
    qtbot.keyClicks(sleeping.prefix_bar.edit, " the")
    assert not done.isVisible(), "typing is not the bar that was asked for"
    bars = panel(sleeping, "next_word_view").findChild(BarsView)
    qtbot.waitUntil(
        lambda: session.reading.current is not None and session.reading.current.trace.tokens[-1] == "the"
    )
    bars.bar_clicked.emit(0)
    assert done.isVisible()
    touring(2)
    session.focus.choose_position(1)
    assert not done.isVisible(), "it has to be unpinned again"
    qtbot.keyClick(sleeping.prefix_bar.edit, Qt.Key.Key_Escape)
    assert done.isVisible(), "and Escape did, instead of ending the tour"
    for number in range(2, 5):
        touring(number)
        press(sleeping, qtbot, "tour_next")
    touring(5)
    session.library.choose_step(session.library.model.snapshots[0])
    assert not done.isVisible()
    session.library.choose_step(session.library.model.snapshots[-1])
    assert done.isVisible()
    for number in range(5, 8):
        touring(number)
        press(sleeping, qtbot, "tour_next")
    touring(8)
    session.surgery.add(scale("logits", 0.5))
    assert not done.isVisible(), "the branches were told to have changed, but nothing was written"
    qtbot.waitUntil(lambda: panel(sleeping, "sample_step_button").isEnabled(), timeout=LONG)
    press(sleeping, qtbot, "sample_step_button")
    qtbot.waitUntil(done.isVisible, timeout=LONG)
    touring(9)


def test_one_can_go_back_in_the_tour(
    sleeping: MainWindow, touring: Callable[[int], None], qtbot: QtBot
) -> None:
    touring(0)
    assert not sleeping.findChild(QPushButton, "tour_back").isVisible()
    turn_to(sleeping, qtbot, touring, 6)
    assert sleeping.perspective.name == "inside"
    press(sleeping, qtbot, "tour_back")
    touring(5)
    assert sleeping.perspective.name == "attention"


def test_whoever_goes_somewhere_else_is_shown_the_way_back(
    sleeping: MainWindow, touring: Callable[[int], None], qtbot: QtBot
) -> None:
    turn_to(sleeping, qtbot, touring, 3)
    light = sleeping.beginning.tour.spotlight
    sleeping.show_perspective("compare")
    way_back = sleeping.findChild(QPushButton, "tour_return")
    qtbot.waitUntil(way_back.isVisible)
    assert not light.isVisible(), "there is nothing to point at"
    qtbot.mouseClick(way_back, Qt.MouseButton.LeftButton)
    touring(3)
    assert sleeping.perspective.name == "attention"
    qtbot.waitUntil(lambda: light.isVisible() and not way_back.isVisible())


def test_the_tour_begins_with_a_model_that_has_what_it_speaks_of(
    sleeping: MainWindow, make_run: Callable[..., Path], qtbot: QtBot
) -> None:
    session = sleeping.session
    session.start()
    for model in session.library.models:
        session.library.close(model)
    session.library.open(make_run("ngram", 3, order=2))
    qtbot.waitUntil(lambda: session.library.model is not None, timeout=LONG)
    session.reading.set_prefix("")
    sleeping.beginning.start_tour()
    qtbot.waitUntil(lambda: session.library.model.family == "transformer", timeout=LONG)
    assert session.reading.prefix == PREFIX
    qtbot.waitUntil(lambda: panel(sleeping, "attention_view").shown.size > 0, timeout=LONG)


def test_escape_leaves_the_tour_where_nothing_is_pinned(
    sleeping: MainWindow, touring: Callable[[int], None], qtbot: QtBot
) -> None:
    touring(0)
    sleeping.session.focus.choose_position(1)
    qtbot.keyClick(sleeping.prefix_bar.edit, Qt.Key.Key_Escape)
    touring(0)
    qtbot.keyClick(sleeping.prefix_bar.edit, Qt.Key.Key_Escape)
    assert sleeping.beginning.tour.step is None
    assert not sleeping.beginning.tour.spotlight.card.isVisible()


def test_the_tour_can_be_left_and_lets_the_pointer_through(sleeping: MainWindow, qtbot: QtBot) -> None:
    sleeping.beginning.start_tour()
    light = sleeping.beginning.tour.spotlight
    qtbot.waitUntil(lambda: light.control is not None)
    place = light.geometry().center()
    assert sleeping.childAt(QPoint(place)) is not light
    qtbot.mouseClick(light.card.findChild(QPushButton, "tour_end"), Qt.MouseButton.LeftButton)
    assert not light.isVisible()
