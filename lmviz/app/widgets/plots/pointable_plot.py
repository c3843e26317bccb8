"""The base of plots whose numbered parts can be hovered and clicked."""

from __future__ import annotations

from abc import abstractmethod
from functools import partial

from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QWidget

from lmviz.app.widgets.base.hover_card import HoverCard
from lmviz.app.widgets.kit.pointing import Parts, Words
from lmviz.app.widgets.plots.quiet_plot import QuietPlot


class PointablePlot(Parts[int], QuietPlot):
    """A plot with parts; places are as the axes count, logarithms on a logarithmic one.

    Subclasses say with `readout` what the hover card says of a part, and call `point_again` when they have
    drawn other numbers, for the pointer may rest on them.
    """

    nowhere = -1

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._hovered = self.nowhere
        self._pointer: QPoint | None = None
        self.setMouseTracking(True)

    @abstractmethod
    def readout(self, index: int) -> Words:
        """The title and the lines of the hover card for a part."""

    def hover(self, index: int) -> None:
        """Point at a part, as the pointer does."""
        if index != self._hovered:
            self._hovered = index
            self.pointed_at(index)

    def point_again(self) -> None:
        """Find out what lies under the pointer now, and say it."""
        self.hover(-1 if self._pointer is None else self._index_of(self._pointer))
        HoverCard.renew(self, partial(self.readout, self.hovered) if self.hovered >= 0 else None)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        self._pointer = event.position().toPoint()
        self.hover(self._index_of(self._pointer))

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._pointer = None
        self.hover(-1)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(event)
        index = self._index_of(event.position().toPoint())
        if event.button() == Qt.MouseButton.LeftButton and index >= 0:
            self.clicked_on(index)

    def _index_of(self, pointer: QPoint) -> int:
        place = self.mapToScene(pointer)
        if not self.box.sceneBoundingRect().adjusted(-1, -1, 1, 1).contains(place):
            return -1
        return self.index_at(self.box.mapSceneToView(place))
