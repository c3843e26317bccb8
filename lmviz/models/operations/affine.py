"""Affine maps, alone or added, followed by a function of the sum: layers, gates, logits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np
import torch

from lmviz.models.address import gradient_of
from lmviz.models.arithmetic import FUNCTIONS, Arithmetic, Factor, Terms
from lmviz.models.functions import check_function
from lmviz.models.growth import ROWS, WHOLE, Growth
from lmviz.models.operations.factors import (
    constants,
    explained,
    part,
    repeated,
    value_cell,
    value_cells,
    weight_cell,
    weight_column,
    weight_row,
)
from lmviz.models.operations.inputs import Input
from lmviz.models.precision import linear
from lmviz.models.slopes import slope_of
from lmviz.models.tap import GradientReader, Operation, Reader, Scope, Value, Weight

Cells = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""The indices in a tap, (cell, axis), of what an affine map computes at positions and units (cell,)."""


@dataclass(frozen=True, eq=False)
class LocalDerivatives:
    """By what the cells at `positions` and `units` (cell,) rise with one number: a product of factors."""

    label: str
    positions: np.ndarray
    units: np.ndarray
    factors: tuple[Factor, ...]


@dataclass(frozen=True)
class Linear:
    """`gate` ⊙ (`weight` · `input` + `bias`), one summand of an affine map.

    `weight` is (unit, feature), `bias` (unit), `gate` a tap with the sum's axes; the last two may be missing.
    """

    label: str
    input: Input
    weight: Weight
    bias: Weight | None = None
    gate: Value | None = None

    @property
    def operands(self) -> tuple[Value, ...]:
        """The taps that are read."""
        return self.input.operands if self.gate is None else (*self.input.operands, self.gate)

    def compute(self, scope: Scope) -> torch.Tensor:
        """(batch, position, unit), or (batch, unit) inside a scan."""
        bias = scope.weight(self.bias) if self.bias else None
        mapped = linear(self.input.read(scope), scope.weight(self.weight), bias)
        return mapped if self.gate is None else scope.read(self.gate) * mapped

    def is_given(self, scope: Scope) -> bool:
        """Whether it can be computed for all positions already, whatever scan is under way."""
        return self.input.is_given(scope) and (self.gate is None or scope.is_given(self.gate))

    def terms(self, reader: Reader, position: int, unit: int) -> list[Terms]:
        """The products that this summand adds to a unit, and its bias."""
        row = weight_row(reader, self.weight, unit)
        groups = []
        first = 0
        for label, features in self.input.factors(reader, self.label, position):
            count = len(features.values)
            groups.append(Terms(label, (features, part(row, first, count))))
            first += count
        if self.bias is not None:
            groups.append(Terms("bias", (weight_cell(reader, self.bias, unit),)))
        if self.gate is None:
            return groups
        gate = value_cell(reader, self.gate, (position, unit))
        return [_gated(group, gate) for group in groups]

    def derivatives(
        self, reader: Reader, source: str, index: tuple[int, ...], count: int
    ) -> Iterator[LocalDerivatives]:
        """By a cell of a tap or a parameter, at every unit that it reaches in a text of `count` positions."""
        for position, feature in self.input.readers(reader, source, index, count):
            column = weight_column(reader, self.weight, feature)
            units = np.arange(len(column.values))
            yield self._gated(reader, self.label, np.full_like(units, position), units, column)
        if self.gate is not None and source == self.gate.address:
            for group in replace(self, gate=None).terms(reader, *index):
                place = np.tile(np.array(index), (len(group), 1))
                yield LocalDerivatives(group.label, place[:, 0], place[:, 1], group.factors)
        unit = _unit(self.weight, source, index)
        if unit is not None:
            positions, values = self.input.over_text(reader, index[1], count)
            yield self._gated(reader, self.label, positions, np.full_like(positions, unit), values)
        unit = None if self.bias is None else _unit(self.bias, source, index)
        if unit is not None:
            positions = np.arange(count)
            yield self._gated(reader, "bias", positions, np.full_like(positions, unit))

    def _gated(
        self, reader: Reader, label: str, positions: np.ndarray, units: np.ndarray, *factors: Factor
    ) -> LocalDerivatives:
        if self.gate is not None:
            cells = np.column_stack([positions, units])
            factors = (value_cells(reader, self.gate.address, cells), *factors)
        return LocalDerivatives(label, positions, units, factors)


def _unit(operand: Weight, source: str, index: tuple[int, ...]) -> int | None:
    """The unit that a row of a parameter belongs to; None where it is none of the operand's."""
    first, end = operand.rows or (0, index[0] + 1)
    return index[0] - first if source == operand.name and first <= index[0] < end else None


def _gated(group: Terms, gate: Factor) -> Terms:
    return replace(group, factors=(repeated(gate, len(group)), *group.factors))


@dataclass(frozen=True, eq=False)
class Affine(Operation):
    """`function` of the sum of `summands`; axes (position, unit), or (unit) where they have no positions."""

    summands: tuple[Linear, ...]
    function: str = ""

    def __post_init__(self) -> None:
        check_function(self.function)

    @property
    def growth(self) -> Growth:
        by_rows = all(summand.input.growth == ROWS for summand in self.summands)
        return ROWS if by_rows else WHOLE

    @property
    def operands(self) -> tuple[Value, ...]:
        return tuple(operand for summand in self.summands for operand in summand.operands)

    def compute(self, scope: Scope) -> torch.Tensor:
        """(batch, position, unit), or (batch, unit) inside a scan."""
        if scope.position is None:
            added = [summand.compute(scope) for summand in self.summands]
        else:
            given, changing = scope.prepare(self, self._look_ahead)
            added = [rows[scope.position] for rows in given] + [
                summand.compute(scope) for summand in changing
            ]
        return FUNCTIONS[self.function].tensor(reduce(torch.add, added))

    def _look_ahead(self, scope: Scope) -> tuple[list[tuple[torch.Tensor, ...]], list[Linear]]:
        """The summands that no step of a scan changes, position by position, and the others.

        One product of matrices for all positions is far quicker than as many products with vectors.
        """
        given = [summand for summand in self.summands if summand.is_given(scope)]
        changing = [summand for summand in self.summands if not summand.is_given(scope)]
        return [summand.compute(scope).unbind(dim=1) for summand in given], changing

    def terms(self, reader: Reader, position: int, unit: int) -> tuple[Terms, ...]:
        """Every feature × weight, and the biases, that a unit adds up."""
        return tuple(group for summand in self.summands for group in summand.terms(reader, position, unit))

    @property
    def description(self) -> str:
        """What is done, in words."""
        return f"weighted sum, then {self.function}" if self.function else "weighted sum"

    def explain(self, reader: Reader, address: str, index: tuple[int, ...]) -> Arithmetic:
        """Every feature × weight, the biases, and the function."""
        position, unit = index if len(index) == 2 else (0, *index)
        terms = self.terms(reader, position, unit)
        return explained(reader, address, index, self.description, terms, function=self.function)

    def passed_back(
        self, reader: GradientReader, address: str, source: str, index: tuple[int, ...]
    ) -> tuple[Terms, ...]:
        """The gradient × the weight, or for a weight the feature, × the gate × the function's derivative."""
        array = reader.array(address)
        if array.ndim == 1:
            return self.passed_back_by(reader, address, source, index, lambda _, units: units[:, None], 1)
        return self.passed_back_by(reader, address, source, index, _rows, len(array))

    def passed_back_by(
        self,
        reader: GradientReader,
        address: str,
        source: str,
        index: tuple[int, ...],
        cells: Cells,
        count: int,
    ) -> tuple[Terms, ...]:
        """The same where the tap at `address`, of `count` positions, has its cells elsewhere."""
        groups = []
        for summand in self.summands:
            for found in summand.derivatives(reader, source, index, count):
                indices = cells(found.positions, found.units)
                gradient = value_cells(reader, gradient_of(address), indices)
                slope = self._slope(reader, address, indices, found)
                groups.append(Terms(found.label, (gradient, *found.factors, *slope)))
        return tuple(groups)

    def _slope(
        self, reader: GradientReader, address: str, indices: np.ndarray, found: LocalDerivatives
    ) -> tuple[Factor, ...]:
        """The function's derivative, read off the value where that is the one that was computed."""
        if not self.function:
            return ()
        by_value = slope_of(self.function, from_value=True)
        if by_value in FUNCTIONS and not reader.is_changed(address):
            return (value_cells(reader, address, indices, by_value),)
        pairs = zip(found.positions.tolist(), found.units.tolist(), strict=True)
        arguments = [sum(group.products.sum() for group in self.terms(reader, *pair)) for pair in pairs]
        return (constants(FUNCTIONS[slope_of(self.function)].compute(np.array(arguments, dtype=np.float64))),)


def _rows(positions: np.ndarray, units: np.ndarray) -> np.ndarray:
    return np.column_stack([positions, units])
