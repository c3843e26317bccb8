"""Curves over the words of a text, one per model, and a strip that shows how far they disagree."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from lmviz.app.widgets.base.canvas import metrics
from lmviz.app.widgets.base.figures import number
from lmviz.app.widgets.kit.painter import AT_RIGHT, CENTRED, Painter, cut
from lmviz.app.widgets.kit.pointing import Words
from lmviz.app.widgets.text.marked_words import PagedWords
from lmviz.looks.word_curve import WordCurve

SIZE = 11.5
LEFT, TOP, FOOT = 34, 8, 46
MORE = 16  # what says that the text goes on
LOWEST, STRIP = 92, 7
LABEL = 14  # the height of a number beside the scale
NARROWEST, WIDEST = 18, 84
STYLES = (Qt.PenStyle.SolidLine, Qt.PenStyle.DashLine, Qt.PenStyle.DotLine, Qt.PenStyle.DashDotLine)


def line_of(turn: int) -> Qt.PenStyle:
    """The kind of line of one of several curves in one colour."""
    return STYLES[turn % len(STYLES)]


class SurprisalPlot(PagedWords):
    """`SurprisalPlot()`: `set_words(words, curves, disagreement=None)`, disagreement (word,) in bits.

    `set_current(word)` and `set_hovered(word)` mark words.
    """

    spoken_as = "Chart"

    toggles, marks_clicked = False, True
    usual = (420, 220)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words: tuple[str, ...] = ()
        self._curves: tuple[WordCurve, ...] = ()
        self._disagreement: np.ndarray | None = None
        self.setSizePolicy(QSizePolicy.Policy.MinimumExpanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName("surprisal of each token")

    def set_words(
        self, words: Sequence[str], curves: Sequence[WordCurve], disagreement: np.ndarray | None = None
    ) -> None:
        """Show curves over words; NaN in `disagreement` leaves the place below a word empty."""
        self._words, self._curves, self._disagreement = tuple(words), tuple(curves), disagreement
        self.show_count(len(words))
        self.find_in_sight()

    def column(self, word: int) -> QRectF:
        """The stretch of the plot that belongs to a word."""
        left = self.length(LEFT)
        room = self.width() - left - (self.length(MORE) if self._in_sight.stop < len(self._words) else 0)
        width = room / max(1, len(self._in_sight))
        return QRectF(left + (word - self._in_sight.start) * width, 0, width, self.height())

    @property
    def largest(self) -> float:
        """The upper end of the scale, in bits."""
        finite = [curve.values[np.isfinite(curve.values)].max(initial=0) for curve in self._curves]
        return _rounded_up(max([*finite, 1.0]))

    def minimumSizeHint(self) -> QSize:
        return QSize(round(self.length(LEFT + MORE) + self._least_column), round(self.length(LOWEST)))

    @property
    def _least_column(self) -> float:
        """The width below which words would be cut, in pixels."""
        measure = metrics(SIZE, token=True)
        widest = max((measure.horizontalAdvance(word) for word in self._words), default=0)
        return min(max(widest + self.length(8), self.length(NARROWEST)), self.length(WIDEST))

    def widths(self) -> list[float]:
        return [self._least_column] * len(self._words)

    def room(self) -> tuple[float, float]:
        return self.width() - self.length(LEFT), self.length(MORE)

    def adopt_theme(self) -> None:
        self.find_in_sight()
        super().adopt_theme()

    def description(self) -> str:
        chosen = self._current >= 0
        return ", ".join(
            [self._words[self._current], *self._lines(self._current)] if chosen else self._words[:12]
        )

    def _lines(self, word: int) -> list[str]:
        lines = [
            f"{curve.name}  {number(float(curve.values[word]), 2)} bits"
            for curve in self._curves
            if not np.isnan(curve.values[word])
        ]
        if self._disagreement is not None and np.isfinite(self._disagreement[word]):
            lines.append(f"on what comes next they disagree by {self._disagreement[word]:.3f} bits")
        return lines or ["the first token has no context, so no probability"]

    def readout(self, index: int) -> Words:
        return self._words[index], self._lines(index)

    def _height_of(self, value: float) -> float:
        top, bottom = self.length(TOP), self.height() - self.length(FOOT)
        return bottom - (bottom - top) * min(value / self.largest, 1.0)

    def _point(self, curve: WordCurve, word: int) -> QPointF:
        return QPointF(self.column(word).center().x(), self._height_of(float(curve.values[word])))

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        if not self._words:
            return
        self._draw_marks(painter)
        self._draw_grid(painter)
        painter.setClipRect(self.rect().adjusted(round(self.length(LEFT)), 0, 0, 0))
        for curve in self._curves:
            painter.curve(
                curve.values, partial(self._point, curve), self.theme.ink(curve.ink), 1.8, line_of(curve.turn)
            )
        painter.setClipping(False)
        self._draw_points(painter)
        self._draw_words(painter)
        self._draw_disagreement(painter)
        self.draw_focus(painter)

    def _draw_marks(self, painter: Painter) -> None:
        """The whole column of the hovered word, and the chip of the chosen one."""
        foot = self.height() - self.length(FOOT - 4)
        for word, color, top in (
            (self._hovered, self.theme.hover, 0.0),
            (self._current, self.theme.accent_wash, foot),
        ):
            if word in self._in_sight:
                painter.box(self.column(word).adjusted(1, top, -1, 0), color, radius=4)

    def _draw_grid(self, painter: Painter) -> None:
        parts = 4 if self._height_of(0) - self._height_of(self.largest) >= self.length(4 * LABEL) else 2
        for part in range(parts + 1):
            value = self.largest * part / parts
            height = round(self._height_of(value)) + 0.5
            painter.line(QPointF(self.length(LEFT), height), QPointF(self.width(), height), self.theme.line)
            area = QRectF(0, height - self.length(LABEL / 2), self.length(LEFT - 8), self.length(LABEL))
            painter.write(area, f"{value:g}", self.theme.muted_text, SIZE, where=AT_RIGHT)

    def _draw_points(self, painter: Painter) -> None:
        word = self._hovered if self._hovered >= 0 else self._current
        for curve in self._curves if word in self._in_sight else ():
            if np.isfinite(curve.values[word]):
                painter.dot(self._point(curve, word), 3.2, self.theme.surface, self.theme.ink(curve.ink), 1.8)

    def _draw_words(self, painter: Painter) -> None:
        theme, measure = self.theme, metrics(SIZE, token=True)
        top, high = self.height() - self.length(FOOT) + self.length(6), self.length(18)
        for number_of_word in self._in_sight:
            area = self.column(number_of_word)
            shown = cut(self._words[number_of_word], area.width() - 2, measure)
            place = QRectF(area.left(), top, area.width(), high)
            painter.write(place, shown, theme.text, SIZE, token=True, where=CENTRED)
        painter.setPen(theme.muted_text)
        if self._in_sight.start > 0:
            painter.write(QRectF(0, top, self.length(LEFT - 6), high), "…", where=AT_RIGHT)
        if self._in_sight.stop < len(self._words):
            more = self.length(MORE)
            painter.write(QRectF(self.width() - more, top, more, high), "…", where=CENTRED)

    def _draw_disagreement(self, painter: Painter) -> None:
        if self._disagreement is None or not np.isfinite(self._disagreement).any():
            return
        shades, limit = self.theme.share_map, np.nanmax(self._disagreement) or 1.0
        top, high = self.height() - self.length(STRIP + 10), self.length(STRIP)
        for word in self._in_sight:
            value, area = self._disagreement[word], self.column(word)
            if np.isfinite(value):
                color = QColor(*shades[round(255 * value / limit)].tolist())
                width = min(area.width() - self.length(4), self.length(52))
                strip = QRectF(area.center().x() - width / 2, top, width, high)
                painter.box(strip, color, self.theme.line, radius=2)

    def beyond(self, place: QPointF) -> range:
        if place.x() < self.length(LEFT) and place.y() > self.height() - self.length(FOOT):
            return range(self._in_sight.start)
        if place.x() > self.width() - self.length(MORE):
            return range(self._in_sight.stop, len(self._words))
        return range(0)

    def index_at(self, place: QPointF) -> int:
        if not self._words or place.x() < self.length(LEFT) or self.beyond(place):
            return -1
        across = int((place.x() - self.length(LEFT)) / self.column(0).width())
        return min(self._in_sight.start + across, self._in_sight.stop - 1)


def _rounded_up(value: float) -> float:
    """The next number that four steps divide evenly to the eye: 1, 2, 4, 6, 8, 12, 16, 20, 24 …"""
    steps = (1, 2, 4, 6, 8, 12, 16, 20, 24, 32, 40, 60, 80)
    return next((float(step) for step in steps if step >= value), float(np.ceil(value / 40) * 40))
