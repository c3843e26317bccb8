"""A small picture of square pixels, to be painted, or coloured by a number for each pixel."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from lmviz.app.look.color_maps import mix
from lmviz.app.widgets.base.figures import signed_figure
from lmviz.app.widgets.base.pixels import pixel_color
from lmviz.app.widgets.kit.painter import Painter
from lmviz.app.widgets.kit.pointing import ARROWS, Pointable, Words, step

SIDE = 14  # pixels of the screen for one of the picture, at scale 1
GAP = 1


class PixelGrid(Pointable):
    """`PixelGrid(columns)`: `set_pixels(pixels)`, row by row, each painted or not.

    With `set_editable()` a press turns a pixel over, and dragging gives the same to all that it comes to;
    arrow keys move a mark, Space turns it over, Backspace makes all blank. `set_values(values, limit)`
    colours each pixel by a signed number, up to `limit`; painted ones have a frame then. Signal:
    `painted()` after a change by hand.
    """

    painted = Signal()

    def __init__(self, columns: int, *, side: float = SIDE, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._columns, self._side = columns, side
        self._pixels: tuple[bool, ...] = (False,) * columns * columns
        self._values: np.ndarray | None = None
        self._limit = 1.0
        self._is_editable = False
        self._mark = -1
        self._brush: bool | None = None  # what dragging gives to pixels
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("picture")

    @property
    def pixels(self) -> tuple[bool, ...]:
        """What is painted, row by row."""
        return self._pixels

    @property
    def values(self) -> np.ndarray | None:
        """The number of each pixel, (pixel,), where they are coloured by numbers."""
        return self._values

    def set_pixels(self, pixels: Sequence[bool]) -> None:
        """Show a picture."""
        if tuple(pixels) != self._pixels:
            self._pixels = tuple(pixels)
            self._describe()
            self.updateGeometry()
            self.update()

    def set_values(self, values: np.ndarray | None, limit: float = 1.0) -> None:
        """Colour each pixel by a number (pixel,), the strongest as `limit`; None for a plain picture."""
        self._values, self._limit = values, limit if limit > 0 else 1.0
        self.update()

    def set_editable(self) -> None:
        """Let it be painted."""
        self._is_editable = True
        self.setCursor(Qt.CursorShape.CrossCursor)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def part_rectangle(self, index: int) -> QRectF:
        """Where a pixel is drawn."""
        row, column = divmod(index, self._columns)
        side = self.length(self._side)
        return QRectF(column * side + 1, row * side + 1, side - GAP, side - GAP)

    def sizeHint(self) -> QSize:
        side = self.length(self._side)
        rows = -(-len(self._pixels) // self._columns)
        return QSize(round(self._columns * side + 1), round(rows * side + 1))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def index_at(self, place: QPointF) -> int:
        side = self.length(self._side)
        row, column = int((place.y() - 1) // side), int((place.x() - 1) // side)
        index = row * self._columns + column
        return index if 0 <= column < self._columns and 0 <= index < len(self._pixels) else -1

    def _named(self, index: int) -> str:
        row, column = divmod(index, self._columns)
        return f"row {row + 1}, column {column + 1}, {'painted' if self._pixels[index] else 'blank'}"

    def readout(self, index: int) -> Words | None:
        if self._values is None:
            return None
        return self._named(index), [signed_figure(float(self._values[index]), 4)]

    def clicked_on(self, index: int) -> None:
        if self._is_editable:
            self._brush = not self._pixels[index]
            self._paint(index, self._brush)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        if self._brush is not None and event.buttons() & Qt.MouseButton.LeftButton and self.hovered >= 0:
            self._paint(self.hovered, self._brush)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._brush = None

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = event.key()
        if not self._is_editable or not (key in ARROWS or key in (Qt.Key.Key_Space, Qt.Key.Key_Backspace)):
            super().keyPressEvent(event)
        elif key in ARROWS:
            at, rows = divmod(max(0, self._mark), self._columns), len(self._pixels) // self._columns
            row, column = step(at, key, rows, self._columns)
            self._mark = row * self._columns + column
            self._describe()
            self.update()
        elif key == Qt.Key.Key_Space:
            self._mark = max(0, self._mark)
            self._paint(self._mark, not self._pixels[self._mark])
        else:
            self.clear()

    def clear(self) -> None:
        """Make every pixel blank, by hand."""
        if any(self._pixels):
            self.set_pixels((False,) * len(self._pixels))
            self.painted.emit()

    def _paint(self, index: int, is_painted: bool) -> None:
        if self._pixels[index] != is_painted:
            pixels = list(self._pixels)
            pixels[index] = is_painted
            self.set_pixels(pixels)
            self.painted.emit()

    def description(self) -> str:
        said = f"{sum(self._pixels)} of {len(self._pixels)} pixels painted"
        return f"{self._named(self._mark)}; {said}" if self._mark >= 0 else said

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        painter.setRenderHint(Painter.RenderHint.Antialiasing, False)
        for index in range(len(self._pixels)):
            painter.fillRect(self.part_rectangle(index), self._color(index))
        if self._values is not None:
            for index, is_painted in enumerate(self._pixels):
                if is_painted:
                    self._frame(painter, index, QPen(self.theme.text, 1))
        if self.hovered >= 0:
            self._frame(painter, self.hovered, QPen(self.theme.accent, self.length(1.5)))
        if self.hasFocus() and self._mark >= 0:
            self._frame(painter, self._mark, QPen(self.theme.accent, self.length(2)))
        self.draw_focus(painter)

    def _frame(self, painter: Painter, index: int, edge: QPen) -> None:
        painter.box(self.part_rectangle(index).adjusted(0, 0, -1, -1), edge=edge)

    def _color(self, index: int) -> QColor:
        if self._values is None:
            return pixel_color(self._pixels[index])
        value, theme = float(self._values[index]), self.theme
        color = theme.signed(value)
        return mix(theme.chip, color, min(1.0, abs(value) / self._limit))  # so that zero can be seen as well
