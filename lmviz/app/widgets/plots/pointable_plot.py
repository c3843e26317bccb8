"""The base of plots made of numbered parts that one can point at and click."""

from __future__ import annotations

from abc import abstractmethod

from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QWidget

from lmviz.app.widgets.plots.quiet_plot import QuietPlot


class PointablePlot(QuietPlot):
    """A plot whose parts count from 0; −1 is none of them.

    Subclasses say with `index_at` what lies at a place, and with `pointed_at` and `clicked_on` what
    follows. `hovered` is the part under the pointer.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._hovered = -1
        self.setMouseTracking(True)

    @property
    def hovered(self) -> int:
        """The part under the pointer."""
        return self._hovered

    @abstractmethod
    def index_at(self, place: QPointF) -> int:
        """The part at a place, given as the axes count; −1 where there is none."""

    def pointed_at(self, index: int) -> None:
        """Another part is under the pointer; −1 when it left."""

    def clicked_on(self, index: int) -> None:
        """A part was clicked."""

    def forget_hovered(self) -> None:
        """Point at nothing, as there are other parts now."""
        self._hovered = -1

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        self._hover(self._index_of(event))

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._hover(-1)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(event)
        index = self._index_of(event)
        if event.button() == Qt.MouseButton.LeftButton and index >= 0:
            self.clicked_on(index)

    def _index_of(self, event: QMouseEvent) -> int:
        place = self.mapToScene(event.position().toPoint())
        if not self.box.sceneBoundingRect().adjusted(-1, -1, 1, 1).contains(place):
            return -1
        return self.index_at(self.box.mapSceneToView(place))

    def _hover(self, index: int) -> None:
        if index != self._hovered:
            self._hovered = index
            self.pointed_at(index)
