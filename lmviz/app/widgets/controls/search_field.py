"""The line above a list in which one types: keys that mean something for the list go there."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit


class SearchField(QLineEdit):
    """`SearchField(press)`: each key is offered to `press(event)` first; it takes those that give false.

    An event filter of the list's window could do the same, but would be asked before that is built.
    """

    def __init__(self, press: Callable[[QKeyEvent], bool]) -> None:
        super().__init__()
        self._press = press

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not self._press(event):
            super().keyPressEvent(event)
