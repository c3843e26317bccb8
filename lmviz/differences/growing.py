"""An answer about two models that is found bit by bit: whoever waits for something else has a turn in between.

Both models keep the weights that they have when it begins, so it goes on from there without being given them.
"""

from __future__ import annotations

from collections.abc import Iterator
from time import monotonic
from typing import Generic, TypeVar

from lmviz.circuits.growing import AT_A_TIME

T = TypeVar("T")


class GrowingAnswer(Generic[T]):
    """What a generator has given so far, as `found`; `go_on` goes on for a while.

    The first part is found at once; LmvizError as of the generator.
    """

    def __init__(self, parts: Iterator[T]) -> None:
        self._left: Iterator[T] | None = parts
        self.found: T = next(parts)

    @property
    def is_done(self) -> bool:
        """Whether that is all."""
        return self._left is None

    def go_on(self) -> GrowingAnswer[T]:
        """Find more, for a tenth of a second or so; itself."""
        end = monotonic() + AT_A_TIME
        while self._left is not None and monotonic() < end:
            try:
                self.found = next(self._left)
            except StopIteration:
                self._left = None
        return self
