"""What can be changed while a model trains, large and in one place."""

from __future__ import annotations

from PySide6.QtWidgets import QPushButton, QWidget

from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import STRETCH, column, named, row
from lmviz.app.widgets.base.link_button import LinkButton
from lmviz.app.widgets.base.plain import Label
from lmviz.app.widgets.base.steady import DoubleSpinBox
from lmviz.decoding.options import SamplingOptions

PAUSE, RESUME = "Pause", "Go on"
ALL, FEWER = "all settings", "only what can be changed now"


class Steering(QWidget):
    """`Steering(session)`: pause, and the temperature of the sample; `all_settings` unfolds the plan below.

    The learning rate is that of the form below, which is all of it that is left while a model trains.
    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._pause = named(QPushButton(PAUSE), "steering_pause_button", "pause the training, or go on")
        self._pause.clicked.connect(self._toggle)
        self._temperature = named(DoubleSpinBox(), "steering_temperature", "temperature of the sample")
        self._temperature.setRange(0.0, 10.0)
        self._temperature.setSingleStep(0.1)
        self._temperature.setToolTip(
            "How evenly the words of the sample are drawn; the training stays the same."
        )
        self._temperature.valueChanged.connect(
            lambda value: session.writing.set_sampling(temperature=round(value, 2))
        )
        self.all_settings = LinkButton(
            "all_settings_button", ALL, "show all settings of the training, or only those to be changed now"
        )
        self.all_settings.setCheckable(True)
        self.all_settings.toggled.connect(lambda on: self.all_settings.setText(FEWER if on else ALL))
        column(
            row(self._pause, STRETCH, self.all_settings),
            row(Label("Temperature"), STRETCH, self._temperature),
            on=self,
            gap=8,
            margins=(0, 0, 6, 0),
        )
        session.writing.sampling_changed.connect(self.show_state)
        self.show_state()

    def show_state(self) -> None:
        """Show what is in force."""
        phase = self._session.training.state.phase
        self._pause.setText(RESUME if phase == "paused" else PAUSE)
        self._pause.setEnabled(phase in ("running", "paused"))
        sampling: SamplingOptions = self._session.writing.sampling
        blocked = self._temperature.blockSignals(True)
        self._temperature.setValue(sampling.temperature)
        self._temperature.blockSignals(blocked)

    def _toggle(self) -> None:
        training = self._session.training
        training.resume() if training.state.phase == "paused" else training.pause()
