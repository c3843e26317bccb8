"""Values that are equal where all of their fields are, arrays among them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np


class ByValue:
    """What frozen dataclasses with arrays derive from, declared with `eq=False`.

    The `==` that a dataclass would write cannot compare arrays. Fields that are declared with
    `field(compare=False)`, such as what a click does, have no say.
    """

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and not self.differs(other, *_compared(self))

    __hash__ = None  # type: ignore[assignment]  # arrays have none either

    def differs(self, other: Any, *names: str) -> bool:
        """Whether any of some fields is another one than that of `other`."""
        return any(not same(getattr(self, name), getattr(other, name)) for name in names)


def same(first: object, second: object) -> bool:
    """Whether two values are equal, arrays compared number by number (NaN is equal to NaN)."""
    if first is second:
        return True
    if isinstance(first, np.ndarray) or isinstance(second, np.ndarray):
        return _same_arrays(first, second)
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return first.keys() == second.keys() and all(same(first[key], second[key]) for key in first)
    if isinstance(first, str) or isinstance(second, str):
        return first == second
    if isinstance(first, Sequence) and isinstance(second, Sequence):
        return len(first) == len(second) and all(map(same, first, second))
    return bool(first == second)


def _same_arrays(first: object, second: object) -> bool:
    if not (isinstance(first, np.ndarray) and isinstance(second, np.ndarray)):
        return False
    return first.dtype == second.dtype and np.array_equal(first, second, equal_nan=first.dtype.kind in "fc")


def _compared(value: ByValue) -> list[str]:
    return [each.name for each in fields(value) if each.compare]  # type: ignore[arg-type]  # a dataclass
