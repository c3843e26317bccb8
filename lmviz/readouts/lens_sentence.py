"""What a lens says along the layers, in words: which word it reads, and from where on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from lmviz.inspection.lens_sentence import place_in_words

if TYPE_CHECKING:
    from lmviz.inspection.logit_lens import LogitLens
    from lmviz.readouts.fitted_lens import FittedLens

DEEP = 8
"""Layers."""

MOST_WORDS = 4
"""Words of the way that a sentence names, the last ones."""


def way_in_words(lens: LogitLens, column: int, word: Callable[[int], str], unsure: FittedLens | None) -> str:
    """The likeliest words on the way up: “Madrid” from layer 20, “Italy” from layer 24, “Rome” at the end.

    In a deep model a word counts where it stays for two layers, or at the end; what the map is not sure of is
    left out.
    """
    ids, places = lens.ids[:, column, 0].tolist(), lens.places
    runs: list[tuple[int, int, int]] = []  # id, first row, rows
    for row, (place, id) in enumerate(zip(places, ids, strict=True)):
        if unsure is not None and unsure.is_unsure(place):
            continue
        if runs and runs[-1][0] == id and runs[-1][1] + runs[-1][2] == row:
            runs[-1] = id, runs[-1][1], runs[-1][2] + 1
        else:
            runs.append((id, row, 1))
    last = len(places) - 1
    least = 2 if last >= DEEP else 1
    kept = [run for run in runs if run[2] >= least or run[1] + run[2] - 1 == last][-MOST_WORDS:]
    said = []
    for id, first, rows in kept:
        where = "at the end" if first == last else f"from {place_in_words(places[first])}"
        where = "before all layers" if first == 0 else where
        if first == 0 and rows == len(places):
            where = "throughout"
        said.append(f"“{word(id)}” {where}")
    return ", ".join(said)


def worth_in_words(fitted: FittedLens, place: str) -> str:
    """How far what a lens reads at a place is from the end, and the logit lens beside it."""
    if place not in fitted.divergence:
        return ""
    own, other = fitted.divergence[place], fitted.divergence_unfitted[place]
    return f"{own:.2f} bits from the end on passages held out; the logit lens {other:.2f}"


def since_in_words(
    word: str, places: Sequence[str], since: Sequence[int | None], among_five: int | None
) -> str:
    """Since which step each layer says a word: “Rome” is said at the end since step 708, from layer 2 on …"""
    end = since[-1]
    if end is None:
        few = "" if among_five is None else f", and is among the five likeliest since step {among_five:,}"
        return f"“{word}” is not yet said at the end{few}."
    before = [(place, step) for place, step in zip(places[:-1], since[:-1], strict=True) if step is not None]
    said = f"“{word}” has been said at the end since step {end:,}"
    if not before:
        return f"{said}, and at no place before."
    place, step = before[0]
    return f"{said}; the earliest place that can say it is {place_in_words(place)}, since step {step:,}."
