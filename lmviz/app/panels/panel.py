"""The base of all panels: it draws when it can be seen, and once for several changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer
from PySide6.QtGui import QContextMenuEvent, QShowEvent
from PySide6.QtWidgets import QMenu, QVBoxLayout, QWidget

if TYPE_CHECKING:
    import numpy as np
    from PySide6.QtCore import SignalInstance

    from lmviz.app.session.session import Session


AFTER_THE_POINTER = 33  # milliseconds
NOW_AND_THEN = 400  # milliseconds


class Panel(QWidget):
    """A view of the session. Subclasses build their widgets, `follow` what they draw, and `refresh`.

    Redrawing is what live panels cost the training, so nothing is drawn behind another perspective:
    a change that comes while the panel is hidden is drawn when it is shown again.
    """

    gives_way = 0
    """Milliseconds for which it lets the others draw first, so that the window is not painted all at once."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(0, 0, 0, 0)
        self._is_stale = True
        self._is_in_front = True
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.timeout.connect(self._refresh_if_seen)

    @property
    def is_in_sight(self) -> bool:
        """Whether it can be seen: it is visible, and no other tab is in front of it."""
        return self.isVisible() and self._is_in_front

    def set_in_front(self, in_front: bool) -> None:
        """Where panels share a place as tabs, only the one in front draws."""
        self._is_in_front = in_front
        if in_front and self._is_stale:
            self._soon.start()

    def follow(self, *signals: SignalInstance) -> None:
        """Call `refresh` after any of these, at the end of the turn."""
        for signal in signals:
            signal.connect(self.refresh_soon)

    def refresh_soon(self) -> None:
        """Have `refresh` called once, at the end of the turn or when the panel is shown next."""
        self._refresh_within(self.gives_way)

    def refresh_late(self) -> None:
        """The same, but only when what lies under the pointer has been drawn."""
        self._refresh_within(AFTER_THE_POINTER)

    def refresh_now_and_then(self) -> None:
        """The same, but not often: while a model is trained, what plots draw again is time that it lacks."""
        busy = self.session.live and self.session.training.is_active
        self._refresh_within(NOW_AND_THEN if busy else self.gives_way)

    def _refresh_within(self, milliseconds: int) -> None:
        self._is_stale = True
        is_waiting = self._soon.isActive() and self._soon.remainingTime() <= milliseconds
        if self.is_in_sight and not is_waiting:
            self._soon.start(milliseconds)

    def refresh(self) -> None:
        """Draw what the session holds now."""
        raise NotImplementedError

    def catch_up(self) -> None:
        """Draw at once what a change has left to be drawn later, even behind another tab."""
        self._soon.stop()
        if self._is_stale:
            self._is_stale = False
            self.refresh()

    def exported_arrays(self) -> dict[str, np.ndarray]:
        """The numbers that are drawn, by name, for export; empty where there are none."""
        return {}

    def recipe(self) -> str:
        """The lines of Python that give the same numbers; empty where there are none."""
        return ""

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        from lmviz.app.panels.exporting import fill_export_menu

        menu = QMenu(self)
        fill_export_menu(menu, self)
        menu.exec(event.globalPos())

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._is_stale:
            self._soon.start()

    def _refresh_if_seen(self) -> None:
        if self.is_in_sight and self._is_stale:
            self._is_stale = False
            self.refresh()
