"""How a tap's value changes when tokens are appended, so that only new parts are computed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Growth:
    """What of a value must be computed when tokens are added at the end of the text.

    "rows": the row of each position, or of each query, depends on the same row of the operands, so the
    new rows alone are computed. "square": each cell of queries × keys depends on its query and its key,
    so the new rows and the new columns are computed. "whole": everything is computed again.

    `later` is the value of all cells whose key comes after their query, where it is known without
    computing. Rows with a `later` form such a square where their operands do.
    """

    by: Literal["rows", "square", "whole"]
    later: float | None = None


ROWS = Growth("rows")
SQUARE = Growth("square")
WHOLE = Growth("whole")
