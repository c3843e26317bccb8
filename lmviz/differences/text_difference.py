"""By how much two models differ on a text: token by token, by passages, and by the words that they expect.

A loss is −ln p of the token that stands there, in nats. Where the two cut texts alike, the differences of
their tokens add up to the difference of what `evaluate` says. Where they do not, it is asked about the
shortest stretches of the text that begin and end at a boundary of both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch

from lmviz.base.arguments import whole_number
from lmviz.base.errors import LmvizError
from lmviz.differences.pair import ModelPair
from lmviz.looks.shown import Shown
from lmviz.models.interruption import look_up, part_of_work
from lmviz.models.model import Model
from lmviz.training.judged import judged_predictions

RESAMPLES, BAND = 2000, (2.5, 97.5)
"""How often texts are drawn anew for the band, and the percentiles that it goes between."""

BLOCK = 32
"""Of a single text, stretches of so many neighbouring tokens are drawn anew instead."""

FEWEST = 8
"""From fewer texts or stretches than that no band is made."""

PASSAGE = 14
"""Tokens of a passage."""


@dataclass(frozen=True)
class ChangedPassage:
    """Neighbouring tokens of a document, and the mean change of their loss, in nats.

    `first` and `end` are places among the judged tokens.
    """

    document: int
    first: int
    end: int
    change: float
    text: str


@dataclass(frozen=True)
class ChangedWord:
    """A word and the probability that each model gives it, on average over all places that were judged."""

    id: int
    word: str
    before: float
    after: float

    @property
    def change(self) -> float:
        """By how much it rose, as a share."""
        return self.after - self.before


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class TextDifference(Shown):
    """The losses of two models on the same text, in nats, one for each of `tokens`.

    `before` and `after` are (token,), `documents` (token,) says in which text a token stands, and `unit` what
    the tokens are: "token", or "stretch" where the models cut texts differently. `characters` is how many
    bytes of the text were judged where it is "stretch". `said` (2, word) has the probability of each word of
    `vocabulary` under either, averaged over all places; None for stretches. `low` and `high` are a band of
    95 % around `total`, from texts drawn anew (bootstrap; Efron 1979); None where there are too few.
    `ids` (token,) are those of the tokens, −1 for stretches.
    """

    names: tuple[str, str]
    tokens: tuple[str, ...]
    ids: np.ndarray
    before: np.ndarray
    after: np.ndarray
    documents: np.ndarray
    unit: str = "token"
    bytes: int | None = None
    said: np.ndarray | None = None
    vocabulary: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None

    def __post_init__(self) -> None:
        for array in (self.ids, self.before, self.after, self.documents, self.said):
            if array is not None:
                array.flags.writeable = False

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def changes(self) -> np.ndarray:
        """By how much the loss of each token rose, (token,); negative where the second model is better."""
        return self.after - self.before

    @property
    def counted(self) -> int:
        """By what `total` is a mean: tokens, or bytes where the models cut texts differently."""
        return len(self.tokens) if self.bytes is None else self.bytes

    @property
    def total(self) -> float:
        """The difference of the mean losses: nats per token, or per byte where tokens differ."""
        return float(self.changes.sum() / self.counted)

    @property
    def losses(self) -> tuple[float, float]:
        """The mean loss of either, as `total` is counted."""
        return float(self.before.sum() / self.counted), float(self.after.sum() / self.counted)

    @property
    def is_clear(self) -> bool | None:
        """Whether the band leaves 0 out; None where there is no band."""
        return None if self.low is None or self.high is None else not self.low <= 0.0 <= self.high

    def words(self, count: int, *, rose: bool = True) -> tuple[ChangedWord, ...]:
        """The words whose probability rose most, or fell most; none where models have different tokens."""
        if self.said is None:
            return ()
        count, change = whole_number("count", count), self.said[1] - self.said[0]
        order = np.argsort(-change if rose else change, kind="stable")[:count]
        return tuple(
            ChangedWord(int(id), self.vocabulary[id], float(self.said[0, id]), float(self.said[1, id]))
            for id in order
            if (change[id] > 0) == rose and change[id] != 0
        )

    def passages(
        self, count: int, *, better: bool = True, length: int = PASSAGE
    ) -> tuple[ChangedPassage, ...]:
        """The passages whose mean loss fell most, or rose most; none overlaps or repeats another."""
        count, length = whole_number("count", count), whole_number("length", length, least=1)
        found: list[ChangedPassage] = []
        candidates = []
        changes = self.changes
        edges = np.flatnonzero(np.diff(self.documents)) + 1
        for first, end in zip([0, *edges], [*edges, len(changes)], strict=True):
            size = min(length, end - first)
            if size:
                sums = np.convolve(changes[first:end], np.ones(size), mode="valid") / size
                candidates += [(float(mean), first + at, size) for at, mean in enumerate(sums)]
        candidates.sort(key=lambda item: item[0] if better else -item[0])
        known: set[tuple[str, ...]] = set()
        for change, first, size in candidates:
            if len(found) >= count or (change >= 0 if better else change <= 0):
                break
            runs = {self.tokens[at : at + 4] for at in range(first, first + max(1, size - 3))}
            if runs & known or any(first < one.end and one.first < first + size for one in found):
                continue
            known |= runs
            end = first + size
            text = self._joined(first, end)
            found.append(ChangedPassage(int(self.documents[first]), int(first), int(end), change, text))
        return tuple(found)

    def _joined(self, first: int, end: int) -> str:
        between = "" if self.unit == "stretch" else " "
        return between.join(self.tokens[first:end])

    def table(self) -> list[dict[str, str | int | float]]:
        """A row for each token: its text, its place, both losses and their difference, in nats."""
        rows = zip(self.documents, self.tokens, self.before, self.after, strict=True)
        return [
            {
                "document": int(document),
                self.unit: token,
                "before": float(before),
                "after": float(after),
                "change": float(after - before),
            }
            for document, token, before, after in rows
        ]


def text_difference(
    pair: ModelPair, documents: Sequence[np.ndarray], start: int | None = None
) -> TextDifference:
    """The difference of two models with the same tokens over documents of ids (token,).

    Every id of a document but its first is judged, except `start`, as in `evaluate_ids`. LmvizError where
    none is left.
    """
    pair.check_read_alike()
    read = [np.asarray(ids, dtype=np.int64) for ids in documents]
    targets = [ids[1:][ids[1:] != start] if start is not None else ids[1:] for ids in read]
    if not sum(map(len, targets)):
        raise LmvizError("There is no token to predict in a text of fewer than two: choose a longer text.")
    sides = []
    for number, model in enumerate((pair.before, pair.after)):
        with part_of_work(number, 2):
            sides.append(_losses(model, read, start))
    ids = np.concatenate(targets)
    tokenizer = pair.before.tokenizer or pair.after.tokenizer
    size = pair.before.vocabulary_size
    vocabulary = tuple(tokenizer.tokens()) if tokenizer else tuple(map(str, range(size)))
    of = np.repeat(np.arange(len(targets)), [len(one) for one in targets])
    changes = sides[1][0] - sides[0][0]
    low, high = _band(changes, of)
    return TextDifference(
        names=pair.names,
        tokens=tokenizer.tokens_of(ids) if tokenizer else tuple(map(str, ids)),
        ids=ids,
        before=sides[0][0],
        after=sides[1][0],
        documents=of,
        said=np.stack([said for _, said in sides]),
        vocabulary=vocabulary,
        low=low,
        high=high,
    )


def stretch_difference(pair: ModelPair, texts: Sequence[str]) -> TextDifference:
    """The difference of two models with tokens of their own over texts, in nats per byte (UTF-8).

    A token's loss belongs to the stretch that it ends in. What one of the two does not predict, such as the
    first token of a text where it knows no START, is left out for both.
    """
    stretches: list[str] = []
    sides: list[list[float]] = [[], []]
    of: list[int] = []
    for number, text in enumerate(texts):
        look_up(number / len(texts))
        losses = [_by_end(model, text) for model in (pair.before, pair.after)]
        begun = max(first for first, _ in losses)
        ends = sorted(set(losses[0][1]) & set(losses[1][1]))
        ends = [end for end in ends if end >= begun]
        for first, end in pairwise(ends):
            stretches.append(text[first:end])
            of.append(number)
            for side, (_, by_end) in zip(sides, losses, strict=True):
                side.append(sum(nats for at, nats in by_end.items() if first < at <= end))
    if not stretches:
        raise LmvizError("The two models have no boundary of tokens in common here: choose a longer text.")
    before, after = (np.array(side) for side in sides)
    sizes = [len(stretch.encode()) for stretch in stretches]
    low, high = _band(after - before, np.array(of), np.array(sizes, dtype=np.float64))
    return TextDifference(
        names=pair.names,
        tokens=tuple(stretches),
        ids=np.full(len(stretches), -1),
        before=before,
        after=after,
        documents=np.array(of),
        unit="stretch",
        bytes=sum(sizes),
        low=low,
        high=high,
    )


def _losses(
    model: Model, documents: Sequence[np.ndarray], start: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """The loss of each judged token, (token,), and the mean probability of each word, (word,)."""
    losses = []
    said = torch.zeros(model.vocabulary_size, dtype=torch.float64)
    everything, done = sum(map(len, documents)), 0
    for ids in documents:
        for logs, targets in judged_predictions(model, ids):
            counted = np.ones(len(targets), bool) if start is None else targets != start
            kept = logs[torch.from_numpy(counted).to(logs.device)]
            wanted = torch.from_numpy(targets[counted].astype(np.int64)).to(logs.device)
            losses.append(-kept.gather(1, wanted[:, None])[:, 0].cpu().double().numpy())
            said += kept.exp().sum(dim=0).cpu().double()
            done += len(targets)
            look_up(min(1.0, done / everything))
    found = np.concatenate(losses)
    return found, (said / len(found)).numpy()


def _by_end(model: Model, text: str) -> tuple[int, dict[int, float]]:
    """From which character on a text is predicted, and the nats of its tokens by where they end."""
    if model.tokenizer is None:
        raise LmvizError("A model has no tokenizer, so it cannot read a text: open it from a run.")
    encoding = model.tokenizer.encode_prefix(text)
    begun = encoding.offsets[0][1] if len(encoding.ids) else 0
    found: dict[int, float] = {begun: 0.0}
    place = 1
    for logs, targets in judged_predictions(model, encoding.ids):
        wanted = torch.from_numpy(targets.astype(np.int64)).to(logs.device)
        for nats in (-logs.gather(1, wanted[:, None])[:, 0]).cpu().double().tolist():
            end = encoding.offsets[place][1]
            found[end] = found.get(end, 0.0) + nats
            place += 1
    return begun, found


def _band(
    changes: np.ndarray, documents: np.ndarray, weights: np.ndarray | None = None
) -> tuple[float | None, float | None]:
    """How far the mean change goes where texts, or stretches of a single one, are drawn anew."""
    weights = np.ones(len(changes)) if weights is None else weights
    groups = documents
    if len(np.unique(documents)) < FEWEST:
        groups = np.cumsum(np.concatenate([[0], np.diff(documents) != 0])) * len(changes)
        groups = groups + np.arange(len(changes)) // BLOCK
    _, groups = np.unique(groups, return_inverse=True)
    count = int(groups.max()) + 1
    if count < FEWEST:
        return None, None
    sums = np.bincount(groups, weights=changes)
    sizes = np.bincount(groups, weights=weights)
    chance = np.random.default_rng(0)
    means = np.array([_mean(sums, sizes, chance.integers(count, size=count)) for _ in range(RESAMPLES)])
    low, high = np.percentile(means, BAND)
    return float(low), float(high)


def _mean(sums: np.ndarray, sizes: np.ndarray, drawn: np.ndarray) -> float:
    return float(sums[drawn].sum() / sizes[drawn].sum())
