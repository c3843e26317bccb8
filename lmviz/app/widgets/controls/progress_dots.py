"""A row of dots, one for each step: done, present, or still to come."""

from __future__ import annotations

from collections.abc import Collection

from PySide6.QtCore import QPointF, QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPaintEvent
from PySide6.QtWidgets import QSizePolicy

from lmviz.app.widgets.base.canvas import Canvas
from lmviz.app.widgets.base.plain import paragraph
from lmviz.app.widgets.kit.painter import Painter

APART, LEAST, RADIUS, PRESENT = 16, 9, 4.0, 5.5  # pixels at scale 1


class ProgressDots(Canvas):
    """`set_dots(count, done, present)`; signal `clicked(number)`. Steps count from 0."""

    clicked = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self._count, self._present = 0, 0
        self._done: frozenset[int] = frozenset()
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def set_dots(self, count: int, done: Collection[int], present: int) -> None:
        """Show so many steps, which of them are done, and at which one is."""
        self._count, self._done, self._present = count, frozenset(done), present
        self.setAccessibleName(f"step {present + 1} of {count}, {len(self._done)} done")
        self.setToolTip(paragraph(f"Step {present + 1} of {count}: a click goes to another."))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        return self._sized(self._count * APART, APART)

    def minimumSizeHint(self) -> QSize:
        return self._sized(self._count * LEAST, APART)

    def place(self, number: int) -> QPointF:
        """The middle of a dot. Dots stand at the right end."""
        apart = self._apart
        return QPointF(self.width() - (self._count - number - 0.5) * apart, self.height() / 2)

    @property
    def _apart(self) -> float:
        return min(self.length(APART), self.width() / max(self._count, 1))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if self._count:
            number = int((event.position().x() - self.width()) // self._apart) + self._count
            if 0 <= number < self._count:
                self.clicked.emit(number)

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        theme = self.theme
        for number in range(self._count):
            is_done, is_present = number in self._done, number == self._present
            color = theme.accent if is_done or is_present else theme.strong_line
            radius = min(PRESENT if is_present else RADIUS, (self._apart / 2 - 1) / theme.scale)
            fill = theme.accent if is_done else theme.surface
            painter.dot(self.place(number), radius, fill, color, 2 if is_present else 1)
