"""How the places of a perspective share its room: as the table says, and larger with type and window."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QLabel

from lmviz.app.look.stylesheet import SEPARATOR
from lmviz.app.look.theme import current_theme
from lmviz.app.panels.panel import Panel
from lmviz.app.panels.panel_row import PanelRow
from lmviz.app.widgets.base.scrolling import QuietScrollArea

COLUMNS = ("left", "centre", "right")
USUAL_SIZE = (1330, 690)  # pixels of a perspective in a window of 1440 × 900, for which the table is written
LEAST_APART = 1110  # pixels at scale 1 of a board: in a smaller one panels join others without a lesson too
MOST_STRETCH = 3.0
SHARE_OF_ONE, SHARE_OF_TWO = 0.5, 0.62  # of the height at most, for one row below the columns or two
LEAST_SHARE = 0.7  # the share of its width to which a panel can be narrowed
SQUEEZED = 0.85  # the share of its least width that has to do beside a panel that a lesson is about
CENTRE = 450  # pixels at scale 1 that stand for the width of a panel that takes what is left
AROUND = 16  # pixels at scale 1 between a panel's edge and what its card holds


class Lengths:
    """`Lengths(rows)`: what the rows of the table say of the lengths of a board's parts."""

    def __init__(self, rows: Sequence[PanelRow]) -> None:
        self._rows = {row.name: row for row in rows}

    def share(self, part: str, among: Sequence[str], room: QSize, board: QSize) -> list[float]:
        """How long what stands in a part of the board should be, which has this room.

        The parts are "board" with "columns", "bottom" and "foot", "columns" with areas, areas with places,
        and a place's name with what stands beside it.
        """
        stretch = self._stretch(board)
        if len(among) == 1:
            return [1.0]
        if part == "board":
            return self._heights(among, board.height(), stretch)
        if part == "columns":
            widths = [self._width_of_area(area) * stretch for area in among]
            spare = max(200.0, room.width() - sum(widths)) / max(1, widths.count(0))
            return [width or spare for width in widths]
        if part in self._rows:
            width = self._rows[among[-1]].width * stretch
            return [max(width, room.width() - width), width]
        total = sum(self._rows[name].weight for name in among)
        length = room.width() if part in ("bottom", "foot") else room.height()
        return [length * self._rows[name].weight / total for name in among]

    def least(
        self, row: PanelRow, hint: QSize, *, few: bool, squeezed: bool, most: QSize | None = None
    ) -> QSize:
        """The smallest size of a panel, which needs at least a `hint`: what it shows may grow, the panel
        does not push its neighbours aside. The `few` panels of projector mode share the room they get; where
        it is scarce, the table asks for no more than half of `most`.
        """
        scale, (own, height) = current_theme().scale, row.least
        width = own or LEAST_SHARE * (self._width_of(row) or CENTRE)
        usual = QSize(round(width * scale), height if few else round(height * scale))
        if most is not None:
            usual = usual.boundedTo(QSize(most.width() // 2, most.height() // 2))
        wide, tall = max(usual.width(), hint.width()), max(usual.height(), hint.height(), 1)
        return QSize(round(wide * SQUEEZED) if squeezed else wide, tall)

    def areas_without_room(self, least: Mapping[str, QSize], room: QSize) -> frozenset[str]:
        """The areas whose panels have no place of their own among those whose `least` sizes are given.

        Columns after the first have none where they do not fit beside it, and what stands below the columns
        has none where it would leave them, or have itself, too little height for the type.
        """
        rows = [self._rows[name] for name in least]
        across = list(dict.fromkeys(row.area for row in rows if row.area in COLUMNS))
        lacking = set() if self.fits_beside(least, room.width()) else set(across[1:])
        apart = [row for row in rows if not row.tabbed]
        columns = [sum(row.least[1] for row in apart if row.area == area) for area in COLUMNS]
        below = max((row.least[1] for row in apart if row.area == "bottom"), default=0)
        if across and (max(columns) + below) * current_theme().scale > room.height():
            lacking.add("bottom")
        return frozenset(lacking & {row.area for row in rows})

    def joining(self, board: QSize, *, in_lesson: bool) -> dict[str, str]:
        """Which row others join in a board that has little room, each with the tabs behind it.

        Beside a lesson what is between them gets the room sooner. A tab that stayed would keep the room that
        is to be given away.
        """
        if board.width() >= (USUAL_SIZE[0] if in_lesson else LEAST_APART) * current_theme().scale:
            return {}
        found, joined = {}, ""
        for name, row in self._rows.items():
            joined = row.joins or (joined if row.tabbed else "")
            if joined:
                found[name] = joined
        return found

    def fits_beside(self, least: Mapping[str, QSize], room: int) -> bool:
        """Whether panels of these sizes fit into a width, area beside area."""
        widths: dict[str, int] = {}
        for name, size in least.items():
            area = self._rows[name].area
            widths[area] = max(size.width(), widths.get(area, 0))
        across = [width for area, width in widths.items() if area in COLUMNS]
        gaps = round(SEPARATOR * current_theme().scale) * max(0, len(across) - 1)
        return max(sum(across) + gaps, *widths.values()) <= room

    def _heights(self, among: Iterable[str], height: int, stretch: float) -> list[float]:
        """The heights of the rows, and what is left for the columns above them."""
        low = self._most_height("foot") * stretch if "foot" in among else 0
        # In a small window what stands above needs its part.
        most = height * (SHARE_OF_TWO if "foot" in among else SHARE_OF_ONE)
        bottom = min(self._most_height("bottom") * stretch or 0.3 * height, most - low)
        bottom = bottom if "bottom" in among else 0
        gap = SEPARATOR * current_theme().scale  # the table's heights are those with the gap above
        found = {"columns": height - bottom - low, "bottom": bottom - gap, "foot": low - gap}
        return [found[name] for name in among]

    def _most_height(self, area: str) -> int:
        return max((row.height for row in self._rows.values() if row.area == area), default=0)

    def _width_of_area(self, area: str) -> int:
        column = [row for row in self._rows.values() if row.area == area]
        return max((row.width for row in column if not (row.beside or row.tabbed)), default=0)

    def _width_of(self, row: PanelRow) -> int:
        """The width of a row's column, or its own where it stands beside another."""
        return row.width if row.width and (row.beside or row.tabbed) else self._width_of_area(row.area)

    def _stretch(self, board: QSize) -> float:
        """By how much the lengths of the table grow: with type, and in a window that is larger than usual."""
        room = min(board.width() / USUAL_SIZE[0], board.height() / USUAL_SIZE[1])
        half = 1 + (min(room, MOST_STRETCH) - 1) / 2  # the other half goes to the panels in the middle
        return max(current_theme().scale, half)


def hint_of(panel: Panel, *, few: bool, projected: bool) -> QSize:
    """The width of what a panel cannot scroll sideways, and the least height of what it holds.

    In large type all that it holds counts, and not only what can be narrowed: the perspective scrolls. Where
    `few` places are left it scrolls only upright; the panels of projector mode, if `projected`, not at all.
    """
    scale, least = current_theme().scale, panel.minimumSizeHint()
    areas = [area for area in panel.findChildren(QuietScrollArea) if area.is_upright]
    width = max((area.minimumSizeHint().width() + round(2 * AROUND * scale) for area in areas), default=0)
    if scale <= 1 or projected:
        return QSize(width, least.height())
    words = [label for label in panel.findChildren(QLabel) if label.wordWrap() and label.isVisible()]
    lines = sum(label.heightForWidth(label.width()) - label.minimumSizeHint().height() for label in words)
    return QSize(width if few else least.width(), least.height() + max(0, lines))
