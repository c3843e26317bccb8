"""What every head of attention does, measured on random words said twice.

A text of random words has no meaning that would draw a head's attention, so that what it looks at says what
it does (Elhage et al. 2021; Olsson et al. 2022). A score is a mean share of attention: at the word before, at
the first, at the same word in the first saying, at the word that followed it there, which is what an
induction head looks at, and at the one other word that later words look at most, where a head rests. A high
score says where a head looks, and not that the answer hangs on it: ablation says that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from lmviz.base.arguments import whole_number
from lmviz.base.errors import LmvizError
from lmviz.base.machine_memory import GIGABYTE, machine_memory
from lmviz.circuits.places import axis_of
from lmviz.circuits.result import Numbers
from lmviz.inspection.backpropagation import unchanged
from lmviz.inspection.deferred_array import heads_of
from lmviz.inspection.recording import TapRecorder
from lmviz.models.explicit import ForwardPass
from lmviz.models.model import Model
from lmviz.models.reading import evaluation, on_device
from lmviz.models.sequences import TEXT
from lmviz.models.tap import Tap

SCORES = ("previous", "first", "duplicate", "induction", "rest")
TASKS = ("previous", "duplicate", "induction")
"""The scores of heads that do something; the others are of heads that rest."""

CLEAR, RESTS_ON_FIRST, RESTS_ON_ANOTHER = 0.25, 0.5, 0.3
"""Shares of attention from which a head has a task, or rests on the first token, or on another word."""

ABOVE_CHANCE = 2.0
"""A task takes so many times what even attention has of it, too."""

SQUARE = ("head", "query", "key")


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class HeadScores(Numbers):
    """The scores of each head, (score, layer, head), and each kind by its name, (layer, head).

    `ids` (row, position) are the words that were read: `words` of them at random, and once more. `loss_new`
    is the mean loss of the first saying and `loss_again` that of the second, whose words can be known from
    the first, in nats per word.
    """

    ids: np.ndarray
    words: int
    loss_new: float
    loss_again: float

    def __getitem__(self, score: str) -> np.ndarray:
        if not isinstance(score, str) or score not in SCORES:
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

    @property
    def rest(self) -> np.ndarray:
        """How much later words look at the one word that they look at most, the first left out."""
        return self["rest"]

    @property
    def roles(self) -> np.ndarray:
        """(layer, head) The name of the score that says what each head does; "" where that is not clear.

        The greatest of `TASKS` where it is `CLEAR` and `ABOVE_CHANCE`; or else where the head rests.
        """
        count = self.ids.shape[1]
        even = torch.ones(count, count, dtype=torch.float64).tril() / torch.arange(1, count + 1)[:, None]
        chance = _scored(even[None, None], self.words)[:, 0]
        found = np.full(self.array.shape[1:], "", dtype=object)
        found[self.rest >= RESTS_ON_ANOTHER] = "rest"
        found[self.first >= RESTS_ON_FIRST] = "first"
        best = np.max([self[task] for task in TASKS], axis=0)
        for task in TASKS:
            needed = max(CLEAR, ABOVE_CHANCE * float(chance[SCORES.index(task)]))
            found[(self[task] == best) & (best >= needed)] = task
        return found


def head_scores(model: Model, *, words: int = 24, rows: int = 8, seed: int = 0) -> HeadScores:
    """Where every head looks in `rows` texts of so many random words said twice.

    Each word is another one as far as the vocabulary goes; there are fewer where the model reads fewer at
    once. LmvizError for a model that predicts labels, or has no attention heads over its own text.
    """
    model, interventions = unchanged(model, ())
    taps = model.taps()
    squares = [tap for tap in taps if tap.axes == SQUARE and tap.scale == "share"]
    if not squares or model.inputs != (TEXT,):
        raise LmvizError(
            f"{model.name or 'This model'} ({model.family}) has no attention heads that look at its own text "
            "alone, so there is nothing to score: choose a Transformer of one text."
        )
    if not model.predicts.continues:
        raise LmvizError(
            f"{model.name or 'This model'} predicts {model.predicts.describe()}, so it has no loss of "
            "repeated words: choose a Transformer that predicts the next token."
        )
    words, rows = whole_number("words", words, least=3), whole_number("rows", rows, least=1)
    seed = whole_number("seed", seed)
    known = _words_of(model)
    words = _fitting(model, words, len(known))
    _check_room(model, squares, words, rows)
    ids = _said_twice(model, known, words, rows, seed)
    recorder = TapRecorder(taps, interventions, {TEXT: ids.shape[1]})
    with evaluation(model):
        scope = ForwardPass(on_device(model, ids), model.tensors())
        wanted = {tap.address for tap in squares}
        values = scope.run(
            taps, recorder if interventions else lambda tap, value, at: value, keep={*wanted, "logits"}
        )
    losses = _losses(values["logits"], ids)
    axis, labels = axis_of([tap.address for tap in squares])
    scores = np.stack([_scored(values[tap.address].cpu().double(), words) for tap in squares], axis=1)
    return HeadScores(
        array=scores,
        axes=("score", axis, "head"),
        names={"score": SCORES} | ({axis: labels} if labels else {}),
        ids=ids,
        words=words,
        loss_new=float(losses[:, :-words].mean()),
        loss_again=float(losses[:, 1 - words :].mean()),
    )


def _losses(logits: torch.Tensor, ids: np.ndarray) -> np.ndarray:
    """The loss of each word but the first, (row, position − 1), of logits (row, position, token)."""
    targets = torch.from_numpy(ids[:, 1:].astype(np.int64)).to(logits.device)
    losses = torch.nn.functional.cross_entropy(logits[:, :-1].float().mT, targets, reduction="none")
    found: np.ndarray = losses.cpu().double().numpy()
    return found


def _start_of(model: Model) -> int | None:
    return None if model.tokenizer is None else model.tokenizer.start_id


def _words_of(model: Model) -> np.ndarray:
    """The ids of what may be drawn, (word,): all but special tokens and the unknown one."""
    known, tokenizer = np.arange(model.vocabulary_size), model.tokenizer
    if tokenizer is None:
        return known
    special = np.array(tokenizer.are_special(known.tolist()))
    return known[~special & (known != (-1 if tokenizer.unknown_id is None else tokenizer.unknown_id))]


def _fitting(model: Model, words: int, known: int) -> int:
    """How many words a text says twice: so many, or as many as the model knows and reads at once."""
    if model.context is not None:
        words = min(words, (model.context - (_start_of(model) is not None)) // 2)
    words = min(words, known)
    if words < 3:
        raise LmvizError("This model reads too few words at once: three words, given twice, do not fit.")
    return words


def _check_room(model: Model, squares: Sequence[Tap], words: int, rows: int) -> None:
    """LmvizError where so many texts would take more than half of the memory, as they are read at once."""
    count, memory = 1 + 2 * words, machine_memory()
    heads = len(squares) * heads_of(squares, model.configuration)
    needed = rows * (count * count * heads + count * model.outputs) * 12  # as float32, and as float64
    if memory is not None and needed > memory / 2:
        fitting = int(rows * (memory / 2) / needed)
        way_out = f"choose {fitting:,} rows at most" if fitting else "choose fewer words"
        raise LmvizError(
            f"{rows:,} rows of {words:,} words would take about {needed / GIGABYTE:,.0f} GB of memory and "
            f"the machine has {memory / GIGABYTE:,.0f} GB: {way_out}."
        )


def _said_twice(model: Model, known: np.ndarray, words: int, rows: int, seed: int) -> np.ndarray:
    """Ids (row, position): START if there is one, so many of the known words, and once more."""
    start = _start_of(model)
    random = np.random.default_rng(seed)
    drawn = np.stack([random.permutation(known)[:words] for _ in range(rows)])
    begun = [] if start is None else [np.full((rows, 1), start)]
    return np.concatenate([*begun, drawn, drawn], axis=1)


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
    means = [share.mean(dim=(0, 2)) for share in shares]
    # How much of later words' attention each word has: the last few are looked at by too few to tell.
    by_word = (weights.tril(-1).sum(dim=2) / torch.arange(count - 1, -1, -1).clamp(min=1))[..., 1:-words]
    found: np.ndarray = torch.stack([*means, by_word.amax(dim=-1).mean(dim=0)]).numpy()
    return found
