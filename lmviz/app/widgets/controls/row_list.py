"""A list of rows of words in columns, one of which is chosen; rows may be renamed in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtWidgets import QHeaderView, QTreeView, QWidget

from lmviz.app.look.theme import current_theme
from lmviz.app.widgets.base.plain import paragraph
from lmviz.base.plain_text import on_one_line

RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
Index = QModelIndex | QPersistentModelIndex
NOWHERE = QModelIndex()


@dataclass(frozen=True)
class ListedRow:
    """A row: its words, one for each column, and what it stands for, which is None of a heading.

    A heading takes one word for all columns and cannot be chosen. `tip` is said under the pointer.
    """

    words: Sequence[str]
    value: object = None
    tip: str = ""
    may_be_renamed: bool = False


class RowList(QTreeView):
    """`RowList(columns, titles)`: the rows that `set_rows` is given, the last column at the right.

    Without titles there is no header. Signals: `activated` and `clicked` of Qt, for `row_at`;
    `current_changed()`; `renamed(object, str)`, the value and its name, which `set_rows` shows then.
    """

    current_changed = Signal()
    renamed = Signal(object, str)

    def __init__(self, columns: int, titles: Sequence[str] = (), parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows = _Rows(columns, titles, self)
        self.setModel(self._rows)
        self.setHeaderHidden(not titles)
        self.setRootIsDecorated(False)
        self.setEditTriggers(QTreeView.EditTrigger.EditKeyPressed)
        self.header().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.header().setStretchLastSection(False)
        self._rows.renamed.connect(self.renamed)
        self.selectionModel().currentChanged.connect(self.current_changed)

    def set_rows(self, rows: Sequence[ListedRow]) -> None:
        """Show these; none of them is chosen."""
        self._rows.set_rows(rows)
        self.ensurePolished()  # a spanned column has all rows measured
        for number, listed in enumerate(rows):
            if listed.value is None:
                self.setFirstColumnSpanned(number, NOWHERE, True)

    @property
    def rows(self) -> Sequence[ListedRow]:
        """What is shown."""
        return self._rows.rows

    @property
    def current(self) -> ListedRow | None:
        """The row that is chosen."""
        return self.row_at(self.currentIndex())

    def row_at(self, index: Index) -> ListedRow | None:
        """The row of a place in the list."""
        return self.rows[index.row()] if index.isValid() else None

    def choose(self, value: object) -> None:
        """Choose the row of a value, if there is one."""
        for number, listed in enumerate(self.rows):
            if listed.value == value:
                self.setCurrentIndex(self._rows.index(number, 0))

    def go(self, step: int) -> None:
        """To the next row in a direction, headings stepped over."""
        number = self.currentIndex().row() + step
        while 0 <= number < len(self.rows):
            if self.rows[number].value is not None:
                self.setCurrentIndex(self._rows.index(number, 0))
                return
            number += step

    def rename(self) -> None:
        """Have the chosen row renamed in its place."""
        self.setFocus()
        self.edit(self.currentIndex().siblingAtColumn(0))


class _Rows(QAbstractTableModel):
    """The rows. Items of a QTreeWidget have wrappers of PySide6's, which may go first."""

    renamed = Signal(object, str)

    def __init__(self, columns: int, titles: Sequence[str], parent: QWidget) -> None:
        super().__init__(parent)
        self._columns, self._titles = columns, titles
        self.rows: Sequence[ListedRow] = ()

    def set_rows(self, rows: Sequence[ListedRow]) -> None:
        """Hold others."""
        self.beginResetModel()
        self.rows = tuple(rows)
        self.endResetModel()

    def rowCount(self, parent: Index = NOWHERE) -> int:
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = NOWHERE) -> int:
        return 0 if parent.isValid() else self._columns

    def flags(self, index: Index) -> Qt.ItemFlag:
        listed = self.rows[index.row()] if index.isValid() else None
        if listed is None or listed.value is None:
            return Qt.ItemFlag.NoItemFlags
        may_edit = listed.may_be_renamed and index.column() == 0
        return super().flags(index) | (Qt.ItemFlag.ItemIsEditable if may_edit else Qt.ItemFlag.NoItemFlags)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        listed, column = self.rows[index.row()], index.column()
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole):
            return on_one_line(listed.words[column]) if column < len(listed.words) else ""
        if role == Qt.ItemDataRole.ToolTipRole and listed.tip:
            return paragraph(listed.tip)
        if role == Qt.ItemDataRole.ForegroundRole and listed.value is None:
            return current_theme().muted_text
        return self._alignment(column, role)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if role == Qt.ItemDataRole.DisplayRole and section < len(self._titles):
            return self._titles[section]
        return self._alignment(section, role)

    def _alignment(self, column: int, role: int) -> Any:
        is_last = column == self._columns - 1
        return RIGHT if role == Qt.ItemDataRole.TextAlignmentRole and is_last else None

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Say under which name a row is wanted; whoever keeps the names shows what it is called then."""
        name, listed = str(value).strip(), self.rows[index.row()]
        if role == Qt.ItemDataRole.EditRole and name != on_one_line(listed.words[0]):
            self.renamed.emit(listed.value, name)
        return True
