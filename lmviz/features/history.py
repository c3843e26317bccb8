"""How far the learning of a dictionary has come, and its curves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

COLUMNS = ("step", "tokens", "explained", "active", "alive")
JUDGED = ("step", "loss", "loss_reconstructed", "loss_mean")


@dataclass
class FeatureHistory:
    """What was measured while a dictionary was learned; each list is a column of its curves.

    In `rows`, of the batches learned from: the step, the tokens seen, the share of the variance explained,
    how many features were on at a token, and how many are alive. In `judged`, of some held-out text: the
    step, the model's loss, its loss with the reconstruction in place, and that with the mean.
    """

    rows: list[tuple[float, ...]] = field(default_factory=list)
    judged: list[tuple[float, ...]] = field(default_factory=list)

    def curve(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """The steps and one column of `rows`, or of `judged` where it is a loss."""
        columns, rows = (JUDGED, self.judged) if name in JUDGED[1:] else (COLUMNS, self.rows)
        array = np.array(rows, dtype=np.float64).reshape(-1, len(columns))
        return array[:, 0], array[:, columns.index(name)]

    def copy(self) -> FeatureHistory:
        """The same, which does not grow any more."""
        return FeatureHistory(list(self.rows), list(self.judged))

    def to_values(self) -> dict[str, Any]:
        """As plain values, ready for JSON."""
        return {"rows": self.rows, "judged": self.judged}

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> FeatureHistory:
        """What `to_values` gave; ValueError, TypeError or KeyError for anything else."""
        found = cls()
        for name, width in (("rows", len(COLUMNS)), ("judged", len(JUDGED))):
            for row in values[name]:
                numbers = tuple(float(number) for number in row)
                if len(numbers) != width:
                    raise ValueError(f"a row of {len(numbers)} numbers")
                getattr(found, name).append(numbers)
        return found


@dataclass(frozen=True, eq=False)
class FeatureProgress:
    """How far it has come: `step` of `steps`; while texts are read, `reading` is the share of them.

    `tokens_per_second` is of the training alone, None before it has begun.
    """

    step: int
    steps: int
    history: FeatureHistory
    reading: float | None = None
    tokens_per_second: float | None = None

    @property
    def share(self) -> float:
        """How much is done, 0 to 1."""
        return self.step / max(1, self.steps)
