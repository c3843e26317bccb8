"""How the states of all positions become one vector: the last of them, their mean, or a weighted sum."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch.nn import functional

from lmviz.models.arithmetic import Arithmetic, Terms, constant
from lmviz.models.growth import ROWS, WHOLE
from lmviz.models.operations.factors import explained, value_cell, value_line, weight_row
from lmviz.models.tap import Operation, Reader, Scope, Value, Weight


@dataclass(frozen=True)
class End:
    """The last state of a recurrence, a tap (position, unit): that of the first position where it is
    computed in `reverse`."""

    address: str
    reverse: bool = False

    def position(self, positions: int) -> int:
        """Where the recurrence over so many positions ends."""
        return 0 if self.reverse else positions - 1


@dataclass(frozen=True, eq=False)
class EndStates(Operation):
    """The last states of recurrences, one after the other; axes (unit)."""

    ends: tuple[End, ...]

    growth = WHOLE

    @property
    def operands(self) -> tuple[Value, ...]:
        return tuple(Value(end.address) for end in self.ends)

    def compute(self, scope: Scope) -> torch.Tensor:
        """(batch, unit)."""
        states = [scope.read(Value(end.address)) for end in self.ends]  # (batch, position, unit) each
        lasts = [state[:, end.position(state.shape[1])] for end, state in zip(self.ends, states, strict=True)]
        return torch.cat(lasts, dim=-1)

    def explain(self, reader: Reader, address: str, index: tuple[int, ...]) -> Arithmetic:
        """The state of which it is a copy."""
        (unit,) = index
        for end in self.ends:
            positions, width = reader.array(end.address).shape
            if unit < width:
                cell = value_cell(reader, Value(end.address), (end.position(positions), unit))
                return explained(reader, address, index, "last state", (Terms("state", (cell,)),))
            unit -= width
        raise IndexError(index)


@dataclass(frozen=True, eq=False)
class MeanState(Operation):
    """The mean over the positions of a tap (position, unit); axes (unit)."""

    address: str

    growth = WHOLE

    @property
    def operands(self) -> tuple[Value, ...]:
        return (Value(self.address),)

    def compute(self, scope: Scope) -> torch.Tensor:
        """(batch, unit)."""
        return scope.read(Value(self.address)).mean(dim=1)

    def explain(self, reader: Reader, address: str, index: tuple[int, ...]) -> Arithmetic:
        """Every position's value, times one over their number."""
        line = value_line(reader, self.address, (0, *index), axis=0)
        count = len(line.values)
        terms = Terms("state", (line, constant(1 / count, count)))
        return explained(reader, address, index, "mean", (terms,))


@dataclass(frozen=True, eq=False)
class PositionScores(Operation):
    """How much each state of a tap (position, unit) matters: `weight` (1, unit) · state; axes (position)."""

    address: str
    weight: Weight

    growth = ROWS

    @property
    def operands(self) -> tuple[Value, ...]:
        return (Value(self.address),)

    def compute(self, scope: Scope) -> torch.Tensor:
        """(batch, position)."""
        return functional.linear(scope.read(Value(self.address)), scope.weight(self.weight))[..., 0]

    def explain(self, reader: Reader, address: str, index: tuple[int, ...]) -> Arithmetic:
        """Unit × weight."""
        states = value_line(reader, self.address, (*index, 0), axis=1)
        terms = Terms("state", (states, weight_row(reader, self.weight, 0)))
        return explained(reader, address, index, "weighted sum", (terms,))


@dataclass(frozen=True, eq=False)
class WeightedState(Operation):
    """The states of all positions, weighted by a tap (position); axes (unit)."""

    weights: str
    states: str

    growth = WHOLE

    @property
    def operands(self) -> tuple[Value, ...]:
        return (Value(self.states), Value(self.weights))

    def compute(self, scope: Scope) -> torch.Tensor:
        """(batch, unit)."""
        weights = scope.read(Value(self.weights))[:, None]  # (batch, 1, position)
        return (weights @ scope.read(Value(self.states)))[:, 0]

    def explain(self, reader: Reader, address: str, index: tuple[int, ...]) -> Arithmetic:
        """Position by position, weight × state."""
        weights = value_line(reader, self.weights, (0,), axis=0)
        states = value_line(reader, self.states, (0, *index), axis=0)
        return explained(
            reader, address, index, "weighted mean", (Terms("weight × state", (weights, states)),)
        )
