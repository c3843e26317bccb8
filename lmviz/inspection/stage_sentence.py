"""Fills the sentence about a stage with the word, the numbers and the names of the reading that is shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from string import Formatter
from typing import NamedTuple

import numpy as np

from lmviz.base.counting import numbered
from lmviz.base.figures import percentage
from lmviz.inspection.stage_sentences import CLASS, LABELS, OTHERWISE, SENTENCES
from lmviz.inspection.trace import Trace
from lmviz.models.address import Address
from lmviz.models.tap import Stage
from lmviz.text.tokenizer import of_units, visible


class Piece(NamedTuple):
    """A stretch of a sentence; `is_filled` where it is of the reading and not of the table."""

    text: str
    is_filled: bool


def stage_sentence(
    trace: Trace, stage: int, position: int, head: int, token: Callable[[int], str], noun: str = "word"
) -> tuple[Piece, ...]:
    """What a stage does at a position, and in a head, in one sentence.

    `token` gives the word of an id, and `noun` says what it is called: see `Tokenizer.noun`.
    """
    here = trace.stages[stage]
    about = _About(trace, here, position, head, token, noun)
    pieces = []
    for text, name, _, _ in Formatter().parse(of_units(sentence_of(trace, here), noun)):
        pieces += [Piece(text, False)] if text else []
        pieces += [Piece(getattr(about, name), True)] if name else []
    return tuple(pieces)


def sentence_of(trace: Trace, stage: Stage) -> str:
    """The sentence with its names in braces."""
    answers = {"position": LABELS, "text": CLASS}[trace.predicts.per]
    kinds = ("*", trace.family, answers if trace.predicts.axis == "label" else "", stage.title)
    result = Address.parse(stage.results[0])
    fits = (sentence for of, pattern, sentence in SENTENCES if of in kinds and result.matches(pattern))
    return next(fits, OTHERWISE)


def plain(pieces: tuple[Piece, ...]) -> str:
    """The sentence as it is read."""
    return "".join(piece.text for piece in pieces)


@dataclass(frozen=True)
class _About:
    """What a sentence may mention of a stage, at a position and in a head."""

    trace: Trace
    stage: Stage
    at: int
    number_of_head: int
    token: Callable[[int], str]
    noun: str

    @property
    def title(self) -> str:
        """The stage's title."""
        return self.stage.title

    @property
    def word(self) -> str:
        """The word at the position."""
        return self._word_at(self.at)

    @property
    def place(self) -> str:
        """The number of the position."""
        return str(self.at + 1)

    @property
    def head(self) -> str:
        """The number of the head."""
        return str(numbered(self.number_of_head))

    @property
    def layer(self) -> str:
        """The number of the layer."""
        layer = Address.parse(self.stage.place).layer
        assert layer is not None
        return str(numbered(layer))

    @property
    def input(self) -> str:
        """What a recurrent layer reads: the word, or what the layer below makes of it."""
        return self.word if self.layer == "1" else f"the state below at {self.word}"

    @property
    def memory(self) -> str:
        """What a recurrent layer remembers, of the words before, or after where it reads from the right."""
        shift = next((shift for shift in self.stage.shifts if shift), -1)
        if not 0 <= self.at + shift < len(self.trace):
            return "the empty state at the start"
        return f"the state after {self._word_at(self.at + shift)}"

    @property
    def window(self) -> str:
        """The words that a fixed window reads."""
        first = max(0, self.at - self.stage.spans[0] + 1)
        return " ".join(self._word_at(position) for position in range(first, self.at + 1))

    @property
    def most(self) -> str:
        """The word that is looked at most."""
        return self._word_at(int(np.argmax(self._weights)))

    @property
    def share(self) -> str:
        """How much of its attention that word gets."""
        return percentage(float(np.max(self._weights)))

    @property
    def mean(self) -> str:
        """The mean of what the stage makes."""
        return percentage(float(self._result.mean()))

    @property
    def value(self) -> str:
        """The single number that the stage makes."""
        return percentage(float(self._result))

    @property
    def leader(self) -> str:
        """The word or the label with the largest number."""
        likeliest = int(np.argmax(self._result))
        labels = self.trace.names("label") if self.trace[self.stage.results[0]].axes[-1] == "label" else ()
        return f"“{labels[likeliest] if labels else visible(self.token(likeliest))}”"

    @property
    def lead(self) -> str:
        """That number."""
        return percentage(float(np.max(self._result)))

    @property
    def order(self) -> int:
        """The order of an n-gram."""
        order = Address.parse(self.stage.place).order
        assert order is not None
        return order

    @property
    def words(self) -> str:
        """How many words the context of the order has."""
        return of_units("1 word" if self.order == 2 else f"{self.order - 1} words", self.noun)

    @property
    def context(self) -> str:
        """The words of the text that the order looks for."""
        if self.at + 1 < self.order - 1:
            return f"the beginning and {self.word}" if self.at == 0 else "the beginning of the text"
        first = self.at - self.order + 2
        return f"“{' '.join(visible(word) for word in self.trace.tokens[first : self.at + 1])}”"

    @property
    def seen(self) -> str:
        """Whether the context was matched."""
        return "was seen" if (self._result >= 0).any() else "was never seen"

    @property
    def cases(self) -> str:
        """How often anything was counted."""
        total = float(self.trace[f"{self.stage.place}/total"].at(position=self.at))
        return "1 case" if total == 1 else f"{total:,.0f} cases"

    @cached_property
    def _weights(self) -> np.ndarray:
        """The attention of the word in the head, (key,)."""
        weights = self.trace[f"{self.stage.place}/weights"]
        return weights.at(head=min(self.number_of_head, weights.shape[0] - 1), query=self.at)

    @cached_property
    def _result(self) -> np.ndarray:
        """What the stage makes at the position, or of the text where it has none."""
        made = self.trace[self.stage.results[0]]
        return made.at(position=self.at) if "position" in made.axes else made.array

    def _word_at(self, position: int) -> str:
        return f"“{visible(self.trace.tokens[position])}”"
