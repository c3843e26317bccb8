"""The strokes of a table of figures: its titles, and a line of words, figures, marks and bars."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter

from lmviz.app.look.roles import Theme
from lmviz.app.widgets.base.canvas import metrics
from lmviz.app.widgets.tables.figure_columns import FigureLine, Place

SIZE, HEAD_SIZE = 12, 12
PADDING = 6


class FigureStrokes:
    """Draws into the columns at their `places`."""

    def __init__(self, painter: QPainter, theme: Theme, places: Sequence[Place]) -> None:
        self._painter = painter
        self._theme = theme
        self._places = places

    def draw_titles(self, height: float, width: float, sorted_by: tuple[str, bool] | None) -> None:
        """The titles, above a line `width` wide; `sorted_by` is a column's name and whether it descends."""
        painter, theme = self._painter, self._theme
        painter.setFont(theme.font(HEAD_SIZE))
        measure = metrics(HEAD_SIZE)
        for column, _, left, across in self._places:
            painter.setPen(theme.faint_text if column.quiet else theme.muted_text)
            arrow = ""
            if sorted_by is not None and column.name == sorted_by[0]:
                arrow = " ↓" if sorted_by[1] else " ↑"
            room = across - 2 * self._length(PADDING)
            title = measure.elidedText(column.title + arrow, Qt.TextElideMode.ElideRight, room + 4)
            painter.drawText(self._inside(left, across, 0, height), column.alignment, title)
        painter.setPen(theme.line)
        painter.drawLine(QPointF(0, height - 0.5), QPointF(width, height - 0.5))

    def draw_line(self, area: QRectF, shown: FigureLine, *, marked: bool) -> None:
        """One line; the bar of a marked one stands out."""
        painter, theme = self._painter, self._theme
        ink = theme.faint_text if shown.faded else theme.text
        for column, number, left, width in self._places:
            place = self._inside(left, width, area.top(), area.height())
            text = shown.texts[number]
            if column.kind == "bar":
                self._draw_bar(place, shown, text, marked)
                continue
            painter.setFont(theme.token_font(SIZE) if column.kind != "mark" else theme.font(SIZE))
            painter.setPen(theme.faint_text if column.quiet else ink)
            if column.kind == "token":
                text = metrics(SIZE, token=True).elidedText(text, Qt.TextElideMode.ElideRight, place.width())
            painter.drawText(place, column.alignment, text)

    def _draw_bar(self, place: QRectF, shown: FigureLine, text: str, marked: bool) -> None:
        painter, theme, gap = self._painter, self._theme, self._length(6)
        beside = metrics(HEAD_SIZE).horizontalAdvance("100.0 %") + gap
        width = max(0.0, place.width() - beside) * shown.share
        if shown.share > 0:
            width = max(width, self._length(1.5))
            height, radius = self._length(12), self._length(2.5)
            color = QColor(theme.validation if marked else theme.accent)
            color.setAlphaF(1.0 if marked else 0.86)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(color)
            bar = QRectF(place.left(), place.center().y() - height / 2, width, height)
            painter.drawRoundedRect(bar, radius, radius)
        painter.setPen(theme.faint_text if shown.faded else theme.muted_text)
        painter.setFont(theme.font(HEAD_SIZE))
        rest = place.adjusted(width + gap if width else 0, 0, self._length(PADDING), 0)
        painter.drawText(rest, Qt.AlignmentFlag.AlignVCenter, text)

    def _inside(self, left: float, width: float, top: float, height: float) -> QRectF:
        padding = self._length(PADDING)
        return QRectF(left + padding, top, width - 2 * padding, height)

    def _length(self, pixels: float) -> float:
        return pixels * self._theme.scale
