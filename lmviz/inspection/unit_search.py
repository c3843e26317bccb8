"""Searches a corpus for the positions where a unit is most active (after LSTMVis, Strobelt et al. 2018)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.inspection.firing_units import UNIT_AXES
from lmviz.inspection.indices import from_start
from lmviz.models.explicit import ForwardPass
from lmviz.models.model import Model
from lmviz.models.reading import evaluation, on_device
from lmviz.models.tap import Tap

WINDOW = 96
"""How many tokens are read at once where the model's context allows."""

SETTLING = 4
"""A window's first quarter only lets the state settle: those places are judged in the window before."""


@dataclass(frozen=True)
class FiringPlace:
    """A place of a corpus: its position in the stream of ids, the unit's value, and the text around it."""

    position: int
    value: float
    before: str
    token: str
    after: str


@dataclass(frozen=True)
class SearchProgress:
    """How much of the corpus was searched, between 0 and 1, and the best places so far, best first."""

    done: float
    places: tuple[FiringPlace, ...]


def search_corpus(
    model: Model,
    ids: np.ndarray,
    address: str,
    unit: int,
    *,
    sign: int = 1,
    count: int = 20,
    around: int = 8,
    batch: int = 32,
) -> Iterator[SearchProgress]:
    """The places of a stream of ids (token,) where a unit's value times `sign` is largest.

    The corpus is read in overlapping windows, a batch at a time, and what has been found is yielded after
    each batch; closing the generator ends the search. Places closer than three tokens to a better one are
    left out. `around` tokens are shown on either side. LmvizError when there is no such unit.
    """
    taps = _taps_up_to(model, address)
    length = min(WINDOW, model.context or WINDOW, len(ids))
    if not length:
        raise LmvizError("The corpus is empty: open a text first.")
    settling = length // SETTLING
    firsts = np.arange(0, max(1, len(ids) - settling), length - settling)
    firsts = np.minimum(firsts, len(ids) - length)
    best_positions, best_values = np.zeros(0, dtype=np.int64), np.zeros(0)
    for start in range(0, len(firsts), batch):
        chosen = firsts[start : start + batch]
        places = chosen[:, None] + np.arange(length)  # (window, position)
        values = sign * _values(model, taps, np.asarray(ids[places], dtype=np.int64), address, unit)
        judged = (places >= chosen[:, None] + settling) | (places < settling)
        positions = np.concatenate([best_positions, places[judged]])
        values = np.concatenate([best_values, values[judged]])
        best_positions, best_values = _best(positions, values, count)
        shown = zip(best_positions.tolist(), (sign * best_values).tolist(), strict=True)
        found = tuple(_place(model, ids, position, value, around) for position, value in shown)
        yield SearchProgress(min(1.0, (start + len(chosen)) / len(firsts)), found)


def _best(positions: np.ndarray, values: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The positions of the largest values, largest first, none closer than three to a better one."""
    order = np.argsort(-values, kind="stable")[: 8 * count]
    kept: list[int] = []
    for index in order:
        if all(abs(positions[index] - positions[other]) >= 3 for other in kept):
            kept.append(int(index))
        if len(kept) == count:
            break
    return positions[kept], values[kept]


def _values(model: Model, taps: Sequence[Tap], tokens: np.ndarray, address: str, unit: int) -> np.ndarray:
    """The value of a unit of a tap, (window, position)."""
    parameters = {**dict(model.named_parameters()), **dict(model.named_buffers())}
    with evaluation(model):
        scope = ForwardPass(on_device(model, tokens), parameters)
        values = scope.run(taps, lambda tap, value, position: value)[address]
    return values[..., from_start("unit", unit, values.shape[-1])].cpu().double().numpy()


def _taps_up_to(model: Model, address: str) -> tuple[Tap, ...]:
    """The taps that are needed for one of them; a recurrence is computed as a whole."""
    taps = model.taps()
    wanted = next((tap for tap in taps if tap.address == address), None)
    if wanted is None or wanted.axes not in UNIT_AXES:
        raise LmvizError(f"{address} has no units to search for: choose a hidden state or an activation.")
    needed = [
        place for place, tap in enumerate(taps) if tap is wanted or (tap.scan and tap.scan == wanted.scan)
    ]
    return taps[: needed[-1] + 1]


def _place(model: Model, ids: np.ndarray, position: int, value: float, around: int) -> FiringPlace:
    first = max(0, position - around)
    shown = ids[first : position + 1 + around]
    before, after = shown[: position - first], shown[position - first + 1 :]
    tokenizer = model.tokenizer
    if tokenizer is None:
        return FiringPlace(
            position, value, " ".join(map(str, before)), str(ids[position]), " ".join(map(str, after))
        )
    texts = [tokenizer.decode(part) for part in (before, after)]
    if tokenizer.kind == "bpe":  # the token says of which character it is a part; other parts are no text
        texts = [text.strip("\ufffd") for text in texts]
    return FiringPlace(position, value, texts[0], tokenizer.tokens_of(shown)[position - first], texts[1])
