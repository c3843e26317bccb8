"""Dots, points and sized cells of a look."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QWidget

from lmviz.app.widgets.looks.part_drawing import PartDrawing
from lmviz.app.widgets.matrix.sized_cells import SizedCells
from lmviz.app.widgets.plots.dot_rows import DotRows
from lmviz.app.widgets.plots.point_cloud import PointCloud
from lmviz.looks.parts import Dots, Points, Sized


class DotsDrawing(PartDrawing[Dots, DotRows]):
    """Rows of dots."""

    def make(self, part: Dots, inner: Sequence[QWidget]) -> DotRows:
        dots = DotRows()
        dots.part_clicked.connect(lambda dot: self.part.clicked(dots.numbers[dot]))
        dots.set_readout(lambda dot: self.part.readout(dots.numbers[dot]))
        return dots

    def put(self, part: Dots) -> None:
        if self.changed("rows"):
            self.widget.set_rows(part.rows)
        self.widget.ring(part.ringed)


class PointsDrawing(PartDrawing[Points, PointCloud]):
    """Points over two axes."""

    def make(self, part: Points, inner: Sequence[QWidget]) -> PointCloud:
        points = PointCloud()
        points.part_clicked.connect(lambda point: self.part.clicked(point))
        points.set_readout(lambda point: self.part.readout(point))
        return points

    def put(self, part: Points) -> None:
        self.widget.set_names(part.x_name, part.y_name)
        if self.changed("x", "y", "inks"):
            self.widget.set_points(part.x, part.y, part.inks)
        self.widget.ring(part.ringed)


class SizedDrawing(PartDrawing[Sized, SizedCells]):
    """Cells with a colour and a size."""

    def make(self, part: Sized, inner: Sequence[QWidget]) -> SizedCells:
        cells = SizedCells()
        cells.part_clicked.connect(lambda cell: self.part.clicked(*divmod(cell, len(self.part.columns))))
        cells.set_readout(lambda cell: self.part.readout(*divmod(cell, len(self.part.columns))))
        return cells

    def put(self, part: Sized) -> None:
        if self.changed("values", "sizes", "rows", "columns", "names"):
            self.widget.set_cells(part.values, part.sizes, part.rows, part.columns, part.names)
        places = [row * len(part.columns) + column for row, column in part.marked]
        first, second = [*places, -1, -1][:2]
        self.widget.set_marks(first, second)
