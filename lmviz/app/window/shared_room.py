"""How the panels of a perspective share its room: as the table says, and larger with type and window."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMainWindow

from lmviz.app.look.theme import current_theme
from lmviz.app.panels.panel_row import PanelRow
from lmviz.app.window.panel_dock import PanelDock

COLUMNS = ("left", "centre", "right")
USUAL_SIZE = (1330, 690)  # pixels of a perspective in a window of 1440 × 900, for which the table is written
MOST_STRETCH = 3.0
SHARE_OF_ONE, SHARE_OF_TWO = 0.5, 0.62  # of the height at most, for one row below the columns or two
SHARE = 1000  # Qt takes sizes in pixels but keeps their proportions


class SharedRoom:
    """`SharedRoom(view, rows, docks)`: the room of a view, shared by the docks of some rows of the table."""

    def __init__(self, view: QMainWindow, rows: Sequence[PanelRow], docks: Mapping[str, PanelDock]) -> None:
        self._view, self._rows, self._docks = view, rows, docks

    def columns(self) -> tuple[list[list[PanelRow]], list[PanelRow], list[PanelRow]]:
        """The columns with the panels that stand in them, the row below, and that at the foot."""
        apart = [row for row in self._rows if not row.tabbed and not row.beside]
        columns = [[row for row in apart if row.area == area] for area in COLUMNS]
        bottom, foot = ([row for row in apart if row.area == area] for area in ("bottom", "foot"))
        return [column for column in columns if column], bottom, foot

    def width_of(self, row: PanelRow) -> int:
        """The width of a row's column, or its own where it stands beside another."""
        own = row.beside or row.tabbed
        column = [other for other in self._rows if other.area == row.area]
        shared = max((other.width for other in column if not (other.beside or other.tabbed)), default=0)
        return row.width if own and row.width else shared

    def share(self, stacked: Collection[str] = ()) -> None:
        """Give every panel that is not hidden its part of the room; those of areas that are `stacked` share
        the place of another.
        """
        columns, bottom, foot = self.columns()
        columns = [[row for row in column if not self._dock(row).isHidden()] for column in columns]
        columns = [column for column in columns if column and column[0].area not in stacked]
        bottom = [] if "bottom" in stacked else bottom
        bottom, foot = ([row for row in rows if not self._dock(row).isHidden()] for rows in (bottom, foot))
        widths = [max(self.width_of(row) for row in column) * self._stretch for column in columns]
        spare = max(200.0, self._view.width() - sum(widths)) / max(1, widths.count(0))
        heads = [self._dock(column[0]) for column in columns]
        for before, row in pairwise(self._rows):
            if row.beside:
                width = row.width * self._stretch
                pair = [self._dock(before), self._dock(row)]
                self._resize(pair, [max(width, spare - width), width], Qt.Orientation.Horizontal)
        self._resize(heads, [width or spare for width in widths], Qt.Orientation.Horizontal)
        for column in columns:
            self._weigh(column, Qt.Orientation.Vertical)
        self._weigh(bottom, Qt.Orientation.Horizontal)
        self._weigh(foot, Qt.Orientation.Horizontal)
        if columns and bottom:
            self._share_height(columns, bottom, foot)

    def _share_height(
        self, columns: list[list[PanelRow]], bottom: list[PanelRow], foot: list[PanelRow]
    ) -> None:
        """Give the rows below their height, and what stands above them the rest."""
        scale = self._stretch
        low = max((row.height for row in foot), default=0) * scale
        height = max(row.height for row in bottom) * scale or 0.3 * self._view.height()
        # In a small window what stands above needs its part.
        most = self._view.height() * (SHARE_OF_TWO if foot else SHARE_OF_ONE)
        height = min(height, most - low)
        heights = [self._view.height() - height - low, height + low]
        undivided = next((column for column in columns if len(column) == 1), columns[0])
        docks = [self._dock(undivided[0]), self._dock(bottom[0])]
        self._resize(docks, heights, Qt.Orientation.Vertical)
        if foot:
            self._resize([self._dock(bottom[0]), self._dock(foot[0])], [height, low], Qt.Orientation.Vertical)

    @property
    def _stretch(self) -> float:
        """By how much the lengths of the table grow: with type, and in a window that is larger than usual."""
        room = min(self._view.width() / USUAL_SIZE[0], self._view.height() / USUAL_SIZE[1])
        half = 1 + (min(room, MOST_STRETCH) - 1) / 2  # the other half goes to the panels in the middle
        return max(current_theme().scale, half)

    def _weigh(self, rows: list[PanelRow], orientation: Qt.Orientation) -> None:
        self._resize([self._dock(row) for row in rows], [row.weight * SHARE for row in rows], orientation)

    def _resize(
        self, docks: Sequence[PanelDock], sizes: Sequence[float], orientation: Qt.Orientation
    ) -> None:
        """Share a length among the docks that stand in the view: Qt warns of others, and of no length."""
        here = [
            (dock, max(1, round(size)))
            for dock, size in zip(docks, sizes, strict=True)
            if not dock.isHidden() and not dock.isFloating() and self._view.isAncestorOf(dock)
        ]
        if len(here) > 1:
            self._view.resizeDocks([dock for dock, _ in here], [size for _, size in here], orientation)

    def _dock(self, row: PanelRow) -> PanelDock:
        return self._docks[row.name]
