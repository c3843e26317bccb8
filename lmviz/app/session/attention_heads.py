"""Which attention heads are shown, and whether by what a word looks at or by what looks at it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from lmviz.app.session.part import Part
from lmviz.models.address import Address
from lmviz.models.sequences import SOURCE

if TYPE_CHECKING:
    from lmviz.app.session.current_reading import CurrentReading
    from lmviz.app.session.opened_model import OpenedModel
    from lmviz.inspection.trace import Trace

Head = tuple[int, int]
"""An attention head: its layer and its number in it, counted from 0."""

CROSS, ENCODER, DECODER = "cross", "encoder", "decoder"
"""What a Transformer that translates looks at: from the translation at the source, within the source, within
the translation."""


class AttentionHeads(Part):
    """The head that is shown large, the several that are shown together, and the direction of attention.

    A Transformer that translates has three kinds of attention, each with a chosen head of its own.
    """

    model_begun = Signal()
    """A model of other heads is looked at."""
    side_changed = Signal()
    head_changed = Signal()
    heads_changed = Signal()
    looked_at_changed = Signal()
    offset_changed = Signal()

    def __init__(self, reading: CurrentReading, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._reading = reading
        self._begun: OpenedModel | None = None  # the model for which a first head was looked for
        self._side = ""
        self._head: Head = (0, 0)
        self._is_chosen = False
        self._heads: tuple[Head, ...] = ()
        self._left: dict[str, tuple[Head, tuple[Head, ...]]] = {}  # of sides one turned away from
        self._looked_at = False
        self._offset: int | None = None
        self._wanted: tuple[str, Head] | None = None  # of the model that is about to be read
        reading.changed.connect(self._begin)

    @property
    def side(self) -> str:
        """Which attention of a Transformer that translates: CROSS, ENCODER or DECODER; empty of others."""
        return self._side

    @property
    def head(self) -> Head:
        """The chosen attention head."""
        return self._head

    @property
    def is_chosen(self) -> bool:
        """Whether the head was chosen, and is not just where one begins."""
        return self._is_chosen

    @property
    def heads(self) -> tuple[Head, ...]:
        """Several heads shown combined; empty when only one is chosen."""
        return self._heads

    def chosen_of(self, side: str) -> tuple[Head, tuple[Head, ...]]:
        """The chosen head of a side, and several of it that are shown combined, empty for the one alone."""
        here = side == self._side or not self._side
        return (self._head, self._heads) if here else self._left.get(side, ((0, 0), ()))

    @property
    def looked_at(self) -> bool:
        """Whether attention shows who looks at the position, rather than what it looks at."""
        return self._looked_at

    @property
    def offset(self) -> int | None:
        """Where keys are from their queries in the diagonal that is looked at, −1 for the token before; None
        while no diagonal is."""
        return self._offset

    def choose_offset(self, offset: int | None) -> None:
        """Look at a diagonal of the chosen head; at none with None."""
        if offset != self._offset:
            self._offset = offset
            self.offset_changed.emit()

    def choose_side(self, side: str) -> None:
        """Look at another attention of a Transformer that translates, and at the heads chosen of it."""
        if self._side in ("", side):
            return
        (head, heads), self._left[self._side] = self.chosen_of(side), (self._head, self._heads)
        self._side = side
        self.side_changed.emit()
        self.choose_heads(heads)
        self.choose_head(*head)

    def begin_with(self, side: str, head: Head) -> None:
        """Look at a head, and begin with it where another model is about to be read."""
        reading = self._reading.current
        if reading is not None and _has_head(reading.trace, side, head):
            self.choose_side(side)
            self.choose_head(*head)
        self._wanted = side, head

    def choose_head_of(self, address: str, head: int) -> None:
        """Look at the head to which an address belongs, on its side of a Transformer that translates."""
        at = Address.parse(address)
        self.choose_side(CROSS if CROSS in at.parts else at.side)
        self.choose_head(at.layer or 0, head)

    def choose_head(self, layer: int, head: int) -> None:
        """Look at another attention head."""
        self._turn_to((layer, head), is_chosen=True)

    def suggest_head(self, layer: int, head: int) -> None:
        """Look at an attention head that nobody has chosen."""
        self._turn_to((layer, head), is_chosen=False)

    def _turn_to(self, head: Head, *, is_chosen: bool) -> None:
        self._wanted = None
        if (head, is_chosen) != (self._head, self._is_chosen):
            self._head, self._is_chosen = head, is_chosen
            self.head_changed.emit()

    def choose_heads(self, heads: Iterable[Head]) -> None:
        """Look at several heads together; none for the one alone."""
        chosen = tuple(sorted(set(heads)))
        if chosen != self._heads:
            self._heads = chosen
            self.heads_changed.emit()

    def _begin(self) -> None:
        """Of a model that has just been opened, look at a head that it has; of a translator at the one that
        aligns best."""
        reading = self._reading.current
        if reading is None or reading.model == self._begun:
            self._wanted = self._wanted if self._reading.is_late else None
            return
        from lmviz.inspection.alignment import sharpest_head
        from lmviz.inspection.attention import attention_layers, attention_place

        source = reading.trace.sequences.get(SOURCE)
        self._begun = reading.model if source is None or len(source) > 1 else None  # without END it is empty
        self._side = CROSS if attention_layers(reading.trace, ENCODER) else ""
        self._left.clear()
        layers, (layer, head) = attention_layers(reading.trace), self._head
        wanted = self._wanted
        sharpest = None if layers else sharpest_head(reading.trace)
        if layer < len(layers):
            is_missing = head >= reading.trace[f"{attention_place(layers[layer])}/weights"].shape[0]
        else:
            is_missing = bool(layers)
        if sharpest is not None or is_missing:
            self.choose_heads(())
            self.suggest_head(*(sharpest or (0, 0)))
        if wanted is not None and _has_head(reading.trace, *wanted):
            self.choose_side(wanted[0])
            self.choose_head(*wanted[1])
        self._wanted = wanted if self._begun is None else None
        self.model_begun.emit()
        self.side_changed.emit()

    def show_looked_at(self, looked_at: bool) -> None:
        """Turn attention around: from what a position looks at to who looks at it."""
        if looked_at != self._looked_at:
            self._looked_at = looked_at
            self.looked_at_changed.emit()


def _has_head(trace: Trace, side: str, head: Head) -> bool:
    """Whether a trace has a head of a side, which is empty where there is one kind of attention."""
    from lmviz.inspection.attention import attention_place

    layer, number = head
    place = f"{DECODER}/layers/{layer}/{CROSS}" if side == CROSS else attention_place(layer, side)
    weights = f"{place}/weights"
    return weights in trace.arrays and number < trace[weights].shape[0]
