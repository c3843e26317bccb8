"""The chosen position, stage and cell. Hovering previews, a click pins, Escape unpins."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, Signal

from lmviz.app.session.part import Part
from lmviz.models.address import Address

Cell = tuple[str, tuple[int, ...]]
"""The address of a tap, and the index along its axes."""


class Focus(Part):
    """Where one is looking: a position of the prefix, a stage of the computation, a cell of a tap."""

    position_changed = Signal()
    hovered_position_changed = Signal()
    source_changed = Signal()
    """Another place of the source is pinned, or under the pointer."""
    stage_changed = Signal()
    cell_changed = Signal()
    hovered_cell_changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._position: int | None = None
        self._positions = 0
        self._hovered_position: int | None = None
        self._source: int | None = None
        self._hovered_source: int | None = None
        self._stage = 0
        self._stages: tuple[tuple[str, str], ...] = ()
        self._cell: Cell | None = None
        self._hovered_cell: Cell | None = None
        self._hovers_operand = False

    @property
    def position(self) -> int:
        """The pinned position; the last one when none is pinned; -1 when there is none at all."""
        last = self._positions - 1
        return last if self._position is None else min(self._position, last)

    @property
    def is_position_pinned(self) -> bool:
        """Whether the position stays where it is while one types on."""
        return self._position is not None

    @property
    def hovered_position(self) -> int | None:
        """The position under the pointer."""
        hovered = self._hovered_position
        return hovered if hovered is not None and hovered < self._positions else None

    @property
    def shown_position(self) -> int:
        """The position to show: the hovered one, otherwise `position`."""
        return self.position if self.hovered_position is None else self.hovered_position

    @property
    def source(self) -> int | None:
        """The pinned place of the source, which a translator reads beside its text."""
        return self._source

    @property
    def hovered_source(self) -> int | None:
        """The place of the source under the pointer."""
        return self._hovered_source

    @property
    def stage(self) -> int:
        """The index of the stage of computation, into the stages of the trace."""
        return self._stage

    @property
    def cell(self) -> Cell | None:
        """The pinned cell: a tap's address and the index along its axes."""
        return self._cell

    @property
    def value_cell(self) -> Cell | None:
        """The pinned cell, or the one whose gradient is pinned."""
        return None if self._cell is None else (Address.parse(self._cell[0]).value, self._cell[1])

    @property
    def hovered_cell(self) -> Cell | None:
        """The cell under the pointer."""
        return self._hovered_cell

    @property
    def shown_cell(self) -> Cell | None:
        """The cell to show: the hovered one, otherwise the pinned one."""
        return self._cell if self._hovered_cell is None else self._hovered_cell

    @property
    def explained_cell(self) -> Cell | None:
        """The same, but while an operand of the pinned cell is hovered still the pinned one."""
        return self._cell if self._hovers_operand else self.shown_cell

    def choose_position(self, position: int) -> None:
        """Pin a position; beyond either end it stays at that end."""
        if self._positions:
            self._pin(max(0, min(position, self._positions - 1)))

    def follow_end(self) -> None:
        """Pin no position: the last one is shown, and stays the last while one types."""
        self._pin(None)

    def hover_position(self, position: int | None) -> None:
        """Preview a position; None, or −1 as widgets say it, when the pointer leaves."""
        if position is not None and not 0 <= position < self._positions:
            position = None
        if position != self._hovered_position:
            self._hovered_position = position
            self.hovered_position_changed.emit()

    def choose_source(self, place: int | None) -> None:
        """Pin a place of the source; None unpins it. No position of the text is moved."""
        if place != self._source:
            self._source = place
            self.source_changed.emit()

    def hover_source(self, place: int | None) -> None:
        """Preview a place of the source; None when the pointer leaves."""
        if place != self._hovered_source:
            self._hovered_source = place
            self.source_changed.emit()

    def choose_stage(self, stage: int) -> None:
        """Go to a stage; beyond either end it stays at that end."""
        stage = max(0, min(stage, len(self._stages) - 1))
        if stage != self._stage:
            self._stage = stage
            self.stage_changed.emit()

    def choose_cell(self, cell: Cell | None) -> None:
        """Pin a cell; None unpins it."""
        if cell != self._cell:
            self._cell = cell
            self.cell_changed.emit()

    def hover_cell(self, cell: Cell | None, *, as_operand: bool = False) -> None:
        """Preview a cell; None when the pointer leaves. `as_operand`: in the explanation of another."""
        if cell != self._hovered_cell:
            self._hovered_cell = cell
            self._hovers_operand = as_operand and cell is not None
            self.hovered_cell_changed.emit()

    def release(self) -> None:
        """Unpin: first the cell, and where none is pinned the position and the place of the source."""
        self.hover_position(None)
        self.hover_source(None)
        self.hover_cell(None)
        if self._cell is not None:
            self.choose_cell(None)
        else:
            self.choose_source(None)
            self.follow_end()

    def _pin(self, position: int | None) -> None:
        before = (self.position, self.is_position_pinned)
        self._position = position
        if before != (self.position, self.is_position_pinned):
            self.position_changed.emit()

    def follow_words(self, before: Sequence[str], now: Sequence[str]) -> None:
        """The prefix is being edited: a pinned position stays at its word, and with no other text at any.

        `fit_positions` follows, and says what has moved.
        """
        if self._position is not None:
            self._position = _moved(self._position, before, now)

    def fit_positions(self, positions: int, say: Callable[[], object] = lambda: None) -> None:
        """The prefix has so many positions now. `say` is called before it is said that this moved `position`,
        since panels look at the new prefix at that position."""
        before = self.position
        self._positions = positions
        has_moved = self.position != before
        say()
        if has_moved:
            self.position_changed.emit()

    def fit_stages(self, names: Sequence[tuple[str, str]]) -> None:
        """The trace has these stages now, each a place and a title; none where there is no trace for a while.

        Where they are others than before, as another family's are, one goes to the stage of the same name, in
        the same place if there is one; else to the first.
        """
        if not names:
            return
        before, self._stages = self._stages, tuple(names)
        stage = self._stage
        if before and self._stages != before:
            place, title = before[stage]
            same = [n for n, (_, other) in enumerate(self._stages) if other == title]
            stage = next((n for n in same if self._stages[n][0] == place), same[0] if same else 0)
        self.choose_stage(stage)

    def fit_cells(self, exists: Callable[[Cell], bool]) -> None:
        """Unpin cells that the trace no longer has, as those of another model or a longer prefix."""
        if self._cell is not None and not exists(self._cell):
            self.choose_cell(None)
        if self._hovered_cell is not None and not exists(self._hovered_cell):
            self.hover_cell(None)


KEPT = 0.25  # the share of its words above which a text is the same one, edited


def _moved(position: int, before: Sequence[str], now: Sequence[str]) -> int | None:
    """Where the word at a position is after an edit; None where most of the text is another one."""
    most = min(len(before), len(now))
    first = next((at for at in range(most) if before[at] != now[at]), most)
    most -= first
    last = next((at for at in range(most) if before[-1 - at] != now[-1 - at]), most)
    if position < first:
        return position
    if position >= len(before) - last:
        return position + len(now) - len(before)
    return position if first + last > KEPT * len(before) else None
