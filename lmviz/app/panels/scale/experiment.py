"""A scaling experiment: several widths trained in turn on the open text, loss over compute, and a line."""

from __future__ import annotations

from functools import partial

import numpy as np
from PySide6.QtWidgets import QPushButton, QSizePolicy, QWidget

from lmviz.app.panels.panel import Panel
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import column, named, row, sheet
from lmviz.app.widgets.base.empty_text import EmptyText
from lmviz.app.widgets.base.figures import number, plain
from lmviz.app.widgets.base.plain import Label
from lmviz.app.widgets.base.scrolling import scrolling
from lmviz.app.widgets.controls.configuration_form import ConfigurationForm
from lmviz.app.widgets.kit.axes import LOSS
from lmviz.app.widgets.plots.line_plot import LinePlot
from lmviz.inspection.recipes.text import settings_of, turns_recipe
from lmviz.looks.curve import PlotCurve
from lmviz.looks.names import Names
from lmviz.scaling.compute import amount_in_words
from lmviz.scaling.experiment import fitted, run_experiment

NOTHING = (
    "Transformers of several widths are trained in turn on the open text, all on the same batches. Each is a "
    "curve; a straight line is fitted through their ends."
)


class ExperimentPanel(Panel):
    """A form, a button that begins and stops, the curves, and what the line says."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        experiment = session.experiment
        self._form = named(ConfigurationForm(experiment.options), "experiment_form")
        self._run = named(QPushButton("Train them in turn"), "experiment_button", role="primary")
        self._said = Label(name="experiment_said", wraps=True)
        written = (_operations, partial(number, digits=2))
        self._plot = LinePlot(
            "FLOP", LOSS, logarithmic=(True, True), words=written, y_name="validation loss, nats per token"
        )
        self._plot.setObjectName("experiment_plot")
        self._empty = EmptyText(NOTHING)
        self._card = self.add_card("Loss over compute", "a power law is a straight line", self._lay_out())
        self._form.configuration_changed.connect(experiment.set_options)
        self._run.clicked.connect(experiment.toggle)
        self.show_failures(experiment)
        self.follow(experiment.changed, experiment.ended, session.text.changed, session.work.ready_changed)
        session.training.changed.connect(self.refresh_now_and_then)

    def _lay_out(self) -> QWidget:
        form = scrolling(self._form)
        form.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Expanding)
        left = column((form, 1), self._run)
        right = column((self._empty, 1), (self._plot, 1), self._said)
        return sheet(row(left, (right, 1), gap=20))

    def exported_arrays(self) -> dict[str, np.ndarray]:
        rows = [
            (int(model.name), model.parameters, compute, loss)
            for model in self.session.experiment.trained
            for compute, loss in zip(model.compute, model.losses, strict=True)
        ]
        return {"loss over compute": np.array(rows, dtype=np.float64)} if rows else {}

    def exported_names(self) -> Names:
        return Names((), ("width", "parameters", "operations", "validation loss"))

    def recipe(self) -> str:
        """The same experiment from Python."""
        corpus, options = self.session.text.corpus, self.session.experiment.options
        if corpus is None:
            return ""
        said = ("trained.name", "trained.compute[-1]", "trained.losses[-1]")
        return turns_recipe(corpus.sources, settings_of(corpus), run_experiment, options, *said)

    def refresh(self) -> None:
        experiment = self.session.experiment
        self._run.setText("Stop" if experiment.is_running else "Train them in turn")
        self._run.setEnabled(experiment.is_running or not experiment.obstacle)
        if self._form.configuration != experiment.options:
            self._form.set_configuration(experiment.options)
        self._form.set_editable(() if experiment.is_running else None)
        drawn = [model for model in experiment.trained if model.steps]
        self._empty.setVisible(not drawn)
        self._plot.setVisible(bool(drawn))
        self._said.setText(self._sentence())
        curves = [
            PlotCurve(f"width {model.name}", model.compute, model.losses, place, dots=True)
            for place, model in enumerate(drawn)
        ]
        law = fitted(experiment.trained)
        if law is not None:
            ends = np.array([drawn[0].compute[-1] / 2, drawn[-1].compute[-1] * 2])
            curves.append(PlotCurve("fit", ends, law(ends), "muted_text", 1.4, dashed=True))
        self._plot.set_curves(curves)

    def _sentence(self) -> str:
        experiment = self.session.experiment
        law = fitted(experiment.trained)
        if law is None:
            widths = ", ".join(map(str, experiment.options.widths))
            waiting = "" if experiment.is_running else experiment.obstacle
            return waiting or f"widths {widths}, {experiment.options.steps:,} updates each"
        done = [model for model in experiment.trained if model.is_done]
        sizes = f"{amount_in_words(done[0].parameters)} to {amount_in_words(done[-1].parameters)} parameters"
        return (
            f"{experiment.subject}, {len(done)} models of {sizes}: loss = {plain(law.factor)} × FLOP^−"
            f"{law.exponent:.3f}; ten times the compute multiplies the loss by {law.tenfold:.3f}. "
            "Least squares in logarithms, after Kaplan et al. (2020)."
        )


def _operations(value: float) -> str:
    return plain(value, 2)
