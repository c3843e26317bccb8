"""An answer that a window has made bit by bit: what is known of it so far can be drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import monotonic
from typing import Generic, TypeVar

from lmviz.inspection.origin import Origin
from lmviz.models.model import Model

T = TypeVar("T")

AT_A_TIME = 0.1
"""Seconds after which an answer that grows is shown."""


class Growing(Generic[T]):
    """What an iterator over a model gives, one after the other: `found` is the newest of it.

    `ask` makes the iterator, whose last value is the whole answer. LmvizError as it raises it.
    """

    def __init__(self, model: Model, ask: Callable[[Model], Iterator[T]]) -> None:
        self._ask = ask
        self._origin = Origin(model)
        self._left: Iterator[T] | None = ask(model)
        self.found: T = next(self._left)

    @property
    def is_done(self) -> bool:
        """Whether all of it is known."""
        return self._left is None

    def go_on(self, model: Model) -> None:
        """Find more, for a tenth of a second or so, one piece at least; from the beginning if weights have
        changed."""
        if not self._origin.is_of(model):
            self._origin, self._left = Origin(model), self._ask(model)
        end = monotonic() + AT_A_TIME
        while self._left is not None:
            more = next(self._left, None)
            if more is None:
                self._left = None
            else:
                self.found = more
            if monotonic() >= end:
                break
