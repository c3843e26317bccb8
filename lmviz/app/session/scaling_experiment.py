"""A scaling experiment on the open text: several widths trained in turn, without a run of their own."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from lmviz.app.session.part import Part
from lmviz.scaling.experiment import ExperimentOptions, fitted

if TYPE_CHECKING:
    from lmviz.app.session.open_text import OpenText
    from lmviz.app.session.training import Training
    from lmviz.app.session.work import Work
    from lmviz.app.workers.job import Job
    from lmviz.scaling.experiment import Experiment
    from lmviz.scaling.power_law import PowerLaw
    from lmviz.text.corpus import Corpus


class ScalingExperiment(Part):
    """Runs one experiment at a time. A training that begins stops it; what was found by then stays."""

    changed = Signal()
    ended = Signal()
    """No more models are trained, for whatever reason."""

    def __init__(self, work: Work, text: OpenText, training: Training, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._work, self._text, self._training = work, text, training
        self._options = ExperimentOptions()
        self._trained: Experiment = ()
        self._subject = ""
        self._job: Job | None = None
        training.stop_before(self._give_way)

    @property
    def options(self) -> ExperimentOptions:
        """Which models the next experiment trains."""
        return self._options

    @property
    def trained(self) -> Experiment:
        """The models of the last experiment, or of the one under way."""
        return self._trained

    @property
    def subject(self) -> str:
        """The name of the text that they were trained on."""
        return self._subject

    @property
    def law(self) -> PowerLaw | None:
        """The line through those that are through; None while fewer than two are."""
        return fitted(self._trained)

    @property
    def is_running(self) -> bool:
        """Whether models are being trained."""
        return self._job is not None

    @property
    def obstacle(self) -> str:
        """Why none can be begun now; "" when one can."""
        corpus = self._text.corpus
        if self._training.state.is_active:
            return "A model is being trained: begin when it has ended."
        if corpus is None:
            return "Open a text under Corpus: the models are trained on it."
        if corpus.task != "next-token":
            return "This text has labels or pairs: open a plain text under Corpus."
        return "" if self._work.is_ready else "torch is being loaded."

    def set_options(self, options: ExperimentOptions) -> None:
        """Train other models next time."""
        if options != self._options:
            self._options = options
            self.changed.emit()

    def start(self) -> None:
        """Train the models one after the other."""
        corpus, options = self._text.corpus, self._options
        if self._job is not None:
            return
        if self.obstacle or corpus is None:
            self.failed.emit(self.obstacle)
            return
        self._trained, self._subject = (), corpus.name
        self._job = self._work.start_job(
            "Scaling experiment",
            lambda report: _experiment(options, corpus),
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

    def _take(self, trained: Experiment) -> None:
        self._trained = trained
        self.changed.emit()

    def _end(self, job: Job) -> None:
        if self._job is job:
            self._job = None
            self.ended.emit()


def _experiment(
    options: ExperimentOptions, corpus: Corpus
) -> Generator[float | Experiment, None, Experiment]:
    from lmviz.app.workers.threads import compute_with
    from lmviz.scaling.experiment import run_experiment

    compute_with(None)
    return run_experiment(options, corpus)
