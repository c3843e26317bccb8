"""Words, each with what a gradient predicts of erasing it beside what erasing it does, as signed bars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from lmviz.app.look.color_maps import mix
from lmviz.app.widgets.base.figures import signed_figure
from lmviz.app.widgets.kit.painter import AT_RIGHT, CENTRED, Painter, cut
from lmviz.app.widgets.kit.row_parts import AlongRow, RowParts
from lmviz.app.widgets.kit.rows import across
from lmviz.app.widgets.text.marked_words import WordColumn

SIZE, HEAD_SIZE = 12, 11
WORD = 0.3  # of the width, at most
NUMBER = "+00.00"
LEAST_BARS = 90  # pixels at scale 1 below which the predictions are not written out
NOTHING = 0.005  # of the longest bar: a row says 0.00 of less, and the pointer brings the number itself
STRONGEST = 0.55  # of the full colour, behind the word that changes most
PREDICTED, MEASURED = "gradient says", "erasing does"


@dataclass(frozen=True)
class WordEffect:
    """A word, by how much a number is predicted to change without it, and by how much it changes."""

    word: str
    predicted: float
    measured: float


class WordEffects(RowParts, WordColumn):
    """`WordEffects()`: `set_words(words, limit)`, one below the other; `set_current(index)` marks one.

    Upper bars are what is predicted, lower ones what was measured, both from a line in the middle up to
    `limit`; a word stands on the colour of what was measured. `words_named` is what the words are called in
    the head. Up and Down move the mark.
    """

    HEAD, WIDTHS = 20, (280, 220)

    def __init__(self, words_named: str = "without", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._named = words_named
        self._words: tuple[WordEffect, ...] = ()
        self._limit = 1.0
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        self.setAccessibleName("what erasing each token would do, and does")

    @property
    def words(self) -> tuple[WordEffect, ...]:
        """What is shown."""
        return self._words

    def set_words(self, words: Sequence[WordEffect], limit: float) -> None:
        """Show words; the longest bar is as long as `limit`."""
        self._words, self._limit = tuple(words), limit if limit > 0 else 1.0
        self.show_count(len(self._words))

    def readout(self, index: int) -> tuple[str, Sequence[str]]:
        word = self._words[index]
        return f"{self._named} “{word.word}”", [
            f"{PREDICTED}  {signed_figure(word.predicted, 4)}",
            f"{MEASURED}  {signed_figure(word.measured, 4)}",
        ]

    def description(self) -> str:
        said = [
            f"{self._named} {item.word}: {PREDICTED} {signed_figure(item.predicted)}, "
            f"{MEASURED} {signed_figure(item.measured)}"
            for item in self._words
        ]
        return said[self.current] if self.current >= 0 else "; ".join(said[:5])

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        self.draw_marks(painter)
        bars, numbers = self._columns()
        self._draw_head(painter, bars, numbers)
        for index in self.rows_in(event.rect()):
            self._draw_row(painter, index, bars, numbers)
        middle = round(bars.center().x()) + 0.5
        ends = QPointF(middle, self.top(0)), QPointF(middle, self.top(len(self._words)))
        painter.line(*ends, QPen(self.theme.line, 1))
        self.draw_focus(painter)

    def _columns(self) -> tuple[QRectF, tuple[QRectF, QRectF]]:
        """Where bars are drawn, and where both numbers are written, from left to right."""
        typed = self.metrics(SIZE, token=True)
        widest = max((typed.horizontalAdvance(item.word) for item in self._words), default=0)
        word = min(widest + self.length(12), WORD * self.width())
        titles = self.metrics(HEAD_SIZE)
        wide = [
            max(titles.horizontalAdvance(title), self.metrics(SIZE).horizontalAdvance(NUMBER))
            + self.length(8)
            for title in (PREDICTED, MEASURED)
        ]
        right = self.width() - self.length(4)
        numbers = (QRectF(right - sum(wide), 0, wide[0], 0), QRectF(right - wide[1], 0, wide[1], 0))
        left = self.length(4) + word + self.length(8)
        if numbers[0].left() - left < self.length(LEAST_BARS):
            numbers = (QRectF(numbers[1].left(), 0, 0, 0), numbers[1])
        return QRectF(left, 0, max(1.0, numbers[0].left() - left), 0), numbers

    def _draw_head(self, painter: Painter, bars: QRectF, numbers: tuple[QRectF, QRectF]) -> None:
        height = self.length(self.HEAD)
        place = QRectF(self.length(4), 0, bars.right() - self.length(4), height)  # no bar stands so high
        painter.write(place, self._named, self.theme.muted_text, HEAD_SIZE)
        for title, column in zip((PREDICTED, MEASURED), numbers, strict=True):
            if not column.width():
                continue
            painter.write(QRectF(column.left(), 0, column.width(), height), title, where=AT_RIGHT)

    def _draw_row(self, painter: Painter, index: int, bars: QRectF, numbers: tuple[QRectF, QRectF]) -> None:
        item, place = self._words[index], self.part_rectangle(index)
        self._draw_word(painter, item, place, bars.left() - self.length(8))
        pairs = ((item.predicted, 0.27, 5.0), (item.measured, 0.66, 7.0))
        for (value, height, thick), column in zip(pairs, numbers, strict=True):
            middle = place.top() + height * place.height()
            self._draw_bar(painter, value, middle, thick, bars)
            if not column.width():
                continue
            ink = self.theme.muted_text if value is item.predicted else self.theme.text
            area = across(place, column.left(), column.right())
            self.write_figure(painter, area, self._figure(value), ink, margin=0)

    def _draw_word(self, painter: Painter, item: WordEffect, place: QRectF, right: float) -> None:
        theme, typed = self.theme, self.metrics(SIZE, token=True)
        area = QRectF(self.length(4), place.top() + 2, right - self.length(4), place.height() - 4)
        word = cut(item.word, area.width() - self.length(8), typed)
        ground = mix(theme.surface, self.theme.signed(item.measured), STRONGEST * self._share(item.measured))
        chip = QRectF(area.left(), area.top(), typed.horizontalAdvance(word) + self.length(8), area.height())
        painter.box(chip, ground, radius=4)
        painter.write(chip, word, theme.on(ground), SIZE, token=True, where=CENTRED)

    def _draw_bar(self, painter: Painter, value: float, middle: float, thick: float, bars: QRectF) -> None:
        gap, high = self.length(4), self.length(thick)
        stretch = AlongRow(-self._limit, self._limit, bars.left() + gap, bars.right() - gap)
        row = QRectF(0, middle - high / 2, self.width(), high)
        ends = 0.0, min(max(value, -self._limit), self._limit)
        ink = self.theme.signed(value)
        if thick < 6:  # what is only predicted is paler
            ink = mix(self.theme.surface, ink, 0.5)
        self.draw_signed_bar(painter, row, stretch, ends, thick, ink, radius=1.5 / self.theme.scale)

    def _figure(self, value: float) -> str:
        """A change as it is written in a row: no powers of ten beside numbers that are so much larger."""
        if abs(value) < NOTHING * self._limit:
            return "−0.00" if value < 0 else "+0.00" if value else "0.00"
        return signed_figure(value)

    def _share(self, value: float) -> float:
        return min(1.0, abs(value) / self._limit)
