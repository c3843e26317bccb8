"""The steps from the first explained cell to the current one; a click returns to a step."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFont, QKeyEvent, QPaintEvent
from PySide6.QtWidgets import QSizePolicy

from lmviz.app.widgets.base.canvas import metrics, once
from lmviz.app.widgets.kit.painter import Painter
from lmviz.app.widgets.kit.pointing import Pointable

SIZE = 12
HEIGHT = 22
BETWEEN = "  ›  "
LEFT_OUT = "…"


class Breadcrumbs(Pointable):
    """`Breadcrumbs()`: `set_steps(names)`, the current one last; "…" replaces the oldest if there is no room.

    Signal `step_clicked(int)`. Left or Backspace goes back one step.
    """

    step_clicked = Signal(int)

    least = (60, None)

    def __init__(self) -> None:
        super().__init__()
        self._steps: tuple[str, ...] = ()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("way back")

    def set_steps(self, steps: Sequence[str]) -> None:
        """Show a way, its last step being where one is."""
        if tuple(steps) == self._steps:
            return
        self._steps = tuple(steps)
        self.set_hovered(-1)
        self.setAccessibleDescription(" › ".join(steps))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        width = metrics(SIZE).horizontalAdvance(BETWEEN.join(self._steps))
        return QSize(round(width) + 4, round(self.length(HEIGHT)) if self._steps else 0)

    def _first_shown(self) -> int:
        """The oldest step for which there is room."""
        measure, room, steps = metrics(SIZE), float(self.width()), self._steps
        first = max(0, len(steps) - 1)
        while first and measure.horizontalAdvance(BETWEEN.join((LEFT_OUT, *steps[first - 1 :]))) <= room:
            first -= 1
        if first <= 1 and measure.horizontalAdvance(BETWEEN.join(steps)) <= room:
            return 0  # without the sign for what is left out
        return first

    @once
    def step_rectangles(self) -> dict[int, QRectF]:
        """Where each step in sight is drawn, by its place in the way."""
        measure, first = metrics(SIZE), self._first_shown()
        gap, places = measure.horizontalAdvance(BETWEEN), {}
        left = measure.horizontalAdvance(LEFT_OUT) + gap if first else 0.0
        for index in range(first, len(self._steps)):
            width = measure.horizontalAdvance(self._steps[index]) + 1
            places[index] = QRectF(left, 0, width, self.height())
            left += width + gap
        return places

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        theme = self.theme
        places, last = self.step_rectangles(), len(self._steps) - 1
        if places and next(iter(places)) > 0:
            painter.write(QRectF(self.rect()), LEFT_OUT + BETWEEN, theme.muted_text, SIZE)
        for index, place in places.items():
            font = QFont(theme.font(SIZE))
            font.setUnderline(index == self.hovered != last)
            painter.setFont(font)
            ink = theme.text if index == last else theme.accent
            painter.write(place.adjusted(0, 0, 4, 0), self._steps[index], ink)
            if index != last:
                after = QRectF(place.right(), 0, 60, place.height())
                painter.write(after, BETWEEN, theme.muted_text, SIZE)
        self.draw_focus(painter)

    def index_at(self, place: QPointF) -> int:
        found = (index for index, area in self.step_rectangles().items() if area.contains(place))
        return next(found, -1)

    def clicked_on(self, index: int) -> None:
        if 0 <= index < len(self._steps) - 1:
            self.step_clicked.emit(index)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Left, Qt.Key.Key_Backspace):
            self.clicked_on(len(self._steps) - 2)
        else:
            super().keyPressEvent(event)
