"""A scaling experiment on the open text: several widths trained in turn."""

from __future__ import annotations

from collections.abc import Generator

from lmviz.app.session.trained_in_turn import TrainedInTurn
from lmviz.scaling.experiment import Experiment, ExperimentOptions, Trained, fitted, run_experiment
from lmviz.scaling.power_law import PowerLaw
from lmviz.text.corpus import Corpus


class ScalingExperiment(TrainedInTurn[ExperimentOptions, Trained]):
    """Runs one experiment at a time."""

    job_name = "Scaling experiment"

    @property
    def law(self) -> PowerLaw | None:
        """The line through those that are through; None while fewer than two are."""
        return fitted(self.trained)

    def _first_options(self) -> ExperimentOptions:
        return ExperimentOptions()

    def _train(
        self, options: ExperimentOptions, corpus: Corpus
    ) -> Generator[float | Experiment, None, Experiment]:
        return run_experiment(options, corpus)
