"""Bars of a look."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QWidget

from lmviz.app.widgets.looks.part_drawing import PartDrawing
from lmviz.app.widgets.plots.bars import BarsView
from lmviz.looks.parts import Bars


class BarsDrawing(PartDrawing[Bars, BarsView]):
    """Bars, one of which can be marked without their being drawn anew."""

    def make(self, part: Bars, inner: Sequence[QWidget]) -> BarsView:
        bars = BarsView()
        bars.part_hovered.connect(lambda place: self.part.hovered(place))
        bars.part_clicked.connect(lambda place: self.part.clicked(place))
        return bars

    def put(self, part: Bars) -> None:
        if self.changed("labels", "values", "texts", "notes", "highlighted", "faded", "limit"):
            self.widget.set_bars(
                part.labels,
                part.values,
                texts=part.texts,
                notes=part.notes,
                highlighted=part.highlighted,
                faded=part.faded,
                limit=part.limit,
            )
        self.widget.set_current(part.current)
