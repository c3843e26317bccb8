"""Puts the panels of a perspective where the table of panels has them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMainWindow

from lmviz.app.panels.panel_row import PanelRow
from lmviz.app.window.panel_dock import PanelDock

Places = tuple[list[list[PanelRow]], list[PanelRow], list[PanelRow]]
"""The columns from left to right, the row below them, and that at the foot."""


def arrange(
    view: QMainWindow, rows: Sequence[PanelRow], docks: Mapping[str, PanelDock], places: Places
) -> None:
    """Columns side by side, each stacked; below them a row across all, and another at the foot."""

    def dock_of(row: PanelRow) -> PanelDock:
        return docks[row.name]

    columns, bottom, foot = places
    heads = [dock_of(column[0]) for column in columns]
    for dock in heads[:1]:
        view.addDockWidget(Qt.DockWidgetArea.TopDockWidgetArea, dock)
    for left, right in pairwise(heads):
        view.splitDockWidget(left, right, Qt.Orientation.Horizontal)
    for column in columns:
        for above, below in pairwise(column):
            view.splitDockWidget(dock_of(above), dock_of(below), Qt.Orientation.Vertical)
    for row in bottom[:1]:
        view.addDockWidget(Qt.DockWidgetArea.BottomDockWidgetArea, dock_of(row))
    for above, below in zip(bottom, foot[:1], strict=False):
        view.splitDockWidget(dock_of(above), dock_of(below), Qt.Orientation.Vertical)
    for first, second in (*pairwise(bottom), *pairwise(foot)):
        view.splitDockWidget(dock_of(first), dock_of(second), Qt.Orientation.Horizontal)
    for before, row in pairwise(rows):
        if row.beside:
            view.splitDockWidget(dock_of(before), dock_of(row), Qt.Orientation.Horizontal)
        elif row.tabbed:
            view.tabifyDockWidget(dock_of(before), dock_of(row))
    for dock in docks.values():
        dock.show()
    for row in rows:
        if not row.tabbed:
            dock_of(row).raise_()


def stack(
    view: QMainWindow, rows: Sequence[PanelRow], docks: Mapping[str, PanelDock], areas: Collection[str]
) -> PanelDock:
    """Have the panels of some areas share the place of the first of the others, as tabs; gives that one."""
    first = docks[next(row.name for row in rows if row.area not in areas)]
    for row in rows:
        if row.area in areas:
            view.tabifyDockWidget(first, docks[row.name])
    first.raise_()
    return first
