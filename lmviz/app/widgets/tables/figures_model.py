"""The lines of a figures table, each computed when it first becomes visible."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from lmviz.app.widgets.tables.figure_columns import FigureColumn, FigureLine

Index = QModelIndex | QPersistentModelIndex
NOWHERE = QModelIndex()


class FiguresModel(QAbstractTableModel):
    """`set_columns(columns)`, `set_lines(count, line)`; `columns`, `line(number)`."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._columns: tuple[FigureColumn, ...] = ()
        self._count = 0
        self._make: Callable[[int], FigureLine] = lambda line: FigureLine(())
        self._made: dict[int, FigureLine] = {}

    def set_columns(self, columns: Sequence[FigureColumn]) -> None:
        """Set other columns; the lines must be set again."""
        self.beginResetModel()
        self._columns = tuple(columns)
        self._made.clear()
        self.endResetModel()

    def set_lines(self, count: int, line: Callable[[int], FigureLine]) -> None:
        """Other lines: `line(n)` makes the n-th of `count`."""
        if count == self._count:
            self._make = line
            self._made.clear()
            if count and self._columns:
                self.dataChanged.emit(self.index(0, 0), self.index(count - 1, len(self._columns) - 1))
        else:
            self.beginResetModel()
            self._count, self._make = count, line
            self._made.clear()
            self.endResetModel()

    @property
    def columns(self) -> tuple[FigureColumn, ...]:
        """The columns, of which the view may hide some."""
        return self._columns

    def line(self, number: int) -> FigureLine:
        """One line."""
        if number not in self._made:
            self._made[number] = self._make(number)
        return self._made[number]

    def rowCount(self, parent: Index = NOWHERE) -> int:
        return 0 if parent.isValid() else self._count

    def columnCount(self, parent: Index = NOWHERE) -> int:
        return 0 if parent.isValid() else len(self._columns)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role == Qt.ItemDataRole.DisplayRole and index.isValid():
            return self.line(index.row()).texts[index.column()]
        return None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return self._columns[section].title
        return None
