"""Curves of a look in a plot."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QWidget

from lmviz.app.widgets.looks.part_drawing import PartDrawing
from lmviz.app.widgets.plots.line_plot import LinePlot
from lmviz.looks.parts import Curves


class CurvesDrawing(PartDrawing[Curves, LinePlot]):
    """A plot, whose axes count as the first part says; their names may change."""

    def make(self, part: Curves, inner: Sequence[QWidget]) -> LinePlot:
        plot = LinePlot(
            part.x_name,
            part.possible[1],
            logarithmic=part.logarithmic,
            words=part.writes,
            y_name=part.y_name,
            possible_x=part.possible[0],
        )
        plot.cursor_moved.connect(lambda x: self.part.moved(x))
        return plot

    def put(self, part: Curves) -> None:
        self.widget.set_x_name(part.x_name)
        self.widget.set_y_name(part.y_name)
        self.widget.set_curves(part.curves)
        self.widget.set_references(part.references)
        if self.changed("marks"):
            self.widget.set_marks(part.marks)
        self.widget.set_cursor(part.cursor)
