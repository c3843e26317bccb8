"""A scaling experiment on the open text: several widths trained in turn."""

from __future__ import annotations

from lmviz.app.session.trained_in_turn import TrainedInTurn
from lmviz.runs.racing import PlannedLane
from lmviz.scaling.experiment import ExperimentOptions, fitted, lanes_of
from lmviz.scaling.power_law import PowerLaw


class ScalingExperiment(TrainedInTurn[ExperimentOptions]):
    """Runs one experiment at a time."""

    job_name = "Scaling experiment"

    @property
    def law(self) -> PowerLaw | None:
        """The line through those that are through; None while fewer than two are."""
        return fitted(self.trained)

    def _first_options(self) -> ExperimentOptions:
        return ExperimentOptions()

    def _lanes(self, options: ExperimentOptions) -> tuple[PlannedLane, ...]:
        return lanes_of(options)
