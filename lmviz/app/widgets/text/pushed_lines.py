"""Lines of a text, their tokens coloured by what they did, and how much over time beside them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize
from PySide6.QtGui import QColor, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from lmviz.app.look.color_maps import contrast, mix
from lmviz.app.widgets.kit.painter import AT_RIGHT, CENTRED, Painter, cut, measure_of
from lmviz.app.widgets.kit.pointing import DOWN, Pointable
from lmviz.app.widgets.kit.rows import across, in_the_middle
from lmviz.looks.ink import Ink
from lmviz.looks.pushed import PushedRow

ROW, INNER, HEAD, HEADING = 33.0, 24.0, 22.0, 28.0
SIZE, TOKEN, SMALL = 12.0, 11.5, 11.0
GAP, ARROW, TIMES = 8.0, 14.0, 40.0
BARS, SAID = (60.0, 120.0), 58.0
LEAST_LINE = 120.0
READ = 4.5
"""The contrast that words need with what they stand on (WCAG 2.1)."""

FAINT = 0.12
"""The push below which a token has no colour of its own."""


class PushedLinesView(Pointable):
    """`PushedLinesView()`: `set_rows(heads, rows)` shows rows of `PushedRow` under the heads of columns."""

    spoken_as = "List"

    arrows, points_by_key = DOWN, True
    takes_clicks = True

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._heads: tuple[str, ...] = ("",) * 5
        self._rows: tuple[PushedRow, ...] = ()
        self.set_readout(self._said_of)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        self.setAccessibleName("lines of the text")

    def set_rows(self, heads: Sequence[str], rows: Sequence[PushedRow]) -> None:
        """Show rows under the heads of label, times, line, bars and what is said."""
        self._heads, self._rows = tuple(heads), tuple(rows)
        self.show_count(len(self._rows))

    @property
    def rows(self) -> tuple[PushedRow, ...]:
        """What is shown."""
        return self._rows

    def description(self) -> str | None:
        lines = [" ".join(filter(None, (*row.label, row.said, " ".join(row.tokens)))) for row in self._rows]
        return "; ".join(lines[:12])

    def sizeHint(self) -> QSize:
        return self._sized(560, HEAD + sum(map(_height, self._rows)))

    def minimumSizeHint(self) -> QSize:
        return QSize(round(self.length(300)), self.sizeHint().height())

    def part_rectangle(self, index: int) -> QRectF | None:
        if not 0 <= index < len(self._rows):
            return None
        top = HEAD + sum(map(_height, self._rows[:index]))
        return QRectF(0, self.length(top), self.width(), self.length(_height(self._rows[index])))

    def _said_of(self, index: int) -> tuple[str, Sequence[str]]:
        row = self._rows[index]
        return "".join((row.label[0], " " if all(row.label) else "", row.label[1])) or row.said, row.tip

    def _columns(self) -> tuple[float, float, float, float]:
        """Where times, line, bars and what is said begin."""
        measure = measure_of(self.theme, SIZE, True, True)
        labels = [" ".join(filter(None, row.label)) for row in self._rows if not row.heading]
        widest = max((measure.horizontalAdvance(label) for label in labels), default=0.0)
        label = min(widest, 0.2 * self.width()) + self.length(ARROW + GAP)
        line = label + self.length(TIMES + GAP)
        said = self.width() - self.length(SAID)
        bars = min(max(self.length(BARS[0]), 0.2 * self.width()), self.length(BARS[1]))
        if not any(len(row.bars) for row in self._rows) or said - bars - line < self.length(LEAST_LINE):
            bars = 0.0
        return label, line, said - bars, said

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        times, line, bars, said = self._columns()
        gap = self.length(GAP)
        head = QRectF(0, 0, self.width(), self.length(HEAD))
        muted = self.theme.muted_text
        painter.fit(across(head, 0, times - gap), self._heads[0], muted, SMALL)
        painter.fit(across(head, times - gap, line - gap), self._heads[1], muted, SMALL, where=AT_RIGHT)
        painter.fit(across(head, line, bars - gap), self._heads[2], muted, SMALL)
        if said - bars > gap:
            painter.fit(across(head, bars, said - gap), self._heads[3], muted, SMALL)
        painter.fit(across(head, said, self.width()), self._heads[4], muted, SMALL, where=AT_RIGHT)
        self.draw_marks(painter)
        for index, row in enumerate(self._rows):
            area = self.part_rectangle(index)
            if area is None or not area.intersects(QRectF(event.rect())):
                continue
            if row.heading:
                self._paint_heading(painter, area, row)
                continue
            if not row.inner:
                painter.line(area.topLeft(), area.topRight(), self.theme.line)
            self._paint_label(painter, across(area, 0, times), row)
            ink = self.theme.accent if row.inner else muted
            painter.fit(across(area, times - gap, line - gap), row.times, ink, SMALL, where=AT_RIGHT)
            self._paint_line(painter, across(area, line, bars - gap), row)
            if said - bars > gap and len(row.bars):
                self._paint_bars(painter, across(area, bars, said - gap), row.bars)
            where = across(area, said, self.width())
            painter.fit(where, row.said, self._legible(row.ink), SIZE, bold=not row.inner, where=AT_RIGHT)
        self.draw_focus(painter)

    def _paint_heading(self, painter: Painter, area: QRectF, row: PushedRow) -> None:
        painter.box(area, self.theme.hover)
        inner = area.adjusted(self.length(6), 0, -self.length(6), 0)
        title = row.label[1] or row.label[0]
        painter.write(inner, title, self.theme.text, SIZE, bold=True)
        room = (
            inner.width()
            - measure_of(self.theme, SIZE, False, True).horizontalAdvance(title)
            - self.length(12)
        )
        shown = cut(row.said, room, measure_of(self.theme, SMALL, False, False))
        painter.write(inner, shown, self.theme.muted_text, SMALL, where=AT_RIGHT)

    def _paint_label(self, painter: Painter, area: QRectF, row: PushedRow) -> None:
        left = area.left()
        if row.opens:
            arrow = "▾" if row.is_open else "▸"
            painter.write(across(area, left, left + self.length(ARROW)), arrow, self.theme.muted_text, SMALL)
        left += self.length(ARROW)
        plain, bold = row.label
        room = area.right() - self.length(GAP) - left
        measure = measure_of(self.theme, SIZE, True, False)
        if plain:
            shown = cut(f"{plain} ", 0.6 * room, measure)
            painter.write(across(area, left, area.right()), shown, self.theme.text, SIZE, token=True)
            left += measure.horizontalAdvance(shown)
        if bold:
            ink = self._legible(row.ink)
            strong = measure_of(self.theme, SIZE, True, True)
            shown = cut(bold, area.right() - self.length(GAP) - left, strong)
            painter.write(across(area, left, area.right()), shown, ink, SIZE, bold=True, token=True)

    def _paint_line(self, painter: Painter, area: QRectF, row: PushedRow) -> None:
        """As many tokens as have room, so that the one that pushed most is among them."""
        left = area.left()
        if row.mark:
            width = measure_of(self.theme, SMALL, False, False).horizontalAdvance(row.mark) + self.length(10)
            chip = in_the_middle(across(area, left, left + width), self.length(17))
            painter.box(chip, self.theme.accent_wash, radius=4)
            painter.write(chip, row.mark, self.theme.accent, SMALL, where=CENTRED)
            left += width + self.length(6)
        measure, blank = measure_of(self.theme, TOKEN, True, False), self.length(5)
        widths = [measure.horizontalAdvance(token) + self.length(5) for token in row.tokens]
        first = _first_shown(widths, row.pushes, blank, area.right() - left)
        if first:
            painter.write(across(area, left, area.right()), "…", self.theme.muted_text, TOKEN, token=True)
            left += measure.horizontalAdvance("…") + blank
        for place in range(first, len(row.tokens)):
            if left + widths[place] > area.right():
                painter.write(
                    across(area, left, left + blank * 2), "…", self.theme.muted_text, TOKEN, token=True
                )
                break
            spot = across(area, left, left + widths[place])
            push = float(row.pushes[place]) if place < len(row.pushes) else 0.0
            ink = self.theme.text
            if abs(push) >= FAINT:
                fill = self._fill(push)
                painter.box(in_the_middle(spot, self.length(19)), fill, radius=3)
                ink = self.theme.on(fill)
            painter.write(spot, row.tokens[place], ink, TOKEN, token=True, where=CENTRED)
            left += widths[place] + blank - self.length(2)

    def _legible(self, ink: Ink) -> QColor:
        """An ink so much nearer to that of text that words in it can be read."""
        color = self.theme.ink(ink)
        steps = (mix(color, self.theme.text, share / 10) for share in range(11))
        return next(step for step in steps if contrast(step, self.theme.surface) >= READ)

    def _fill(self, push: float) -> QColor:
        """The colour of a push from −1 to 1, on the surface."""
        return mix(self.theme.surface, self.theme.signed(push), min(1.0, 0.15 + 0.7 * abs(push)))

    def _paint_bars(self, painter: Painter, area: QRectF, bars: np.ndarray) -> None:
        middle, half = area.center().y(), 0.42 * area.height()
        largest = float(np.abs(bars).max()) or 1.0
        painter.line(QPointF(area.left(), middle), QPointF(area.right(), middle), self.theme.line)
        width = area.width() / len(bars)
        for place, value in enumerate(bars.tolist()):
            high = abs(value) / largest * half
            top = middle - high if value > 0 else middle
            bar = QRectF(area.left() + place * width, top, max(1.0, width - 1.5), max(0.8, high))
            painter.box(bar, self.theme.signed(value))


def _height(row: PushedRow) -> float:
    """The height of a row in pixels at scale 1."""
    return HEADING if row.heading else INNER if row.inner else ROW


def _first_shown(widths: Sequence[float], pushes: np.ndarray, blank: float, room: float) -> int:
    """The first token that is drawn, so that the one that pushed most is drawn too."""
    if not len(pushes) or sum(widths) + blank * len(widths) <= room:
        return 0
    strongest = min(int(np.argmax(np.abs(pushes))), len(widths) - 1)
    first, taken = strongest, widths[strongest]
    while first > 0 and taken + widths[first - 1] + blank < 0.7 * room:
        first -= 1
        taken += widths[first] + blank
    return first
