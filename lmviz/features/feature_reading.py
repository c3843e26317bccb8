"""What a dictionary's features do over texts: where each fires, what comes next, how strongly, and how often.

The texts are read in batches, and of each batch a bounded amount is kept: counts, sums by word, the places
where a feature is strongest, and places drawn at random.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch

from lmviz.base.arguments import file_path
from lmviz.base.saving import save_arrays, save_rows
from lmviz.features.feature_pass import FeaturePass, ReadRows
from lmviz.features.gathering import Firing, Histograms, KeptPlaces, PairSums
from lmviz.looks.shown import Shown
from lmviz.models.float64 import in_float64
from lmviz.models.interruption import look_up, uncounted_work

if TYPE_CHECKING:
    from lmviz.features.coding import Coding
    from lmviz.features.dictionary import Dictionary
    from lmviz.models.model import Model


STRONGEST, DRAWN = 40, 40
"""Places that are kept of each feature: those where it is strongest, and others drawn at random."""

NAMED = 24
"""So many words are kept of each feature, at which it fires, and so many that come next."""

STANDS_OUT = 0.045
"""A word with less than this share of what a feature fires does not name it."""

NAMES = 0.01
"""A feature is found by a word that has at least this share of what it fires."""

MANY_WORDS = "many words"

CELLS = 2**23
"""Activations of so many cells are computed at once."""


@dataclass(frozen=True)
class FeaturePlace:
    """A place where a feature fires: the text's number, the position in it, and how strongly."""

    text: int
    position: int
    value: float


@dataclass(frozen=True)
class NamedWords:
    """The tokens with the largest shares of what a feature fires, and their shares."""

    words: tuple[tuple[str, float], ...]

    @property
    def standing_out(self) -> tuple[tuple[str, float], ...]:
        """Those with a share that says something, four at most."""
        return tuple(pair for pair in self.words if pair[1] >= STANDS_OUT)[:4]

    @property
    def share(self) -> float:
        """The share of the first."""
        return self.words[0][1] if self.words else 0.0

    def __str__(self) -> str:
        return " ".join(word for word, _ in self.standing_out) or MANY_WORDS


@dataclass(frozen=True, eq=False, repr=False)
class FeatureReading(Shown):
    """All features over some texts, one entry each: arrays (feature,).

    `tokens` count: all but the first of each text, whose state is unlike all others. `on` is at how many of
    them a feature fires, `in_texts` in how many of the `rows` (token,), `sums` the sum of its activations and
    `largest` the largest.
    `histograms` (feature, bin) go from 0 to `ends`. `words` and `following` are the tokens with the largest
    sums, (feature, rank), −1 where there are fewer, and `word_sums` and `following_sums` those. `explained`
    is the share of the variance that the reconstruction explains, of the states that features stand for, and
    `loss` the model's own in nats a predicted token. `names` are the tokens of the vocabulary. `needed` is by
    how many nats a predicted token the loss rises without each feature, `needed_error` the standard error of
    that, and `needed_each` by how many for each time that it fires: NaN where that was not measured, and None
    where none was (see `lmviz.features.needed`).
    """

    dictionary: Dictionary
    rows: tuple[np.ndarray, ...]
    tokens: int
    on: np.ndarray
    in_texts: np.ndarray
    sums: np.ndarray
    largest: np.ndarray
    histograms: np.ndarray
    ends: np.ndarray
    words: np.ndarray
    word_sums: np.ndarray
    following: np.ndarray
    following_sums: np.ndarray
    explained: float
    loss: float
    strongest: KeptPlaces
    drawn: KeptPlaces
    names: tuple[str, ...]
    planned: int
    needed: np.ndarray | None = None
    needed_error: np.ndarray | None = None
    needed_each: np.ndarray | None = None

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, feature: int) -> FoundFeature:
        return FoundFeature(self, self.check(feature))

    @property
    def size(self) -> int:
        """The number of features."""
        return len(self.on)

    @property
    def is_complete(self) -> bool:
        """Whether all that was planned has been read."""
        return self.tokens >= self.planned

    def check(self, feature: int) -> int:
        """The number of a feature; LmvizError where there is none."""
        return self.dictionary.check(feature)

    @cached_property
    def rate(self) -> np.ndarray:
        """(feature,) The share of the tokens at which each fires."""
        return self.on / max(self.tokens, 1)

    @cached_property
    def mean(self) -> np.ndarray:
        """(feature,) How strongly each fires where it does; NaN where it never does."""
        return np.divide(self.sums, self.on, out=np.full(self.size, np.nan), where=self.on > 0)

    @cached_property
    def selective(self) -> np.ndarray:
        """(feature,) The share of what it fires that falls to one word, at it or next: the larger one."""
        one = np.maximum(self.word_sums[:, 0], self.following_sums[:, 0])
        return np.divide(one, self.sums, out=np.full(self.size, np.nan), where=self.sums > 0)

    @property
    def silent(self) -> int:
        """How many features never fire in these texts."""
        return int((self.on == 0).sum())

    @property
    def active(self) -> float:
        """How many features are on at a token, the mean."""
        return float(self.on.sum() / max(self.tokens, 1))

    def at(self, feature: int) -> NamedWords:
        """The words at which a feature fires, by their share of all that it fires."""
        return self._named(feature, self.words, self.word_sums)

    def next(self, feature: int) -> NamedWords:
        """The words that come next where it fires, by the same."""
        return self._named(feature, self.following, self.following_sums)

    def save(self, path: str | Path) -> None:
        """Write the table as .csv, or the arrays as .npz; LmvizError where that cannot be."""
        path = file_path(path)
        if path.suffix == ".npz":
            save_arrays(path, self.arrays())
        else:
            save_rows(path, self.table())

    def arrays(self) -> dict[str, np.ndarray]:
        """The numbers by name, (feature,) each, histograms (feature, bin)."""
        found = {
            "on": self.on,
            "in_texts": self.in_texts,
            "mean": self.mean,
            "largest": self.largest,
            "selective": self.selective,
            "histograms": self.histograms,
            "ends": self.ends,
        }
        if self.needed is not None:
            found["needed"] = self.needed
        return found if self.needed_error is None else found | {"needed_error": self.needed_error}

    def _named(self, feature: int, tokens: np.ndarray, sums: np.ndarray) -> NamedWords:
        whole = self.sums[feature]
        there = tokens[feature] >= 0
        pairs = zip(tokens[feature][there], sums[feature][there], strict=True)
        return NamedWords(tuple((self._name(int(token)), float(own / whole)) for token, own in pairs))

    def _name(self, token: int) -> str:
        return self.names[token] if token < len(self.names) else str(token)

    def find(self, word: str) -> np.ndarray:
        """The features of which a word is at least a hundredth, at it or next: the largest first."""
        wanted = word.strip().casefold()
        named = [at for at, name in enumerate(self.names) if wanted and name.strip().casefold() == wanted]
        shares = np.zeros(self.size)
        for tokens, sums in ((self.words, self.word_sums), (self.following, self.following_sums)):
            own = np.where(np.isin(tokens, named), sums, 0.0).sum(axis=1)
            shares = np.maximum(
                shares, np.divide(own, self.sums, out=np.zeros(self.size), where=self.sums > 0)
            )
        found = np.flatnonzero(shares >= NAMES)
        return found[np.argsort(-shares[found], kind="stable")]

    def table(self) -> list[dict[str, str | int | float]]:
        """A row for each feature: what the list of the window shows."""
        return [
            {
                "feature": feature,
                "at": str(self.at(feature)),
                "next": str(self.next(feature)),
                "share of tokens": float(self.rate[feature]),
                "mean when on": float(self.mean[feature]),
                "largest": float(self.largest[feature]),
                "selective": float(self.selective[feature]),
                **({} if self.needed is None else {"loss without it": float(self.needed[feature])}),
            }
            for feature in range(self.size)
        ]


@dataclass(frozen=True, eq=False)
class FoundFeature:
    """One feature over the texts of a reading."""

    reading: FeatureReading
    number: int

    def __repr__(self) -> str:
        return f"<Feature {self.number}: {self.name}>"

    @property
    def name(self) -> str:
        """Where it fires → what comes next."""
        return f"{self.at} → {self.next}"

    @property
    def at(self) -> NamedWords:
        """The words at which it fires."""
        return self.reading.at(self.number)

    @property
    def next(self) -> NamedWords:
        """The words that come next."""
        return self.reading.next(self.number)

    @property
    def on(self) -> int:
        """At how many tokens it fires."""
        return int(self.reading.on[self.number])

    @property
    def rate(self) -> float:
        """At which share of the tokens it fires."""
        return float(self.reading.rate[self.number])

    @property
    def mean(self) -> float | None:
        """How strongly it fires where it does; None where it never does."""
        return float(self.reading.mean[self.number]) if self.on else None

    @property
    def largest(self) -> float:
        """Its largest activation."""
        return float(self.reading.largest[self.number])

    @property
    def selective(self) -> float | None:
        """The share of what it fires that falls to one word; None where it never fires."""
        return float(self.reading.selective[self.number]) if self.on else None

    @property
    def needed(self) -> float | None:
        """By how many nats a predicted token the loss rises without it; None where that was not measured."""
        found = np.nan if self.reading.needed is None else float(self.reading.needed[self.number])
        return None if np.isnan(found) else found

    @property
    def needed_error(self) -> float | None:
        """The standard error of that; None where it is not known."""
        found = np.nan if self.reading.needed_error is None else self.reading.needed_error[self.number]
        return None if np.isnan(found) else float(found)

    @property
    def histogram(self) -> tuple[np.ndarray, float]:
        """How often it fires how strongly, (bin,), and where the last bin ends."""
        return self.reading.histograms[self.number], float(self.reading.ends[self.number])

    def strongest(self, count: int = 9) -> tuple[FeaturePlace, ...]:
        """Places where it is strongest, one in a text; those with another word next come first."""
        places = self._places(self.reading.strongest)
        seen: set[int] = set()
        first: list[FeaturePlace] = []
        rest: list[FeaturePlace] = []
        for place in places:
            following = self._following(place)
            (rest if following in seen else first).append(place)
            seen.add(following)
        chosen = [*first, *rest][:count]
        return tuple(sorted(chosen, key=lambda place: -place.value))

    def middle(self, count: int = 9) -> tuple[FeaturePlace, ...]:
        """Places drawn at random where it is about half as strong as it ever is: a third to two thirds."""
        places = self._places(self.reading.drawn)
        low, high = self.largest / 3, self.largest * 2 / 3
        chosen = [place for place in places if low <= place.value <= high][:count]
        return tuple(sorted(chosen, key=lambda place: -place.value))

    def passage(self, place: FeaturePlace, before: int = 8, after: int = 6) -> tuple[tuple[str, ...], int]:
        """The tokens around a place, and where it stands among them."""
        ids = self.reading.rows[place.text]
        first = max(0, place.position - before)
        tokens = tuple(self.reading._name(int(token)) for token in ids[first : place.position + after + 1])
        return tokens, place.position - first

    def drawn(self) -> tuple[FeaturePlace, ...]:
        """Places drawn at random among all texts in which it fires."""
        return self._places(self.reading.drawn)

    def _places(self, kept: KeptPlaces) -> tuple[FeaturePlace, ...]:
        own = np.flatnonzero(kept.features == self.number)
        return tuple(
            FeaturePlace(int(kept.texts[at]), int(kept.positions[at]), float(kept.values[at])) for at in own
        )

    def _following(self, place: FeaturePlace) -> int:
        ids = self.reading.rows[place.text]
        return int(ids[place.position + 1]) if place.position + 1 < len(ids) else -1


def reading_features(
    model: Model, dictionary: Dictionary, rows: Sequence[np.ndarray], *, every: int = 6, seed: int = 0
) -> Iterator[FeatureReading]:
    """What the features do over rows of ids (token,), known better after each so many batches.

    LmvizError where the dictionary is of another model.
    """
    read = FeaturePass(model, dictionary)
    size = dictionary.size
    gathered = _Gathered(size, np.random.default_rng(seed), dictionary.is_transcoder)
    planned = sum(len(ids) - 1 for ids in rows)
    names = () if model.tokenizer is None else tuple(model.tokenizer.tokens())
    kept = tuple(np.asarray(ids) for ids in rows)
    for number, batch in enumerate(read.batches(rows), start=1):
        look_up(gathered.tokens / max(planned, 1))
        with uncounted_work():
            found = read.read([rows[at] for at in batch])
            gathered.add(found, read.coding, np.array(batch), [len(rows[at]) for at in batch])
        if number % every == 0 and gathered.tokens < planned:
            yield gathered.reading(dictionary, kept, names, planned)
    yield gathered.reading(dictionary, kept, names, planned)


class _Gathered:
    """What has been gathered so far."""

    def __init__(self, size: int, random: np.random.Generator, is_transcoder: bool) -> None:
        self.tokens = 0
        self._size, self._random, self._is_transcoder = size, random, is_transcoder
        self._on = np.zeros(size, dtype=np.int64)
        self._in_texts = np.zeros(size, dtype=np.int64)
        self._sums = np.zeros(size)
        self._largest = np.zeros(size, dtype=np.float32)
        self._histograms = Histograms(size)
        self._words, self._following = PairSums(), PairSums()
        self._strongest, self._drawn = KeptPlaces(STRONGEST), KeptPlaces(DRAWN)
        self._squares = self._errors = 0.0
        self._states: np.ndarray | None = None
        self._loss, self._predicted = 0.0, 0

    def add(self, found: ReadRows, coding: Coding, texts: np.ndarray, lengths: Sequence[int]) -> None:
        """Take what fires in a batch; `texts` are the numbers of its rows."""
        rows, positions = np.nonzero(found.counts)
        following = np.full(found.ids.shape, -1, dtype=np.int64)
        following[:, :-1] = found.ids[:, 1:]
        for row, length in enumerate(lengths):
            following[row, length - 1 :] = -1
        counts = torch.from_numpy(found.counts).to(found.states.device)
        states = found.states[counts]
        targets = found.target[counts] if self._is_transcoder else states
        parts = []
        for first in range(0, len(states), max(1, CELLS // self._size)):
            some = states[first : first + max(1, CELLS // self._size)].float()
            target = targets[first : first + len(some)].float()
            activations = coding.encoded(some)
            error = target - coding.reconstructed(some, activations)
            self._errors += float(in_float64(error).square().sum())
            self._squares += float(in_float64(target).square().sum())
            summed = in_float64(target).sum(0).cpu().numpy()
            self._states = summed if self._states is None else self._states + summed
            places, on = torch.nonzero(activations, as_tuple=True)
            fired = activations[places, on].cpu().numpy()
            parts.append((on.cpu().numpy(), fired, places.cpu().numpy() + first))
        features, values, at = (np.concatenate(each) for each in zip(*parts, strict=True))
        self.tokens += len(states)
        firing = Firing(
            features,
            values,
            texts[rows[at]],
            positions[at],
            found.ids[rows[at], positions[at]],
            following[rows[at], positions[at]],
        )
        self._take(firing)
        predicted = sum(length - 1 for length in lengths)
        self._loss += float(in_float64(found.losses).sum())
        self._predicted += predicted

    def _take(self, fired: Firing) -> None:
        features, values = fired.features, fired.values
        self._on += np.bincount(features, minlength=self._size)
        self._sums += np.bincount(features, weights=values, minlength=self._size)
        np.maximum.at(self._largest, features, values)
        pairs, own, times = np.unique(
            features.astype(np.int64) << 32 | fired.texts, return_inverse=True, return_counts=True
        )
        self._in_texts += np.bincount(pairs >> 32, minlength=self._size)
        self._histograms.add(features, values)
        self._words.add(features, fired.words, values)
        goes_on = fired.following >= 0
        self._following.add(features[goes_on], fired.following[goes_on], values[goes_on])
        self._strongest.add(fired, values.astype(np.float64))
        # of n places in a text one is kept; the largest of n such keys is as large as a single key would be
        self._drawn.add(fired, self._random.random(len(values)) ** times[own])

    def reading(
        self, dictionary: Dictionary, rows: tuple[np.ndarray, ...], names: tuple[str, ...], planned: int
    ) -> FeatureReading:
        """What is known now, which later batches leave as it is."""
        words, word_sums = self._words.largest(NAMED, self._size)
        following, following_sums = self._following.largest(NAMED, self._size)
        means = np.zeros(1) if self._states is None else self._states
        variance = self._squares - float(means @ means) / max(self.tokens, 1)
        return FeatureReading(
            dictionary=dictionary,
            rows=rows,
            tokens=self.tokens,
            on=self._on.copy(),
            in_texts=self._in_texts.copy(),
            sums=self._sums.copy(),
            largest=self._largest.copy(),
            histograms=self._histograms.counts.copy(),
            ends=self._histograms.ends.copy(),
            words=words,
            word_sums=word_sums,
            following=following,
            following_sums=following_sums,
            explained=1 - self._errors / variance if variance > 0 else float("nan"),
            loss=self._loss / max(self._predicted, 1),
            strongest=self._strongest.copy(),
            drawn=self._drawn.copy(),
            names=names,
            planned=planned,
        )
