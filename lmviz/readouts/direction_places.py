"""Where in a text states lie far along a direction: the places, and their words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.inspection.many_traces import traces
from lmviz.looks.shown import Shown
from lmviz.models.interruption import look_up
from lmviz.models.model import Model
from lmviz.readouts.direction import StateDirection

TOGETHER = 32
"""So many texts are read in a batch."""

BEFORE, AFTER = 12, 6
"""Tokens of a line before its place and after it."""


@dataclass(frozen=True, eq=False)
class DirectionPlace:
    """One place: the tokens around it, which of them it is, and how far each lies along (token,).

    `deviations` (token,) are the same in standard deviations from the mean over all texts. `ids` are those
    of the text up to the place.
    """

    tokens: tuple[str, ...]
    at: int
    values: np.ndarray
    deviations: np.ndarray
    text: int
    position: int
    ids: tuple[int, ...] = field(repr=False)

    @property
    def value(self) -> float:
        """How far the state there lies along the direction."""
        return float(self.values[self.at])


@dataclass(frozen=True, eq=False, repr=False)
class DirectionPlaces(Shown):
    """How far the states of texts lie along a direction, and the places where they lie farthest.

    `mean` and `deviation` are over all `tokens`; of each text the first token is left out, as states there
    are often unlike all others. `strongest` come from the largest down, at most one a text.
    """

    direction: StateDirection
    mean: float
    deviation: float
    tokens: int
    strongest: tuple[DirectionPlace, ...]

    def deviations(self, values: np.ndarray) -> np.ndarray:
        """Numbers along the direction as standard deviations from the mean."""
        return (values - self.mean) / max(self.deviation, 1e-12)


def direction_places(
    model: Model, direction: StateDirection, rows: Sequence[np.ndarray], count: int = 10
) -> DirectionPlaces:
    """Where rows of ids (token,) are far along a direction.

    LmvizError where the model has no such tap, or states of another width, and where no row has two tokens.
    """
    read = [np.asarray(row) for row in rows if len(row) > 1]
    if not read:
        raise LmvizError("There is no text of two tokens to look for a direction in: give some texts.")
    along: list[np.ndarray] = []
    for first in range(0, len(read), TOGETHER):
        look_up(first / len(read))
        some = traces(model, read[first : first + TOGETHER], taps=[direction.address])
        for recorded in some:
            states = recorded[direction.address].array
            if states.shape[-1:] != direction.vector.shape:
                raise LmvizError(
                    f"{direction!r} is of states of another width than those of {direction.address}: open "
                    "the model that it belongs to."
                )
            along.append(direction.along(states))
    values = np.concatenate([one[1:] for one in along]).astype(np.float64)
    mean, deviation = float(values.mean()), float(values.std())
    order = sorted(range(len(read)), key=lambda number: -float(along[number][1:].max()))
    strongest = tuple(
        _place(model, number, read[number], along[number], mean, deviation) for number in order[:count]
    )
    return DirectionPlaces(direction, mean, deviation, len(values), strongest)


def _place(
    model: Model, number: int, ids: np.ndarray, values: np.ndarray, mean: float, deviation: float
) -> DirectionPlace:
    position = 1 + int(values[1:].argmax())
    first, end = max(0, position - BEFORE), position + 1 + AFTER
    own = values[first:end].astype(np.float64)
    tokenizer = model.tokenizer
    names = [tokenizer.token(int(id)) if tokenizer else str(id) for id in ids[first:end]]
    return DirectionPlace(
        tokens=tuple(names),
        at=position - first,
        values=own,
        deviations=(own - mean) / max(deviation, 1e-12),
        text=number,
        position=position,
        ids=tuple(int(id) for id in ids[: position + 1]),
    )


def two_sets(
    pairs: Sequence[tuple[str, str | None]], kinds: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...], str]:
    """Two sets of texts for a difference of means, and what they are called.

    `pairs` are texts, each with its changed text where it has one, and `kinds` (text,) what each text is.
    Where all have a changed text, the texts stand against these; otherwise the texts of the commonest kind
    against those of the second. LmvizError where there are neither.
    """
    changed = [other for _, other in pairs if other is not None]
    if pairs and len(changed) == len(pairs):
        return tuple(text for text, _ in pairs), tuple(changed), "texts − changed texts"
    count = {kind: list(kinds).count(kind) for kind in dict.fromkeys(kinds) if kind}
    common = sorted(count, key=lambda kind: -count[kind])[:2]
    if len(common) < 2:
        raise LmvizError(
            "This set has neither changed texts nor two kinds of rows, so there are no two means: open a set "
            "of pairs, or one with wanted words."
        )
    first, second = (
        tuple(text for (text, _), kind in zip(pairs, kinds, strict=True) if kind == wanted)
        for wanted in common
    )
    return first, second, f"“{common[0].strip()}” − “{common[1].strip()}”"
