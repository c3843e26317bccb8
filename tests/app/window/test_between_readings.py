"""Between a new reading and the drawing of it, whatever a person does meets panels that show the old one.

A panel draws at the end of the turn, or later, and behind another tab or perspective only when it is seen
again. Signals and the pointer reach it before that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from covering import others_slow, walk_through
from PySide6.QtCore import QEvent, QPointF, Qt, SignalInstance
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QAbstractItemView, QApplication, QWidget
from pytestqt.qtbot import QtBot

from lmviz.api.training import train
from lmviz.app.panels.panel import Panel
from lmviz.app.panels.table import PERSPECTIVES
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.canvas import Canvas
from lmviz.app.window.main_window import MainWindow
from lmviz.models.address import gradient_of
from lmviz.text.corpus import load_corpus
from tests.app.conftest import TEXT, wait_for_reading

WITH_PREFIX = [perspective.name for perspective in PERSPECTIVES if perspective.has_prefix]
SMALL = {"width": 8}
FAMILIES_READ = {
    "ngram": {"order": 3},
    "window": SMALL,
    "lstm": SMALL,
    "transformer": {**SMALL, "heads": 2, "layers": 2, "context": 16},
}
TEXTS = {
    "tagger": ("time flies like an arrow with their wings", "time"),
    "classifier": ("the film is not bad the film is good", "the"),
    "translator": ("rouge voiture bleue maison", "rouge"),
    "captioner": ("2 dots in a line", "2"),
}
SOURCES = ("blue car red house blue car red house", "red")
PLAIN = ("the cows eat grass the hens eat corn the dog", "the cows")
NAMES = ("one document", *FAMILIES_READ, *TEXTS)
ACROSS = 3  # places of the pointer along each side of a widget


def everything_built(window: MainWindow) -> list[Panel]:
    """The panels of all perspectives that were shown, also those behind a tab."""
    return window.findChildren(Panel)


def pointed_at(panel: Panel) -> Iterator[QWidget]:
    """What answers to the pointer with what it drew."""
    for widget in panel.findChildren(QWidget):
        if isinstance(widget, Canvas):
            yield widget
        elif isinstance(widget, QAbstractItemView):
            yield widget.viewport()


def move_over(widget: QWidget) -> None:
    """The pointer over all of a widget, and away again, without a turn of the event loop."""
    for column in range(ACROSS):
        for row in range(ACROSS):
            place = QPointF((column + 0.5) / ACROSS * widget.width(), (row + 0.5) / ACROSS * widget.height())
            event = QMouseEvent(
                QEvent.Type.MouseMove,
                place,
                widget.mapToGlobal(place),
                Qt.MouseButton.NoButton,
                Qt.MouseButton.NoButton,
                Qt.KeyboardModifier.NoModifier,
            )
            QApplication.sendEvent(widget, event)
    QApplication.sendEvent(widget, QEvent(QEvent.Type.Leave))


def look_around(session: Session) -> None:
    """Every position, stage and head that the reading has, and a cell of each tap and of its gradient."""
    focus, attention, reading = session.focus, session.attention, session.reading.current
    count = len(session.reading.encoding or ())
    for position in range(count):
        focus.hover_position(position)
    focus.hover_position(None)
    focus.choose_position(0)
    focus.follow_end()
    attention.show_looked_at(not attention.looked_at)
    for head in ((0, 1), (1, 0), (0, 0)):
        attention.choose_head(*head)
    attention.choose_heads([(0, 0), (0, 1)])
    attention.choose_heads([])
    if reading is None:
        return
    stage = focus.stage
    for other in range(len(reading.trace.stages)):
        focus.choose_stage(other)
    focus.choose_stage(stage)
    for address, array in reading.trace.arrays.items():
        last = tuple(size - 1 for size in array.shape)
        for cell in ((address, last), (gradient_of(address), last)):
            if reading.has_cell(*cell):
                focus.hover_cell(cell)
    focus.hover_cell(None)


class Disturbance:
    """Looks everywhere and points at everything when the session changes, before any panel draws again."""

    def __init__(self, window: MainWindow, session: Session) -> None:
        self._window, self._session = window, session
        self._is_within = False
        self._next: list[str] = []  # typed at once, when the one before has been read

    def type_through(self, texts: tuple[str, ...]) -> None:
        """Type a text, and each further one before the reading of the one before has been drawn."""
        first, *self._next = texts
        self._session.reading.set_prefix(first)

    def look(self) -> None:
        """All that can be looked at."""
        if not self._is_within:  # what is done here changes the session in turn
            self._is_within = True
            look_around(self._session)
            self._is_within = False

    def come(self) -> None:
        """The same, and the pointer over every panel in sight."""
        self.look()
        if not self._is_within:
            self._is_within = True
            for panel in everything_built(self._window):
                if panel.is_in_sight:
                    for widget in pointed_at(panel):
                        move_over(widget)
            self._is_within = False

    def come_and_type_on(self) -> None:
        """The same, and the next of the texts."""
        self.come()
        if self._next and not self._is_within:
            self._session.reading.set_prefix(self._next.pop(0))

    def start(self) -> None:
        """Come after all panels that there are now, and so before they draw."""
        for signal in self._signals():
            signal.connect(self.look)
        self._session.reading.changed.connect(self.come_and_type_on)

    def stop(self) -> None:
        """Leave the session alone."""
        for signal in self._signals():
            signal.disconnect(self.look)
        self._session.reading.changed.disconnect(self.come_and_type_on)

    def _signals(self) -> tuple[SignalInstance, ...]:
        library, reading = self._session.library, self._session.reading
        return (reading.encoding_changed, library.model_changed, library.step_changed)


@pytest.fixture
def disturbance(window: MainWindow, session: Session) -> Disturbance:
    return Disturbance(window, session)


@pytest.fixture
def catch_up(window: MainWindow, drawn: Callable[[], None]) -> Callable[[], None]:
    """Call it to wait until every panel has drawn, also those behind a tab or another perspective."""

    def catch_up() -> None:
        drawn()
        for panel in everything_built(window):
            panel.catch_up()

    return catch_up


@pytest.fixture
def open_model(
    session: Session,
    make_run: Callable[..., Path],
    label_runs: dict[str, Path],
    tmp_path: Path,
    qtbot: QtBot,
) -> Callable[[str], None]:
    """Call it with the name of a family or task to open a small model of it and its text."""

    def train_without_boundaries() -> Path:
        text = tmp_path / "whole.txt"
        text.write_text(TEXT, encoding="utf-8")
        settings = FAMILIES_READ["transformer"]
        corpus = load_corpus(text, documents="file")
        run = train("transformer", corpus, tmp_path / "whole", steps=2, batch=2, length=8, **settings)
        return run.folder

    def open_named(name: str) -> None:
        if name == "one document":
            run = train_without_boundaries()
        else:
            run = label_runs[name] if name in label_runs else make_run(name, 3, **FAMILIES_READ[name])
        session.library.open(run)
        qtbot.waitUntil(lambda: session.library.model is not None and session.library.model.folder == run)
        source = session.library.model.description.corpus["sources"][0]
        session.permission.allow([source])
        session.text.open(source)
        qtbot.waitUntil(lambda: session.text.corpus is not None and not session.reading.is_busy)

    return open_named


@pytest.fixture
def complaints(session: Session) -> Iterator[list[str]]:
    """What failed in a thread because lmviz has a mistake; what failed in the window, pytest-qt notices."""
    failed: list[str] = []
    session.work.any_failed.connect(failed.append)
    yield failed
    assert not [sentence for sentence in failed if "did not expect" in sentence]


@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", others_slow(NAMES, "translator"))
@walk_through("inside", "compare")
@pytest.mark.usefixtures("complaints")
def test_panels_that_show_one_text_stand_what_is_done_with_another(
    window: MainWindow,
    session: Session,
    open_model: Callable[[str], None],
    disturbance: Disturbance,
    catch_up: Callable[[], None],
    drawn: Callable[[], None],
    name: str,
    qtbot: QtBot,
    perspectives: tuple[str, ...],
) -> None:
    long, short = TEXTS.get(name, PLAIN)
    open_model(name)
    for perspective in perspectives:
        if perspective not in WITH_PREFIX:
            continue
        window.show_perspective(perspective)
        session.reading.set_source(SOURCES[0])
        session.reading.set_prefix(long)
        wait_for_reading(session, qtbot)
        catch_up()
        disturbance.start()
        disturbance.type_through((short, "", long, short))
        qtbot.waitUntil(lambda: session.reading.prefix == short)
        session.reading.set_source(SOURCES[1])
        drawn()
        disturbance.come()  # what stands behind a tab or another perspective still shows the first text
        disturbance.stop()


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.usefixtures("complaints")
def test_panels_that_show_one_model_stand_what_is_done_with_another(
    window: MainWindow,
    session: Session,
    open_model: Callable[[str], None],
    disturbance: Disturbance,
    catch_up: Callable[[], None],
    drawn: Callable[[], None],
    qtbot: QtBot,
) -> None:
    for perspective in WITH_PREFIX:
        window.show_perspective(perspective)
    for name in (*FAMILIES_READ, *TEXTS):
        open_model(name)
    for perspective in ("inside", "attention"):
        window.show_perspective(perspective)
        for model in session.library.models:
            session.reading.set_prefix(TEXTS.get(model.name, PLAIN)[0])
            wait_for_reading(session, qtbot)
            catch_up()
            disturbance.start()
            session.library.choose(model)
            drawn()
            disturbance.come()
            disturbance.stop()
    while len(session.library.models) > 1:
        session.library.close(session.library.models[0])
    drawn()
    disturbance.start()
    session.library.close(session.library.models[0])
    drawn()
    disturbance.come()
