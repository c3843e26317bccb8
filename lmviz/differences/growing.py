"""An answer about two models that is found bit by bit, so that others have their turn in between.

Both models keep the weights that they have when it begins, so it goes on without being given them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from time import monotonic
from typing import Generic, TypeVar

from lmviz.circuits.growing import AT_A_TIME

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class GrowingAnswer(Generic[T]):
    """What a generator has given so far, as `found`, and what is `left` of it; None where that is all.

    It never changes: one thread may draw it while another finds more.
    """

    found: T
    left: Iterator[T] | None

    @property
    def is_done(self) -> bool:
        """Whether that is all."""
        return self.left is None

    def more(self) -> GrowingAnswer[T]:
        """What is known after a tenth of a second or so more."""
        end, found = monotonic() + AT_A_TIME, self.found
        while self.left is not None and monotonic() < end:
            try:
                found = next(self.left)
            except StopIteration:
                return GrowingAnswer(found, None)
        return GrowingAnswer(found, self.left)


def growing(parts: Iterator[T]) -> GrowingAnswer[T]:
    """An answer of which the first part is found at once; LmvizError as of the generator."""
    return GrowingAnswer(next(parts), parts)
