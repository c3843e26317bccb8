"""A picture of one tap: its numbers, or a part of them, with the words along its axes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from lmviz.inspection.gradient import Gradient
from lmviz.inspection.trace import Trace
from lmviz.inspection.traced_array import TracedArray
from lmviz.looks.shown import Shown


@dataclass(frozen=True, eq=False, repr=False)
class TapPicture(Shown):
    """The tap of a trace or of a gradient at an address, and by axis the indices `at` which it is seen."""

    of: Trace | Gradient
    address: str
    at: Mapping[str, int] = field(default_factory=dict)

    @property
    def trace(self) -> Trace:
        """Which has the words along the axes."""
        return self.of.trace if isinstance(self.of, Gradient) else self.of

    @property
    def traced(self) -> TracedArray:
        """The whole tap; LmvizError where there is none."""
        return self.of[self.address]

    @property
    def array(self) -> np.ndarray:
        """The numbers that are seen; LmvizError where an axis or an index is not there."""
        return self.traced.at(**self.at)

    @property
    def axes(self) -> tuple[str, ...]:
        """The names of their axes."""
        return tuple(axis for axis in self.traced.axes if axis not in self.at)
