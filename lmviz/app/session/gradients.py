"""The gradient of the reading, and whether panels show it in the place of values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from lmviz.app.session.part import Part
from lmviz.inspection.strongest import likeliest_answer

if TYPE_CHECKING:
    from lmviz.app.session.comparison import ComparedModel
    from lmviz.app.session.current_reading import CurrentReading
    from lmviz.app.session.reading import Reading
    from lmviz.app.session.work import Work
    from lmviz.inspection.gradient import Gradient
    from lmviz.inspection.scalar import Of
    from lmviz.inspection.views import View
    from lmviz.models.model import Model

LAST_LOSS: Of = "loss@-1"
"""What gradients are taken of until a person chooses: the loss of the last token."""


class Gradients(Part):
    """Takes the gradient of one number with respect to all that the reading shows.

    `changed` follows each new gradient, and `shown_changed` each change of what panels show: the switch,
    and the number that is chosen.
    """

    changed = Signal()
    shown_changed = Signal()
    late_changed = Signal()

    def __init__(self, work: Work, reading: CurrentReading, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._work, self._reading = work, reading
        self._is_shown = False
        self._of: Of = LAST_LOSS
        self._current: Gradient | None = None
        self._factors: Mapping[str, float] = {}
        self._factors_of: tuple[ComparedModel, ...] = ()
        reading.changed.connect(lambda: self.keep_factors({}, ()))
        reading.changed.connect(self._take_anew)

    @property
    def is_shown(self) -> bool:
        """Whether panels show gradients in the place of values."""
        return self._is_shown

    @property
    def of(self) -> Of:
        """What the gradient is taken of; positions may be counted from the end."""
        return self._of

    def of_reading(self, reading: Reading) -> Of:
        """The same for a reading: of a model that predicts labels, the likeliest, until a person chooses."""
        has_losses = "token" in reading.trace["probabilities"].axes
        is_chosen = self._of != LAST_LOSS
        return self._of if has_losses or is_chosen else likeliest_answer(reading.trace, reading.last)

    @property
    def current(self) -> Gradient | None:
        """The gradient of the reading; None while it is not shown, and until it is known."""
        return self._current

    @property
    def is_late(self) -> bool:
        """Whether `current` is not yet what is shown: that of another number, or none."""
        return self._is_shown and self._work.is_busy("gradient")

    def factors_of(self, models: tuple[ComparedModel, ...]) -> Mapping[str, float]:
        """What a step further back multiplies the gradient by, by the name of each of the compared models.

        Empty until it is known of what is read now and of these models.
        """
        return self._factors if models == self._factors_of else {}

    def keep_factors(self, factors: Mapping[str, float], models: tuple[ComparedModel, ...]) -> None:
        """Keep these factors of compared models until something else is read."""
        self._factors, self._factors_of = dict(factors), models

    def show(self, shown: bool) -> None:
        """Show gradients, or values again."""
        if shown != self._is_shown:
            self._is_shown = shown
            self.shown_changed.emit()
            self._take_anew()

    def toggle(self) -> None:
        """Show the other of the two."""
        self.show(not self._is_shown)

    def choose(self, of: Of) -> None:
        """Take gradients of another number, and show them."""
        if of != self._of or not self._is_shown:
            self._of, self._is_shown = of, True
            self._ask()  # until it is answered, the gradient of the number before stays in sight
            self.shown_changed.emit()

    def view(self, view: View) -> View:
        """The gradient of the cells of a view, where gradients are shown and known; else the view itself."""
        from lmviz.inspection.gradient_views import gradient_view

        found = self._current
        return view if found is None or view.address not in found else gradient_view(view, found)

    def _take_anew(self) -> None:
        if self._current is not None:
            self._current = None
            self.changed.emit()
        self._ask()

    def _ask(self) -> None:
        self.begun.emit()
        reading = self._reading.current
        if reading is None or not self._is_shown:
            return
        trace, of = reading.trace, self.of_reading(reading)

        def work(model: Model) -> Gradient:
            from lmviz.inspection.backpropagation import gradient

            text = trace.text or trace.ids
            return gradient(model, text, of, interventions=trace.interventions, **trace.beside)

        self._reading.ask_about(reading, "gradient", work, self._show_gradient, self._fail)
        self.late_changed.emit()

    def _fail(self, sentence: str) -> None:
        self.failed.emit(sentence)
        self.late_changed.emit()  # nothing is awaited any more: panels draw values

    def _show_gradient(self, found: Gradient) -> None:
        if self._is_shown:
            self._current = found
            self.changed.emit()
