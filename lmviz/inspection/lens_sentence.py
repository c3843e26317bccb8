"""Since when a model knows what it will say, in words: what the logit lens shows over a text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lmviz.base.counting import numbered
from lmviz.inspection.names import stop_name
from lmviz.models.address import Address

if TYPE_CHECKING:
    from lmviz.inspection.logit_lens import LogitLens


def place_in_words(place: str) -> str:
    """A place that stands for all of its layer: "layer 3"; what belongs to no layer by its own name."""
    layer = Address.parse(place).layer
    return stop_name(place) if layer is None else f"layer {numbered(layer)}"


def settled_in_words(lens: LogitLens, column: int, noun: str = "word") -> str:
    """What follows the final answer at one of the positions: since when it is the likeliest.

    `noun` is what answers are called. Empty where the model has one place only.
    """
    row, last = int(lens.settled[column]), len(lens.places) - 1
    place = place_in_words(lens.places[row])
    if not last:
        return ""
    if row == 0:
        return f"is the likeliest {noun} from the beginning."
    if row == last:
        return f"becomes the likeliest {noun} only in {place}, the last."
    layer = Address.parse(lens.places[last]).layer
    of_all = "" if layer is None else f" of {layer + 1}"
    return f"is the likeliest {noun} from {place}{of_all} on."


def all_settled_in_words(lens: LogitLens, unit: str = "word") -> str:
    """By when half of the positions have their final answer; empty where there is nothing to compare.

    `unit` is what stands at a position.
    """
    count, last = len(lens.positions), len(lens.places) - 1
    if count < 2 or not last:
        return ""
    row = int(np.sort(lens.settled)[(count - 1) // 2])
    place = place_in_words(lens.places[row])
    if row == last:
        return f"More than half of the {count} {unit}s shown have their final answer only in {place}."
    by_when = f"by {place}" if row else "from the beginning"
    return f"Half of the {count} {unit}s shown have their final answer {by_when}."
