"""The base of plots whose numbered parts can be hovered and clicked."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QWidget

from lmviz.app.widgets.base.parts import Parts
from lmviz.app.widgets.plots.quiet_plot import QuietPlot


class PointablePlot(Parts, QuietPlot):
    """A plot with parts; places are as the axes count, logarithms on a logarithmic one."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setMouseTracking(True)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        self.hover(self._index_of(event))

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self.hover(-1)

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
