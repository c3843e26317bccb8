"""Controls in a row, of which some give way where there is no room for all."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QSize
from PySide6.QtWidgets import QHBoxLayout, QWidget

from lmviz.app.widgets.base.plain import Label, paragraph


class FittingRow(QWidget):
    """`FittingRow(controls, giving_way)`: those that give way are put away, the first one first.

    How many are put away stands in their place, if there is room for that; the pointer brings their names.
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
        self._more = Label(name="controls_put_away", role="muted")
        self._more.hide()
        row.addWidget(self._more)

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
        while shown and self._width_of(shown) + self._room_to_say(shown) > room:
            shown.pop(0)
        self._say_what_is_away(shown, room)
        changed = [control for control in self._giving_way if control.isHidden() == (control in shown)]
        for control in changed:
            control.setVisible(control in shown)
        if changed:
            self.updateGeometry()

    def _away(self, shown: Sequence[QWidget]) -> list[QWidget]:
        return [control for control in self._giving_way if control not in shown]

    def _room_to_say(self, shown: Sequence[QWidget]) -> int:
        """What it takes to say how many are put away."""
        away = self._away(shown)
        if not away:
            return 0
        self._more.setText(f"+{len(away)} …")
        layout = self.layout()
        return self._more.sizeHint().width() + (layout.spacing() if layout is not None else 0)

    def _say_what_is_away(self, shown: Sequence[QWidget], room: int) -> None:
        needed = self._room_to_say(shown)
        names = [control.accessibleName() or control.property("text") or "" for control in self._away(shown)]
        self._more.setToolTip(paragraph(f"Make the panel wider for: {', '.join(filter(None, names))}."))
        is_said = 0 < needed <= room - self._width_of(shown)
        if is_said == self._more.isHidden():
            self._more.setVisible(is_said)
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
