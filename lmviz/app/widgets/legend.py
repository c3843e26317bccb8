"""The legend of a plot: a stroke and a name for each curve, small enough for a card's title line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from lmviz.app.widgets.canvas import Canvas, metrics

SIZE = 12
STROKE = 14
GAP = 14


@dataclass(frozen=True)
class LegendEntry:
    """One curve: its name, its colour, whether it is shown now, and the kind of its line."""

    name: str
    color: QColor
    shown: bool = True
    line: Qt.PenStyle = Qt.PenStyle.SolidLine


class Legend(Canvas):
    """`Legend()`: `set_entries(entries)`; signal `entry_clicked(str)` with the curve's name."""

    entry_clicked = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._entries: tuple[LegendEntry, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleName("legend")

    def set_entries(self, entries: Sequence[LegendEntry]) -> None:
        """Show these curves, in this order."""
        if tuple(entries) != self._entries:
            self._entries = tuple(entries)
            self.setAccessibleDescription(", ".join(entry.name for entry in entries))
            self.updateGeometry()
            self.update()

    def _places(self) -> list[tuple[LegendEntry, QRectF]]:
        measure, left = metrics(SIZE), 0.0
        places = []
        for entry in self._entries:
            width = self.length(STROKE + 5) + measure.horizontalAdvance(entry.name)
            places.append((entry, QRectF(left, 0, width, self.height())))
            left += width + self.length(GAP)
        return places

    def sizeHint(self) -> QSize:
        places = self._places()
        return QSize(round(places[-1][1].right()) + 1 if places else 0, round(self.length(18)))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = self.begin()
        painter.setFont(self.theme.font(SIZE))
        for entry, area in self._places():
            color = entry.color if entry.shown else self.theme.faint_text
            painter.setPen(QPen(color, self.length(2), entry.line))
            middle = area.center().y()
            painter.drawLine(QPointF(area.left(), middle), QPointF(area.left() + self.length(STROKE), middle))
            painter.setPen(self.theme.muted_text if entry.shown else self.theme.faint_text)
            text = area.adjusted(self.length(STROKE + 5), 0, 2, 0)
            painter.drawText(text, Qt.AlignmentFlag.AlignVCenter, entry.name)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        for entry, area in self._places():
            if area.contains(event.position()):
                self.entry_clicked.emit(entry.name)
