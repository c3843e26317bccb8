"""How many things have which size: thin columns, each saying its range and count on hover."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from lmviz.app.widgets.base.figures import count
from lmviz.app.widgets.base.hover_card import HoverCard
from lmviz.app.widgets.base.pointable import Pointable

SIZE = 10.5
BOTTOM = 20


class Histogram(Pointable):
    """`Histogram(what, unit)`: such as "documents" by "tokens".

    `set_columns(edges, counts)` draws counts (column,) between edges (column + 1,).
    Signal: `column_hovered(int)`, −1 on leaving.
    """

    column_hovered = Signal(int)

    def __init__(self, what: str, unit: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._what, self._unit = what, unit
        self._edges, self._counts = np.zeros(1), np.zeros(0)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName(f"{what} by {unit}")

    def set_columns(self, edges: np.ndarray, counts: np.ndarray) -> None:
        """Draw counts (column,) of what lies between edges (column + 1,), whole numbers, upper ends out."""
        self._edges, self._counts = np.asarray(edges), np.asarray(counts)
        self._hovered = -1
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(round(self.length(260)), round(self.length(90)))

    def minimumSizeHint(self) -> QSize:
        return QSize(round(self.length(120)), round(self.length(64)))

    def column_rectangle(self, index: int) -> QRectF:
        """Where a column is drawn."""
        width = self.width() / max(1, len(self._counts))
        room = self.height() - self.length(BOTTOM)
        height = room * self._counts[index] / max(1, self._counts.max(initial=1))
        height = max(height, self.length(1)) if self._counts[index] else 0.0
        return QRectF(index * width + 0.5, room - height, max(1.0, width - 1), height)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = self.begin()
        for index in range(len(self._counts)):
            color = QColor(self.theme.accent)
            color.setAlphaF(1.0 if index == self._hovered else 0.6)
            painter.fillRect(self.column_rectangle(index), color)
        if not len(self._counts):
            return
        painter.setPen(self.theme.muted_text)
        painter.setFont(self.theme.font(SIZE))
        foot = QRectF(0, self.height() - self.length(BOTTOM - 3), self.width(), self.length(BOTTOM - 3))
        painter.drawText(foot, Qt.AlignmentFlag.AlignLeft, count(self._edges[0]))
        painter.drawText(foot, Qt.AlignmentFlag.AlignRight, f"{count(self._edges[-1] - 1)} {self._unit}")

    def index_at(self, place: QPointF) -> int:
        index = int(place.x() * len(self._counts) / max(1, self.width()))
        return index if 0 <= index < len(self._counts) else -1

    def pointed_at(self, index: int) -> None:
        if index < 0:
            HoverCard.leave(self)
        else:
            first, last = int(self._edges[index]), int(self._edges[index + 1]) - 1
            span = count(first) if first == last else f"{count(first)} to {count(last)}"
            place = self.column_rectangle(index).topLeft().toPoint()
            lines = [f"of {span} {self._unit}"]
            HoverCard.beside(self, place, f"{count(self._counts[index])} {self._what}", lines)
        self.column_hovered.emit(index)
