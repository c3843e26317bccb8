"""The base of pictures whose numbers can be pointed at, typed anew and dragged."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, QSizeF, Qt, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QKeyEvent,
    QMouseEvent,
    QPaintEvent,
    QResizeEvent,
    QTransform,
    QWheelEvent,
)
from PySide6.QtWidgets import QLineEdit, QSizePolicy

from lmviz.app.widgets.diagrams.network_values import DrawnValue, ValueCell
from lmviz.app.widgets.diagrams.viewport import keep_in_place, room_in, scroll_by
from lmviz.app.widgets.kit.painter import Painter
from lmviz.app.widgets.kit.pointing import ACROSS, CONFIRMING, DOWN, Pointed
from lmviz.app.widgets.matrix.color_scale import draw_color_scale

LEGIBLE = 12 / 13  # of the usual size: figures of 12 pixels; smaller ones are not drawn
LARGEST = 1.8  # of the usual size
CLOSEST = 3.0  # of the usual size, by hand
A_NOTCH = 1.2  # what one turn of the wheel or one press of a button enlarges by
DRAG = 4  # pixels before a press becomes a drag
A_PIXEL = 0.01  # by how much a drag of one pixel changes a number
LEGEND = 22  # pixels at scale 1 below everything, for the scale of colours


class EditableNumbers(Pointed[ValueCell | None]):
    """A click on a cell pins it, a double click or Return types another number into it, and a drag up or down
    changes it; the arrow keys go from cell to cell.

    All of it is in sight at first, or where it `begins_with_a_part` and figures would be too small, a part
    with figures of 12 pixels, and one scrolls to the others. Ctrl and the wheel, + and −, or `magnify` draw
    it larger; then its background is dragged, and 0 or `fit` bring all of it into sight.

    `set_readout(function)` gives the words of the card under the pointer.
    Signals: `module_hovered(str)`, `number_given(object, float)`, `number_released(object)` where nothing is
    typed, `magnified()`.
    """

    module_hovered = Signal(str)
    number_given = Signal(object, float)
    number_released = Signal(object)
    magnified = Signal()
    nowhere = None
    takes_clicks = True
    begins_with_a_part = False

    def __init__(self) -> None:
        super().__init__()
        self._is_whole = False  # whether a person wants all of it, too small for figures as it is
        self._limit = 1.0  # the gradient with the strongest colour
        self._pinned: ValueCell | None = None
        self._pressed: tuple[ValueCell, QPointF, float] | None = None
        self._is_dragging = False
        self._magnification: float | None = None
        self._grasped: QPointF | None = None
        self.set_readout(lambda cell: (self.figure(cell), ()))
        self._edit: _NumberEdit | None = None
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    @abstractmethod
    def draw(self, painter: Painter, is_needed: Callable[[QRectF], bool]) -> None:
        """Draw everything of which any part is needed, with a painter whose pixels are those at scale 1."""

    @abstractmethod
    def touched(self, place: QPointF) -> tuple[ValueCell, QRectF] | None:
        """The cell at a place of the widget, and where a number would be typed."""

    @abstractmethod
    def value_at(self, place: QPointF) -> str:
        """The name of the value that is drawn at a place of the widget."""

    @abstractmethod
    def value(self, name: str) -> DrawnValue:
        """A value by its name."""

    def number(self, cell: ValueCell) -> float | None:
        """The number of a cell; None where it is not known yet."""
        array = self.value(cell.name).array(cell.is_gradient)
        return None if array is None else float(array[cell.place])

    def figure(self, cell: ValueCell) -> str:
        """What a cell shows; empty where its number is not known yet."""
        return self.value(cell.name).figure(cell.place, cell.is_gradient)

    @abstractmethod
    def cell_rectangle(self, cell: ValueCell) -> QRectF:
        """Where a cell is drawn, in the widget's coordinates."""

    @abstractmethod
    def cells(self) -> list[ValueCell]:
        """All cells with a number, in the order of the text."""

    @abstractmethod
    def natural_size(self) -> QSizeF:
        """The size of everything at scale 1, the legend included."""

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        region, onto_screen = event.region(), self.onto_screen
        with painter.scaled(onto_screen):
            self.draw(painter, lambda area: region.intersects(onto_screen.mapRect(area).toAlignedRect()))
        low = QRectF(0, self.height() - self.length(18), self.width() - self.length(4), self.length(16))
        if region.intersects(low.toAlignedRect()):
            draw_color_scale(painter, low, "signed", self._limit)
        self.draw_focus(painter)

    @property
    def zoom(self) -> float:
        """By how much it is drawn larger: as a person chose, or so that all of it is in sight.

        A picture that fits the width in readable type scrolls downwards rather than grow small.
        """
        if self._magnification is not None:
            return self._magnification
        size, scale = self.natural_size(), self.theme.scale
        wide, high = self.width() / max(size.width(), 1), self.height() / max(size.height(), 1)
        if self.is_part:
            return LEGIBLE * scale
        if not self.fits_across:
            return min(LEGIBLE, wide, high)
        return max(LEGIBLE, min(LARGEST * scale, max(self.smallest * scale, high), wide))

    @property
    def smallest(self) -> float:
        """The share of the usual size from which on it scrolls downwards rather than be drawn smaller."""
        return LEGIBLE

    @property
    def is_fitted(self) -> bool:
        """Whether the size is not one that a person chose."""
        return self._magnification is None

    @property
    def is_readable(self) -> bool:
        """Whether figures can be read at the size it is drawn."""
        if self._magnification is not None:
            return self._magnification >= LEGIBLE
        return self.fits_across or self.is_part

    @property
    def fits_across(self) -> bool:
        """Whether its figures can be read where it is as wide as there is room."""
        return self.natural_size().width() * LEGIBLE <= room_in(self)

    @property
    def is_part(self) -> bool:
        """Whether a part of it is in sight, because figures could not be read if all of it were."""
        begins = self.begins_with_a_part and not self._is_whole
        return begins and self.is_fitted and not self.fits_across

    def magnify(self, factor: float, around: QPointF | None = None) -> None:
        """Draw it larger by a factor, and keep in its place what lies at a point; never smaller than
        all of it, and from a size without figures straight to one with them.
        """
        wanted = min(CLOSEST, self.zoom * factor)
        if factor > 1 and not self.is_readable:
            wanted = max(wanted, LEGIBLE * self.theme.scale)
        is_all = wanted * self.natural_size().width() <= room_in(self)
        self._set_magnification(None if factor < 1 and is_all else wanted, around)

    def fit(self) -> None:
        """Bring all of it into sight."""
        self._set_magnification(None, None)

    def start_over(self) -> None:
        """Draw it as at first."""
        self._set_magnification(None, None, is_whole=False)

    def _set_magnification(
        self, magnification: float | None, around: QPointF | None, *, is_whole: bool = True
    ) -> None:
        if (magnification, is_whole) == (self._magnification, self._is_whole):
            return
        point = QPointF(self.visibleRegion().boundingRect().center()) if around is None else around
        size = self.natural_size()
        inside = self.inside(point)
        share = QPointF(inside.x() / max(size.width(), 1), inside.y() / max(size.height(), 1))
        self._magnification, self._is_whole = magnification, is_whole
        self.adopt_magnification()
        self.updateGeometry()
        size = self.natural_size()
        inside = QPointF(share.x() * size.width(), share.y() * size.height())
        keep_in_place(self, point, lambda: inside * self.zoom + self._shift_at(self.zoom))
        self.update()
        self.magnified.emit()

    def adopt_magnification(self) -> None:
        """Arrange anew what depends on how much room there is."""

    def _shift_at(self, zoom: float) -> QPointF:
        """Where its upper left corner is drawn."""
        size = self.natural_size()
        return QPointF(
            max(0.0, (self.width() - size.width() * zoom) / 2),
            max(0.0, (self.height() - size.height() * zoom) / 2),
        )

    @property
    def onto_screen(self) -> QTransform:
        """From places at scale 1 to the widget's coordinates."""
        zoom = self.zoom
        shift = self._shift_at(zoom)
        return QTransform.fromTranslate(shift.x(), shift.y()).scale(zoom, zoom)

    def on_screen(self, place: QRectF) -> QRectF:
        """A place at scale 1 in the widget's coordinates."""
        return self.onto_screen.mapRect(place)

    def inside(self, place: QPointF) -> QPointF:
        """A place of the widget at scale 1."""
        zoom = self.zoom
        return (place - self._shift_at(zoom)) * (1 / zoom)

    def sizeHint(self) -> QSize:
        return (self.natural_size() * self.theme.scale).toSize()

    def minimumSizeHint(self) -> QSize:
        size = self.natural_size()
        if self._magnification is not None or self.is_part:
            whole = size * self.zoom
            return QSize(math.ceil(whole.width()), math.ceil(whole.height()))
        if not self.is_readable:
            return QSize(0, 0)
        wide = room_in(self) / max(size.width(), 1)
        return QSize(0, round(size.height() * max(LEGIBLE, min(self.smallest * self.theme.scale, wide))))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.updateGeometry()

    def set_pinned(self, cell: ValueCell | None) -> None:
        """Outline the cell that is explained."""
        self._pinned = cell
        self.update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._grasped is not None:
            scroll_by(self, self._grasped - event.globalPosition())
            self._grasped = event.globalPosition()
        elif self._pressed is not None:
            self._drag(event.position())
        else:
            self.module_hovered.emit(self.value_at(event.position()))
            super().mouseMoveEvent(event)

    def renew_card(self) -> None:
        """Have the card under the pointer say what is there now."""
        if self._hovered is not None and self._hovered not in self.cells():
            self._hovered = None
            self.pointed_at(None)
        super().renew_card()

    def index_at(self, place: QPointF) -> ValueCell | None:
        """The cell at a place, if its number is known."""
        found = self.touched(place)
        return found[0] if found is not None and self.figure(found[0]) else None

    def _drag(self, place: QPointF) -> None:
        assert self._pressed is not None
        cell, start, number = self._pressed
        up = start.y() - place.y()
        if cell.is_gradient or (abs(up) < DRAG and not self._is_dragging):
            return
        self._is_dragging = True
        self.setCursor(Qt.CursorShape.SizeVerCursor)
        self.number_given.emit(cell, round(number + A_PIXEL * round(up), 10))
        super().renew_card()  # at once, while it is dragged

    def mousePressEvent(self, event: QMouseEvent) -> None:
        cell = self.index_at(event.position())
        number = None if cell is None else self.number(cell)
        if event.button() == Qt.MouseButton.LeftButton and cell is not None and number is not None:
            self._pressed, self._is_dragging = (cell, event.position(), number), False
        elif event.button() == Qt.MouseButton.LeftButton and cell is None:
            self._grasped = event.globalPosition()
            self.setCursor(Qt.CursorShape.ClosedHandCursor)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self._grasped is not None:
            self._grasped = None
            self.unsetCursor()
        pressed, self._pressed = self._pressed, None
        if pressed is not None and not self._is_dragging:
            self.clicked_on(pressed[0])
        self._is_dragging = False

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        found = self.touched(event.position())
        if found is not None:
            self.edit_cell(*found)

    def edit_cell(self, cell: ValueCell, place: QRectF | None = None) -> None:
        """Let a person type another number into a cell; gradients cannot be given."""
        number = self.number(cell)
        if cell.is_gradient or number is None:
            return
        self._close_edit()
        edit = self._edit = _NumberEdit(f"{number:.10g}", self)
        edit.setObjectName("number_edit")
        edit.setAccessibleName(f"number of {cell.name}")
        where = self.cell_rectangle(cell) if place is None else place
        edit.setGeometry(where.adjusted(-6, -4, 30, 4).toRect())
        edit.returnPressed.connect(lambda: self._take_edit(cell))
        edit.dropped.connect(self._close_edit)
        edit.show()
        edit.selectAll()
        edit.setFocus()

    def wheelEvent(self, event: QWheelEvent) -> None:
        if not event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            event.ignore()
            return
        self.magnify(A_NOTCH ** (event.angleDelta().y() / 120), event.position())
        event.accept()

    def leaveEvent(self, event: QEvent) -> None:
        self.module_hovered.emit("")
        super().leaveEvent(event)

    def _take_edit(self, cell: ValueCell) -> None:
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
            if self.window().focusWidget() is edit:  # and not what was clicked on instead
                self.setFocus()
            edit.hide()
            edit.deleteLater()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        steps = ACROSS | DOWN
        cells = self.cells()
        if event.key() in steps and cells:
            at = cells.index(self._pinned) + steps[event.key()] if self._pinned in cells else 0
            self.clicked_on(cells[at % len(cells)])
        elif event.key() in CONFIRMING and self._pinned in cells:
            self.edit_cell(self._pinned)
        elif event.text() in ("+", "-"):
            self.magnify(A_NOTCH if event.text() == "+" else 1 / A_NOTCH)
        elif event.text() == "0":
            self.fit()
        else:
            super().keyPressEvent(event)


class _NumberEdit(QLineEdit):
    """Where a number is typed. Return and Escape end it, and mean nothing else to the picture below.

    So does whatever takes the focus, but for another window and for its own menu.
    """

    dropped = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        super().keyPressEvent(event)
        if event.key() == Qt.Key.Key_Escape:
            self.dropped.emit()
        if event.key() in (*CONFIRMING, Qt.Key.Key_Escape):
            event.accept()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() not in (
            Qt.FocusReason.ActiveWindowFocusReason,
            Qt.FocusReason.PopupFocusReason,
        ):
            self.dropped.emit()
