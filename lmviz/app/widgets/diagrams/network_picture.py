"""The graph of a small network: modules as boxes, values as numbered cells, gradients beneath."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, QSizeF, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QLineEdit, QSizePolicy, QWidget

from lmviz.app.widgets.base.canvas import Canvas
from lmviz.app.widgets.base.hover_card import HoverCard
from lmviz.app.widgets.diagrams.network_boxes import Boxes, place_boxes
from lmviz.app.widgets.diagrams.network_painter import NetworkPainter, equation_width
from lmviz.app.widgets.diagrams.network_values import Cell, DrawnValue
from lmviz.app.widgets.matrix.color_scale import draw_color_scale
from lmviz.app.widgets.text import typesetting

SMALLEST, LARGEST = 0.72, 1.2  # of the usual size
LEGEND = 22
DRAG = 4  # pixels before a press becomes a drag
A_PIXEL = 0.01  # by how much a drag of one pixel changes a number
PATIENCE = 100

Readout = Callable[[Cell], tuple[str, Sequence[str]]]


class NetworkPicture(Canvas):
    """`NetworkPicture()`: `set_network(values, limit, unrolled)`; `limit` has the strongest colour.

    `set_pinned(cell)`, `set_operands(cells)`, `set_lit(name, next_name)` mark what is looked at;
    `set_readout(function)` gives the words of the card under the pointer. A click on a cell pins it, a
    double click or Return types another number into it, and a drag up or down changes it; the arrow keys
    go from cell to cell.
    Signals: `cell_hovered(object)` and `cell_clicked(object)` with a `Cell`, `left()`,
    `module_hovered(str)`, `number_given(object, float)`, `number_released(object)` where nothing is typed.
    """

    cell_hovered = Signal(object)
    cell_clicked = Signal(object)
    left = Signal()
    module_hovered = Signal(str)
    number_given = Signal(object, float)
    number_released = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._values: tuple[DrawnValue, ...] = ()
        self._boxes = Boxes({}, QSizeF(0, 0), 0.0)
        self._natural = QSizeF(0, LEGEND)
        self._limit = 1.0
        self._unrolled = False
        self._pinned: Cell | None = None
        self._operands: frozenset[Cell] = frozenset()
        self._lit, self._next = "", ""
        self._hovered: Cell | None = None
        self._pressed: tuple[Cell, QPointF, float] | None = None
        self._is_dragging = False
        self._readout: Readout = lambda cell: (self.figure(cell), ())
        self._edit: _NumberEdit | None = None
        self._waiting = QTimer(self)
        self._waiting.timeout.connect(self._look_again)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName("graph of the network")

    def set_network(self, values: Sequence[DrawnValue], limit: float, *, unrolled: bool = False) -> None:
        """Draw other values, or the same with other numbers."""
        kept = [(each.name, each.shape, each.row, each.column, each.side) for each in values]
        before = [(each.name, each.shape, each.row, each.column, each.side) for each in self._values]
        self._values, self._limit = tuple(values), limit
        if kept != before or unrolled != self._unrolled:
            self._unrolled = unrolled
            self._measure()
        else:
            boxes = {each.name: replace(self._boxes.boxes[each.name], value=each) for each in values}
            self._boxes = replace(self._boxes, boxes=boxes)
        self._say()
        self.update()

    def set_pinned(self, cell: Cell | None) -> None:
        """Outline the cell that is explained."""
        self._pinned = cell
        self.update()

    def set_operands(self, cells: Iterable[Cell]) -> None:
        """Outline the cells that it was made from."""
        self._operands = frozenset(cells)
        self.update()

    def set_lit(self, name: str, next_name: str) -> None:
        """Light one value, and mark the module that is next to be popped or pushed."""
        if (name, next_name) != (self._lit, self._next):
            self._lit, self._next = name, next_name
            self.update()

    def set_readout(self, readout: Readout) -> None:
        """What the card under the pointer says of a cell: a title and lines."""
        self._readout = readout

    def figure(self, cell: Cell) -> str:
        """What a cell shows; empty where its number is not known yet."""
        value = self._boxes.boxes[cell.name].value
        return value.figure(cell.place, cell.is_gradient)

    def cell_rectangle(self, cell: Cell) -> QRectF:
        """Where a cell is drawn, in the widget's coordinates."""
        box = self._boxes.boxes[cell.name]
        return self._on_screen(box.cell_rectangle(cell.place, cell.is_gradient))

    def box_rectangle(self, name: str) -> QRectF:
        """Where a value's box is drawn."""
        return self._on_screen(self._boxes.boxes[name].frame)

    def _on_screen(self, place: QRectF) -> QRectF:
        """A place at scale 1 in the widget's coordinates."""
        return QRectF(place.topLeft() * self._zoom + self._shift, place.size() * self._zoom)

    @property
    def lit(self) -> str:
        """The value that is lit."""
        return self._lit

    @property
    def operands(self) -> frozenset[Cell]:
        """The cells that are outlined as operands."""
        return self._operands

    def adopt_theme(self) -> None:
        self._measure()
        super().adopt_theme()

    def sizeHint(self) -> QSize:
        return (self._natural * self.theme.scale).toSize()

    def minimumSizeHint(self) -> QSize:
        least = self._natural * (self.theme.scale * SMALLEST)
        return QSizeF(least.width(), least.height()).toSize()

    def _whole_size(self) -> QSizeF:
        """The size of everything at scale 1, equations included."""
        size, extra = self._boxes.size, 0.0
        if self._boxes.equations:
            lines = [line for value in self._values for line in value.equations]
            widest = max((equation_width(line, self.theme) for line in lines), default=0.0)
            extra = self._boxes.equations - size.width() + widest + 8
        return QSizeF(size.width() + extra, size.height() + LEGEND)

    @property
    def _zoom(self) -> float:
        size = self._natural
        fits = min(self.width() / max(size.width(), 1), self.height() / max(size.height(), 1))
        scale = self.theme.scale
        return min(LARGEST * scale, max(SMALLEST * scale, fits))

    @property
    def _shift(self) -> QPointF:
        size, zoom = self._natural, self._zoom
        return QPointF(
            max(0.0, (self.width() - size.width() * zoom) / 2),
            max(0.0, (self.height() - size.height() * zoom) / 2),
        )

    def _measure(self) -> None:
        self._boxes = place_boxes(self._values, unrolled=self._unrolled)
        if self._boxes.equations and not typesetting.ready():
            typesetting.load_in_background()
            self._waiting.start(PATIENCE)
        self._natural = self._whole_size()
        self.updateGeometry()

    def _look_again(self) -> None:
        if typesetting.ready():
            self._waiting.stop()
            self._natural = self._whole_size()
            self.updateGeometry()
            self.update()

    def _say(self) -> None:
        """All numbers, for assistive tools."""
        lines = []
        for value in self._values:
            for is_gradient in (False, True):
                figures = [value.figure(index, is_gradient) for index in value.indices]
                if any(figures):
                    lines.append(
                        f"{'gradient of ' if is_gradient else ''}{value.label}: {', '.join(figures)}"
                    )
        self.setAccessibleDescription("; ".join(lines))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = self.begin()
        painter.save()
        painter.translate(self._shift)
        painter.scale(self._zoom, self._zoom)
        self._draw(painter)
        painter.restore()
        low = QRectF(0, self.height() - self.length(18), self.width() - self.length(4), self.length(16))
        draw_color_scale(painter, low, self.theme, "signed", self._limit)
        self.draw_focus(painter)

    def _draw(self, painter: QPainter) -> None:
        drawing = NetworkPainter(painter, self.theme, self._limit)
        boxes = self._boxes.boxes
        drawing.draw_lines(self._boxes, self._lit)
        for name, box in boxes.items():
            drawing.draw_box(box, is_lit=name == self._lit, is_next=name == self._next)
            drawing.draw_words(box)
            drawing.draw_cells(box, self._pinned, self._operands)
        drawing.draw_equations(self._boxes)

    def _cell_at(self, place: QPointF) -> Cell | None:
        inside = (place - self._shift) * (1 / self._zoom)
        for box in self._boxes.boxes.values():
            if box.frame.contains(inside):
                return box.cell_at(inside)
        on_arrow = self._boxes.field_at(inside)
        return None if on_arrow is None else on_arrow[0]

    def _value_at(self, place: QPointF) -> str:
        inside = (place - self._shift) * (1 / self._zoom)
        return next((name for name, box in self._boxes.boxes.items() if box.frame.contains(inside)), "")

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        place = event.position()
        if self._pressed is not None:
            self._drag(place)
            return
        self.module_hovered.emit(self._value_at(place))
        cell = self._cell_at(place)
        if cell is not None and not self.figure(cell):
            cell = None
        if cell == self._hovered:
            return
        self._hovered = cell
        self.setCursor(Qt.CursorShape.PointingHandCursor if cell else Qt.CursorShape.ArrowCursor)
        if cell is None:
            HoverCard.leave(self)
            self.left.emit()
        else:
            HoverCard.beside(self, place.toPoint(), *self._readout(cell))
            self.cell_hovered.emit(cell)

    def _drag(self, place: QPointF) -> None:
        assert self._pressed is not None
        cell, start, number = self._pressed
        up = start.y() - place.y()
        if cell.is_gradient or (abs(up) < DRAG and not self._is_dragging):
            return
        self._is_dragging = True
        self.setCursor(Qt.CursorShape.SizeVerCursor)
        self.number_given.emit(cell, round(number + A_PIXEL * round(up), 10))
        HoverCard.renew(self, lambda: self._readout(cell))

    def leaveEvent(self, event: QEvent) -> None:
        HoverCard.leave(self)
        self.module_hovered.emit("")
        if self._hovered is not None:
            self._hovered = None
            self.left.emit()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        cell = self._cell_at(event.position())
        if event.button() != Qt.MouseButton.LeftButton or cell is None or not self.figure(cell):
            return
        array = self._boxes.boxes[cell.name].value.array(cell.is_gradient)
        assert array is not None
        self._pressed, self._is_dragging = (cell, event.position(), float(array[cell.place])), False

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        pressed, self._pressed = self._pressed, None
        if pressed is not None and not self._is_dragging:
            self.cell_clicked.emit(pressed[0])
        self._is_dragging = False

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        cell = self._cell_at(event.position())
        if cell is not None:
            on_arrow = self._boxes.field_at((event.position() - self._shift) * (1 / self._zoom))
            self.edit_cell(cell, None if on_arrow is None else on_arrow[1])

    def field_rectangle(self, module: str, source: str) -> QRectF:
        """Where a weight stands on the arrow into a module."""
        return self._on_screen(self._boxes.fields[module, source])

    def edit_cell(self, cell: Cell, field: QRectF | None = None) -> None:
        """Let a person type another number into a cell; gradients cannot be given."""
        if cell.is_gradient or not self.figure(cell):
            return
        array = self._boxes.boxes[cell.name].value.values
        assert array is not None
        self._close_edit()
        edit = self._edit = _NumberEdit(f"{float(array[cell.place]):.10g}", self)
        edit.setObjectName("number_edit")
        edit.setAccessibleName(f"number of {cell.name}")
        place = self.cell_rectangle(cell) if field is None else self._on_screen(field)
        edit.setGeometry(place.adjusted(-6, -4, 30, 4).toRect())
        edit.returnPressed.connect(lambda: self._take_edit(cell))
        edit.dropped.connect(self._close_edit)
        edit.editingFinished.connect(self._close_edit)
        edit.show()
        edit.selectAll()
        edit.setFocus()

    def _take_edit(self, cell: Cell) -> None:
        if self._edit is None:
            return
        text = self._edit.text().replace("−", "-").replace(",", ".").strip()
        self._close_edit()
        if not text:
            self.number_released.emit(cell)
            return
        try:
            number = float(text)
        except ValueError:
            return  # the old number stays in sight
        self.number_given.emit(cell, number)

    def _close_edit(self) -> None:
        edit, self._edit = self._edit, None
        if edit is not None:
            edit.hide()
            edit.deleteLater()
            self.setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        steps: dict[int, int] = {
            Qt.Key.Key_Left: -1,
            Qt.Key.Key_Right: 1,
            Qt.Key.Key_Up: -1,
            Qt.Key.Key_Down: 1,
        }
        cells = self._cells()
        if event.key() in steps and cells:
            at = cells.index(self._pinned) + steps[event.key()] if self._pinned in cells else 0
            self.cell_clicked.emit(cells[at % len(cells)])
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self._pinned in cells:
            self.edit_cell(self._pinned)  # type: ignore[arg-type]  # one of the cells
        else:
            super().keyPressEvent(event)

    def _cells(self) -> list[Cell | None]:
        """All cells with a number, in the order of the text."""
        return [
            Cell(value.name, index, is_gradient)
            for value in self._values
            for is_gradient in (False, True)
            if value.array(is_gradient) is not None
            for index in value.indices
        ]


class _NumberEdit(QLineEdit):
    """Where a number is typed. Return and Escape end it, and mean nothing else to the picture below."""

    dropped = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        super().keyPressEvent(event)
        if event.key() == Qt.Key.Key_Escape:
            self.dropped.emit()
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Escape):
            event.accept()
