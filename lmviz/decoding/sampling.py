"""Sampling one token after the other: by a uniform random number, greedily, or chosen by hand.

A draw u from [0, 1) falls on the first token of the ranking whose cumulative probability exceeds u:
inverse transform sampling (Devroye 1986, section II.2).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import TYPE_CHECKING

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.decoding.distribution import Distribution, distribution_under
from lmviz.decoding.options import SamplingOptions
from lmviz.looks.shown import Shown

if TYPE_CHECKING:
    from lmviz.decoding.continuation import Continuation
    from lmviz.models.model import Model
    from lmviz.text.tokenizer import Tokenizer

LINE_TOKENS = 40
LINE_END = "\n"


@dataclass(frozen=True, eq=False, repr=False)
class SamplingStep(Shown):
    """One token chosen.

    `draw` is the uniform number that chose it, None where it was taken greedily or by hand. `text` is
    the whole text with the token; `is_end` says that the model ended the document with it.
    """

    distribution: Distribution
    draw: float | None
    id: int
    token: str
    text: str
    is_end: bool

    @property
    def probability(self) -> float:
        """The probability the token had when it was chosen, after all filters."""
        return self.distribution.probability_of(self.id)


class Sampling(Shown, Iterator[SamplingStep]):
    """A continuation that grows by a token each time it is asked; `steps` are those so far."""

    def __init__(self, drawn: Iterator[SamplingStep]) -> None:
        self._drawn = drawn
        self.steps: list[SamplingStep] = []

    def __next__(self) -> SamplingStep:
        step = next(self._drawn)
        self.steps.append(step)
        return step


def uniform_draw(seed: int, count: int) -> float:
    """The draw number `count`, from 0, of a seed's stream: the same every time, whatever was drawn before."""
    bits = np.random.PCG64(seed).advance(count)
    return float(np.random.Generator(bits).random())


def distribution_after(continuation: Continuation, options: SamplingOptions) -> Distribution:
    """The distribution of the token that comes next, which is never one that only fills rows up."""
    return distribution_over(continuation.logits, options, continuation.model.tokenizer)


def distribution_over(
    logits: np.ndarray, options: SamplingOptions, tokenizer: Tokenizer | None
) -> Distribution:
    """The distribution of the token that comes next, from logits (token,) over a tokenizer's vocabulary."""
    logits = logits.copy()
    logits[never_written(tokenizer, len(logits))] = -np.inf
    return distribution_under(logits, options, () if tokenizer is None else tokenizer.tokens())


def never_written(tokenizer: Tokenizer | None, outputs: int) -> list[int]:
    """Which of so many ids are no text, as they only fill rows up."""
    padding = None if tokenizer is None else tokenizer.padding_id
    return [] if padding is None or padding >= outputs else [padding]


def choose(continuation: Continuation, options: SamplingOptions, draw: float | None = None) -> SamplingStep:
    """The token on which the draw lands; without a draw the likeliest."""
    distribution = distribution_after(continuation, options)
    return _step(
        continuation, distribution, draw, distribution.best if draw is None else distribution.at_draw(draw)
    )


def force(continuation: Continuation, options: SamplingOptions, id: int) -> SamplingStep:
    """A token chosen by hand, whatever its probability. LmvizError when there is no such id."""
    distribution = distribution_after(continuation, options)
    if not 0 <= id < len(distribution.logits):
        raise LmvizError(f"Token id {id} is not in the vocabulary of {len(distribution.logits)}.")
    return _step(continuation, distribution, None, id)


def sample(
    model: Model,
    prefix: str | Sequence[int] | np.ndarray,
    tokens: int = 20,
    options: SamplingOptions | None = None,
    chosen: Sequence[int] = (),
) -> Iterator[SamplingStep]:
    """At most `tokens` steps after a prefix, each drawn; the stream of draws is that of `options.seed`.

    A sample is carried on by giving the ids that were `chosen` so far: the draws go on where they
    were. It stops after END where `options.stop_at_end`. LmvizError when the prefix cannot be read.
    """
    from lmviz.decoding.continuation import Continuation

    options = options or SamplingOptions()
    draws = (uniform_draw(options.seed, len(chosen) + count) for count in range(tokens))
    return _run(Continuation.of(model, prefix, chosen), options, draws)


def greedy(
    model: Model,
    prefix: str | Sequence[int] | np.ndarray,
    tokens: int = 20,
    options: SamplingOptions | None = None,
) -> Iterator[SamplingStep]:
    """At most `tokens` steps after a prefix, each the likeliest token."""
    from lmviz.decoding.continuation import Continuation

    return _run(Continuation.of(model, prefix), options or SamplingOptions(), repeat(None, tokens))


def write_line(model: Model, options: SamplingOptions | None = None) -> str:
    """A line that a model writes with nothing before it: the longest of the first `LINE_TOKENS` tokens.

    It is empty where the model writes only blanks. LmvizError when the model predicts no tokens.
    """
    starts = model.tokenizer is not None and model.tokenizer.marks_boundaries
    text = ""
    for step in sample(model, "" if starts else LINE_END, LINE_TOKENS, options):
        text = step.text
    return max((line.strip() for line in text.split(LINE_END)), key=len)


def _run(
    continuation: Continuation, options: SamplingOptions, draws: Iterable[float | None]
) -> Iterator[SamplingStep]:
    step: SamplingStep | None = None
    for draw in draws:
        if step is not None:
            continuation = continuation.extended(step.id)
        step = choose(continuation, options, draw)
        yield step
        if step.is_end and options.stop_at_end:
            return


def _step(
    continuation: Continuation, distribution: Distribution, draw: float | None, id: int
) -> SamplingStep:
    return SamplingStep(
        distribution=distribution,
        draw=draw,
        id=id,
        token=distribution.token(id),
        text=continuation.text_with(id),
        is_end=continuation.is_end(id),
    )
