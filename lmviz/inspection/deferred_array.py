"""The squares of attention in a long text, computed when they are looked at and not kept.

A text of 1,024 tokens has a million pairs of query and key for each head and each of the four steps from
products to weights: of a model with 48 layers of 25 heads that is 20 GB. Yet they follow from the queries and
keys, and at most a table of distances. So a trace of so much keeps those, and the weights as long as there is
room for them, and makes the other squares of a layer again when somebody reads them, or the rows of the query
that is asked for.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from lmviz.inspection.computed_square import ComputedSquare, Rows
from lmviz.inspection.rows_of_squares import RowsPass, is_made_whole
from lmviz.inspection.traced_array import TracedArray
from lmviz.models.explicit import ForwardPass
from lmviz.models.tap import Tap, Weight

SQUARE = ("query", "key")

MOST_RECORDED = 512 * 2**20
"""Bytes of squares that are recorded as they come; of more, the weights alone or none."""


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


class DeferredArray(ComputedSquare):
    """The value of a square, computed from its operands.

    `ids` (position,) are those of the text, `weights` the parameters of its operation by name.
    """

    def __init__(
        self,
        tap: Tap,
        operands: Mapping[str, TracedArray],
        ids: np.ndarray,
        shape: tuple[int, ...],
        weights: Mapping[str, torch.Tensor],
    ) -> None:
        super().__init__(tap.address, tap.axes, tap.scale, shape)
        object.__setattr__(self, "_tap", tap)
        object.__setattr__(self, "_operands", operands)
        object.__setattr__(self, "_ids", ids)
        object.__setattr__(self, "_weights", weights)

    _tap: Tap
    _operands: Mapping[str, TracedArray]
    _ids: np.ndarray
    _weights: Mapping[str, torch.Tensor]

    @property
    def hides_later(self) -> bool:
        return self._tap.operation.growth.later == -math.inf

    def prepared(self) -> Rows | None:
        if is_made_whole(self._tap):
            return None
        given, steps = self._given()
        axes = {step.address: step.axes for step in steps.values()} | self._axes_of_given()

        def rows(first: int, end: int) -> np.ndarray:
            with torch.inference_mode():
                made = RowsPass(as_batch(self._ids), {}, given, axes, first, end).make(list(steps.values()))
                return made[0].numpy()

        return rows

    def computed(self) -> np.ndarray:
        rows = self.prepared()
        if rows is not None:
            return self._of_rows(rows)
        with torch.inference_mode():
            scope = ForwardPass(as_batch(self._ids), self._weights)
            return self._tap.operation.compute(scope)[0].numpy()

    def up_to(self, positions: int) -> TracedArray:
        if positions == self._shape[-1]:
            return self
        operands = {address: traced.up_to(positions) for address, traced in self._operands.items()}
        shape = (*self._shape[:-2], positions, positions)
        return DeferredArray(self._tap, operands, self._ids[:positions], shape, self._weights)

    def _given(self) -> tuple[dict[str, torch.Tensor], dict[str, Tap]]:
        """The recorded values (1, *axes) that it is made of, and the taps that lead from there to it."""
        given: dict[str, torch.Tensor] = {}
        steps: dict[str, Tap] = {}
        for address, traced in self._operands.items():
            if isinstance(traced, DeferredArray) and not is_made_whole(traced._tap):
                earlier, before = traced._given()
                given, steps = given | earlier, steps | before
            else:
                given[address] = as_batch(traced.array)
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


def as_batch(array: np.ndarray) -> torch.Tensor:
    """A batch of one; torch has no tensors that are read-only, so that what is frozen is copied."""
    return torch.from_numpy(array.copy())[None]
