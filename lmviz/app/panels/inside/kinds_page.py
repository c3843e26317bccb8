"""The kinds of positions side by side: losses while a model of each is trained, and how they end."""

from __future__ import annotations

import numpy as np
from PySide6.QtWidgets import QPushButton, QWidget

from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import column, named, row
from lmviz.app.widgets.base.figures import number
from lmviz.app.widgets.base.plain import Label
from lmviz.app.widgets.controls.configuration_form import ConfigurationForm
from lmviz.app.widgets.kit.axes import LOSS
from lmviz.app.widgets.plots.line_plot import LinePlot
from lmviz.inspection.recipes.text import settings_of, turns_recipe
from lmviz.looks.curve import PlotCurve
from lmviz.scaling.position_trial import KINDS, try_positions

NOTHING = (
    "A small Transformer of each kind is trained in turn on the open text. They have the same size, see the "
    "same batches and differ only in their positions."
)
ONE_SEED = "One seed on one text: small differences mean nothing."


class KindsPage(QWidget):
    """A form, a button that begins and stops, a curve for each kind, and their losses at the end."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        trial = session.position_trial
        self._form = named(ConfigurationForm(trial.options), "position_trial_form")
        self._run = named(QPushButton(), "position_trial_button", role="primary")
        self._plot = named(LinePlot(possible=LOSS, of_trainings=True), "position_trial_plot")
        self._said = Label(name="position_trial_said", wraps=True)
        head = row((self._form, 1), self._run)
        column(head, (self._plot, 1), self._said, on=self)
        self._form.configuration_changed.connect(trial.set_options)
        self._run.clicked.connect(trial.toggle)

    def exported_arrays(self) -> dict[str, np.ndarray]:
        """The losses of each kind, (measurement, 2): step and nats a token."""
        tried = self._session.position_trial.trained
        return {each.name: np.stack([each.steps, each.losses], axis=1) for each in tried if each.losses}

    def recipe(self) -> str:
        """The same trial from Python."""
        corpus, options = self._session.text.corpus, self._session.position_trial.options
        if corpus is None:
            return ""
        said = ("trained.name", "trained.steps[-1]", "trained.losses[-1]")
        return turns_recipe(corpus.sources, settings_of(corpus), try_positions, options, *said)

    def draw(self) -> None:
        """Draw how far the trial has come."""
        trial = self._session.position_trial
        self._run.setText("Stop" if trial.is_running else "Train one of each kind")
        self._run.setEnabled(trial.is_running or not trial.obstacle)
        self._form.set_editable(() if trial.is_running else None)
        colors = {kind: place for place, kind in enumerate(KINDS)}
        drawn = {each.name: each for each in trial.trained if each.losses}
        self._plot.set_curves(
            [
                PlotCurve(kind, each.steps, each.losses, colors[kind], dashed=kind == "none")
                for kind, each in drawn.items()
            ]
        )
        self._plot.set_end(trial.options.steps)
        self._said.setText(self._sentence())

    def _sentence(self) -> str:
        trial = self._session.position_trial
        done = sorted((each for each in trial.trained if each.is_done), key=lambda each: each.losses[-1])
        if not done:
            waiting = "" if trial.is_running else trial.obstacle
            return waiting or NOTHING
        losses = " · ".join(f"{each.name} {number(each.losses[-1])}" for each in done)
        return f"Validation loss on {trial.subject}, nats a token: {losses}. {ONE_SEED}"
