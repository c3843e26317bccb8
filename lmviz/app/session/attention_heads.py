"""Which attention heads are shown, and whether by what a word looks at or by what looks at it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from lmviz.app.session.part import Part

if TYPE_CHECKING:
    from lmviz.app.session.current_reading import CurrentReading
    from lmviz.app.session.opened_model import OpenedModel

Head = tuple[int, int]
"""An attention head: its layer and its number in it, counted from 0."""


class AttentionHeads(Part):
    """The head that is shown large, the several that are shown together, and the direction of attention."""

    head_changed = Signal()
    heads_changed = Signal()
    looked_at_changed = Signal()

    def __init__(self, reading: CurrentReading, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._reading = reading
        self._begun: OpenedModel | None = None  # the model for which a first head was looked for
        self._head: Head = (0, 0)
        self._heads: tuple[Head, ...] = ()
        self._looked_at = False
        reading.changed.connect(self._begin)

    @property
    def head(self) -> Head:
        """The chosen attention head."""
        return self._head

    @property
    def heads(self) -> tuple[Head, ...]:
        """Several heads shown combined; empty when only one is chosen."""
        return self._heads

    @property
    def looked_at(self) -> bool:
        """Whether attention shows who looks at the position, rather than what it looks at."""
        return self._looked_at

    def choose_head(self, layer: int, head: int) -> None:
        """Look at another attention head."""
        if (layer, head) != self._head:
            self._head = (layer, head)
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
            return
        from lmviz.inspection.alignment import sharpest_head
        from lmviz.inspection.attention import attention_layers, attention_weights

        self._begun = reading.model
        layers, (layer, head) = attention_layers(reading.trace), self._head
        sharpest = None if layers else sharpest_head(reading.trace)
        is_missing = layers and (layer >= len(layers) or head >= len(attention_weights(reading.trace, layer)))
        if sharpest is not None or is_missing:
            self.choose_heads(())
            self.choose_head(*(sharpest or (0, 0)))

    def show_looked_at(self, looked_at: bool) -> None:
        """Turn attention around: from what a position looks at to who looks at it."""
        if looked_at != self._looked_at:
            self._looked_at = looked_at
            self.looked_at_changed.emit()
