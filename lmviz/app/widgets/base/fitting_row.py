"""Controls in a row, of which some give way where there is no room for all, and are then behind a sign."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QPoint, QSize, Qt, Signal
from PySide6.QtGui import QCloseEvent, QKeyEvent
from PySide6.QtWidgets import QComboBox, QFrame, QGridLayout, QHBoxLayout, QWidget

from lmviz.app.widgets.base.building import stand_first
from lmviz.app.widgets.base.muted_line import MutedLine
from lmviz.app.widgets.base.plain import Label, caption, paragraph
from lmviz.app.widgets.base.quiet_button import QuietButton

SHOW = "show the controls for which there is no room"
BELOW = 4  # pixels between the sign and what it opens


class FittingRow(QWidget):
    """`FittingRow(controls, giving_way)`: those that give way are put away, the first one first.

    How many controls are put away stands in their place, on a button that shows them below. Of a note that
    is put away nothing is said. A card tells how much room there is: `fit(room)`, in pixels. `hold` has it
    hold other controls from now on, which it shows.
    """

    def __init__(self, controls: Sequence[QWidget], giving_way: Sequence[QWidget]) -> None:
        super().__init__()
        self._controls, self._giving_way = tuple(controls), tuple(giving_way)
        self._kept: QWidget | None = None
        self._room: int | None = None
        self._shown_below: _PutAway | None = None
        self._put_away = list[QWidget]()
        self._sign = QuietButton("controls_put_away", f"+{len(giving_way)}", "link", SHOW)
        self._sign.clicked.connect(self._show_below)
        self._sign.hide()
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        for control in (*controls, self._sign):
            self._row.addWidget(control)

    def hold(self, controls: Sequence[QWidget], giving_way: Sequence[QWidget]) -> None:
        """Hold these from now on; those that it held and holds no more are for the caller to hide."""
        if (self._controls, self._giving_way) == (tuple(controls), tuple(giving_way)):
            return
        if self._shown_below is not None:
            self._shown_below.close()
        known, self._controls, self._giving_way = self._controls, tuple(controls), tuple(giving_way)
        stand_first(self._row, controls)
        for control in controls:
            if control.isHidden() and (control not in known or control not in giving_way):
                control.show()
        self.updateGeometry()
        if self._room is not None:
            self.fit(self._room)

    def minimumSizeHint(self) -> QSize:
        """What those need that stay, and the sign for all others."""
        staying = [control for control in self._controls if control not in self._giving_way]
        widths = [least_width(control) for control in staying if not control.isHidden()]
        if self._away(()):
            widths.append(self._sign.sizeHint().width())
        return QSize(self._together(widths), super().minimumSizeHint().height())

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
        self._room = room
        if self._shown_below is not None:
            return  # once that is closed
        kept = [control for control in self._giving_way if control is self._kept]
        shown = [control for control in self._giving_way if control not in kept] + kept
        while len(shown) > len(kept) and self._width_of(shown) > room:
            shown.pop(0)
        self._say_what_is_away(shown)
        changed = [control for control in self._giving_way if control.isHidden() == (control in shown)]
        for control in changed:
            control.setVisible(control in shown)
        if changed:
            self.updateGeometry()

    def keep(self, control: QWidget) -> None:
        """Put this one away no more: somebody has to find it."""
        self._kept = control
        if self._room is not None:
            self.fit(self._room)

    def _away(self, shown: Sequence[QWidget]) -> list[QWidget]:
        """The controls that are put away while some are shown."""
        return [
            control
            for control in self._giving_way
            if control not in shown and not isinstance(control, MutedLine)
        ]

    def _say_what_is_away(self, shown: Sequence[QWidget]) -> None:
        away = self._away(shown)
        if away == self._put_away:  # with every change of the layout this is asked
            return
        self._put_away = away
        if away:
            self._sign.setText(f"+{len(away)}")
            said = f"There is no room for: {', '.join(map(_name, away))}."
            self._sign.setAccessibleDescription(said)
            self._sign.setToolTip(paragraph(f"{said} A click shows them below."))
        self._sign.setVisible(bool(away))

    def _show_below(self) -> None:
        """Show what is put away, to be used there until it is closed."""
        away = [control for control in self._away(()) if control.isHidden()]
        by_key = self._sign.hasFocus()  # a click leaves the keys where they are
        self._shown_below = _PutAway(away, self)
        self._shown_below.closed.connect(self._take_back)
        self._shown_below.open_below(self._sign)
        if by_key:
            self._shown_below.focusNextChild()

    def _take_back(self) -> None:
        """What was shown below stands in the row again, and is put away."""
        closed, self._shown_below = self._shown_below, None
        for place, control in enumerate(self._controls):
            if control in self._giving_way and control.parentWidget() is not self:
                self._row.insertWidget(place, control)
                control.hide()
        if closed is not None:
            closed.deleteLater()
        if self._room is not None:
            self.fit(self._room)

    def _width_of(self, giving_way: Sequence[QWidget]) -> int:
        """The width of some that give way together with all that stay, and with the sign for the others."""
        counted = [
            control
            for control in self._controls
            if control in giving_way or (control not in self._giving_way and not control.isHidden())
        ]
        if self._away(giving_way):
            counted.append(self._sign)
        return self._together(
            [max(control.sizeHint().width(), control.minimumWidth()) for control in counted]
        )

    def _together(self, widths: Sequence[int]) -> int:
        """The width of controls side by side."""
        return sum(widths) + self._row.spacing() * max(0, len(widths) - 1)

    def event(self, event: QEvent) -> bool:
        taken = super().event(event)
        if event.type() == QEvent.Type.LayoutRequest and self._room is not None:
            self.fit(self._room)
        return taken


def least_width(widget: QWidget) -> int:
    """The pixels without which a widget cannot be read: what it needs, and no less than it was given."""
    return max(widget.minimumWidth(), widget.minimumSizeHint().width())


class _PutAway(QFrame):
    """Controls below each other, below the sign for them. Escape or a click elsewhere closes it."""

    closed = Signal()

    def __init__(self, controls: Sequence[QWidget], parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setObjectName("put_away_popup")
        grid = QGridLayout(self)
        for line, control in enumerate(controls):
            if isinstance(control, QComboBox):  # which says its choice, and not of what
                grid.addWidget(Label(caption(control.accessibleName()), role="muted"), line, 0)
            grid.addWidget(control, line, 1)
            control.show()

    def open_below(self, sign: QWidget) -> None:
        """Open with the right edges in one line."""
        self.adjustSize()
        self.move(sign.mapToGlobal(QPoint(sign.width() - self.width(), sign.height() + BELOW)))
        self.show()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.close()
        else:
            super().keyPressEvent(event)

    def closeEvent(self, event: QCloseEvent) -> None:
        super().closeEvent(event)
        self.closed.emit()


def _name(control: QWidget) -> str:
    return control.accessibleName() or str(control.property("text") or "")
