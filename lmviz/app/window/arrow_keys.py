"""The arrow keys change position and stage, unless the focused control uses them itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractButton, QWidget

from lmviz.app.look.theme import application

if TYPE_CHECKING:
    from lmviz.app.session.session import Session

PLAIN = (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.KeypadModifier)


class ArrowKeys(QObject):
    """`ArrowKeys(session, window)`: `take(event)` does what an arrow key means, and whether it was one.

    It listens to the button that has the focus, because Qt's buttons would hand the focus on instead.
    """

    def __init__(self, session: Session, window: QWidget) -> None:
        super().__init__(window)
        self._session = session
        application().focusChanged.connect(self._follow_focus)

    def take(self, event: QKeyEvent) -> bool:
        """Left and right choose positions, up and down stages of the model."""
        session = self._session
        acts: dict[int, Callable[[], None]] = {
            Qt.Key.Key_Left: lambda: session.focus.choose_position(session.focus.position - 1),
            Qt.Key.Key_Right: lambda: session.focus.choose_position(session.focus.position + 1),
            Qt.Key.Key_Up: lambda: session.focus.choose_stage(session.focus.stage - 1),
            Qt.Key.Key_Down: lambda: session.focus.choose_stage(session.focus.stage + 1),
        }
        if event.key() not in acts or event.modifiers() not in PLAIN:
            return False
        acts[event.key()]()
        return True

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        return isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and self.take(event)

    def _follow_focus(self, before: QWidget | None, focused: QWidget | None) -> None:
        if before is not None:
            before.removeEventFilter(self)
        if isinstance(focused, QAbstractButton) and focused.window() is self.parent():
            focused.installEventFilter(self)
