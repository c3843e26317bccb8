"""A signed bar for each word of a text, above it; below it, where known, another word."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from lmviz.app.widgets.base.figures import signed_figure
from lmviz.app.widgets.kit.painter import Painter
from lmviz.app.widgets.kit.pointing import Words
from lmviz.app.widgets.plots.over_words import LABEL, LEFT, TOP, OverWords

BAR = 0.7
"""The width of a bar, as a share of its column."""


class WordBarsPlot(OverWords):
    """`WordBarsPlot()`: `set_bars(words, values, errors=None, line=None, below=())`, numbers (word,).

    NaN is no bar. `errors` are drawn as whiskers on either side, `line` as a dashed curve; `below` are words
    under the words.
    """

    usual = (420, 240)
    FOOT, LOWEST, WIDEST = 52, 110, 58

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._values = self._errors = self._line = np.zeros(0)
        self._below: tuple[str, ...] = ()
        self.setAccessibleName("a number for each word")

    @property
    def values(self) -> np.ndarray:
        """The number of each word, (word,)."""
        return self._values

    def set_bars(
        self,
        words: Sequence[str],
        values: Sequence[float] | np.ndarray,
        errors: np.ndarray | None = None,
        line: np.ndarray | None = None,
        below: Sequence[str] = (),
    ) -> None:
        """Show a number over each word."""
        nothing = np.full(len(words), np.nan)
        self._words, self._below = tuple(words), tuple(below)
        self._values = np.asarray(values, dtype=np.float64)
        self._errors, self._line = nothing if errors is None else errors, nothing if line is None else line
        self.show_count(len(words))
        self.find_in_sight()

    def description(self) -> str:
        if self._current >= 0:
            return self._said(self._current)
        return ", ".join(self._said(word) for word in range(min(6, len(self._words))))

    def readout(self, index: int) -> Words:
        below = (f"below: {self._below[index]}",) if self._below else ()
        return self._said(index), below

    def _said(self, word: int) -> str:
        value = float(self._values[word])
        return f"{self._words[word]} {signed_figure(value) if np.isfinite(value) else 'not measured'}"

    @property
    def limits(self) -> tuple[float, float]:
        """The lowest and the highest number that is drawn, zero among them."""
        ends = [self._values, self._values - self._errors, self._values + self._errors, self._line]
        finite = np.concatenate([each[np.isfinite(each)] for each in ends])
        low, high = float(finite.min(initial=0.0)), float(finite.max(initial=0.0))
        return (low, high) if high > low else (low, low + 1.0)

    def _height_of(self, value: float) -> float:
        low, high = self.limits
        return self.bottom - (self.bottom - self.length(TOP)) * (value - low) / (high - low)

    def _line_point(self, word: int) -> QPointF:
        return QPointF(self.column(word).center().x(), self._height_of(float(self._line[word])))

    def bar(self, word: int) -> QRectF:
        """Where the bar of a word is drawn."""
        column, zero, reach = (
            self.column(word),
            self._height_of(0.0),
            self._height_of(float(self._values[word])),
        )
        width = min(BAR * column.width(), self.length(48))
        return QRectF(column.center().x() - width / 2, min(zero, reach), width, abs(zero - reach))

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        if not self._words:
            return
        low, high = self.limits
        self.draw_marks(painter)
        apart = self.length(LABEL) * (high - low) / max(1.0, self.bottom - self.length(TOP))
        for value in (low, high):
            if abs(value) > apart:
                self.write_scale(painter, self._height_of(value), signed_figure(value, 1))
        self.write_scale(painter, self._height_of(0.0), "0")
        for word in self._in_sight:
            value, error = float(self._values[word]), float(self._errors[word])
            if not np.isfinite(value):
                continue
            painter.box(self.bar(word), self.theme.signed(value))
            if np.isfinite(error):
                x = self.column(word).center().x()
                ends = QPointF(x, self._height_of(value - error)), QPointF(x, self._height_of(value + error))
                painter.line(*ends, QPen(self.theme.text, 1.2))
        with painter.clipped(QRectF(self.rect().adjusted(round(self.length(LEFT)), 0, 0, 0))):
            painter.curve(self._line, self._line_point, self.theme.muted_text, 1.4, Qt.PenStyle.DashLine)
        self.draw_words(painter)
        if self._below:
            self.write_row(painter, self._below, 26, self.theme.muted_text)
        self.draw_focus(painter)
