"""While Shift is held, attention shows which words look at the one under the pointer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QGuiApplication, QKeyEvent

if TYPE_CHECKING:
    from lmviz.app.session.session import Session


class ShiftKey(QObject):
    """`ShiftKey(session, window)`: `take(event)` of a key pressed or released, and whether it was Shift.

    Without a hovered position Shift means nothing: one types capitals with it.
    """

    def __init__(self, session: Session, window: QObject) -> None:
        super().__init__(window)
        self._session = session
        session.focus.hovered_position_changed.connect(self._follow_pointer)

    def take(self, event: QKeyEvent) -> bool:
        """Follow the key."""
        if event.key() != Qt.Key.Key_Shift:
            return False
        self._turn(event.type() == QEvent.Type.KeyPress)
        return True

    def _follow_pointer(self) -> None:
        self._turn(bool(QGuiApplication.keyboardModifiers() & Qt.KeyboardModifier.ShiftModifier))

    def _turn(self, held: bool) -> None:
        self._session.attention.show_looked_at(held and self._session.focus.hovered_position is not None)
