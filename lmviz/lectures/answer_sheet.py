"""The answers to what a lecture or a lesson asks, for the one who gives it and for nobody else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lmviz.lectures.lecture import LectureItem, ShownPoll, ShownStep
from lmviz.lessons.answers import shown
from lmviz.lessons.expression import Result, evaluate
from lmviz.lessons.faults import NotKnown
from lmviz.lessons.lesson import LessonQuestion
from lmviz.polls.poll import Poll

DEPENDS = "What the program says there, once the tasks are done."
OF_A_MODEL = "What the open model finds likeliest."
NONE = "None of the choices."


@dataclass(frozen=True)
class SheetAnswer:
    """One question with its answer, and why it is so.

    `number` is that of the item, counted from 1. `is_stated` is False where only the running program has the
    answer: `answer` then says so. `language` is that of question and explanation, "" for that of the title.
    """

    number: int
    title: str
    question: str
    answer: str
    explanation: str = ""
    is_stated: bool = True
    language: str = ""


def answer_sheet(items: Sequence[LectureItem]) -> tuple[SheetAnswer, ...]:
    """The answers of all items that ask something, in their order."""
    found = []
    for number, item in enumerate(items, start=1):
        match item.shown:
            case ShownStep(lesson, at) if (question := lesson.steps[at].question) is not None:
                answer, is_stated = _of_question(question)
                found.append(
                    SheetAnswer(
                        number,
                        item.title,
                        question.words,
                        answer,
                        question.explanation,
                        is_stated,
                        lesson.language,
                    )
                )
            case ShownPoll(poll):
                answer, is_stated = _of_poll(poll)
                found.append(SheetAnswer(number, item.title, poll.question, answer, poll.because, is_stated))
    return tuple(found)


def _of_question(question: LessonQuestion) -> tuple[str, bool]:
    """A choice, or a number or words that stand in the lesson; the rest depends on what is open."""
    if question.right is not None:
        return question.choices[question.right], True
    try:
        return shown(evaluate(question.answer, _nothing_open)), True
    except NotKnown:
        return DEPENDS, False


def _of_poll(poll: Poll) -> tuple[str, bool]:
    if poll.needs_model and not poll.right:
        return OF_A_MODEL, False
    letters = poll.find_right().letters
    said = [f"{choice.letter}: {choice.text}" for choice in poll.filled if choice.letter in letters]
    return "; ".join(said) or NONE, True


def _nothing_open(name: str, arguments: list[Result]) -> Result:
    raise NotKnown(f"{name} depends on what is open.")
