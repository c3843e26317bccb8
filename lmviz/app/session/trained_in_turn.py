"""Several small models trained in turn on the open text, without a run of their own."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from PySide6.QtCore import QObject, Signal

from lmviz.app.session.open_text import OpenText
from lmviz.app.session.part import Part
from lmviz.app.session.training import Training
from lmviz.app.session.work import Work
from lmviz.app.workers.job import Job
from lmviz.app.workers.threads import compute_with
from lmviz.base.configuration import Configuration
from lmviz.runs.racing import PlannedLane
from lmviz.scaling.measured_race import MeasuredRace, measure_race

if TYPE_CHECKING:
    from lmviz.text.corpus import Corpus

Options = TypeVar("Options", bound="Configuration")


class TrainedInTurn(Part, Generic[Options]):
    """Races small models, one race at a time. A training that begins stops it; what was found by then stays.

    `job_name` is what a person reads of it, `options` are those it begins with, and `lanes_of` gives the
    models that these stand for. Another such race, which it `gives_way_to`, stops it too.
    """

    changed = Signal()
    ended = Signal()
    """No more models are trained, for whatever reason."""

    def __init__(
        self,
        options: Options,
        lanes_of: Callable[[Options], tuple[PlannedLane, ...]],
        work: Work,
        text: OpenText,
        training: Training,
        parent: QObject | None = None,
        *,
        job_name: str,
        gives_way_to: TrainedInTurn[Any] | None = None,
    ) -> None:
        super().__init__(parent)
        self.job_name, self._options, self._lanes_of = job_name, options, lanes_of
        self._work, self._text, self._training = work, text, training
        self._before = gives_way_to
        self._trained: MeasuredRace = ()
        self._subject = ""
        self._job: Job | None = None
        if gives_way_to is not None:
            gives_way_to.changed.connect(self._give_way_to_other)
        training.stop_before(self._give_way)

    @property
    def options(self) -> Options:
        """Which models the next race trains."""
        return self._options

    @property
    def trained(self) -> MeasuredRace:
        """The models of the last race, or of the one under way."""
        return self._trained

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
        if self._training.is_taken or self._is_other_running:
            return "Another model is being trained: begin when that has ended."
        if corpus is None:
            return "Open a text under Corpus: the models are trained on it."
        if corpus.task != "next-token":
            return "This text has labels or pairs: open a plain text under Corpus."
        return "" if self._work.is_ready else "torch is being loaded."

    def set_options(self, options: Options) -> None:
        """Train other models next time."""
        if options != self._options:
            self._options = options
            self.begun.emit()
            self.changed.emit()

    def start(self) -> None:
        """Train the models, a step each in turn."""
        corpus, lanes = self._text.corpus, self._lanes_of(self._options)
        if self._job is not None:
            return
        if self.obstacle or corpus is None:
            self.failed.emit(self.obstacle)
            return
        self._trained, self._subject = (), corpus.name
        self._job = self._work.start_job(
            self.job_name,
            lambda report: _train(lanes, corpus),
            self._keep,
            self,
            self._keep,
        )
        self._job.ended.connect(self._end)
        self.changed.emit()

    def stop(self) -> None:
        """Stop after the step under way."""
        if self._job is not None:
            self._job.cancel()

    def toggle(self) -> None:
        """Stop where models are being trained, and start otherwise."""
        if self.is_running:
            self.stop()
        else:
            self.start()

    @property
    def _is_other_running(self) -> bool:
        return self._before is not None and self._before.is_running

    def _give_way_to_other(self) -> None:
        if self._is_other_running:
            self.stop()

    def _give_way(self) -> Callable[[], None]:
        """A training begins, which draws from the same random numbers: stop, and let it wait until then."""
        job = self._job
        if job is None:
            return lambda: None
        job.cancel()
        return job.join

    def _keep(self, trained: MeasuredRace) -> None:
        self._trained = trained
        self.changed.emit()

    def _end(self, job: Job) -> None:
        if self._job is job:
            self._job = None
            self.ended.emit()


def _train(
    lanes: tuple[PlannedLane, ...], corpus: Corpus
) -> Generator[float | MeasuredRace, None, MeasuredRace]:
    """Runs in a thread of its own, with all cores."""
    compute_with(None)
    return measure_race(lanes, corpus)
