"""The numbered parts of a widget, such as bars or chips, and which of them is under the pointer."""

from __future__ import annotations

from abc import abstractmethod

from PySide6.QtCore import QPointF


class Parts:
    """Beside a widget among the bases of a class: parts that count from 0; −1 is none of them.

    Subclasses say with `index_at` what lies at a place, and with `pointed_at` and `clicked_on` what
    follows.
    """

    _hovered = -1

    @property
    def hovered(self) -> int:
        """The part under the pointer."""
        return self._hovered

    @abstractmethod
    def index_at(self, place: QPointF) -> int:
        """The part at a place; −1 where there is none."""

    def pointed_at(self, index: int) -> None:
        """Another part is under the pointer; −1 when it left."""

    def clicked_on(self, index: int) -> None:
        """A part was clicked."""

    def set_hovered(self, index: int) -> None:
        """Show a part as pointed at elsewhere, without a signal; −1 for none."""
        self._hovered = index

    def hover(self, index: int) -> None:
        """Point at a part, as the pointer or the keyboard does."""
        if index != self._hovered:
            self.set_hovered(index)
            self.pointed_at(index)
