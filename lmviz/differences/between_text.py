"""What a model between two others expects after a text, and how it goes on."""

from __future__ import annotations

from dataclasses import dataclass

from lmviz.decoding.continuation import Continuation
from lmviz.decoding.distribution import Distribution
from lmviz.decoding.options import SamplingOptions
from lmviz.decoding.sampling import distribution_after, sample
from lmviz.differences.between import between
from lmviz.differences.pair import ModelPair

TEMPERATURE = 0.7
"""At which it writes, always with the same random numbers."""


@dataclass(frozen=True, eq=False)
class BetweenText:
    """The next token at a strength, and what is written after the text."""

    strength: float
    distribution: Distribution
    sample: str


def between_text(pair: ModelPair, strength: float, text: str, tokens: int) -> BetweenText:
    """The next token after a text, and a sample of so many tokens; LmvizError as of `between`."""
    model = between(pair, strength)
    options = SamplingOptions.from_values({"seed": 0, "temperature": TEMPERATURE})
    found = distribution_after(Continuation.of(model, text), SamplingOptions.from_values({}))
    written = text
    for step in sample(model, text, tokens, options):
        written = step.text
    return BetweenText(strength, found, written[len(text) :])
