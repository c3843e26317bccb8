"""Curves over the words of a text, one per model, and a strip that shows how far they disagree."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPaintEvent
from PySide6.QtWidgets import QWidget

from lmviz.app.widgets.base.figures import number
from lmviz.app.widgets.kit.painter import Painter
from lmviz.app.widgets.kit.pointing import Words
from lmviz.app.widgets.plots.over_words import LABEL, LEFT, TOP, OverWords
from lmviz.looks.word_curve import WordCurve

STRIP = 7  # pixels at scale 1
STYLES = (Qt.PenStyle.SolidLine, Qt.PenStyle.DashLine, Qt.PenStyle.DotLine, Qt.PenStyle.DashDotLine)


def line_of(turn: int) -> Qt.PenStyle:
    """The kind of line of one of several curves in one colour."""
    return STYLES[turn % len(STYLES)]


class SurprisalPlot(OverWords):
    """`SurprisalPlot()`: `set_words(words, curves, disagreement=None)`, disagreement (word,) in bits.

    `set_current(word)` and `set_hovered(word)` mark words.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._curves: tuple[WordCurve, ...] = ()
        self._disagreement: np.ndarray | None = None
        self.setAccessibleName("surprisal of each token")

    def set_words(
        self, words: Sequence[str], curves: Sequence[WordCurve], disagreement: np.ndarray | None = None
    ) -> None:
        """Show curves over words; NaN in `disagreement` leaves the place below a word empty."""
        self._words, self._curves, self._disagreement = tuple(words), tuple(curves), disagreement
        self.show_count(len(words))
        self.find_in_sight()

    @property
    def largest(self) -> float:
        """The upper end of the scale, in bits."""
        finite = [curve.values[np.isfinite(curve.values)].max(initial=0) for curve in self._curves]
        return _rounded_up(max([*finite, 1.0]))

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
        top, bottom = self.length(TOP), self.bottom
        return bottom - (bottom - top) * min(value / self.largest, 1.0)

    def _point(self, curve: WordCurve, word: int) -> QPointF:
        return QPointF(self.column(word).center().x(), self._height_of(float(curve.values[word])))

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        if not self._words:
            return
        self.draw_marks(painter)
        self._draw_grid(painter)
        with painter.clipped(QRectF(self.rect().adjusted(round(self.length(LEFT)), 0, 0, 0))):
            for curve in self._curves:
                ink, line = self.theme.ink(curve.ink), line_of(curve.turn)
                painter.curve(curve.values, partial(self._point, curve), ink, 1.8, line)
        self._draw_points(painter)
        self.draw_words(painter)
        self._draw_disagreement(painter)
        self.draw_focus(painter)

    def _draw_grid(self, painter: Painter) -> None:
        parts = 4 if self._height_of(0) - self._height_of(self.largest) >= self.length(4 * LABEL) else 2
        for part in range(parts + 1):
            value = self.largest * part / parts
            self.write_scale(painter, self._height_of(value), f"{value:g}")

    def _draw_points(self, painter: Painter) -> None:
        word = self._hovered if self._hovered >= 0 else self._current
        for curve in self._curves if word in self._in_sight else ():
            if np.isfinite(curve.values[word]):
                painter.dot(self._point(curve, word), 3.2, self.theme.surface, self.theme.ink(curve.ink), 1.8)

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


def _rounded_up(value: float) -> float:
    """The next number that four steps divide evenly to the eye: 1, 2, 4, 6, 8, 12, 16, 20, 24 …"""
    steps = (1, 2, 4, 6, 8, 12, 16, 20, 24, 32, 40, 60, 80)
    return next((float(step) for step in steps if step >= value), float(np.ceil(value / 40) * 40))
