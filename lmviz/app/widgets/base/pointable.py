"""The base of painted widgets whose numbered parts can be hovered and clicked."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QWidget

from lmviz.app.widgets.base.canvas import Canvas
from lmviz.app.widgets.base.parts import Parts


class Pointable(Parts, Canvas):
    """A canvas with parts; places are in pixels."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setMouseTracking(True)

    def set_hovered(self, index: int) -> None:
        if index != self.hovered:
            super().set_hovered(index)
            self.update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self.hover(self.index_at(event.position()))

    def leaveEvent(self, event: QEvent) -> None:
        self.hover(-1)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        index = self.index_at(event.position())
        if event.button() == Qt.MouseButton.LeftButton and index >= 0:
            self.clicked_on(index)
