"""Keys that mean the same everywhere: arrows change position and stage, Shift shows what looks at a word."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QGuiApplication, QKeyEvent
from PySide6.QtWidgets import QAbstractButton, QRadioButton, QWidget

from lmviz.app.look.theme import application
from lmviz.app.session.session import Session
from lmviz.app.widgets.kit.pointing import ACROSS, DOWN

PLAIN = (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.KeypadModifier)


class ArrowKeys(QObject):
    """`ArrowKeys(session, window, stages_across)`: `handle(event)` does what an arrow key means.

    A focused control that uses arrows itself keeps them.
    Where `stages_across()` is true, ← and → step through the stages, as buttons with these signs say there,
    and ↑ ↓ through the positions; elsewhere it is the other way round. It listens to the button that has the
    focus, because Qt's buttons would hand the focus on instead; of choices that is how one comes to the next.
    """

    def __init__(self, session: Session, window: QWidget, stages_across: Callable[[], bool]) -> None:
        super().__init__(window)
        self._session = session
        self._stages_across = stages_across
        application().focusChanged.connect(self._follow_focus)

    def handle(self, event: QKeyEvent) -> bool:
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
        return isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and self.handle(event)

    def _follow_focus(self, before: QWidget | None, focused: QWidget | None) -> None:
        if before is not None:
            before.removeEventFilter(self)
        is_button = isinstance(focused, QAbstractButton) and not isinstance(focused, QRadioButton)
        if focused is not None and is_button and focused.window() is self.parent():
            focused.installEventFilter(self)


class ShiftKey(QObject):
    """`ShiftKey(session, window)`: `handle(event)` of a key pressed or released, and whether it was Shift.

    While Shift is held, attention shows which words look at the one under the pointer.
    Without a hovered position Shift means nothing: one types capitals with it.
    """

    def __init__(self, session: Session, window: QObject) -> None:
        super().__init__(window)
        self._session = session
        session.focus.hovered_position_changed.connect(self._follow_pointer)

    def handle(self, event: QKeyEvent) -> bool:
        """Follow the key."""
        if event.key() != Qt.Key.Key_Shift:
            return False
        self._turn(event.type() == QEvent.Type.KeyPress)
        return True

    def _follow_pointer(self) -> None:
        self._turn(bool(QGuiApplication.keyboardModifiers() & Qt.KeyboardModifier.ShiftModifier))

    def _turn(self, held: bool) -> None:
        self._session.attention.show_looked_at(held and self._session.focus.hovered_position is not None)
