"""A person at the window who does whatever comes to its mind, and stays at home."""

from __future__ import annotations

import random
import socket
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError

import pytest
from PySide6.QtCore import QEvent, QMimeData, QPoint, QPointF, Qt, QTimer, QUrl
from PySide6.QtGui import QDesktopServices, QDropEvent, QKeyEvent, QWindow
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractSlider,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QFileDialog,
    QLineEdit,
    QMenu,
    QWidget,
)
from shiboken6 import Shiboken

from lmviz.app.panels.table import shown_perspectives
from lmviz.app.window.main_window import MainWindow
from lmviz.base.places import shipped
from lmviz.families import FAMILIES
from lmviz.training.options import TrainingOptions

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


class Walker:
    """Does one thing after the other to a window."""

    def __init__(self, seed: int, things: tuple[Path, ...]) -> None:
        self.random = random.Random(seed)
        self.window: MainWindow
        self.doing = ""
        self._things = things
        self.ways: list[tuple[Callable[[], None], int]] = [
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
        ways, weights = zip(*self.ways, strict=True)
        way = self.random.choices(ways, weights)[0]
        self.doing = f"{way.__name__} in {self.window.perspective.name}"
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
        QTest.mouseMove(*self._somewhere())

    def click(self) -> None:
        window, place = self._somewhere()
        modifier = self.random.choices(
            (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ControlModifier), (9, 1)
        )[0]
        if self.random.random() < 0.1:
            QTest.mouseDClick(window, LEFT, modifier, place)
        else:
            QTest.mouseClick(window, LEFT, modifier, place)

    def drag(self) -> None:
        window, place = self._somewhere()
        QTest.mousePress(window, LEFT, Qt.KeyboardModifier.NoModifier, place)
        for _ in range(4):
            away = QPoint(self.random.randint(-40, 40), self.random.randint(-40, 40))
            QTest.mouseMove(window, place + away)
            QApplication.processEvents()
        QTest.mouseRelease(window, LEFT, Qt.KeyboardModifier.NoModifier, place)

    def roll_wheel(self) -> None:
        window, place = self._somewhere()
        QTest.wheelEvent(window, QPointF(place), QPoint(0, self.random.choice((-240, 120))))

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
        """What can be seen and used of a kind, in the order in which it stands in the window.

        Of those that Python has made, or met: `findChildren` makes a wrapper of each part of Qt's own, and
        PySide keeps it when the part is gone, which would look like a leak of the window.
        """
        window = self.window
        found = [
            (widget.mapTo(window, QPoint()).toTuple(), widget)
            for widget in Shiboken.getAllValidWrappers()
            if isinstance(widget, kinds)
            and widget.isVisible()
            and widget.isEnabled()
            and (widget is window or window.isAncestorOf(widget))
        ]
        return [widget for _, widget in sorted(found, key=lambda each: (each[0], type(each[1]).__name__))]

    def _somewhere(self) -> tuple[QWindow, QPoint]:
        """A place in the window, within a widget: small ones are as likely as those around them.

        What happens there goes through the window, as with a person's mouse.
        """
        found = [widget for widget in self._seen(QWidget) if min(widget.width(), widget.height()) > 4]
        widget = self.random.choice(found)
        inside = QPoint(self.random.randrange(widget.width()), self.random.randrange(widget.height()))
        return self.window.windowHandle(), widget.mapTo(self.window, inside)


@contextmanager
def nothing_outside() -> Iterator[None]:
    """No files are asked for, no other programs and no connections opened, what pops up goes again, and what
    came with lmviz stays as it is."""

    def refuse(*arguments: object, **settings: object) -> None:
        raise URLError("a test stays at home")

    def close_popup() -> None:
        """Menus and dialogs run loops of their own, in which a test would stand still."""
        popup = QApplication.activePopupWidget() or QApplication.activeModalWidget()
        if popup is not None:
            popup.close()

    before = shipped_files()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(urllib.request, "urlopen", refuse)
        patch.setattr(socket, "getaddrinfo", refuse)  # which the hub's library asks before it connects
        patch.setattr(QDesktopServices, "openUrl", lambda url: True)
        patch.setattr(QFileDialog, "getOpenFileName", lambda *a, **k: ("", ""))
        patch.setattr(QFileDialog, "getOpenFileNames", lambda *a, **k: ([], ""))
        patch.setattr(QFileDialog, "getSaveFileName", lambda *a, **k: ("", ""))
        patch.setattr(QFileDialog, "getExistingDirectory", lambda *a, **k: "")
        patch.setattr(QMenu, "exec", lambda *a, **k: None)
        closing = QTimer(interval=50)
        closing.timeout.connect(close_popup)
        closing.start()
        yield
        closing.stop()
    assert shipped_files() == before, "what came with lmviz was written to"


def shipped_files() -> set[tuple[Path, int, int]]:
    """What comes with lmviz: files with their sizes and when they were changed."""
    folders = (shipped("resources"), shipped("sample_models"))
    found = ((path, path.stat()) for folder in folders for path in folder.rglob("*") if path.is_file())
    return {(path, state.st_size, state.st_mtime_ns) for path, state in found}
