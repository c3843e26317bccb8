"""Curves over the words of a text, one per model, and a strip that shows how far they disagree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from lmviz.app.widgets.base.arrows import ACROSS, along
from lmviz.app.widgets.base.canvas import Canvas, cut, metrics
from lmviz.app.widgets.base.figures import number
from lmviz.app.widgets.base.hover_card import HoverCard
from lmviz.app.widgets.base.words_in_sight import next_page, say_beyond, words_in_sight
from lmviz.app.widgets.plots.broken_path import broken_path

SIZE = 11.5
LEFT, TOP, FOOT = 34, 8, 46
MORE = 16  # what says that the text goes on
LOWEST, STRIP = 92, 7
LABEL = 14  # the height of a number beside the scale
NARROWEST, WIDEST = 18, 84
STYLES = (Qt.PenStyle.SolidLine, Qt.PenStyle.DashLine, Qt.PenStyle.DotLine, Qt.PenStyle.DashDotLine)


@dataclass(frozen=True, eq=False)
class WordCurve:
    """One curve: values (word,) in bits, NaN where there is none; `turn` picks the kind of its line."""

    name: str
    color: QColor
    values: np.ndarray
    turn: int = 0

    @property
    def line(self) -> Qt.PenStyle:
        """The kind of its line."""
        return STYLES[self.turn % len(STYLES)]


class SurprisalPlot(Canvas):
    """`SurprisalPlot()`: `set_words(words, curves, disagreement=None)`, disagreement (word,) in bits.

    `set_current(word)` and `set_hovered(word)` mark words. Where not all words fit, those around the current
    one are drawn, and dots at either end: a click on them goes on to the words beyond. Signals:
    `word_hovered(int)` (−1 on leaving), `word_clicked(int)`. Left and Right move the mark.
    """

    word_hovered = Signal(int)
    word_clicked = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words: tuple[str, ...] = ()
        self._curves: tuple[WordCurve, ...] = ()
        self._disagreement: np.ndarray | None = None
        self._current = self._hovered = -1
        self._in_sight, self._first = range(0), 0
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.MinimumExpanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName("surprisal of each word")

    def set_words(
        self, words: Sequence[str], curves: Sequence[WordCurve], disagreement: np.ndarray | None = None
    ) -> None:
        """Show curves over words; NaN in `disagreement` leaves the place below a word empty."""
        self._words, self._curves, self._disagreement = tuple(words), tuple(curves), disagreement
        self._hovered = min(self._hovered, len(words) - 1)
        HoverCard.renew(self, partial(self._say, self._hovered) if self._hovered >= 0 else None)
        self._look()
        self._describe()
        self.updateGeometry()
        self.update()

    @property
    def in_sight(self) -> range:
        """The words that are drawn: those there is room for."""
        return self._in_sight

    def set_current(self, word: int) -> None:
        """Mark the chosen word; −1 for none."""
        self._current = word
        self._look()
        self._describe()
        self.update()

    def set_hovered(self, word: int) -> None:
        """Show a word as hovered elsewhere, without a signal; −1 for none."""
        if word != self._hovered:
            self._hovered = word
            self.update()

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

    def sizeHint(self) -> QSize:
        return QSize(round(self.length(420)), round(self.length(220)))

    def minimumSizeHint(self) -> QSize:
        return QSize(round(self.length(LEFT + MORE) + self._least_column), round(self.length(LOWEST)))

    @property
    def _least_column(self) -> float:
        """The width below which words would be cut, in pixels."""
        measure = metrics(SIZE, token=True)
        widest = max((measure.horizontalAdvance(word) for word in self._words), default=0)
        return min(max(widest + self.length(8), self.length(NARROWEST)), self.length(WIDEST))

    def _look(self) -> None:
        """Find the words that are in sight."""
        widths = [self._least_column] * len(self._words)
        room, more = self.width() - self.length(LEFT), self.length(MORE)
        self._in_sight = words_in_sight(widths, self._current, room, self._first, more)
        self._first = self._in_sight.start

    def adopt_theme(self) -> None:
        self._look()
        super().adopt_theme()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._look()

    def _describe(self) -> None:
        inside = 0 <= self._current < len(self._words)
        lines = [self._words[self._current], *self._lines(self._current)] if inside else self._words[:12]
        self.setAccessibleDescription(", ".join(lines))

    def _lines(self, word: int) -> list[str]:
        lines = [
            f"{curve.name}  {number(float(curve.values[word]), 2)} bits"
            for curve in self._curves
            if not np.isnan(curve.values[word])
        ]
        if self._disagreement is not None and np.isfinite(self._disagreement[word]):
            lines.append(f"on what comes next they disagree by {self._disagreement[word]:.3f} bits")
        return lines or ["the first token has no context, so no probability"]

    def _say(self, word: int) -> tuple[str, Sequence[str]]:
        return self._words[word], self._lines(word)

    def _height_of(self, value: float) -> float:
        top, bottom = self.length(TOP), self.height() - self.length(FOOT)
        return bottom - (bottom - top) * min(value / self.largest, 1.0)

    def _point(self, curve: WordCurve, word: int) -> QPointF:
        return QPointF(self.column(word).center().x(), self._height_of(float(curve.values[word])))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = self.begin()
        if not self._words:
            return
        self._draw_marks(painter)
        self._draw_grid(painter)
        painter.setClipRect(self.rect().adjusted(round(self.length(LEFT)), 0, 0, 0))
        for curve in self._curves:
            pen = QPen(curve.color, self.length(1.8), curve.line)
            pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
            painter.setPen(pen)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawPath(broken_path(curve.values, partial(self._point, curve)))
        painter.setClipping(False)
        self._draw_points(painter)
        self._draw_words(painter)
        self._draw_disagreement(painter)
        self.draw_focus(painter)

    def _draw_marks(self, painter: QPainter) -> None:
        """The whole column of the hovered word, and the chip of the chosen one."""
        painter.setPen(Qt.PenStyle.NoPen)
        foot = self.height() - self.length(FOOT - 4)
        for word, color, top in (
            (self._hovered, self.theme.hover, 0.0),
            (self._current, self.theme.accent_wash, foot),
        ):
            if word in self._in_sight:
                painter.setBrush(color)
                area = self.column(word).adjusted(1, top, -1, 0)
                painter.drawRoundedRect(area, self.length(4), self.length(4))

    def _draw_grid(self, painter: QPainter) -> None:
        painter.setFont(self.theme.font(SIZE))
        parts = 4 if self._height_of(0) - self._height_of(self.largest) >= self.length(4 * LABEL) else 2
        for part in range(parts + 1):
            value = self.largest * part / parts
            height = round(self._height_of(value)) + 0.5
            painter.setPen(self.theme.line)
            painter.drawLine(QPointF(self.length(LEFT), height), QPointF(self.width(), height))
            painter.setPen(self.theme.muted_text)
            area = QRectF(0, height - self.length(LABEL / 2), self.length(LEFT - 8), self.length(LABEL))
            side = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
            painter.drawText(area, side, f"{value:g}")

    def _draw_points(self, painter: QPainter) -> None:
        word = self._hovered if self._hovered >= 0 else self._current
        for curve in self._curves if word in self._in_sight else ():
            if np.isfinite(curve.values[word]):
                painter.setPen(QPen(curve.color, self.length(1.8)))
                painter.setBrush(self.theme.surface)
                painter.drawEllipse(self._point(curve, word), self.length(3.2), self.length(3.2))

    def _draw_words(self, painter: QPainter) -> None:
        painter.setFont(self.theme.token_font(SIZE))
        painter.setPen(self.theme.text)
        measure = metrics(SIZE, token=True)
        top = self.height() - self.length(FOOT) + self.length(6)
        for number_of_word in self._in_sight:
            area = self.column(number_of_word)
            word = self._words[number_of_word]
            shown = cut(word, area.width() - 2, measure)
            place = QRectF(area.left(), top, area.width(), self.length(18))
            painter.drawText(place, Qt.AlignmentFlag.AlignCenter, shown)
        painter.setPen(self.theme.muted_text)
        if self._in_sight.start > 0:
            left = QRectF(0, top, self.length(LEFT - 6), self.length(18))
            painter.drawText(left, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, "…")
        if self._in_sight.stop < len(self._words):
            right = QRectF(self.width() - self.length(MORE), top, self.length(MORE), self.length(18))
            painter.drawText(right, Qt.AlignmentFlag.AlignCenter, "…")

    def _draw_disagreement(self, painter: QPainter) -> None:
        if self._disagreement is None or not np.isfinite(self._disagreement).any():
            return
        shades, limit = self.theme.share_map, np.nanmax(self._disagreement) or 1.0
        painter.setPen(self.theme.line)
        for word in self._in_sight:
            value = self._disagreement[word]
            if np.isfinite(value):
                area = self.column(word)
                painter.setBrush(QColor(*shades[round(255 * value / limit)].tolist()))
                width = min(area.width() - self.length(4), self.length(52))
                top = self.height() - self.length(STRIP + 10)
                strip = QRectF(area.center().x() - width / 2, top, width, self.length(STRIP))
                painter.drawRoundedRect(strip, self.length(2), self.length(2))

    def _beyond(self, place: QPointF) -> range:
        """The words that the dots at a place stand for; none elsewhere."""
        if place.x() < self.length(LEFT) and place.y() > self.height() - self.length(FOOT):
            return range(self._in_sight.start)
        if place.x() > self.width() - self.length(MORE):
            return range(self._in_sight.stop, len(self._words))
        return range(0)

    def _word_at(self, place: QPointF) -> int:
        if not self._words or place.x() < self.length(LEFT) or self._beyond(place):
            return -1
        across = int((place.x() - self.length(LEFT)) / self.column(0).width())
        return min(self._in_sight.start + across, self._in_sight.stop - 1)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        word = self._word_at(event.position())
        changed = word != self._hovered
        self.set_hovered(word)
        beyond = self._beyond(event.position())
        self.setCursor(Qt.CursorShape.PointingHandCursor if beyond else Qt.CursorShape.ArrowCursor)
        if word >= 0:
            HoverCard.beside(self, event.position().toPoint(), *self._say(word))
        elif beyond:
            HoverCard.beside(self, event.position().toPoint(), *say_beyond(len(beyond)))
        else:
            HoverCard.leave(self)
        if changed:
            self.word_hovered.emit(word)

    def leaveEvent(self, event: QEvent) -> None:
        HoverCard.leave(self)
        if self._hovered >= 0:
            self.set_hovered(-1)
            self.word_hovered.emit(-1)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            return
        word, beyond = self._word_at(event.position()), self._beyond(event.position())
        if beyond:
            HoverCard.leave(self)  # other words stand there now
            self._first, word = next_page(self._in_sight, forward=beyond.start > 0)
        if word >= 0:
            self._choose(word)

    def _choose(self, word: int) -> None:
        self.set_current(word)
        self.word_clicked.emit(word)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        wanted = along(ACROSS, event.key(), self._current, len(self._words))
        if wanted is not None:
            self._choose(wanted)
        else:
            super().keyPressEvent(event)


def _rounded_up(value: float) -> float:
    """The next number that four steps divide evenly to the eye: 1, 2, 4, 6, 8, 12, 16, 20, 24 …"""
    steps = (1, 2, 4, 6, 8, 12, 16, 20, 24, 32, 40, 60, 80)
    return next((float(step) for step in steps if step >= value), float(np.ceil(value / 40) * 40))
