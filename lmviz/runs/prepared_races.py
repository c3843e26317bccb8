"""Races that are made ready: a claim of a lecture, and the settings that try it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class PreparedRace:
    """Values of one or two settings of what is planned, and the claim that they try.

    `settings` are what the plan is given before, so that the claim is tried where it can be seen; `varied`
    are the values of each lane. `family` is the one that has these settings.
    """

    title: str
    claim: str
    family: str
    settings: Mapping[str, Any]
    varied: Mapping[str, tuple[Any, ...]]


PREPARED_RACES = (
    PreparedRace(
        "Layer norm and the rate",
        "Layer norm is said to allow higher rates: which lanes still learn at the highest, and does the norm "
        "help at a low one?",
        "transformer",
        {"layers": 6, "width": 24, "heads": 2},
        {"norm": ("pre", "none"), "learning_rate": (0.003, 0.02, 0.1)},
    ),
)
