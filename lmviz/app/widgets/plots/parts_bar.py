"""A number as a bar of its parts, each named below in its colour."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from lmviz.app.widgets.base.canvas import Canvas, metrics
from lmviz.app.widgets.kit.painter import Painter

BAR, ROW, SIZE = 9, 17, 12


class PartsBar(Canvas):
    """`PartsBar()`: `set_parts([(name, value, said)])`; a part as large as nothing is not drawn."""

    spoken_as = "Chart"

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._parts: tuple[tuple[str, float, str], ...] = ()
        self.setAccessibleName("parts of a whole")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def set_parts(self, parts: Sequence[tuple[str, float, str]]) -> None:
        """Draw other parts; `said` is the value in words."""
        before, self._parts = len(self._parts), tuple(parts)
        self.setAccessibleDescription(", ".join(f"{name} {said}" for name, _, said in parts))
        if len(parts) != before:
            self.updateGeometry()
        self.update()

    @property
    def parts(self) -> tuple[tuple[str, float, str], ...]:
        """What is drawn."""
        return self._parts

    def sizeHint(self) -> QSize:
        widest = max(
            (metrics(SIZE).horizontalAdvance(f"{n} {said}") for n, _, said in self._parts), default=0
        )
        high = self.length(BAR + 4 + ROW * len(self._parts))
        return QSize(round(max(widest + 4, self.length(120))), round(high))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def _color(self, index: int) -> QColor:
        return (self.theme.accent, self.theme.key, self.theme.value, self.theme.muted_text)[index % 4]

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        total = sum(value for _, value, _ in self._parts)
        x, bar = 0.0, self.length(BAR)
        painter.setPen(Qt.PenStyle.NoPen)
        for index, (_, value, _) in enumerate(self._parts):
            wide = self.width() * value / total if total else 0.0
            painter.box(QRectF(x, 0, wide, bar), self._color(index))
            x += wide
        painter.setFont(self.theme.font(SIZE))
        row = self.length(ROW)
        for index, (name, _, said) in enumerate(self._parts):
            place = QRectF(0, bar + self.length(4) + index * row, self.width(), row)
            painter.write(place, f"{name} {said}", self._color(index))
