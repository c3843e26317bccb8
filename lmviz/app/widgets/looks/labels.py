"""Labels of several models under words."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QWidget

from lmviz.app.widgets.base.scrolling import QuietScrollArea, scrolling
from lmviz.app.widgets.looks.part_drawing import PartDrawing
from lmviz.app.widgets.text.label_table import LabelTable
from lmviz.looks.parts import Labels


class LabelsDrawing(PartDrawing[Labels, QuietScrollArea]):
    """A table in pages of as many words as have room."""

    def make(self, part: Labels, inner: Sequence[QWidget]) -> QuietScrollArea:
        self._table = LabelTable()
        self._table.part_hovered.connect(lambda word: self.part.pointed(word))
        self._table.part_clicked.connect(lambda word: self.part.clicked(word))
        return scrolling(self._table)

    @property
    def speaker(self) -> QWidget:
        return self._table

    def put(self, part: Labels) -> None:
        if self.changed("words", "rows", "gold"):
            self._table.set_rows(part.words, part.rows, part.gold)
        self._table.set_current(part.current)
