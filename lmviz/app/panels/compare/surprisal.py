"""Each model's surprisal at each word of the prefix, and where their predictions differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from lmviz.app.panels.compare.expectation import UnitsCache
from lmviz.app.panels.look_panel import AskingPanel
from lmviz.app.panels.question import Key, Question
from lmviz.app.session.comparison import ComparedModel, names_of_compared, turns_of
from lmviz.app.session.session import Session
from lmviz.base.errors import LmvizError
from lmviz.decoding.comparison import disagreement_of, shares_after, surprisal_over
from lmviz.decoding.likelihood import text_log_probabilities
from lmviz.inspection.recipes.decoding import comparison_recipe, likelihood_recipe
from lmviz.looks.look import Look
from lmviz.looks.names import Names
from lmviz.looks.parts import CurveNames, WordCurves
from lmviz.looks.word_curve import WordCurve
from lmviz.text.tokenizer import START, Encoding, visible

if TYPE_CHECKING:
    from lmviz.models.model import Model

LATEST = 256
"""On how many tokens at the end of a long text the models' expectations are compared in full."""

Models = tuple[ComparedModel, ...]
DISAGREEMENT = "disagreement"


@dataclass(frozen=True, eq=False)
class Surprised:
    """How much each word surprised each of some models.

    `bits` has the curve (word,) of each model, and `shares` of each what it expects after some words.
    `tokens` are the words as the shown model has them, from the position `first` on, with their `ends` in the
    text; `read` are they as surgery has them read. `disagreement` (word,) is the divergence of what comes
    after each word, in bits; None with a single model, and until it is known.
    """

    text: str
    first: int
    tokens: tuple[str, ...]
    ends: tuple[int, ...]
    bits: tuple[np.ndarray, ...]
    shares: tuple[Mapping[int, np.ndarray], ...]
    read: tuple[str, ...]
    disagreement: np.ndarray | None = None

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words as each model reads them."""
        return tuple(
            visible(token) if token == other else f"{visible(token)} / {visible(other)}"
            for token, other in zip(self.tokens, self.read, strict=True)
        )


class SurprisalPanel(AskingPanel[Models, "Surprised | str"]):
    """One curve per compared model over the tokens of the shown one; a hovered word is so in all panels.

    The curves come first, and where the models disagree is added to them.
    """

    title = "Surprisal over the text, bits"
    key = Key("surprisal")
    follows = (
        "comparison.changed",
        "reading.encoding_changed",
        "work.ready_changed",
        "focus.position_changed",
        "focus.hovered_position_changed",
    )
    needs_next_word = "See Labels, or open a language model to see how much each word surprises it."

    _hidden: frozenset[str] = frozenset()  # models of which only the name is shown

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._units = UnitsCache()

    @property
    def curves(self) -> tuple[WordCurve, ...]:
        """What is drawn, in the order of the models."""
        plots = [part for part in self.shown_look.parts if isinstance(part, WordCurves)]
        return tuple(plots[0].curves) if plots else ()

    @property
    def disagreement(self) -> np.ndarray | None:
        """The divergence (word,) of what comes after each word, in bits; None with a single model."""
        return self.found.disagreement if isinstance(self.found, Surprised) else None

    def question(self) -> Question[Models, Surprised | str] | Look:
        models, reading = self.session.comparison.models, self.session.reading
        encoding, text = reading.encoding, reading.prefix
        if not models:
            return Look(instead="Open or train a model to see its surprisal.")
        first = 0
        if encoding is not None and len(encoding):  # START has no surprisal and no place in the text
            first = int(self._is_start(encoding))
        if encoding is None or len(encoding) <= first:
            return Look(instead="Type a prefix above.")
        tokens, spans, cache = tuple(encoding.tokens[first:]), encoding.offsets[first:], self._units
        opened = [item.model for item in models]

        def work(found: Iterator[Model]) -> Surprised | str:
            bits, shares, read = [], [], tokens
            try:
                for place, model in enumerate(found):
                    likelihood = text_log_probabilities(model, text)
                    # The text before the shown model's context is not part of the first word.
                    bits.append(surprisal_over(likelihood, [(0, spans[0][0]), *spans])[1:])
                    changed = tuple(token.token for token in likelihood.tokens) if likelihood.differs else ()
                    read = changed if read is tokens and len(changed) == len(tokens) else read
                    if len(opened) > 1:
                        shares.append(shares_after(model, text, cache.units(opened), place, LATEST))
            except LmvizError as sentence:
                return str(sentence)
            ends = tuple(end for _, end in spans)
            own = read if len(opened) == 1 else tokens
            return Surprised(text, first, own, ends, tuple(bits), tuple(shares), read)

        return Question(self.key, models, work, about=(text, tokens, spans))

    def goes_on(self, models: Models, found: Surprised | str) -> Question[Surprised, Surprised | str] | None:
        if isinstance(found, str) or len(models) < 2 or found.disagreement is not None:
            return None
        return Question(self.key, found, _with_disagreement)

    def look(self, models: Models, found: Surprised | str) -> Look:
        if isinstance(found, str):
            return Look(instead=found)
        focus, first, names = self.session.focus, found.first, names_of_compared(models)
        curves = [
            WordCurve(name, item.model.color_index, bits, turn, name not in self._hidden)
            for name, item, bits, turn in zip(names, models, found.bits, turns_of(models), strict=True)
        ]
        hovered, below = focus.hovered_position, found.disagreement
        plot = WordCurves(
            says="surprisal of each token",
            share=1,
            words=found.words,
            curves=curves,
            below=below,
            current=focus.position - first,
            hovered=-1 if hovered is None else hovered - first,
            pointed=lambda word: focus.hover_position(word + first if word >= 0 else None),
            clicked=lambda word: focus.choose_position(word + first),
        )
        arrays = dict(zip(names, found.bits, strict=True)) | ({} if below is None else {DISAGREEMENT: below})
        read = [item.reads(found.text) for item in models]
        return Look(
            (plot,),
            aside=_said(found),
            head=(CurveNames(curves=curves, clicked=self._hide),),
            arrays=arrays,
            units=dict.fromkeys(arrays, "bits"),
            names=Names(found.tokens),
            recipe=comparison_recipe(read) if len(read) > 1 else likelihood_recipe(read[0]),
        )

    def _is_start(self, encoding: Encoding) -> bool:
        """Whether the first token is START; a stored one tells by its name, without its tokenizer."""
        reading = self.session.reading
        if reading.is_stored or reading.tokenizer is None:
            return encoding.tokens[0] == START
        return bool(encoding.ids[0] == reading.tokenizer.start_id)

    def _hide(self, name: str) -> None:
        self._hidden ^= {name}
        self.refresh()


def _with_disagreement(found: Surprised) -> Surprised:
    apart = disagreement_of(found.shares)
    at = dict(zip(apart.places.tolist(), apart.divergence.tolist(), strict=True))
    return replace(found, disagreement=np.array([at.get(end, np.nan) for end in found.ends]))


def _said(found: Surprised) -> str:
    """After which word the models disagree most."""
    values = found.disagreement
    if values is None or not np.isfinite(values).any():
        return ""
    most = int(np.nanargmax(values))
    return f"disagreement below, most after “{found.words[most]}”: {values[most]:.2f} bits"
