"""What of a text stands word for word in the training text, and whether that is more than texts share.

How long is long is read off held-out text of the same source: 95 of 100 of its tokens stand in passages of
the threshold or shorter. A verdict needs an interval, since a few texts differ from many by chance alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.base.figures import bare_percentage, percentage
from lmviz.base.reporting import Report, part_of, unheard
from lmviz.looks.shown import Shown
from lmviz.text.corpus import Corpus
from lmviz.text.stream import Stream
from lmviz.text.stretch import Stretches
from lmviz.text.suffix_array import FoundPassage, PassageIndex
from lmviz.text.tokenizer import Tokenizer

COVERED = 0.95
"""The share of held-out tokens that stand in passages of the threshold or shorter."""

HELD_OUT_TEXTS = 200
FEWEST = 30
"""How many texts a verdict needs, of the model and of those held out: fewer differ by chance."""

DRAWS, INTERVAL = 1000, (2.5, 97.5)
PLACES = 20
STOCK = 3
"""How many times as often as the whole passage a half of it has to stand to be a stock phrase."""


@dataclass(frozen=True)
class CopiedPlace:
    """Where a passage stands: the number of the document, from 0, and of its first token in the stream; and
    the text before it, itself, and the text after it."""

    document: int
    position: int
    before: str
    passage: str
    after: str


@dataclass(frozen=True)
class CopiedPassage:
    """Tokens from `start` up to `stop` that stand `count` times in the training text, and no longer.

    `stock` is a part of it, (start, stop, count), that stands far more often, such as a rhyme; None if none
    does. `parts` are where the index has it.
    """

    start: int
    stop: int
    count: int
    parts: tuple[tuple[int, int], ...]
    stock: tuple[int, int, int] | None = None

    def __len__(self) -> int:
        return self.stop - self.start


@dataclass(frozen=True, eq=False)
class CopiedText:
    """One text: its `tokens` as displayed, and of each the length of the longest passage round it.

    `lengths` (token,) is 0 where a token does not stand in the training text. `passages` are all that
    are not part of a longer one, in their order.
    """

    text: str
    tokens: tuple[str, ...]
    lengths: np.ndarray
    passages: tuple[CopiedPassage, ...]

    @property
    def longest(self) -> CopiedPassage | None:
        """The longest passage, the first of several."""
        return max(self.passages, key=len, default=None)


@dataclass(frozen=True)
class Share:
    """A share of tokens, and the interval that other texts of the same kind would give 95 times of 100.

    The interval is None where there are too few texts to tell.
    """

    value: float
    interval: tuple[float, float] | None


@dataclass(frozen=True, eq=False, repr=False)
class Copied(Shown):
    """How much of some texts stands word for word in the training text.

    `threshold` is in tokens: 95 of 100 tokens of held-out texts, cut to the same length, stand in passages
    that are no longer; None where nothing was held out. `share` is the share of the texts' tokens beyond it,
    `held_out_share` that of the held-out ones; `held_out` are the lengths of those, as of `CopiedText`, one
    array for each text. `searched` counts the tokens that were searched.
    """

    texts: tuple[CopiedText, ...]
    held_out: tuple[np.ndarray, ...]
    threshold: int | None
    share: Share | None
    held_out_share: Share | None
    difference: tuple[float, float] | None
    searched: int

    @property
    def verdict(self) -> str | None:
        """ "more", "less" or "alike": whether it copies more than held-out text does; None where unknown.

        It is "alike" where the interval of the difference holds 0.
        """
        if self.difference is None:
            return None
        low, high = self.difference
        return "more" if low > 0 else "less" if high < 0 else "alike"

    def sentence(self, noun: str = "tokens", of: str = "what it writes") -> str:
        """The verdict in words, with both shares and their intervals; `of` is what the texts are called."""
        if self.threshold is None or self.share is None or self.held_out_share is None:
            return (
                "Nothing of the text was held out, so nothing tells how long a passage has to be to say much."
            )
        beyond = f"passages of more than {self.threshold} {noun}"
        both = (
            f"{_percent(self.share)} of {of} stands in {beyond}, of held-out text "
            f"{_percent(self.held_out_share)}"
        )
        if self.verdict is None:
            return f"{both}. Too few texts to say more: {FEWEST} of each are needed."
        said = {
            "more": "It copies more than held-out text does",
            "less": "It copies less than held-out text does",
        }
        return f"{said.get(self.verdict, 'No more than chance')}: {both}."

    def curve(self, lengths: Sequence[np.ndarray] | None = None) -> np.ndarray:
        """The share of tokens in passages of n tokens or more, (n,) from 1 on; of the texts, or of others."""
        given = [text.lengths for text in self.texts] if lengths is None else lengths
        flat = np.concatenate([np.zeros(0, dtype=np.int64), *given])
        most = int(max((int(each.max(initial=0)) for each in (*given, *self.held_out)), default=0))
        counted = np.bincount(flat, minlength=most + 1)
        return np.cumsum(counted[::-1])[::-1][1:] / max(1, len(flat))


class Copies:
    """A corpus whose training text passages are looked up in, exactly. Its index is made once, here.

    LmvizError for a text without a training part that a model continues.
    """

    def __init__(self, corpus: Corpus, progress: Report = unheard) -> None:
        self.corpus = corpus
        target = corpus.target_streams
        self._streams = target or (corpus.training_stream, corpus.validation_stream)
        self.tokenizer: Tokenizer = corpus.tokenizer_of("target" if target else "source")
        self.index = PassageIndex(self._streams[0].ids, progress)

    @cached_property
    def _stretches(self) -> Stretches:
        return Stretches(self._streams[0])

    def look_up(self, text: str) -> CopiedText:
        """One text against the training text; LmvizError where it is none."""
        encoding = self.tokenizer.encode_inside(text)
        lengths, passages = self._passages(np.asarray(encoding.ids, dtype=np.int64))
        return CopiedText(text, tuple(encoding.tokens), lengths, passages)

    def places(self, passage: CopiedPassage, most: int = PLACES, around: int = 12) -> tuple[CopiedPlace, ...]:
        """The first places of a passage, at most so many, each with so many tokens around it."""
        stream = self._streams[0]
        found = []
        for position in self.index.places(passage.parts, most).tolist():
            document = int(np.searchsorted(stream.starts, position, side="right")) - 1
            low, high = stream.starts[document : document + 2].tolist()
            first = max(position - around, low + stream.front)
            last = min(position + len(passage) + around, high)
            stretch = self._stretches.at(first, last)
            begin, end = position - first, position - first + len(passage)
            marks = [start for start, _ in stretch.places]
            start, stop = marks[begin], stretch.places[end - 1][1]
            found.append(
                CopiedPlace(
                    document, position, stretch.text[:start], stretch.text[start:stop], stretch.text[stop:]
                )
            )
        return tuple(found)

    def compare(self, texts: Sequence[str], progress: Report = unheard) -> Copied:
        """Texts against the training text, and against what held-out texts of their length share with it."""
        looked: list[CopiedText] = []
        for number, text in enumerate(texts):
            looked.append(self.look_up(text))
            progress(0.5 * (number + 1) / max(1, len(texts)))
        size = max(1, round(np.mean([len(text.tokens) for text in looked]))) if looked else 1
        held_out = self.held_out_lengths(size, part_of(progress, 0.5, 1.0))
        threshold = threshold_of(held_out)
        mine = [text.lengths for text in looked]
        enough = min(len(mine), len(held_out)) >= FEWEST
        share = held_out_share = difference = None
        if threshold is not None and any(len(each) for each in mine):
            ours, theirs = _drawn(mine, threshold), _drawn(held_out, threshold)
            share = Share(_beyond(mine, threshold), _interval(ours) if enough else None)
            held_out_share = Share(_beyond(held_out, threshold), _interval(theirs) if enough else None)
            difference = _interval(ours - theirs) if enough else None
        progress(1.0)
        return Copied(
            tuple(looked), held_out, threshold, share, held_out_share, difference, len(self.index.ids)
        )

    def held_out_lengths(self, size: int, progress: Report = unheard) -> tuple[np.ndarray, ...]:
        """Of held-out texts of `size` tokens, the longest passage round each token: beginnings of documents,
        or where these are few, pieces of them."""
        pieces = _pieces(self._streams[1], size, self.tokenizer)
        found = []
        for number, piece in enumerate(pieces):
            found.append(self._lengths(piece)[0])
            progress((number + 1) / len(pieces))
        return tuple(found)

    def _known(self, ids: np.ndarray) -> np.ndarray:
        """Ids of which those that stand for no certain word are in no passage."""
        unknown = self.tokenizer.unknown_id
        return ids if unknown is None else np.where(ids == unknown, -1, ids)

    def _lengths(self, ids: np.ndarray) -> tuple[np.ndarray, FoundPassage, list[int]]:
        """The longest passage round each token; what was found from each on; where maximal ones begin."""
        found = self.index.longest(self._known(ids))
        ends = np.arange(len(ids)) + found.lengths
        before = np.maximum.accumulate(np.concatenate([[0], ends]))[:-1]
        begins = np.flatnonzero((found.lengths > 0) & (ends > before)).tolist()
        around = np.zeros(len(ids), dtype=np.int64)
        for begin in begins:
            part = around[begin : begin + int(found.lengths[begin])]
            np.maximum(part, found.lengths[begin], out=part)
        return around, found, begins

    def _passages(self, ids: np.ndarray) -> tuple[np.ndarray, tuple[CopiedPassage, ...]]:
        around, found, begins = self._lengths(ids)
        passages = tuple(
            CopiedPassage(
                start=begin,
                stop=begin + int(found.lengths[begin]),
                count=int(found.counts[begin]),
                parts=found.parts(begin),
                stock=self._stock(ids, begin, int(found.lengths[begin]), int(found.counts[begin])),
            )
            for begin in begins
        )
        return around, passages

    def _stock(self, ids: np.ndarray, begin: int, length: int, count: int) -> tuple[int, int, int] | None:
        """The half of a passage that stands most often, lengthened while that costs no place."""
        half = (length + 1) // 2
        if half < 4:
            return None
        starts = np.arange(begin, begin + length - half + 1)
        counted = self.index.counts(self._known(ids), starts, np.full(len(starts), half))
        most = int(counted.max())
        if most < STOCK * count:
            return None
        start = stop = int(starts[np.argmax(counted)])
        stop += half
        while stop < begin + length and self._count(ids, start, stop + 1) == most:
            stop += 1
        while start > begin and self._count(ids, start - 1, stop) == most:
            start -= 1
        return start, stop, most

    def _count(self, ids: np.ndarray, start: int, stop: int) -> int:
        return int(self.index.counts(self._known(ids), np.array([start]), np.array([stop - start]))[0])


def threshold_of(held_out: Sequence[np.ndarray]) -> int | None:
    """The length of passages in which, or in shorter ones, 95 of 100 held-out tokens stand."""
    flat = np.concatenate([np.zeros(0, dtype=np.int64), *held_out])
    return int(np.quantile(flat, COVERED, method="inverted_cdf")) if len(flat) else None


def _pieces(stream: Stream, size: int, tokenizer: Tokenizer) -> list[np.ndarray]:
    """Texts of at most so many tokens, evenly chosen, without START and END."""
    starts, ids = stream.starts, stream.ids
    if len(ids) == 0:
        return []
    begins = starts[:-1] + stream.front
    ends = starts[1:].copy()
    if tokenizer.end_id is not None:
        ends -= (ends > begins) & (ids[np.maximum(ends - 1, 0)] == tokenizer.end_id)
    if len(begins) < FEWEST:
        cut = [np.arange(begin, end, size) for begin, end in zip(begins.tolist(), ends.tolist(), strict=True)]
        of = np.repeat(ends, [len(each) for each in cut])
        begins, ends = np.concatenate(cut), of
    ends = np.minimum(ends, begins + size)
    chosen = np.flatnonzero(ends > begins)
    if len(chosen) > HELD_OUT_TEXTS:
        chosen = chosen[np.linspace(0, len(chosen) - 1, HELD_OUT_TEXTS).astype(int)]
    return [ids[begin:end].astype(np.int64) for begin, end in zip(begins[chosen], ends[chosen], strict=True)]


def _beyond(lengths: Sequence[np.ndarray], threshold: int) -> float:
    """The share of tokens in longer passages."""
    return float((np.concatenate(lengths) > threshold).mean())


def _drawn(lengths: Sequence[np.ndarray], threshold: int) -> np.ndarray:
    """The share beyond the threshold of as many texts drawn from these with replacement, (draw,)."""
    beyond = np.array([np.count_nonzero(each > threshold) for each in lengths])
    sizes = np.array([len(each) for each in lengths])
    drawn = np.random.default_rng(0).integers(len(lengths), size=(DRAWS, len(lengths)))
    return beyond[drawn].sum(axis=1) / np.maximum(1, sizes[drawn].sum(axis=1))


def _interval(drawn: np.ndarray) -> tuple[float, float]:
    low, high = np.percentile(drawn, INTERVAL)
    return float(low), float(high)


def _percent(share: Share) -> str:
    if share.interval is None:
        return percentage(share.value)
    low, high = share.interval
    return f"{percentage(share.value)} ({bare_percentage(low)} to {bare_percentage(high)} by chance)"


def copies_in(corpus: Corpus, texts: Sequence[str], progress: Report = unheard) -> Copied:
    """Texts against the training part of a corpus; LmvizError where there is none to look at."""
    if not any(text.strip() for text in texts):
        raise LmvizError("There is no text to look up: give one at least.")
    return Copies(corpus, part_of(progress, 0.0, 0.7)).compare(texts, part_of(progress, 0.7, 1.0))
