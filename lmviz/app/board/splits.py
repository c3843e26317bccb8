"""The splitters of a board: columns side by side with places in them, and rows of places below."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QSplitter

from lmviz.app.board.lengths import COLUMNS
from lmviz.app.board.place import Place
from lmviz.app.look.stylesheet import SEPARATOR
from lmviz.app.look.theme import current_theme
from lmviz.app.panels.panel_row import PanelRow

HORIZONTAL, VERTICAL = Qt.Orientation.Horizontal, Qt.Orientation.Vertical


class Split(QSplitter):
    """Places, or splits of them, side by side or one below the other."""

    def __init__(self, name: str, orientation: Qt.Orientation) -> None:
        super().__init__(orientation)
        self.name = name
        self.setChildrenCollapsible(False)

    @property
    def parts(self) -> list[Place | Split]:
        """What stands in it, hidden or not."""
        found = [self.widget(at) for at in range(self.count())]
        return [part for part in found if isinstance(part, Place | Split)]

    @property
    def lengths(self) -> dict[str, int]:
        """The lengths of the parts that have any, by name, in pixels."""
        return {part.name: size for part, size in zip(self.parts, self.sizes(), strict=True) if size}

    def holds(self, place: str) -> bool:
        """Whether the place of this name stands in it, directly or in a split."""
        return any(part.holds(place) for part in self.parts)

    def hide_empty(self) -> bool:
        """Hide what holds no page; whether anything is left."""
        left = False
        for part in self.parts:
            is_left = part.hide_empty() if isinstance(part, Split) else part.count() > 0
            part.setVisible(is_left)
            left = left or is_left
        return left

    def share(self, lengths_of: Callable[[Split, Sequence[Place | Split]], Sequence[int]]) -> None:
        """Give every part its length, from the whole to the smallest.

        `lengths_of` gives those of the parts of a split that are shown, in pixels.
        """
        shown = [part for part in self.parts if not part.isHidden()]
        if not shown:
            return
        lengths = dict(zip(shown, lengths_of(self, shown), strict=True))
        self.setSizes([lengths.get(part, 0) for part in self.parts])
        for part in shown:
            if isinstance(part, Split):
                part.share(lengths_of)


class Splits(QObject):
    """The splits of a board: `whole`, and those in it. Signal: `moved` with one whose line was dragged."""

    moved = Signal(Split)

    def __init__(self, board: QObject) -> None:
        super().__init__(board)
        self.whole = Split("board", VERTICAL)
        self._splits = [self.whole]

    def hold(self, rows: Sequence[PanelRow], places: Mapping[str, Place]) -> None:
        """Hold the places of a board, by the names of their rows, where the table says."""
        areas: dict[str, list[Place | Split]] = {}
        for row in rows:
            if row.name not in places:
                continue
            place, area = places[row.name], areas.setdefault(row.area, [])
            area.append(
                self._split(area[-1].name, HORIZONTAL, [area.pop(), place]) if row.beside and area else place
            )
        columns = [self._split(area, VERTICAL, areas[area]) for area in COLUMNS if area in areas]
        below = [self._split(area, HORIZONTAL, areas[area]) for area in ("bottom", "foot") if area in areas]
        for part in ([self._split("columns", HORIZONTAL, columns)] if columns else []) + below:
            self.whole.addWidget(part)
        self.whole.splitterMoved.connect(lambda *_: self.moved.emit(self.whole))
        self.fit_lines()

    def fit_lines(self) -> None:
        """Have the lines between parts as wide as the theme in force says."""
        for split in self._splits:
            split.setHandleWidth(round(SEPARATOR * current_theme().scale))

    def _split(self, name: str, orientation: Qt.Orientation, parts: Sequence[Place | Split]) -> Split:
        split = Split(name, orientation)
        self._splits.append(split)
        for part in parts:
            split.addWidget(part)
        split.splitterMoved.connect(lambda *_: self.moved.emit(split))
        return split
