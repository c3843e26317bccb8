"""The likelihood of counts over the simplex: every way to share one probability among the words that follow.

Words that followed a context c₁ … c_V times have, under the shares p, the log likelihood Σ cᵢ ln pᵢ. It is
largest where pᵢ = cᵢ / Σ c: with a Lagrange multiplier λ for the constraint Σ p = 1, its gradient cᵢ/pᵢ
equals λ for every word there, and λ = Σ c (Jurafsky and Martin, *Speech and Language Processing*, on maximum
likelihood estimation).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.text.concordance import Concordance, concordance

if TYPE_CHECKING:
    from lmviz.text.corpus import Corpus

FEWEST, MOST = 2, 8
"""With how many different continuations a context can be drawn, one bar each."""

_EXAMPLE = "cows eat"
_SEARCHED = 300_000  # tokens at the beginning of a text in which an example is looked for


@dataclass(frozen=True, eq=False)
class CountedWords:
    """The words that follow a context, and how often: `counts` is (word,) float64, none of them 0."""

    context: str
    words: tuple[str, ...]
    counts: np.ndarray

    @property
    def total(self) -> float:
        """Σ c, which is the Lagrange multiplier λ where the likelihood is largest."""
        return float(self.counts.sum())

    @cached_property
    def best(self) -> np.ndarray:
        """(word,) The shares of the maximum: the counts divided by their sum."""
        return self.counts / self.total

    @cached_property
    def uniform(self) -> np.ndarray:
        """(word,) The same share for every word."""
        return np.full(len(self.counts), 1 / len(self.counts))

    def log_likelihood(self, shares: np.ndarray) -> float:
        """Σ c ln p in nats, for shares (word,); −∞ where a word that followed has none."""
        with np.errstate(divide="ignore"):
            return float(self.counts @ np.log(shares))

    def gradient(self, shares: np.ndarray) -> np.ndarray:
        """(word,) c / p, the derivative by each share alone; ∞ where there is none."""
        with np.errstate(divide="ignore"):
            return self.counts / shares

    def surplus(self, shares: np.ndarray) -> np.ndarray:
        """(word,) c/p − λ: what a word gains beyond the price of probability; 0 at the maximum."""
        return self.gradient(shares) - self.total

    def step(self, shares: np.ndarray, rate: float) -> np.ndarray:
        """The shares after one step uphill along p (c/p − λ) = c − λp, the natural gradient (Amari 1998).

        It stays on the simplex. With the rate 1/λ a single step reaches the counts; with a smaller one,
        each step goes the same part of the way that is left.
        """
        return shares + rate * (self.counts - self.total * shares)

    def ascent(self, shares: np.ndarray, rate: float, tolerance: float = 1e-4) -> Iterator[np.ndarray]:
        """The shares after each step, the last of which are the counts' own.

        `rate` lies between 0 and 1/λ.
        """
        while np.abs(shares - self.best).max() > tolerance:
            shares = self.step(shares, rate)
            yield shares
        yield self.best

    def along(self, shares: np.ndarray, word: int, places: np.ndarray) -> np.ndarray:
        """(place,) The log likelihood where a word has each of some shares and the others share the rest."""
        moved = [self.log_likelihood(with_share(shares, word, float(place))) for place in places]
        return np.array(moved)


def with_share(shares: np.ndarray, word: int, share: float) -> np.ndarray:
    """Give a word another share; the others (word,) divide the rest in the proportions they had.

    Where they had nothing, each gets the same.
    """
    share = min(max(share, 0.0), 1.0)
    others = np.delete(shares, word)
    rest = others.sum()
    scaled = others * ((1 - share) / rest) if rest > 0 else np.full(len(others), (1 - share) / len(others))
    return np.insert(scaled, word, share)


def counted_words(corpus: Corpus, context: str) -> CountedWords:
    """What follows a context in the training part.

    LmvizError where it is followed by fewer different words than can be weighed, or by more than can be
    drawn.
    """
    found = concordance(corpus, context, limit=1)
    different = len(found.words)
    if not different:
        raise LmvizError(f"Nothing follows “{context}” in this text: type another phrase.")
    if different < FEWEST:
        word = found.words[0].token
        raise LmvizError(f"Only “{word}” follows “{context}” here: type a phrase that leaves a choice.")
    if different > MOST:
        raise LmvizError(
            f"{different:,} different words follow “{context}”, and at most {MOST} can be drawn: type a "
            "longer phrase."
        )
    return _counted(context, found)


def example_context(corpus: Corpus) -> str:
    """A context that can be drawn: "cows eat", or the most frequent pair of tokens; empty where none can."""
    for context in (_EXAMPLE, *_frequent_pairs(corpus)):
        if FEWEST < len(concordance(corpus, context, limit=1).words) <= MOST:
            return context
    return ""


def _counted(context: str, found: Concordance) -> CountedWords:
    counts = np.array([word.count for word in found.words], dtype=np.float64)
    return CountedWords(context, tuple(word.token for word in found.words), counts)


def _frequent_pairs(corpus: Corpus, tried: int = 5) -> Sequence[str]:
    """Some pairs of tokens that three to eight different tokens follow, the most frequent first."""
    ids = corpus.training[:_SEARCHED].astype(np.int64)
    if len(ids) < 3:
        return ()
    size = int(ids.max()) + 1
    pairs, pair_of, totals = np.unique(ids[:-2] * size + ids[1:-1], return_inverse=True, return_counts=True)
    different = np.bincount(np.unique(pair_of * size + ids[2:]) // size, minlength=len(pairs))
    tokenizer = corpus.tokenizer
    marks = [id for id in (tokenizer.start_id, tokenizer.end_id, tokenizer.unknown_id) if id is not None]
    plain = ~np.isin(pairs // size, marks) & ~np.isin(pairs % size, marks)
    fitting = np.flatnonzero(plain & (different > FEWEST) & (different <= MOST))
    chosen = fitting[np.argsort(-totals[fitting], kind="stable")][:tried]
    return [tokenizer.decode(np.array([pairs[n] // size, pairs[n] % size])) for n in chosen]
