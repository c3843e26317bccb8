"""A contrast as a model reads it: both texts prepared and lined up, and the number measured in both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.circuits.cached_pass import CachedPass
from lmviz.circuits.contrast import Contrast, MeasuredContrast
from lmviz.inspection.backpropagation import unchanged
from lmviz.inspection.measures import WordSum
from lmviz.inspection.recording import PreparedReading, prepared
from lmviz.inspection.scalar import read_scalar, token_named
from lmviz.inspection.scalar_words import answers_in
from lmviz.models.finite import parameters_without_numbers, why_not_finite
from lmviz.models.given_source import GivenSource
from lmviz.models.interruption import uncounted_work
from lmviz.models.sequences import SOURCE, TEXT

if TYPE_CHECKING:
    from lmviz.circuits.contrast import Read
    from lmviz.inspection.intervention import Intervention
    from lmviz.inspection.scalar import Scalar
    from lmviz.models.model import Model

LIKELIEST = 10
"""Among so many of the likeliest words of the changed text the one that gains most is proposed."""


@dataclass(frozen=True, eq=False)
class ReadContrast:
    """A contrast as a model reads it: both readings, and the number, which is the same cell in both.

    `changed` is None where there is no pair. `first` is the first position of the text that differs, as many
    as there are where the texts are alike.
    """

    model: Model
    clean: PreparedReading
    changed: PreparedReading | None
    scalar: Scalar
    first: int

    @property
    def span(self) -> int:
        """How many tokens have to be read: of a causal model those up to the measure."""
        if not self.model.causal or self.model.predicts.per == "text" or self.scalar.function is not None:
            return len(self.clean.ids)
        axes = next(tap.axes for tap in self.model.taps() if tap.address == self.scalar.address)
        along = [place for place, axis in enumerate(axes) if axis in ("position", "query")]
        if not along:
            return len(self.clean.ids)
        span = 1 + max(cell[along[0]] for cell in (*self.scalar.cells, *self.scalar.against))
        return span if self.model.reads_alike(span, len(self.clean.ids)) else len(self.clean.ids)

    def passes(self) -> tuple[CachedPass, CachedPass]:
        """Both readings, computed; LmvizError where there is no pair."""
        changed = self.check_is_pair()
        return CachedPass(self.model, self.clean, self.span), CachedPass(self.model, changed, self.span)

    def check_is_pair(self) -> PreparedReading:
        """The changed text; LmvizError where there is none."""
        if self.changed is None:
            raise LmvizError("There is nothing to carry over from: give a changed text beside the text.")
        return self.changed


@uncounted_work()
def read_contrast(
    model: Model, contrast: Contrast, interventions: Sequence[Intervention] = ()
) -> ReadContrast:
    """A contrast as a model reads it, under interventions.

    LmvizError where the two texts do not line up, and where there is no such number.
    """
    further: dict[str, Any] = {} if contrast.source is None else {SOURCE: contrast.source}
    if isinstance(model, GivenSource):
        further, model = {SOURCE: model.source}, model.unchanged
    model, interventions = unchanged(model, interventions)
    clean = prepared(model, _given(contrast.text), interventions, further)
    changed = None
    first = len(clean.ids)
    if contrast.is_pair:
        other = contrast.text if contrast.changed is None else contrast.changed
        if contrast.changed_source is not None:
            further = {SOURCE: contrast.changed_source}
        changed = prepared(model, _given(other), interventions, further)
        first = _check_lined_up(clean, changed)
    of = contrast.measure or _proposed(model, clean, changed)
    values = {} if isinstance(of, str | WordSum) else CachedPass(model, clean).values
    return ReadContrast(model, clean, changed, read_scalar(of, model, clean.ids, values), first)


def check_is_number(model: Model, name: str, *numbers: float) -> None:
    """LmvizError where a measure of that name is infinite or none in a text as it is, and why that is so."""
    if np.isfinite(numbers).all():
        return
    if parameters_without_numbers(model):
        raise LmvizError(why_not_finite(model, "its predictions"))
    raise LmvizError(
        f"{name} is not a finite number here, so nothing can be compared with it: choose another "
        "measure, such as a probability, or undo what makes it so."
    )


def measured_contrast(
    model: Model, contrast: Contrast, interventions: Sequence[Intervention] = ()
) -> MeasuredContrast:
    """What a contrast comes to in both texts; LmvizError as of `read_contrast`."""
    question = read_contrast(model, contrast, interventions)
    is_source = contrast.changed_source is not None

    def tokens(reading: PreparedReading | None) -> tuple[str, ...]:
        if reading is None:
            return ()
        return reading.beside[SOURCE].tokens if is_source else reading.prefix.tokens

    numbers = [
        CachedPass(question.model, reading, question.span).measure(question.scalar)
        for reading in (question.clean, question.changed)
        if reading is not None
    ]
    stated = question.scalar.name if isinstance(contrast.measure, str) else contrast.measure
    return MeasuredContrast(
        replace(contrast, measure=stated),
        numbers[0],
        numbers[1] if len(numbers) > 1 else None,
        SOURCE if is_source else TEXT,
        tokens(question.clean),
        tokens(question.changed),
        question.scalar.said,
    )


def _proposed(model: Model, clean: PreparedReading, changed: PreparedReading | None) -> str:
    """What tells two texts apart: the likeliest word of each, by their logits after the last token.

    Where that is the same word, it is held against the one that gains most by the change. Of one text it is
    the likeliest word, held against the next. For labels likewise. Two words that would be read as
    one, such as "well" and "known" where there is "well-known", are passed over.
    """
    rows = [
        CachedPass(model, reading).values["logits"][0].reshape(-1, model.outputs)[-1].cpu().double().numpy()
        for reading in (clean, changed)
        if reading is not None
    ]
    best = int(rows[0].argmax())
    likely = np.argsort(-rows[-1], kind="stable")[:LIKELIEST]
    gains = np.subtract(rows[-1], rows[0], where=np.isfinite(rows[0]), out=rows[-1].copy())
    gains = gains if len(rows) > 1 else rows[0]
    others = sorted((int(token) for token in likely if token != best), key=lambda token: -gains[token])
    for other in ([int(likely[0])] if likely[0] != best else []) + others:
        measure = one_against_other(model, best, other)
        if measure:
            return measure
    return _at_the_end(model, f"logit:{_word(model, best)}")


def one_against_other(model: Model, one: int, other: int) -> str:
    """The measure of one word or label against another, by their ids, after the last token.

    Empty where the two names together would be read as something else.
    """
    pair = _word(model, one), _word(model, other)
    if answers_in("-".join(pair), partial(_is_answer, model)) != pair:
        return ""
    return _at_the_end(model, f"logit:{pair[0]}-{pair[1]}")


def _is_answer(model: Model, word: str) -> bool:
    if not model.predicts.continues:
        return word in model.predicts.names
    return token_named(model, word) is not None


def _at_the_end(model: Model, measure: str) -> str:
    """The same, with its place where a word would be read as one; a label of a whole text has no place."""
    return f"{measure}@-1" if "@" in measure and model.predicts.per != "text" else measure


def _word(model: Model, token: int) -> str:
    """What a token or a label is called in a measure: as it is displayed, if that names it."""
    if not model.predicts.continues:
        return model.predicts.names[token]
    if model.tokenizer is None:
        return str(token)
    displayed = model.tokenizer.token(token)
    return displayed if token_named(model, displayed) == token else model.tokenizer.spellings()[token]


def _given(read: Read) -> str | np.ndarray:
    return read if isinstance(read, str) else np.array(read)


def _check_lined_up(clean: PreparedReading, changed: PreparedReading) -> int:
    """The first position of the text that differs; LmvizError where tokens do not stand side by side."""
    sides = {TEXT: (clean.prefix, changed.prefix)}
    sides |= {name: (read, changed.beside[name]) for name, read in clean.beside.items()}
    for name, (one, other) in sides.items():
        if len(one) != len(other):
            place = next(
                (at for at, pair in enumerate(zip(one.ids, other.ids, strict=False)) if pair[0] != pair[1]),
                min(len(one), len(other)),
            )
            met = [f"“{side.tokens[place]}”" if place < len(side) else "the end" for side in (one, other)]
            raise LmvizError(
                f"The two {'texts' if name == TEXT else f'{name}s'} do not line up: they have {len(one)} and "
                f"{len(other)} tokens and first differ at token {place + 1}, {met[0]} and {met[1]}; "
                "replace words by others of as many tokens."
            )
    differing = np.flatnonzero(clean.ids != changed.ids)
    beside = any(
        not np.array_equal(one.ids, other.ids) for name, (one, other) in sides.items() if name != TEXT
    )
    if beside:
        return 0
    if not len(differing):
        raise LmvizError("The two texts are the same, so nothing can be carried over: change one of them.")
    return int(differing[0])
