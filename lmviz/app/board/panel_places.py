"""In which place of a board each panel stands in the room there is, and how large it has to be there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from PySide6.QtCore import QSize

from lmviz.app.board.lengths import Lengths, hint_of
from lmviz.app.board.page import PanelPage
from lmviz.app.look.theme import current_theme
from lmviz.app.panels.panel_row import PanelRow


@dataclass(frozen=True)
class RoomForPanels:
    """The `room` for the panels of a board that has a `size`, and the `scale` of type in which they are.

    Whether `few` of them are left, whether a panel stands `beside` these, and whether one is `in_lesson`.
    """

    size: QSize
    room: QSize
    scale: float
    few: bool
    beside: bool
    in_lesson: bool


class PanelPlaces:
    """`PanelPlaces(rows, homes, pages, lengths, room)`: where panels stand, by the names of their rows.

    `homes` are their places in the table, `pages` those that have been made, and `room` gives that of now. A
    panel is measured once for each scale of type.
    """

    def __init__(
        self,
        rows: Sequence[PanelRow],
        homes: Mapping[str, str],
        pages: Mapping[str, PanelPage],
        lengths: Lengths,
        room: Callable[[], RoomForPanels],
    ) -> None:
        self._rows, self._homes, self._pages = rows, homes, pages
        self._lengths, self._room_for_panels = lengths, room
        self.places: dict[str, str] = {}  # of each panel that stands somewhere, when they were found last
        self.main = ""  # the place that keeps half of the room, if large type leaves none for a place of each
        self._is_squeezed = False  # whether what a step of a lesson needs only fits side by side so
        self._hints: dict[tuple[str, float, bool, bool], QSize] = {}  # what panels need, by `_key`

    @property
    def joined(self) -> dict[str, str]:
        """The panels that stand with others, for what is between them to have room in a small window."""
        now = self._room_for_panels()
        return {} if now.few else self._lengths.joining(now.size, in_lesson=now.in_lesson)

    def find_places(
        self, wanted: AbstractSet[str], joined: Mapping[str, str], least_of: Callable[[str], QSize]
    ) -> None:
        """Find the place of each panel that is wanted: that of the table, unless there is no room for it.

        `least_of` gives how large a panel has to be; `joined` are those that stand with others.
        """
        self.main, self._is_squeezed = "", False
        self.places = self._found_places(wanted, joined, least_of)

    def least(self, name: str) -> QSize:
        """How large a panel has to be."""
        now, page = self._room_for_panels(), self._pages[name]
        key = self._key(name, now)
        if key not in self._hints:
            page.be_styled()
            page.panel.setMinimumSize(0, 0)
            self._hints[key] = self._measured(name, now)
        return self._lengths.least(
            page.row,
            self._hints[key],
            few=self._is_few(now),
            squeezed=now.beside or self._is_squeezed,
            most=now.room if self.main else None,
        )

    def fits_beside(self, names: Sequence[str]) -> bool:
        """Whether the room is wide enough for some panels, area beside area."""
        width = self._room_for_panels().room.width()
        return self._lengths.fits_beside({name: self.least(name) for name in names}, width)

    def note_growth(self, name: str) -> bool:
        """Measure a panel again that holds something else; whether it has come to need more room.

        It gets that in large type, where perspectives scroll, while all panels are left.
        """
        now = self._room_for_panels()
        key = self._key(name, now)
        hint = self._hints.get(key)
        if hint is None or now.few or now.scale <= 1 or not self._pages[name].has_panel:
            return False
        self._hints[key] = hint.expandedTo(self._measured(name, now))
        return self._hints[key] != hint

    def measure_anew(self) -> None:
        """Forget how large panels have to be."""
        self._hints.clear()

    def _found_places(
        self, wanted: AbstractSet[str], joined: Mapping[str, str], least_of: Callable[[str], QSize]
    ) -> dict[str, str]:
        stacked = self._areas_without_room(wanted)
        first = next((row for row in self._rows if row.name in wanted and row.area not in stacked), None)
        found = {}
        for row in self._rows:
            if row.name in wanted:
                own = joined.get(row.name, row.name)
                home = first.name if first is not None and row.area in stacked else own
                found[row.name] = self._homes[home]
        now, is_alone = self._room_for_panels(), len(set(found.values())) <= 1
        if is_alone or (current_theme().scale <= 1 and not now.few):
            return found
        from lmviz.app.board.crowding import Crowding  # not before the first paint

        def crowd() -> Crowding:
            return Crowding(self._rows, found, {name: least_of(name) for name in found}, now.room)

        if crowd().fits:
            return found
        first_of_all = (row.name for row in self._rows if row.projected and row.name in found)
        self.main = found[next(first_of_all, next(iter(found)))]
        return crowd().gathered(self.main)

    def _areas_without_room(self, wanted: AbstractSet[str]) -> frozenset[str]:
        now = self._room_for_panels()
        if not now.few or now.beside:
            return frozenset()

        def lacking() -> frozenset[str]:
            least = {row.name: self.least(row.name) for row in self._rows if row.name in wanted}
            return self._lengths.areas_without_room(least, now.room) if least else frozenset()

        stacked = lacking()
        if stacked and now.in_lesson:
            self._is_squeezed = True
            if (narrower := lacking()) < stacked:
                return narrower
            self._is_squeezed = False
        return stacked

    def _is_few(self, now: RoomForPanels) -> bool:
        """Whether few places are left, of which each is larger."""
        return now.few or bool(self.main)

    def _key(self, name: str, now: RoomForPanels) -> tuple[str, float, bool, bool]:
        return name, now.scale, self._is_few(now), now.few

    def _measured(self, name: str, now: RoomForPanels) -> QSize:
        return hint_of(self._pages[name].panel, few=self._is_few(now), projected=now.few)
