"""What the Train button would train, and how long that takes here."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from lmviz.app.session.part import Part
from lmviz.app.session.training_state import Plan, in_words
from lmviz.app.workers.job import Job
from lmviz.app.workers.threads import compute_with
from lmviz.families import FAMILIES, obstacle_to
from lmviz.tasks import NEXT_TOKEN
from lmviz.training.options import SENTENCES

if TYPE_CHECKING:
    from lmviz.app.session.open_text import OpenText
    from lmviz.app.session.training_state import Plan
    from lmviz.app.session.work import Work
    from lmviz.models.model_configuration import ModelConfiguration
    from lmviz.text.corpus import Corpus
    from lmviz.training.options import TrainingOptions
    from lmviz.training.progress import Progress

FIRST_FAMILY = "transformer"
FIRST_PRESET = "quick"
SETTLING = 350  # milliseconds without a change before what is planned is tried
LARGEST_STEP = 2 * 10**11  # floating-point operations of a step that would take too long to try
LONG = 60.0  # seconds of a training from which on it is tried whether bfloat16 would be faster


@dataclass(frozen=True)
class Preset:
    """One of the lengths of a training: its steps, the seconds these take here, and the passes over the text.

    How many steps it has follows from how long one takes here: until that was measured they and the passes
    are None. `seconds` are None also where it could not be measured.
    """

    name: str
    steps: int | None
    seconds: float | None
    passes: float | None


class TrainingPlan(Part):
    """A family, its configuration and how it learns, on the open text."""

    changed = Signal()
    timed = Signal()
    """It has been measured how long it will take."""
    offered = Signal()
    """Another perspective has put something in, for a person to look at in Train."""

    def __init__(self, work: Work, text: OpenText, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._work, self._text = work, text
        self._plan: Plan | None = None
        self._task = self.task  # that the plan is for
        self._left: dict[str, tuple[ModelConfiguration, str]] = {}  # of families one turned away from
        self._problem = ""
        self._preset = FIRST_PRESET  # which its steps are those of; "" where a number was chosen
        self._numbered = ""  # the fingerprint of the text for which its preset has become a number
        self._pace = TrainingPace()
        self._measuring: tuple[tuple[object, ...], Job] | None = None  # by what it measures
        self._is_closed = False
        self._measure_soon = QTimer(self, singleShot=True, interval=SETTLING)
        self._measure_soon.timeout.connect(self._measure)
        text.changed.connect(self._follow_task)
        for changed in (text.changed, self.changed, self.timed):
            changed.connect(self._follow_preset)

    @property
    def current(self) -> Plan:
        """What would be trained, and how."""
        if self._plan is None:
            from lmviz.training.options import TrainingOptions

            self._plan = Plan(FIRST_FAMILY, self._beginning(FIRST_FAMILY), TrainingOptions())
        return self._plan

    def set(
        self,
        family: str,
        configuration: ModelConfiguration,
        training_options: TrainingOptions,
        task: str | None = None,
    ) -> None:
        """Plan something else, for a text of that task; None is that of the open one."""
        self._task, self._preset = self.task if task is None else task, ""
        self._take(Plan(family, configuration, training_options))

    def change(
        self,
        configuration: ModelConfiguration | None = None,
        training_options: TrainingOptions | None = None,
    ) -> None:
        """Plan the same with some settings changed.

        Steps are those of a preset until others are chosen. Once it is known how many these are on the open
        text, the number stays, whatever else is changed.
        """
        plan = self.current
        self._task = self.task
        options = training_options or plan.training_options
        if options.steps != plan.training_options.steps:
            self._preset = ""
        self._take(Plan(plan.family, configuration or plan.configuration, options))

    def _take(self, plan: Plan) -> None:
        if plan != self._plan:
            self._plan = plan
            self._problem = ""
            self.changed.emit()

    def choose_family(self, name: str) -> None:
        """Plan another family: as it was left, or as its models of this task begin."""
        plan = self.current
        if name == plan.family:
            return
        self._left[plan.family] = plan.configuration, self._task
        left, task = self._left.get(name, (None, ""))
        configuration = self._beginning(name) if left is None else left.moved(task, self.task)
        self._task = self.task
        self._take(Plan(name, configuration, plan.training_options))

    def offer(
        self, family: str, configuration: ModelConfiguration, training_options: TrainingOptions
    ) -> None:
        """Plan something else, and show it in Train."""
        self.set(family, configuration, training_options)
        self.offered.emit()

    def keep(self) -> object:
        """All that is planned, as a value for `put_back`."""
        return self._plan, self._task, self._preset, dict(self._left)

    def put_back(self, kept: object) -> None:
        """Plan what was planned when `keep` gave this value, as it is for the text that is open now."""
        self._plan, self._task, self._preset, self._left = kept  # type: ignore[misc]  # it comes from there
        self._problem = ""
        self._follow_task()
        self._follow_preset()
        self.changed.emit()

    @property
    def problem(self) -> str:
        """Why what stands in the form cannot be trained on the open text; "" when it can."""
        return obstacle_to(self.current.family, self.task) or self._problem

    def refuse(self, sentence: str) -> None:
        """Say why what stands in the form cannot be trained; "" when it can."""
        self._problem = sentence

    @property
    def in_words(self) -> str:
        """What would be trained on what; the family alone while no text is open."""
        corpus = self._text.corpus
        if corpus is None and self._plan is None:
            return in_words(FIRST_FAMILY, "", "")  # the first paint does without its settings
        text, tokenizer = ("", "") if corpus is None else (corpus.name, corpus.options.tokenizer)
        plan = self.current
        return in_words(plan.family, text, tokenizer, self.task, plan.configuration.reads_for(self.task))

    @property
    def task(self) -> str:
        """What the open text asks of a model; the next token while none is open."""
        return NEXT_TOKEN if self._text.corpus is None else self._text.corpus.task

    @property
    def expected_seconds(self) -> float | None:
        """How long it will take here; None until that was measured."""
        pace = self.seconds_a_step
        return None if pace is None else pace * self.current.training_options.steps

    @property
    def seconds_a_step(self) -> float | None:
        """How long one step takes here; None until that was measured."""
        corpus = self._text.corpus
        return None if corpus is None else self._pace.seconds_a_step(self.current, corpus.fingerprint)

    @property
    def speed_in_bfloat16(self) -> float | None:
        """How many times as fast the same would be in bfloat16; None where that was not measured."""
        corpus, pace, other = self._text.corpus, self.seconds_a_step, self._in_bfloat16
        if corpus is None or pace is None or other is None:
            return None
        changed = self._pace.as_tried(other, corpus.fingerprint)
        tried = self._pace.as_tried(self.current, corpus.fingerprint)
        return None if changed is None or tried is None else tried / changed

    @property
    def _in_bfloat16(self) -> Plan | None:
        """The same in bfloat16, for a plan long enough to ask; None where it is not, or is that already."""
        seconds, options = self.expected_seconds, self.current.training_options
        if seconds is None or seconds < LONG or options.precision == "bfloat16":
            return None
        return replace(self.current, training_options=replace(options, precision="bfloat16"))

    @property
    def is_measuring(self) -> bool:
        """Whether it is being measured how long it will take."""
        return self._measuring is not None or self._measure_soon.isActive()

    @property
    def is_settled(self) -> bool:
        """Whether the number of steps is known: those of a preset follow from how long one takes here."""
        corpus = self._text.corpus
        if not self._preset or corpus is None or not self._is_measurable:
            return True
        is_numbered = self._numbered == corpus.fingerprint
        return is_numbered or self._pace.was_measured(self.current, corpus.fingerprint)

    @property
    def knows_steps(self) -> bool:
        """Whether its number of steps is one to be read: chosen, or that of a preset on the open text."""
        corpus = self._text.corpus
        if not self._preset or FAMILIES[self.current.family].counts:
            return True
        return corpus is not None and self._numbered == corpus.fingerprint

    @property
    def presets(self) -> tuple[Preset, ...]:
        """How long one can train; none where the text is counted once, or while there is none."""
        from lmviz.training.presets import passes

        plan, corpus, lengths = self.current, self._text.corpus, self._lengths()
        if corpus is None or not lengths:
            return ()
        if self._can_be_measured_yet:
            return tuple(Preset(name, None, None, None) for name in lengths)
        pace, tokens = self.seconds_a_step, len(corpus.training)
        examples = None if corpus.training_examples is None else len(corpus.training_examples)
        return tuple(
            Preset(
                name,
                steps,
                None if pace is None else pace * steps,
                passes(plan.configuration, replace(plan.training_options, steps=steps), tokens, examples),
            )
            for name, steps in lengths.items()
        )

    def choose_preset(self, name: str) -> None:
        """Plan as many steps as a preset has here, also once it is known how long they take."""
        self._plan, self._preset, self._numbered = self.current, name, ""
        self._follow_preset()

    def want_time(self) -> None:
        """Have it measured how long it will take, if that is not known. Whoever shows it calls this."""
        if self._can_measure() and not self._measure_soon.isActive():
            self._measure_soon.start()

    def settle(self) -> None:
        """Have it measured at once; `timed` follows, also where nothing could be measured."""
        self._measure_soon.stop()
        self._measure()

    def stop_measuring(self) -> Callable[[], None]:
        """Measure no more. What is returned waits until the thread that did is through with its step."""
        self._measure_soon.stop()
        measuring, self._measuring = self._measuring, None
        if measuring is None:
            return lambda: None
        measuring[1].cancel()
        return measuring[1].join

    def close(self) -> None:
        """Measure no more; `Work.close` waits for the thread."""
        measuring, self._is_closed = self._measuring, True
        self.stop_measuring()
        if measuring is not None:
            self._work.wait_when_closing(measuring[1])

    def begin_timing(self, fingerprint: str) -> None:
        """What is planned is being trained on this text: learn from it how long that takes."""
        self._pace.begin(self.current, fingerprint)

    def note_progress(self, progress: Progress) -> None:
        """The training has come so far."""
        self._pace.note(progress)

    def _beginning(self, family: str) -> ModelConfiguration:
        return FAMILIES[family].configuration.beginning_for(self.task)

    def _follow_task(self) -> None:
        """What was not chosen by a person is what a model of the newly opened text begins with."""
        if self._plan is not None and self._task != self.task:
            plan, options = self._plan, self._plan.training_options
            if options.sampling == "streams" and self.task != NEXT_TOKEN:  # they would cut examples apart
                options = replace(options, sampling=SENTENCES)
            self.change(plan.configuration.moved(self._task, self.task), options)
        self._task = self.task
        first = self._text.first_reading
        if first is not None and self.current.configuration == self._beginning(FIRST_FAMILY):
            self._take(replace(self.current, configuration=first.configuration))

    def _lengths(self) -> dict[str, int]:
        """The steps of each preset; none where the text is counted once, or while there is none."""
        from lmviz.training.presets import steps_by_name

        plan, corpus = self.current, self._text.corpus
        if corpus is None or FAMILIES[plan.family].counts:
            return {}
        return steps_by_name(self._pace.as_tried(plan, corpus.fingerprint))

    def _follow_preset(self) -> None:
        """Give the plan the steps of its preset, once on each text: as soon as it is known how many they are.

        From then on a person may have read the number, and it does not change by itself any more.
        """
        corpus = self._text.corpus
        if self._plan is None or not self._preset or corpus is None or self._numbered == corpus.fingerprint:
            return
        options = self._plan.training_options
        steps = self._lengths().get(self._preset)
        if steps is None or self.problem or self._can_be_measured_yet:
            return
        self._numbered = corpus.fingerprint
        if steps != options.steps:
            self._take(replace(self._plan, training_options=replace(options, steps=steps)))

    @property
    def _is_measurable(self) -> bool:
        """Whether there is something to measure, of which no step takes too long to try."""
        from lmviz.training.cost import cost_on

        plan, corpus = self.current, self._text.corpus
        if corpus is None or self.problem or self._is_closed or FAMILIES[plan.family].counts:
            return False
        cost = cost_on(plan.configuration, plan.training_options, corpus)
        return cost.operations_per_step <= LARGEST_STEP

    @property
    def _can_be_measured_yet(self) -> bool:
        """Whether it is not known yet how long a step takes, and will be once somebody wants to know."""
        corpus = self._text.corpus
        known = corpus is not None and self._pace.was_measured(self.current, corpus.fingerprint)
        return not known and self._is_measurable

    def _can_measure(self) -> bool:
        """Whether it would be something new to measure now."""
        return self._to_measure() is not None

    def _to_measure(self) -> Plan | None:
        """What is planned, then the same in bfloat16: the first that nobody has measured or measures now."""
        corpus = self._text.corpus
        if corpus is None or not self._work.is_ready or not self._is_measurable:
            return None
        for plan in (self.current, self._in_bfloat16):
            if plan is not None and not self._pace.was_measured(plan, corpus.fingerprint):
                key = pace_key(plan, corpus.fingerprint)
                return None if self._measuring is not None and self._measuring[0] == key else plan
        return None

    def _measure(self) -> None:
        corpus, plan = self._text.corpus, self._to_measure()
        if corpus is None or plan is None:
            return
        wait = self.stop_measuring()  # what was planned before is of no interest any more
        job = Job("timing", lambda report: _rehearsed(plan, corpus, wait), self)
        job.succeeded.connect(self._take_time)
        job.failed.connect(self._take_no_time)
        self._measuring = pace_key(plan, corpus.fingerprint), job
        job.start()

    def _take_time(self, seconds: float | None) -> None:
        assert self._measuring is not None, "a job that was cancelled says nothing"
        (key, _), self._measuring = self._measuring, None
        self._pace.keep(key, seconds)
        self.timed.emit()

    def _take_no_time(self, job: Job, fault: BaseException) -> None:
        """What cannot be trained is said when it is to be trained, and not now."""
        self._take_time(None)


def _rehearsed(plan: Plan, corpus: Corpus, wait: Callable[[], None]) -> Generator[float, None, float | None]:
    """In a thread of its own: makes steps until it is known how long one takes."""
    from lmviz.runs.preparation import rehearse
    from lmviz.training.rehearsal import measured_pace

    wait()
    yield 0.0
    compute_with(None)
    steps = rehearse(plan.family, plan.configuration, plan.training_options, corpus)
    for seconds in measured_pace(steps, plan.training_options):
        if seconds is not None:
            return seconds
        yield 0.0
    return None


FIRST = 1.0  # seconds of training after which its pace is known
DECIDING = (
    "batch",
    "length",
    "optimizer",
    "sampling",
    "device",
    "precision",
    "validate_every",
    "validation_batches",
)


class TrainingPace:
    """Seconds a step, by what is trained on which text."""

    def __init__(self) -> None:
        self._known: dict[tuple[object, ...], float | None] = {}
        self._tried: dict[tuple[object, ...], float | None] = {}
        self._key: tuple[object, ...] = ()
        self._begun: Progress | None = None

    def begin(self, plan: Plan, fingerprint: str) -> None:
        """A training begins, or goes on."""
        self._key, self._begun = pace_key(plan, fingerprint), None

    def note(self, progress: Progress) -> None:
        """The training has come so far; `progress.seconds` are those it worked."""
        if self._begun is None:
            self._begun = progress
        steps, seconds = progress.step - self._begun.step, progress.seconds - self._begun.seconds
        if steps > 0 and (seconds >= FIRST or progress.step == progress.steps):
            self._known[self._key] = seconds / steps

    def keep(self, key: tuple[object, ...], seconds: float | None) -> None:
        """What was measured beforehand, None where nothing could be; a training itself knows better."""
        self._known.setdefault(key, seconds)
        self._tried[key] = seconds

    def was_measured(self, plan: Plan, fingerprint: str) -> bool:
        """Whether it was measured, or tried to."""
        return pace_key(plan, fingerprint) in self._known

    def seconds_a_step(self, plan: Plan, fingerprint: str) -> float | None:
        """How long one step takes; None until that was measured."""
        return self._known.get(pace_key(plan, fingerprint))

    def as_tried(self, plan: Plan, fingerprint: str) -> float | None:
        """The same as it was measured beforehand, which no training changes; None where it was not."""
        return self._tried.get(pace_key(plan, fingerprint))


def pace_key(plan: Plan, fingerprint: str) -> tuple[object, ...]:
    """What decides how long a step takes. Counting takes the whole text, in however many steps."""
    options = plan.training_options
    deciding = tuple(getattr(options, name) for name in DECIDING)
    slices = options.steps if FAMILIES[plan.family].counts else 0
    return plan.family, plan.configuration, deciding, slices, fingerprint
