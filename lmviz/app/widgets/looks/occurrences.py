"""Places in a text."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QWidget

from lmviz.app.widgets.base.scrolling import QuietScrollArea, scrolling
from lmviz.app.widgets.looks.part_drawing import PartDrawing
from lmviz.app.widgets.text.concordance_list import ConcordanceList
from lmviz.looks.parts import Occurrences


class OccurrencesDrawing(PartDrawing[Occurrences, QuietScrollArea]):
    """A list that scrolls."""

    def make(self, part: Occurrences, inner: Sequence[QWidget]) -> QuietScrollArea:
        self._list = ConcordanceList()
        self._list.part_clicked.connect(lambda place: self.part.clicked(place))
        return scrolling(self._list)

    @property
    def speaker(self) -> QWidget:
        return self._list

    def put(self, part: Occurrences) -> None:
        self._list.set_lines(part.lines)
