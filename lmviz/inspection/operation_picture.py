"""What is drawn of an arithmetic: its operands as strips, cell below cell, and what they come to.

A weighted sum is a row of one operand over a row of a matrix, their products below, and their sum. This is
the value that a widget draws; which strips a rule has is said here once for all families.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from lmviz.inspection.names import POSITIONAL, coordinate, word_of
from lmviz.inspection.trace import Trace
from lmviz.models.address import Address
from lmviz.models.arithmetic import FUNCTIONS, Arithmetic, Factor, Terms
from lmviz.models.arithmetic.notation import PLAIN
from lmviz.text.tokenizer import visible


@dataclass(frozen=True, eq=False)
class Band:
    """Numbers side by side: `values` (term,) on a scale of `lmviz.models.tap.SCALES`.

    `sign` stands before them, such as "×". They are the cells `indices` (term, axis) of `source`, which is a
    tap, a parameter, or "constant". `own` is the term that is the explained cell's own, -1 where none is.
    """

    sign: str
    name: str
    values: np.ndarray
    scale: str = "signed"
    source: str = "constant"
    indices: np.ndarray | None = None
    own: int = -1

    def index(self, term: int) -> tuple[int, ...]:
        """The place of a number in its source."""
        return () if self.indices is None else tuple(int(place) for place in self.indices[term])


@dataclass(frozen=True, eq=False)
class BandGroup:
    """Bands that belong together, and the one number that they come to: their sum, or another `measure`.

    Bands of several numbers stand one below the other; single numbers stand in one line. `breaks` are the
    terms at which another stretch begins, such as the next head.
    """

    label: str
    bands: tuple[Band, ...]
    total: float
    breaks: tuple[int, ...] = ()
    measure: str = "Σ"

    @property
    def terms(self) -> int:
        """How many numbers its longest band has."""
        return max(len(band.values) for band in self.bands)


@dataclass(frozen=True, eq=False)
class OperationPicture:
    """All blocks, how they become the cell, in words or as a function of a number, and the cell's value."""

    blocks: tuple[BandGroup, ...]
    becomes: str
    value: float
    scale: str


def operation_picture(arithmetic: Arithmetic, trace: Trace) -> OperationPicture:
    """What to draw of the arithmetic of a cell of a trace."""
    blocks = tuple(PICTURES[arithmetic.rule](arithmetic.terms, trace))
    if arithmetic.function:
        becomes = FUNCTIONS[arithmetic.function].plain.format(PLAIN.number(arithmetic.argument))
    else:
        becomes = WORDS.get(arithmetic.rule, arithmetic.operation)
    return OperationPicture(blocks, becomes, arithmetic.value, trace[arithmetic.address].scale)


def _sum(groups: tuple[Terms, ...], trace: Trace) -> Iterator[BandGroup]:
    """Neighbouring stretches from the same sources, such as heads or words, are one row."""
    for _, alike in groupby(groups, key=_kind):
        stretches = tuple(alike)
        if len(stretches[0]) <= 1:
            for group in stretches:
                yield _line(group, trace) if len(group) else _nothing(group)
        else:
            yield _rows(stretches, trace)


def _kind(group: Terms) -> tuple[object, ...]:
    return (len(group) > 1, *(factor.source for factor in group.factors))


def _line(group: Terms, trace: Trace, sign: str = "") -> BandGroup:
    """One product of single numbers."""
    used = [factor for factor in group.factors if not _is_one(factor)] or list(group.factors[:1])
    bands = [_band(factor, trace, "×" if place else sign) for place, factor in enumerate(used)]
    return BandGroup(group.label, tuple(bands), float(group.products[0]))


def _nothing(group: Terms) -> BandGroup:
    """A sum of no terms, such as the counts after a context that was never seen."""
    return BandGroup(group.label, (Band("", "nothing", np.zeros(1)),), 0.0)


def _rows(stretches: tuple[Terms, ...], trace: Trace) -> BandGroup:
    """Long factors one below the other, then those that are one number for all terms, and the products."""
    factors = [_joined([group.factors[place] for group in stretches]) for place in range(_factors(stretches))]
    long = [factor for factor in factors if not _is_same(factor)]
    short = [_first(factor) for factor in factors if _is_same(factor) and not _is_one(factor)]
    products = np.concatenate([group.products for group in stretches])
    bands = [_band(factor, trace, "×" if place else "") for place, factor in enumerate([*long, *short])]
    if len(bands) > 1:
        bands.append(Band("=", "products", products))
    breaks = tuple(int(end) for end in np.cumsum([len(group) for group in stretches])[:-1])
    return BandGroup(stretches[0].label, tuple(bands), float(products.sum()), breaks)


def _softmax(groups: tuple[Terms, ...], trace: Trace) -> Iterator[BandGroup]:
    own, row = groups
    powers = np.exp(row.products - row.products.max())
    place = _place_of(own.factors[0], row.factors[0])
    scores = _band(row.factors[0], trace, "", own=place)
    exponentials = Band("", "e^(score − largest)", powers, "share", own=place)
    yield BandGroup(row.label, (scores, exponentials), float(powers.sum()))
    yield BandGroup(
        "its share",
        (
            Band("", "its own e^(…)", powers[place : place + 1], "share"),
            Band("÷", "all together", powers.sum(keepdims=True), "count"),
        ),
        float(powers[place] / powers.sum()),
    )


def _layer_norm(groups: tuple[Terms, ...], trace: Trace) -> Iterator[BandGroup]:
    own, row, gain, *bias, epsilon = groups
    mean = float(row.products.mean())
    deviation = float(np.sqrt(row.products.var() + epsilon.products[0]))
    taken = (Band("−", "mean", np.array([mean])), Band("÷", "deviation", np.array([deviation])))
    yield from _normalised(own, row, mean, taken, (float(own.products[0]) - mean) / deviation, trace)
    yield _regained((float(own.products[0]) - mean) / deviation, gain, bias, trace)


def _rms_norm(groups: tuple[Terms, ...], trace: Trace) -> Iterator[BandGroup]:
    own, row, gain, epsilon = groups
    size = float(np.sqrt((row.products**2).mean() + epsilon.products[0]))
    taken = (Band("÷", "root mean square", np.array([size])),)
    yield from _normalised(own, row, size, taken, float(own.products[0]) / size, trace)
    yield _regained(float(own.products[0]) / size, gain, [], trace)


def _normalised(
    own: Terms, row: Terms, measure: float, taken: tuple[Band, ...], value: float, trace: Trace
) -> Iterator[BandGroup]:
    """The whole row with what is measured of it, and what is done with it to the own value."""
    place = _place_of(own.factors[0], row.factors[0])
    name = "mean" if len(taken) > 1 else taken[0].name
    band = _band(row.factors[0], trace, "", own=place)
    yield BandGroup(name, (band,), measure, measure="mean" if len(taken) > 1 else "rms")
    yield BandGroup("brought to scale", (_band(own.factors[0], trace, ""), *taken), value)


def _regained(value: float, gain: Terms, bias: list[Terms], trace: Trace) -> BandGroup:
    """What is brought to scale, times the gain, and the bias where there is one."""
    added = [_band(group.factors[0], trace, "+") for group in bias]
    bands = (Band("", "brought to scale", np.array([value])), _band(gain.factors[0], trace, "×"), *added)
    total = value * float(gain.products[0]) + sum(float(group.products[0]) for group in bias)
    return BandGroup("gain and bias" if bias else "gain", bands, total)


def _fraction(groups: tuple[Terms, ...], trace: Trace) -> Iterator[BandGroup]:
    half = len(groups) // 2
    for place, group in enumerate(groups):
        yield _line(group, trace, "÷" if place == half else "+" if place else "")


def _mask(groups: tuple[Terms, ...], trace: Trace) -> Iterator[BandGroup]:
    return (_line(group, trace) for group in groups)


PICTURES: dict[str, Callable[[tuple[Terms, ...], Trace], Iterator[BandGroup]]] = {
    "sum": _sum,
    "fraction": _fraction,
    "softmax": _softmax,
    "layer norm": _layer_norm,
    "rms norm": _rms_norm,
    "mask": _mask,
}
"""What each rule is drawn as."""

WORDS = {"sum": "sum", "softmax": "its share", "fraction": "one over the other", "mask": "hidden by the mask"}
"""How the blocks of a rule become the cell, where the operation's own words do not say it."""


def _band(factor: Factor, trace: Trace, sign: str, own: int = -1) -> Band:
    scale = trace[factor.source].scale if factor.source in trace and not factor.function else "signed"
    name = _name(factor, trace)
    if factor.function:
        name = FUNCTIONS[factor.function].plain.format(name)
    indices = factor.indices if factor.source != "constant" else None
    return Band(sign, name, factor.applied, scale, factor.source, indices, own)


def _name(factor: Factor, trace: Trace) -> str:
    """What the numbers of a factor have in common: "norm 1 of “brown”", "value, channel 5", "weights"."""
    if factor.source == "constant":
        return "a constant" if _is_same(factor) else "constants"
    at = Address.parse(factor.source)
    if factor.source not in trace:
        return at.place if "counts" in at.place else _parameter(factor)
    axes, name = trace[factor.source].axes, word_of(at.name)
    words, rest = [], []
    for axis, places in zip(axes, factor.indices.T, strict=True):
        if axis in POSITIONAL:
            told = list(dict.fromkeys(int(place) for place in places))
            words += (
                [f"“{visible(trace.names(axis)[place])}”" for place in told] if len(told) <= SEVERAL else []
            )
        elif axis not in ("token", "head", "group") and len(set(places.tolist())) == 1:
            rest.append(coordinate(axis, int(places[0])))
    return ", ".join([f"{name} of {' '.join(words)}" if words else name, *rest])


SEVERAL = 3
"""So many words are named one by one."""


def _parameter(factor: Factor) -> str:
    """ "weights" for a row of a matrix, otherwise what the number is called in the model."""
    return "weights" if len(factor.values) > 1 else Address.parse(factor.source).name


def _place_of(own: Factor, row: Factor) -> int:
    """Which cell of a row another factor is."""
    return int(np.flatnonzero((row.indices == own.indices[0]).all(axis=1))[0])


def _joined(parts: list[Factor]) -> Factor:
    first = parts[0]
    indices = np.concatenate([part.indices for part in parts])
    return Factor(first.source, indices, np.concatenate([part.values for part in parts]), first.function)


def _first(factor: Factor) -> Factor:
    return Factor(factor.source, factor.indices[:1], factor.values[:1], factor.function)


def _factors(stretches: tuple[Terms, ...]) -> int:
    return len(stretches[0].factors)


def _is_same(factor: Factor) -> bool:
    """Whether it is one and the same number for every term."""
    return bool((factor.indices == factor.indices[:1]).all() and (factor.values == factor.values[0]).all())


def _is_one(factor: Factor) -> bool:
    """Whether it changes nothing."""
    return factor.source == "constant" and not factor.function and bool((factor.values == 1).all())
