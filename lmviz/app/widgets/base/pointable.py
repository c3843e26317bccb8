"""The base of widgets made of numbered parts that one can point at and click."""

from __future__ import annotations

from abc import abstractmethod

from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QWidget

from lmviz.app.widgets.base.canvas import Canvas


class Pointable(Canvas):
    """A canvas whose parts count from 0; −1 is none of them.

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
        """The part at a place; −1 where there is none."""

    def pointed_at(self, index: int) -> None:
        """Another part is under the pointer; −1 when it left."""

    def clicked_on(self, index: int) -> None:
        """A part was clicked."""

    def hover(self, index: int) -> None:
        """Point at a part, as the pointer or the keyboard does."""
        if index != self._hovered:
            self._hovered = index
            self.update()
            self.pointed_at(index)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self.hover(self.index_at(event.position()))

    def leaveEvent(self, event: QEvent) -> None:
        self.hover(-1)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        index = self.index_at(event.position())
        if event.button() == Qt.MouseButton.LeftButton and index >= 0:
            self.clicked_on(index)
