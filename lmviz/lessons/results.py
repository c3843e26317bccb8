"""What somebody did and answered in lessons, as a small file, and tables of many.

{"format": "lmviz results", "format_version": 2, "student": "4711", "date": "2026-11-29", "version": "1.0",
 "lessons": [{"name": "counting", "title": "Counting", "hash": "…", "bundle": "", "checksum": "…",
 "steps": [{"title": "Look it up", "question": "How often?", "tasks": 1, "done": 1, "hint": false,
            "answers": [{"words": "12", "right": false, "evidence": "…"},
                        {"words": "11", "right": true, "evidence": "…"}]}]}]}

`hash` is that of the lesson, `evidence` that of what an answer was judged by, and `checksum` one over all
that is said of the lesson, with the key of the bundle that it came in: who changes the file by hand is seen.
It is no proof against somebody who takes the key out of the bundle.
"""

from __future__ import annotations

import csv
import hashlib
import hmac
import io
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from lmviz.base.errors import LmvizError
from lmviz.base.loading import loads
from lmviz.lessons.lesson import Lesson
from lmviz.lessons.reading import MOST_STEPS
from lmviz.text.ordinary_files import read_file

ENDING = ".json"
FORMAT, VERSION = "lmviz results", 2
OLDEST = 1  # the version of the first files, without a student, hashes and checksums
LARGEST_FILE = 5_000_000  # bytes
MOST = 1000
"""Lessons of a file, and answers to one question."""
LONGEST = 2000  # characters of a title, a question or an answer


class _Damaged(Exception):
    """Why the values are no results, in words."""


@dataclass(frozen=True)
class GivenAnswer:
    """What was answered once, whether it was right, and the hash of what it was judged by."""

    words: str
    is_right: bool
    evidence: str = ""


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
    """A lesson that was begun, with all of its steps.

    `hash` is that of the lesson as it was, `bundle` that of the key of the bundle in which it came, and
    `checksum` what was computed with it. Each is empty where there is none.
    """

    name: str
    title: str
    steps: tuple[StepResult, ...]
    hash: str = ""
    bundle: str = ""
    checksum: str = ""

    @classmethod
    def of(cls, lesson: Lesson, before: LessonResult | None = None) -> Self:
        """That of a lesson as it is now; what was done `before` stays where the step asks the same."""
        fresh = [_fresh(lesson, number) for number in range(len(lesson.steps))]
        kept = () if before is None else before.steps
        steps = [
            old if (old.title, old.question, old.tasks) == (new.title, new.question, new.tasks) else new
            for new, old in zip(fresh, (*kept, *fresh[len(kept) :]), strict=False)
        ]
        bundle = "" if lesson.folder is None else key_hash(key_beside(lesson.folder))
        return cls(lesson.name, lesson.title[:LONGEST], tuple(steps), lesson_hash(lesson), bundle)

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
    """The lessons that one `student` began, under a name or a number, saved on a `date` with a `version`."""

    lessons: tuple[LessonResult, ...] = ()
    student: str = ""
    date: str = ""
    version: str = ""

    def signed(self, student: str, date: str, version: str, key_of: Callable[[str], str | None]) -> Self:
        """The same as somebody hands it in; `key_of` gives the key of a bundle by its hash, if it is there.

        A lesson in no bundle gets a checksum without a key.
        """
        found = replace(self, student=student[:LONGEST], date=date, version=version)
        lessons = (
            replace(lesson, checksum="" if key is None else found.checksum_of(lesson, key))
            for lesson in self.lessons
            for key in [key_of(lesson.bundle) if lesson.bundle else ""]
        )
        return replace(found, lessons=tuple(lessons))

    def checksum_of(self, lesson: LessonResult, key: str) -> str:
        """What belongs to one of the lessons under a key: HMAC with SHA-256, as hexadecimal digits."""
        said = [self.student, self.date, self.version, _of_lesson(replace(lesson, checksum=""))]
        message = json.dumps(said, ensure_ascii=True, sort_keys=True).encode("ascii")
        return hmac.new(key.encode("utf-8"), message, hashlib.sha256).hexdigest()

    def verdict_on(self, lesson: LessonResult, keys: Iterable[str] = ()) -> str:
        """One of `VERDICTS`; `keys` are those of the bundles that were given out."""
        if not lesson.checksum:
            return UNCHECKED
        known = {key_hash(key): key for key in keys} | {"": ""}
        if lesson.bundle not in known:
            return UNKNOWN
        right = self.checksum_of(lesson, known[lesson.bundle])
        return SOUND if hmac.compare_digest(right, lesson.checksum) else CHANGED

    def to_bytes(self) -> bytes:
        """The content of their file."""
        values = {
            "format": FORMAT,
            "format_version": VERSION,
            "student": self.student,
            "date": self.date,
            "version": self.version,
            "lessons": [_of_lesson(lesson) for lesson in self.lessons],
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
            if values.get("format_version") not in (OLDEST, VERSION):
                raise _Damaged(f"only versions {OLDEST} and {VERSION} are known")
            said = (_said(values, name) for name in ("student", "date", "version"))
            return cls(tuple(_lesson(each) for each in _listed(values, "lessons", MOST)), *said)
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


SOUND, CHANGED, UNKNOWN, UNCHECKED = "sound", "changed", "of an unknown bundle", "without a checksum"
VERDICTS = (SOUND, CHANGED, UNKNOWN, UNCHECKED)
"""What a checksum says: that results are as lmviz wrote them, that somebody has changed them, that the key of
their bundle is not known, or nothing."""

KEY_FILE = "results.key"
"""In the folder of an unpacked bundle: the key of its checksums."""
LONGEST_KEY = 200  # characters


def key_hash(key: str) -> str:
    """By what results name the key of a bundle; "" for none."""
    return hashlib.sha256(key.encode("utf-8")).hexdigest()[:16] if key else ""


def key_beside(folder: Path) -> str:
    """The key in the folder of an unpacked bundle; "" where there is none."""
    try:
        return read_file(folder / KEY_FILE, LONGEST_KEY).decode("utf-8").strip()
    except (OSError, ValueError):
        return ""


def lesson_hash(lesson: Lesson) -> str:
    """The hash of what a lesson says, opens, waits for and asks, and not of where it lies."""
    told = repr(replace(lesson, folder=None))
    return hashlib.sha256(told.encode("utf-8", "replace")).hexdigest()[:16]


def evidence_hash(*evidence: object) -> str:
    """The hash of what an answer was judged by: the right answer then, and what was shown."""
    return hashlib.sha256(repr(evidence).encode("utf-8", "replace")).hexdigest()[:16]


COLUMNS = (
    *("file", "student", "date", "version", "lesson", "lesson_hash", "checksum", "step", "question"),
    *("tasks", "done", "hint", "tries", "first_answer", "right_at_once", "right", "first_wrong"),
)


def results_as_csv(found: Mapping[str, Results], keys: Iterable[str] = ()) -> str:
    """A row for each step that somebody has begun, under the names in `COLUMNS`; `found` by names of files.

    A cell that a spreadsheet would take for a formula begins with an apostrophe.
    """
    table, keys = io.StringIO(), tuple(keys)
    writer = csv.writer(table)
    writer.writerow(COLUMNS)
    for name, results in found.items():
        for lesson in results.lessons:
            verdict = results.verdict_on(lesson, keys)
            for step in lesson.steps:
                if not (step.done or step.answers or step.hint):
                    continue
                wrong = next((each.words for each in step.answers if not each.is_right), "")
                first = step.answers[0].words if step.answers else ""
                said = (name, results.student, results.date, results.version, lesson.title, lesson.hash)
                done = (step.tasks, step.done, _yes_or_no(step.hint), len(step.answers), first)
                right = (
                    (_yes_or_no(step.is_right_at_once), _yes_or_no(step.is_right))
                    if step.question
                    else ("", "")
                )
                cells = (*said, verdict, step.title, step.question, *done, *right, wrong)
                writer.writerow([_plain_cell(cell) for cell in cells])
    return table.getvalue()


def _yes_or_no(value: bool) -> str:
    return "yes" if value else "no"


def _plain_cell(cell: str | int) -> str | int:
    """A cell that no spreadsheet computes: numbers stay as they are."""
    if isinstance(cell, int) or not cell.startswith(FORMULA):
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell


FORMULA = ("=", "+", "-", "@", "\t", "\r")


def _steps(many: Sequence[Results]) -> Iterator[tuple[LessonResult, int, StepResult]]:
    for results in many:
        for lesson in results.lessons:
            for number, step in enumerate(lesson.steps):
                yield lesson, number, step


def _fresh(lesson: Lesson, number: int) -> StepResult:
    step = lesson.steps[number]
    question = "" if step.question is None else step.question.words
    return StepResult(step.title[:LONGEST], question[:LONGEST], len(step.tasks))


def _of_lesson(lesson: LessonResult) -> dict[str, Any]:
    return {
        "name": lesson.name,
        "title": lesson.title,
        "hash": lesson.hash,
        "bundle": lesson.bundle,
        "checksum": lesson.checksum,
        "steps": [_plain(each) for each in lesson.steps],
    }


def _plain(step: StepResult) -> dict[str, Any]:
    answers = [
        {"words": answer.words, "right": answer.is_right, "evidence": answer.evidence}
        for answer in step.answers
    ]
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
    said = (_said(values, name) for name in ("hash", "bundle", "checksum"))
    return LessonResult(_word(values, "name"), _word(values, "title"), steps, *said)


def _step(values: Mapping[str, Any]) -> StepResult:
    answers = tuple(
        GivenAnswer(_word(each, "words"), _yes(each, "right"), _said(each, "evidence"))
        for each in _listed(values, "answers", MOST)
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


def _said(values: Mapping[str, Any], name: str) -> str:
    """Words that the first files did not have."""
    return _word(values, name) if name in values else ""


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
