"""Places at which a feature fires."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QWidget

from lmviz.app.widgets.base.scrolling import QuietScrollArea, scrolling
from lmviz.app.widgets.looks.part_drawing import PartDrawing
from lmviz.app.widgets.text.firing_lines import FiringLines
from lmviz.looks.parts import Firings


class FiringsDrawing(PartDrawing[Firings, QuietScrollArea]):
    """A list that scrolls."""

    def make(self, part: Firings, inner: Sequence[QWidget]) -> QuietScrollArea:
        self._list = FiringLines()
        self._list.part_clicked.connect(lambda place: self.part.clicked(place))
        return scrolling(self._list)

    @property
    def speaker(self) -> QWidget:
        return self._list

    def put(self, part: Firings) -> None:
        self._list.set_lines(part.lines)
