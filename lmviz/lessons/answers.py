"""Whether an answer is right, by what the program says now."""

from __future__ import annotations

import math
import re
import unicodedata

from lmviz.lessons.condition import LookUp, plain
from lmviz.lessons.expression import Result, constant, evaluate
from lmviz.lessons.faults import NotKnown, StillComing
from lmviz.lessons.lesson import TOLERANCE, LessonQuestion, Reply

PER_CENT = "Perhaps you mean per cent: write “%” after the number."
QUOTES = " “”\"'"  # and blanks, around an answer in words
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_DECIMAL = re.compile(r"(?<=\d),(?=\d)")
_CIRCUMFLEX = "\N{COMBINING CIRCUMFLEX ACCENT}"
_HATS = ("hat", "^", " hat", "-hat", "_hat")  # how a hat is typed on a keyboard that has none


def right_answer(question: LessonQuestion, look_up: LookUp) -> Result:
    """The answer as the program has it now: a number or words. NotKnown where it has none.

    NotKnown too where the question's `check` is not true, so that its answer would not hold; StillComing
    where either is read off what is on its way.
    """
    if question.check is not None and (coming := question.check.coming(look_up)) is not None:
        raise coming
    if question.check is not None and not question.check.holds(look_up):
        raise NotKnown(f"The question is not about what is open now ({question.check.text}).")
    if question.right is not None:
        return question.choices[question.right]
    return evaluate(question.answer, look_up)


def is_right(question: LessonQuestion, given: str, look_up: LookUp) -> bool:
    """Whether what a person typed, or the choice that they made, is the answer.

    NotKnown where the program has no answer now, and where a number is asked for and none was typed.
    """
    right = right_answer(question, look_up)
    if not (question.choices or isinstance(right, str) or _numbers(given)):
        raise NotKnown("Type a number, such as 4/11 or 0.364.")
    return _means(question, given, right)


def reply_to(question: LessonQuestion, given: str, look_up: LookUp) -> str:
    """What is answered to a wrong answer; empty where there is nothing to say to this one in particular.

    StillComing where an answer that it may be is on its way.
    """
    for reply in question.replies:
        try:
            wrong = wrong_answer(question, reply, look_up)
        except StillComing:
            raise
        except NotKnown:
            continue
        if _means(question, given, wrong):
            return reply.words
    return PER_CENT if _lacks_its_sign(question, given, look_up) else ""


def _lacks_its_sign(question: LessonQuestion, given: str, look_up: LookUp) -> bool:
    """Whether a share was typed in per cent, and without the sign."""
    try:
        right = right_answer(question, look_up)
    except NotKnown:
        return False
    is_share = not question.choices and not isinstance(right, str) and 0 < right < 1
    return is_share and "%" not in given and _means(question, f"({given})/100", right)


def wrong_answer(question: LessonQuestion, reply: Reply, look_up: LookUp) -> Result:
    """The answer that a reply is meant for, as the program has it now. NotKnown where it has none."""
    if reply.chosen is not None:
        return question.choices[reply.chosen]
    return evaluate(reply.wrong, look_up)


def _means(question: LessonQuestion, given: str, meant: Result) -> bool:
    """Whether what was typed or chosen is this answer: the same words, or a number within the tolerance."""
    if question.choices or isinstance(meant, str):
        return _words(given) in _spellings(_words(meant))
    tolerance = TOLERANCE * abs(meant) if question.tolerance is None else question.tolerance
    return any(
        math.isclose(number, meant, rel_tol=1e-9, abs_tol=tolerance) or number == meant
        for number in _numbers(given)
    )


def _words(text: Result) -> str:
    """An answer in words as it is compared."""
    return unicodedata.normalize("NFC", plain(text).strip(QUOTES))


def _spellings(name: str) -> set[str]:
    """A name and, where it is a letter with a hat such as ŷ, the ways to type it."""
    parts = unicodedata.normalize("NFD", name)
    has_hat = parts[1:] == _CIRCUMFLEX
    return {name, *(parts[0] + hat for hat in _HATS)} if has_hat else {name}


def _numbers(given: str) -> set[float]:
    """What a number that was typed can mean: in “3,646” the comma stands for thousands, or for a point."""
    readings = {given, _THOUSANDS.sub("", given), _DECIMAL.sub(".", given)}
    return {number for reading in readings if (number := constant(reading)) is not None}


def shown(value: Result) -> str:
    """An answer as it is told: a number to four digits."""
    if isinstance(value, str):
        return value
    return (
        f"{value:,.0f}" if value == round(value) and abs(value) < 1e15 else f"{value:.4g}".replace("-", "−")
    )
