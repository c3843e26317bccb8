"""One text after two histories: each word predicted from the right words before it, or from the model's own.

Reading the right words whatever was predicted is teacher forcing (Williams & Zipser 1989). A model is trained
so, and writes otherwise: once its own words differ from the right ones it reads what it was not trained on
(exposure bias: Bengio et al. 2015).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.decoding.continuation import Continuation
from lmviz.decoding.options import SamplingOptions
from lmviz.decoding.sampling import distribution_after
from lmviz.models.prefix import read_prefix

if TYPE_CHECKING:
    from lmviz.models.model import Model

LONGEST = 200
"""A text may have so many tokens: they are read one after the other."""


@dataclass(frozen=True, eq=False)
class Histories:
    """A text read both ways; everything has one entry for each token that has a probability.

    `right` are the tokens of the text, and `own` those that the model chose, each the likeliest after its own
    before it. `after_right` and `after_own` are what the right token costs in bits, −log₂ p, after the right
    ones and after the model's own. Where the model has ended its text, nothing comes after it: `own` is
    empty there and `after_own` NaN.
    """

    right: tuple[str, ...]
    own: tuple[str, ...]
    after_right: np.ndarray
    after_own: np.ndarray

    @property
    def parted(self) -> int | None:
        """The first place where the model's own token is not the right one; None where there is none."""
        pairs = enumerate(zip(self.right, self.own, strict=True))
        return next((place for place, (right, own) in pairs if right != own), None)

    @property
    def totals(self) -> tuple[float, float]:
        """The bits of the whole text after the right tokens, and after its own as far as the model wrote."""
        return float(self.after_right.sum()), float(np.nansum(self.after_own))


def read_both_ways(model: Model, text: str) -> Histories:
    """Read a text after its own words, as in training, and after those that the model chooses.

    Both begin with what nothing stands before. LmvizError for a text without a token that has a probability,
    or of more than LONGEST tokens.
    """
    model.check_continues()
    ids = read_prefix(model, text).ids
    if len(ids) < 2:
        raise LmvizError("No word of this text has a probability: type a longer one.")
    if len(ids) > LONGEST:
        raise LmvizError(f"A text of {len(ids)} tokens takes too long: give at most {LONGEST}.")
    right = own = Continuation.of(model, ids[:1])
    words: list[str] = []
    after_right, after_own = np.full(len(ids) - 1, math.nan), np.full(len(ids) - 1, math.nan)
    for place, id in enumerate(ids[1:].tolist()):
        after_right[place] = _bits(right.logits, id)
        right = right.extended(id)
        if own.has_ended:
            words.append("")
            continue
        after_own[place] = _bits(own.logits, id)
        chosen = distribution_after(own, SamplingOptions()).best
        words.append(_word(model, chosen))
        own = own.extended(chosen)
    return Histories(tuple(_word(model, id) for id in ids[1:].tolist()), tuple(words), after_right, after_own)


def _bits(logits: np.ndarray, id: int) -> float:
    """What a token costs next, given logits (token,)."""
    shifted = logits - logits.max()
    return float((np.log(np.exp(shifted).sum()) - shifted[id]) / math.log(2))


def _word(model: Model, id: int) -> str:
    return str(id) if model.tokenizer is None else model.tokenizer.token(id)
