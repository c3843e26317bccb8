"""Controls in a row, of which some give way where there is no room for all."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QSize
from PySide6.QtWidgets import QHBoxLayout, QWidget


class FittingRow(QWidget):
    """`FittingRow(controls, giving_way)`: those that give way are put away, the first one first.

    A card tells it how much room there is: `fit(room)`, in pixels.
    """

    def __init__(self, controls: Sequence[QWidget], giving_way: Sequence[QWidget]) -> None:
        super().__init__()
        self._controls, self._giving_way = tuple(controls), tuple(giving_way)
        self._room: int | None = None
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        for control in controls:
            row.addWidget(control)

    def minimumSizeHint(self) -> QSize:
        """What those need that stay."""
        staying = [control for control in self._controls if control not in self._giving_way]
        width = sum(control.minimumSizeHint().width() for control in staying if not control.isHidden())
        return QSize(width, super().minimumSizeHint().height())

    @property
    def full_width(self) -> int:
        """What all of them would need, in pixels."""
        return self._width_of(self._giving_way)

    @property
    def next_width(self) -> int:
        """What they would need if the first that gives way were put away, in pixels."""
        return self._width_of(self._giving_way[1:])

    def fit(self, room: int) -> None:
        """Put away what does not fit, and bring back what does."""
        self._room, shown = room, list(self._giving_way)
        while shown and self._width_of(shown) > room:
            shown.pop(0)
        changed = [control for control in self._giving_way if control.isHidden() == (control in shown)]
        for control in changed:
            control.setVisible(control in shown)
        if changed:
            self.updateGeometry()

    def _width_of(self, giving_way: Sequence[QWidget]) -> int:
        """The width of some that give way together with all that stay."""
        counted = [
            control
            for control in self._controls
            if control in giving_way or (control not in self._giving_way and not control.isHidden())
        ]
        layout = self.layout()
        gap = layout.spacing() if layout is not None else 0
        return sum(control.sizeHint().width() for control in counted) + gap * max(0, len(counted) - 1)

    def event(self, event: QEvent) -> bool:
        taken = super().event(event)
        if event.type() == QEvent.Type.LayoutRequest and self._room is not None:
            self.fit(self._room)
        return taken
