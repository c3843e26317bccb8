"""The base of plots over the words of a text: a column for each word, which stands below it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, QSize
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QSizePolicy, QWidget

from lmviz.app.widgets.base.canvas import metrics
from lmviz.app.widgets.kit.painter import AT_RIGHT, CENTRED, Painter, cut
from lmviz.app.widgets.text.marked_words import PagedWords

SIZE = 11.5
LEFT, TOP = 34, 8
MORE = 16  # what says that the text goes on
LABEL = 14  # the height of a number beside the scale
NARROWEST = 18


class OverWords(PagedWords):
    """Words side by side, with room above them for what subclasses draw, and `FOOT` pixels from there on.

    `LOWEST` is the least height, and a word is at most `WIDEST`, all at scale 1.
    """

    spoken_as = "Chart"

    toggles, marks_clicked = False, True
    usual = (420, 220)
    FOOT, LOWEST, WIDEST = 46, 92, 84

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words: tuple[str, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.MinimumExpanding, QSizePolicy.Policy.Expanding)

    def column(self, word: int) -> QRectF:
        """The stretch of the plot that belongs to a word."""
        left = self.length(LEFT)
        room = self.width() - left - (self.length(MORE) if self._in_sight.stop < len(self._words) else 0)
        width = room / max(1, len(self._in_sight))
        return QRectF(left + (word - self._in_sight.start) * width, 0, width, self.height())

    def minimumSizeHint(self) -> QSize:
        return QSize(round(self.length(LEFT + MORE) + self._least_column), round(self.length(self.LOWEST)))

    @property
    def _least_column(self) -> float:
        """The width below which words would be cut, in pixels."""
        measure = metrics(SIZE, token=True)
        widest = max((measure.horizontalAdvance(word) for word in self._words), default=0)
        return min(max(widest + self.length(8), self.length(NARROWEST)), self.length(self.WIDEST))

    def widths(self) -> list[float]:
        return [self._least_column] * len(self._words)

    def room(self) -> tuple[float, float]:
        return self.width() - self.length(LEFT), self.length(MORE)

    def adopt_theme(self) -> None:
        self.find_in_sight()
        super().adopt_theme()

    @property
    def bottom(self) -> float:
        """Where what is drawn above the words ends."""
        return self.height() - self.length(self.FOOT)

    def draw_marks(self, painter: Painter) -> None:
        """The whole column of the hovered word, and the chip of the chosen one."""
        foot = self.height() - self.length(self.FOOT - 4)
        for word, color, top in (
            (self._hovered, self.theme.hover, 0.0),
            (self._current, self.theme.accent_wash, foot),
        ):
            if word in self._in_sight:
                painter.box(self.column(word).adjusted(1, top, -1, 0), color, radius=4)

    def write_scale(self, painter: Painter, height: float, text: str) -> None:
        """A line across at a height, with its number at the left."""
        height = round(height) + 0.5
        painter.line(QPointF(self.length(LEFT), height), QPointF(self.width(), height), self.theme.line)
        area = QRectF(0, height - self.length(LABEL / 2), self.length(LEFT - 8), self.length(LABEL))
        painter.fit(area, text, self.theme.muted_text, SIZE, where=AT_RIGHT)

    def draw_words(self, painter: Painter) -> None:
        """The words that are in sight, and dots where the text goes on."""
        theme = self.theme
        self.write_row(painter, self._words, 6)
        painter.setPen(theme.muted_text)
        top, high = self.bottom + self.length(6), self.length(18)
        if self._in_sight.start > 0:
            painter.write(QRectF(0, top, self.length(LEFT - 6), high), "…", where=AT_RIGHT)
        if self._in_sight.stop < len(self._words):
            more = self.length(MORE)
            painter.write(QRectF(self.width() - more, top, more, high), "…", where=CENTRED)

    def write_row(
        self, painter: Painter, words: Sequence[str], down: float, ink: QColor | None = None
    ) -> None:
        """A word in each column, so many pixels below the plot."""
        measure = metrics(SIZE, token=True)
        top, high = self.bottom + self.length(down), self.length(18)
        for word in self._in_sight:
            area = self.column(word)
            shown = cut(words[word], area.width() - 2, measure)
            place = QRectF(area.left(), top, area.width(), high)
            painter.write(place, shown, ink or self.theme.text, SIZE, token=True, where=CENTRED)

    def beyond(self, place: QPointF) -> range:
        if place.x() < self.length(LEFT) and place.y() > self.bottom:
            return range(self._in_sight.start)
        if place.x() > self.width() - self.length(MORE):
            return range(self._in_sight.stop, len(self._words))
        return range(0)

    def index_at(self, place: QPointF) -> int:
        if not self._words or place.x() < self.length(LEFT) or self.beyond(place):
            return -1
        across = int((place.x() - self.length(LEFT)) / self.column(0).width())
        return min(self._in_sight.start + across, self._in_sight.stop - 1)
