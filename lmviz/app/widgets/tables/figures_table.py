"""A table with very many lines, of which only the visible ones are computed and drawn.

A column may name the columns it is computed from: pointing at a number highlights those too, and a card
explains the number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QKeyEvent,
    QMouseEvent,
    QPaintEvent,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QAbstractItemView

from lmviz.app.look.roles import TEXT_SIZE
from lmviz.app.look.theme import current_theme
from lmviz.app.widgets.base.focus_ring import draw_ring, reached_by_key
from lmviz.app.widgets.base.hover_card import HoverCard
from lmviz.app.widgets.kit.painted import Painted
from lmviz.app.widgets.kit.painter import CENTRED, Painter
from lmviz.app.widgets.kit.pointing import CONFIRMING, DOWN, along
from lmviz.app.widgets.tables.figure_columns import (
    FigureColumn,
    FigureLine,
    FiguresModel,
    place_columns,
)
from lmviz.app.widgets.tables.figure_delegate import HEAD, FigureDelegate, FigureHeader
from lmviz.app.widgets.tables.quiet_table import ROW, QuietTable

FEWEST_LINES = 3
NARROWEST, SQUEEZED = 200, 0.9
NOWHERE = (-1, -1)


class FiguresTable(Painted, QuietTable):
    """`FiguresTable()`: `set_columns(columns)`, `set_lines(count, line)` where `line(n)` gives a
    `FigureLine`; `set_marked(line)`, `set_hovered(line)`; `set_explanation(explain)` where
    `explain(line, column name)` gives the title and lines of the card beside the pointer.

    Signals: `line_clicked(int)` (also by Enter), `line_hovered(int)` (−1 on leaving), `title_clicked(str)`.
    """

    line_clicked = Signal(int)
    line_hovered = Signal(int)
    title_clicked = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._model = FiguresModel(self)
        self._delegate = FigureDelegate(self._model, self)
        self._titles = FigureHeader(self)
        self._explain: Callable[[int, str], tuple[str, Sequence[str]]] | None = None
        self._cell = NOWHERE
        self._placeholder = ""
        self._reached_by_key = False
        self.setHorizontalHeader(self._titles)
        self.setModel(self._model)
        self.setItemDelegate(self._delegate)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerItem)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._titles.sectionClicked.connect(lambda n: self.title_clicked.emit(self._model.columns[n].name))
        self.setAccessibleName("table of figures")
        self.adopt_theme()

    def set_columns(self, columns: Sequence[FigureColumn]) -> None:
        """Show other columns."""
        if tuple(columns) != self._model.columns:
            before = self.minimumSizeHint()
            self._model.set_columns(columns)
            self._lay_out()
            self._renew()
            if self.minimumSizeHint() != before:
                self.updateGeometry()

    def set_lines(self, count: int, line: Callable[[int], FigureLine], placeholder: str = "") -> None:
        """Show `count` lines; `placeholder` is said where there are none."""
        self._placeholder = placeholder
        self._model.set_lines(count, line)
        self._renew()
        self.viewport().update()

    def set_explanation(self, explain: Callable[[int, str], tuple[str, Sequence[str]]]) -> None:
        """How a number came about: a title and lines."""
        self._explain = explain

    def set_marked(self, line: int, *, in_sight: bool = True) -> None:
        """Mark one line, such as that of the word that was drawn, and bring it into sight; −1 for none."""
        self._delegate.marked = line
        if line >= 0 and in_sight:
            self.scrollTo(self._model.index(line, 0))
        self.viewport().update()

    def set_hovered(self, line: int) -> None:
        """Light a line that is hovered elsewhere, without a signal; −1 for none."""
        if line != self._cell[0]:
            self._cell = (line, -1)
            self.viewport().update()

    def set_sorted_by(self, name: str, *, descending: bool) -> None:
        """Show an arrow at the title of a column."""
        self._titles.set_sorted_by(name, descending=descending)

    @property
    def lines_shown(self) -> range:
        """The lines in sight."""
        first, last = self.rowAt(0), self.rowAt(self.viewport().height() - 1)
        return range(max(0, first), last + 1 if last >= 0 else self._model.rowCount())

    def line_rectangle(self, line: int) -> QRectF:
        """Where a line is drawn in the viewport."""
        top, height = self.rowViewportPosition(line), self.rowHeight(line)
        return QRectF(0, top, self.viewport().width(), height)

    def cell_rectangle(self, line: int, name: str) -> QRectF:
        """Where a number is drawn in the viewport; empty where its column is left out."""
        number = [column.name for column in self._model.columns].index(name)
        return QRectF(self.visualRect(self._model.index(line, number)))

    def sizeHint(self) -> QSize:
        scale = current_theme().scale
        return QSize(round(460 * scale), round((HEAD + 12 * ROW) * scale))

    def minimumSizeHint(self) -> QSize:
        scale = current_theme().scale
        least = sum(column.width for column in self._model.columns if not column.spare) * SQUEEZED
        return QSize(round(max(NARROWEST, least) * scale), round((HEAD + FEWEST_LINES * ROW) * scale))

    def adopt_theme(self) -> None:
        super().adopt_theme()
        self._titles.setFixedHeight(round(HEAD * current_theme().scale))
        self._lay_out()
        self.updateGeometry()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._lay_out()

    def _lay_out(self) -> None:
        """Give each column its width, and hide those there is no room for."""
        places = place_columns(self._model.columns, self.viewport().width(), current_theme().scale)
        kept = {place.number for place in places}
        for number in range(len(self._model.columns)):
            self.setColumnHidden(number, number not in kept)
        for place in places:
            self.setColumnWidth(place.number, round(place.left + place.width) - round(place.left))

    def begin(self) -> Painter:
        return Painter(self.viewport())

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        QuietTable.paintEvent(self, event)

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        painter.setRenderHint(Painter.RenderHint.Antialiasing)
        self._draw_lights(painter)
        if not self._model.rowCount():
            area, wrapped = QRectF(self.viewport().rect()), CENTRED | Qt.TextFlag.TextWordWrap
            painter.write(area, self._placeholder, current_theme().muted_text, TEXT_SIZE, where=wrapped)
        elif self.hasFocus() and self._reached_by_key:
            draw_ring(painter, QRectF(self.viewport().rect()))

    def _draw_lights(self, painter: Painter) -> None:
        """The marked line, the hovered one, the number under the pointer and those it is made from."""
        theme, shown = current_theme(), self.lines_shown
        marked = QColor(theme.validation)
        marked.setAlphaF(0.16)
        for line, color in ((self._delegate.marked, marked), (self._cell[0], theme.hover)):
            if line in shown:
                painter.box(self.line_rectangle(line), color, radius=4)
        line, number = self._cell
        if line not in shown or number < 0:
            return
        column = self._model.columns[number]
        for source in column.sources:
            for above in range(shown.start if column.runs else line, line + 1):
                painter.box(self._lit(above, source), theme.accent_wash, radius=4)
        painter.box(self._lit(line, column.name), theme.accent_wash, theme.accent, radius=4)

    def _lit(self, line: int, name: str) -> QRectF:
        return self.cell_rectangle(line, name).adjusted(1.5, 1.5, -1.5, -1.5)

    def _cell_at(self, place: QPointF) -> tuple[int, int]:
        index = self.indexAt(place.toPoint())
        return (index.row(), index.column()) if index.isValid() else NOWHERE

    def _renew(self) -> None:
        """Say anew what the number under the pointer is; there may be none any more."""
        line, number = self._cell
        there = 0 <= line < self._model.rowCount() and 0 <= number < len(self._model.columns)
        if self._explain is None or not there:
            HoverCard.renew(self, None)
        else:
            HoverCard.renew(self, partial(self._explain, line, self._model.columns[number].name))

    def _hover(self, cell: tuple[int, int]) -> None:
        if cell == self._cell:
            return
        before, self._cell = self._cell, cell
        self.viewport().update()
        if cell[0] != before[0]:
            self.line_hovered.emit(cell[0])

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        cell = self._cell_at(event.position())
        self._hover(cell)
        if self._explain is None or cell == NOWHERE:
            HoverCard.leave(self)
            return
        title, lines = self._explain(cell[0], self._model.columns[cell[1]].name)
        place = self.viewport().mapTo(self, event.position().toPoint()) + QPoint(4, 4)
        HoverCard.beside(self, place, title, lines)

    def leaveEvent(self, event: QEvent) -> None:
        HoverCard.leave(self)
        self._hover(NOWHERE)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        line, _ = self._cell_at(event.position())
        if event.button() == Qt.MouseButton.LeftButton and line >= 0:
            self.line_clicked.emit(line)

    def wheelEvent(self, event: QWheelEvent) -> None:
        HoverCard.leave(self)
        super().wheelEvent(event)
        self._hover(self._cell_at(event.position()))

    def focusInEvent(self, event: QFocusEvent) -> None:
        self._reached_by_key = reached_by_key(event)
        super().focusInEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._hover(NOWHERE)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, line = event.key(), self._cell[0]
        page = self.verticalScrollBar().pageStep()
        steps = DOWN | {Qt.Key.Key_PageUp: -page, Qt.Key.Key_PageDown: page}
        wanted = along(steps, key, line, self._model.rowCount())
        if wanted is not None:
            line = wanted
            self.scrollTo(self._model.index(line, 0))
            self._hover((line, -1))
            self.setAccessibleDescription(" ".join(self._model.line(line).texts))
        elif key in CONFIRMING and line >= 0:
            self.line_clicked.emit(line)
        else:
            event.ignore()
