"""A word that is watched while a model learns, so that a snapshot is kept whenever it moves.

Snapshots that are spread evenly in the logarithm of the step miss the jump of a word that is learned late,
and what taught the word is read off the snapshots around its jump.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from lmviz.base.errors import SettingError
from lmviz.models.model import IGNORED, Model
from lmviz.models.reading import evaluation
from lmviz.models.wanted import wanted_id
from lmviz.training.options import TrainingOptions

if TYPE_CHECKING:
    from lmviz.text.corpus import Corpus

MOVE = 0.1
"""By how much the probability has to move until a snapshot is kept."""

MOST_KEPT = 30
"""How many snapshots are kept for the word; of more, those between which it moved least are ordinary ones."""


@dataclass(frozen=True, eq=False)
class WatchedWord:
    """What is watched: ids (position,) that a model reads, `place` in them, and the id `wanted` there."""

    ids: np.ndarray
    place: int
    wanted: int
    per_text: bool = False

    def probability(self, model: Model) -> float:
        """The probability of the word by the model as it is; of one that is being trained, too."""
        shape = (1, 1) if self.per_text else (1, len(self.ids))
        targets = torch.full(shape, IGNORED)
        targets[0, 0 if self.per_text else self.place] = self.wanted
        parameter = next(model.parameters())
        with evaluation(model) as reader:
            tokens = torch.tensor(self.ids, dtype=torch.int64)[None].to(parameter.device)
            found = reader.log_probabilities(tokens, targets.to(parameter.device)).sum()
        return math.exp(float(found)) if float(found) <= 0 else math.nan


def watched_word(options: TrainingOptions, model: Model, corpus: Corpus) -> WatchedWord | None:
    """What the options have watched, None where it is nothing; SettingError where there is no such word."""
    if not options.watched_text or corpus.task in ("translation", "captioning"):
        return None
    tokenizer, predicts = corpus.tokenizer, model.predicts
    ids = tokenizer.encode_prefix(options.watched_text).ids
    word: str | int = options.watched_word
    if not word:
        if not predicts.continues:
            raise SettingError("A watched text needs a label: give it as the watched word.", "watched_word")
        if len(ids) < 2:
            raise SettingError("The watched text is one token: give the word after it, too.", "watched_word")
        ids, word = ids[:-1], int(ids[-1])
    if not len(ids):
        raise SettingError("The watched text is empty, and nothing is before it: give it.", "watched_text")
    wanted = wanted_id(word, predicts, tokenizer, model.vocabulary_size)
    if predicts.continues and wanted == tokenizer.unknown_id:
        raise SettingError("The watched word is not in the vocabulary: watch another one.", "watched_word")
    ids = ids if model.context is None else ids[-model.context :]
    per_text = not predicts.continues and predicts.per == "text"
    return WatchedWord(np.asarray(ids, dtype=np.int64), len(ids) - 1, wanted, per_text)


class Watch:
    """The watched word during one training: how likely it was when a snapshot was last kept, and for which
    steps one was kept because of it."""

    def __init__(self, word: WatchedWord) -> None:
        self._word = word
        self._last: float | None = None
        self._kept: dict[int, float] = {}

    def probability(self, model: Model) -> float | None:
        """How likely it is now; None where the model gives no number."""
        found = self._word.probability(model)
        return None if math.isnan(found) else found

    def has_moved(self, probability: float | None) -> bool:
        """Whether it has moved so far since the last snapshot that another one is due."""
        if self._last is None:
            self._last = probability  # the training began before it was watched
        return probability is not None and self._last is not None and abs(probability - self._last) >= MOVE

    def keep(self, step: int, probability: float | None, moved: bool) -> None:
        """A snapshot of a step was kept, because the word `moved` or not."""
        if probability is None:
            return
        self._last = probability
        if moved:
            self._kept[step] = probability
        if len(self._kept) > MOST_KEPT:
            del self._kept[self._least()]

    def _least(self) -> int:
        """The step between whose neighbours the word moved least."""
        steps = sorted(self._kept)
        around = zip(steps, steps[1:], steps[2:], strict=False)
        return min(around, key=lambda three: abs(self._kept[three[0]] - self._kept[three[2]]))[1]

    def restore(self, lines: Iterable[Mapping[str, Any]], snapshots: Iterable[int]) -> None:
        """Know again what metrics say was kept, of the snapshots that there are."""
        there = set(snapshots)
        for line in lines:
            if line["step"] in there and "watched" in line:
                self.keep(line["step"], line["watched"], bool(line.get("watched_moved")))

    @property
    def kept(self) -> frozenset[int]:
        """The steps whose snapshots are there because of the word."""
        return frozenset(self._kept)
