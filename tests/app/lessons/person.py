"""A person in front of a window: waits, presses and types."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from in_sight import all_have_drawn, in_sight
from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QInputMethodEvent
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from lmviz.app.session.library import coming_to
from lmviz.app.window.main_window import MainWindow

LONG = 60_000  # milliseconds
TIMES = 5  # that it is at rest, each after an answer


@dataclass
class Driver:
    """A person in front of a window."""

    window: MainWindow
    qtbot: QtBot

    @property
    def session(self):
        return self.window.session

    def wait(self, done: Callable[[], object], what: str = "") -> None:
        """Until something is so; `what` says in the failure what was waited for."""

        def check() -> None:
            assert done(), what

        self.qtbot.waitUntil(check, timeout=LONG)

    def control(self, name: str) -> QWidget:
        """The control of this name, once it can be seen."""
        self.wait(lambda: self.window.find_control(name) is not None, f"no control {name} can be seen")
        return self.window.find_control(name)

    def press(self, name: str) -> None:
        """Click a button, once it can be clicked."""
        button = self.control(name)
        self.wait(button.isEnabled, f"{name} cannot be pressed")
        self.qtbot.mouseClick(button, Qt.MouseButton.LeftButton)

    def type(self, name: str, words: str) -> None:
        """Type into a line or a page, in place of what stands there."""
        field = self.control(name)
        self.wait(field.isEnabled, f"nothing can be typed into {name}")
        field.selectAll()
        if words.isascii() and words:
            self.qtbot.keyClicks(field, words)
        elif words:  # for which there is no key, such as ŷ: as an input method or the clipboard gives it
            event = QInputMethodEvent()
            event.setCommitString(words)
            QCoreApplication.sendEvent(field, event)
        else:
            self.qtbot.keyClick(field, Qt.Key.Key_Delete)

    def is_quiet(self) -> bool:
        """Whether all that was asked for has been opened and read."""
        session = self.session
        coming = coming_to(session.library)
        busy = session.reading.is_busy or session.text.is_opening or not session.work.is_ready
        return not (busy or coming.any_model or coming.weights) and session.lesson.is_settled

    def rest(self) -> None:
        """Until whatever can be seen has asked for what it shows, has been answered and has drawn it."""
        answered, quiet = [True], 0

        def check() -> None:
            nonlocal quiet
            work, board = self.session.work, self.window.perspective
            is_quiet = work.is_at_rest and not work.jobs and all_have_drawn(board) and self.is_quiet()
            quiet = quiet + 1 if is_quiet and answered else 0
            if answered:  # what an answer leads to is asked for after it
                answered.clear()
                work.ask("asked last", lambda: None, lambda _: answered.append(True), pytest.fail)
            assert quiet >= TIMES, [panel.objectName() for panel in in_sight(board) if panel.is_behind]

        self.qtbot.waitUntil(check, timeout=LONG)
