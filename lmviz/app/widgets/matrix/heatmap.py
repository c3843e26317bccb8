"""A matrix as coloured cells: states, gates, scores, attention, weights."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent, QPaintEvent, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from lmviz.app.look.theme import current_theme
from lmviz.app.widgets.base.figures import number
from lmviz.app.widgets.base.growing_canvas import GrowingCanvas
from lmviz.app.widgets.kit.painter import Painter
from lmviz.app.widgets.kit.pointing import ARROWS, CONFIRMING, Pointed, Words, step
from lmviz.app.widgets.matrix.cells import Cells
from lmviz.app.widgets.matrix.color_scale import HEIGHT as SCALE_HEIGHT
from lmviz.app.widgets.matrix.color_scale import draw_color_scale, draw_line_key
from lmviz.app.widgets.matrix.crossfade import Crossfade
from lmviz.app.widgets.matrix.heatmap_frame import HeatmapFrame, HeatmapSight
from lmviz.app.widgets.matrix.heatmap_labels import HeatmapLabels
from lmviz.app.widgets.matrix.heatmap_painter import CellPicture, HeatmapStrokes

DRAG_REACH = 120
DARK, FIRST = 0.3, 24
"""The share of the strongest colour from which a cell is dark, and how many rows and columns come first."""
LEAST_LINE = 20  # pixels at scale 1 of the cells, with the gaps around them
TINY, LEAST_BRUSH = 9, 8  # pixels at scale 1: of a cell that is hard to point at, and of a drag that is one


class HeatmapView(Pointed[tuple[int, int] | None], GrowingCanvas):
    """`HeatmapView()`: a matrix with labels, values, a crosshair and its colour scale.

    `set_matrix(values, scale="signed", limit=None, rows=(), columns=())` shows (row, column) numbers;
    `set_style(square, values, labels_below, row_role, column_role, few_columns)` says how;
    `set_selection(row, column)` outlines a whole row or column; `set_pinned(cell)`, `set_suggested(cell)`,
    `set_hovered(cell)` mark cells from outside; `set_lights(strengths)` fades all but some cells;
    `set_stairs(rows, meaning)` draws a line over the cells of each column from a row on; `set_notes(head,
    notes)` writes a column of texts beside the rows.
    `set_readout(function)` gives the hover card's words; `set_editable(True)` lets values be dragged.
    Signals: `cell_hovered(int, int)`, `left()`, `cell_clicked(int, int)`, and when editable
    `cell_dragged(int, int, float)` with the new value, `drag_finished()`.
    Arrow keys walk through the cells as the pointer does, Enter pins. Ctrl+wheel zooms, the wheel scrolls;
    of cells that are too small to be pointed at, those that are dragged over are shown large. 0, or a double
    click, shows all again. `show_last(count)` shows the last rows and columns alone.
    """

    cell_hovered = Signal(int, int)
    cell_clicked = Signal(int, int)
    cell_dragged = Signal(int, int, float)
    drag_finished = Signal()
    left = Signal()

    nowhere = None
    usual, least = (420, 320), (120, 60)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._cells = Cells.of(np.zeros((0, 0), dtype=np.float32), "signed")
        self._picture: CellPicture | None = None
        self._labels = self._drawn_labels = HeatmapLabels()
        self._frame: HeatmapFrame | None = None
        self._square, self._unit = False, ""
        self._sight = HeatmapSight()
        self.set_readout(self._usual_readout)
        self._editable = False
        self._drag: tuple[tuple[int, int], QPointF, float] | None = None
        self._brush: tuple[QPointF, QPointF] | None = None  # from where to where cells are dragged over
        self._pinned: tuple[int, int] | None = None
        self._suggested: tuple[int, int] | None = None
        self._selection: tuple[int, int] = (-1, -1)
        self._lights: np.ndarray | None = None
        self._stairs: tuple[Sequence[int], str] = ((), "")
        self._values_shown = "hovered row"
        self._words: tuple[Sequence[str], ...] = ()
        self._crossfade: Crossfade[CellPicture] = Crossfade(self)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName("heatmap")

    def set_matrix(
        self,
        values: np.ndarray,
        *,
        scale: str = "signed",
        limit: float | None = None,
        rows: Sequence[str] = (),
        columns: Sequence[str] = (),
        words: Sequence[Sequence[str]] = (),
        crossfade: bool = False,
        floor: float = 0.0,
        by_row: bool = False,
    ) -> None:
        """Show values (row, column); `rows` and `columns` are their labels, none or one each.

        `words`, row by row, are written in the cells; on the scale "token", where numbers are only names,
        without colours. With `crossfade` a matrix of the same shape fades into this one in a quarter second.

        `scale` is one of `lmviz.models.tap.SCALES`; `limit` the value of the strongest colour, chosen
        from the values when None. With a `floor`, colours go by the logarithm from there on; `by_row`, the
        largest of each row has the strongest. −∞ cells are plain, NaN cells hatched.
        """
        shape_changed = values.shape != self._cells.values.shape
        self._crossfade.end()
        if crossfade and not shape_changed and self._picture is not None:
            self._crossfade.begin(self._picture)
        self._words = tuple(words)
        numbers = np.zeros_like(values) if scale == "token" else values
        self._cells = Cells.of(numbers, scale, limit, floor, by_row=by_row)
        first = _strongest(self._cells) if scale == "share" else ((), ())
        self._label(rows=tuple(rows), columns=tuple(columns), first_rows=first[0], first_columns=first[1])
        self._picture = None
        if shape_changed:
            self._hovered = self._pinned = self._suggested = None
            self._selection, self._lights, self._stairs = (-1, -1), None, ((), "")
            self._labels = replace(self._labels, notes=(), notes_head="")
            self.reset_zoom()
        self._frame = None
        self.renew_card()
        self._describe()
        self.update()

    def _label(self, **changed: Any) -> None:
        """Have other names, and the room that they need."""
        before = self.minimumSizeHint()
        self._labels = replace(self._labels, **changed)
        if self.minimumSizeHint() != before:
            self.updateGeometry()

    def minimumSizeHint(self) -> QSize:
        """In large type, where perspectives scroll, room for names of columns, the colour scale and a line
        of cells; in ordinary type the table of panels has the least heights.
        """
        least = super().minimumSizeHint()
        if current_theme().scale <= 1:
            return least
        needed = self._labels.least_height(current_theme()) + self.usual_length(SCALE_HEIGHT + LEAST_LINE)
        return least.expandedTo(QSize(0, math.ceil(needed)))

    def _describe(self) -> None:
        """The chosen cell, or how many there are and the strongest of them."""
        values, cell = self._cells.values, self._pinned
        strengths = np.where(np.isfinite(values), np.abs(values), -1.0)
        said = f"{values.shape[0]} rows, {values.shape[1]} columns"
        if cell is not None:
            said = self._usual_readout(*cell)[0]
        elif self._cells.scale != "token" and strengths.size and strengths.max() >= 0:
            row, column = np.unravel_index(int(strengths.argmax()), strengths.shape)
            said += f"; the strongest: {self._usual_readout(int(row), int(column))[0]}"
        rows, meaning = self._stairs
        if rows:
            names = (" ".join(self._names(row, column)[::-1]) for column, row in enumerate(rows))
            said += f"; {meaning}: {', '.join(names)}"
        self.setAccessibleDescription(said)

    def set_style(
        self,
        *,
        square: bool = False,
        values: str = "hovered row",
        labels_below: bool = False,
        row_role: str = "muted_text",
        column_role: str = "muted_text",
        few_columns: bool = False,
        unit: str = "",
    ) -> None:
        """How to draw: square cells or stretched ones, where column labels stand, roles of label colours.

        With `few_columns` only columns of marked cells are labelled, so that cells can be larger.

        `values` says in which cells numbers are written where there is room: "none", "hovered row"
        (also the selected one) or "all". The `unit` of the numbers stands behind the colour scale.
        """
        self._unit = unit
        self._square, self._values_shown = square, values
        self._label(below=labels_below, row_role=row_role, column_role=column_role, few_columns=few_columns)
        self._look_again()

    def set_stairs(self, rows: Sequence[int], meaning: str) -> None:
        """Draw a line over the cells of each column from a row on, and say below what it means."""
        self._stairs = tuple(rows), meaning
        self._describe()
        self.update()

    def set_notes(self, head: str, notes: Sequence[str]) -> None:
        """Write a text at the right of each row, and one over them; none for no such column."""
        self._labels = replace(self._labels, notes=tuple(notes), notes_head=head)
        self._look_again()

    def set_selection(self, row: int = -1, column: int = -1) -> None:
        """Outline a whole row, a whole column, or both; −1 for none."""
        if (row, column) != self._selection:
            self._selection = (row, column)
            self.update()

    def set_pinned(self, cell: tuple[int, int] | None) -> None:
        """Mark the cell that was chosen."""
        if cell != self._pinned:
            self._pinned = cell
            self._describe()
            self.update()

    @property
    def suggested(self) -> tuple[int, int] | None:
        """The cell that is outlined with dashes."""
        return self._suggested

    def set_suggested(self, cell: tuple[int, int] | None) -> None:
        """Mark, with dashes, the cell that is explained while none is chosen."""
        if cell != self._suggested:
            self._suggested = cell
            self.update()

    @property
    def lights(self) -> np.ndarray | None:
        """How strongly each cell is lit, (row, column) from 0 to 3; None while nothing fades."""
        return self._lights

    def set_lights(self, strengths: np.ndarray | None) -> None:
        """Fade each cell but those lit: (row, column) from 0 to 3, fully lit. None to fade nothing."""
        if strengths is not None and strengths.shape != self._cells.values.shape:
            raise ValueError(strengths.shape)
        if strengths is not self._lights:
            self._lights = strengths
            self.update()

    def set_editable(self, editable: bool) -> None:
        """Whether dragging up and down over a cell asks for another value."""
        self._editable = editable

    def reset_zoom(self) -> None:
        """Show all cells again."""
        self._sight.reset()
        self._look_again()

    def show_last(self, count: int) -> None:
        """Show the last `count` rows and columns as large as they can be; all, where there are no more."""
        rows, columns = self.shape
        self._sight.reset()
        self._frame = None
        if 0 < count < max(rows, columns):
            ends = range(max(0, rows - count), rows), range(max(0, columns - count), columns)
            self._sight.show(self._framed(), *ends)
        self._look_again()

    @property
    def zoom(self) -> float:
        """How many times larger than fitted the cells are."""
        return self._sight.zoom

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns."""
        rows, columns = self._cells.values.shape
        return rows, columns

    def cell_rectangle(self, row: int, column: int) -> QRectF:
        """Where a cell is drawn."""
        return self._framed().cell(row, column)

    def adopt_theme(self) -> None:
        self._picture = None
        self._frame = None
        self._crossfade.end()
        super().adopt_theme()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._frame = None

    def _framed(self) -> HeatmapFrame:
        if self._frame is None:
            rows, columns = self._cells.values.shape
            room = QRectF(self.rect()), rows, columns, self._square, self.theme
            self._drawn_labels = self._labels.in_room(*room)
            space = self._drawn_labels.space_left(*room)
            scale = self.theme.scale
            self._frame = self._sight.frame(space, rows, columns, square=self._square, scale=scale)
        return self._frame

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        if self._cells.values.size:
            self._paint(painter)
        self.draw_focus(painter)

    def _paint(self, painter: Painter) -> None:
        frame, theme, cell = self._framed(), self.theme, self._hovered or self._pinned
        labels = self._drawn_labels
        if self._picture is None:
            self._picture = CellPicture(self._cells, theme)
        strokes = HeatmapStrokes(painter, frame, self._picture)
        if self._crossfade.before is not None:
            before = HeatmapStrokes(painter, frame, self._crossfade.before)
            before.draw_cells(self.devicePixelRatioF())
            painter.setOpacity(self._crossfade.share)
        strokes.draw_cells(self.devicePixelRatioF())
        painter.setOpacity(1.0)
        row, column = cell or (-1, -1)
        if cell is None and labels.few_columns and self._suggested is not None:
            column = self._suggested[1]
        marked = (column, self._selection[1])
        if self._words:
            rows = labels.rows_with_room(theme, frame, (row, self._selection[0]))
            strokes.draw_words(self._words, rows, *labels.columns_with_room(theme, frame, marked))
        else:
            strokes.draw_values(self._value_rows(frame))
        strokes.draw_fade(self._lights, self._hovered)
        strokes.draw_stairs(self._stairs[0])
        strokes.draw_outlines(self._selection, self._pinned, self._hovered)
        strokes.draw_suggested(self._suggested)
        if self._brush is not None:
            painter.box(QRectF(*self._brush).normalized(), edge=self.theme.text, width=1.2)
        labels.draw_rows(painter, frame, (row, self._selection[0]))
        labels.draw_columns(painter, frame, marked)
        labels.draw_notes(painter, frame, (row, self._selection[0]))
        wide = frame.area.width() > self.length(160)
        right, height = frame.area.right() if wide else self.width() - 1, self.length(SCALE_HEIGHT)
        place = QRectF(0, self.height() - height, right, height)
        if self._stairs[0]:
            key = QRectF(frame.area.left(), place.top(), right - frame.area.left(), height)
            draw_line_key(painter, key, theme.key, self._stairs[1])
        if self._cells.scale != "token":
            cells = self._cells
            range_of = cells.scale, cells.limit, cells.floor
            draw_color_scale(painter, place, *range_of, by_row=cells.by_row, unit=self._unit)

    def _value_rows(self, frame: HeatmapFrame) -> Sequence[int]:
        if self._values_shown == "all":
            return frame.shown_rows
        if self._values_shown == "none":
            return ()
        wanted = {self._selection[0], *(cell[0] for cell in (self._hovered, self._pinned) if cell)}
        return [row for row in frame.shown_rows if row in wanted]

    def _usual_readout(self, row: int, column: int) -> tuple[str, Sequence[str]]:
        names = " · ".join(self._names(row, column))
        return f"{names} = {number(float(self._cells.values[row, column]))}", ()

    def _names(self, row: int, column: int) -> list[str]:
        both = (self._labels.rows, row), (self._labels.columns, column)
        return [labels[index] if index < len(labels) else str(index) for labels, index in both]

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._drag is not None:
            cell, start, value = self._drag
            moved = (start.y() - event.position().y()) / self.length(DRAG_REACH)
            self.cell_dragged.emit(*cell, value + moved * self._cells.limit)
        elif self._brush is not None:
            self._brush = self._brush[0], event.position()
            self.update()
        else:
            super().mouseMoveEvent(event)

    def index_at(self, place: QPointF) -> tuple[int, int] | None:
        return self._framed().cell_at(place) if self._cells.values.size else None

    def readout(self, index: tuple[int, int] | None) -> Words | None:
        return None if self._readout is None or index is None else self._readout(*index)

    def pointed_at(self, index: tuple[int, int] | None) -> None:
        self.left.emit() if index is None else self.cell_hovered.emit(*index)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        cell = self.index_at(event.position())
        if cell is not None and self._editable and not self._cells.masked[cell]:
            self._drag = (cell, event.position(), float(self._cells.values[cell]))
        elif cell is not None and event.button() == Qt.MouseButton.LeftButton and self._are_tiny:
            self._brush = event.position(), event.position()  # what is pinned is known when it ends
            return
        super().mousePressEvent(event)

    @property
    def _are_tiny(self) -> bool:
        """Whether single cells are hard to point at."""
        frame = self._framed()
        return min(frame.cell_width, frame.cell_height) < self.length(TINY)

    def clicked_on(self, index: tuple[int, int] | None) -> None:
        if index is not None:
            self.set_pinned(index)
            self.cell_clicked.emit(*index)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self._drag is not None:
            self._drag = None
            self.drag_finished.emit()
        brush, self._brush = self._brush, None
        if brush is not None:
            self._end_brush(*brush)

    def _end_brush(self, start: QPointF, end: QPointF) -> None:
        """Show what was dragged over as large as it can be; where that is nothing, it was a click."""
        frame = self._framed()
        area = QRectF(start, end).normalized().intersected(frame.area)
        if max(area.width(), area.height()) < self.length(LEAST_BRUSH):
            self.clicked_on(self.index_at(start))
        else:
            inside = QPointF(0.5, 0.5)  # the far edges belong to what lies beyond
            first, last = frame.cell_at(area.topLeft()), frame.cell_at(area.bottomRight() - inside)
            if first is not None and last is not None:
                self._sight.show(frame, range(first[0], last[0] + 1), range(first[1], last[1] + 1))
        self._look_again()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.reset_zoom()

    def wheelEvent(self, event: QWheelEvent) -> None:
        zooms = event.modifiers() & Qt.KeyboardModifier.ControlModifier
        if not self._cells.values.size or not (zooms or self.zoom > 1):
            event.ignore()
            return
        if zooms:
            factor = 1.2 ** (event.angleDelta().y() / 120)
            self._sight.zoom_about(self._framed(), event.position(), factor, self.theme.scale)
        else:
            self._sight.scroll(self._framed(), QPointF(event.angleDelta()) * 0.5)
        self._look_again()

    def _look_again(self) -> None:
        """What is in sight has changed."""
        self._frame = None
        self.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_0:
            self.reset_zoom()
        elif event.key() in ARROWS and self._cells.values.size:
            cell = self._neighbour(event.key())
            self._sight.bring_into_sight(self._framed(), cell)
            self._look_again()
            self._pointer = self.cell_rectangle(*cell).center()
            self.hover(cell)
        elif event.key() in CONFIRMING and self._hovered is not None:
            self.clicked_on(self._hovered)
        else:
            super().keyPressEvent(event)

    def _neighbour(self, key: int) -> tuple[int, int]:
        """The cell to which a key leads, from the one pointed at or pinned; at first one of those chosen."""
        start = self._hovered or self._pinned
        if start is None:
            return max(0, self._selection[0]), max(0, self._selection[1])
        return step(start, key, *self._cells.values.shape)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        self.hover(None)
        super().focusOutEvent(event)


def _strongest(cells: Cells) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The rows and columns by their darkest cells, the darkest first, of those that have a dark one."""
    values = np.where(cells.masked, 0.0, cells.values)
    found = []
    for axis in (1, 0):
        darkest = values.max(axis=axis, initial=0.0)
        order = np.argsort(-darkest, kind="stable")
        found.append(tuple(order[darkest[order] >= DARK * darkest.max(initial=0.0)][:FIRST].tolist()))
    return found[0], found[1]
