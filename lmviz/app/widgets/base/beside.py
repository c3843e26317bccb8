"""Two widgets side by side, or one above the other where there is little width."""

from __future__ import annotations

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QWidget

from lmviz.app.look.theme import current_theme
from lmviz.app.widgets.base.building import stand_first

GAP = 14
WIDE = 420  # pixels at scale 1


class Beside(QWidget):
    """`Beside(first, second, shares)`: the shares of the room that they get."""

    def __init__(
        self, first: QWidget, second: QWidget, shares: tuple[int, int] = (1, 1), parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(GAP)
        self._shares = shares
        self.hold(first, second)

    def hold(self, first: QWidget, second: QWidget) -> None:
        """Have these two, instead of others that may have been there."""
        stand_first(self._row, (first, second))
        for place, share in enumerate(self._shares):
            self._row.setStretch(place, share)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        is_wide = self.width() >= WIDE * current_theme().scale
        sides = QBoxLayout.Direction
        self._row.setDirection(sides.LeftToRight if is_wide else sides.TopToBottom)
