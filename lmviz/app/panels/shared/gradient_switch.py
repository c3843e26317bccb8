"""The switch from values to gradients, and the choice of what they are gradients of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QPushButton, QWidget

from lmviz.app.panels.shared.choices import set_choices
from lmviz.app.panels.shared.offered_numbers import number_in_words, offered_numbers
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import named, picker, row
from lmviz.app.widgets.base.plain import paragraph

if TYPE_CHECKING:
    from lmviz.inspection.scalar import Of

LENGTH = 6  # characters of what is chosen


class GradientSwitch(QWidget):
    """`GradientSwitch(session)`: a button that is pressed while gradients are shown, and then a choice.

    The choice offers the last loss, all losses, the likeliest answer by probability and logit, and the pinned
    cell. It is `choice`, to be laid out below, with room for its words: so the button stays where it is.
    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._offers: list[Of] = []
        self._switch = named(QPushButton("gradient"), "gradient_switch", role="link")
        self._switch.setCheckable(True)
        self._switch.setToolTip("Show gradients in the place of values, or values again (G).")
        self.choice = picker("gradient_of_picker", "of which number gradients are taken", least=LENGTH)
        self.choice.setToolTip("The number that gradients are taken of.")
        self.setAccessibleName("gradient")
        row(self._switch, on=self)
        self._switch.clicked.connect(lambda checked: session.gradients.show(checked))
        self.choice.activated.connect(lambda place: session.gradients.choose(self._offers[place]))
        for changed in (
            session.gradients.shown_changed,
            session.reading.changed,
            session.focus.cell_changed,
            session.focus.position_changed,
        ):
            changed.connect(self._update)
        self._update()

    def _update(self) -> None:
        gradients, reading = self._session.gradients, self._session.reading.current
        self._switch.setChecked(gradients.is_shown)
        self.choice.setVisible(gradients.is_shown)
        if not gradients.is_shown or reading is None:
            return
        offers = offered_numbers(reading, self._session.reading.position, self._session.focus.cell)
        of = gradients.of_reading(reading)
        if of not in offers:
            offers[of] = number_in_words(of, reading)
        self._offers = list(offers)
        set_choices(self.choice, dict(enumerate(offers.values())), self._offers.index(of))
        self.choice.setToolTip(
            paragraph(f"Gradients are taken of this number: {offers[of]}. Click for another.")
        )
