"""What a figures table shows: its columns, their positions at the available width, and its lines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from PySide6.QtCore import QAbstractTableModel, QObject, Qt

from lmviz.app.widgets.tables.quiet_table import NOWHERE, Index

SIDES = {
    "token": Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter,
    "bar": Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter,
    "mark": Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignVCenter,
    "figure": Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter,
}

LEAST = {"token": 44, "mark": 32, "bar": 64}
"""Pixels at scale 1 to which a column can be squeezed; a figure cut short would be another number."""


@dataclass(frozen=True)
class FigureColumn:
    """One column. `kind` is "token" (on the left, monospace), "figure" (on the right), "mark" (in the
    middle) or "bar" (a bar with the figure next to it).

    `width` is what it takes and `stretch` its part of what is left. Where there is too little room,
    `spare` columns are left out, and then all but figures are squeezed. `sources` are the columns that its
    numbers are made from, of the same line; with `runs` those of all lines above as well. `quiet` columns
    are dimmed. `brief` stands for a title that has no room.
    """

    name: str
    title: str
    kind: str = "figure"
    width: float = 64
    stretch: float = 1.0
    spare: bool = False
    sources: tuple[str, ...] = ()
    runs: bool = False
    quiet: bool = False
    brief: str = ""

    @property
    def least(self) -> float:
        """The width to which it can be squeezed."""
        return min(self.width, LEAST.get(self.kind, self.width))

    @property
    def alignment(self) -> Qt.AlignmentFlag:
        """Where its texts and its title stand."""
        return SIDES[self.kind]


@dataclass(frozen=True)
class FigureLine:
    """One line: a text for each column, how full its bar is, and whether it is dimmed."""

    texts: Sequence[str]
    share: float = 0.0
    faded: bool = False


class ColumnPlace(NamedTuple):
    """Where a column stands: its number among all, its left edge and its width, in pixels."""

    column: FigureColumn
    number: int
    left: float
    width: float


def place_columns(columns: Sequence[FigureColumn], room: float, scale: float) -> list[ColumnPlace]:
    """The columns that fit: spare ones are left out, dimmed ones first, then from the last."""
    kept = list(enumerate(columns))
    for chosen in sorted(
        (pair for pair in reversed(kept) if pair[1].spare), key=lambda pair: not pair[1].quiet
    ):
        if sum(column.width for _, column in kept) * scale <= room:
            break
        kept.remove(chosen)
    wished = sum(column.width for _, column in kept) * scale
    least = sum(column.least for _, column in kept) * scale
    left_over = max(0.0, room - wished) / (sum(column.stretch for _, column in kept) or 1.0)
    given = min(1.0, max(0.0, (room - least) / (wished - least))) if wished > least else 1.0
    squeeze = min(1.0, room / least) if least else 1.0
    left, places = 0.0, []
    for number, column in kept:
        width = (column.least + given * (column.width - column.least)) * scale * squeeze
        width += left_over * column.stretch
        places.append(ColumnPlace(column, number, left, width))
        left += width
    return places


class FiguresModel(QAbstractTableModel):
    """`set_columns(columns)`, `set_lines(count, line)`; `columns`, `line(number)`.

    Each line is computed when it first becomes visible.
    """

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
