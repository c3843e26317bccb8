"""How far estimates of what a line taught can be trusted, as measured on small models: see docs/trust.py."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("trust.json")
NAMES = {
    "overlap": "n-grams",
    "scaled": "Adam's scale",
    "gradients": "gradients",
    "last": "last snapshot",
    "words": "same words",
}
LIKE = {"rnn": "gru", "lstm": "gru", "gru": "gru", "transformer": "transformer"}
"""Which kind of small model stands for a family."""

CALLED = {"gru": "GRU", "transformer": "Transformer"}


@dataclass(frozen=True)
class Trust:
    """Rank correlations of estimates with what leaving out half of the lines really changed.

    `labels` name the estimates, best first, and last the `ceiling`: how well seeds agree among themselves.
    """

    kind: str
    labels: tuple[str, ...]
    values: tuple[float, ...]
    lines: int
    halves: int
    seeds: int
    words: int

    @property
    def sentence(self) -> str:
        """How it was measured, in words."""
        return (
            f"{self.words} tokens of a small {CALLED[self.kind]}, trained {self.halves} times without half "
            f"of {self.lines} lines, {self.seeds} seeds each. Rank correlation with the real change:"
        )


def figures_for(family: str) -> Trust | None:
    """Those of the small model that is most like a family; None where none is."""
    found = _figures().get(LIKE.get(family, ""))
    if found is None:
        return None
    ordered = sorted(found["correlation"].items(), key=lambda pair: -pair[1])
    return Trust(
        kind=found["kind"],
        labels=(*(NAMES[name] for name, _ in ordered), "ceiling"),
        values=(*(float(value) for _, value in ordered), float(found["ceiling"])),
        lines=found["lines"],
        halves=found["halves"],
        seeds=found["seeds"],
        words=len(found["words"]),
    )


@cache
def _figures() -> dict[str, Any]:
    return {each["kind"]: each for each in json.loads(FILE.read_text(encoding="utf-8"))["models"]}
