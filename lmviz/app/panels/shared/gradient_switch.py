"""The switch from values to gradients, and the choice of what they are gradients of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker
from PySide6.QtWidgets import QPushButton, QWidget

from lmviz.app.look.theme import current_theme, theme_switch
from lmviz.app.panels.shared.offered_numbers import number_in_words, offered_numbers
from lmviz.app.widgets.base.building import named, picker, row
from lmviz.app.widgets.base.canvas import metrics
from lmviz.app.widgets.base.plain import paragraph

if TYPE_CHECKING:
    from lmviz.app.session.session import Session
    from lmviz.inspection.scalar import Of

AROUND = 14  # pixels at scale 1 around the button's word
LENGTH = 6  # characters of what is chosen
ANY_WIDTH = (1 << 24) - 1  # Qt's own largest, which it does not name in Python
COMPACT = 28  # pixels at scale 1 of a choice that shows its arrow alone


class GradientSwitch(QWidget):
    """`GradientSwitch(session)`: a button that is pressed while gradients are shown, and then a choice.

    The choice offers the last loss, all losses, the likeliest answer by probability and logit, and the pinned
    cell.
    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._offers: list[Of] = []
        self._is_compact = False
        self._switch = named(QPushButton("gradient"), "gradient_switch", role="link")
        self._switch.setCheckable(True)
        self._switch.setToolTip("Show gradients in the place of values, or values again (G).")
        self._choice = picker("gradient_of_picker", "of which number gradients are taken", least=LENGTH)
        self._choice.setToolTip("The number that gradients are taken of.")
        self._measure()
        theme_switch().theme_changed.connect(self._measure)
        row(self._choice, self._switch, on=self)  # so that the switch stays where it was clicked
        self._switch.clicked.connect(lambda checked: session.gradients.show(checked))
        self._choice.activated.connect(lambda place: session.gradients.choose(self._offers[place]))
        for changed in (
            session.gradients.shown_changed,
            session.reading.changed,
            session.focus.cell_changed,
            session.focus.position_changed,
        ):
            changed.connect(self._update)
        self._update()

    def set_compact(self, compact: bool) -> None:
        """Show of the choice no more than its arrow, where there is little room."""
        self._is_compact = compact
        self._measure()

    def _measure(self) -> None:
        """Make room for the bold letters that a pressed button has, and for the choice."""
        if self._is_compact:
            self._choice.setFixedWidth(round(COMPACT * current_theme().scale))
        else:
            self._choice.setMinimumWidth(0)
            self._choice.setMaximumWidth(ANY_WIDTH)
        width = metrics(bold=True).horizontalAdvance(self._switch.text())
        self._switch.setMinimumWidth(round(width + AROUND * current_theme().scale))

    def _update(self) -> None:
        gradients, reading = self._session.gradients, self._session.reading.current
        self._switch.setChecked(gradients.is_shown)
        self._choice.setVisible(gradients.is_shown)
        if not gradients.is_shown or reading is None:
            return
        offers = offered_numbers(reading, self._session.reading.position, self._session.focus.cell)
        of = gradients.of_reading(reading)
        if of not in offers:
            offers[of] = number_in_words(of, reading)
        self._offers = list(offers)
        with QSignalBlocker(self._choice):
            self._choice.clear()
            self._choice.addItems(list(offers.values()))
            self._choice.setCurrentIndex(self._offers.index(of))
        self._choice.setToolTip(
            paragraph(f"Gradients are taken of this number: {offers[of]}. Click for another.")
        )
