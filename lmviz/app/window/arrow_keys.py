"""The arrow keys change position and stage, unless the focused control uses them itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractButton, QWidget

from lmviz.app.look.theme import application
from lmviz.app.widgets.base.arrows import ACROSS, DOWN

if TYPE_CHECKING:
    from lmviz.app.session.session import Session

PLAIN = (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.KeypadModifier)


class ArrowKeys(QObject):
    """`ArrowKeys(session, window, stages_across)`: `take(event)` does what an arrow key means, if it is one.

    Where `stages_across()` is true, ← and → step through the stages, as buttons with these signs say there,
    and ↑ ↓ through the positions; elsewhere it is the other way round. It listens to the button that has the
    focus, because Qt's buttons would hand the focus on instead.
    """

    def __init__(self, session: Session, window: QWidget, stages_across: Callable[[], bool]) -> None:
        super().__init__(window)
        self._session = session
        self._stages_across = stages_across
        application().focusChanged.connect(self._follow_focus)

    def take(self, event: QKeyEvent) -> bool:
        """Choose the previous or next position or stage; whether the event was an arrow key."""
        if event.modifiers() not in PLAIN or event.key() not in (*ACROSS, *DOWN):
            return False
        focus = self._session.focus
        if (event.key() in ACROSS) == self._stages_across():
            focus.choose_stage(focus.stage + {**ACROSS, **DOWN}[event.key()])
        else:
            focus.choose_position(focus.position + {**ACROSS, **DOWN}[event.key()])
        return True

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        return isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and self.take(event)

    def _follow_focus(self, before: QWidget | None, focused: QWidget | None) -> None:
        if before is not None:
            before.removeEventFilter(self)
        if isinstance(focused, QAbstractButton) and focused.window() is self.parent():
            focused.installEventFilter(self)
