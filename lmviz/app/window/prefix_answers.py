"""What the shown model answers about the prefix, in words, beside what is right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lmviz.app.session.gold import gold_of
from lmviz.app.session.reading import Reading
from lmviz.app.widgets.base.figures import percentage
from lmviz.app.widgets.text.answered_strip import TokenAnswer
from lmviz.inspection.views import answer_at
from lmviz.looks.ink import Inked

if TYPE_CHECKING:
    from lmviz.text.corpus import Corpus  # with all that reads texts, which the first paint does without


def answers_of(reading: Reading, gold: Sequence[frozenset[int]]) -> list[TokenAnswer]:
    """The likeliest tag of each token, and what is right."""
    answers = []
    for position in range(len(reading.trace)):
        shares = answer_at(reading.trace, position)
        best, right = int(shares.argmax()), gold[position] if gold else frozenset()
        said = " or ".join(reading.answer(id) for id in sorted(right))
        wrong = bool(right) and best not in right
        answers.append(TokenAnswer(reading.answer(best), float(shares[best]), said, wrong))
    return answers


def how_many_are_right(answers: Sequence[TokenAnswer]) -> str:
    """Of the tokens of which it is known what is right; empty where of none it is."""
    known = [answer for answer in answers if answer.right]
    return f"{sum(not answer.wrong for answer in known)} right of {len(known)}" if known else ""


def label_of_text(reading: Reading | None, corpus: Corpus | None) -> tuple[Inked, ...]:
    """What a classifier says of the text, and what is right: "good 97 %", "gold bad"."""
    if reading is None or reading.trace.predicts.per != "text":
        return ()
    shares, gold = answer_at(reading.trace, -1), gold_of(reading, corpus)
    best = int(shares.argmax())
    right = " or ".join(reading.answer(id) for id in sorted(gold[0])) if gold else ""
    ink = "warning" if right and best not in gold[0] else "accent"
    told = Inked(f"{reading.answer(best)} {percentage(float(shares[best]))}", True, ink)
    return (told, Inked(f"gold {right}")) if right else (told,)
