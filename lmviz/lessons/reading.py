"""Reads a lesson from its text, and says at which line something is wrong.

The language has lines of three kinds: a title (`# Lesson`, then `## Step` for each step), an entry
(`name: words` with one of the names below, which goes on in lines that begin with two spaces), and anything
else, which is the Markdown that a step says. docs/writing-a-lesson.md tells it with an example.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator
from pathlib import Path

from lmviz.base.errors import LmvizError
from lmviz.base.faults import Fault, LineFault
from lmviz.base.loading import loads
from lmviz.lessons.condition import Condition, parse_condition
from lmviz.lessons.controls import check_control
from lmviz.lessons.expression import Expression, Literal, evaluate, parse
from lmviz.lessons.faults import LessonFault, NotKnown
from lmviz.lessons.lesson import ALL_PANELS, Lesson, LessonQuestion, LessonTask, Opening, Reply, Step
from lmviz.lessons.openings import read_opening
from lmviz.lessons.parts import ENTRY, PartReader, WrittenEntry, WrittenPart
from lmviz.lessons.values import check, names_values
from lmviz.text.ordinary_files import read_text_file

ENDING = ".md"
LARGEST = 200_000  # characters
MOST_STEPS = 100

HEAD = {
    "number": "the lesson's place in the course",
    "about": "one sentence for the list of lessons",
    "language": "the tag of the language in which it is written, such as de; else it is English",
}
"""What may stand between the title of a lesson and its first step."""

ENTRIES = {
    "perspective": "where the step takes place",
    "control": "the object name of the control, or panel, that is outlined; after a `do`, for that task",
    "panels": "the object names of panels that the step needs beside those of its controls, or “all”",
    "open": "what is opened when the step begins; see `openings.OPENINGS`",
    "do": "one thing to do, in a few words; its `until` follows",
    "until": "when that is done: a condition",
    "question": "what is asked once all that is done",
    "choice": "one of the answers to choose from",
    "answer": "one of the choices, or an expression of the values of the program",
    "wrong": "an answer that people often give instead, written like the right one",
    "reply": "what is said to that wrong answer",
    "tolerance": "how far from the answer a number may lie",
    "check": "a condition under which the answer holds",
    "hint": "help for students who ask for it",
    "explanation": "why that is the answer, shown with it",
}
"""What may stand in a step, and what it means."""

TELLING = {"perspective", "until", "answer"}
"""Entries by which a Markdown file is known as a lesson."""

REPEATED = ("open", "do", "until", "choice", "control", "wrong", "reply")
OF_A_QUESTION = ("choice", "answer", "wrong", "reply", "tolerance", "check", "hint", "explanation")


@loads("lesson")
def open_lesson(path: str | Path, perspectives: Collection[str]) -> Lesson:
    """The lesson of a file or a folder; LessonFault, or another LmvizError, where there is none."""
    path = Path(path)
    if os.path.isdir(path):
        found = lesson_in(path)
        if found is None:
            raise LmvizError(f"{path.name} holds no lesson: put one file lesson{ENDING} into it.")
        path = found
    try:
        text = read_text_file(path, 4 * LARGEST)
    except OSError as error:
        raise LmvizError(f"{path} cannot be read ({error.strerror}): choose another file.") from error
    except ValueError as error:  # not UTF-8, or a path with a NUL in it
        raise LmvizError(f"{path} is not a text: choose a file in UTF-8.") from error
    return read_lesson(
        text, perspectives, path.stem if path.stem != "lesson" else path.parent.name, path.parent
    )


def renewed(lesson: Lesson, step: Step) -> int:
    """Where a step stands, from 0, in its lesson as it was read since: by its title, or else its line."""
    titled = [number for number, each in enumerate(lesson.steps) if each.title == step.title]
    if titled:
        return min(titled, key=lambda number: abs(lesson.steps[number].line - step.line))
    return sum(each.line < step.line for each in lesson.steps[1:])


def lesson_in(folder: Path) -> Path | None:
    """The file of a folder that carries a lesson and what belongs to it."""
    path = folder / f"lesson{ENDING}"
    return path if os.path.isfile(path) else None


def file_of(lesson: Lesson) -> Path | None:
    """The file of a lesson that was opened from one, as far as its folder and its name tell."""
    folder = lesson.folder
    if folder is None:
        return None
    beside = folder / f"{lesson.name}{ENDING}"
    return beside if os.path.isfile(beside) else lesson_in(folder) if folder.name == lesson.name else None


def is_lesson(path: Path) -> bool:
    """Whether a path looks like a lesson: `lesson.md` in a folder, or a Markdown file that has its entries.

    A Markdown file is meant as one where a line begins with `perspective:`, `until:` or `answer:`, or where
    an entry of HEAD stands right below a title in its first line. Whether its steps have titles does not
    matter: one who forgot them is told so.
    """
    if os.path.isdir(path):
        return lesson_in(path) is not None
    if path.suffix != ENDING:
        return False
    try:
        text = read_text_file(path, 4 * LARGEST)
    except (OSError, ValueError):
        return False
    lines = text.splitlines()
    names = {found[1] for line in lines if (found := ENTRY.match(line))}
    below = ENTRY.match(lines[1]) if len(lines) > 1 and lines[0].startswith("# ") else None
    return bool(names & TELLING) or (below is not None and below[1] in HEAD)


def read_lesson(
    text: str, perspectives: Collection[str], name: str = "", folder: Path | None = None
) -> Lesson:
    """The lesson that a text states; LessonFault names every line that is wrong."""
    if len(text) > LARGEST:
        raise LessonFault([Fault(1, f"a lesson has at most {LARGEST:,} characters: make two of it.")])
    return _Reader(perspectives, folder).read(text, name)


class _Reader(PartReader):
    """Reads one lesson and collects what is wrong."""

    of_head, entries, repeated, most_parts = HEAD, ENTRIES, REPEATED, MOST_STEPS

    def __init__(self, perspectives: Collection[str], folder: Path | None) -> None:
        super().__init__()
        self._perspectives, self._folder = perspectives, folder

    def read(self, text: str, name: str) -> Lesson:
        """The lesson; LessonFault where something is wrong."""
        head, *parts = self._parts(text)
        known = self._head(head)
        if "number" in known and not re.fullmatch(r"[0-9]{1,3}", known["number"].words):
            self._say(known["number"].line, "the number of a lesson must be a whole number.")
            del known["number"]
        language = self._language(known)
        steps = tuple(self._step(part) for part in parts)
        if self._faults:
            raise LessonFault(self._faults)
        number = int(known["number"].words) if "number" in known else 0
        about = known["about"].words if "about" in known else ""
        return Lesson(name or head.title, head.title, number, about, steps, self._folder, language)

    def _step(self, part: WrittenPart) -> Step:
        known = self._once(part, ENTRIES)
        sentences = "\n".join(part.sentences).strip()
        if not sentences:
            self._say(part.line, f"the step “{part.title}” says nothing: write a sentence in it.")
        perspective = known["perspective"].words if "perspective" in known else ""
        if perspective and perspective not in self._perspectives:
            names = ", ".join(self._perspectives)
            self._say(
                known["perspective"].line, f"there is no perspective {perspective!r}: there are {names}."
            )
        return Step(
            part.title,
            sentences,
            part.line,
            perspective,
            self._control(part),
            tuple(self._openings(part)),
            tuple(self._tasks(part)),
            self._question(part, known),
            self._panels(known),
        )

    def _panels(self, known: dict[str, WrittenEntry]) -> tuple[str, ...]:
        """The panels that a step names."""
        entry = known.get("panels")
        if entry is None:
            return ()
        names = tuple(entry.words.split())
        if names == (ALL_PANELS,):
            return names
        for name in names:
            self._check_control(WrittenEntry(entry.line, entry.name, name))
        return names

    def _openings(self, part: WrittenPart) -> Iterator[Opening]:
        for entry in part.entries:
            if entry.name == "open" and entry.words:
                try:
                    yield read_opening(entry.words, entry.line, self._folder)
                except LineFault as fault:
                    self._say(entry.line, fault.sentence)

    def _control(self, part: WrittenPart) -> str:
        """What is outlined from the beginning of a step; one after a `do` is that task's own."""
        found, since = "", 0
        for entry in part.entries:
            if entry.name == "do":
                since = 0
            elif entry.name == "control":
                self._check_control(entry)
                if since:
                    self._say(entry.line, "“control” is given twice for the same task: leave one out.")
                since += 1
                is_of_step = all(other.name != "do" for other in part.entries[: part.entries.index(entry)])
                found = entry.words if is_of_step and not found else found
        return found

    def _check_control(self, entry: WrittenEntry) -> None:
        try:
            check_control(entry.words)
        except LineFault as fault:
            if entry.words:
                self._say(entry.line, fault.sentence)

    def _tasks(self, part: WrittenPart) -> Iterator[LessonTask]:
        """Each `do` with every `until` after it; those without a `do` are told by their condition."""
        words, control, begins = "", "", None
        conditions: list[Condition] = []
        for entry in (*part.entries, WrittenEntry(0, "do", "")):
            if entry.name == "do":
                if conditions:
                    yield LessonTask(words or conditions[0].text, tuple(conditions), control)
                elif begins is not None:
                    self._say(begins.line, "“do” needs an “until” below it: write when it is done.")
                words, control, conditions, begins = entry.words, "", [], entry
            elif entry.name == "control" and words:
                control = entry.words
            elif entry.name == "until":
                condition = self._condition(entry)
                conditions += [] if condition is None else [condition]
                begins = None

    def _condition(self, entry: WrittenEntry) -> Condition | None:
        try:
            condition = parse_condition(entry.words)
            for expression in condition.expressions:
                check(expression)
        except LineFault as fault:
            if entry.words:
                self._say(entry.line, fault.sentence)
            return None
        return condition

    def _question(self, part: WrittenPart, known: dict[str, WrittenEntry]) -> LessonQuestion | None:
        if "question" not in known:
            lost = next((known[name] for name in OF_A_QUESTION if name in known and name != "hint"), None)
            if lost is not None:
                self._say(lost.line, f"“{lost.name}” belongs to a question: write one before it.")
            return None
        if "answer" not in known:
            self._say(known["question"].line, "the question has no answer: write “answer:” below it.")
            return None
        choices = tuple(entry.words for entry in part.entries if entry.name == "choice" and entry.words)
        if len(choices) == 1 or len(set(choices)) < len(choices):
            self._say(known["choice"].line, "write two or more choices, all different.")
        found = self._answer(known["answer"], choices)
        if found is None:
            return None
        expression, right = found
        return LessonQuestion(
            known["question"].words,
            expression,
            choices,
            right,
            self._tolerance(known),
            self._condition(known["check"]) if "check" in known else None,
            known["hint"].words if "hint" in known else "",
            known["explanation"].words if "explanation" in known else "",
            tuple(self._replies(part, choices, found)),
        )

    def _answer(self, entry: WrittenEntry, choices: tuple[str, ...]) -> tuple[Expression, int | None] | None:
        """What a right or wrong answer is written as: an expression, and the number of the choice it is."""
        if entry.words in choices:
            return Literal(entry.words), choices.index(entry.words)
        try:
            expression = parse(entry.words)
            check(expression)
        except LineFault as fault:
            choose = " Or write one of the choices word for word." if choices else ""
            self._say(entry.line, f"{fault.sentence}{choose}")
            return None
        if choices and isinstance(expression, Literal):
            what = "answer" if entry.name == "answer" else "wrong answer"
            self._say(entry.line, f"the {what} is none of the choices: write it as one of them is written.")
        return expression, None

    def _replies(
        self, part: WrittenPart, choices: tuple[str, ...], right: tuple[Expression, int | None]
    ) -> Iterator[Reply]:
        """Each `wrong` with the `reply` after it."""
        answers, wrong = [_fixed(*right)], None
        for entry in (*part.entries, WrittenEntry(0, "wrong", "")):
            if entry.name == "wrong":
                if wrong is not None:
                    self._say(wrong.line, "“wrong” needs a “reply” below it: write what is said to it.")
                wrong = entry if entry.words else None
            elif entry.name == "reply" and wrong is None:
                self._say(entry.line, "“reply” belongs below a “wrong”: write the answer that it is for.")
            elif entry.name == "reply" and wrong is not None:
                found = self._answer(wrong, choices)
                if found is not None and _fixed(*found) in answers:
                    is_right = _fixed(*found) == answers[0]
                    other = "the right answer" if is_right else "another wrong one"
                    self._say(wrong.line, f"this wrong answer is the same as {other}: write a different one.")
                elif found is not None:
                    answers.append(_fixed(*found))
                    yield Reply(entry.words, *found)
                wrong = None

    def _tolerance(self, known: dict[str, WrittenEntry]) -> float | None:
        if "tolerance" not in known:
            return None
        entry = known["tolerance"]
        try:
            tolerance = float(entry.words)
        except ValueError:
            tolerance = -1.0
        if not 0 <= tolerance < float("inf"):
            self._say(
                entry.line, f"{entry.words!r} is not a tolerance: write a number of 0 or more, such as 0.001."
            )
        return tolerance


def _fixed(expression: Expression, chosen: int | None) -> object:
    """What tells two answers apart: the choice, what it is where it never changes, or how it is computed."""
    if chosen is not None or names_values(expression):
        return expression if chosen is None else chosen
    try:
        return evaluate(expression, lambda name, arguments: name)
    except NotKnown:
        return expression
