"""How small the panels of a perspective can get."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QSize

from lmviz.app.look.stylesheet import SEPARATOR
from lmviz.app.look.theme import current_theme
from lmviz.app.panels.panel_row import PanelRow
from lmviz.app.widgets.base.scrolling import QuietScrollArea
from lmviz.app.window.panel_dock import PanelDock
from lmviz.app.window.shared_room import COLUMNS, SharedRoom

MOST_SQUEEZED = 0.15  # of the width that a panel should have, beside one that a lesson is about
LEAST_SHARE = 0.7  # the share of its width to which a panel can be narrowed
CENTRE = 450  # pixels at scale 1 that stand for the width of a panel that takes what is left
AROUND = 16  # pixels between a panel's edge and what its card holds


class LeastSizes:
    """`LeastSizes(rows, docks, room)`: the smallest sizes of the panels of some rows of the table.

    `squeezed` says by how many pixels a panel may be narrower than it should be.
    """

    def __init__(self, rows: Sequence[PanelRow], docks: Mapping[str, PanelDock], room: SharedRoom) -> None:
        self._rows, self._docks, self._room = rows, docks, room
        self.squeezed: dict[str, int] = {}

    def fix(self, *, few: bool, leaves_tabs: bool, rearranging: bool) -> None:
        """Let no panel push its neighbours aside when what it shows grows.

        The `few` panels of projector mode share the room they get. With `leaves_tabs` those behind others are
        not made for it.
        """
        for row in self._rows:
            if leaves_tabs and not self._docks[row.name].has_panel:
                continue
            panel = self._docks[row.name].panel
            panel.setMinimumSize(0, 0)
            scale, (own, height) = current_theme().scale, row.least
            height = height if few else round(height * scale)
            width = own or LEAST_SHARE * (self._room.width_of(row) or CENTRE)
            areas = panel.findChildren(QuietScrollArea)
            held = [area.minimumSizeHint().width() + 2 * AROUND for area in areas if area.is_upright]
            least = max(round(width * scale), *held, 0) - self.squeezed.get(row.name, 0)
            tall = max(panel.minimumSizeHint().height(), height, 1)
            panel.setMinimumSize(least, tall)
            self.fix_height(self._docks[row.name], rearranging=rearranging)

    def fix_height(self, dock: PanelDock, *, rearranging: bool) -> None:
        """Without a title bar Qt would let a dock be a pixel lower than its panel."""
        if dock.has_panel:
            dock.setMinimumHeight(0 if rearranging else dock.panel.minimumHeight())

    def squeeze(self, names: Sequence[str], room: int) -> bool:
        """Whether these panels fit beside one another: the first of them a little narrower if need be."""
        lacking = self._least_width(names) - room
        first = self._docks[names[0]].panel
        if 0 < lacking <= first.minimumWidth() * MOST_SQUEEZED:
            first.setMinimumWidth(first.minimumWidth() - lacking)
            self.squeezed[names[0]] = lacking
            lacking = 0
        return lacking <= 0

    def areas_without_room(self, names: Sequence[str], room: QSize) -> frozenset[str]:
        """The areas whose panels have no place of their own among these panels in a room.

        Columns after the first have none where they do not fit beside it, and what stands below the columns
        has none where it would leave them, or have itself, too little height for the type.
        """
        left = [row for row in self._rows if row.name in names]
        across = list(dict.fromkeys(row.area for row in left if row.area in COLUMNS))
        lacking = set() if self.squeeze(names, room.width()) else set(across[1:])
        if across and self._least_height(left) > room.height():
            lacking.add("bottom")
        return frozenset(lacking & {row.area for row in left})

    def _least_height(self, rows: Sequence[PanelRow]) -> float:
        """The height that rows of the table need one below the other, in type of the theme."""
        apart = [row for row in rows if not row.tabbed]
        columns = [sum(row.least[1] for row in apart if row.area == area) for area in COLUMNS]
        below = max((row.least[1] for row in apart if row.area == "bottom"), default=0)
        return (max(columns) + below) * current_theme().scale

    def _least_width(self, names: Sequence[str]) -> int:
        """The width without which these panels would not fit beside one another."""
        widths: dict[str, int] = {}
        for row in self._rows:
            if row.name in names:
                least = self._docks[row.name].panel.minimumWidth()
                widths[row.area] = max(least, widths.get(row.area, 0))
        across = [width for area, width in widths.items() if area in COLUMNS]
        gaps = round(SEPARATOR * current_theme().scale) * max(0, len(across) - 1)
        return max(sum(across) + gaps, *widths.values())
