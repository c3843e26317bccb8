"""A table of numpy columns that can be sorted and filtered, with one marked row."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QHelpEvent, QKeyEvent, QMouseEvent, QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QToolTip,
)

from lmviz.app.look.theme import current_theme
from lmviz.app.widgets.base.building import named
from lmviz.app.widgets.base.canvas import metrics
from lmviz.app.widgets.base.plain import Label, paragraph
from lmviz.app.widgets.kit.pointing import CONFIRMING
from lmviz.app.widgets.tables.column_widths import ColumnNeed, share_width
from lmviz.app.widgets.tables.columns_model import SHARE, TOKEN, ColumnsModel
from lmviz.app.widgets.tables.quiet_table import NOWHERE, Index, QuietTable
from lmviz.looks.columns import Column

NARROWEST = 44
HEADING, HEADING_PADDING = 12, 11  # pixels at scale 1 of the type, and on either side of it
CELL, CELL_PADDING = 13, 9.5
MARK = 18  # pixels at scale 1 that the mark of a colour and the gap after it take
SHARINGS = 3  # at most: a bar that comes can have another one go
SHORTEST = 64  # pixels at scale 1 to which texts are cut short before columns are left out


class TableView(QuietTable):
    """`TableView()`: `set_columns(columns)`, `set_filter(text)`, `sort_by(column, descending)`,
    `set_current(row)`, `set_faded(rows)`; `current` is the row chosen, −1 for none.

    Rows are places in the columns, however the table is sorted. A click on a header sorts. Where it is too
    narrow, headings break, texts are cut short and spare columns are put away into the tooltip of the row;
    how many is said at the end of the headings.
    Signals: `row_clicked(int)` (also by Enter), `row_hovered(int)` (−1 on leaving).
    """

    row_clicked = Signal(int)
    row_hovered = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self._model = ColumnsModel(self)
        self._hovered = -1
        self._needs: tuple[ColumnNeed, ...] = ()
        self._more = named(Label(role="muted", parent=self.horizontalHeader()), "columns_left_out")
        self._more.hide()
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
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.clicked.connect(lambda index: self.row_clicked.emit(self._model.row_at(index.row())))
        self.setAccessibleName("table")
        self.adopt_theme()

    def set_columns(self, columns: Sequence[Column]) -> None:
        """Show columns of equal length; sorting, filter and the chosen row stay where they can."""
        current, place = self.current, self.verticalScrollBar().value()
        self._needs = ()  # a scroll bar that goes has the columns given room before they are measured
        self._model.set_columns(columns)
        self._measure()
        self.set_current(current)
        self.verticalScrollBar().setValue(place)

    def set_filter(self, text: str) -> None:
        """Show only rows in which a text column contains the text."""
        current = self.current
        self._model.set_filter(text)
        self.set_current(current)

    def set_faded(self, rows: Collection[int]) -> None:
        """Rows that are dimmed."""
        self._model.set_faded(rows)

    def set_current(self, row: int) -> None:
        """Choose a row and bring it into sight, without a signal; −1 for none."""
        line = self._model.line_of(row) if row >= 0 else -1
        if line < 0:
            self.clearSelection()
            self.setCurrentIndex(NOWHERE)
        else:
            self.setCurrentIndex(self._model.index(line, 0))

    @property
    def current(self) -> int:
        """The chosen row; −1 for none."""
        return self._model.row_at(self.currentIndex().row())

    def adopt_theme(self) -> None:
        super().adopt_theme()
        mark = round(0.6 * MARK * current_theme().scale)
        self.setIconSize(QSize(mark, mark))
        self._measure()

    def _measure(self) -> None:
        """Find what each column needs."""
        header, model = self.horizontalHeader(), self._model
        header.setMinimumSectionSize(round(NARROWEST * current_theme().scale))
        self._needs = tuple(
            ColumnNeed(
                self._cell_width(column),
                self._heading_width(column.title),
                self._heading_width(column.broken_title),
                is_text=not column.numeric,
                is_spare=column.spare,
            )
            for column in map(model.column, range(model.columnCount()))
        )
        self._give_columns_room()

    def _cell_width(self, column: Column) -> int:
        """What the cells take, whichever of them are in sight: columns do not move when rows are sorted."""
        measure = metrics(TOKEN, token=True) if column.tokens else metrics(CELL)
        widest = max(map(measure.horizontalAdvance, column.sample), default=0.0)
        beside = MARK + 2 * CELL_PADDING if column.colors else 2 * CELL_PADDING
        return round(widest + beside * current_theme().scale)

    def _heading_width(self, title: str) -> int:
        """What a heading takes. Qt's own hint leaves a square for an arrow that stands in the padding."""
        lines = max(map(metrics(HEADING).horizontalAdvance, title.split("\n")))
        padded = lines + 2 * HEADING_PADDING * current_theme().scale
        return max(self.horizontalHeader().minimumSectionSize(), round(padded))

    def _give_columns_room(self) -> None:
        """Share out the width, and again where a scroll bar came or went meanwhile and took of it."""
        for _ in range(SHARINGS):
            room = self.viewport().width()
            self._share_room(room)
            if self.viewport().width() == room:
                return

    def _share_room(self, room: int) -> None:
        shortest = round(SHORTEST * current_theme().scale)
        shared = share_width(self._needs, room, shortest)
        if 0 in shared.widths:
            self._more.setText(f"+{shared.widths.count(0)} …")
            room -= self._more.sizeHint().width()
            shared = share_width(self._needs, room, shortest)
        self._say_what_is_left_out(shared.widths, room)
        self._model.break_titles(shared.broken)
        for at, width in enumerate(shared.widths):
            self.setColumnHidden(at, width == 0)
            if width:
                self.setColumnWidth(at, width)
        self.updateGeometries()  # headings in two lines are higher

    def _say_what_is_left_out(self, widths: Sequence[int], left: int) -> None:
        """How many columns are put away, beside the headings of those that are not."""
        away = [self._model.column(at).title for at, width in enumerate(widths) if not width]
        self._more.setVisible(bool(away))
        self._more.setText(f"+{len(away)} …")
        self._more.setToolTip(paragraph(f"Point at a row for {', '.join(away)}."))
        width, height = self._more.sizeHint().width(), self.horizontalHeader().height()
        self._more.setGeometry(left, 0, width, height)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._give_columns_room()

    def say(self, index: Index) -> list[str]:
        """The lines of a cell's tooltip: its text where that is cut, and the columns put away."""
        shown, line = self._model.column(index.column()), index.row()
        lines = [self._model.written(line, index.column())]
        if shown.numeric or self.sizeHintForIndex(index).width() <= self.columnWidth(index.column()):
            lines = []
        for at in range(self._model.columnCount()):
            if self.isColumnHidden(at):
                lines.append(f"{self._model.column(at).title}: {self._model.written(line, at)}")
        return lines

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
        if event.key() in CONFIRMING and self.current >= 0:
            self.row_clicked.emit(self.current)
        else:
            super().keyPressEvent(event)


class _BarDelegate(QStyledItemDelegate):
    """Draws the share of a cell as a bar across its number, and says what a narrow table leaves out."""

    def helpEvent(
        self, event: QHelpEvent, view: QAbstractItemView, option: QStyleOptionViewItem, index: Index
    ) -> bool:
        if not isinstance(view, TableView) or event.type() != QEvent.Type.ToolTip or not index.isValid():
            return super().helpEvent(event, view, option, index)
        QToolTip.showText(event.globalPos(), paragraph(*view.say(index)), view)
        return True

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
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
