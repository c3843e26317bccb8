"""The page around a panel: it makes the panel when that is first asked for."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QPoint, QSize, Signal
from PySide6.QtGui import QContextMenuEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QWidget

from lmviz.app.look.theme import theme_switch
from lmviz.app.panels.panel import Panel
from lmviz.app.panels.panel_row import PanelRow
from lmviz.app.widgets.base.building import reach_by_tab


class PanelPage(QWidget):
    """`PanelPage(row, make)`: the page of a row of the table of panels.

    It has no layout: what changes in a panel would have everything around it laid out and painted anew.
    Signals: `wanted`, emitted by `raise_`, `rearranged` when the panel holds something else, and
    `menu_wanted` with a place of the screen.
    """

    wanted = Signal()
    rearranged = Signal()
    menu_wanted = Signal(QPoint)

    def __init__(self, row: PanelRow, make: Callable[[], Panel], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(f"page_{row.name}")
        self.row = row
        self.title = row.title  # which the board says of characters, where the model reads such
        self._make = make
        self._panel: Panel | None = None
        self.comes_late = False  # whether its panel is made after what Tab reaches behind it
        theme_switch().style_when_shown(self)

    @property
    def has_panel(self) -> bool:
        """Whether the panel has been made."""
        return self._panel is not None

    @property
    def panel(self) -> Panel:
        """The panel."""
        if self._panel is None:
            self._panel = self._make()
            self._panel.setParent(self)
            self._panel.setGeometry(self.rect())
            self._panel.show()
            if self.comes_late:
                reach_by_tab(self, self._panel)
        return self._panel

    @property
    def is_needed(self) -> bool:
        """Whether the panel has anything to show just now, as far as is known."""
        return self._panel is None or self._panel.is_needed

    def be_styled(self) -> None:
        """Have the theme's style, as it must to be measured: a hidden page is passed over by a change."""
        if self.property("passed_over"):
            from lmviz.app.look.hidden_pages import style_now  # not before the first paint

            style_now(self)

    def setVisible(self, visible: bool) -> None:
        if visible:
            self.be_styled()
        super().setVisible(visible)

    def set_least(self, size: QSize) -> None:
        """Let it be no smaller than this."""
        self.panel.setMinimumSize(size)
        self.setMinimumSize(size)

    def raise_(self) -> None:
        """Ask to stand in front of the panels that share its place."""
        self.wanted.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._panel is not None:
            self._panel.setGeometry(self.rect())

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest:
            self.rearranged.emit()
        return super().event(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        self.menu_wanted.emit(event.globalPos())

    def showEvent(self, event: QShowEvent) -> None:
        _ = self.panel
        super().showEvent(event)
