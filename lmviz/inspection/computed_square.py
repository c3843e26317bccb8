"""Squares whose numbers are computed when they are read, a few rows at a time, and not kept."""

from __future__ import annotations

import threading
import weakref
from abc import abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Iterator

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.inspection.rows_of_squares import blocks
from lmviz.inspection.traced_array import TracedArray

MOST_KEPT = 256 * 2**20
"""Bytes of squares that were read last and are kept, for all traces together."""

Rows = Callable[[int, int], np.ndarray]
"""Gives the rows (head, query, key) of the queries from the first number up to the second."""


class ComputedSquare(TracedArray):
    """Numbers (head, query, key) of the tap at `address`, computed whenever they are read.

    `shape` is known without computing.
    """

    def __init__(self, address: str, axes: tuple[str, ...], scale: str, shape: tuple[int, ...]) -> None:
        object.__setattr__(self, "axes", axes)
        object.__setattr__(self, "scale", scale)
        object.__setattr__(self, "_address", address)
        object.__setattr__(self, "_shape", shape)

    _address: str
    _shape: tuple[int, ...]

    @abstractmethod
    def prepared(self) -> Rows | None:
        """What gives rows, with all that they are made of at hand; None where rows cannot be had alone."""

    @abstractmethod
    def computed(self) -> np.ndarray:
        """The whole, made anew."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of its axes."""
        return self._shape

    @property
    def is_deferred(self) -> bool:
        """Always true."""
        return True

    @property
    def array(self) -> np.ndarray:
        """The whole, made anew unless it was read a moment ago."""
        found = _RECENT.get(self)
        if found is None:
            found = self.computed()
            found.flags.writeable = False
            _RECENT.put(self, found)
        return found

    def blocks(self, multiple: int = 1) -> Iterator[tuple[int, np.ndarray]]:
        recent = _RECENT.get(self)
        rows = self.prepared() if recent is None else None
        if rows is None:
            yield 0, self.array if recent is None else recent
            return
        for first, end in blocks(self._shape[0], self._shape[-1], multiple):
            yield first, rows(first, end)

    def beginning(self, positions: int) -> tuple[np.ndarray, ...]:
        raise LmvizError(f"{self._address} is not kept: continue its operands.")

    def lock(self) -> None:
        """What is made is read-only anyway."""

    def _at(self, indices: dict[str, int]) -> np.ndarray:
        query = indices.get("query")
        rows = None if query is None or _RECENT.get(self) is not None else self.prepared()
        if query is None or rows is None:
            return super()._at(indices)
        row = rows(query, query + 1)
        row.flags.writeable = False
        return TracedArray(row, self.axes, self.scale).at(**{**indices, "query": 0})

    def _of_rows(self, rows: Rows) -> np.ndarray:
        found = np.empty(self._shape, rows(0, 1).dtype)
        for first, end in blocks(self._shape[0], self._shape[-1]):
            found[:, first:end] = rows(first, end)
        return found


class _Recent:
    """The arrays that were made last, up to a number of bytes; whoever is gone takes its array along."""

    def __init__(self) -> None:
        self._arrays: OrderedDict[weakref.ref[ComputedSquare], np.ndarray] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, square: ComputedSquare) -> np.ndarray | None:
        """The array of a square, where it is still there."""
        with self._lock:
            place = weakref.ref(square)
            if place in self._arrays:
                self._arrays.move_to_end(place)
            return self._arrays.get(place)

    def put(self, square: ComputedSquare, array: np.ndarray) -> None:
        """Keep the array of a square, and give up those that were read longest ago."""
        with self._lock:
            for gone in [place for place in self._arrays if place() is None]:
                del self._arrays[gone]
            self._arrays[weakref.ref(square)] = array
            while len(self._arrays) > 1 and sum(kept.nbytes for kept in self._arrays.values()) > MOST_KEPT:
                self._arrays.popitem(last=False)


_RECENT = _Recent()
