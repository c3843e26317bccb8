"""The base of widgets with labelled bars one below the other, which are pointed at and clicked."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from lmviz.app.widgets.kit.pointing import DOWN, Pointable


class PointableBars(Pointable):
    """Signals: `bar_hovered(int)` (−1 when the pointer leaves), `bar_clicked(int)` (also by Enter).

    Up and Down move what is hovered, until the focus leaves. Subclasses keep the labels.
    """

    bar_hovered = Signal(int)
    bar_clicked = Signal(int)
    arrows, points_by_key = DOWN, True

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._labels: tuple[str, ...] = ()

    def pointed_at(self, index: int) -> None:
        self.bar_hovered.emit(index)

    def clicked_on(self, index: int) -> None:
        self.bar_clicked.emit(index)
