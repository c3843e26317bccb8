"""One perspective: its panels as docks that can be rearranged freely."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, Qt, QTimer
from PySide6.QtGui import QAction, QShowEvent
from PySide6.QtWidgets import QDockWidget, QMainWindow, QTabBar, QTabWidget, QWidget

from lmviz.app.panels.table import PanelRow, rows_of
from lmviz.app.theme import current_theme, theme_switch
from lmviz.app.widgets.scrolling import QuietScrollArea

if TYPE_CHECKING:
    from lmviz.app.panels.panel import Panel
    from lmviz.app.session import Session

COLUMNS = ("left", "centre", "right")
LEAST_SHARE = 0.7  # of its own width a panel can be made narrower to
CENTRE = 480  # pixels at scale 1 that stand for the width of a panel that takes what is left
AROUND = 16  # pixels between a panel's edge and what its card holds
SHARE = 1000  # Qt takes sizes in pixels but keeps their proportions


class PerspectiveView(QMainWindow):
    """The panels of one perspective, made when it is first shown.

    The docks show no title bars, since a card has its title: `set_rearranging(True)` brings them out, to be
    dragged, floated and closed. `arrangement` and `restore` are for remembering.
    """

    def __init__(
        self,
        name: str,
        session: Session,
        arrangement: QByteArray | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent, Qt.WindowType.Widget)
        self.name = name
        self.setObjectName(f"perspective_view_{name}")
        self.setDockNestingEnabled(True)
        self.setTabPosition(Qt.DockWidgetArea.AllDockWidgetAreas, QTabWidget.TabPosition.North)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.NoContextMenu)
        self._session = session
        self._remembered = arrangement or QByteArray()
        self._rearranging = False
        self._docks: dict[str, QDockWidget] = {}
        self._rows = rows_of(name)
        self._is_arranged = False
        theme_switch().theme_changed.connect(self._adopt_theme)

    @property
    def panels(self) -> tuple[Panel, ...]:
        """The panels that can be seen."""
        return tuple(dock.widget() for dock in self._docks.values() if not dock.isHidden())

    @property
    def toggle_actions(self) -> list[QAction]:
        """Actions that show and hide each panel."""
        return [dock.toggleViewAction() for dock in self._docks.values()]

    def set_rearranging(self, rearranging: bool) -> None:
        """Show or hide the title bars by which panels are dragged."""
        self._rearranging = rearranging
        for dock in self._docks.values():
            dock.setTitleBarWidget(None if rearranging else QWidget(dock))

    def arrangement(self) -> QByteArray:
        """Where everything is; empty when the perspective was never shown."""
        return self.saveState() if self._is_arranged else self._remembered

    def reset(self) -> None:
        """Arrange the panels as the table of panels says."""
        for dock in self._docks.values():
            self.removeDockWidget(dock)
        self._arrange()
        QTimer.singleShot(0, self, self._show_tabs)

    def build(self) -> None:
        """Make the panels."""
        for row in self._rows:
            dock = QDockWidget(row.title, self)
            dock.setObjectName(f"dock_{row.name}")
            dock.setWidget(row.build(self._session))
            dock.visibilityChanged.connect(lambda seen, dock=dock: _say_whether_in_front(dock, seen))
            self._docks[row.name] = dock
        self.set_rearranging(self._rearranging)
        self._fix_least_sizes()

    def _fix_least_sizes(self) -> None:
        """Let no panel push its neighbours aside when what it shows grows."""
        for row in self._rows:
            panel = self._dock(row).widget()
            panel.setMinimumSize(0, 0)
            width = LEAST_SHARE * (self._width(row) or CENTRE) * current_theme().scale
            areas = panel.findChildren(QuietScrollArea)
            held = [area.minimumSizeHint().width() + 2 * AROUND for area in areas if area.is_upright]
            least = max(round(width), *held, 0)
            panel.setMinimumSize(least, max(1, panel.minimumSizeHint().height()))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not self._docks:
            self.build()
        if not self._is_arranged:
            self._is_arranged = True
            if not (self._remembered and self.restoreState(self._remembered)):
                self._arrange()
            QTimer.singleShot(0, self, self._show_tabs)

    def _adopt_theme(self) -> None:
        if self._docks:
            self._fix_least_sizes()

    def _arrange(self) -> None:
        """Columns side by side, each stacked; below them a row across all."""
        apart = [row for row in self._rows if not row.tabbed and not row.beside]
        columns = [[row for row in apart if row.area == area] for area in COLUMNS]
        columns = [column for column in columns if column]
        bottom = [row for row in apart if row.area == "bottom"]
        heads = [self._dock(column[0]) for column in columns]
        for dock in heads[:1]:
            self.addDockWidget(Qt.DockWidgetArea.TopDockWidgetArea, dock)
        for before, dock in pairwise(heads):
            self.splitDockWidget(before, dock, Qt.Orientation.Horizontal)
        for column in columns:
            for above, below in pairwise(column):
                self.splitDockWidget(self._dock(above), self._dock(below), Qt.Orientation.Vertical)
        for row in bottom[:1]:
            self.addDockWidget(Qt.DockWidgetArea.BottomDockWidgetArea, self._dock(row))
        for before, row in pairwise(bottom):
            self.splitDockWidget(self._dock(before), self._dock(row), Qt.Orientation.Horizontal)
        for before, row in pairwise(self._rows):
            if row.beside:
                self.splitDockWidget(self._dock(before), self._dock(row), Qt.Orientation.Horizontal)
            elif row.tabbed:
                self.tabifyDockWidget(self._dock(before), self._dock(row))
        for dock in self._docks.values():
            dock.show()
        for row in self._rows:
            if not row.tabbed:
                self._dock(row).raise_()
        self._share_space(columns, bottom)
        QTimer.singleShot(0, self, lambda: self._share_space(columns, bottom))  # in the size it has by then

    def _show_tabs(self) -> None:
        """Show the bars of tabs: Qt leaves one hidden that it makes while the perspective is first shown."""
        for bar in self.findChildren(QTabBar, options=Qt.FindChildOption.FindDirectChildrenOnly):
            bar.setVisible(bar.count() > 1)

    def _share_space(self, columns: list[list[PanelRow]], bottom: list[PanelRow]) -> None:
        widths = [max(self._width(row) for row in column) * current_theme().scale for column in columns]
        spare = max(200.0, self.width() - sum(widths)) / max(1, widths.count(0))
        heads = [self._dock(column[0]) for column in columns]
        for before, row in pairwise(self._rows):
            if row.beside:
                width = row.width * current_theme().scale
                pair = [self._dock(before), self._dock(row)]
                shares = [round(max(width, spare - width)), round(width)]
                self.resizeDocks(pair, shares, Qt.Orientation.Horizontal)
        self.resizeDocks(heads, [round(width or spare) for width in widths], Qt.Orientation.Horizontal)
        for column in columns:
            self._weigh(column, Qt.Orientation.Vertical)
        self._weigh(bottom, Qt.Orientation.Horizontal)
        if columns and bottom:
            height = max(row.height for row in bottom) * current_theme().scale or 0.3 * self.height()
            height = min(height, self.height() / 2)  # in a small window what stands above needs its half
            heights = [round(self.height() - height), round(height)]
            undivided = next((column for column in columns if len(column) == 1), columns[0])
            docks = [self._dock(undivided[0]), self._dock(bottom[0])]
            self.resizeDocks(docks, heights, Qt.Orientation.Vertical)

    def _weigh(self, rows: list[PanelRow], orientation: Qt.Orientation) -> None:
        if len(rows) > 1:
            self.resizeDocks(
                [self._dock(row) for row in rows], [row.weight * SHARE for row in rows], orientation
            )

    def _width(self, row: PanelRow) -> int:
        """The width of a row's column, or its own where it stands beside another."""
        own = row.beside or row.tabbed
        column = [other for other in self._rows if other.area == row.area]
        shared = max(other.width for other in column if not (other.beside or other.tabbed))
        return row.width if own and row.width else shared

    def _dock(self, row: PanelRow) -> QDockWidget:
        return self._docks[row.name]


def _say_whether_in_front(dock: QDockWidget, seen: bool) -> None:
    """Behind another tab a panel is visible to Qt, which only moves it out of the way."""
    dock.widget().set_in_front(seen or not dock.isVisible())
