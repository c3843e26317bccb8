"""The dock around a panel, whose context menu exports what the panel draws."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QDockWidget, QMenu, QWidget

if TYPE_CHECKING:
    from lmviz.app.panels.panel import Panel


class PanelDock(QDockWidget):
    """`PanelDock(name, title, make)`: makes its panel when it is first asked for.

    It tells the panel whether another tab stands in front of it.
    """

    def __init__(
        self, name: str, title: str, make: Callable[[], Panel], parent: QWidget | None = None
    ) -> None:
        super().__init__(title, parent)
        self.setObjectName(f"dock_{name}")
        self._make = make
        self._panel: Panel | None = None
        self._is_seen = False
        self.visibilityChanged.connect(self._say_whether_in_front)

    @property
    def has_panel(self) -> bool:
        """Whether the panel has been made."""
        return self._panel is not None

    @property
    def lacks_panel(self) -> bool:
        """Whether the panel is in sight, and has not been made."""
        return self._is_seen and self._panel is None

    @property
    def panel(self) -> Panel:
        """The panel."""
        return self.make_panel()

    def make_panel(self) -> Panel:
        """Make the panel, unless that has been done."""
        if self._panel is None:
            self._panel = self._make()
            self.setWidget(self._panel)
            self._say_whether_in_front(self._is_seen)
        return self._panel

    def show_title_bar(self, shown: bool) -> None:
        """Show Qt's own title bar, or an empty one in its place, which Qt does not delete."""
        empty = self.titleBarWidget()
        if shown and empty is not None:
            self.setTitleBarWidget(None)  # type: ignore[arg-type]  # Qt's own; its stub knows only widgets
            empty.deleteLater()
        elif not shown and empty is None:
            self.setTitleBarWidget(QWidget(self))

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        from lmviz.app.window.exporting import fill_export_menu  # not needed for the first paint

        menu = QMenu(self)
        fill_export_menu(menu, self.panel)
        menu.exec(event.globalPos())
        menu.deleteLater()

    def _say_whether_in_front(self, seen: bool) -> None:
        """Behind another tab a panel is visible to Qt, which only moves it out of the way."""
        self._is_seen = seen
        if self._panel is not None:
            self._panel.set_in_front(seen or not self.isVisible())
