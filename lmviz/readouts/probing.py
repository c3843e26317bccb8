"""Probing: can something be read off a state, and by how much better than where it cannot have been learned?

A probe that is right says little by itself: states of an untrained network tell words apart as well, and a
large probe learns any labels by heart. So each accuracy stands beside four controls: the commonest label, the
words alone, labels drawn at random by word (Hewitt & Liang 2019), and the same network before it was trained.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from lmviz.base.arguments import check_kind
from lmviz.base.errors import LmvizError
from lmviz.base.figures import bare_percentage, whole_percentage
from lmviz.inspection.indices import from_start
from lmviz.inspection.lens_sentence import place_in_words
from lmviz.inspection.logit_lens import lens_places
from lmviz.inspection.trace import Trace
from lmviz.inspection.tracing import trace
from lmviz.looks.shown import Shown
from lmviz.models.finite import check_states
from lmviz.models.interruption import look_up
from lmviz.models.model import Model
from lmviz.readouts.direction import StateDirection
from lmviz.readouts.labelled import LabelledText, LabelledTexts
from lmviz.readouts.linear_probe import LinearProbe, fit_probe
from lmviz.readouts.probe_reading import ProbeReading

RESAMPLES, BAND = 1000, (2.5, 97.5)
MOST_WORDS = 2000
"""Words that the control of the words alone tells apart, the most frequent."""

TESTED = 0.25


@dataclass(frozen=True, eq=False, repr=False)
class Probes(Shown):
    """By tap: how often a linear probe is right on texts that it was not fitted on, beside its controls.

    `accuracy`, `low` and `high` are (tap,), the last two the band of 95 of 100 samples of texts drawn anew
    (bootstrap). `shuffled` (tap,) is the same with labels drawn at random, `untrained` (tap,) the same on the
    network before its training, None where it is not known; `majority` and `words` need no network.
    """

    addresses: tuple[str, ...]
    names: tuple[str, ...]
    accuracy: np.ndarray
    low: np.ndarray
    high: np.ndarray
    shuffled: np.ndarray
    untrained: np.ndarray | None
    majority: float
    words: float
    fitted: int
    tested: int
    strength: float
    seen: float
    probes: tuple[LinearProbe, ...] = field(repr=False)

    @property
    def controls(self) -> np.ndarray:
        """(tap,) the best of the controls."""
        rows = [self.shuffled, np.full(len(self.addresses), max(self.majority, self.words))]
        return np.max([*rows, *([] if self.untrained is None else [self.untrained])], axis=0)

    @property
    def gap(self) -> np.ndarray:
        """(tap,) by how much a probe is better than the best control: what may be claimed."""
        return self.accuracy - self.controls

    @property
    def sentence(self) -> str:
        """What may be claimed, in words made from the numbers."""
        best = int(self.gap.argmax())
        where, share = place_in_words(self.addresses[best]), whole_percentage(float(self.accuracy[best]))
        beside = {"the words alone": self.words, "the commonest label": self.majority}
        beside["random labels"] = float(self.shuffled[best])
        if self.untrained is not None:
            beside["the untrained network"] = float(self.untrained[best])
        name = max(beside, key=beside.__getitem__)
        if self.low[best] <= self.controls[best]:
            return (
                f"Nothing is read here that a control does not read as well: {share} at {where}, and "
                f"{whole_percentage(beside[name])} with {name}."
            )
        above = bare_percentage(float(self.gap[best]))
        return (
            f"At {where} it is read in {share} of the places, {above} points above the best control, {name}."
        )

    def direction(self, address: str, label: str) -> StateDirection:
        """The direction along which a state of a tap becomes more like a label, of length 1."""
        for kind, known, asked in (("tap", self.addresses, address), ("label", self.names, label)):
            if asked not in known:
                raise LmvizError(f"There is no {kind} {asked!r} here: it is one of {', '.join(known)}.")
        weights = self.probes[self.addresses.index(address)].weights
        own = self.names.index(label)
        along = weights[own] - np.delete(weights, own, axis=0).mean(0)
        return StateDirection.of(address, along, f"probe for {label}")

    def read(self, trace: Trace, positions: Sequence[int] | None = None) -> ProbeReading:
        """What the probes say of the states of a trace of their model, at all positions or some.

        Negative positions count from the end. LmvizError where the trace lacks a state, has it of another
        width, or has no such position.
        """
        check_kind("trace", trace, Trace, "what lmviz.trace returns")
        wanted = range(len(trace)) if positions is None else positions
        if isinstance(wanted, str | bytes) or not isinstance(wanted, Iterable):
            raise LmvizError(f"{positions!r} is not a list of positions: give several, such as [0, -1].")
        chosen = np.array([from_start("position", at, len(trace)) for at in wanted], dtype=np.int64)
        scores = []
        for address, one in zip(self.addresses, self.probes, strict=True):
            states = trace[address].array[chosen].astype(np.float64)
            if states.shape[-1] != one.weights.shape[1]:
                raise LmvizError(
                    f"These probes read {one.weights.shape[1]} channels of {address}, and the trace has "
                    f"{states.shape[-1]}: trace their model."
                )
            scores.append(one.scores(states))
        return ProbeReading(
            places=self.addresses,
            positions=tuple(map(int, chosen)),
            names=self.names,
            scores=np.stack(scores),
            biases=np.stack([one.biases for one in self.probes]),
        )


def probe(
    model: Model,
    labelled: LabelledTexts,
    taps: Sequence[str] | None = None,
    *,
    untrained: Model | None = None,
    strength: float = 1.0,
    seed: int = 0,
) -> Probes:
    """A linear probe at each tap, by default at the state after each layer, and its controls.

    A quarter of the texts is held out: no text is in both parts. `seen` is the share of places held out
    whose word was also seen while fitting. LmvizError where there are too few texts.
    """
    addresses = tuple(lens_places(model, after_layers=True) if taps is None else matching_taps(model, taps))
    texts = labelled.texts
    held = max(1, round(TESTED * len(texts)))
    if len(texts) - held < 2:
        raise LmvizError(
            f"{len(texts)} labelled texts are too few to fit a probe and judge it: give some dozens."
        )
    order = np.random.default_rng(seed).permutation(len(texts))
    tested, fitted = [texts[at] for at in order[:held]], [texts[at] for at in order[held:]]
    labels, wanted = _labels(fitted), _labels(tested)
    count = len(labelled.names)
    random_labels, random_wanted = _random_labels(fitted, tested, labelled.of_texts, labels, seed)
    own = _states(model, [*fitted, *tested], addresses)
    before = None if untrained is None else _states(untrained, [*fitted, *tested], addresses)
    owner = np.concatenate([np.full(len(text.labels), number) for number, text in enumerate(tested)])
    rows: dict[str, list[float]] = {"accuracy": [], "low": [], "high": [], "shuffled": [], "untrained": []}
    probes = []
    for number, address in enumerate(addresses):
        look_up(0.5 + 0.5 * number / len(addresses))
        states = own[address]
        one = fit_probe(states[: len(labels)], labels, count, strength)
        right = one.answers(states[len(labels) :]) == wanted
        probes.append(one)
        low, high = _band(right, owner, held, seed)
        rows["accuracy"].append(float(right.mean()))
        rows["low"].append(low)
        rows["high"].append(high)
        other = fit_probe(states[: len(labels)], random_labels, count, strength)
        rows["shuffled"].append(float((other.answers(states[len(labels) :]) == random_wanted).mean()))
        if before is not None:
            states = before[address]
            other = fit_probe(states[: len(labels)], labels, count, strength)
            rows["untrained"].append(float((other.answers(states[len(labels) :]) == wanted).mean()))
    known = {word for text in fitted for word in text.words}
    words = [word for text in tested for word in text.words]
    commonest = int(np.bincount(labels, minlength=count).argmax())
    return Probes(
        addresses=addresses,
        names=labelled.names,
        accuracy=np.array(rows["accuracy"]),
        low=np.array(rows["low"]),
        high=np.array(rows["high"]),
        shuffled=np.array(rows["shuffled"]),
        untrained=np.array(rows["untrained"]) if before is not None else None,
        majority=float((wanted == commonest).mean()),
        words=_by_words(fitted, tested, labelled.of_texts, labels, wanted, count, strength),
        fitted=len(labels),
        tested=len(wanted),
        strength=strength,
        seen=float(np.mean([word in known for word in words])),
        probes=tuple(probes),
    )


def matching_taps(model: Model, taps: Sequence[str]) -> list[str]:
    """The taps with a state at each position that match patterns; LmvizError where none does."""
    from lmviz.models.address import Address

    found = [
        tap.address
        for tap in model.taps()
        if tap.axes[:1] == ("position",)
        and len(tap.axes) == 2
        and any(Address.parse(tap.address).matches(pattern) for pattern in taps)
    ]
    if not found:
        raise LmvizError(f"No tap with a state at each position matches {', '.join(taps)}.")
    return found


def _labels(texts: Sequence[LabelledText]) -> np.ndarray:
    return np.concatenate([text.labels for text in texts])


def _states(model: Model, texts: Sequence[LabelledText], addresses: Sequence[str]) -> dict[str, np.ndarray]:
    """(place, channel) of each tap at the labelled places of all texts."""
    rows: dict[str, list[np.ndarray]] = {address: [] for address in addresses}
    for number, text in enumerate(texts):
        look_up(0.5 * number / len(texts))
        recorded = trace(model, text.ids, taps=list(addresses))
        for address in addresses:
            rows[address].append(recorded[address].array[text.places])
    found = {address: np.concatenate(parts).astype(np.float64) for address, parts in rows.items()}
    for states in found.values():
        check_states(model, states)
    return found


def _random_labels(
    fitted: Sequence[LabelledText],
    tested: Sequence[LabelledText],
    of_texts: bool,
    labels: np.ndarray,
    seed: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Labels that mean nothing, as often as the real ones: one for each word, or for each text one drawn."""
    draw = np.random.default_rng(seed + 1)
    if of_texts:
        return draw.permutation(labels), draw.choice(labels, sum(len(text.labels) for text in tested))
    words = sorted({word for text in (*fitted, *tested) for word in text.words})
    drawn = dict(zip(words, draw.choice(labels, len(words)), strict=True))

    def of(texts: Sequence[LabelledText]) -> np.ndarray:
        return np.array([drawn[word] for text in texts for word in text.words])

    return of(fitted), of(tested)


def _by_words(
    fitted: Sequence[LabelledText],
    tested: Sequence[LabelledText],
    of_texts: bool,
    labels: np.ndarray,
    wanted: np.ndarray,
    count: int,
    strength: float,
) -> float:
    """How often one is right who knows the words alone: the usual label of a word, or a bag of words."""
    if not of_texts:
        seen: dict[str, Counter[int]] = {}
        for text in fitted:
            for word, label in zip(text.words, text.labels, strict=True):
                seen.setdefault(word, Counter())[int(label)] += 1
        commonest = int(np.bincount(labels, minlength=count).argmax())
        told = [
            seen[word].most_common(1)[0][0] if word in seen else commonest
            for text in tested
            for word in text.words
        ]
        return float((np.array(told) == wanted).mean())
    bags = [Counter(text.words[0].lower().split()) for text in (*fitted, *tested)]
    frequent = Counter(word for bag in bags[: len(fitted)] for word in bag)
    columns = {word: number for number, (word, _) in enumerate(frequent.most_common(MOST_WORDS))}
    rows = np.zeros((len(bags), max(len(columns), 1)))
    for row, bag in zip(rows, bags, strict=True):
        for word, times in bag.items():
            if word in columns:
                row[columns[word]] = times
    answers = fit_probe(rows[: len(fitted)], labels, count, strength).answers(rows[len(fitted) :])
    return float((answers == wanted).mean())


def _band(right: np.ndarray, owner: np.ndarray, texts: int, seed: int) -> tuple[float, float]:
    """Between which accuracies 95 of 100 samples of texts drawn anew lie."""
    by_text = np.bincount(owner, weights=right, minlength=texts)
    places = np.bincount(owner, minlength=texts)
    drawn = np.random.default_rng(seed).integers(0, texts, (RESAMPLES, texts))
    shares = by_text[drawn].sum(1) / np.maximum(places[drawn].sum(1), 1)
    low, high = np.percentile(shares, BAND)
    return float(low), float(high)
