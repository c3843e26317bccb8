"""Differences between models: divergence, overlap, and surprisal over the same pieces of text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from lmviz.base.arguments import whole_number
from lmviz.decoding.likelihood import Likelihood, predictions
from lmviz.decoding.shared_units import SharedUnits
from lmviz.looks.shown import Shown
from lmviz.models.prefix import read_prefix

if TYPE_CHECKING:
    from lmviz.models.model import Model


def jensen_shannon(shares: np.ndarray) -> np.ndarray:
    """The divergence of several distributions from their mean, in bits.

    `shares` is (model, ..., unit) and each row sums to one; the result has the axes between. It is 0
    where all agree, and at most log₂ of the number of models (Lin 1991).
    """
    shares = np.asarray(shares, dtype=np.float64)
    return np.maximum(_entropy(shares.mean(axis=0)) - _entropy(shares).mean(axis=0), 0.0)


def overlap(shares: np.ndarray) -> np.ndarray:
    """The probability that distributions (model, ..., unit) have in common, between 0 and 1.

    For two it is one minus their total variation distance.
    """
    return np.asarray(shares).min(axis=0).sum(axis=-1)


@dataclass(frozen=True)
class Difference:
    """A unit on which models disagree; `shares` holds its probability under each."""

    name: str
    shares: tuple[float, ...]


def largest_differences(shares: np.ndarray, names: Sequence[str], count: int) -> tuple[Difference, ...]:
    """The units whose probabilities (model, unit) lie furthest apart, furthest first."""
    shares = np.asarray(shares)
    spread = shares.max(axis=0) - shares.min(axis=0)
    order = np.argsort(-spread, kind="stable")[:count]
    return tuple(Difference(names[unit], tuple(map(float, shares[:, unit]))) for unit in order)


@dataclass(frozen=True, eq=False, repr=False)
class Disagreement(Shown):
    """Where in a text models expect different things.

    `places` (place,) are the numbers of characters read so far, wherever all tokenizers have a
    boundary; `divergence` (place,) is the Jensen–Shannon divergence, in bits, of what comes next.
    `text` is what was read, where it is known.
    """

    places: np.ndarray
    divergence: np.ndarray
    text: str = ""

    def largest(self, count: int) -> tuple[int, ...]:
        """The places of the largest divergence, largest first."""
        order = np.argsort(-self.divergence, kind="stable")[: whole_number("count", count)]
        return tuple(int(self.places[at]) for at in order)


def disagreement(models: Sequence[Model], text: str, units: SharedUnits) -> Disagreement:
    """The models' divergence after each token of a text.

    `units` is `shared_units` of their tokenizers, in the same order. LmvizError when a model cannot
    read the text.
    """
    found = disagreement_of([shares_after(model, text, units, which) for which, model in enumerate(models)])
    return replace(found, text=text)


def disagreement_of(found: Sequence[Mapping[int, np.ndarray]]) -> Disagreement:
    """The same from what `shares_after` found for each of the models."""
    places = sorted(set.intersection(*(set(shares) for shares in found)))
    divergence = [jensen_shannon(np.stack([shares[place] for shares in found])) for place in places]
    return Disagreement(np.array(places, dtype=np.int64), np.array(divergence, dtype=np.float64))


def shares_after(
    model: Model, text: str, units: SharedUnits, which: int, latest: int | None = None
) -> dict[int, np.ndarray]:
    """What a model expects next, shares (unit,), by the number of characters that it has read.

    `which` is the place of its tokenizer in `units`. Only the last `latest` tokens are kept, all of
    them where it is None. LmvizError when the model cannot read the text, or predicts no tokens.
    """
    model.check_continues()
    prefix = read_prefix(model, text)
    ends = [end for _, end in prefix.offsets]
    skipped = 0 if latest is None else max(0, len(ends) - latest)
    # Where several tokens end at one place, as the pieces of a character do, the last has read it all.
    return {
        end: units.share(which, row.exp().cpu().numpy()).astype(np.float32)
        for place, (end, row) in enumerate(zip(ends, predictions(model, prefix.ids), strict=True))
        if place >= skipped
    }


def surprisal_over(likelihood: Likelihood, spans: Sequence[tuple[int, int]]) -> np.ndarray:
    """The bits that fall on each span (from, to) of the text's characters, (span,) float64.

    A token's bits are spread evenly over its characters and the gap before it, so that curves of
    different tokenizers cover the same text and have the same total. NaN where a span holds characters
    that have no probability.
    """
    bits = np.zeros(max([len(likelihood.text), *(end for _, end in spans)]) + 1)
    done = 0
    for token in likelihood.tokens:
        first, end = min(done, token.span[0]), token.span[1]
        if end > first:
            bits[first:end] += (np.nan if token.surprisal is None else token.surprisal) / (end - first)
        done = max(done, end)
    return np.array([bits[first:end].sum() for first, end in _with_gaps(spans)])


def _with_gaps(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans that begin where the one before ended."""
    widened, done = [], 0
    for first, end in spans:
        widened.append((min(done, first), end))
        done = max(done, end)
    return widened


def _entropy(shares: np.ndarray) -> np.ndarray:
    """Shannon's entropy along the last axis, in bits."""
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(shares > 0, -shares * np.log2(shares), 0.0)
    return terms.sum(axis=-1)
