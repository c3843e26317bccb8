"""What somebody did and answered in lessons, as a small file without a name or a time, and tables of many.

{"format": "lmviz results", "format_version": 1, "lessons": [{"name": "counting", "title": "Counting",
 "steps": [{"title": "Look it up", "question": "How often?", "tasks": 1, "done": 1, "hint": false,
            "answers": [{"words": "12", "right": false}, {"words": "11", "right": true}]}]}]}
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from lmviz.base.errors import LmvizError
from lmviz.base.loading import loads
from lmviz.lessons.lesson import Lesson
from lmviz.lessons.reading import MOST_STEPS
from lmviz.text.ordinary_files import read_file

ENDING = ".json"
FORMAT, VERSION = "lmviz results", 1
LARGEST_FILE = 5_000_000  # bytes
MOST = 1000
"""Lessons of a file, and answers to one question."""
LONGEST = 2000  # characters of a title, a question or an answer


class _Damaged(Exception):
    """Why the values are no results, in words."""


@dataclass(frozen=True)
class GivenAnswer:
    """What was answered once, and whether it was right."""

    words: str
    is_right: bool


@dataclass(frozen=True)
class StepResult:
    """A step: how many of its tasks were done, whether its hint was asked for, and every answer in order."""

    title: str
    question: str = ""
    tasks: int = 0
    done: int = 0
    hint: bool = False
    answers: tuple[GivenAnswer, ...] = ()

    @property
    def is_right(self) -> bool:
        """Whether its question was answered in the end."""
        return any(answer.is_right for answer in self.answers)

    @property
    def is_right_at_once(self) -> bool:
        """Whether the first answer was right."""
        return bool(self.answers) and self.answers[0].is_right

    @property
    def is_done(self) -> bool:
        """Whether all its tasks were done, and its question answered."""
        return self.done >= self.tasks and (self.is_right or not self.question)


@dataclass(frozen=True)
class LessonResult:
    """A lesson that was begun, with all of its steps."""

    name: str
    title: str
    steps: tuple[StepResult, ...]

    @classmethod
    def of(cls, lesson: Lesson, before: LessonResult | None = None) -> Self:
        """That of a lesson as it is now; what was done `before` stays where the step asks the same."""
        fresh = [_fresh(lesson, number) for number in range(len(lesson.steps))]
        kept = () if before is None else before.steps
        steps = [
            old if (old.title, old.question, old.tasks) == (new.title, new.question, new.tasks) else new
            for new, old in zip(fresh, (*kept, *fresh[len(kept) :]), strict=False)
        ]
        return cls(lesson.name, lesson.title[:LONGEST], tuple(steps))

    def at(self, number: int, done: int, hint: bool, answer: GivenAnswer | None = None) -> Self:
        """The same, with what was done and answered in one step; nothing of it is taken back."""
        step = self.steps[number]
        answers = step.answers if answer is None else (*step.answers, answer)[:MOST]
        step = replace(step, done=max(step.done, done), hint=step.hint or hint, answers=answers)
        return replace(self, steps=(*self.steps[:number], step, *self.steps[number + 1 :]))

    @property
    def is_begun(self) -> bool:
        """Whether anything was done in it."""
        return any(step.done or step.answers or step.hint for step in self.steps)


@dataclass(frozen=True)
class Results:
    """The lessons that one person began."""

    lessons: tuple[LessonResult, ...] = ()

    def to_bytes(self) -> bytes:
        """The content of their file."""
        values = {
            "format": FORMAT,
            "format_version": VERSION,
            "lessons": [
                {"name": lesson.name, "title": lesson.title, "steps": [_plain(each) for each in lesson.steps]}
                for lesson in self.lessons
            ],
        }
        return json.dumps(values, indent=1, ensure_ascii=False).encode("utf-8", "replace") + b"\n"

    @classmethod
    def from_bytes(cls, content: bytes, name: str) -> Self:
        """The results in the content of a file of this name; LmvizError for anything else."""
        try:
            values = json.loads(content)
        except (ValueError, RecursionError):
            raise LmvizError(f"{name} holds no results, for it is not JSON.") from None
        try:
            if not isinstance(values, dict) or values.get("format") != FORMAT:
                raise _Damaged(f"it does not say that it is {FORMAT}")
            if values.get("format_version") != VERSION:
                raise _Damaged(f"only version {VERSION} is known")
            return cls(tuple(_lesson(each) for each in _listed(values, "lessons", MOST)))
        except _Damaged as reason:
            raise LmvizError(f"{name} holds no results: {reason}.") from None


@loads("results")
def open_results(path: Path) -> Results:
    """The results in a file; LmvizError whatever is in there."""
    try:
        content = read_file(path, LARGEST_FILE)
    except (OSError, ValueError) as error:
        raise LmvizError(f"{path.name} cannot be read ({getattr(error, 'strerror', error)}).") from None
    return Results.from_bytes(content, path.name)


@dataclass
class QuestionCount:
    """How many answered one question, and how: `wrong` counts the first wrong answer of each."""

    lesson: str
    step: str
    question: str
    answered: int = 0
    right_at_once: int = 0
    right: int = 0
    hints: int = 0
    wrong: Counter[str] = field(default_factory=Counter)


def count_questions(many: Sequence[Results]) -> list[QuestionCount]:
    """Each question that somebody answered, in the order in which they come."""
    counts: dict[tuple[str, int, str], QuestionCount] = {}
    for lesson, number, step in _steps(many):
        if not step.answers:
            continue
        count = counts.setdefault(
            (lesson.name, number, step.question), QuestionCount(lesson.title, step.title, step.question)
        )
        count.answered += 1
        count.right_at_once += step.is_right_at_once
        count.right += step.is_right
        count.hints += step.hint
        wrong = next((answer.words for answer in step.answers if not answer.is_right), None)
        if wrong is not None:
            count.wrong[wrong.strip()] += 1
    return list(counts.values())


def _steps(many: Sequence[Results]) -> Iterator[tuple[LessonResult, int, StepResult]]:
    for results in many:
        for lesson in results.lessons:
            for number, step in enumerate(lesson.steps):
                yield lesson, number, step


def _fresh(lesson: Lesson, number: int) -> StepResult:
    step = lesson.steps[number]
    question = "" if step.question is None else step.question.words
    return StepResult(step.title[:LONGEST], question[:LONGEST], len(step.tasks))


def _plain(step: StepResult) -> dict[str, Any]:
    answers = [{"words": answer.words, "right": answer.is_right} for answer in step.answers]
    return {
        "title": step.title,
        "question": step.question,
        "tasks": step.tasks,
        "done": step.done,
        "hint": step.hint,
        "answers": answers,
    }


def _lesson(values: Mapping[str, Any]) -> LessonResult:
    steps = tuple(_step(each) for each in _listed(values, "steps", MOST_STEPS))
    return LessonResult(_word(values, "name"), _word(values, "title"), steps)


def _step(values: Mapping[str, Any]) -> StepResult:
    answers = tuple(
        GivenAnswer(_word(each, "words"), _yes(each, "right")) for each in _listed(values, "answers", MOST)
    )
    return StepResult(
        _word(values, "title"),
        _word(values, "question"),
        _count(values, "tasks"),
        _count(values, "done"),
        _yes(values, "hint"),
        answers,
    )


def _listed(values: Mapping[str, Any], name: str, most: int) -> Sequence[Mapping[str, Any]]:
    value = values.get(name)
    if not isinstance(value, list) or len(value) > most or not all(isinstance(each, dict) for each in value):
        raise _Damaged(f"its {name} are damaged")
    return value


def _word(values: Mapping[str, Any], name: str) -> str:
    value = values.get(name)
    if not isinstance(value, str) or len(value) > LONGEST:
        raise _Damaged(f"its {name} is damaged")
    return value.encode("utf-8", "replace").decode("utf-8")  # JSON may hold halves of characters


def _count(values: Mapping[str, Any], name: str) -> int:
    value = values.get(name)
    if type(value) is not int or not 0 <= value <= MOST:
        raise _Damaged(f"its {name} is damaged")
    return value


def _yes(values: Mapping[str, Any], name: str) -> bool:
    value = values.get(name)
    if not isinstance(value, bool):
        raise _Damaged(f"its {name} is neither true nor false")
    return value
