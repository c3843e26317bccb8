"""What can be done with one lane: let it rest, stop or hide it, give it another learning rate."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from lmviz.app.session.race_lane import RaceLane
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import STRETCH, column, named, picker, row
from lmviz.app.widgets.base.plain import Label
from lmviz.app.widgets.base.quiet_button import QuietButton
from lmviz.base.errors import LmvizError
from lmviz.training.controls import checked_rate

ONE, ALL = "this lane", "all lanes"
GONE = ("waiting", "failed")  # of which nothing is trained
TRAINED = ("running", "paused")
NO_LANE = "Choose a lane in the table."
SCHEDULED, OWN = "as scheduled", "each its own"


class SteeringForm(QWidget):
    """`SteeringForm(session)`: `show_race()` brings it up to date. It acts on the chosen lane.

    Signal: `refused(str)`, why what was typed is no learning rate; "" once it no longer stands there.
    """

    refused = Signal(str)

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._race = session.race
        self._name = Label(name="chosen_lane", role="title")
        self._pause = QuietButton("lane_pause_button", "Pause")
        self._stop = QuietButton("lane_stop_button", "Stop")
        self._hide = QuietButton("lane_hide_button", "Hide")
        self._rate = named(QLineEdit(), "race_rate_edit", "learning rate from now on")
        self._whose = picker("race_rate_picker", "whose learning rate", (ONE, ALL))
        self._about = Label(name="lane_about", role="muted", wraps=True)
        self._pause.clicked.connect(self._let_rest)
        self._stop.clicked.connect(self._end)
        self._hide.clicked.connect(self._toggle_hidden)
        self._rate_of: str | None = None  # the lane whose rate stands in the field
        self._refusal = ""
        self._rate.editingFinished.connect(self._finish_rate)
        self._whose.activated.connect(self._change_rate)
        actions = row(self._name, STRETCH, self._pause, self._stop, self._hide, gap=6)
        rate = row(Label("learning rate from now on", role="muted"), (self._rate, 1), self._whose, gap=6)
        column(actions, rate, self._about, STRETCH, on=self, gap=6)

    def show_race(self) -> None:
        """Offer what the chosen lane can do now, and say why it ended, or what of a fork began anew."""
        lane = self._race.chosen
        self._name.setText(NO_LANE if lane is None else lane.label)
        for button in (self._pause, self._stop, self._hide):
            button.setVisible(lane is not None)
        self._show_rate(lane)
        self._about.setText("" if lane is None else " ".join(filter(None, (lane.sentence, *lane.begun_anew))))
        if lane is None:
            return
        rests = lane.phase == "paused" and not self._race.is_paused
        self._pause.setText("Go on" if rests else "Pause")
        self._pause.setEnabled(lane.phase == "running" or rests)
        self._stop.setText("Remove" if lane.phase in GONE else "Stop")
        self._stop.setEnabled(lane.is_active or lane.phase in GONE)
        self._hide.setText("Show" if lane.name in self._race.hidden else "Hide")

    def _show_rate(self, lane: RaceLane | None) -> None:
        """The rate of those that it would be given to, unless another one is being typed for them."""
        of, steered = None if lane is None else lane.name, self._steered(lane)
        self._rate.setEnabled(bool(steered))
        self._whose.setEnabled(self._race.is_active)
        if steered and of == self._rate_of and self._rate.isModified():
            return
        rates = {each.rate for each in steered}
        [rate] = rates if len(rates) == 1 else [None]
        self._rate_of = of
        self._rate.setText("" if rate is None else f"{rate:.10g}")
        self._rate.setPlaceholderText(OWN if len(rates) > 1 else SCHEDULED)
        self._refuse("")

    def _steered(self, lane: RaceLane | None) -> list[RaceLane]:
        """The lanes that are given the rate."""
        of_all, name = self._whose.currentText() == ALL, None if lane is None else lane.name
        trained = [each for each in self._race.lanes if each.phase in TRAINED]
        return [each for each in trained if of_all or each.name == name]

    def _let_rest(self) -> None:
        lane = self._race.chosen
        if lane is not None:
            (self._race.go_on if lane.phase == "paused" else self._race.pause)(lane.name)

    def _end(self) -> None:
        lane = self._race.chosen
        if lane is not None:
            (self._race.remove if lane.phase in GONE else self._race.stop)(lane.name)

    def _toggle_hidden(self) -> None:
        lane = self._race.chosen
        if lane is not None:
            self._race.hide(self._race.hidden ^ {lane.name})

    def _refuse(self, sentence: str) -> None:
        if sentence != self._refusal:
            self._refusal = sentence
            self.refused.emit(sentence)

    def _finish_rate(self) -> None:
        if not self._whose.hasFocus():  # who is given it is being chosen
            self._change_rate()

    def _change_rate(self) -> None:
        """Train on with what was typed; an empty field gives the schedule back."""
        lane, typed = self._race.chosen, self._rate.text().strip().replace(",", ".")
        if self._rate.isModified() and lane is not None and lane.name == self._rate_of:
            try:
                rate = checked_rate(typed) if typed else None
            except LmvizError as sentence:
                self._refuse(str(sentence))
                return
            self._rate.setModified(False)
            self._race.set_learning_rate(rate, "" if self._whose.currentText() == ALL else lane.name)
        self._show_rate(self._race.chosen)
