"""Shares that shifted, as arrows of a look."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QWidget

from lmviz.app.widgets.looks.part_drawing import PartDrawing
from lmviz.app.widgets.plots.shift_arrows import ShiftArrows
from lmviz.looks.parts import Shifts


class ShiftsDrawing(PartDrawing[Shifts, ShiftArrows]):
    """Rows of arrows."""

    def make(self, part: Shifts, inner: Sequence[QWidget]) -> ShiftArrows:
        arrows = ShiftArrows()
        arrows.part_clicked.connect(lambda row: self.part.clicked(row))
        return arrows

    def put(self, part: Shifts) -> None:
        if self.changed("labels", "before", "after"):
            self.widget.set_shifts(part.labels, part.before, part.after)
