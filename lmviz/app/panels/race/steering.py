"""What can be done with one lane: let it rest, stop or hide it, give it another learning rate."""

from __future__ import annotations

from PySide6.QtWidgets import QLineEdit, QWidget

from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import STRETCH, column, named, picker, row
from lmviz.app.widgets.base.plain import Label
from lmviz.app.widgets.base.quiet_button import QuietButton

ONE, ALL = "this lane", "all lanes"
GONE = ("waiting", "failed")  # of which nothing is trained
NO_LANE = "Choose a lane in the table."


class SteeringForm(QWidget):
    """`SteeringForm(session)`: `show_race()` brings it up to date. It acts on the chosen lane."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._race = session.race
        self._name = Label(name="chosen_lane", role="title")
        self._pause = QuietButton("lane_pause_button", "Pause")
        self._stop = QuietButton("lane_stop_button", "Stop")
        self._hide = QuietButton("lane_hide_button", "Hide")
        self._rate = named(QLineEdit(), "race_rate_edit", "learning rate from now on")
        self._rate.setPlaceholderText("as scheduled")
        self._whose = picker("race_rate_picker", "whose learning rate", (ONE, ALL))
        self._about = Label(name="lane_about", role="muted", wraps=True)
        self._pause.clicked.connect(self._let_rest)
        self._stop.clicked.connect(self._end)
        self._hide.clicked.connect(self._toggle_hidden)
        self._rate.editingFinished.connect(self._change_rate)
        actions = row(self._name, STRETCH, self._pause, self._stop, self._hide, gap=6)
        rate = row(Label("learning rate from now on", role="muted"), (self._rate, 1), self._whose, gap=6)
        column(actions, rate, self._about, STRETCH, on=self, gap=6)

    def show_race(self) -> None:
        """Offer what the chosen lane can do now, and say why it ended, or what of a fork began anew."""
        lane = self._race.chosen
        self._name.setText(NO_LANE if lane is None else lane.label)
        for button in (self._pause, self._stop, self._hide):
            button.setVisible(lane is not None)
        self._rate.setEnabled(self._race.is_active)
        self._whose.setEnabled(self._race.is_active)
        self._about.setText("" if lane is None else " ".join(filter(None, (lane.sentence, *lane.begun_anew))))
        if lane is None:
            return
        rests = lane.phase == "paused" and not self._race.is_paused
        self._pause.setText("Go on" if rests else "Pause")
        self._pause.setEnabled(lane.phase == "running" or rests)
        self._stop.setText("Remove" if lane.phase in GONE else "Stop")
        self._stop.setEnabled(lane.is_active or lane.phase in GONE)
        self._hide.setText("Show" if lane.name in self._race.hidden else "Hide")

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

    def _change_rate(self) -> None:
        """Train on with what is typed; an empty field gives the schedule back."""
        lane, typed = self._race.chosen, self._rate.text().strip().replace(",", ".")
        try:
            rate = float(typed) if typed else None
        except ValueError:
            self._about.setText(f"A learning rate is a number, and not {typed!r}.")
            return
        if self._whose.currentText() == ALL:
            self._race.set_learning_rate(rate)
        elif lane is not None and rate != lane.rate:
            self._race.set_learning_rate(rate, lane.name)
