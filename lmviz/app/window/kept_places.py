"""Where the panels of a perspective stand, to be put back there once the others have come back too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from PySide6.QtCore import QByteArray, QSize, Qt
from PySide6.QtWidgets import QMainWindow, QTabBar

from lmviz.app.look.theme import current_theme
from lmviz.app.window.panel_dock import PanelDock


@dataclass(frozen=True)
class KeptPlaces:
    """The arrangement, the smallest size of each panel, and the room of each place in sight, with its tabs;
    and for which room, in type of which scale.

    Qt's own arrangement is not enough: it rounds, and least sizes change with what panels show.
    """

    arrangement: QByteArray
    least: Mapping[str, QSize]
    rooms: Mapping[str, QSize]
    available: QSize
    scale: float

    @staticmethod
    def of(
        view: QMainWindow, docks: Mapping[str, PanelDock], arrangement: QByteArray, available: QSize
    ) -> KeptPlaces:
        """Those of a view now."""
        made = {name: dock for name, dock in docks.items() if dock.has_panel}
        bars = view.findChildren(QTabBar, options=Qt.FindChildOption.FindDirectChildrenOnly)
        bar = max((bar.height() for bar in bars if bar.isVisible()), default=0)
        rooms = {
            name: dock.size() + QSize(0, bar if view.tabifiedDockWidgets(dock) else 0)
            for name, dock in made.items()
            if dock.panel.is_in_sight
        }
        least = {name: dock.panel.minimumSize() for name, dock in made.items()}
        return KeptPlaces(arrangement, least, rooms, available, current_theme().scale)

    def fit(self, available: QSize) -> bool:
        """Whether the room, and the type, are those of then."""
        return available == self.available and current_theme().scale == self.scale

    def set_least_sizes(self, docks: Mapping[str, PanelDock]) -> None:
        """Let panels be as small as they could be."""
        for name, least in self.least.items():
            docks[name].panel.setMinimumSize(least)

    def put_back(self, view: QMainWindow, docks: Mapping[str, PanelDock], version: int) -> None:
        """Arrange the docks as they were, in a view of the size that it had."""
        view.restoreState(self.arrangement, version)
        found = [docks[name] for name in self.rooms]
        view.resizeDocks(found, [room.height() for room in self.rooms.values()], Qt.Orientation.Vertical)
        view.resizeDocks(found, [room.width() for room in self.rooms.values()], Qt.Orientation.Horizontal)
