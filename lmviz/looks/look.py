"""A look: all that a panel shows of one answer, and what it hands out of it, as one value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from lmviz.looks.by_value import ByValue
from lmviz.looks.names import COUNTED, Names
from lmviz.looks.parts import LookPart


@dataclass(frozen=True, eq=False)
class Look(ByValue):
    """What is shown, and what belongs to it: title, parts, numbers and code are of one answer.

    `parts` stand one below the other, under a line with the `title` on the left (that of the panel where it
    is empty), and on the right the `aside` in muted words, which `aside_tip` explains, and the controls of
    the `head`. `instead` is a sentence in the place of the parts, such as what there has to be before
    anything can be shown.

    `arrays` are the numbers that are drawn, by name, for export; `units` says of some what they are measured
    in ("bits"), and `names` what the rows and columns of a table of them are called. `recipe` is the lines of
    Python that give the same numbers.
    """

    parts: Sequence[LookPart] = ()
    title: str = ""
    aside: str = ""
    aside_tip: str = ""
    head: Sequence[LookPart] = ()
    instead: str = ""
    arrays: Mapping[str, np.ndarray] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    names: Names = COUNTED
    recipe: str = ""

    @property
    def named(self) -> Names:
        """The rows and columns of a table of the arrays, columns with their units where they have any."""
        if self.names.columns or not self.units:
            return self.names
        columns = [f"{name} ({self.units[name]})" if name in self.units else name for name in self.arrays]
        return Names(self.names.rows, columns)
