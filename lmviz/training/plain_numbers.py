"""Checks numbers from a JSON file, which may be missing, not finite or far too long."""

from __future__ import annotations

import math
from typing import Any, TypeGuard

LARGEST_STEP = 10**12 - 1
"""The last step whose snapshot has a name; see Run.snapshot_path."""


def finite_number(value: Any) -> float | None:
    """The value as a float; None where it is no number, or not a finite one."""
    if type(value) not in (int, float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def is_step(value: Any) -> TypeGuard[int]:
    """Whether the value can be the number of a step."""
    return type(value) is int and 0 <= value <= LARGEST_STEP
