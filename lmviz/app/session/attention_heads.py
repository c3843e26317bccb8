"""Which attention heads are shown, and whether by what a word looks at or by what looks at it."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QObject, Signal

from lmviz.app.session.part import Part

Head = tuple[int, int]
"""An attention head: its layer and its number in it, counted from 0."""


class AttentionHeads(Part):
    """The head that is shown large, the several that are shown together, and the direction of attention."""

    head_changed = Signal()
    heads_changed = Signal()
    looked_at_changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._head: Head = (0, 0)
        self._heads: tuple[Head, ...] = ()
        self._looked_at = False

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

    def show_looked_at(self, looked_at: bool) -> None:
        """Turn attention around: from what a position looks at to who looks at it."""
        if looked_at != self._looked_at:
            self._looked_at = looked_at
            self.looked_at_changed.emit()
