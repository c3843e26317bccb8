"""The game "Which is real?": a held-out passage next to a continuation that a model generated."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.decoding.continuation import Continuation
from lmviz.decoding.distribution import distribution_under
from lmviz.decoding.options import SamplingOptions
from lmviz.decoding.sampling import uniform_draw
from lmviz.text.stretch import Stretch, Stretches

if TYPE_CHECKING:
    from lmviz.models.model import Model
    from lmviz.text.stream import Stream
    from lmviz.text.tokenizer import Tokenizer


@dataclass(frozen=True)
class Pair:
    """The same beginning continued twice, by the corpus and by a model."""

    beginning: str
    real: str
    invented: str
    real_first: bool

    @property
    def shown(self) -> tuple[str, str]:
        """Both continuations in the order in which to show them."""
        return (self.real, self.invented) if self.real_first else (self.invented, self.real)


@dataclass(frozen=True)
class RealGame:
    """Pairs, and for each one played whether the real passage was found."""

    pairs: tuple[Pair, ...]
    found: tuple[bool, ...] = ()

    @property
    def current(self) -> Pair | None:
        """The pair to be judged next; None when the game is over."""
        return self.pairs[len(self.found)] if len(self.found) < len(self.pairs) else None

    @property
    def score(self) -> int:
        """How many real passages were found."""
        return sum(self.found)

    def answered(self, first: bool) -> RealGame:
        """The game after someone took the first passage, or the second, to be real."""
        if self.current is None:
            raise LmvizError("The game is over: start a new one.")
        return dataclasses.replace(self, found=(*self.found, first == self.current.real_first))


@dataclass(frozen=True)
class HeldOutPassage:
    """A stretch of held-out text: what both players begin with, and how it really went on."""

    beginning: str
    real: str


def choose_passages(
    stream: Stream, count: int, *, before: int = 12, length: int = 24, seed: int = 0
) -> tuple[HeldOutPassage, ...]:
    """Passages of held-out text that lie within one document and do not overlap.

    `before` and `length` count tokens. LmvizError when no document is long enough.
    """
    ids, tokenizer, stretches = stream.ids, stream.tokenizer, Stretches(stream)
    whole = before + length
    firsts = np.arange(0, len(ids) - whole + 1, max(1, whole // 2))
    marks = [id for id in (tokenizer.start_id, tokenizer.end_id) if id is not None]
    marks_before = np.concatenate([[0], np.cumsum(np.isin(ids, marks))])  # (position + 1,)
    taken: list[int] = []
    for first in np.random.default_rng(seed).permutation(firsts):
        apart = all(abs(first - other) >= whole for other in taken)
        if apart and marks_before[first + whole] == marks_before[first]:
            taken.append(int(first))
        if len(taken) == count:
            break
    if not taken:
        raise LmvizError(
            f"No held-out document has {whole} tokens: ask for a shorter passage, or open a longer corpus."
        )
    return tuple(_passage(stretches.at(first, first + whole), before) for first in taken)


def fitting_passages(
    stream: Stream, count: int, *, before: int = 12, length: int = 24, seed: int = 0
) -> tuple[HeldOutPassage, ...]:
    """`choose_passages`, halved until a document is long enough. LmvizError when none has three tokens."""
    while True:
        try:
            return choose_passages(stream, count, before=before, length=length, seed=seed)
        except LmvizError:
            if before <= 1 and length <= 2:
                raise
            before, length = max(1, before // 2), max(2, length // 2)


def _passage(found: Stretch, before: int) -> HeldOutPassage:
    beginning, complete = found.decoded(before), found.decoded(len(found.ids))
    return HeldOutPassage(beginning, complete[len(beginning) :])


def invent(model: Model, passage: HeldOutPassage, options: SamplingOptions) -> Pair:
    """A passage beside a model's own continuation, as many characters long or a token longer.

    It is drawn with the seed of `options`, which also decides what is shown first. START, END
    and the unknown token are left out, since they would give the model away; where it can say nothing
    else, its passage stays short.
    """
    continuation = Continuation.of(model, passage.beginning)
    wanted = len(passage.beginning) + len(passage.real)
    unwritten = _unwritten(model.tokenizer)
    count = 0
    while len(continuation.text) < wanted:
        logits = continuation.logits.copy()
        logits[unwritten] = -np.inf
        if np.isneginf(logits).all() or count > len(passage.real):
            break
        distribution = distribution_under(logits, options)
        continuation = continuation.extended(distribution.at_draw(uniform_draw(options.seed, count)))
        count += 1
    invented = continuation.text[len(passage.beginning) :]
    real_first = uniform_draw(options.seed, count) < 0.5
    return Pair(passage.beginning, passage.real, invented, real_first)


def _unwritten(tokenizer: Tokenizer | None) -> list[int]:
    """The ids of tokens without text."""
    if tokenizer is None:
        return []
    unknown = () if tokenizer.unknown_id is None else (tokenizer.unknown_id,)
    return [*tokenizer.special_ids, *unknown]
