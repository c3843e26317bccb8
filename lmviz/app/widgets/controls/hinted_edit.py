"""A line to type in, whose hint is said shorter where there is no room for it."""

from __future__ import annotations

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLineEdit, QStyle, QStyleOptionFrame, QWidget

MARGIN = 6  # pixels that Qt leaves free before and after what is typed


class HintedEdit(QLineEdit):
    """`HintedEdit(*hints)`: shows the first of them that fits, otherwise the last."""

    def __init__(self, *hints: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._hints = hints
        self.setPlaceholderText(hints[0])

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        room, measure = self.hint_room, self.fontMetrics()
        fitting = (hint for hint in self._hints if measure.horizontalAdvance(hint) <= room)
        self.setPlaceholderText(next(fitting, self._hints[-1]))

    @property
    def hint_room(self) -> int:
        """The pixels in which the hint stands."""
        option = QStyleOptionFrame()
        self.initStyleOption(option)
        inner = self.style().subElementRect(QStyle.SubElement.SE_LineEditContents, option, self)
        return inner.width() - MARGIN
