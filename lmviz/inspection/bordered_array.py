"""A (query, key) array of a growing text, stored as that of a shorter text plus the added borders.

A new token adds a row, and a column that the mask hides from all earlier queries. Copying the square for
every head, layer and step of attention would take longer than computing the new numbers.
"""

from __future__ import annotations

import numpy as np

from lmviz.inspection.traced_array import TracedArray

DEEPEST = 8
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

    @property
    def depth(self) -> int:
        parts = self._parts
        return parts[0].depth + 1 if parts else 0

    @property
    def array(self) -> np.ndarray:
        """The whole."""
        parts = self._parts
        if parts is None:
            return self._whole
        inner, rows, columns = parts
        old = columns.shape[-2]
        whole = np.empty((*rows.shape[:-2], rows.shape[-1], rows.shape[-1]), dtype=rows.dtype)
        whole[..., :old, :old] = inner.array
        whole[..., :old, old:] = columns
        whole[..., old:, :] = rows
        whole.flags.writeable = False
        object.__setattr__(self, "_whole", whole)  # before the parts go: another thread may ask as well
        object.__setattr__(self, "_parts", None)
        return whole

    @property
    def shape(self) -> tuple[int, ...]:
        """See TracedArray."""
        parts = self._parts
        if parts is None:
            return self._whole.shape
        rows = parts[1].shape
        return (*rows[:-2], rows[-1], rows[-1])

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
            inner.lock()
            rows.flags.writeable = False
