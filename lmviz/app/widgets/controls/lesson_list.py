"""A list of lessons and lectures: each with its title, what it is about, and how much of it is done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QScrollArea, QSizePolicy, QWidget

from lmviz.app.look.theme import current_theme
from lmviz.app.widgets.base.building import STRETCH, column, row
from lmviz.app.widgets.base.plain import Label
from lmviz.app.widgets.kit.painted import Painted
from lmviz.app.widgets.kit.painter import Painter
from lmviz.app.widgets.kit.pointing import CONFIRMING


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

    def __init__(self) -> None:
        super().__init__()
        self._rows: list[_Row] = []
        self._column = column(STRETCH, on=self, gap=6)

    @property
    def first(self) -> QWidget | None:
        """The row at the top; None where there is none."""
        return next(iter(self._rows), None)

    def set_lessons(self, lessons: Sequence[ListedLesson]) -> None:
        """Show these."""
        while len(self._rows) < len(lessons):
            number = len(self._rows)
            added = _Row(number)
            added.clicked.connect(lambda _=False, number=number: self.chosen.emit(number))
            added.left_for.connect(self._go)
            self._rows.append(added)
            self._column.insertWidget(number, added)
        for number, listed in enumerate(self._rows):
            listed.setVisible(number < len(lessons))
            if number < len(lessons):
                listed.show_lesson(lessons[number])

    def _go(self, by: int) -> None:
        """Give the keys to the row above or below, and bring it into sight."""
        shown = [each for each in self._rows if not each.isHidden()]
        at = next((place for place, each in enumerate(shown) if each.hasFocus()), None)
        if at is not None and 0 <= at + by < len(shown):
            shown[at + by].setFocus(Qt.FocusReason.TabFocusReason)
            around = self.parentWidget()
            while around is not None and not isinstance(around, QScrollArea):
                around = around.parentWidget()
            if around is not None:
                around.ensureWidgetVisible(shown[at + by], 0, 0)


class _Row(Painted, QAbstractButton):
    """A title, how much is done, and a sentence; all of it can be clicked.

    Signal: `left_for(int)` for an arrow key, 1 for the row below and -1 for the one above.
    """

    left_for = Signal(int)

    def __init__(self, number: int) -> None:
        super().__init__()
        self.setObjectName(f"lesson_open_{number}")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)  # painted anew as the pointer comes and goes
        policy = self.sizePolicy()
        policy.setHorizontalPolicy(QSizePolicy.Policy.Preferred)  # a button's own lets no words be wrapped
        policy.setVerticalPolicy(QSizePolicy.Policy.Preferred)  # and none that wrap be higher than expected
        self.setSizePolicy(policy)
        self._title, self._done = Label(role="title", wraps=True), Label(role="muted")
        self._about = Label(role="muted", wraps=True)
        head = row((self._title, 1), (self._done, 0, Qt.AlignmentFlag.AlignTop))
        column(head, self._about, on=self, gap=2, margins=(6, 5, 6, 5))
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
        ways = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}
        if event.key() in CONFIRMING:
            self.click()
        elif event.key() in ways:
            self.left_for.emit(ways[Qt.Key(event.key())])
        else:
            super().keyPressEvent(event)

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        theme = current_theme()
        painter.setRenderHint(Painter.RenderHint.Antialiasing)
        wash = theme.accent_wash if self.hasFocus() else theme.hover if self.underMouse() else theme.surface
        edge = theme.accent if self.hasFocus() else None  # a wash alone is not seen by everybody
        painter.box(QRectF(self.rect()).adjusted(1, 1, -1, -1), wash, edge, 2, radius=6)
