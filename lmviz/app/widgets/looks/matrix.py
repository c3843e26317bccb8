"""A matrix of a look as a heatmap."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QWidget

from lmviz.app.widgets.looks.part_drawing import PartDrawing
from lmviz.app.widgets.matrix.heatmap import HeatmapView
from lmviz.looks.parts import Matrix


class MatrixDrawing(PartDrawing[Matrix, HeatmapView]):
    """A heatmap. What is marked in it moves without its cells being set again."""

    def make(self, part: Matrix, inner: Sequence[QWidget]) -> HeatmapView:
        heatmap = HeatmapView()
        heatmap.set_readout(lambda row, column: self.part.readout(row, column))
        heatmap.cell_clicked.connect(lambda row, column: self.part.clicked(row, column))
        return heatmap

    def put(self, part: Matrix) -> None:
        if self.changed("values", "scale", "limit", "floor", "rows", "columns", "words"):
            self.widget.set_matrix(
                part.values,
                scale=part.scale,
                limit=part.limit,
                floor=part.floor,
                rows=part.rows,
                columns=part.columns,
                words=part.words,
            )
        self.widget.set_stairs(part.stairs, part.stairs_mean)
        self.widget.set_notes(part.notes_title, part.notes)
        self.widget.set_selection(part.row, part.column)
        self.widget.set_pinned(part.pinned)
        self.widget.set_suggested(part.suggested)
