"""What comes and goes moves nothing: jobs, sentences, a training, changes to the model."""

import threading
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QObject, QPoint, QRect
from PySide6.QtWidgets import QApplication, QLabel, QProgressBar, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from lmviz.app.look.theme import theme_switch
from lmviz.app.panels.table import PERSPECTIVES
from lmviz.app.session.session import Session
from lmviz.app.window.main_window import MainWindow
from lmviz.app.window.perspective_rail import RailButton
from lmviz.families import FAMILIES
from lmviz.inspection.intervention import Intervention
from lmviz.training.options import TrainingOptions
from tests.app.conftest import wait_for_reading

NAMES = [perspective.name for perspective in PERSPECTIVES]
SENTENCE = "This file cannot be read: it is a folder. Open a text instead."
Places = dict[str, QRect]


def places(window: MainWindow) -> Places:
    """Where everything stands in the window, as it is laid out now."""
    for _ in range(3):
        QApplication.processEvents()
    parts: dict[str, QWidget] = {
        "header": window.header,
        "prefix": window.prefix_bar,
        "rail": window.rail,
        "transport": window.transport,
        "train button": window.transport.train_button,
    }
    parts |= {panel.objectName(): panel for panel in window.perspective.panels if panel.is_in_sight}
    return {
        name: QRect(part.mapTo(window, QPoint()), part.size())
        for name, part in parts.items()
        if part.isVisible()
    }


@pytest.fixture(
    params=[(1000, 640), pytest.param((1440, 900), marks=pytest.mark.slow)], ids="{0[0]}x{0[1]}".format
)
def settled(
    window: MainWindow, read: Session, drawn: Callable[[], None], request: pytest.FixtureRequest
) -> Callable[[str], Places]:
    """Call it with a perspective to show that; it gives the places once everything has drawn."""
    window.resize(*request.param)

    def show(perspective: str) -> Places:
        window.show_perspective(perspective)
        drawn()
        places(window)
        drawn()
        return places(window)

    return show


@pytest.mark.slow
@pytest.mark.parametrize("look", ["light", pytest.param("projector", marks=pytest.mark.slow)])
def test_jobs_and_notices_leave_everything_in_its_place(
    window: MainWindow,
    session: Session,
    settled: Callable[[str], Places],
    gate: threading.Event,
    qtbot: QtBot,
    look: str,
) -> None:
    theme_switch().set_projector(look == "projector")
    for perspective in NAMES:
        gate.clear()
        before = settled(perspective)
        assert len(before) >= 5
        for name in ("Reading farm", "Counting n-grams to compare with"):
            session.work.start_job(name, lambda report: report(0.5) or gate.wait(), print, pytest.fail)
        assert places(window) == before, perspective
        window.notice.say(SENTENCE)
        window.transport.notice.say(SENTENCE)
        assert window.notice.isVisible()
        assert window.transport.notice.isVisible()
        assert places(window) == before, perspective
        gate.set()
        qtbot.waitUntil(lambda: not window.jobs.findChildren(QProgressBar))
        window.notice.clear()
        window.transport.notice.clear()
        assert window.transport.notice.isHidden()
        assert places(window) == before, perspective


def test_what_waits_for_an_answer_covers_no_panel_until_it_is_given(
    window: MainWindow, settled: Callable[[str], Places]
) -> None:
    before = settled("inside")
    window.beginning.strip.show()
    window.notice.offer(SENTENCE, "Read it", lambda: None)
    places(window)
    parts = (window.beginning.strip, window.notice)
    shown = QRect(
        window.perspective.parentWidget().mapTo(window, QPoint()), window.perspective.parent().size()
    )
    assert all(not shown.intersects(QRect(part.mapTo(window, QPoint()), part.size())) for part in parts)
    window.beginning.strip.hide()
    window.notice.findChild(QPushButton).click()
    assert places(window) == before


@pytest.mark.slow
def test_changes_leave_everything_in_its_place(
    window: MainWindow, session: Session, settled: Callable[[str], Places], qtbot: QtBot
) -> None:
    before = settled("inside")
    session.surgery.add(Intervention("layers/0/hidden", "scale", 0.0, {"unit": 1}))
    wait_for_reading(session, qtbot)
    assert window.header.chip.isVisible()
    assert places(window) == before
    session.surgery.clear()
    assert places(window) == before


@pytest.mark.slow
def test_a_training_leaves_every_panel_in_its_place(
    window: MainWindow,
    session: Session,
    settled: Callable[[str], Places],
    text_file: Path,
    qtbot: QtBot,
) -> None:
    session.text.open(text_file, documents="line")
    qtbot.waitUntil(lambda: session.text.corpus is not None)
    before = settled("train")
    del before["train button"]  # which says something else while it trains
    moved: list[str] = []

    def watch() -> None:
        now = places(window)
        moved.extend(name for name, place in before.items() if now.get(name) != place)

    session.training.changed.connect(watch)
    options = TrainingOptions(steps=60, batch=2, length=8, validate_every=20)
    session.plan.set("lstm", FAMILIES["lstm"].configuration(width=8), options)
    session.training.start()
    qtbot.waitUntil(lambda: session.training.state.is_active)
    qtbot.waitUntil(lambda: session.training.state.phase == "finished")
    session.training.changed.disconnect(watch)
    watch()
    assert not moved


def test_what_is_said_is_not_under_the_panels_and_covers_no_button_of_the_transport(
    window: MainWindow, settled: Callable[[str], Places]
) -> None:
    settled("sample")
    window.beginning.strip.show()
    window.notice.say(SENTENCE * 6)  # more than one line
    window.transport.notice.say(SENTENCE)
    QApplication.processEvents()
    parts = (window.beginning.strip, window.notice, window.transport.notice)
    areas = [QRect(part.mapTo(window, QPoint()), part.size()) for part in parts]
    for above, below in pairwise(areas):
        assert not above.intersects(below)
    for part, area in zip(parts, areas, strict=True):
        middle = window.childAt(area.center())
        assert part is middle or part.isAncestorOf(middle)
        assert not area.intersects(QRect(window.transport.mapTo(window, QPoint()), window.transport.size()))
        assert window.rect().contains(area)
    label = window.notice.findChild(QLabel)
    assert label.height() >= label.heightForWidth(label.width())


@pytest.mark.slow
def test_the_rail_stands_still_whatever_is_shown(window: MainWindow) -> None:
    def rail() -> list[QRect]:
        return [part for name, part in places(window).items() if name in ("header", "rail", "transport")]

    window.resize(1280, 800)
    window.show_perspective("attention")
    before = rail()
    for name in ("autodiff", "scale", "polls", "attention"):
        window.rail.chosen.emit(name)
        assert rail() == before, name
        lit = [button.text() for button in window.rail.findChildren(RailButton) if button.isChecked()]
        assert [word.lower() for word in lit] == [name]


@pytest.mark.slow
@pytest.mark.parametrize("height", [900, 720])
def test_a_longer_text_moves_nothing(window: MainWindow, read: Session, height: int, qtbot: QtBot) -> None:
    window.resize(1280, height)
    window.show_perspective("polls")
    window.show_perspective("attention")
    read.reading.set_prefix("")
    before = places(window)
    for text in ("the cows", "the cows eat " * 20, "the hens see the dog " * 60):
        read.reading.set_prefix(text)
        wait_for_reading(read, qtbot)
        assert places(window) == before, text
    strip = window.prefix_bar.strip
    qtbot.waitUntil(lambda: strip.visibleRegion().contains(strip.token_rectangle(-1).center().toPoint()))


class ShownAlone(QObject):
    """The widgets that are shown as windows of their own, by their classes."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Show and isinstance(watched, QWidget) and watched.isWindow():
            self.found.append(type(watched).__name__)
        return False


@pytest.mark.slow
def test_the_chip_of_the_first_change_is_no_window_of_its_own(
    window: MainWindow, read: Session, qapp: QApplication
) -> None:
    alone = ShownAlone()
    qapp.installEventFilter(alone)
    read.surgery.add(Intervention("layers/0/hidden", "scale", 0.0, {"unit": 1}))
    qapp.removeEventFilter(alone)
    assert window.header.chip is not None
    assert alone.found == []
