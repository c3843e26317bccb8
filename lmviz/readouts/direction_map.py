"""What states become where their shares along directions are taken out or exchanged."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True, eq=False)
class DirectionMap:
    """States (..., channel) + `strength` × what is read of them (channel, n), written (n, channel).

    The value of an intervention. `code` is Python code that makes the same.
    """

    reads: np.ndarray = field(repr=False)
    writes: np.ndarray = field(repr=False)
    strength: float
    code: str = "direction"

    def __repr__(self) -> str:
        return self.code

    def __call__(self, states: np.ndarray) -> np.ndarray:
        """The states with this done to them."""
        return states + self.strength * ((states @ self.reads) @ self.writes)
