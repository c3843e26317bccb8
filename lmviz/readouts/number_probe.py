"""A number read off the states by a linear probe, with what it explains of texts held out, and controls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.base.figures import whole_percentage
from lmviz.inspection.lens_sentence import place_in_words
from lmviz.inspection.logit_lens import lens_places
from lmviz.inspection.tracing import trace
from lmviz.looks.shown import Shown
from lmviz.models.finite import check_states
from lmviz.models.interruption import look_up
from lmviz.models.model import Model
from lmviz.readouts.direction import StateDirection
from lmviz.readouts.numbered import POSITION, NumberedText, NumberedTexts
from lmviz.readouts.probing import BAND, RESAMPLES, TESTED, matching_taps


@dataclass(frozen=True, eq=False, repr=False)
class NumberProbes(Shown):
    """By tap: how much of the variance of a number a linear probe explains on texts held out (R²).

    `explained`, `low` and `high` are (tap,), the last two the band of 95 of 100 samples of texts drawn anew.
    `shuffled` (tap,) is the same for numbers drawn by word, `untrained` (tap,) that on the network before its
    training, None where it is not known. `words` is what the words alone explain, each by its mean, and
    `position` what a line over the position does, None where that is the number. Guessing the mean is 0, and
    what is worse than that is below.
    """

    what: str
    addresses: tuple[str, ...]
    explained: np.ndarray
    low: np.ndarray
    high: np.ndarray
    shuffled: np.ndarray
    untrained: np.ndarray | None
    words: float
    position: float | None
    fitted: int
    tested: int
    strength: float
    weights: tuple[np.ndarray, ...] = field(repr=False)

    @property
    def controls(self) -> np.ndarray:
        """(tap,) the best of the controls; 0 at least, which guessing the mean gives."""
        flat = max(0.0, self.words, self.position if self.position is not None else 0.0)
        rows = [self.shuffled, np.full(len(self.addresses), flat)]
        return np.max([*rows, *([] if self.untrained is None else [self.untrained])], axis=0)

    @property
    def gap(self) -> np.ndarray:
        """(tap,) by how much more a probe explains than the best control: what may be claimed."""
        return self.explained - self.controls

    @property
    def sentence(self) -> str:
        """What may be claimed, in words made from the numbers."""
        best = int(self.gap.argmax())
        where = place_in_words(self.addresses[best])
        beside = {"guessing the mean": 0.0, "the words alone": self.words}
        beside["random numbers"] = float(self.shuffled[best])
        if self.position is not None:
            beside["the position"] = self.position
        if self.untrained is not None:
            beside["the untrained network"] = float(self.untrained[best])
        name = max(beside, key=beside.__getitem__)
        share, other = (
            whole_percentage(max(0.0, value)) for value in (float(self.explained[best]), beside[name])
        )
        if self.low[best] <= self.controls[best]:
            return (
                f"Nothing is read here that a control does not read as well: of the {self.what}, {where} "
                f"explains {share} of the variance, and {name} {other}."
            )
        return (
            f"Of the {self.what}, {where} explains {share} of the variance, and the best control, {name}, "
            f"{other}."
        )

    def direction(self, address: str) -> StateDirection:
        """The direction along which the number rises: its length raises what is read by 1."""
        if address not in self.addresses:
            raise LmvizError(f"There is no tap {address!r} here: it is one of {', '.join(self.addresses)}.")
        own = self.weights[self.addresses.index(address)]
        return StateDirection.of(address, own / max(float(own @ own), 1e-300), f"probe for {self.what}")


def probe_number(
    model: Model,
    numbered: NumberedTexts,
    taps: Sequence[str] | None = None,
    *,
    untrained: Model | None = None,
    strength: float = 1.0,
    seed: int = 0,
) -> NumberProbes:
    """A ridge regression at each tap, by default at the state after each layer, and its controls.

    A quarter of the texts is held out, whole. Minimised is the sum of squares plus ‖w‖² / `strength`, over
    states of mean 0 and variance 1. LmvizError where there are too few texts.
    """
    addresses = tuple(lens_places(model, after_layers=True) if taps is None else matching_taps(model, taps))
    texts = numbered.texts
    held = max(1, round(TESTED * len(texts)))
    if len(texts) - held < 2:
        raise LmvizError(f"{len(texts)} texts are too few to fit a probe and judge it: give some dozens.")
    order = np.random.default_rng(seed).permutation(len(texts))
    tested, fitted = [texts[at] for at in order[:held]], [texts[at] for at in order[held:]]
    known, wanted = (np.concatenate([text.numbers for text in part]) for part in (fitted, tested))
    if np.ptp(known) == 0 or np.ptp(wanted) == 0:
        raise LmvizError(
            f"The number ({numbered.what}) is the same at all places of a part: give more texts."
        )
    drawn, drawn_wanted = _random_numbers(fitted, tested, known, seed)
    owner = np.concatenate([np.full(len(text.numbers), number) for number, text in enumerate(tested)])
    own = _states(model, [*fitted, *tested], addresses)
    before = None if untrained is None else _states(untrained, [*fitted, *tested], addresses)
    count = len(known)
    rows: dict[str, list[float]] = {"explained": [], "low": [], "high": [], "shuffled": [], "untrained": []}
    weights = []
    for number, address in enumerate(addresses):
        look_up(0.5 + 0.5 * number / len(addresses))
        states = own[address]
        weight, bias = fit_ridge(states[:count], known, strength)
        told = states[count:] @ weight + bias
        low, high = _band(told, wanted, owner, held, seed)
        weights.append(weight)
        rows["explained"].append(_explained(told, wanted))
        rows["low"].append(low)
        rows["high"].append(high)
        weight, bias = fit_ridge(states[:count], drawn, strength)
        rows["shuffled"].append(_explained(states[count:] @ weight + bias, drawn_wanted))
        if before is not None:
            weight, bias = fit_ridge(before[address][:count], known, strength)
            rows["untrained"].append(_explained(before[address][count:] @ weight + bias, wanted))
    return NumberProbes(
        what=numbered.what,
        addresses=addresses,
        explained=np.array(rows["explained"]),
        low=np.array(rows["low"]),
        high=np.array(rows["high"]),
        shuffled=np.array(rows["shuffled"]),
        untrained=np.array(rows["untrained"]) if before is not None else None,
        words=_explained(_by_words(fitted, tested, known), wanted),
        position=None if numbered.what == POSITION else _by_position(fitted, tested, known, wanted),
        fitted=count,
        tested=len(wanted),
        strength=strength,
        weights=tuple(weights),
    )


def fit_ridge(states: np.ndarray, numbers: np.ndarray, strength: float = 1.0) -> tuple[np.ndarray, float]:
    """Weights (channel,) and a bias for states (row, channel) as they are, from a ridge over standardised
    ones, as scikit-learn's Ridge(alpha=1/strength) gives after a StandardScaler."""
    mean, deviation = states.mean(0), states.std(0)
    deviation = np.where(deviation > 1e-12, deviation, 1.0)
    rows = (states - mean) / deviation
    middle = float(numbers.mean())
    squares = rows.T @ rows + np.eye(rows.shape[1]) / strength
    weights = np.linalg.lstsq(squares, rows.T @ (numbers - middle), rcond=None)[0] / deviation
    return weights, middle - float(mean @ weights)


def _states(model: Model, texts: Sequence[NumberedText], addresses: Sequence[str]) -> dict[str, np.ndarray]:
    """(place, channel) of each tap at all tokens of all texts."""
    rows: dict[str, list[np.ndarray]] = {address: [] for address in addresses}
    for number, text in enumerate(texts):
        look_up(0.5 * number / len(texts))
        recorded = trace(model, text.ids, taps=list(addresses))
        for address in addresses:
            rows[address].append(recorded[address].array)
    found = {address: np.concatenate(parts).astype(np.float64) for address, parts in rows.items()}
    for states in found.values():
        check_states(model, states)
    return found


def _explained(told: np.ndarray, wanted: np.ndarray) -> float:
    """R²: the share of the variance that is explained; 0 for the mean, and below it for what is worse."""
    left, whole = float(((wanted - told) ** 2).sum()), float(((wanted - wanted.mean()) ** 2).sum())
    return 1 - left / whole if whole > 0 else 0.0


def _band(
    told: np.ndarray, wanted: np.ndarray, owner: np.ndarray, texts: int, seed: int
) -> tuple[float, float]:
    """Between which R² 95 of 100 samples of texts drawn anew lie."""
    sums = [
        np.bincount(owner, weights=each, minlength=texts)
        for each in (np.ones(len(wanted)), wanted, wanted**2, (wanted - told) ** 2)
    ]
    drawn = np.random.default_rng(seed).integers(0, texts, (RESAMPLES, texts))
    places, first, second, left = (each[drawn].sum(1) for each in sums)
    whole = np.maximum(second - first**2 / np.maximum(places, 1), 1e-12)
    low, high = np.percentile(1 - left / whole, BAND)
    return float(low), float(high)


def _random_numbers(
    fitted: Sequence[NumberedText], tested: Sequence[NumberedText], known: np.ndarray, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Numbers that mean nothing, one for each word, drawn from the real ones."""
    draw = np.random.default_rng(seed + 1)
    words = sorted({word for text in (*fitted, *tested) for word in text.words})
    drawn = dict(zip(words, draw.choice(known, len(words)), strict=True))
    first, second = (
        np.array([drawn[word] for text in part for word in text.words]) for part in (fitted, tested)
    )
    return first, second


def _by_words(
    fitted: Sequence[NumberedText], tested: Sequence[NumberedText], known: np.ndarray
) -> np.ndarray:
    """What one says who knows the word alone: the mean of its numbers, or that of all."""
    sums: dict[str, list[float]] = {}
    for text in fitted:
        for word, value in zip(text.words, text.numbers, strict=True):
            sums.setdefault(word, []).append(float(value))
    means = {word: float(np.mean(values)) for word, values in sums.items()}
    middle = float(known.mean())
    return np.array([means.get(word, middle) for text in tested for word in text.words])


def _by_position(
    fitted: Sequence[NumberedText], tested: Sequence[NumberedText], known: np.ndarray, wanted: np.ndarray
) -> float:
    """What a line over the position explains."""
    first, second = (
        np.concatenate([np.arange(len(text.numbers), dtype=np.float64) for text in part])[:, None]
        for part in (fitted, tested)
    )
    weight, bias = fit_ridge(first, known, 1e6)
    return _explained(second @ weight + bias, wanted)
