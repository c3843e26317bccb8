"""A lesson as a value: its steps, what each waits for, asks and says."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lmviz.lessons.condition import Condition
from lmviz.lessons.expression import Call, Expression, Literal, Operation

UNDONE_BY = {"step": "model", "tape": "network", "feature": "features"}
"""Openings that say how far something has come, and what begins anew where that is opened after them."""

READS_CONTROLS = ("control", "pressed", "drawn")
"""The values whose first argument is the object name of a control or a panel."""

OF_A_NETWORK = ("network", "gradient")
"""The values whose first argument is a name in the network, such as x[1]."""

ALL_PANELS = "all"
"""What a step says that needs all panels of its perspective."""

TOLERANCE = 0.005
"""How far from a number an answer may lie, relative to it, where a lesson states nothing else."""


@dataclass(frozen=True)
class Opening:
    """Something that a step has opened: a text, a model, a prefix. `kind` is a row of `openings.OPENINGS`."""

    kind: str
    words: str
    line: int = 0
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def meant(self) -> str:
        """What is opened, with its settings: the same for two that open the same."""
        return " ".join([self.words, *(f"{name}={value}" for name, value in sorted(self.settings.items()))])


@dataclass(frozen=True)
class LessonTask:
    """One thing to do: `words` say it, and it is done once all conditions `until` hold together.

    Tasks are done one after the other. `control` is outlined while it is its turn, if it has one of its own.
    """

    words: str
    until: tuple[Condition, ...]
    control: str = ""


@dataclass(frozen=True)
class Reply:
    """What is said, in `words`, to a wrong answer: to the choice `chosen`, or to what `wrong` gives now."""

    words: str
    wrong: Expression
    chosen: int | None = None


@dataclass(frozen=True)
class LessonQuestion:
    """What is asked, once the tasks are done.

    With `choices` the right one is the number `right`, or the one that `answer` gives. Else `answer` gives a
    number, right within `tolerance`, or words. `check` has to be true for the answer to hold. `replies` are
    those to answers that people often give.
    """

    words: str
    answer: Expression
    choices: tuple[str, ...] = ()
    right: int | None = None
    tolerance: float | None = None
    check: Condition | None = None
    hint: str = ""
    explanation: str = ""
    replies: tuple[Reply, ...] = ()


@dataclass(frozen=True)
class Step:
    """One step. `sentences` are Markdown; `control` is the object name of what is outlined, if anything."""

    title: str
    sentences: str
    line: int
    perspective: str = ""
    control: str = ""
    openings: tuple[Opening, ...] = ()
    tasks: tuple[LessonTask, ...] = ()
    question: LessonQuestion | None = None
    panels: tuple[str, ...] = ()

    @property
    def needs(self) -> frozenset[str]:
        """The object names of the controls and panels without which it cannot be done; empty for all panels.

        They are those that it outlines, those of which its conditions and answers read what is set, pressed
        or drawn, and its `panels`.
        """
        if self.panels == (ALL_PANELS,):
            return frozenset()
        asked = [condition for task in self.tasks for condition in task.until]
        read = [expression for condition in asked for expression in condition.expressions]
        if self.question is not None:
            read += [self.question.answer, *(reply.wrong for reply in self.question.replies)]
        named = (self.control, *(task.control for task in self.tasks), *self.panels)
        return frozenset(
            {*filter(None, named), *(name for each in read for name in named_in(each, READS_CONTROLS))}
        )

    def network_name_at(self, done: int) -> str:
        """The name in the network that the next task is about, when so many are done; "" for none."""
        asked = self.tasks[done].until if done < len(self.tasks) else ()
        found = (name for each in asked for part in each.expressions for name in named_in(part, OF_A_NETWORK))
        return next(found, "").partition("[")[0]

    def control_at(self, done: int) -> str:
        """What is outlined when so many tasks are done: the next one's own control, or the step's."""
        own = self.tasks[done].control if done < len(self.tasks) else ""
        return own or self.control


@dataclass(frozen=True)
class Lesson:
    """A whole lesson. `name` identifies it, `number` is its place in the course, 0 outside it.

    `folder` is where it was read from; what it carries beside it is looked for there. `language` is a tag of
    BCP 47.
    """

    name: str
    title: str
    number: int
    about: str
    steps: tuple[Step, ...]
    folder: Path | None = None
    language: str = "en"

    def perspective_at(self, number: int) -> str:
        """Where a step takes place: where it says, or else where the step before it does."""
        named = (step.perspective for step in self.steps[number::-1] if step.perspective)
        return next(named, "")

    def openings_before(self, number: int) -> tuple[Opening, ...]:
        """All that has to be open at a step: of each kind what was opened last, up to this step."""
        last: dict[str, Opening] = {}
        for step in self.steps[: number + 1]:
            opened = {opening.kind for opening in step.openings}
            last = {kind: each for kind, each in last.items() if UNDONE_BY.get(kind) not in opened}
            last |= {opening.kind: opening for opening in step.openings}
        return tuple(last.values())


def named_in(expression: Expression, values: Collection[str]) -> Iterator[str]:
    """The first argument, where it is words, of each value of some names in an expression."""
    if isinstance(expression, Operation):
        for operand in expression.operands:
            yield from named_in(operand, values)
    elif isinstance(expression, Call):
        first = next(iter(expression.arguments), None)
        if expression.name in values and isinstance(first, Literal):
            yield str(first.value)
        for argument in expression.arguments:
            yield from named_in(argument, values)
