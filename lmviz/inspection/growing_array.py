"""The value of a tap that every new token reads whole, such as keys, with room for more rows.

To put all keys one behind the other again for every token takes longer than to multiply them. So they lie in
memory that is longer than the text, and a new row is written behind the last one. What was written stays as
it is: the traces of all the texts on the way look at one memory, each at as much of it as its text is long.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from threading import Lock

import numpy as np
import torch

from lmviz.inspection.traced_array import TracedArray, unburdened
from lmviz.models.sequences import TEXT, places_along

LEAST_ROOM, ROOM = 32, 0.25
"""Rows that there is room for beyond the text: so many, or that share of it where that is more."""


class _Memory:
    """Numbers (…, position, …) of which the first `filled` positions are written, once and for all."""

    def __init__(self, parts: Sequence[np.ndarray], axis: int) -> None:
        self.axis, self.filled = axis, sum(part.shape[axis] for part in parts)
        shape = list(parts[0].shape)
        shape[axis] = self.filled + max(LEAST_ROOM, int(ROOM * self.filled))
        self._numbers = np.empty(shape, parts[0].dtype)
        self.tensor = torch.from_numpy(self._numbers)
        np.concatenate(parts, axis=axis, out=self.until(self.filled))
        self._filling = Lock()  # of two texts that go on from one, the first gets the room

    def until(self, positions: int) -> np.ndarray:
        """A view of the first positions."""
        return self._numbers[(*(slice(None),) * self.axis, slice(positions))]

    def add(self, rows: np.ndarray, known: int) -> bool:
        """Write rows behind the first `known` positions; False where others stand there, or room lacks."""
        end = known + rows.shape[self.axis]
        with self._filling:
            if self.filled != known or end > self._numbers.shape[self.axis]:
                return False
            self._numbers[(*(slice(None),) * self.axis, slice(known, end))] = rows
            self.filled = end
        return True


class GrowingArray(TracedArray):
    """The first `positions` of a memory (…, position, …) that longer texts may share."""

    _memory: _Memory
    _positions: int

    def __init__(self, memory: _Memory, positions: int, axes: tuple[str, ...], scale: str) -> None:
        object.__setattr__(self, "axes", axes)
        object.__setattr__(self, "scale", scale)
        object.__setattr__(self, "_memory", memory)
        object.__setattr__(self, "_positions", positions)

    @classmethod
    def of_parts(cls, parts: Sequence[np.ndarray], axes: tuple[str, ...], scale: str) -> GrowingArray:
        """A copy of parts along the positions, with room behind them."""
        memory = _Memory(parts, axes.index("position"))
        return cls(memory, memory.filled, axes, scale)

    def grown(self, rows: np.ndarray, known: int) -> GrowingArray | None:
        """The first `known` positions and `rows` behind them, where there is room for these; else None."""
        if not self._memory.add(rows, known):
            return None
        return GrowingArray(self._memory, known + rows.shape[self._memory.axis], self.axes, self.scale)

    @cached_property
    def array(self) -> np.ndarray:
        """A view of the memory."""
        view = self._memory.until(self._positions)
        view.flags.writeable = False
        return view

    @property
    def tensor(self) -> torch.Tensor:
        """The same as a tensor, which is only read."""
        return self._memory.tensor.narrow(self._memory.axis, 0, self._positions)

    def beginning(self, positions: int) -> tuple[np.ndarray, ...]:
        along = places_along(self.axes, TEXT)
        places = tuple(slice(positions if place in along else None) for place in range(len(self.axes)))
        return (unburdened(self.array[places]),)

    def lock(self) -> None:
        """A view of it is read-only from the beginning."""
