"""The window with what a question needs, and a person's hands."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from lmviz.app.session.session import Session
from lmviz.app.window.main_window import MainWindow

WORDS = ("cows", "hens", "dog", "grass", "corn")


@dataclass
class Scene:
    """The window with what a question needs, and a person's hands."""

    window: MainWindow
    session: Session
    qtbot: QtBot
    text_file: Path
    runs: dict[str, Path]
    numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def wait(self, condition: Callable[[], object]) -> None:
        self.qtbot.waitUntil(lambda: bool(condition()))

    def find(self, name: str) -> QWidget:
        return next(found for found in self.window.findChildren(QWidget, name) if found.isVisible())

    def show(self, place: str) -> None:
        """Bring what says it into sight: a panel may be behind another tab, or have given its room away."""
        if place not in (NOTICE, BELOW):
            self.window.perspective.bring_forward(place)
            self.wait(lambda: any(panel.is_in_sight for panel in self.places(place)))

    def click(self, name: str) -> None:
        self.wait(lambda: any(found.isVisible() for found in self.window.findChildren(QWidget, name)))
        button = self.find(name)
        self.wait(button.isEnabled)
        self.qtbot.mouseClick(button, Qt.MouseButton.LeftButton)

    def type(self) -> None:
        """Another prefix."""
        number = next(self.numbers)
        words = " ".join(WORDS[(number + place) % len(WORDS)] for place in range(1 + number % 3))
        self.session.reading.set_prefix(f"the {words}")

    def settle(self) -> None:
        """Until what is typed has been read, with the model that is shown."""
        reading = self.session.reading
        self.wait(lambda: reading.current is not None and not reading.is_busy)

    def let_everything_be_answered(self) -> None:
        """Until whatever followed from what was asked so far has been drawn, and the reader is through.

        What has begun may come in front meanwhile: what is behind it then is drawn when it is seen again.
        """

        def all_have_drawn() -> None:
            seen = [panel for panel in self.window.perspective.panels if panel.is_in_sight]
            behind = [panel for panel in seen if not panel.is_up_to_date and not panel.awaits_answer]
            assert [panel.objectName() for panel in behind] == []

        self.qtbot.waitUntil(all_have_drawn)
        done: list[None] = []
        self.session.work.ask("asked last", lambda: None, done.append, pytest.fail)
        self.wait(lambda: done)

    def open_text(self) -> None:
        with self.qtbot.waitSignal(self.session.text.changed):
            self.session.text.open(self.text_file, documents="line")

    def open_model(self, family: str) -> None:
        with self.qtbot.waitSignal(self.session.library.model_changed):
            self.session.library.open(self.runs[family])

    def choose_cell(self, address: str) -> None:
        """Another cell of a tap, at the last position."""
        self.settle()
        trace = self.session.reading.current.trace
        array = trace[address].array
        stage = next(n for n, stage in enumerate(trace.stages) if address in stage.results)
        self.session.focus.choose_stage(stage)
        self.session.focus.choose_cell((address, (len(array) - 1, next(self.numbers) % array.shape[-1])))

    def says(self, place: str, sentence: str) -> bool:
        """Whether it can be read there."""
        return any(sentence in text for text in self.read(place))

    def read(self, place: str) -> list[str]:
        """All that can be read there; nothing where a panel is out of sight."""
        labels = (label for found in self.places(place) for label in found.findChildren(QLabel))
        return [label.text() for label in labels if label.isVisible() and label.text()]

    def places(self, name: str) -> list[QWidget]:
        """The panels of a name, or what a notice is written in."""
        if name == NOTICE:
            return [self.window.notice]
        if name == BELOW:
            return [self.window.transport.notice]
        return [panel for panel in self.window.perspective.panels if panel.objectName() == name]


NOTICE, BELOW = "the notice at the top", "the notice above the transport"
