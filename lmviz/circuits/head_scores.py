"""What every head of attention does, measured on random words said twice.

A text of random words has no meaning that would draw a head's attention, so that what it looks at says what
it does (Elhage et al. 2021; Olsson et al. 2022). A score is a mean share of attention: at the word before, at
the first, at the same word in the first saying, and at the word that followed it there, which is what an
induction head looks at. A high score says where a head looks, and not that the answer hangs on it: ablation
says that.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from lmviz.base.errors import LmvizError
from lmviz.circuits.places import axis_of
from lmviz.circuits.result import Numbers
from lmviz.inspection.backpropagation import unchanged
from lmviz.inspection.recording import TapRecorder
from lmviz.models.explicit import ForwardPass
from lmviz.models.model import Model
from lmviz.models.reading import evaluation, on_device
from lmviz.models.sequences import TEXT

SCORES = ("previous", "first", "duplicate", "induction")
SQUARE = ("head", "query", "key")


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class HeadScores(Numbers):
    """The scores of each head, (score, layer, head), and each kind by its name, (layer, head).

    `ids` (row, position) are the words that were read: `words` of them at random, and once more.
    """

    ids: np.ndarray
    words: int

    def __getitem__(self, score: str) -> np.ndarray:
        if score not in SCORES:
            raise LmvizError(f"There is no score {score!r}: choose one of {', '.join(SCORES)}.")
        found: np.ndarray = self.array[SCORES.index(score)]
        return found

    @property
    def previous(self) -> np.ndarray:
        """How much each head looks at the word before."""
        return self["previous"]

    @property
    def first(self) -> np.ndarray:
        """How much it looks at the first token."""
        return self["first"]

    @property
    def duplicate(self) -> np.ndarray:
        """How much it looks at the same word, said before."""
        return self["duplicate"]

    @property
    def induction(self) -> np.ndarray:
        """How much it looks at the word that followed last time."""
        return self["induction"]


def head_scores(model: Model, *, words: int = 24, rows: int = 8, seed: int = 0) -> HeadScores:
    """Where every head looks in `rows` texts of so many random words said twice.

    Each word is another one as far as the vocabulary goes; there are fewer where the model reads fewer at
    once. LmvizError for a model without attention heads over its own text.
    """
    model, interventions = unchanged(model, ())
    taps = model.taps()
    squares = [tap for tap in taps if tap.axes == SQUARE and tap.scale == "share"]
    if not squares or model.inputs != (TEXT,):
        raise LmvizError(
            f"{model.name or 'This model'} ({model.family}) has no attention heads that look at its own text "
            "alone, so there is nothing to score: choose a Transformer of one text."
        )
    ids, words = _said_twice(model, words, rows, seed)
    recorder = TapRecorder(taps, interventions, {TEXT: ids.shape[1]})
    with evaluation(model):
        scope = ForwardPass(on_device(model, ids), model.tensors())
        wanted = {tap.address for tap in squares}
        run = taps[: 1 + max(place for place, tap in enumerate(taps) if tap.address in wanted)]
        values = scope.run(run, recorder if interventions else lambda tap, value, at: value, keep=wanted)
    axis, labels = axis_of([tap.address for tap in squares])
    scores = np.stack([_scored(values[tap.address].double().cpu(), words) for tap in squares], axis=1)
    return HeadScores(
        array=scores,
        axes=("score", axis, "head"),
        names={"score": SCORES} | ({axis: labels} if labels else {}),
        ids=ids,
        words=words,
    )


def _said_twice(model: Model, words: int, rows: int, seed: int) -> tuple[np.ndarray, int]:
    """Ids (row, position): START if there is one, the words, and once more; how many words there are."""
    tokenizer = model.tokenizer
    start = None if tokenizer is None else tokenizer.start_id
    known = np.arange(model.vocabulary_size)
    if tokenizer is not None:
        special = np.array(tokenizer.are_special(known.tolist()))
        unknown = np.array([index == tokenizer.unknown_id for index in known])
        known = known[~special & ~unknown]
    first = 0 if start is None else 1
    if model.context is not None:
        words = min(words, (model.context - first) // 2)
    words = min(words, len(known))
    if words < 3:
        raise LmvizError("A model that reads so few words at once cannot be shown three of them twice.")
    random = np.random.default_rng(seed)
    drawn = np.stack([random.permutation(known)[:words] for _ in range(rows)])
    begun = [] if start is None else [np.full((rows, 1), start)]
    return np.concatenate([*begun, drawn, drawn], axis=1), words


def _scored(weights: torch.Tensor, words: int) -> np.ndarray:
    """The scores (score, head) of weights (row, head, query, key)."""
    count = weights.shape[-1]
    again = torch.arange(count - words, count)  # where words are said for the second time
    queries = torch.arange(1, count)
    shares = (
        weights[:, :, queries, queries - 1],
        weights[:, :, queries, 0],
        weights[:, :, again, again - words],
        weights[:, :, again, again - words + 1],
    )
    found: np.ndarray = torch.stack([share.mean(dim=(0, 2)) for share in shares]).numpy()
    return found
