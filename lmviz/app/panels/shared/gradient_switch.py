"""The switch from values to gradients, and the choice of what they are gradients of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QPushButton, QWidget

from lmviz.app.look.theme import current_theme, theme_switch
from lmviz.app.session.gradients import LAST_LOSS
from lmviz.app.widgets.base.canvas import metrics
from lmviz.models.tap import GRADIENT
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.app.session.reading import Reading
    from lmviz.app.session.session import Session
    from lmviz.inspection.scalar import Of

AROUND = 14  # pixels at scale 1 around the button's word
LENGTH = 6  # characters of what is chosen


class GradientSwitch(QWidget):
    """`GradientSwitch(session)`: a button that is pressed while gradients are shown, and then a choice.

    The choice offers the last loss, all losses, the likeliest answer, and the pinned cell.
    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._offers: list[Of] = []
        self._switch = QPushButton("gradient")
        self._switch.setObjectName("gradient_switch")
        self._switch.setCheckable(True)
        self._switch.setProperty("role", "link")
        self._switch.setToolTip("Show gradients in the place of values, or values again (G).")
        self._choice = QComboBox()
        self._choice.setObjectName("gradient_of_picker")
        self._choice.setAccessibleName("of which number gradients are taken")
        self._choice.setToolTip("The number that gradients are taken of.")
        self._choice.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self._choice.setMinimumContentsLength(LENGTH)
        self._measure()
        theme_switch().theme_changed.connect(self._measure)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self._switch)
        row.addWidget(self._choice)
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

    def _measure(self) -> None:
        """Make room for the bold letters that a pressed button has."""
        width = metrics(bold=True).horizontalAdvance(self._switch.text())
        self._switch.setMinimumWidth(round(width + AROUND * current_theme().scale))

    def _update(self) -> None:
        gradients, reading = self._session.gradients, self._session.reading.current
        self._switch.setChecked(gradients.is_shown)
        self._choice.setVisible(gradients.is_shown)
        if not gradients.is_shown or reading is None:
            return
        offers = _offers(reading, self._session.reading.position, self._session.focus.cell)
        of = gradients.of_reading(reading)
        if of not in offers:
            offers[of] = _in_words(of, reading)
        self._offers = list(offers)
        with QSignalBlocker(self._choice):
            self._choice.clear()
            self._choice.addItems(list(offers.values()))
            self._choice.setCurrentIndex(self._offers.index(of))


def _offers(reading: Reading, position: int, cell: tuple[str, tuple[int, ...]] | None) -> dict[Of, str]:
    """What can be chosen, in words."""
    from lmviz.inspection.strongest import likeliest_answer

    trace = reading.trace
    offers: dict[Of, str] = {}
    if "token" in trace["probabilities"].axes:
        offers = {LAST_LOSS: f"loss of “{visible(trace.tokens[-1])}”", "loss": "all losses"}
    likeliest = likeliest_answer(trace, position)
    offers[likeliest] = _in_words(likeliest, reading)
    if cell is not None:
        pinned: Of = (cell[0].removeprefix(GRADIENT), tuple(cell[1]))
        offers.setdefault(pinned, "the pinned cell")
    return offers


def _in_words(of: Of, reading: Reading) -> str:
    """A number briefly: "loss of “key”", "p(“the”)"."""
    if isinstance(of, str):
        kind, _, place = of.partition("@")
        tokens = reading.trace.tokens
        is_loss = kind == "loss" and place.isdigit() and int(place) < len(tokens)
        return f"loss of “{visible(tokens[int(place)])}”" if is_loss else of
    address, index = of
    axes = reading.axes(address) or ()
    if axes[-1:] == ("token",):
        word = visible(reading.model.tokenizer.token(index[-1]))
        return f"p(“{word}”)" if address == "probabilities" else f"{address} of “{word}”"
    return f"{address.rpartition('/')[2]}[{', '.join(map(str, index))}]"
