"""A table of a look."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QWidget

from lmviz.app.widgets.looks.part_drawing import PartDrawing
from lmviz.app.widgets.tables.table_view import TableView
from lmviz.looks.parts import Table


class TableDrawing(PartDrawing[Table, TableView]):
    """A table that can be sorted."""

    def make(self, part: Table, inner: Sequence[QWidget]) -> TableView:
        table = TableView()
        table.row_clicked.connect(lambda row: self.part.clicked(row))
        return table

    def put(self, part: Table) -> None:
        if self.changed("columns"):
            self.widget.set_columns(part.columns)
        if self.changed("holding"):
            self.widget.set_filter(part.holding)
        if part.current >= 0 or self.changed("current"):
            self.widget.set_current(part.current)
