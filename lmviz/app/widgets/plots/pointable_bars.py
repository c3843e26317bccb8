"""The base of widgets with labelled bars one below the other, which are pointed at and clicked."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QWidget

from lmviz.app.widgets.base.arrows import CONFIRMING, DOWN, along
from lmviz.app.widgets.base.pointable import Pointable


class PointableBars(Pointable):
    """Signals: `bar_hovered(int)` (−1 when the pointer leaves), `bar_clicked(int)` (also by Enter).

    Up and Down move what is hovered, until the focus leaves. Subclasses keep the labels.
    """

    bar_hovered = Signal(int)
    bar_clicked = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._labels: tuple[str, ...] = ()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def pointed_at(self, index: int) -> None:
        self.bar_hovered.emit(index)

    def clicked_on(self, index: int) -> None:
        self.bar_clicked.emit(index)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.hover(-1)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        wanted = along(DOWN, event.key(), self.hovered, len(self._labels))
        if wanted is not None:
            self.hover(wanted)
        elif event.key() in CONFIRMING and self.hovered >= 0:
            self.bar_clicked.emit(self.hovered)
        else:
            super().keyPressEvent(event)
