"""The kinds of positions side by side: a small Transformer of each, trained in turn on the open text."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from lmviz.app.session.part import Part
from lmviz.position_trial import TrialOptions

if TYPE_CHECKING:
    from lmviz.app.session.open_text import OpenText
    from lmviz.app.session.scaling_experiment import ScalingExperiment
    from lmviz.app.session.training import Training
    from lmviz.app.session.work import Work
    from lmviz.app.workers.job import Job
    from lmviz.position_trial import Trial
    from lmviz.text.corpus import Corpus


class PositionTrial(Part):
    """Runs one trial at a time. A training or an experiment that begins stops it; what was found stays."""

    changed = Signal()
    ended = Signal()
    """No more models are trained, for whatever reason."""

    def __init__(
        self,
        work: Work,
        text: OpenText,
        training: Training,
        experiment: ScalingExperiment,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._work, self._text, self._training, self._experiment = work, text, training, experiment
        self._options = TrialOptions()
        self._tried: Trial = ()
        self._subject = ""
        self._job: Job | None = None
        training.stop_before(self._give_way)
        experiment.changed.connect(self._give_way_to_experiment)

    @property
    def options(self) -> TrialOptions:
        """Which models the next trial trains."""
        return self._options

    @property
    def tried(self) -> Trial:
        """The kinds of the last trial, or of the one under way."""
        return self._tried

    @property
    def subject(self) -> str:
        """The name of the text that they were trained on."""
        return self._subject

    @property
    def is_running(self) -> bool:
        """Whether models are being trained."""
        return self._job is not None

    @property
    def obstacle(self) -> str:
        """Why none can be begun now; "" when one can."""
        corpus = self._text.corpus
        if self._training.state.is_active or self._experiment.is_running:
            return "Models are being trained: begin when they are done."
        if corpus is None:
            return "Open a text under Corpus: the models are trained on it."
        if corpus.task != "next-token":
            return "This text has labels or pairs: open a plain text under Corpus."
        return "" if self._work.is_ready else "torch is being loaded."

    def set_options(self, options: TrialOptions) -> None:
        """Train other models next time."""
        if options != self._options:
            self._options = options
            self.changed.emit()

    def start(self) -> None:
        """Train a model of each kind, one after the other."""
        corpus, options = self._text.corpus, self._options
        if self._job is not None:
            return
        if self.obstacle or corpus is None:
            self.failed.emit(self.obstacle)
            return
        self._tried, self._subject = (), corpus.name
        self._job = self._work.start_job(
            "Trying kinds of positions",
            lambda report: _trial(options, corpus),
            self._take,
            self.failed.emit,
            self._take,
        )
        self._job.ended.connect(self._end)
        self.changed.emit()

    def stop(self) -> None:
        """Stop after the step under way."""
        if self._job is not None:
            self._job.cancel()

    def _give_way(self) -> Callable[[], None]:
        """A training begins, which draws from the same random numbers: stop, and let it wait until then."""
        job = self._job
        if job is None:
            return lambda: None
        job.cancel()
        return job.join

    def _give_way_to_experiment(self) -> None:
        if self._experiment.is_running:
            self.stop()

    def _take(self, tried: Trial) -> None:
        self._tried = tried
        self.changed.emit()

    def _end(self, job: Job) -> None:
        if self._job is job:
            self._job = None
            self.ended.emit()


def _trial(options: TrialOptions, corpus: Corpus) -> Generator[float | Trial, None, Trial]:
    from lmviz.app.workers.threads import compute_with
    from lmviz.position_trial import try_positions

    compute_with(None)
    return try_positions(options, corpus)
