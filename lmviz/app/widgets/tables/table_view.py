"""A table of numpy columns that can be sorted and filtered, with one marked row."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from lmviz.app.look.theme import current_theme
from lmviz.app.widgets.tables.columns_model import SHARE, Column, ColumnsModel
from lmviz.app.widgets.tables.quiet_table import QuietTable

WIDTH_SAMPLE = 64
NARROWEST = 44
WORDS = 190  # pixels at scale 1 that a column of texts takes at most where the table scrolls anyway


class TableView(QuietTable):
    """`TableView()`: `set_columns(columns)`, `set_filter(text)`, `sort_by(column, descending)`,
    `set_current(row)`, `set_faded(rows)`; `current` is the row chosen, −1 for none.

    Rows are places in the columns, however the table is sorted. A click on a header sorts.
    Signals: `row_clicked(int)` (also by Enter), `row_hovered(int)` (−1 on leaving).
    """

    row_clicked = Signal(int)
    row_hovered = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = ColumnsModel(self)
        self._hovered = self._words = -1
        self.setModel(self._model)
        self.setItemDelegate(_BarDelegate(self))
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setSortingEnabled(True)
        header = self.horizontalHeader()
        header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        header.setSortIndicatorClearable(True)
        header.setStretchLastSection(False)
        self.clicked.connect(lambda index: self.row_clicked.emit(self._model.row_at(index.row())))
        self.setAccessibleName("table")
        self.adopt_theme()

    def set_columns(self, columns: Sequence[Column]) -> None:
        """Show columns of equal length; sorting, filter and the chosen row stay where they can."""
        current, place = self.current, self.verticalScrollBar().value()
        self._model.set_columns(columns)
        self._measure()
        self.set_current(current)
        self.verticalScrollBar().setValue(place)

    def set_filter(self, text: str) -> None:
        """Show only rows in which a text column contains the text."""
        current = self.current
        self._model.set_filter(text)
        self.set_current(current)

    def sort_by(self, column: int, *, descending: bool = False) -> None:
        """Sort by a column; −1 restores the columns' own order."""
        order = Qt.SortOrder.DescendingOrder if descending else Qt.SortOrder.AscendingOrder
        self.sortByColumn(column, order)

    def set_faded(self, rows: Collection[int]) -> None:
        """Rows that are dimmed."""
        self._model.set_faded(rows)

    def set_current(self, row: int) -> None:
        """Choose a row and bring it into sight, without a signal; −1 for none."""
        line = self._model.line_of(row) if row >= 0 else -1
        if line < 0:
            self.clearSelection()
            self.setCurrentIndex(QModelIndex())
        else:
            self.setCurrentIndex(self._model.index(line, 0))

    @property
    def current(self) -> int:
        """The chosen row; −1 for none."""
        return self._model.row_at(self.currentIndex().row())

    @property
    def rows_shown(self) -> tuple[int, ...]:
        """The rows in the order of the lines."""
        return tuple(self._model.row_at(line) for line in range(self._model.rowCount()))

    def adopt_theme(self) -> None:
        super().adopt_theme()
        self._measure()

    def _measure(self) -> None:
        """The widths of the columns; what is left over goes to the first column of texts."""
        header = self.horizontalHeader()
        header.setMinimumSectionSize(round(NARROWEST * current_theme().scale))
        header.setResizeContentsPrecision(WIDTH_SAMPLE)
        columns = range(self._model.columnCount())
        for column in columns:
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.ResizeToContents)
        texts = [column for column in columns if not self._model.column(column).numeric]
        self._words = texts[0] if texts else -1
        self._give_words_room()

    def _give_words_room(self) -> None:
        """The first column of texts takes what is left over; where that is too little, the table scrolls."""
        if self._words < 0:
            return
        header, words = self.horizontalHeader(), self._words
        others = (column for column in range(self._model.columnCount()) if column != words)
        left_over = self.viewport().width() - sum(map(header.sectionSize, others))
        if left_over >= header.minimumSectionSize():
            header.setSectionResizeMode(words, QHeaderView.ResizeMode.Stretch)
        else:
            wished = min(self.sizeHintForColumn(words), round(WORDS * current_theme().scale))
            header.setSectionResizeMode(words, QHeaderView.ResizeMode.Fixed)
            header.resizeSection(words, wished)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._give_words_room()

    def _hover(self, row: int) -> None:
        if row != self._hovered:
            self._hovered = row
            self.row_hovered.emit(row)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        self._hover(self._model.row_at(self.indexAt(event.position().toPoint()).row()))

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._hover(-1)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.current >= 0:
            self.row_clicked.emit(self.current)
        else:
            super().keyPressEvent(event)


class _BarDelegate(QStyledItemDelegate):
    """Draws the share of a cell as a bar across its number."""

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        super().paint(painter, option, index)
        share = index.data(SHARE)
        if share is not None:
            theme, area = current_theme(), QRectF(option.rect)
            color = QColor(theme.accent)
            color.setAlphaF(0.22)
            painter.save()
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(color)
            room = area.adjusted(4, area.height() * 0.2, -4, -area.height() * 0.2)
            room.setLeft(room.right() - room.width() * share)
            painter.drawRoundedRect(room, 2.5, 2.5)
            painter.restore()
