"""The result of a decoding method: a continuation with its score, to compare several methods."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lmviz.decoding.beam import length_normaliser
from lmviz.decoding.continuation import Continuation
from lmviz.decoding.likelihood import perplexity_of, text_log_probabilities

if TYPE_CHECKING:
    from lmviz.models.model import Model


@dataclass(frozen=True)
class Outcome:
    """A continuation under a model, whatever filters it was drawn through.

    `text` is what stands after the prefix. `log_probability` (nats) is that of the chosen tokens given
    the prefix, and `score` the same after length normalisation.
    """

    chosen: tuple[int, ...]
    text: str
    log_probability: float
    score: float

    @property
    def perplexity(self) -> float | None:
        """Per chosen token; None without any."""
        return perplexity_of(self.log_probability, len(self.chosen))


def outcome(
    model: Model,
    prefix: str,
    chosen: Sequence[int],
    length_penalty: float = 0.0,
    length_formula: str = "shifted",
) -> Outcome:
    """Score the ids chosen after a prefix. LmvizError when the prefix cannot be read."""
    continuation = Continuation.of(model, prefix, chosen)
    first = len(continuation.prefix)
    scored = text_log_probabilities(model, continuation.ids).tokens
    log_probabilities = [token.log_probability for token in scored if token.position >= first]
    # only the first token of all has no probability, and a prefix has at least one
    total = sum(value for value in log_probabilities if value is not None)
    normaliser = length_normaliser(len(chosen), length_penalty, length_formula)
    return Outcome(tuple(chosen), continuation.text[len(prefix) :], float(total), float(total / normaliser))
