"""The model and the text that are offered when none is open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

FIRST_MODEL = "stories-transformer"
"""The sample model that is offered where none is open: every perspective has something to say of it."""

MODEL_OFFER = f"Open {FIRST_MODEL}"

FIRST_TEXT = "stories"
"""What one's own model is trained on where no other text has been opened."""


@dataclass(frozen=True)
class OfferedTraining:
    """A family, and the settings of its model and of its training that are not the usual ones."""

    family: str
    model: Mapping[str, int]
    training: Mapping[str, int | float]


FIRST_TRAINING = OfferedTraining(
    "transformer",
    MappingProxyType({"layers": 2, "heads": 4, "width": 64, "context": 48}),
    MappingProxyType({"steps": 1000, "batch": 16, "learning_rate": 4e-3, "validate_every": 100}),
)
"""What the tour trains: on the first text it writes readable sentences in half a minute on two cores."""
