"""The model in the calculator of Scale, the pace of this machine, one's own runs, and a length of text."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from lmviz.app.session.part import Part
from lmviz.app.workers.threads import compute_with
from lmviz.base.errors import LmvizError
from lmviz.scaling.compute import HOUR, training_compute
from lmviz.scaling.machine import measure_pace
from lmviz.scaling.own_runs import own_runs
from lmviz.scaling.planned_model import PlannedModel, what_fits
from lmviz.scaling.public_models import GPT3_FAMILY, PUBLIC_MODELS, find_public
from lmviz.training.options import LARGEST_STEPS

if TYPE_CHECKING:
    from lmviz.app.session.library import Library
    from lmviz.app.session.training import Training
    from lmviz.app.session.training_plan import TrainingPlan
    from lmviz.app.session.work import Work
    from lmviz.app.workers.job import Job
    from lmviz.scaling.machine import MachinePace
    from lmviz.scaling.own_runs import OwnRun

FIRST = "GPT-3"
FIRST_LENGTH, LONGEST_GRAPH = 7, 24
OWN_CONTEXT, OWN_VOCABULARY = 128, 2000
"""Of the model that fits an hour, where what stands in the calculator is larger than any text here needs."""


class Scale(Part):
    """What a model would cost, and where it stands among others."""

    planned_changed = Signal()
    pace_changed = Signal()
    measuring_changed = Signal()
    """A measurement of the pace has begun, or has ended in whatever way."""
    runs_changed = Signal()
    length_changed = Signal()

    def __init__(
        self,
        work: Work,
        library: Library,
        training: Training,
        plan: TrainingPlan,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._work, self._library, self._training, self._plan = work, library, training, plan
        self._planned, self._name = find_public(FIRST).planned, FIRST
        self._pace: MachinePace | None = None
        self._measuring: Job | None = None
        self._is_given_up = False  # by a person, or because it failed: not measured again unless asked for
        self._runs: tuple[OwnRun, ...] = ()
        self.of_pace, self.of_runs = Part(self), Part(self)
        """What fails of the pace and of the search for runs; `failed` is about a change of the model."""
        self._length = FIRST_LENGTH
        training.stop_before(self._give_way)

    @property
    def planned(self) -> PlannedModel:
        """The model in the calculator."""
        return self._planned

    @property
    def name(self) -> str:
        """The name of the public model, or of the run, that stands in the calculator; empty for one's own."""
        return self._name

    @property
    def published(self) -> int | None:
        """The parameters that were published of the model of this name; None of one's own."""
        known = [(_called(row.name), row.parameters) for row in GPT3_FAMILY]
        return dict([*known, *((model.name, model.parameters) for model in PUBLIC_MODELS)]).get(self._name)

    @property
    def compute(self) -> float:
        """The operations of its training, 6PN, with the published number of parameters where there is one."""
        return training_compute(self.published or self._planned.parameters, self._planned.tokens)

    @property
    def names(self) -> tuple[str, ...]:
        """What `load` takes: the public models, the others of GPT-3's family, and one's own Transformers."""
        own = (run.name for run in self._runs if run.planned is not None)
        known = (*(model.name for model in PUBLIC_MODELS), *(_called(row.name) for row in GPT3_FAMILY[:-1]))
        return tuple(dict.fromkeys((*known, *own)))

    @property
    def pace(self) -> MachinePace | None:
        """How fast this machine trains; None until that was measured."""
        return self._pace

    @property
    def is_measuring(self) -> bool:
        """Whether that is being measured."""
        return self._measuring is not None

    @property
    def runs(self) -> tuple[OwnRun, ...]:
        """One's own runs, the newest first, as far as they were looked for."""
        return self._runs

    @property
    def length(self) -> int:
        """The tokens T over which computation graphs are drawn."""
        return self._length

    def load(self, name: str) -> None:
        """Put one of `names` into the calculator."""
        public = {model.name: model for model in PUBLIC_MODELS}
        family = {_called(row.name): row for row in GPT3_FAMILY}
        own = {run.name: run.planned for run in self._runs if run.planned is not None}
        if name in public:
            self._choose_planned(public[name].planned, name)
        elif name in family:
            self._choose_planned(family[name].planned, name)
        elif name in own:
            self._choose_planned(own[name], name)

    def change(self, *, vocabulary: int | None = None, tokens: int | None = None, **settings: Any) -> None:
        """Change sizes of the model in the calculator; `failed` says why where they do not fit together.

        Heads that do not divide the width get a width of their own, rounded down.
        """
        planned = self._planned
        self.begun.emit()
        if "width" in settings or "heads" in settings:
            width = settings.get("width", planned.configuration.width)
            heads = settings.get("heads", planned.configuration.heads)
            settings["head_channels"] = max(1, width // heads) if width % heads else 0
        try:
            changed = PlannedModel(
                replace(planned.configuration, **settings),
                planned.vocabulary if vocabulary is None else vocabulary,
                planned.tokens if tokens is None else tokens,
            )
        except LmvizError as sentence:
            self.failed.emit(str(sentence))
            return
        self._choose_planned(changed, self._name if changed == planned else "")

    def fit_into(self, seconds: float = HOUR) -> None:
        """Put the model into the calculator that is trained best here in a time."""
        if self._pace is not None:
            planned = self._planned
            context = min(planned.configuration.context, OWN_CONTEXT)
            vocabulary = min(planned.vocabulary, OWN_VOCABULARY)
            self._choose_planned(what_fits(seconds, self._pace.operations, vocabulary, context), "")

    def plan_in_train(self) -> None:
        """Put the calculator's model into Train's form, with as many steps as its tokens take."""
        planned, options = self._planned, self._plan.current.training_options
        tokens = options.batch * (options.length or planned.configuration.context)
        steps = min(max(1, planned.tokens // tokens), LARGEST_STEPS)
        length = min(options.length, planned.configuration.context)
        self._plan.offer("transformer", planned.configuration, replace(options, steps=steps, length=length))

    def choose_length(self, length: int) -> None:
        """Draw the graphs for another number of tokens."""
        length = max(1, min(length, LONGEST_GRAPH))
        if length != self._length:
            self._length = length
            self.length_changed.emit()

    def want_pace(self) -> None:
        """Have the pace measured, unless it is known or was given up. Whoever shows it calls this."""
        if self._pace is None and not self._is_given_up and self._may_measure():
            self.measure_pace()

    def measure_pace(self) -> None:
        """Measure how fast this machine trains, unless a training would disturb that."""
        if self._measuring is not None:
            return
        self.begun.emit()
        if not self._may_measure():
            self.failed.emit("A model is being trained: measure when it has ended.")
            return
        self._is_given_up = False
        self.of_pace.begin_anew()
        self._measuring = self._work.start_job(
            "Measuring this machine", lambda report: _measure(), self._take_pace, self._fail_pace
        )
        self._measuring.ended.connect(self._end_measuring)
        self.measuring_changed.emit()

    def look_for_runs(self) -> None:
        """Look again which runs there are."""
        folder = self._training.runs_folder
        opened = [model.folder for model in self._library.models]

        def find() -> tuple[OwnRun, ...]:
            return own_runs([folder], opened)

        self._work.ask("own runs", find, self._take_runs, self.of_runs)

    def _may_measure(self) -> bool:
        return self._work.is_ready and not self._training.is_taken

    def _take_runs(self, runs: tuple[OwnRun, ...]) -> None:
        self._runs = runs
        self.runs_changed.emit()

    def _take_pace(self, pace: MachinePace) -> None:
        self._pace = pace
        self.pace_changed.emit()

    def _fail_pace(self, sentence: str) -> None:
        self._is_given_up = True
        self.of_pace.say_failed(sentence)

    def _end_measuring(self, job: Job) -> None:
        if job is self._measuring:
            self._is_given_up |= job.is_cancelled
            self._measuring = None
            self.measuring_changed.emit()

    def _give_way(self) -> Callable[[], None]:
        """A training begins, which would disturb this: measure when it has ended."""
        job, self._measuring = self._measuring, None
        if job is None:
            return lambda: None
        job.cancel()
        self.measuring_changed.emit()
        return job.join

    def _choose_planned(self, planned: PlannedModel, name: str) -> None:
        if (planned, name) != (self._planned, self._name):
            self._planned, self._name = planned, name
            self.begun.emit()
            self.planned_changed.emit()


def _called(name: str) -> str:
    return f"GPT-3 {name}"


def _measure() -> Generator[float, None, MachinePace]:
    compute_with(None)
    return measure_pace()
