"""What a set of texts asks a model: a contrast for each row, and the rows of which nothing can be asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lmviz.base.errors import LmvizError
from lmviz.circuits.contrast import Contrast
from lmviz.circuits.read_contrast import read_contrast
from lmviz.circuits.shipped_questions import ShippedQuestion
from lmviz.inspection.intervention import Intervention
from lmviz.inspection.measures import WordSum
from lmviz.inspection.scalar import AnyOf, token_named
from lmviz.inspection.scalar_words import answers_in
from lmviz.models.interruption import look_up
from lmviz.models.model import Model
from lmviz.text.text_set import TextRow, TextSet


@dataclass(frozen=True)
class SetQuestions:
    """The contrasts of the rows of a set that a model can be asked, with the numbers of these rows from 0.

    `troubles` says of each other row, by its number, why it is left out.
    """

    contrasts: tuple[Contrast, ...]
    rows: tuple[int, ...]
    troubles: dict[int, str]


def contrast_of(row: TextRow, measure: AnyOf | None = None) -> Contrast:
    """What a row asks: the logit of its wanted word minus that of the other, unless a measure is given.

    Without a wanted word and without a measure, it is the loss of the text itself.
    """
    if measure is None or measure == "":
        if row.wanted:
            measure = WordSum((row.wanted,), (row.other,) if row.other else (), of="logit")
        else:
            measure = "loss"
    return Contrast(row.text, row.changed, measure)


def questions_of(
    model: Model, given: TextSet, measure: AnyOf | None = None, interventions: Sequence[Intervention] = ()
) -> SetQuestions:
    """The contrasts of a set, each checked with the model; LmvizError where no row can be asked.

    A row cannot be asked where its wanted word is not one token, where its pair does not line up, or where
    the measure is none.
    """
    contrasts, rows, troubles = [], [], {}
    for number, row in enumerate(given):
        look_up(number / len(given))
        contrast = contrast_of(row, measure)
        try:
            read_contrast(model, contrast, interventions)
        except LmvizError as error:
            troubles[number] = str(error)
            continue
        contrasts.append(contrast)
        rows.append(number)
    if not contrasts:
        raise LmvizError(f"Nothing can be asked of the rows of this set; of the first: {troubles[0]}")
    return SetQuestions(tuple(contrasts), tuple(rows), troubles)


def set_of_questions(questions: Sequence[ShippedQuestion], model: Model) -> TextSet:
    """Those questions as files that are about a text and one or two words after it, as one set."""
    rows = []
    for question in questions:
        contrast = question.contrast
        if not isinstance(contrast.text, str) or contrast.source is not None:
            continue
        kind, colon, named = str(contrast.measure).partition(":")
        words = answers_in(named, lambda word: token_named(model, word) is not None)
        if kind != "logit" or not colon or not words:
            continue
        changed = contrast.changed if isinstance(contrast.changed, str) else None
        other = words[1] if len(words) > 1 else ""
        rows.append(TextRow(contrast.text, changed, words[0], other, fields={"question": question.title}))
    if not rows:
        raise LmvizError("No question that comes with lmviz is for this model: choose another set.")
    return TextSet(tuple(rows), "questions")
