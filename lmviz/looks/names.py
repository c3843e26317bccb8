"""What the rows and columns of exported numbers are called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Names:
    """What stands at each row and each column of what is exported; nothing where they are only counted."""

    rows: Sequence[str] = ()
    columns: Sequence[str] = ()


COUNTED = Names()
"""Rows and columns without names."""
