"""A Qt model over numpy columns, sorted and filtered by index; fast for 100,000 rows."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from PySide6.QtCore import QAbstractTableModel, Qt

from lmviz.app.look.theme import current_theme
from lmviz.app.widgets.tables.quiet_table import NOWHERE, Index
from lmviz.base.plain_text import seen
from lmviz.looks.columns import Column

TOKEN = 12  # the size of tokens
SHARE = Qt.ItemDataRole.UserRole + 1


class ColumnsModel(QAbstractTableModel):
    """`set_columns(columns)`, `set_filter(text)`, `set_faded(rows)`; `row_at(line)`, `line_of(row)`.

    A *row* is a place in the columns; a *line* is where it is shown after sorting and filtering.
    """

    def __init__(self, parent: Any = None) -> None:
        super().__init__(parent)
        self._columns: tuple[Column, ...] = ()
        self._largest: tuple[float, ...] = ()
        self._lines = np.zeros(0, dtype=np.int64)
        self._filter = ""
        self._sorted_by: tuple[int, Qt.SortOrder] | None = None
        self._faded: frozenset[int] = frozenset()
        self._broken = False

    def set_columns(self, columns: Sequence[Column]) -> None:
        """Show columns of equal length; sorting and filter stay as they were."""
        self.beginResetModel()
        if len(columns) != len(self._columns):
            self._sorted_by = None
        self._columns = tuple(columns)
        self._largest = tuple(each.largest if each.bar else 1.0 for each in columns)
        self._arrange()
        self.endResetModel()

    def set_filter(self, text: str) -> None:
        """Show only rows in which a text column contains the text, whatever its case."""
        self.beginResetModel()
        self._filter = text.casefold()
        self._arrange()
        self.endResetModel()

    def set_faded(self, rows: Collection[int]) -> None:
        """Rows that are dimmed, such as tokens that were cut."""
        self._faded = frozenset(rows)
        self.layoutChanged.emit()

    def break_titles(self, broken: bool) -> None:
        """Whether titles stand in two lines."""
        if broken != self._broken and self._columns:
            self._broken = broken
            self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, len(self._columns) - 1)

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by a column; −1 restores the columns' own order."""
        self.beginResetModel()
        self._sorted_by = (column, order) if column >= 0 else None
        self._arrange()
        self.endResetModel()

    def _arrange(self) -> None:
        count = len(self._columns[0].values) if self._columns else 0
        lines = np.arange(count)
        if self._sorted_by is not None and count:
            column, direction = self._sorted_by
            lines = self._columns[column].order(descending=direction == Qt.SortOrder.DescendingOrder)
        if self._filter:
            lines = lines[self._matches()[lines]]
        self._lines = lines

    def _matches(self) -> np.ndarray:
        """(row,) bool."""
        found = np.zeros(len(self._columns[0].values) if self._columns else 0, dtype=bool)
        for column in self._columns:
            if not column.numeric:
                found |= np.array([self._filter in text.casefold() for text in column.values], dtype=bool)
        return found

    def written(self, line: int, column: int) -> str:
        """What stands in a cell."""
        shown = self._columns[column]
        return shown.write(shown.values[self._lines[line]])

    def column(self, index: int) -> Column:
        """One of the columns."""
        return self._columns[index]

    def row_at(self, line: int) -> int:
        """The row shown on a line; −1 for none."""
        return int(self._lines[line]) if 0 <= line < len(self._lines) else -1

    def line_of(self, row: int) -> int:
        """The line on which a row is shown; −1 where it is filtered away."""
        found = np.flatnonzero(self._lines == row)
        return int(found[0]) if len(found) else -1

    def rowCount(self, parent: Index = NOWHERE) -> int:
        return 0 if parent.isValid() else len(self._lines)

    def columnCount(self, parent: Index = NOWHERE) -> int:
        return 0 if parent.isValid() else len(self._columns)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or index.row() >= len(self._lines):
            return None
        column, row = self._columns[index.column()], int(self._lines[index.row()])
        if role == Qt.ItemDataRole.DisplayRole:
            return seen(self.written(index.row(), index.column()))
        if role == SHARE and column.bar:
            share = abs(float(column.values[row])) / self._largest[index.column()]
            return share if np.isfinite(share) else 0.0
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return alignment_of(column)
        if role == Qt.ItemDataRole.DecorationRole and column.colors:
            return current_theme().ink(column.colors[row])
        if role == Qt.ItemDataRole.FontRole and column.tokens:
            return current_theme().token_font(TOKEN)
        if role == Qt.ItemDataRole.ForegroundRole and row in self._faded:
            return current_theme().faint_text
        return None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation != Qt.Orientation.Horizontal or section >= len(self._columns):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            column = self._columns[section]
            return column.broken_title if self._broken else column.title
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return alignment_of(self._columns[section])
        return None


def alignment_of(column: Column) -> Qt.AlignmentFlag:
    """Texts on the left, numbers on the right."""
    side = Qt.AlignmentFlag.AlignRight if column.numeric else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter
