"""The squares of attention in a long text, computed when they are looked at and not kept.

A text of 1,024 tokens has a million pairs of query and key for each head and each of the four steps from
products to weights: of a model with 48 layers of 25 heads that is 20 GB. Yet they follow from the queries and
keys alone, without any parameter. So a trace of so much keeps those, and the weights as long as there is room
for them, and makes the other squares of a layer again when somebody reads them.
"""

from __future__ import annotations

import threading
import weakref
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from lmviz.errors import LmvizError
from lmviz.inspection.traced_array import TracedArray
from lmviz.models.explicit import ForwardPass
from lmviz.models.tap import Tap

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
    """The value of a square that is computed from its operands whenever it is read.

    `ids` (position,) are those of the text. `shape` is known without computing.
    """

    def __init__(
        self, tap: Tap, operands: Mapping[str, TracedArray], ids: np.ndarray, shape: tuple[int, ...]
    ) -> None:
        object.__setattr__(self, "axes", tap.axes)
        object.__setattr__(self, "scale", tap.scale)
        object.__setattr__(self, "_tap", tap)
        object.__setattr__(self, "_operands", operands)
        object.__setattr__(self, "_ids", ids)
        object.__setattr__(self, "_shape", shape)

    _tap: Tap
    _operands: Mapping[str, TracedArray]
    _ids: np.ndarray
    _shape: tuple[int, ...]

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

    def beginning(self, positions: int) -> tuple[np.ndarray, ...]:
        raise LmvizError(f"{self._tap.address} is not kept: continue its operands.")

    def up_to(self, positions: int) -> TracedArray:
        if positions == self._shape[-1]:
            return self
        operands = {address: traced.up_to(positions) for address, traced in self._operands.items()}
        shape = (*self._shape[:-2], positions, positions)
        return DeferredArray(self._tap, operands, self._ids[:positions], shape)

    def lock(self) -> None:
        """What is made is read-only anyway."""

    def _compute(self) -> np.ndarray:
        with torch.inference_mode():
            scope = ForwardPass(_tensor(self._ids), {})
            scope.give({address: _tensor(traced.array) for address, traced in self._operands.items()})
            found = self._tap.operation.compute(scope)[0].numpy()
        found.flags.writeable = False
        return found


def deferred(tap: Tap, traced: Mapping[str, TracedArray], ids: np.ndarray, heads: int) -> DeferredArray:
    """The square of a tap, made of what is traced."""
    operands = {operand.address: traced[operand.address] for operand in tap.operation.operands}
    return DeferredArray(tap, operands, ids, (heads, len(ids), len(ids)))


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
