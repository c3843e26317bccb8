"""A random walk through the real window: no exception, no hang, no thread left behind.

In the suite it takes a fixed number of steps. `LMVIZ_RANDOM_WALK_SECONDS=300` walks that long instead, and
`LMVIZ_RANDOM_WALK_SEED` from another beginning.
"""

import faulthandler
import gc
import os
import random
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import pytest
from patience import patience
from PySide6.QtCore import QEvent, QMimeData, QPoint, QPointF, Qt, QTimer, QUrl
from PySide6.QtGui import QDropEvent, QKeyEvent, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractSlider,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QLineEdit,
    QWidget,
)
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from lmviz.app.opening.settings import Settings
from lmviz.app.panels.table import shown_perspectives
from lmviz.app.session.session import Session
from lmviz.app.window.main_window import MainWindow
from lmviz.families import FAMILIES
from lmviz.training.options import TrainingOptions

ACTIONS = 300
WINDOWS = 3  # of a walk that is counted in actions; a longer one opens a new window every so often
ACTIONS_OF_A_WINDOW = 400
HANG = 15.0  # seconds in which the window's thread did not come round, on a machine with nothing else to do
WORDS = ("the", "cows", "eat", "grass", "hens", "dog", "zebra", ".", "\n", "ü", "𝄞", "<b>", "")
ODD = (
    "\0",
    "\ud800",
    "\udfffa",
    "שלום",
    "مرحبا",
    "👩‍👩‍👧‍👦",
    "🇩🇪",
    "e\u0301",
    "\u202eabc",
    "\r\n",
    "\u2028",
    "\ufeff",
)
"""What people type who want to see: half a character, letters from right to left, several that are one."""
KEYS = (
    Qt.Key.Key_Left,
    Qt.Key.Key_Right,
    Qt.Key.Key_Up,
    Qt.Key.Key_Down,
    Qt.Key.Key_Space,
    Qt.Key.Key_Escape,
    Qt.Key.Key_Tab,
    Qt.Key.Key_Return,
    Qt.Key.Key_Backspace,
)
LEFT = Qt.MouseButton.LeftButton


class Watchdog:
    """Notices when the window's thread does not come round."""

    def __init__(self, report: IO[str]) -> None:
        self.doing = ""
        self._report = report  # takes the lines of code in which the window's thread stood
        self.longest = (0.0, "")
        self._last = time.monotonic()
        self._timer = QTimer()
        self._timer.timeout.connect(self._come_round)
        self._timer.start(50)

    def stop(self) -> None:
        """Watch no longer."""
        self._timer.stop()
        faulthandler.cancel_dump_traceback_later()

    def _come_round(self) -> None:
        now = time.monotonic()
        self.longest = max(self.longest, ((now - self._last) / patience(), self.doing))
        self._last = now
        faulthandler.dump_traceback_later(HANG, file=self._report)


class Walker:
    """Does one thing after the other to a window."""

    def __init__(self, seed: int, watchdog: Watchdog, things: tuple[Path, ...]) -> None:
        self.random = random.Random(seed)
        self.window: MainWindow
        self._watchdog = watchdog
        self._things = things
        self._ways: list[tuple[Callable[[], None], int]] = [
            (self.train, 4),
            (self.steer, 8),
            (self.set_prefix, 8),
            (self.type_words, 8),
            (self.paste, 2),
            (self.undo, 3),
            (self.change_perspective, 10),
            (self.scrub, 8),
            (self.press_key, 8),
            (self.change_model, 5),
            (self.change_look, 5),
            (self.run_command, 4),
            (self.drop, 4),
            (self.point, 16),
            (self.click, 24),
            (self.drag, 8),
            (self.roll_wheel, 3),
            (self.turn_field, 6),
        ]

    def step(self) -> None:
        """One thing at random, and some time for it to take effect."""
        ways, weights = zip(*self._ways, strict=True)
        way = self.random.choices(ways, weights)[0]
        self._watchdog.doing = f"{way.__name__} in {self.window.perspective.name}"
        way()
        for _ in range(self.random.randrange(1, 5)):
            QApplication.processEvents()
            time.sleep(0.003)

    def train(self) -> None:
        family = self.random.choice(list(FAMILIES))
        small = {} if family == "ngram" else {"width": 8}
        steps = self.random.choice((2, 40, 2000))
        options = TrainingOptions(steps=steps, batch=2, length=8, snapshots=8, validate_every=20)
        self.window.session.plan.set(family, FAMILIES[family].configuration(**small), options)
        self.window.transport.train_button.click()

    def steer(self) -> None:
        transport = self.window.transport
        self.random.choice((transport.pause_button, transport.step_button, transport.stop_button)).click()

    def set_prefix(self) -> None:
        count = self.random.choice((0, 1, 3, 9, 40))
        self.window.session.reading.set_prefix(" ".join(self.random.choices(WORDS, k=count)))

    def type_words(self) -> None:
        edits = [edit for edit in self._seen(QLineEdit) if not isinstance(edit.parent(), QAbstractSpinBox)]
        edit = self.random.choice([self.window.prefix_bar.edit, *edits])
        edit.setFocus()
        for letter in self.random.choice(WORDS + ODD) + self.random.choice((" ", "")):
            for kind in (QEvent.Type.KeyPress, QEvent.Type.KeyRelease):  # QTest knows Latin letters only
                QApplication.sendEvent(edit, QKeyEvent(kind, 0, Qt.KeyboardModifier.NoModifier, letter))

    def paste(self) -> None:
        """What is on the clipboard, which may be a whole book."""
        edit, word = self.window.prefix_bar.edit, self.random.choice(WORDS + ODD)
        QApplication.clipboard().setText(f"{word} " * self.random.choice((1, 30, 3_000)))
        edit.setFocus()
        QTest.keyClick(edit, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)

    def undo(self) -> None:
        """Undo and redo, several times in a row."""
        shift = self.random.choice((Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.NoModifier))
        for _ in range(self.random.choice((1, 8))):
            target = self.random.choice((self.window, self.window.prefix_bar.edit))
            QTest.keyClick(target, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier | shift)

    def change_perspective(self) -> None:
        self.window.show_perspective(self.random.choice(shown_perspectives()).name)

    def scrub(self) -> None:
        slider = self.window.transport.time.slider
        slider.setValue(self.random.randint(slider.minimum(), slider.maximum()))

    def press_key(self) -> None:
        target = QApplication.focusWidget() or self.window
        if target.window() is self.window:
            QTest.keyClick(target, self.random.choice(KEYS))

    def change_model(self) -> None:
        session = self.window.session
        if not session.library.models:
            return
        model = self.random.choice(session.library.models)
        what = self.random.randrange(4)
        if what == 0:
            session.library.choose(model)
        elif what == 1 and len(session.library.models) > 2:
            session.library.close(model)
        elif what == 2:
            session.comparison.choose(
                [(model, self.random.choice(model.snapshots)) for model in session.library.models[:3]]
            )
        else:
            session.library.follow_live(not session.library.live)

    def change_look(self) -> None:
        window = self.window
        ways = (
            lambda: window.set_theme(self.random.choice(("light", "dark"))),
            lambda: window.set_projector(self.random.random() < 0.3),
            lambda: window.resize(self.random.randrange(700, 1600), self.random.randrange(500, 1000)),
            window.toggle_panel_window,
            window.reset_arrangement,
        )
        self.random.choice(ways)()

    def run_command(self) -> None:
        left_out = ("Quit", "Full screen")
        actions = [
            action
            for action in self.window.commands.all()
            if action.isEnabled() and action.menu() is None and action.text() not in left_out
        ]
        self.random.choice(actions).trigger()

    def drop(self) -> None:
        dropped = QMimeData()
        things = self.random.sample(self._things, self.random.choice((1, 1, 1, 3)))
        dropped.setUrls([QUrl.fromLocalFile(str(thing)) for thing in things])
        action, place = Qt.DropAction.CopyAction, QPointF(5, 5)
        self.window.dropEvent(QDropEvent(place, action, dropped, LEFT, Qt.KeyboardModifier.NoModifier))

    def point(self) -> None:
        widget, place = self._somewhere()
        QTest.mouseMove(widget, place)

    def click(self) -> None:
        widget, place = self._somewhere()
        modifier = self.random.choices(
            (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ControlModifier), (9, 1)
        )[0]
        if self.random.random() < 0.1:
            QTest.mouseDClick(widget, LEFT, modifier, place)
        else:
            QTest.mouseClick(widget, LEFT, modifier, place)

    def drag(self) -> None:
        widget, place = self._somewhere()
        QTest.mousePress(widget, LEFT, Qt.KeyboardModifier.NoModifier, place)
        for _ in range(4):
            away = QPoint(self.random.randint(-40, 40), self.random.randint(-40, 40))
            QTest.mouseMove(widget, place + away)
            QApplication.processEvents()
            if not isValid(widget):
                return  # a form that was made anew, under the pointer
        QTest.mouseRelease(widget, LEFT, Qt.KeyboardModifier.NoModifier, place)

    def roll_wheel(self) -> None:
        widget, place = self._somewhere()
        turn = QPoint(0, self.random.choice((-240, 120)))
        event = QWheelEvent(
            QPointF(place),
            QPointF(widget.mapToGlobal(place)),
            QPoint(),
            turn,
            Qt.MouseButton.NoButton,
            Qt.KeyboardModifier.NoModifier,
            Qt.ScrollPhase.NoScrollPhase,
            False,
        )
        QApplication.sendEvent(widget, event)

    def turn_field(self) -> None:
        fields = self._seen(QComboBox, QAbstractSpinBox, QAbstractSlider)
        if not fields:
            return
        field = self.random.choice(fields)
        if isinstance(field, QComboBox):
            field.setCurrentIndex(self.random.randrange(max(1, field.count())))
        elif isinstance(field, QAbstractSpinBox):
            field.stepBy(self.random.choice((-3, -1, 1, 3)))
        else:
            field.setValue(self.random.randint(field.minimum(), max(field.minimum(), field.maximum())))

    def _seen(self, *kinds: type[QWidget]) -> list[QWidget]:
        return [
            widget
            for widget in self.window.findChildren(QWidget)
            if isinstance(widget, kinds) and widget.isVisible() and widget.isEnabled()
        ]

    def _somewhere(self) -> tuple[QWidget, QPoint]:
        """A widget that can be seen and a place in it; deeper ones are as likely as those around them."""
        found = [widget for widget in self._seen(QWidget) if min(widget.width(), widget.height()) > 4]
        widget = self.random.choice(found)
        return widget, QPoint(self.random.randrange(widget.width()), self.random.randrange(widget.height()))


def wrong_things(folder: Path) -> list[Path]:
    """What a person drops by mistake: nothing of it can be opened, and some of it has no end."""
    (folder / "empty").mkdir(parents=True)
    contents = {
        "empty.txt": b"",
        "blank.txt": b" \n" * 50,
        "broken.txt": b"\xff\xfe\x00text",
        "letter.doc": b"\xd0\xcf\x11\xe0" * 900,
        "one/run.json": b"[]",
        "two/config.json": b"{",
        "three/weights.safetensors": b"\xff" * 90,
        "model.arpa": b"\\data\\\n",
    }
    for name, content in contents.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)
    found = [folder / name for name in (*contents, "empty", "missing")]
    if hasattr(os, "mkfifo"):
        os.mkfifo(folder / "pipe")
        found += [folder / "pipe", Path("/dev/zero")]
    return found


@pytest.fixture
def watchdog(qapp: QApplication, tmp_path: Path) -> Iterator[Watchdog]:
    with (tmp_path / "hang.txt").open("w", encoding="utf-8") as report:
        watchdog = Watchdog(report)
        yield watchdog
        watchdog.stop()


@pytest.mark.timeout(3600)
@pytest.mark.usefixtures("nothing_outside")
def test_a_random_walk_ends_well(
    watchdog: Watchdog,
    text_file: Path,
    lstm_run: Path,
    transformer_run: Path,
    tmp_path: Path,
    qtbot: QtBot,
) -> None:
    seconds = float(os.environ.get("LMVIZ_RANDOM_WALK_SECONDS", "0"))
    seed = int(os.environ.get("LMVIZ_RANDOM_WALK_SEED", "0"))
    began = time.monotonic()
    # Copies, for what is walked through may train on.
    runs = [Path(shutil.copytree(run, tmp_path / run.name)) for run in (lstm_run, transformer_run)]
    good = (text_file, *runs)
    walker = Walker(seed, watchdog, (*good, *wrong_things(tmp_path / "wrong")))
    settings = Settings(tmp_path / "settings.json")
    windows, actions = 0, ACTIONS_OF_A_WINDOW if seconds else ACTIONS // WINDOWS
    while time.monotonic() - began < seconds if seconds else windows < WINDOWS:
        session = Session(tmp_path / "runs")
        window = MainWindow(session, settings)
        said: list[str] = []
        session.work.any_failed.connect(said.append)
        walker.window = window
        window.beginning.welcome(tmp_path)
        window.painted.connect(window.build_ahead)
        window.show()
        session.start()
        session.text.open(text_file, documents="line")
        session.library.open(walker.random.choice(runs))
        try:
            for _ in range(actions):
                walker.step()
            watchdog.doing = "closing"
        finally:
            window.close()  # or its threads would take the process, and the report, with them
        window.deleteLater()
        del walker.window, window, session  # or each theme would be put on every window there ever was
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        gc.collect()
        assert not [sentence for sentence in said if "did not expect" in sentence]
        windows += 1
    watchdog.stop()
    stood_at = (tmp_path / "hang.txt").read_text(encoding="utf-8")
    assert watchdog.longest[0] < HANG, f"{watchdog.longest}\n{stood_at}"
