"""Signed bars over the words of a text, in a look."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QWidget

from lmviz.app.widgets.base.scrolling import QuietScrollArea, scrolling
from lmviz.app.widgets.looks.part_drawing import PartDrawing
from lmviz.app.widgets.plots.word_bars import WordBarsPlot
from lmviz.looks.parts import WordBars


class WordBarsDrawing(PartDrawing[WordBars, QuietScrollArea]):
    """Bars in pages of as many words as have room."""

    def make(self, part: WordBars, inner: Sequence[QWidget]) -> QuietScrollArea:
        self._plot = WordBarsPlot()
        self._plot.part_hovered.connect(lambda word: self.part.pointed(word))
        self._plot.part_clicked.connect(lambda word: self.part.clicked(word))
        self._plot.set_readout(lambda word: self.part.readout(word))
        return scrolling(self._plot)

    @property
    def speaker(self) -> QWidget:
        return self._plot

    def put(self, part: WordBars) -> None:
        if self.changed("words", "values", "errors", "line", "below"):
            self._plot.set_bars(part.words, part.values, part.errors, part.line, part.below)
        self._plot.set_current(part.current)
        self._plot.set_hovered(part.hovered)
