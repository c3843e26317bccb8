"""Parts one below the other, side by side, and the room between them."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QBoxLayout, QSizePolicy, QWidget

from lmviz.app.widgets.base.beside import Beside
from lmviz.app.widgets.base.building import column, sheet, stand_first
from lmviz.app.widgets.looks.part_drawing import PartDrawing
from lmviz.looks.parts import LookPart, SideBySide, Space, Stacked


def arrange(layout: QBoxLayout, parts: Sequence[LookPart], widgets: Sequence[QWidget]) -> None:
    """Have the widgets of some parts in a layout, in this order, each with its share."""
    stand_first(layout, widgets)
    for place, part in enumerate(parts):
        if layout.stretch(place) != part.share:
            layout.setStretch(place, part.share)


class StackedDrawing(PartDrawing[Stacked, QWidget]):
    """A column."""

    def make(self, part: Stacked, inner: Sequence[QWidget]) -> QWidget:
        self._column = column()
        return sheet(self._column)

    def hold(self, part: Stacked, inner: Sequence[QWidget]) -> None:
        arrange(self._column, part.parts, inner)

    def put(self, part: Stacked) -> None:
        """Nothing: it is what it holds."""


class SideBySideDrawing(PartDrawing[SideBySide, Beside]):
    """Two widgets."""

    def make(self, part: SideBySide, inner: Sequence[QWidget]) -> Beside:
        return Beside(inner[0], inner[1], part.shares)

    def hold(self, part: SideBySide, inner: Sequence[QWidget]) -> None:
        self.widget.hold(inner[0], inner[1])

    def put(self, part: SideBySide) -> None:
        """Nothing: it is what it holds."""


class SpaceDrawing(PartDrawing[Space, QWidget]):
    """Nothing, in as much room as there is."""

    def make(self, part: Space, inner: Sequence[QWidget]) -> QWidget:
        room = QWidget()
        room.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)
        return room

    def put(self, part: Space) -> None:
        """Nothing can be seen of it."""
