"""A (query, key) array of a growing text, stored as that of a shorter text plus the added borders.

A new token adds a row, and a column that the mask hides from all earlier queries. Copying the square for
every head, layer and step of attention would take longer than computing the new numbers.
"""

from __future__ import annotations

import numpy as np

from lmviz.inspection.traced_array import TracedArray

DEEPEST = 32
"""Squares within squares; one more, and they become one."""


class BorderedArray(TracedArray):
    """A square array that is assembled when first read.

    `inner` is (…, old, old), with the axes "query" and "key" last; `rows` (…, new, old + new) are the new
    queries, `columns` (…, old, new) the new keys as the old queries see them.
    """

    _parts: tuple[TracedArray, np.ndarray, np.ndarray] | None
    _whole: np.ndarray

    def __init__(self, inner: TracedArray, rows: np.ndarray, columns: np.ndarray) -> None:
        object.__setattr__(self, "axes", inner.axes)
        object.__setattr__(self, "scale", inner.scale)
        if inner.depth >= DEEPEST:
            inner = TracedArray(inner.array, inner.axes, inner.scale)
        object.__setattr__(self, "_parts", (inner, rows, columns))
        object.__setattr__(self, "_depth", inner.depth + 1)

    _depth: int

    @property
    def depth(self) -> int:
        return self._depth if self._parts else 0

    @property
    def array(self) -> np.ndarray:
        """The whole."""
        parts = self._parts
        if parts is None:
            return self._whole
        rows = parts[1]
        whole = np.empty((*rows.shape[:-2], rows.shape[-1], rows.shape[-1]), dtype=rows.dtype)
        self._fill(whole)
        whole.flags.writeable = False
        object.__setattr__(self, "_whole", whole)  # before the parts go: another thread may ask as well
        object.__setattr__(self, "_parts", None)
        return whole

    def _fill(self, whole: np.ndarray) -> None:
        """Write it into an array, border by border, so that no square on the way is copied."""
        square: TracedArray = self
        while isinstance(square, BorderedArray) and (parts := square._parts) is not None:
            square, rows, columns = parts
            old, new = columns.shape[-2], rows.shape[-1]
            whole[..., :old, old:new] = columns
            whole[..., old:new, :new] = rows
        size = square.shape[-1]
        whole[..., :size, :size] = square.array

    @property
    def shape(self) -> tuple[int, ...]:
        """See TracedArray."""
        parts = self._parts
        if parts is None:
            return self._whole.shape
        rows = parts[1].shape
        return (*rows[:-2], rows[-1], rows[-1])

    def _at(self, indices: dict[str, int]) -> np.ndarray:
        """See TracedArray; of the newest queries nothing is assembled."""
        parts, query = self._parts, indices.get("query", -1)
        if parts is None or query < parts[2].shape[-2]:
            return super()._at(indices)
        rows = {**indices, "query": query - parts[2].shape[-2]}
        return parts[1][tuple(rows.get(axis, slice(None)) for axis in self.axes)]

    def up_to(self, positions: int) -> TracedArray:
        parts = self._parts
        if parts is None or parts[1].shape[-1] < positions:
            return super().up_to(positions)
        inner, rows, columns = parts
        if positions == rows.shape[-1]:
            return self
        return inner.up_to(positions) if positions <= columns.shape[-2] else super().up_to(positions)

    def lock(self) -> None:
        """See TracedArray."""
        if self._parts is not None:
            inner, rows, _ = self._parts
            if not isinstance(inner, BorderedArray):  # those belong to traces, which have locked them
                inner.lock()
            rows.flags.writeable = False
