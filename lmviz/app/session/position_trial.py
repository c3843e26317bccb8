"""The kinds of positions side by side: a small Transformer of each, trained in turn on the open text."""

from __future__ import annotations

from PySide6.QtCore import QObject

from lmviz.app.session.open_text import OpenText
from lmviz.app.session.scaling_experiment import ScalingExperiment
from lmviz.app.session.trained_in_turn import TrainedInTurn
from lmviz.app.session.training import Training
from lmviz.app.session.work import Work
from lmviz.runs.racing import PlannedLane
from lmviz.scaling.position_trial import TrialOptions, lanes_of


class PositionTrial(TrainedInTurn[TrialOptions]):
    """Runs one trial at a time. A scaling experiment that begins stops it too."""

    job_name = "Trying kinds of positions"

    def __init__(
        self,
        work: Work,
        text: OpenText,
        training: Training,
        experiment: ScalingExperiment,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(work, text, training, parent)
        self._experiment = experiment
        experiment.changed.connect(self._give_way_to_experiment)

    def _first_options(self) -> TrialOptions:
        return TrialOptions()

    def _lanes(self, options: TrialOptions) -> tuple[PlannedLane, ...]:
        return lanes_of(options)

    def _is_busy(self) -> bool:
        return super()._is_busy() or self._experiment.is_running

    def _give_way_to_experiment(self) -> None:
        if self._experiment.is_running:
            self.stop()
