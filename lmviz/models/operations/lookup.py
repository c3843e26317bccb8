"""Rows of tables, chosen by token or by position."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch

from lmviz.models.address import gradient_of
from lmviz.models.arithmetic import Arithmetic, Factor, Terms, constant
from lmviz.models.growth import ROWS
from lmviz.models.operations.factors import constants, explained, gradient_cell, value_cells
from lmviz.models.positions import sinusoids
from lmviz.models.precision import widened
from lmviz.models.rotary import frequencies
from lmviz.models.sequences import TEXT
from lmviz.models.tap import GradientReader, Operation, Reader, Scope, Weight


def _table_cell(reader: Reader, table: Weight, row: int, channel: int) -> Factor:
    value = reader.weight(Weight(table.name, (row, row + 1)))[0, channel]
    return Factor(table.name, np.array([[row, channel]]), np.array([value], dtype=np.float64))


@dataclass(frozen=True, eq=False)
class TokenLookup(Operation):
    """The row of `table` (token, channel) that belongs to each token of a sequence, times `scale`."""

    table: Weight
    scale: float = 1.0
    sequence: str = TEXT

    growth = ROWS
    operands = ()

    def compute(self, scope: Scope) -> torch.Tensor:
        """(batch, position, channel)."""
        first = scope.first if self.sequence == TEXT else 0
        rows = widened(scope.rows_of(self.table, scope.sequences[self.sequence][:, first:]))
        return rows if self.scale == 1 else rows * self.scale

    def explain(self, reader: Reader, address: str, index: tuple[int, ...]) -> Arithmetic:
        """The number in the table, and the scale where there is one."""
        position, channel = index
        cell = _table_cell(reader, self.table, int(reader.ids(self.sequence)[position]), channel)
        factors = (cell,) if self.scale == 1 else (cell, constant(self.scale))
        return explained(reader, address, index, "row of the token", (Terms("embedding", factors),))

    def passed_back(
        self, reader: GradientReader, address: str, source: str, index: tuple[int, ...]
    ) -> tuple[Terms, ...]:
        """The gradient × the scale at every position where the token stands."""
        if source != self.table.name:
            return ()
        positions = np.flatnonzero(reader.ids(self.sequence) == index[0])
        cells = np.column_stack([positions, np.full_like(positions, index[1])])
        gradients = value_cells(reader, gradient_of(address), cells)
        factors = (gradients, constants(np.full(len(positions), self.scale)))
        return (Terms("embedding", factors[:1] if self.scale == 1 else factors),)


@dataclass(frozen=True, eq=False)
class PositionLookup(Operation):
    """The row of `table` (position, channel) that belongs to each position of a sequence.

    The first `offset` rows belong to none.
    """

    table: Weight
    sequence: str = TEXT
    offset: int = 0

    growth = ROWS
    operands = ()

    def compute(self, scope: Scope) -> torch.Tensor:
        """(batch, position, channel), alike in the whole batch."""
        batch, positions = scope.sequences[self.sequence].shape
        first = scope.first if self.sequence == TEXT else 0
        rows = slice(self.offset + first, self.offset + positions)
        return widened(scope.weight(self.table)[rows]).expand(batch, -1, -1)

    def explain(self, reader: Reader, address: str, index: tuple[int, ...]) -> Arithmetic:
        """The number in the table."""
        cell = _table_cell(reader, self.table, self.offset + index[0], index[1])
        return explained(reader, address, index, "row of the position", (Terms("position", (cell,)),))

    def passed_back(
        self, reader: GradientReader, address: str, source: str, index: tuple[int, ...]
    ) -> tuple[Terms, ...]:
        """The gradient at the position of the row."""
        position = index[0] - self.offset
        if source != self.table.name or not 0 <= position < len(reader.array(address)):
            return ()
        return (Terms("position", (gradient_cell(reader, address, (position, index[1])),)),)


@dataclass(frozen=True, eq=False)
class Sinusoids(Operation):
    """Sines and cosines of the position, `width` channels (Vaswani et al. 2017)."""

    width: int
    sequence: str = TEXT

    growth = ROWS
    operands = ()

    def compute(self, scope: Scope) -> torch.Tensor:
        """(batch, position, channel), alike in the whole batch."""
        batch, positions = scope.sequences[self.sequence].shape
        first = scope.first if self.sequence == TEXT else 0
        waves = sinusoids(positions, self.width)[first:]
        return waves.to(scope.tokens.device).expand(batch, -1, -1)

    def explain(self, reader: Reader, address: str, index: tuple[int, ...]) -> Arithmetic:
        """sin(position × frequency), or cos in odd channels."""
        position, channel = index
        frequency = float(frequencies(self.width)[channel // 2])
        angle = Terms("angle", (constant(position), constant(frequency)))
        function = "cos" if channel % 2 else "sin"
        period = 2 * math.pi / frequency
        operation = f"wave with a period of {period:.3g} positions"
        return explained(reader, address, index, operation, (angle,), function=function)
