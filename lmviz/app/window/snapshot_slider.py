"""The time slider: one stop for each snapshot of a training, placed by its step."""

from __future__ import annotations

import math
from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QSlider, QWidget

from lmviz.app.look.theme import current_theme, theme_switch
from lmviz.app.widgets.base.plain import paragraph
from lmviz.app.widgets.kit.painted import Painted
from lmviz.app.widgets.kit.painter import Painter

GROOVE = 4
TICK = 8
HANDLE = 7
MARK = 4.5


class SnapshotSlider(Painted, QSlider):
    """`set_snapshots(steps, last_step)`: a slider whose value is the index of a snapshot.

    The first steps of a training change most, and most snapshots are early: a step stands at the
    square root of its share of `last_step`. `set_present(step)` marks a moment that no snapshot holds, and
    `set_marks([(step, text)])` those at which something happens, with a triangle above.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self.snapshots: tuple[int, ...] = ()  # the steps there are stops for
        self.gone: tuple[int, ...] = ()  # those there were stops for, and are no more
        self.last_step = 1  # the step at the right end
        self._present: int | None = None
        self.marks: tuple[tuple[int, str], ...] = ()  # the marked steps, and what happens there
        self.setRange(0, 0)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("snapshot")
        self.valueChanged.connect(self._describe)
        theme_switch().theme_changed.connect(self.update)

    def set_snapshots(self, steps: Sequence[int], last_step: int, gone: Sequence[int] = ()) -> None:
        """The steps of the snapshots, ascending, and the step at the right end; emits no signal.

        `gone` are steps whose snapshots have been deleted: their ticks stay, and are no stops.
        """
        steps, last_step, gone = tuple(steps), max(last_step, max(steps, default=1), 1), tuple(gone)
        if (steps, last_step, gone) == (self.snapshots, self.last_step, self.gone):
            return
        self.snapshots, self.last_step, self.gone = steps, last_step, gone
        blocked = self.blockSignals(True)
        self.setRange(0, max(0, len(steps) - 1))
        self.setPageStep(max(1, len(steps) // 10))
        self.blockSignals(blocked)
        self.setEnabled(len(steps) > 1)
        if self._present is not None:
            self.show_step(self._present)
        self._describe()
        self.update()

    def show_step(self, step: int) -> None:
        """Put the handle at a step, on a snapshot or between two; emits no signal."""
        self._present = step
        if self.snapshots:
            nearest = min(range(len(self.snapshots)), key=lambda at: abs(self.snapshots[at] - step))
            blocked = self.blockSignals(True)
            self.setValue(nearest)
            self.blockSignals(blocked)
        self._describe()
        self.update()

    def set_marks(self, marks: Sequence[tuple[int, str]]) -> None:
        """Mark steps at which something happens, which a tooltip says."""
        if tuple(marks) == self.marks:
            return  # a training says many times a second that it goes on
        self.marks = tuple(marks)
        self.setToolTip(paragraph(*(said for _, said in marks)))
        self._describe()
        self.update()

    def sizeHint(self) -> QSize:
        scale = current_theme().scale
        return QSize(round(240 * scale), round(28 * scale))

    def minimumSizeHint(self) -> QSize:
        scale = current_theme().scale
        return QSize(round(110 * scale), round(28 * scale))

    def _describe(self) -> None:
        if self.snapshots:
            step = self.snapshots[self.value()]
            place = f"step {step:,}, snapshot {self.value() + 1} of {len(self.snapshots)}"
            gone = [f"{len(self.gone)} more deleted"] if self.gone else []
            self.setAccessibleDescription("; ".join([place, *gone, *(said for _, said in self.marks)]))

    def place_of(self, step: int) -> float:
        """Where a step stands, in pixels from the left."""
        margin = HANDLE * current_theme().scale + 1
        return margin + math.sqrt(min(1.0, step / self.last_step)) * (self.width() - 2 * margin)

    def _nearest(self, x: float) -> int:
        return min(
            range(len(self.snapshots)), key=lambda at: abs(self.place_of(self.snapshots[at]) - x), default=0
        )

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self.setSliderDown(True)
            self.setValue(self._nearest(event.position().x()))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self.isSliderDown():
            self.setValue(self._nearest(event.position().x()))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self.setSliderDown(False)

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        theme = current_theme()
        scale, middle = theme.scale, self.height() / 2
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.line)
        self._draw_groove(painter, self.width(), scale, middle)
        if not self.snapshots:
            return
        handle = self.place_of(self.snapshots[self.value()] if self._present is None else self._present)
        painter.setBrush(theme.accent)
        self._draw_groove(painter, handle, scale, middle)
        painter.setPen(QPen(theme.strong_line, scale))
        half = TICK * scale / 2
        for step in self.snapshots:
            painter.drawLine(
                QPointF(self.place_of(step), middle - half), QPointF(self.place_of(step), middle + half)
            )
        for step in self.gone:  # a cross: there was one, and there is none
            place, arm = self.place_of(step), half / 2
            painter.drawLine(
                QPointF(place - arm, middle - arm - half), QPointF(place + arm, middle + arm - half)
            )
            painter.drawLine(
                QPointF(place - arm, middle + arm - half), QPointF(place + arm, middle - arm - half)
            )
        for step, _ in self.marks:
            self._draw_mark(painter, self.place_of(step), MARK * scale, middle - half)
        painter.setPen(QPen(theme.accent if self.isEnabled() else theme.strong_line, 3 * scale))
        painter.setBrush(theme.accent_wash if self.hasFocus() else theme.surface)
        painter.drawEllipse(QPointF(handle, middle), HANDLE * scale - 1, HANDLE * scale - 1)

    def _draw_mark(self, painter: QPainter, place: float, side: float, foot: float) -> None:
        """A triangle that points at a step from above."""
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(current_theme().key)
        corners = ((-side, -1.6 * side), (side, -1.6 * side), (0.0, 0.0))
        painter.drawPolygon([QPointF(place + x, foot + y) for x, y in corners])

    def _draw_groove(self, painter: QPainter, width: float, scale: float, middle: float) -> None:
        height = GROOVE * scale
        painter.drawRoundedRect(QRectF(0, middle - height / 2, width, height), height / 2, height / 2)
