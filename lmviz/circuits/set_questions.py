"""What a set of texts asks a model: a contrast for each row, and the rows of which nothing can be asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.circuits.cached_pass import CachedPass
from lmviz.circuits.contrast import Contrast
from lmviz.circuits.read_contrast import ReadContrast, check_is_number, read_contrast
from lmviz.circuits.shipped_questions import ShippedQuestion
from lmviz.inspection.intervention import Intervention
from lmviz.inspection.measures import WordSum
from lmviz.inspection.scalar import AnyOf, token_named
from lmviz.inspection.scalar_words import answers_in
from lmviz.looks.shown import Shown
from lmviz.models.interruption import look_up, uncounted_work
from lmviz.models.model import Model
from lmviz.text.text_set import TextRow, TextSet

NO_TEXT = "The row has no text: give one."


@dataclass(frozen=True, repr=False)
class SetQuestions(Shown):
    """The contrasts of the rows of a set that a model can be asked, with the numbers of these rows from 0.

    `values` (row,) is the measure of every row of the set, NaN where it is left out, and `troubles` says of
    such a row, by its number, why.
    """

    contrasts: tuple[Contrast, ...]
    rows: tuple[int, ...]
    values: np.ndarray
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


@dataclass(frozen=True, eq=False)
class AskedRow:
    """A row that a model was asked about, by its number: what was read and its `value`, or the trouble."""

    number: int
    contrast: Contrast
    question: ReadContrast | None = None
    read: CachedPass | None = None
    value: float = float("nan")
    trouble: str = ""


def asking_rows(
    model: Model, given: TextSet, measure: AnyOf | None, interventions: Sequence[Intervention]
) -> Iterator[AskedRow]:
    """Each row as it is asked; LmvizError at the end where none could be."""
    trouble = ""
    was_asked = False
    for number, row in enumerate(given):
        look_up(number / len(given))
        contrast = contrast_of(row, measure)
        if not row.text.strip():
            trouble = trouble or NO_TEXT
            yield AskedRow(number, contrast, trouble=NO_TEXT)
            continue
        try:
            with uncounted_work():
                question = read_contrast(model, contrast, interventions)
                read = CachedPass(question.model, question.clean, question.span)
                value = read.measure(question.scalar)
                check_is_number(question.model, question.scalar.name, value)
        except LmvizError as error:
            trouble = trouble or str(error)
            yield AskedRow(number, contrast, trouble=str(error))
        else:
            was_asked = True
            yield AskedRow(number, contrast, question, read, value)
    if not was_asked:
        raise LmvizError(f"Nothing can be asked of the rows of this set; of the first: {trouble}")


def questions_of(
    model: Model, given: TextSet, measure: AnyOf | None = None, interventions: Sequence[Intervention] = ()
) -> SetQuestions:
    """The contrasts of a set, each checked with the model; LmvizError where no row can be asked.

    A row cannot be asked where its wanted word is not one token, where its pair does not line up, or where
    the measure is none, or no number.
    """
    contrasts: dict[int, Contrast] = {}
    troubles: dict[int, str] = {}
    values = np.full(len(given), np.nan)
    for row in asking_rows(model, given, measure, interventions):
        values[row.number] = row.value
        if row.trouble:
            troubles[row.number] = row.trouble
        else:
            contrasts[row.number] = row.contrast
    return SetQuestions(tuple(contrasts.values()), tuple(contrasts), values, troubles)


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
