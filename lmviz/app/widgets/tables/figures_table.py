"""Columns of figures over very many lines, of which only those in sight are ever asked for and drawn.

Each column may say which others it is made from: the pointer on a number lights those too, and a card
says how it came about.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QScrollBar, QSizePolicy, QWidget

from lmviz.app.widgets.base.canvas import Canvas
from lmviz.app.widgets.base.hover_card import HoverCard
from lmviz.app.widgets.tables.figure_columns import FigureColumn, FigureLine, Place, place_columns
from lmviz.app.widgets.tables.figure_strokes import FigureStrokes

ROW, HEAD = 24, 26
FEWEST_LINES = 3
NARROWEST, SQUEEZED = 200, 0.9
NOWHERE = (-1, -1)


class FiguresTable(Canvas):
    """`FiguresTable()`: `set_columns(columns)`, `set_lines(count, line)` where `line(n)` gives a
    `FigureLine`; `set_marked(line)`, `set_hovered(line)`; `set_explanation(explain)` where
    `explain(line, column name)` gives the title and lines of the card beside the pointer.

    Signals: `line_clicked(int)` (also by Enter), `line_hovered(int)` (−1 on leaving), `title_clicked(str)`.
    """

    line_clicked = Signal(int)
    line_hovered = Signal(int)
    title_clicked = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._columns: tuple[FigureColumn, ...] = ()
        self._count = 0
        self._line: Callable[[int], FigureLine] = lambda line: FigureLine(())
        self._explain: Callable[[int, str], tuple[str, Sequence[str]]] | None = None
        self._places: list[Place] = []
        self._marked = -1
        self._cell = NOWHERE
        self._sorted_by: tuple[str, bool] | None = None
        self._placeholder = ""
        self._bar = QScrollBar(Qt.Orientation.Vertical, self)
        self._bar.valueChanged.connect(self.update)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName("table of figures")

    def set_columns(self, columns: Sequence[FigureColumn]) -> None:
        """Show other columns."""
        if tuple(columns) != self._columns:
            before, self._columns = self.minimumSizeHint(), tuple(columns)
            self._lay_out()
            if self.minimumSizeHint() != before:
                self.updateGeometry()
            self.update()

    def set_lines(self, count: int, line: Callable[[int], FigureLine], placeholder: str = "") -> None:
        """Show `count` lines; `placeholder` is said where there are none."""
        self._count, self._line, self._placeholder = count, line, placeholder
        self._fit_bar()
        self.update()

    def set_explanation(self, explain: Callable[[int, str], tuple[str, Sequence[str]]]) -> None:
        """How a number came about: a title and lines."""
        self._explain = explain

    def set_marked(self, line: int, *, in_sight: bool = True) -> None:
        """Mark one line, such as that of the word that was drawn, and bring it into sight; −1 for none."""
        self._marked = line
        if line >= 0 and in_sight:
            self._show_line(line)
        self.update()

    def scroll_to_top(self) -> None:
        """Show the first lines."""
        self._bar.setValue(0)

    def set_hovered(self, line: int) -> None:
        """Light a line that is hovered elsewhere, without a signal; −1 for none."""
        if line != self._cell[0]:
            self._cell = (line, -1)
            self.update()

    def set_sorted_by(self, name: str, *, descending: bool) -> None:
        """Show an arrow at the title of a column."""
        self._sorted_by = (name, descending)
        self.update()

    @property
    def columns_shown(self) -> tuple[str, ...]:
        """The names of the columns that there is room for."""
        return tuple(column.name for column, *_ in self._places)

    @property
    def lines_shown(self) -> range:
        """The lines in sight."""
        first = self._bar.value()
        return range(first, min(self._count, first + self._room + 1))

    def line_rectangle(self, line: int) -> QRectF:
        """Where a line is drawn."""
        top = self._head + (line - self._bar.value()) * self._row
        return QRectF(0, top, self._width, self._row)

    def cell_rectangle(self, line: int, name: str) -> QRectF:
        """Where a number is drawn; empty where its column is left out."""
        place = next((place for place in self._places if place[0].name == name), None)
        area = self.line_rectangle(line)
        return QRectF() if place is None else QRectF(place[2], area.top(), place[3], area.height())

    def sizeHint(self) -> QSize:
        return QSize(round(self.length(460)), round(self._head + 12 * self._row))

    def minimumSizeHint(self) -> QSize:
        least = sum(column.width for column in self._columns if not column.spare) * SQUEEZED
        return QSize(round(self.length(max(NARROWEST, least))), round(self._head + FEWEST_LINES * self._row))

    def adopt_theme(self) -> None:
        self._lay_out()
        self._fit_bar()
        super().adopt_theme()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        width = self._bar.sizeHint().width()
        head = round(self._head)
        self._bar.setGeometry(self.width() - width, head, width, max(0, self.height() - head))
        self._fit_bar()
        self._lay_out()

    @property
    def _row(self) -> float:
        return self.length(ROW)

    @property
    def _head(self) -> float:
        return self.length(HEAD)

    @property
    def _room(self) -> int:
        """How many whole lines there is room for."""
        return max(1, int((self.height() - self._head) / self._row))

    @property
    def _width(self) -> float:
        return self.width() - self._bar.sizeHint().width()

    def _fit_bar(self) -> None:
        self._bar.setRange(0, max(0, self._count - self._room))
        self._bar.setPageStep(self._room)
        self._bar.setVisible(self._count > self._room)

    def _lay_out(self) -> None:
        self._places = place_columns(self._columns, self._width, self.theme.scale)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = self.begin()
        strokes = FigureStrokes(painter, self.theme, self._places)
        strokes.draw_titles(self._head, self.width(), self._sorted_by)
        if not self._count:
            painter.setPen(self.theme.muted_text)
            area = QRectF(self.rect()).adjusted(0, self._head, 0, 0)
            flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
            painter.drawText(area, int(flags), self._placeholder)
            return
        painter.setClipRect(QRectF(0, self._head, self.width(), self.height() - self._head))
        lines = {line: self._line(line) for line in self.lines_shown}
        self._draw_lights(painter, lines)
        for line, shown in lines.items():
            strokes.draw_line(self.line_rectangle(line), shown, marked=line == self._marked)
        painter.setClipping(False)
        self.draw_focus(painter)

    def _draw_lights(self, painter: QPainter, lines: dict[int, FigureLine]) -> None:
        """The marked line, the hovered one, the number under the pointer and those it is made from."""
        painter.setPen(Qt.PenStyle.NoPen)
        radius = self.length(4)
        marked = QColor(self.theme.validation)
        marked.setAlphaF(0.16)
        for line, color in ((self._marked, marked), (self._cell[0], self.theme.hover)):
            if line in lines:
                painter.setBrush(color)
                painter.drawRoundedRect(self.line_rectangle(line), radius, radius)
        line, number = self._cell
        if line not in lines or number < 0:
            return
        column = self._columns[number]
        painter.setBrush(self.theme.accent_wash)
        for source in column.sources:
            upper = lines if column.runs else (line,)
            for above in upper:
                if above <= line:
                    painter.drawRoundedRect(self._lit(above, source), radius, radius)
        painter.setPen(self.theme.accent)
        painter.drawRoundedRect(self._lit(line, column.name), radius, radius)

    def _lit(self, line: int, name: str) -> QRectF:
        return self.cell_rectangle(line, name).adjusted(1.5, 1.5, -1.5, -1.5)

    def _cell_at(self, place: QPointF) -> tuple[int, int]:
        if place.y() < self._head or place.x() > self._width:
            return NOWHERE
        line = self._bar.value() + int((place.y() - self._head) // self._row)
        if not 0 <= line < self._count:
            return NOWHERE
        return line, self._column_at(place.x())

    def _column_at(self, across: float) -> int:
        return next((n for _, n, left, width in self._places if left <= across < left + width), -1)

    def _hover(self, cell: tuple[int, int]) -> None:
        if cell == self._cell:
            return
        before, self._cell = self._cell, cell
        self.update()
        if cell[0] != before[0]:
            self.line_hovered.emit(cell[0])

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        cell = self._cell_at(event.position())
        self._hover(cell)
        if self._explain is None or cell[1] < 0:
            HoverCard.leave(self)
            return
        title, lines = self._explain(cell[0], self._columns[cell[1]].name)
        HoverCard.beside(self, event.position().toPoint() + QPoint(4, 4), title, lines)

    def leaveEvent(self, event: object) -> None:
        HoverCard.leave(self)
        self._hover(NOWHERE)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            return
        if event.position().y() < self._head:
            column = self._column_at(event.position().x())
            if column >= 0:
                self.title_clicked.emit(self._columns[column].name)
            return
        line, _ = self._cell_at(event.position())
        if line >= 0:
            self.line_clicked.emit(line)

    def wheelEvent(self, event: QWheelEvent) -> None:
        HoverCard.leave(self)
        self._bar.event(event)
        self._hover(self._cell_at(event.position()))

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._hover(NOWHERE)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, line = event.key(), self._cell[0]
        page = self._room
        steps = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1, Qt.Key.Key_PageUp: -page, Qt.Key.Key_PageDown: page}
        if key in steps and self._count:
            line = min(max(line + steps[key], 0), self._count - 1)
            self._show_line(line)
            self._hover((line, -1))
            self.setAccessibleDescription(" ".join(self._line(line).texts))
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and line >= 0:
            self.line_clicked.emit(line)
        else:
            super().keyPressEvent(event)

    def _show_line(self, line: int) -> None:
        if line < self._bar.value():
            self._bar.setValue(line)
        elif line >= self._bar.value() + self._room:
            self._bar.setValue(line - self._room + 1)
