"""What a model predicts: the next token, a label for every token, or one label for the text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Prediction:
    """Over what a model gives a distribution, and for what.

    `axis` is the last axis of logits and probabilities. `names` are the labels in the order of their ids;
    the names of tokens are the tokenizer's. `per` says whether every position has a distribution, or the
    text as a whole.
    """

    axis: Literal["token", "label"] = "token"
    names: tuple[str, ...] = ()
    per: Literal["position", "text"] = "position"

    @property
    def axes(self) -> tuple[str, ...]:
        """The axes of logits and probabilities."""
        return (self.axis,) if self.per == "text" else ("position", self.axis)

    @property
    def continues(self) -> bool:
        """Whether a text can be continued by what is predicted."""
        return self.axis == "token"

    def describe(self) -> str:
        """What is predicted, in words: "one of 4 labels for each token"."""
        if self.axis == "token":
            return "the next token"
        return f"one of {len(self.names)} labels for {'the text' if self.per == 'text' else 'each token'}"


NEXT_TOKEN = Prediction()
