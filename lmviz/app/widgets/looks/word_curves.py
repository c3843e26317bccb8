"""Curves over the words of a text, and their names."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QWidget

from lmviz.app.look.theme import current_theme
from lmviz.app.widgets.base.scrolling import QuietScrollArea, scrolling
from lmviz.app.widgets.looks.part_drawing import PartDrawing
from lmviz.app.widgets.plots.legend import Legend, LegendEntry
from lmviz.app.widgets.plots.surprisal_plot import SurprisalPlot, line_of
from lmviz.looks.parts import CurveNames, WordCurves


class WordCurvesDrawing(PartDrawing[WordCurves, QuietScrollArea]):
    """A plot in pages of as many words as have room."""

    def make(self, part: WordCurves, inner: Sequence[QWidget]) -> QuietScrollArea:
        self._plot = SurprisalPlot()
        self._plot.part_hovered.connect(lambda word: self.part.pointed(word))
        self._plot.part_clicked.connect(lambda word: self.part.clicked(word))
        return scrolling(self._plot)

    @property
    def speaker(self) -> QWidget:
        return self._plot

    def put(self, part: WordCurves) -> None:
        if self.changed("words", "curves", "below"):
            self._plot.set_words(part.words, [curve for curve in part.curves if curve.shown], part.below)
        self._plot.set_current(part.current)
        self._plot.set_hovered(part.hovered)


class CurveNamesDrawing(PartDrawing[CurveNames, Legend]):
    """A legend."""

    def make(self, part: CurveNames, inner: Sequence[QWidget]) -> Legend:
        legend = Legend(hides=True)
        legend.entry_clicked.connect(lambda name: self.part.clicked(name))
        return legend

    def put(self, part: CurveNames) -> None:
        theme = current_theme()
        self.widget.set_entries(
            [
                LegendEntry(each.name, theme.ink(each.ink), each.shown, line_of(each.turn))
                for each in part.curves
            ]
        )
