"""A long text whose every token has the colour of a number; only what is in sight is drawn."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPaintEvent, QStaticText
from PySide6.QtWidgets import QSizePolicy, QWidget

from lmviz.app.widgets.base.canvas import metrics, once
from lmviz.app.widgets.kit.painter import Painter
from lmviz.app.widgets.kit.pointing import ACROSS, Pointable
from lmviz.app.widgets.matrix.cells import Cells, color_table, ink_table
from lmviz.base.plain_text import seen

SIZE, LINE, PADDING, GAP = 12.5, 21, 3, 2
MOST = 16_000_000
"""No widget of Qt is higher, in pixels."""


class LossText(Pointable):
    """`LossText()`: `set_text(ids, words, starts, values, scale, limit)`, for a scroll area.

    `ids` (token,) are places among the `words`, `starts` (document,) where a line begins anew, and `values`
    (token,) the numbers, NaN for a token without one. `mark(start, end)` underlines a passage. A part is a
    token.
    """

    usual, least = (420, 200), (160, 60)
    arrows, points_by_key = ACROSS, True
    takes_clicks = True

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._ids = np.zeros(0, dtype=np.int64)
        self._words: Sequence[str] = ()
        self._starts = np.zeros(0, dtype=np.int64)
        self._values = np.zeros(0, dtype=np.float32)
        self._scale, self._limit = "count", 1.0
        self._marked = (-1, -1)
        self.painted = 0
        """How many tokens the last paint has drawn."""
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.MinimumExpanding)
        self.setAccessibleName("text by its losses")

    def set_text(
        self,
        ids: np.ndarray,
        words: Sequence[str],
        starts: np.ndarray,
        values: np.ndarray,
        scale: str = "count",
        limit: float = 1.0,
    ) -> None:
        """Show another text, or other numbers."""
        self._ids, self._words, self._starts = np.asarray(ids), words, np.asarray(starts)
        self._values, self._scale, self._limit = np.asarray(values, dtype=np.float32), scale, limit
        self.show_count(len(self._ids))
        self.draw_again()
        self.updateGeometry()

    def mark(self, start: int, end: int) -> None:
        """Underline a passage."""
        self._marked = (start, end)
        self.update()

    def top_of(self, token: int) -> float:
        """Where the line of a token begins, in pixels."""
        return self._line_of(token) * self.length(LINE)

    def description(self) -> str:
        return f"{len(self._ids):,} tokens"

    def sizeHint(self) -> QSize:
        height = self.length(LINE) * len(self._lines()) if self._ids.size else self.length(self.usual[1])
        return QSize(round(self.length(self.usual[0])), min(MOST, round(height)))

    def minimumSizeHint(self) -> QSize:
        return QSize(round(self.length(self.least[0])), self.sizeHint().height())

    def hasHeightForWidth(self) -> bool:
        return False

    @once
    def _widths(self) -> np.ndarray:
        """(token,) How wide each is drawn."""
        measure = metrics(SIZE, token=True)
        used = np.unique(self._ids)
        table = np.zeros(int(used.max(initial=0)) + 1)
        for index in used:
            table[index] = measure.horizontalAdvance(self._words[index]) + 2 * self.length(PADDING)
        return table[self._ids] + self.length(GAP)

    @once
    def _lines(self) -> np.ndarray:
        """(line,) The first token of each line."""
        ends = np.cumsum(self._widths())
        before = ends - self._widths()
        found: list[int] = []
        width = max(self.length(60), float(self.width()))
        stops = np.append(self._starts[1:], len(self._ids))
        for start, stop in zip(self._starts.tolist(), stops.tolist(), strict=True):
            at = start
            while at < stop:
                found.append(at)
                fits = int(np.searchsorted(ends, before[at] + width, side="right"))
                at = min(max(at + 1, fits), stop)
        return np.array(found or [0], dtype=np.int64)

    @once
    def _texts(self) -> dict[int, QStaticText]:
        """The words that were drawn, laid out."""
        return {}

    def _prepared(self, word: int) -> QStaticText:
        known = self._texts()
        if word not in known:
            text = QStaticText(seen(self._words[word]))
            text.setTextFormat(Qt.TextFormat.PlainText)
            text.prepare(font=self.theme.token_font(SIZE))
            known[word] = text
        return known[word]

    def _line_of(self, token: int) -> int:
        return int(np.searchsorted(self._lines(), token, side="right")) - 1

    def _tokens_of(self, line: int) -> range:
        lines = self._lines()
        end = lines[line + 1] if line + 1 < len(lines) else len(self._ids)
        return range(int(lines[line]), int(end))

    def part_rectangle(self, index: int) -> QRectF:
        line = self._line_of(index)
        first = int(self._lines()[line])
        widths = self._widths()
        left = float(widths[first:index].sum())
        return QRectF(
            left, line * self.length(LINE), float(widths[index]) - self.length(GAP), self.length(LINE - 3)
        )

    def index_at(self, place: QPointF) -> int:
        line = int(place.y() // self.length(LINE))
        if not self._ids.size or not 0 <= line < len(self._lines()):
            return -1
        tokens = self._tokens_of(line)
        ends = np.cumsum(self._widths()[tokens.start : tokens.stop])
        at = int(np.searchsorted(ends, place.x(), side="right"))
        return tokens.start + at if at < len(tokens) else -1

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        if not self._ids.size:
            return
        seen, line_height = event.rect(), self.length(LINE)
        begin = max(0, int(seen.top() // line_height))
        lines = range(begin, min(len(self._lines()), int(seen.bottom() // line_height) + 1))
        if not lines:
            self.painted = 0
            return
        first, last = self._tokens_of(lines.start).start, self._tokens_of(lines.stop - 1).stop
        self.painted = last - first
        levels = Cells.of(self._values[None, first:last], self._scale, self._limit).levels[0]
        colors, inks = color_table(self.theme, self._scale), ink_table(self.theme, self._scale)
        widths, padding, gap = self._widths(), self.length(PADDING), self.length(GAP)
        high = line_height - self.length(3)
        painter.setFont(self.theme.token_font(SIZE))
        shades = {
            level: (QColor.fromRgb(int(colors[level])), inks[level])
            if level
            else (None, self.theme.muted_text)
            for level in np.unique(levels).tolist()
        }
        start, end = self._marked
        for line in lines:
            left, top, tokens = 0.0, line * line_height + 1, self._tokens_of(line)
            there = slice(tokens.start, tokens.stop)
            shown = zip(tokens, self._ids[there].tolist(), widths[there].tolist(), strict=True)
            for token, word, wide in shown:
                fill, ink = shades[int(levels[token - first])]
                if fill is not None:
                    painter.fillRect(QRectF(left, top, wide - gap, high), fill)
                painter.setPen(ink)
                text = self._prepared(word)
                painter.drawStaticText(QPointF(left + padding, top + (high - text.size().height()) / 2), text)
                if start <= token < end:
                    painter.fillRect(QRectF(left, top + high - 2, wide, 2), self.theme.accent)
                left += wide
        if first <= self.hovered < last:
            painter.box(self.part_rectangle(self.hovered), None, self.theme.text, 1.0)
        self.draw_focus(painter)
