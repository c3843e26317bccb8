"""The parts of a widget: which is under the pointer, which is chosen, and what the hover card says of one.

A part is what `index_at` finds at a place: most often a number from 0, and −1 where there is none.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, Generic, TypeVar

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFocusEvent, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QWidget

from lmviz.app.widgets.base.canvas import Canvas, once
from lmviz.app.widgets.base.hover_card import HoverCard
from lmviz.app.widgets.kit.painter import AT_LEFT, Painter, measure_of

ACROSS: dict[int, int] = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
DOWN: dict[int, int] = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}
ARROWS: dict[int, tuple[int, int]] = {
    Qt.Key.Key_Left: (0, -1),
    Qt.Key.Key_Right: (0, 1),
    Qt.Key.Key_Up: (-1, 0),
    Qt.Key.Key_Down: (1, 0),
}
"""By key: how many rows down and columns to the right."""

NOWHERE = (math.nan,) * 4
CONFIRMING = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


def along(arrows: Mapping[int, int], key: int, index: int, count: int) -> int | None:
    """The part beside one of `count` (−1 for none), which at an end is itself; None for any other key."""
    return min(max(index + arrows[key], 0), count - 1) if key in arrows and count else None


def step(cell: tuple[int, int], key: int, rows: int, columns: int) -> tuple[int, int]:
    """The cell beside one (row, column), which at an edge is itself."""
    down, right = ARROWS[key]
    return min(max(cell[0] + down, 0), rows - 1), min(max(cell[1] + right, 0), columns - 1)


def beside(places: Sequence[tuple[float, float]], at: int, key: int) -> int:
    """The part to which an arrow leads from one (−1 for none), of parts at (x, y), y downwards.

    Keys across pass all of them from the left to the right, and keys down from above to below. A part at NaN
    is passed over; −1 where there is no other.
    """
    down, right = ARROWS[key]
    known = [part for part, place in enumerate(places) if not any(map(math.isnan, place))]
    order = sorted(known, key=lambda part: places[part] if right else places[part][::-1])
    if not order:
        return -1
    return order[min(max(order.index(at) + down + right, 0), len(order) - 1)] if at in order else order[0]


ARROW, HAND = Qt.CursorShape.ArrowCursor, Qt.CursorShape.PointingHandCursor
Part = TypeVar("Part")
Words = tuple[str, Sequence[str]]
"""What a hover card says: a title and lines."""


class Parts(Generic[Part]):
    """Beside a widget among the bases of a class. Subclasses say what lies where.

    The widget has two signals: `part_hovered(part)`, with `nowhere` on leaving, and `part_clicked(part)`.
    """

    nowhere: Part
    """What stands for no part."""

    _hovered: Part

    @property
    def hovered(self) -> Part:
        """The part under the pointer."""
        return self._hovered

    @abstractmethod
    def index_at(self, place: QPointF) -> Part:
        """The part at a place, in pixels or as the axes of a plot count."""

    _readout: Callable[..., Words] | None = None

    def set_readout(self, readout: Callable[..., Words] | None) -> None:
        """A function of a part that says what its hover card does; None for no card."""
        self._readout = readout

    def readout(self, index: Part) -> Words | None:
        """What the hover card says of a part; None where it is not shown."""
        return None if self._readout is None else self._readout(index)

    def set_hovered(self, index: Part) -> None:
        """Show a part as pointed at elsewhere, without a signal."""
        self._hovered = index


class Pointed(Parts[Part], Canvas):
    """A canvas with parts of any kind; places are in pixels."""

    part_hovered = Signal(object)
    part_clicked = Signal(object)

    takes_clicks: ClassVar[bool] = False
    """Whether the pointer becomes a hand over a part."""

    _pointer: QPointF | None = None

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._hovered = self.nowhere
        self.setMouseTracking(True)

    def part_rectangle(self, index: Part) -> QRectF | None:
        """Where a part is drawn, below which the card stands; None to have it follow the pointer."""
        return None

    def set_hovered(self, index: Part) -> None:
        if index != self._hovered:
            self._hovered = index
            self.draw_again()

    def hover(self, index: Part) -> None:
        """Point at a part, as the pointer or the keyboard does."""
        is_new = index != self._hovered
        self.set_hovered(index)
        words = None if index == self.nowhere else self.readout(index)
        area = None if words is None else self.part_rectangle(index)
        if words is None:
            HoverCard.leave(self) if is_new else None
        elif area is None and self._pointer is not None:
            HoverCard.beside(self, self._pointer.toPoint(), *words)
        elif area is not None and is_new:
            HoverCard.beside(self, area.bottomLeft().toPoint(), *words)
        if is_new:
            if self.takes_clicks:
                self.setCursor(ARROW if index == self.nowhere else HAND)
            self.pointed_at(index)

    def pointed_at(self, index: Part) -> None:
        """Another part is under the pointer, or none; a class may tell of it in words of its own instead."""
        self.part_hovered.emit(index)

    def clicked_on(self, index: Part) -> None:
        """A part was clicked, or chosen by a key; here too a class may have words of its own."""
        self.part_clicked.emit(index)

    def renew_card(self) -> None:
        """Say anew what is under the pointer, after it has changed."""
        words = None if self._hovered == self.nowhere else self.readout(self._hovered)
        HoverCard.renew(self, None if words is None else lambda: words)

    def write_cut(
        self,
        painter: Painter,
        area: QRectF,
        text: str,
        ink: QColor,
        size: float,
        *,
        bold: bool = False,
        token: bool = False,
        where: Qt.AlignmentFlag = AT_LEFT,
    ) -> None:
        """Write as much of a text as an area has room for; where that is not all, the pointer brings it."""
        shown = self.shown_in(area, text, measure_of(self.theme, size, token, bold))
        painter.write(area, shown, ink, size, bold=bold, token=token, where=where)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._pointer = event.position()
        self.hover(self.index_at(self._pointer))

    def leaveEvent(self, event: QEvent) -> None:
        self._pointer = None
        self.hover(self.nowhere)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        index = self.index_at(event.position())
        if event.button() == Qt.MouseButton.LeftButton and index != self.nowhere:
            self.clicked_on(index)


class Pointable(Pointed[int]):
    """A canvas whose parts have numbers from 0; −1 is none. `show_count` says how many there are now.

    Keys of `arrows` choose the part beside the current one as a click would, and Enter the current one again.
    """

    part_hovered = Signal(int)
    part_clicked = Signal(int)

    nowhere = -1
    arrows: ClassVar[Mapping[int, int]] = {}
    points_by_key: ClassVar[bool] = False
    """Whether keys move what is pointed at instead, until the focus leaves, and Enter clicks it."""

    marks_clicked: ClassVar[bool] = False
    """Whether a click marks the part as the current one, before the signal says it."""

    toggles: ClassVar[bool] = False
    """Whether a click on the current part would take its mark away: keys then never click it."""

    sized_by_count: ClassVar[bool] = False
    """Whether its hints of sizes depend on the number of its parts alone: as many have the same room."""

    _count = 0
    _is_counted = False  # or else its parts are found at their places alone
    _current = -1

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        if self.arrows:
            self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    @property
    def current(self) -> int:
        """The chosen part; −1 for none."""
        return self._current

    def set_hovered(self, index: int) -> None:
        """A part that is not shown is none: what points from outside may have more of them."""
        super().set_hovered(index if index < self._count or not self._is_counted else -1)

    def index_at(self, place: QPointF) -> int:
        left, top, right, bottom = self._part_edges()
        x, y = place.x(), place.y()
        found = np.flatnonzero((left <= x) & (x <= right) & (top <= y) & (y <= bottom))
        return int(found[0]) if len(found) else -1

    @once
    def _part_edges(self) -> np.ndarray:
        """Left, top, right and bottom of each part, (4, part); NaN for one that is not drawn."""
        areas = [self.part_rectangle(index) for index in range(self._count)]
        edges = [area.getCoords() if area and not area.isEmpty() else NOWHERE for area in areas]
        return np.array(edges, dtype=np.float64).reshape(-1, 4).T

    def description(self) -> str | None:
        """What a screen reader says of the chosen part, or of all of them; None to leave it."""
        return None

    def set_current(self, index: int) -> None:
        """Mark a part as chosen, without a signal; −1 for none."""
        index = min(index, self._count - 1)
        if index != self._current:
            self._current = index
            self._describe()
            self.update()

    def clicked_on(self, index: int) -> None:
        if self.marks_clicked:
            self.set_current(index)
        super().clicked_on(index)

    def show_count(self, count: int) -> None:
        """So many parts are shown now: what is chosen and pointed at stays, if it is still there."""
        before = self._count
        self._count, self._is_counted, self._current = count, True, min(self._current, count - 1)
        if self._hovered >= count:
            self.set_hovered(-1)
        self.renew_card()
        self._describe()
        if count != before or not self.sized_by_count:
            self.updateGeometry()
        self.update()

    def draw_marks(self, painter: Painter) -> None:
        """The colours behind the part under the pointer and the chosen one."""
        for index, color in ((self._hovered, self.theme.hover), (self._current, self.theme.accent_wash)):
            area = self.part_rectangle(index) if 0 <= index < self._count else None
            if area is not None:
                painter.box(area, color, radius=4)

    def _describe(self) -> None:
        if (said := self.description()) is not None:
            self.setAccessibleDescription(said)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if self.points_by_key:
            self.hover(-1)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        at = self._hovered if self.points_by_key else self._current
        wanted = along(self.arrows, event.key(), at, self._count)
        if self.arrows and event.key() in CONFIRMING and at >= 0:
            wanted = at
        if wanted is None or (wanted == at and self.toggles):
            super().keyPressEvent(event)
        elif self.points_by_key and event.key() in self.arrows:
            self.hover(wanted)
        else:
            self.clicked_on(wanted)
