"""Affine maps, alone or added, followed by a function of the sum: layers, gates, logits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce

import torch

from lmviz.models.arithmetic import FUNCTIONS, Arithmetic, Factor, Terms
from lmviz.models.arithmetic.functions import check_function
from lmviz.models.growth import ROWS, WHOLE, Growth
from lmviz.models.operations.factors import explained, part, repeated, value_cell, weight_cell, weight_row
from lmviz.models.operations.inputs import Input
from lmviz.models.precision import linear
from lmviz.models.tap import Operation, Reader, Scope, Value, Weight


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
