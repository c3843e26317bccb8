"""Measures that are more than one word: a set of words, a function of the answer, a distance to the model.

Wherever a number is chosen by "logit:night@4", one of these may stand in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from lmviz.base.arguments import words as as_words
from lmviz.base.errors import LmvizError
from lmviz.models.address import with_heads
from lmviz.models.other_names import hint

OF = ("logit", "probability")


class ModelAnswer:
    """What a model computed for one text, as a measure reads it: tensors without a batch.

    `answer.logits` and `answer.probabilities` are (position, token), or with labels; `answer[address]` is the
    value of any tap, (*axes). `answer.unchanged` is the answer of the model as it is: without interventions,
    and in patching and ablation without the parts that are tried.
    """

    def __init__(
        self,
        values: Mapping[str, torch.Tensor],
        row: int = 0,
        unchanged: Callable[[], Mapping[str, torch.Tensor]] | None = None,
        noted: set[str] | None = None,
    ) -> None:
        self._values, self._row = values, row
        self._unchanged, self._noted = unchanged, noted

    def __getitem__(self, address: str) -> torch.Tensor:
        """The value of a tap, (*axes); LmvizError where there is none."""
        address = with_heads(address)
        if address not in self._values:
            raise LmvizError(f"No tap is called {address!r}: {hint(address, self._values)}")
        if self._noted is not None:
            self._noted.add(address)
        value = self._values[address]
        return value[self._row if value.shape[0] > 1 else 0]

    @property
    def logits(self) -> torch.Tensor:
        """(position, token) or (position, label); (label,) of a whole text."""
        return self["logits"]

    @property
    def probabilities(self) -> torch.Tensor:
        """In the shape of the logits."""
        return self["probabilities"]

    @property
    def unchanged(self) -> ModelAnswer:
        """The answer of the model as it is."""
        if self._unchanged is None:
            return ModelAnswer(self._values, self._row, None, self._noted)
        return ModelAnswer(self._unchanged(), 0, None, self._noted)


Measure = Callable[[ModelAnswer], Any]
"""A measure of one's own: a number from an answer, by torch where gradients are taken of it."""


@dataclass(frozen=True)
class WordSum:
    """The sum of the probabilities of a set of words, or of their logits, minus that of others.

    `position` is the token after which they are meant, as everywhere counted from 0, or from the end.
    """

    words: tuple[str, ...]
    against: tuple[str, ...] = ()
    of: str = "probability"
    position: int = -1

    def __post_init__(self) -> None:
        object.__setattr__(self, "words", as_words("word", self.words, " night"))
        object.__setattr__(self, "against", as_words("word", self.against, " day"))
        if self.of not in OF:
            raise LmvizError(f"Words are measured by their 'probability' or their 'logit', not {self.of!r}.")
        if not self.words:
            raise LmvizError("There is no word to measure: give at least one.")
        if self.of == "logit" and self.against and len(self.against) != len(self.words):
            raise LmvizError(
                f"Logits of {len(self.words)} words minus those of {len(self.against)} depend on how many "
                "there are: give as many, or ask for probabilities."
            )

    @property
    def name(self) -> str:
        """In one line, such as "probability:{ night, evening}-{ day}"."""
        sides = [f"{{{','.join(side)}}}" for side in (self.words, self.against) if side]
        return f"{self.of}:{'-'.join(sides)}"


@dataclass(frozen=True)
class Divergence:
    """The Kullback–Leibler divergence from the unchanged model's answer to this one, in nats.

    After token `position`, or the mean over all positions where it is None. It is 0 for the model as it is.
    """

    position: int | None = -1

    @property
    def name(self) -> str:
        """In one line."""
        return "divergence" if self.position is None else f"divergence@{self.position}"

    def __call__(self, answer: ModelAnswer) -> torch.Tensor:
        before = answer.unchanged.logits.cpu().double().log_softmax(dim=-1)
        after = answer.logits.cpu().double().log_softmax(dim=-1)
        inner = torch.where(before.isneginf(), torch.zeros(()).to(before), before.exp() * (before - after))
        each = inner.sum(dim=-1)
        if each.ndim == 0:
            return each
        if self.position is None:
            return each.mean()
        if not -len(each) <= self.position < len(each):
            raise LmvizError(f"There is no position {self.position}: there are {len(each)}.")
        return each[self.position]


def name_of(measure: Any) -> str:
    """What a measure is called, in one line."""
    named = getattr(measure, "name", None) or getattr(measure, "__name__", None)
    return str(named) if named else type(measure).__name__
