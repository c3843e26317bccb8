"""Training the shown model further: what of it would be learned, and what that takes here."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from lmviz.app.session.part import Part
from lmviz.app.workers.job import Job
from lmviz.base.errors import LmvizError
from lmviz.models.tuning_configuration import ALL, LAST, LORA, TuningConfiguration
from lmviz.training.options import TrainingOptions
from lmviz.training.tuning import RATES, tuning_options

if TYPE_CHECKING:
    from lmviz.app.session.library import Library
    from lmviz.app.session.open_text import OpenText
    from lmviz.app.session.opened_model import OpenedModel
    from lmviz.app.session.training import Training
    from lmviz.app.session.work import Work
    from lmviz.runs.tuning_plan import TuningPlan
    from lmviz.text.corpus import Corpus

ENDINGS = (".jsonl", ".json", ".csv", ".tsv")
"""Of files that may hold chats."""

WAYS = (ALL, LAST, LORA)
"""What can be learned, that which moves most numbers first."""

NO_MODEL = "Open a model to train it further: a checkpoint, or a run of a Transformer."
NO_TEXT = "There is no text to learn from: open one under Corpus."


@dataclass(frozen=True)
class Measured:
    """What is known: the corpus as the model reads it, the plan of each way, and why one cannot be.

    `largest` are rows and columns of the largest matrix that gets two thin ones beside it.
    """

    corpus: Corpus
    plans: Mapping[str, TuningPlan]
    refused: Mapping[str, str]
    largest: tuple[int, int] = (0, 0)


class CurrentTuning(Part):
    """What would be learned of the model that is shown, from the text that is open."""

    changed = Signal()

    def __init__(
        self,
        work: Work,
        text: OpenText,
        library: Library,
        training: Training,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._work, self._text, self._library, self._training = work, text, library, training
        self._chosen = TuningConfiguration()
        self._options: TrainingOptions | None = None
        self._second: Path | None = None
        self._measured: tuple[object, Measured] | None = None
        self._measuring: tuple[object, Job] | None = None
        self._failure: tuple[object, str] | None = None
        for signal in (library.model_changed, text.changed):
            signal.connect(self._forget_other)
            signal.connect(self.begun)
            signal.connect(self.changed)
        training.stop_before(self._let_go)

    @property
    def model(self) -> OpenedModel | None:
        """The model that would be trained further: the one that is shown."""
        return self._library.model

    @property
    def obstacle(self) -> str:
        """Why it cannot be, as a sentence; "" where it can."""
        model, corpus = self._library.model, self._text.corpus
        if model is None:
            return NO_MODEL
        if model.family != "transformer" or model.task.name != "next-token":
            return (
                f"{model.name} is no Transformer that predicts the next token: only such are trained further."
            )
        if corpus is None:
            return NO_TEXT
        if corpus.task != "next-token" and not _may_hold_answers(corpus):
            return (
                f"The open text is one of {corpus.task}: open a plain text, for labels are not learned "
                "by an opened model yet."
            )
        return self._failure[1] if self._failure is not None and self._failure[0] == self._key else ""

    @property
    def chosen(self) -> TuningConfiguration:
        """What of it would be learned."""
        return self._chosen

    @property
    def options(self) -> TrainingOptions:
        """How it would be trained."""
        if self._options is None:
            self._options = self._beginning()
        return self._options

    def choose(self, adapter: str) -> None:
        """Learn something else of it, at the rate with which that begins, unless another was chosen."""
        before = self._chosen.adapter
        if adapter == before:
            return
        options = self.options
        if options.learning_rate == RATES[before]:
            options = replace(options, learning_rate=RATES[adapter])
        self._chosen, self._options = replace(self._chosen, adapter=adapter), options
        self.begun.emit()
        self.changed.emit()

    def change(
        self, chosen: TuningConfiguration | None = None, options: TrainingOptions | None = None
    ) -> None:
        """Plan the same with some settings changed."""
        self._chosen, self._options = chosen or self._chosen, options or self.options
        self.begun.emit()
        self.changed.emit()

    @property
    def second(self) -> Path | None:
        """The file of a text whose loss is measured as well, as it may be forgotten; None for none."""
        return self._second

    def choose_second(self, path: Path | None) -> None:
        """Measure the loss on this text as well, or on none."""
        self._second = path
        self.changed.emit()

    @property
    def known(self) -> Measured | None:
        """What is known of the ways as they are planned now; None until it is."""
        return self._measured[1] if self._measured is not None and self._measured[0] == self._key else None

    def _forget_other(self) -> None:
        """What was measured of another model or text has that whole text, in the model's tokens."""
        if self.known is None:
            self._measured = None

    @property
    def is_measuring(self) -> bool:
        """Whether it is being found out."""
        return self._measuring is not None

    @property
    def _key(self) -> object:
        """What decides what the ways take."""
        model, corpus, options = self._library.model, self._text.corpus, self.options
        if model is None or corpus is None:
            return None
        chosen = self._chosen
        ways = (chosen.rank, chosen.matrices, chosen.last_layers, chosen.recompute)
        deciding = (options.batch, options.length, options.optimizer, options.batch_parts, options.device)
        return model.identity, self._start_step, corpus.fingerprint, ways, deciding

    @property
    def _start_step(self) -> int | None:
        """The step of the model that is shown, where it has several."""
        model = self._library.model
        return None if model is None or len(model.snapshots) < 2 else self._library.step

    def measure(self) -> None:
        """Find out what each way takes, if that is not known or on its way: two steps of each are made."""
        key, model, corpus = self._key, self._library.model, self._text.corpus
        if self.obstacle or model is None or corpus is None or self._training.is_taken:
            return
        if self.known is not None or not self._work.is_ready:
            return
        if self._measuring is not None:
            if self._measuring[0] == key:
                return
            self._measuring[1].cancel()
        place, step, chosen, options = model.folder, self._start_step, self._chosen, self.options

        def take(found: Measured) -> None:
            self._measured = key, found
            self.changed.emit()

        def finish(found: Measured) -> None:
            self._measuring = None
            take(found)

        def fail(job: Job, fault: BaseException) -> None:
            self._measuring = None
            said = str(fault) if isinstance(fault, LmvizError) else "What it takes could not be measured."
            self._failure = key, said
            self.changed.emit()

        job = Job("tuning plan", lambda report: _measured(place, step, chosen, options, corpus), self)
        job.partial_changed.connect(take)
        job.succeeded.connect(finish)
        job.failed.connect(fail)
        self._measuring = key, job
        job.start()

    def start(self) -> None:
        """Begin to train the model further, as planned."""
        model, corpus, obstacle = self._library.model, self._text.corpus, self.obstacle
        if obstacle or model is None or corpus is None:
            self.failed.emit(obstacle)
            return
        known = self.known
        read = corpus if known is None else known.corpus
        self._training.start_tuning(model, self._start_step, self._chosen, self.options, read, self._second)

    def _let_go(self) -> Callable[[], None]:
        """Measure no more; what is returned waits until the thread that did is through with its step."""
        measuring, self._measuring = self._measuring, None
        if measuring is None:
            return lambda: None
        measuring[1].cancel()
        return measuring[1].join

    def close(self) -> None:
        """Measure no more; `Work.close` waits for the thread."""
        if self._measuring is not None:
            job, self._measuring = self._measuring[1], None
            job.cancel()
            self._work.wait_when_closing(job)

    def _beginning(self) -> TrainingOptions:
        model = self._library.model
        return tuning_options(self._chosen.adapter, None if model is None else model.context)


def _may_hold_answers(corpus: Corpus) -> bool:
    """Whether a file may hold questions with answers, which the model's own template makes texts of."""
    return len(corpus.sources) == 1 and corpus.sources[0].lower().endswith(ENDINGS)


def _measured(
    place: Path, step: int | None, chosen: TuningConfiguration, options: TrainingOptions, corpus: Corpus
) -> Generator[object, None, Measured]:
    """In a thread of its own: what each way takes, those that are counted first."""
    from lmviz.api.training import corpus_for
    from lmviz.runs.tuned import adapted_matrices
    from lmviz.runs.tuning_plan import check_fits, measured_plan
    from lmviz.runs.tuning_start import begin_with

    starts = {way: begin_with(place, replace(chosen, adapter=way), step) for way in WAYS}
    yield 0.0
    read = corpus_for(starts[LORA].base, corpus)
    context = starts[LORA].base.context
    if context is not None and options.length > context:
        options = replace(options, length=context)
    shapes = [shape[1:] for shape in adapted_matrices(starts[LORA].tuning, starts[LORA].base)]
    largest = max(shapes, key=prod, default=(0, 0))
    plans: dict[str, TuningPlan] = {}
    refused: dict[str, str] = {}
    for way, start in starts.items():
        try:
            plans[way] = check_fits(start, options)
        except LmvizError as reason:
            refused[way] = str(reason)
    yield Measured(read, dict(plans), dict(refused), largest)
    for way in (chosen.adapter, *(way for way in WAYS if way != chosen.adapter)):
        if way not in refused:
            plans[way] = yield from _floats(measured_plan(starts[way], options, read))
            yield Measured(read, dict(plans), dict(refused), largest)
    return Measured(read, plans, refused, largest)


def _floats(steps: Generator[None, None, TuningPlan]) -> Generator[float, None, TuningPlan]:
    """The same, with values that a job can be left at."""
    while True:
        try:
            next(steps)
        except StopIteration as last:
            plan: TuningPlan = last.value
            return plan
        yield 0.0
