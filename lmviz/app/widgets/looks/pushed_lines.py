"""Lines of a text whose tokens are coloured."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QWidget

from lmviz.app.widgets.base.scrolling import QuietScrollArea, scrolling
from lmviz.app.widgets.looks.part_drawing import PartDrawing
from lmviz.app.widgets.text.pushed_lines import PushedLinesView
from lmviz.looks.parts import PushedLines


class PushedLinesDrawing(PartDrawing[PushedLines, QuietScrollArea]):
    """A list that scrolls."""

    def make(self, part: PushedLines, inner: Sequence[QWidget]) -> QuietScrollArea:
        self._list = PushedLinesView()
        self._list.part_clicked.connect(lambda place: self.part.clicked(place))
        return scrolling(self._list)

    @property
    def speaker(self) -> QWidget:
        return self._list

    def put(self, part: PushedLines) -> None:
        self._list.set_rows(part.heads, part.rows)
