"""Which panels share a place where large type leaves no room for a place of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil

from PySide6.QtCore import QSize

from lmviz.app.board.lengths import COLUMNS
from lmviz.app.look.stylesheet import SEPARATOR
from lmviz.app.look.theme import current_theme
from lmviz.app.panels.panel_row import PanelRow

BELOW = ("bottom", "foot")
TABS = 34  # pixels at scale 1 of the tabs above a place that several panels share
MAIN_SHARE = 0.5  # of the room, in width and in height, for the panel that one came for


class Crowding:
    """`Crowding(rows, places, least, room)`: panels in places, the least size of each, and the room for all.

    `places` has the place of each panel in the table, by names of rows.
    """

    def __init__(
        self,
        rows: Sequence[PanelRow],
        places: Mapping[str, str],
        least: Mapping[str, QSize],
        room: QSize,
    ) -> None:
        self._rows = {row.name: row for row in rows}
        self._places = dict(places)
        self._least, self._room = least, room
        self._scale = current_theme().scale

    @property
    def fits(self) -> bool:
        """Whether all panels fit into the room, each where it stands."""
        return self._is_narrow_enough and self._is_low_enough

    def gathered(self, main: str) -> dict[str, str]:
        """The place of each panel, so many together that the rest fits and the place `main` has its part."""
        area = self._rows[main].area
        sides = [each for each in COLUMNS if each != area]
        self._gather(area, main)
        small_steps = [
            ("foot", "bottom"),
            *((side, side) for side in sides),
            (sides[-1], sides[0]),
            ("bottom", "bottom"),
        ]
        for part, into in small_steps:
            if not self._leaves_enough(area):
                self._gather(part, self._first_of(into))
        is_only_too_high = self._is_narrow_enough and self._leaves_width(area)
        others = ("bottom", *sides) if is_only_too_high else (*sides, "bottom")
        for part in (*others, "foot"):
            if not self._leaves_enough(area):
                self._gather(part, main)
        return self._places

    @property
    def _is_narrow_enough(self) -> bool:
        columns = [self._size_of(area).width() for area in COLUMNS if self._lines(area)]
        across = sum(columns) + SEPARATOR * self._scale * max(0, len(columns) - 1)
        return max([across, *(self._size_of(area).width() for area in BELOW)]) <= self._room.width()

    @property
    def _is_low_enough(self) -> bool:
        columns = max(self._size_of(area).height() for area in COLUMNS)
        return columns + self._height_below <= self._room.height()

    @property
    def _height_below(self) -> float:
        """How high at least what stands below the columns is, with the gap above each row."""
        below = [self._size_of(area).height() for area in BELOW if self._lines(area)]
        return sum(height + SEPARATOR * self._scale for height in below)

    def _gather(self, area: str, place: str) -> None:
        """Put all panels of an area into one place."""
        for name, its in self._places.items():
            if self._rows[its].area == area and place:
                self._places[name] = place

    def _first_of(self, area: str) -> str:
        """The first place of an area; "" where it has none."""
        return next((place for place in self._places.values() if self._rows[place].area == area), "")

    def _leaves_enough(self, area: str) -> bool:
        """Whether all fit, and the area of the main place has its part of the room."""
        most_below = (1 - MAIN_SHARE) * self._room.height()
        is_high = area not in COLUMNS or self._height_below <= most_below
        return self.fits and is_high and self._leaves_width(area)

    def _leaves_width(self, area: str) -> bool:
        others = [self._usual_width(other) for other in COLUMNS if other != area and self._lines(other)]
        beside = sum(others) + SEPARATOR * self._scale * len(others)
        return area not in COLUMNS or beside <= (1 - MAIN_SHARE) * self._room.width()

    def _usual_width(self, area: str) -> float:
        of_area = [row for row in self._rows.values() if row.area == area and not (row.tabbed or row.beside)]
        wide = max((row.width for row in of_area), default=0) * self._scale
        return max(wide, self._size_of(area).width())

    def _lines(self, area: str) -> list[list[str]]:
        """The places of an area: those in one list stand side by side."""
        lines: list[list[str]] = []
        for place in dict.fromkeys(self._places.values()):
            if self._rows[place].area != area:
                continue
            if lines and (area in BELOW or self._rows[place].beside):
                lines[-1].append(place)
            else:
                lines.append([place])
        return lines

    def _size_of(self, area: str) -> QSize:
        gap, wide, high = SEPARATOR * self._scale, 0.0, 0.0
        for line in self._lines(area):
            sizes = [self._size(place) for place in line]
            wide = max(wide, sum(size.width() for size in sizes) + gap * (len(sizes) - 1))
            high += max(size.height() for size in sizes) + (gap if high else 0)
        return QSize(round(wide), round(high))

    def _size(self, place: str) -> QSize:
        """What the panels of a place need."""
        names = [name for name, its in self._places.items() if its == place]
        tabs = round(TABS * self._scale) if len(names) > 1 else 0
        wide = max(self._least[name].width() for name in names)
        return QSize(wide, max(self._least[name].height() for name in names) + tabs)


def with_main_share(lengths: Sequence[float], main: int, length: float, room: float) -> list[float]:
    """Lengths that share a `length`, that at `main` with its share of the room at least."""
    factor = length / sum(lengths)
    wanted = max(lengths[main] * factor, ceil(MAIN_SHARE * room))
    others = (length - wanted) / max(1e-9, sum(lengths) - lengths[main])
    return [wanted if at == main else each * others for at, each in enumerate(lengths)]
