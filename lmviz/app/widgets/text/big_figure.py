"""One number in large type, with a caption above it and a note below."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QSizePolicy

from lmviz.app.widgets.base.canvas import Canvas, fitted, metrics
from lmviz.app.widgets.base.plain import paragraph
from lmviz.app.widgets.kit.painter import Painter

SIZES, FIGURE, SMALLEST = (12, 11, 10), 24, 14
ROW, PAD = 17, 10


class BigFigure(Canvas):
    """`BigFigure(washed=False)`: `set_figure(caption, figure, note)`; washed, on the accent's wash."""

    least = (120, None)

    def __init__(self, *, washed: bool = False) -> None:
        super().__init__()
        self._washed = washed
        self._caption, self._figure, self._note = "", "", ""
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def set_figure(self, caption: str, figure: str, note: str = "") -> None:
        """Show another number."""
        self._caption, self._figure, self._note = caption, figure, note
        self.setAccessibleName(caption)
        self.setAccessibleDescription(f"{figure}. {note}")
        self.setToolTip(paragraph(note))
        self.update()

    def sizeHint(self) -> QSize:
        pad = 2 * self.length(PAD) if self._washed else 0.0
        return QSize(round(self.length(200)), round(self.length(2 * ROW + FIGURE * 1.35) + pad))

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        theme, area = self.theme, QRectF(self.rect())
        if self._washed:
            painter.box(area, theme.accent_wash, radius=6)
            pad = self.length(PAD)
            area.adjust(pad, pad, -pad, -pad)
        row = self.length(ROW)
        for top, text in ((area.top(), self._caption), (area.bottom() - row, self._note)):
            shown, size = fitted(text, area.width(), SIZES)
            painter.write(QRectF(area.left(), top, area.width(), row), shown, theme.muted_text, size)
        wide = metrics(FIGURE, bold=True).horizontalAdvance(self._figure)
        size = max(SMALLEST, min(FIGURE, FIGURE * area.width() / max(wide, 1.0)))
        ink = theme.accent if self._washed else theme.text
        painter.write(area.adjusted(0, row, 0, -row), self._figure, ink, size, bold=True)
