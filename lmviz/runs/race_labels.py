"""What lanes of a race are called: by the settings in which they differ, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lmviz.runs.race_table import differing_settings


@dataclass(frozen=True)
class NamedLane:
    """A lane as its name is made: its settings by name, and the lane and the step that it was forked from."""

    settings: Mapping[str, Any]
    parent: str = ""
    step: int = 0


def lane_labels(lanes: Mapping[str, NamedLane]) -> dict[str, str]:
    """A name for each lane, such as "0.01", of a fork "0.1 → 0.01"; each its own.

    Lanes that differ in several settings have all of these values in their name, "0.01 · 64".
    """
    roots = {name: lane.settings for name, lane in lanes.items() if lane.parent not in lanes}
    telling = telling_settings(list(roots.values()))
    labels = {
        name: " · ".join(value_in_words(settings[key]) for key in telling)
        or str(settings.get("family", name))
        for name, settings in roots.items()
    }
    for name, lane in lanes.items():
        if name not in labels:
            before = lanes[lane.parent].settings
            changed = [key for key, value in lane.settings.items() if value != before.get(key)]
            values = " · ".join(value_in_words(lane.settings[key]) for key in changed)
            parent = labels.get(lane.parent, lane.parent)
            labels[name] = f"{parent} → {values}" if values else f"{parent} from {lane.step:,}"
    taken: dict[str, int] = {}
    unique = {}
    for name in lanes:
        label = labels[name]
        taken[label] = taken.get(label, 0) + 1
        unique[name] = label if taken[label] == 1 else f"{label} ({taken[label]})"
    return unique


def telling_settings(lanes: Sequence[Mapping[str, Any]]) -> list[str]:
    """The names of the settings that all lanes have, and in which they differ."""
    differing = differing_settings({str(place): settings for place, settings in enumerate(lanes)})
    names = next(iter(differing.values()), {})
    return [name for name in names if all(name in settings for settings in lanes)]


def value_in_words(value: Any) -> str:
    """The value of a setting as a person writes it: 0.0005 and not 5e-4."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:g}" if value == 0 or abs(value) >= 1e-4 else f"{value:.1e}"
    return str(value)


def setting_in_words(name: str) -> str:
    """The name of a setting as it stands in a heading: "learning rate"."""
    return name.replace("_", " ")
