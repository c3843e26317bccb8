"""A list of lessons: each with its title, what it is about, and how much of it is done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from lmviz.app.widgets.controls.progress_dots import ProgressDots


@dataclass(frozen=True)
class ListedLesson:
    """One row: so many of its `steps` are `done`."""

    title: str
    about: str
    done: int
    steps: int


class LessonList(QWidget):
    """`set_lessons(lessons)`; signal `chosen(number)` for one of them."""

    chosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows: list[_Row] = []
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(14)
        self._column.addStretch(1)

    def set_lessons(self, lessons: Sequence[ListedLesson]) -> None:
        """Show these."""
        while len(self._rows) < len(lessons):
            number = len(self._rows)
            row = _Row(number)
            row.title.clicked.connect(lambda _=False, number=number: self.chosen.emit(number))
            self._rows.append(row)
            self._column.insertWidget(number, row)
        for number, row in enumerate(self._rows):
            row.setVisible(number < len(lessons))
            if number < len(lessons):
                row.show_lesson(lessons[number])


class _Row(QWidget):
    """A title to be clicked, dots, and a sentence."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.title = QPushButton()
        self.title.setObjectName(f"lesson_open_{number}")
        self.title.setProperty("role", "line")
        self.title.setCursor(Qt.CursorShape.PointingHandCursor)
        self.title.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._dots = ProgressDots()
        self._dots.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._about = QLabel()
        self._about.setProperty("role", "muted")
        self._about.setWordWrap(True)
        head = QHBoxLayout()
        head.addWidget(self.title)
        head.addWidget(self._dots, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addLayout(head)
        column.addWidget(self._about)

    def show_lesson(self, lesson: ListedLesson) -> None:
        """Show one."""
        self.title.setText(lesson.title)
        self.title.setAccessibleName(f"{lesson.title}, {lesson.done} of {lesson.steps} steps done")
        self._dots.set_dots(lesson.steps, range(lesson.done), -1)
        self._about.setText(lesson.about)
        self._about.setVisible(bool(lesson.about))
