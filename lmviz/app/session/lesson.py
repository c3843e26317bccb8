"""The lesson one is in: its step, what of it is done, and what was answered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

from PySide6.QtCore import QObject, QTimer, Signal

from lmviz.app.session.part import Part

if TYPE_CHECKING:
    from lmviz.app.session.current_reading import CurrentReading
    from lmviz.app.session.focus import Focus
    from lmviz.lessons.expression import Result
    from lmviz.lessons.lesson import Lesson, LessonTask, Opening, Step
    from lmviz.lessons.situation import Situation

Open = Callable[[tuple["Opening", ...], Path | None], None]
"""Opens what is not open already; the folder is the lesson's."""

NOT_YET = "Not yet. Look again, or ask for the hint."
LOOK_EVERY = 100  # milliseconds: a condition may name any control, and these have no signal in common


@dataclass(frozen=True)
class Answered:
    """What a person has `given`; the `verdict` is None where nothing was, or it could not be judged."""

    given: str = ""
    verdict: bool | None = None
    sentence: str = ""


@dataclass(frozen=True)
class DoneInStep:
    """What of a step was done when one left it: how many `tasks`, the answer, and whether its hint shows.

    `prefix` and `source` are what was read then; None in a step that one has not been in.
    """

    tasks: int = 0
    answered: Answered = Answered()
    hint: bool = False
    prefix: str | None = None
    source: str | None = None


@dataclass(frozen=True)
class LessonProgress:
    """How far a person has come in a lesson, as a value that settings can hold.

    `step` is where one was last, counted from 0; `done` are the steps that were done, in any order.
    """

    step: int = 0
    done: frozenset[int] = frozenset()

    def at(self, step: int) -> Self:
        """The same, standing at another step."""
        return replace(self, step=step)

    def with_done(self, step: int) -> Self:
        """The same with one more step done."""
        return replace(self, done=self.done | {step})

    def to_text(self) -> str:
        """As it is kept: "3: 0 1 2"."""
        return f"{self.step}: {' '.join(map(str, sorted(self.done)))}".strip()

    @classmethod
    def from_text(cls, text: str) -> Self:
        """What was kept; where it was damaged, the beginning."""
        step, _, done = text.partition(":")
        numbers = [step, *done.split()]
        if not all(number.isascii() and number.isdigit() and len(number) < 4 for number in numbers):
            return cls()
        return cls(int(step), frozenset(map(int, done.split())))


class CurrentLesson(Part):
    """Leads through a lesson: looks whether a step's tasks are done, and judges answers.

    Tasks are done in their order, and what is done stays done, also for whoever goes back and on again, until
    the step is set up anew. What was so already when the step began counts only once it has been otherwise:
    a task is ticked by what is done for it.

    `changed` follows all that is drawn of a lesson, `step_begun` another step, `progress_changed` what is to
    be remembered, and `left` a lesson that is over or gives way to another. Nothing can be opened before
    `stand_in` has said where lessons take place.
    """

    changed = Signal()
    step_begun = Signal()
    left = Signal()
    progress_changed = Signal(str)
    judged = Signal(object)
    """An answer that was found right or wrong."""

    _situation: Situation
    _open_all: Open

    def __init__(self, reading: CurrentReading, focus: Focus, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._reading, self._focus = reading, focus
        self._lesson: Lesson | None = None
        self._number = 0
        self._done = 0
        self._before: list[Result | None] = []
        self._was_so: set[int] = set()  # the tasks that ask for what has been so since the step began
        self._unsettled: set[int] = set()  # those of which nothing can be said before the step is in sight
        self._answered = Answered()
        self._hint = False
        self._left: dict[int, DoneInStep] = {}  # by the number of the step
        self._in_force: dict[str, str] = {}  # what steps have opened last, by its kind
        self._progress: dict[str, LessonProgress] = {}
        self._timer = QTimer(self, interval=LOOK_EVERY)
        self._timer.timeout.connect(self._check_tasks)
        self._settling = QTimer(self, singleShot=True)
        self._settling.timeout.connect(self._settle)
        reading.changed.connect(self._check_tasks)  # what can be known only now may change from now on

    @property
    def lesson(self) -> Lesson | None:
        """The lesson one is in."""
        return self._lesson

    @property
    def number(self) -> int:
        """The number of its step, from 0."""
        return self._number

    @property
    def step(self) -> Step | None:
        """Its step."""
        return None if self._lesson is None else self._lesson.steps[self._number]

    @property
    def tasks_done(self) -> int:
        """How many tasks of the step are done; they are done one after the other."""
        return self._done

    @property
    def is_settled(self) -> bool:
        """Whether it is known by now which tasks ask for what was so already when the step began."""
        return not self._unsettled

    @property
    def may_answer(self) -> bool:
        """Whether there is a question, and all is done that comes before it."""
        step = self.step
        return step is not None and step.question is not None and self._done == len(step.tasks)

    @property
    def is_step_done(self) -> bool:
        """Whether the step is done: all its tasks, and its question is answered."""
        step = self.step
        if step is None or self._done < len(step.tasks):
            return False
        return step.question is None or self._answered.verdict is True

    @property
    def answered(self) -> Answered:
        """What was answered last, and what is said about it."""
        return self._answered

    @property
    def is_hint_shown(self) -> bool:
        """Whether the hint was asked for."""
        return self._hint

    @property
    def progress(self) -> Mapping[str, LessonProgress]:
        """How far one has come in each lesson, by name."""
        return self._progress

    def stand_in(self, situation: Situation, open_all: Open) -> None:
        """Say where lessons take place: the values that they may name, and who opens what they need."""
        self._situation, self._open_all = situation, open_all

    def restore(self, progress: Mapping[str, LessonProgress]) -> None:
        """Take over what was remembered."""
        self._progress = {**progress, **self._progress}
        self.changed.emit()

    def open(self, lesson: Lesson, number: int | None = None, given: AbstractSet[str] = frozenset()) -> None:
        """Begin a lesson, or go on where one was; after the last step, from the beginning.

        `given` are kinds of openings that are open as they are wanted, other than the step would have them.
        """
        if self._lesson is not None:
            self.left.emit()
        before = self._progress.get(lesson.name, LessonProgress())
        if number is None:
            number = 0 if len(before.done) >= len(lesson.steps) else before.step
        self._lesson, self._in_force, self._left = lesson, {}, {}
        self._done, self._answered, self._hint = 0, Answered(), False
        wanted = lesson.openings_before(number)
        self._in_force = {each.kind: each.meant for each in wanted if each.kind in given}
        wanted = tuple(each for each in wanted if each.kind not in given)
        self._begin(max(0, min(number, len(lesson.steps) - 1)), wanted)

    def leave(self) -> None:
        """Stop here; one can come back."""
        if self._lesson is not None:
            self._timer.stop()
            self._settling.stop()
            self._lesson = None
            self.left.emit()
            self.changed.emit()

    def go_to(self, number: int) -> None:
        """To another step, with all that it needs. Who comes back finds what was read as it was left.

        What was done in a step is done when one comes back to it, unless another step has opened something
        else: then all that it needs is opened anew, and its tasks with it.
        """
        if self._lesson is None or not 0 <= number < len(self._lesson.steps):
            return
        wanted = self._lesson.openings_before(number)
        if number == self._number + 1:
            wanted = self._lesson.steps[number].openings
        is_open = all(self._in_force.get(each.kind) == each.meant for each in wanted)
        self._begin(number, () if number in self._left and is_open else wanted)

    def go_on(self) -> None:
        """To the next step; after the last one the lesson is over."""
        if self._lesson is not None and self._number + 1 == len(self._lesson.steps):
            self.leave()
        else:
            self.go_to(self._number + 1)

    def prepare(self) -> None:
        """Begin this step anew: open again all that it needs."""
        if self._lesson is not None:
            self._done, self._answered, self._hint = 0, Answered(), False
            self._begin(self._number, self._lesson.openings_before(self._number))

    def note_use(self) -> None:
        """The control of the present task is used: what was so before is done again, and counts."""
        if self._done in self._was_so | self._unsettled:
            self._was_so.discard(self._done)
            self._unsettled.discard(self._done)
            self._check_tasks()

    def show_where(self) -> None:
        """Go back to where this step takes place, and open nothing."""
        self.step_begun.emit()

    def show_hint(self) -> None:
        """Help with the question."""
        self._hint = True
        self.changed.emit()

    def answer(self, given: str) -> None:
        """Judge an answer."""
        from lmviz.lessons.answers import is_right, reply_to, right_answer, shown
        from lmviz.lessons.faults import NotKnown
        from lmviz.lessons.results import GivenAnswer, evidence_hash

        step = self.step
        if step is None or step.question is None or not self.may_answer or not given.strip():
            return
        try:
            is_so = is_right(step.question, given, self.value)
            right = right_answer(step.question, self.value)
            said = (
                f"Right: {_as_part(shown(right))}." if is_so else reply_to(step.question, given, self.value)
            )
        except NotKnown as sentence:
            self._answered = Answered(given, None, str(sentence))
        else:
            self._answered = Answered(given, is_so, said or NOT_YET)
            evidence = evidence_hash(right, self._reading.prefix, self._reading.source)
            self.judged.emit(GivenAnswer(given, is_so, evidence))
        self._note_if_done()
        self.changed.emit()

    def value(self, name: str, arguments: list[Result]) -> Result:
        """A value that lessons may name, as it is now; NotKnown where there is none."""
        from lmviz.lessons.values import look_up

        return look_up(self._situation, name, arguments)

    def close(self) -> None:
        """Look no more."""
        self._timer.stop()
        self._settling.stop()

    def _check_tasks(self) -> None:
        """Look whether the tasks of the step are done by now."""
        step, done = self.step, self._done
        if step is not None:
            self._was_so = {at for at in self._was_so if not self._is_otherwise(step.tasks[at])}
        waiting = self._was_so | self._unsettled
        while step is not None and self._done < len(step.tasks) and self._done not in waiting:
            conditions = step.tasks[self._done].until
            before = self._before or [None] * len(conditions)
            pairs = list(zip(conditions, before, strict=True))
            self._before = [each.state(self.value) if known is None else known for each, known in pairs]
            pairs = list(zip(conditions, self._before, strict=True))
            if not all(each.holds(self.value, known) for each, known in pairs):
                break
            self._done += 1
            self._before = []
        if step is None or self._done == len(step.tasks):
            self._timer.stop()
        if self._done != done:
            self._note_if_done()
            self.changed.emit()

    def _is_coming(self, task: LessonTask) -> bool:
        """Whether what decides about a task is on its way."""
        return any(each.coming(self.value) is not None for each in task.until)

    def _is_otherwise(self, task: LessonTask) -> bool:
        """Whether what a task asks for is not so, as far as anything can be said of it by now."""
        return not self._is_so(task) and not self._is_coming(task)

    def _is_so(self, task: LessonTask) -> bool:
        """Whether all that a task asks for is so now, as far as it does not ask for a change."""
        return all(each.holds(self.value) for each in task.until)

    def _begin(self, number: int, openings: tuple[Opening, ...]) -> None:
        assert self._lesson is not None
        reading = self._reading
        if number != self._number:
            self._left[self._number] = DoneInStep(
                self._done, self._answered, self._hint, reading.prefix, reading.source
            )
        left = self._left.pop(number, DoneInStep())
        found = DoneInStep() if openings else left
        if number != self._number - 1 and not found.tasks:  # one who comes back finds all as it was
            self._focus.follow_end()
        self._number, self._done, self._before = number, found.tasks, []
        self._answered, self._hint = found.answered, found.hint
        self._open(openings)
        if found.source is not None and found.source != reading.source:
            reading.set_source(found.source)
        if found.prefix is not None and found.prefix != reading.prefix:
            reading.set_prefix(found.prefix)
        name = self._lesson.name
        self._progress[name] = self._progress.get(name, LessonProgress()).at(number)
        self.progress_changed.emit(name)
        self.step_begun.emit()
        self._timer.start()
        self._note_if_done()
        tasks = self._lesson.steps[number].tasks
        self._was_so = {at for at in range(self._done, len(tasks)) if self._is_so(tasks[at])}
        self._unsettled = {
            at
            for at in range(self._done, len(tasks))
            if any(each.state(self.value) is None for each in tasks[at].until)
        }
        if self._unsettled:
            self._settling.start(0)  # after the panel has come in sight that is spoken of
        else:
            self._settling.stop()
        self.changed.emit()
        self._check_tasks()  # what changes is measured from now on

    def _settle(self) -> None:
        """What is so already in a panel that stood behind another counts no more than what was in sight, and
        what is so once all has come that the step has opened no more than what was there."""
        tasks = () if self.step is None else self.step.tasks
        coming = {at for at in self._unsettled if at < len(tasks) and self._is_coming(tasks[at])}
        settled = {at for at in self._unsettled - coming if at < len(tasks)}
        self._was_so |= {at for at in settled if self._is_so(tasks[at])}
        self._unsettled = coming
        if coming:
            self._settling.start(LOOK_EVERY)
        self._check_tasks()

    def _open(self, openings: tuple[Opening, ...]) -> None:
        self._open_all(openings, self._lesson.folder if self._lesson is not None else None)
        self._in_force |= {each.kind: each.meant for each in openings}

    def _note_if_done(self) -> None:
        """Remember a step that is done. A step that asks for nothing is done once it is read."""
        if self._lesson is not None and self.is_step_done:
            name = self._lesson.name
            before = self._progress[name]
            self._progress[name] = before.with_done(self._number)
            if self._progress[name] != before:
                self.progress_changed.emit(name)


def _as_part(answer: str) -> str:
    """An answer within a sentence: without a full stop of its own; where it is nothing else, quoted."""
    return answer.removesuffix(".") if any(map(str.isalnum, answer)) else f"“{answer}”"
