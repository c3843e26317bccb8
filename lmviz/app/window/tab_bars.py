"""The bars of the tabs of panels that share a place, which Qt makes and sometimes leaves hidden or behind."""

from __future__ import annotations

from collections.abc import Collection

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDockWidget, QMainWindow, QTabBar


def show_tab_bars(view: QMainWindow, docks: Collection[QDockWidget]) -> list[QTabBar]:
    """Show the bars of tabs: Qt leaves one hidden that it makes while the perspective is first shown.

    Where an arrangement was put back, Qt also leaves the bars of the one before, with their tabs: of two
    for the same panels only that which lies above them is shown. All bars come back.
    """
    bars = view.findChildren(QTabBar, options=Qt.FindChildOption.FindDirectChildrenOnly)
    bars.sort(key=lambda bar: _distance_from_panel(bar, docks))
    shown: set[frozenset[str]] = set()
    for bar in bars:
        titles = frozenset(bar.tabText(at) for at in range(bar.count()))
        bar.setVisible(bar.count() > 1 and titles not in shown)
        bar.setAccessibleName("panels that share this place")
        bar.setElideMode(Qt.TextElideMode.ElideNone)  # where there are too many they scroll
        bar.setUsesScrollButtons(True)
        shown.add(titles)
    return bars


def _distance_from_panel(bar: QTabBar, docks: Collection[QDockWidget]) -> int:
    """How far a bar lies from the panel below it whose tab is in front, in pixels."""
    title = bar.tabText(bar.currentIndex())
    here = bar.geometry().bottomLeft()
    places = [dock.pos() for dock in docks if dock.windowTitle() == title]
    return min(((place - here).manhattanLength() for place in places), default=0)
