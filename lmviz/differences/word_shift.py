"""What comes after a text according to two models, and the words that rose and fell from one to the other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lmviz.differences.pair import ModelPair
from lmviz.differences.text_difference import ChangedWord
from lmviz.models.model import Model
from lmviz.models.reading import evaluation, on_device


@dataclass(frozen=True, eq=False)
class WordShift:
    """The probabilities (word,) of the next token in either model, and what the tokens are called."""

    before: np.ndarray
    after: np.ndarray
    tokens: tuple[str, ...]

    def words(self, count: int, *, rose: bool = True) -> tuple[ChangedWord, ...]:
        """The words that rose most, or fell most."""
        change = self.after - self.before
        order = np.argsort(-change if rose else change, kind="stable")[:count]
        return tuple(
            ChangedWord(int(id), self.tokens[id], float(self.before[id]), float(self.after[id]))
            for id in order
            if change[id] != 0 and (change[id] > 0) == rose
        )


def word_shift(pair: ModelPair, ids: np.ndarray) -> WordShift:
    """What comes after the last of ids (position,), which both read whole; LmvizError where tokens differ."""
    pair.check_read_alike()
    tokenizer = pair.before.tokenizer
    size = pair.before.vocabulary_size
    names = tuple(tokenizer.tokens()) if tokenizer else tuple(map(str, range(size)))
    return WordShift(_after(pair.before, ids), _after(pair.after, ids), names)


def _after(model: Model, ids: np.ndarray) -> np.ndarray:
    with evaluation(model) as reader:
        row = reader(on_device(reader, ids))[0, -1]
        found: np.ndarray = row.cpu().double().softmax(dim=-1).numpy()
    return found
