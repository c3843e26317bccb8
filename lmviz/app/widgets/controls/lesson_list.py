"""A list of lessons and lectures: each with its title, what it is about, and how much of it is done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QRectF, Qt, Signal
from PySide6.QtGui import QEnterEvent, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from lmviz.app.look.theme import current_theme
from lmviz.app.widgets.base.plain import Label

CONFIRMING = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


@dataclass(frozen=True)
class ListedLesson:
    """One row: so many of its `steps` are `done`; None for a lecture, whose items nobody ticks."""

    title: str
    about: str
    done: int | None
    steps: int

    @property
    def extent(self) -> str:
        """How long it is, or how much of it is done, in a few signs."""
        if self.done is None:
            return f"{self.steps} items"
        return "✓ done" if self.done == self.steps else f"{self.done} of {self.steps}"


class LessonList(QWidget):
    """`set_lessons(lessons)`; signal `chosen(number)` for one of them."""

    chosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows: list[_Row] = []
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(6)
        self._column.addStretch(1)

    @property
    def first(self) -> QWidget | None:
        """The row at the top; None where there is none."""
        return next(iter(self._rows), None)

    def set_lessons(self, lessons: Sequence[ListedLesson]) -> None:
        """Show these."""
        while len(self._rows) < len(lessons):
            number = len(self._rows)
            row = _Row(number)
            row.clicked.connect(lambda _=False, number=number: self.chosen.emit(number))
            self._rows.append(row)
            self._column.insertWidget(number, row)
        for number, row in enumerate(self._rows):
            row.setVisible(number < len(lessons))
            if number < len(lessons):
                row.show_lesson(lessons[number])


class _Row(QAbstractButton):
    """A title, how much is done, and a sentence; all of it can be clicked."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.setObjectName(f"lesson_open_{number}")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        policy = self.sizePolicy()
        policy.setHorizontalPolicy(QSizePolicy.Policy.Preferred)  # a button's own lets no words be wrapped
        policy.setVerticalPolicy(QSizePolicy.Policy.Preferred)  # and none that wrap be higher than expected
        self.setSizePolicy(policy)
        self._title, self._done, self._about = Label(), Label(), Label()
        self._title.setProperty("role", "title")
        self._done.setProperty("role", "muted")
        self._about.setProperty("role", "muted")
        head = QHBoxLayout()
        head.addWidget(self._title, 1)
        head.addWidget(self._done, 0, Qt.AlignmentFlag.AlignTop)
        column = QVBoxLayout(self)
        column.setContentsMargins(6, 5, 6, 5)
        column.setSpacing(2)
        column.addLayout(head)
        column.addWidget(self._about)
        for label in (self._title, self._about):
            label.setWordWrap(True)
        for label in (self._title, self._done, self._about):
            label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)

    def show_lesson(self, lesson: ListedLesson) -> None:
        """Show one."""
        self._title.setText(lesson.title)
        steps_done = "" if lesson.done is None else " steps done"
        self.setAccessibleName(f"{lesson.title}, {lesson.extent.removeprefix('✓ ')}{steps_done}")
        self._done.setText(lesson.extent)
        self._about.setText(lesson.about)
        self._about.setVisible(bool(lesson.about))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in CONFIRMING:
            self.click()
        else:
            super().keyPressEvent(event)

    def enterEvent(self, event: QEnterEvent) -> None:
        self.update()

    def leaveEvent(self, event: QEvent) -> None:
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme, painter = current_theme(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(
            theme.accent_wash if self.hasFocus() else theme.hover if self.underMouse() else theme.surface
        )
        painter.drawRoundedRect(QRectF(self.rect()), 6 * theme.scale, 6 * theme.scale)
