"""A window in which nothing happens does nothing: no layout asks for another, nothing is painted again, no
timer runs."""

import gc
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from covering import in_turn
from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QApplication
from pytestqt.exceptions import TimeoutError
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from lmviz.app.look.theme import theme_switch
from lmviz.app.panels.table import PERSPECTIVES
from lmviz.app.session.session import Session
from lmviz.app.widgets.text import typesetting
from lmviz.app.window.main_window import MainWindow
from tests.app.conftest import wait_for_reading

NAMES = [perspective.name for perspective in PERSPECTIVES]
ROUNDS = 30  # of the event loop; work that asks for itself again does so in each
KINDS = QEvent.Type
WORK = (KINDS.LayoutRequest, KINDS.Paint, KINDS.Resize, KINDS.Move, KINDS.Timer, KINDS.MetaCall)


class Counted(QObject):
    """Counts layouts, paintings, timers and calls put off by the name of what they are for."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: Counter[str] = Counter()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in WORK:
            self.seen[f"{event.type().name} of {watched.objectName() or type(watched).__name__}"] += 1
        return False


@pytest.fixture
def counted(qapp: QApplication) -> Iterator[Counter[str]]:
    counter = Counted()
    qapp.installEventFilter(counter)
    yield counter.seen
    qapp.removeEventFilter(counter)


@pytest.fixture(autouse=True)
def _type_is_loaded() -> None:
    """Equations look every now and then whether their type is there, until it is."""
    typesetting.load()


@pytest.fixture
def work_when_idle(drawn: Callable[[], None], counted: Counter[str], qtbot: QtBot) -> Callable[[], list[str]]:
    """Call it for what is done again and again, and the timers that never stop, once all has been drawn."""

    def look() -> list[str]:
        drawn()
        with suppress(TimeoutError):  # which would not say what
            qtbot.waitUntil(lambda: not running_timers())
        turn()
        counted.clear()
        turn()
        return [name for name, times in counted.items() if times > ROUNDS // 3] + running_timers()

    return look


def turn() -> None:
    for _ in range(ROUNDS):
        QApplication.processEvents()


def running_timers() -> list[str]:
    """What the timers belong to that go on ticking until they are stopped."""
    # type() and not isinstance: some lazy modules import things when asked for their class
    timers = [found for found in gc.get_objects() if issubclass(type(found), QTimer) and isValid(found)]
    return [
        f"timer of {type(timer.parent()).__name__}"
        for timer in timers
        if timer.isActive() and not timer.isSingleShot()
    ]


@pytest.mark.parametrize(("perspective", "look"), in_turn(NAMES, ("light", "projector"), among=("inside",)))
def test_nothing_is_laid_out_or_painted_again(
    window: MainWindow, read: Session, work_when_idle: Callable[[], list[str]], perspective: str, look: str
) -> None:
    theme_switch().set_projector(look == "projector")
    window.resize(1280, 800)
    window.show_perspective(perspective)
    window.beginning.strip.show()
    window.notice.say("This file cannot be read: it is a folder. Open a text instead.")
    assert work_when_idle() == []


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["transformer", "translator", "tagger"])
def test_nothing_is_done_again_with_other_models(
    window: MainWindow,
    session: Session,
    transformer_run: Path,
    label_runs: dict[str, Path],
    work_when_idle: Callable[[], list[str]],
    qtbot: QtBot,
    kind: str,
) -> None:
    session.library.open(label_runs.get(kind, transformer_run))
    qtbot.waitUntil(lambda: session.library.model is not None)
    session.reading.set_source("red car")
    session.reading.set_prefix("time flies like an arrow")
    wait_for_reading(session, qtbot)
    window.resize(1280, 800)
    found = {}
    for perspective in PERSPECTIVES:
        window.show_perspective(perspective.name)
        found[perspective.name] = work_when_idle()
    assert not any(found.values()), found


@pytest.mark.slow
@pytest.mark.parametrize("first_perspective", ["autodiff"])
def test_nothing_is_done_again_after_a_sweep_backward(
    window: MainWindow, session: Session, work_when_idle: Callable[[], list[str]]
) -> None:
    session.network.run_backward()
    assert work_when_idle() == []
