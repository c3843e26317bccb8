"""Occurrences of a phrase, one per line, aligned at the phrase (keyword in context)."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, QSize
from PySide6.QtGui import QFont, QPaintEvent
from PySide6.QtWidgets import QSizePolicy

from lmviz.app.widgets.base.canvas import metrics
from lmviz.app.widgets.kit.painter import Painter, cut
from lmviz.app.widgets.kit.pointing import DOWN, Pointable
from lmviz.looks.occurrence import OccurrenceLine

ROW = 23
SIZE = 11.5
BEFORE_SHARE = 0.3


class ConcordanceList(Pointable):
    """`ConcordanceList()`: lines of text around a phrase; place it in a scroll area.

    `set_lines(lines)` shows a sequence of `OccurrenceLine`; `set_faded(indices)` quietens some of them.
    Up and Down move the mark as a click does.
    """

    arrows, marks_clicked = DOWN, True

    least = (160, None)

    def __init__(self) -> None:
        super().__init__()
        self._lines: tuple[OccurrenceLine, ...] = ()
        self._faded: frozenset[int] = frozenset()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.MinimumExpanding)
        self.setAccessibleName("places in the text")

    def set_lines(self, lines: Sequence[OccurrenceLine]) -> None:
        """Show places; marks are taken away."""
        self._lines = tuple(lines)
        self._faded = frozenset()
        self.show_count(0)
        self.show_count(len(self._lines))

    def description(self) -> str:
        return f"{self._count} places"

    def set_faded(self, indices: Sequence[int]) -> None:
        """Quieten lines that are not related to what one points at."""
        self._faded = frozenset(indices)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(round(self.length(300)), round(self.length(ROW) * len(self._lines)))

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        row = self.length(ROW)
        first = max(0, int(event.rect().top() // row))
        for index in range(first, min(len(self._lines), int(event.rect().bottom() // row) + 1)):
            self._draw_line(painter, index)
        self.draw_focus(painter)

    def _draw_line(self, painter: Painter, index: int) -> None:
        theme, row, line = self.theme, self.length(ROW), self._lines[index]
        top, middle = index * row, self.width() * BEFORE_SHARE
        if index in (self.hovered, self._current):
            wash = theme.accent_wash if index == self._current else theme.hover
            painter.box(QRectF(0, top, self.width(), row), wash, radius=4)
        plain, bold = metrics(SIZE, token=True), metrics(SIZE, token=True, bold=True)
        gap, is_faded = plain.horizontalAdvance(" "), index in self._faded
        ink, accent = (theme.faint_text,) * 2 if is_faded else (theme.text, theme.accent)
        before = cut(line.before, middle - gap, plain, leads_up=True)
        left = middle - gap - plain.horizontalAdvance(before)
        baseline = top + (row + plain.ascent() - plain.descent()) / 2
        parts = ((line.match, True, ink), (line.word, True, accent), (line.after, False, ink))
        for text, is_bold, color in ((before, False, ink), *parts):
            measure = bold if is_bold else plain
            shown = cut(text, max(0.0, self.width() - left), measure)
            painter.setPen(color)
            weight = QFont.Weight.DemiBold if is_bold else QFont.Weight.Normal
            painter.setFont(theme.token_font(SIZE, weight))
            painter.drawText(QPointF(left, baseline), shown)
            left += measure.horizontalAdvance(shown) + gap

    def index_at(self, place: QPointF) -> int:
        index = int(place.y() // self.length(ROW))
        return index if 0 <= index < len(self._lines) else -1
