"""The squares of attention in a long text, computed when they are looked at and not kept.

A text of 1,024 tokens has a million pairs of query and key for each head and each of the four steps from
products to weights: of a model with 48 layers of 25 heads that is 20 GB. Yet they follow from the queries and
keys, and at most a table of distances. So a trace of so much keeps those, and the weights as long as there is
room for them, and makes the other squares of a layer again when somebody reads them, or the rows of the query
that is asked for.
"""

from __future__ import annotations

import threading
import weakref
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from lmviz.errors import LmvizError
from lmviz.inspection.rows_of_squares import RowsPass, blocks, is_made_whole
from lmviz.inspection.traced_array import TracedArray
from lmviz.models.explicit import ForwardPass
from lmviz.models.tap import Tap, Weight

SQUARE = ("query", "key")

MOST_RECORDED = 512 * 2**20
"""Bytes of squares that are recorded as they come; of more, the weights alone or none."""

MOST_KEPT = 256 * 2**20
"""Bytes of squares that were read last and are kept, for all traces together."""


def deferred_taps(taps: Sequence[Tap], positions: int, heads: int) -> frozenset[str]:
    """The addresses of the taps that a trace of so many positions makes only when they are read.

    Where not all squares can be recorded, the weights still may: every picture of attention shows them, and
    the steps before are looked at one cell at a time.
    """
    squares = [tap for tap in taps if tap.axes[-2:] == SQUARE]
    steps = {operand.address for tap in squares for operand in tap.operation.operands}
    before = frozenset(tap.address for tap in squares if tap.address in steps)
    size = 4 * heads * positions**2  # bytes of one square of every head
    if size * len(squares) <= MOST_RECORDED:
        return frozenset()
    if size * (len(squares) - len(before)) <= MOST_RECORDED:
        return before
    return frozenset(tap.address for tap in squares)


class DeferredArray(TracedArray):
    """The value of a square that is computed from its operands whenever it is read, row by row if need be.

    `ids` (position,) are those of the text, `weights` the parameters of its operation by name. `shape` is
    known without computing.
    """

    def __init__(
        self,
        tap: Tap,
        operands: Mapping[str, TracedArray],
        ids: np.ndarray,
        shape: tuple[int, ...],
        weights: Mapping[str, torch.Tensor],
    ) -> None:
        object.__setattr__(self, "axes", tap.axes)
        object.__setattr__(self, "scale", tap.scale)
        object.__setattr__(self, "_tap", tap)
        object.__setattr__(self, "_operands", operands)
        object.__setattr__(self, "_ids", ids)
        object.__setattr__(self, "_shape", shape)
        object.__setattr__(self, "_weights", weights)

    _tap: Tap
    _operands: Mapping[str, TracedArray]
    _ids: np.ndarray
    _shape: tuple[int, ...]
    _weights: Mapping[str, torch.Tensor]

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
            found = self._compute()
            _RECENT.put(self, found)
        return found

    def blocks(self, multiple: int = 1) -> Iterator[tuple[int, np.ndarray]]:
        recent = _RECENT.get(self)
        if recent is not None or is_made_whole(self._tap):
            yield 0, self.array if recent is None else recent
            return
        given, steps = self._given()
        for first, end in blocks(self._shape[0], self._shape[-1], multiple):
            yield first, self._rows(given, steps, first, end)

    def beginning(self, positions: int) -> tuple[np.ndarray, ...]:
        raise LmvizError(f"{self._tap.address} is not kept: continue its operands.")

    def up_to(self, positions: int) -> TracedArray:
        if positions == self._shape[-1]:
            return self
        operands = {address: traced.up_to(positions) for address, traced in self._operands.items()}
        shape = (*self._shape[:-2], positions, positions)
        return DeferredArray(self._tap, operands, self._ids[:positions], shape, self._weights)

    def lock(self) -> None:
        """What is made is read-only anyway."""

    def _at(self, indices: dict[str, int]) -> np.ndarray:
        query = indices.get("query")
        if query is None or is_made_whole(self._tap) or _RECENT.get(self) is not None:
            return super()._at(indices)
        positions = self._shape[-1]
        if not -positions <= query < positions:
            raise IndexError(f"query {query} lies beyond the text")
        row = self._rows(*self._given(), query % positions, query % positions + 1)
        return TracedArray(row, self.axes, self.scale)._at({**indices, "query": 0})

    def _compute(self) -> np.ndarray:
        if is_made_whole(self._tap):
            with torch.inference_mode():
                scope = ForwardPass(_tensor(self._ids), self._weights)
                found = self._tap.operation.compute(scope)[0].numpy()
        else:
            given, steps = self._given()
            found = np.empty(self._shape, next(iter(given.values())).numpy().dtype)
            for first, end in blocks(self._shape[0], self._shape[-1]):
                found[:, first:end] = self._rows(given, steps, first, end)
        found.flags.writeable = False
        return found

    def _rows(
        self, given: Mapping[str, torch.Tensor], steps: Mapping[str, Tap], first: int, end: int
    ) -> np.ndarray:
        """The rows of some queries, (head, query, key)."""
        taps = list(steps.values())
        axes = {tap.address: tap.axes for tap in taps} | self._axes_of_given()
        with torch.inference_mode():
            found = RowsPass(_tensor(self._ids), {}, given, axes, first, end).make(taps)[0].numpy()
        found.flags.writeable = False
        return found

    def _given(self) -> tuple[dict[str, torch.Tensor], dict[str, Tap]]:
        """The recorded values (1, *axes) that it is made of, and the taps that lead from there to it."""
        given: dict[str, torch.Tensor] = {}
        steps: dict[str, Tap] = {}
        for address, traced in self._operands.items():
            if isinstance(traced, DeferredArray) and not is_made_whole(traced._tap):
                earlier, before = traced._given()
                given, steps = given | earlier, steps | before
            else:
                given[address] = _tensor(traced.array)
        return given, steps | {self._tap.address: self._tap}

    def _axes_of_given(self) -> dict[str, tuple[str, ...]]:
        """The axes of all that it is made of, however far back."""
        found = {address: traced.axes for address, traced in self._operands.items()}
        for traced in self._operands.values():
            if isinstance(traced, DeferredArray):
                found |= traced._axes_of_given()
        return found


def deferred(
    tap: Tap,
    traced: Mapping[str, TracedArray],
    ids: np.ndarray,
    heads: int,
    parameters: Mapping[str, torch.Tensor],
) -> DeferredArray:
    """The square of a tap, made of what is traced, and of a copy of the parameters that it reads."""
    operands = {operand.address: traced[operand.address] for operand in tap.operation.operands}
    own = [value for value in vars(tap.operation).values() if isinstance(value, Weight)]
    weights = {weight.name: parameters[weight.name].detach().cpu().clone() for weight in own}
    return DeferredArray(tap, operands, ids, (heads, len(ids), len(ids)), weights)


def heads_of(taps: Iterable[Tap], configuration: Any) -> int:
    """How many heads a model's squares have; 0 for families without any."""
    return int(getattr(configuration, "heads", 0)) if any(tap.axes[-2:] == SQUARE for tap in taps) else 0


def _tensor(array: np.ndarray) -> torch.Tensor:
    """A batch of one; torch has no tensors that are read-only, so that what is frozen is copied."""
    return torch.from_numpy(array.copy())[None]


class _Recent:
    """The arrays that were made last, up to a number of bytes; whoever is gone takes its array along."""

    def __init__(self) -> None:
        self._arrays: OrderedDict[weakref.ref[DeferredArray], np.ndarray] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, deferred: DeferredArray) -> np.ndarray | None:
        """The array of a square, where it is still there."""
        with self._lock:
            place = weakref.ref(deferred)
            if place in self._arrays:
                self._arrays.move_to_end(place)
            return self._arrays.get(place)

    def put(self, deferred: DeferredArray, array: np.ndarray) -> None:
        """Keep the array of a square, and give up those that were read longest ago."""
        with self._lock:
            for gone in [place for place in self._arrays if place() is None]:
                del self._arrays[gone]
            self._arrays[weakref.ref(deferred)] = array
            while len(self._arrays) > 1 and sum(kept.nbytes for kept in self._arrays.values()) > MOST_KEPT:
                self._arrays.popitem(last=False)


_RECENT = _Recent()
