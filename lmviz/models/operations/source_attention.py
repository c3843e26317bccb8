"""How a decoder looks at a source: its state before, a score for every state of the source, their mean.

One step of it belongs to one position of a scan: Bahdanau, Cho & Bengio 2015 ask with the state before,
Luong, Pham & Manning 2015 score by dot products.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from lmviz.models.arithmetic import Arithmetic, Terms
from lmviz.models.growth import ROWS
from lmviz.models.operations.factors import explained, value_cell, value_line
from lmviz.models.tap import Operation, Reader, Scope, Value


@dataclass(frozen=True, eq=False)
class StateBefore(Operation):
    """The tap `state` (position, unit) one position before; at the first position the tap `start` (unit)."""

    state: Value
    start: str

    growth = ROWS

    @property
    def operands(self) -> tuple[Value, ...]:
        return (self.state, Value(self.start))

    def compute(self, scope: Scope) -> torch.Tensor:
        """(batch, unit) inside a scan, (batch, position, unit) outside."""
        state, start = scope.read(self.state), scope.read(Value(self.start))
        if scope.position is None:
            return torch.cat([start[:, None], state[:, 1:]], dim=1)
        return state if scope.position else start

    def explain(self, reader: Reader, address: str, index: tuple[int, ...]) -> Arithmetic:
        """The unit of which it is a copy."""
        position, unit = index
        if position:
            cell = value_cell(reader, self.state, index)
        else:
            cell = value_cell(reader, Value(self.start), (unit,))
        return explained(reader, address, index, "state before", (Terms("state", (cell,)),))


@dataclass(frozen=True, eq=False)
class Repeated(Operation):
    """The vector of a tap (unit), at every position of the text; axes (position, unit)."""

    address: str

    growth = ROWS

    @property
    def operands(self) -> tuple[Value, ...]:
        return (Value(self.address),)

    def compute(self, scope: Scope) -> torch.Tensor:
        """(batch, position, unit)."""
        positions = scope.tokens.shape[1] - scope.first
        return scope.read(Value(self.address))[:, None].expand(-1, positions, -1)

    def explain(self, reader: Reader, address: str, index: tuple[int, ...]) -> Arithmetic:
        """The unit of which it is a copy."""
        cell = value_cell(reader, Value(self.address), index[1:])
        return explained(reader, address, index, "the same everywhere", (Terms("state", (cell,)),))


@dataclass(frozen=True, eq=False)
class SourceScores(Operation):
    """A vector of a tap (position, unit) times every one of a tap (source, unit); axes (position, source)."""

    asking: str
    keys: str

    growth = ROWS

    @property
    def operands(self) -> tuple[Value, ...]:
        return (Value(self.asking), Value(self.keys))

    def compute(self, scope: Scope) -> torch.Tensor:
        """(batch, source) inside a scan, (batch, position, source) outside."""
        asking, keys = scope.read(Value(self.asking)), scope.read(Value(self.keys))
        if scope.position is None:
            return asking @ keys.transpose(1, 2)
        return (keys @ asking[..., None])[..., 0]

    def explain(self, reader: Reader, address: str, index: tuple[int, ...]) -> Arithmetic:
        """Unit by unit, the state that asks × the state of the source."""
        position, source = index
        asking = value_line(reader, self.asking, (position, 0), axis=1)
        keys = value_line(reader, self.keys, (source, 0), axis=1)
        return explained(reader, address, index, "dot product", (Terms("state × source", (asking, keys)),))


@dataclass(frozen=True, eq=False)
class SourceMean(Operation):
    """The vectors of a tap (source, unit), weighted by one (position, source); axes (position, unit)."""

    weights: str
    states: str

    growth = ROWS

    @property
    def operands(self) -> tuple[Value, ...]:
        return (Value(self.weights), Value(self.states))

    def compute(self, scope: Scope) -> torch.Tensor:
        """(batch, unit) inside a scan, (batch, position, unit) outside."""
        weights, states = scope.read(Value(self.weights)), scope.read(Value(self.states))
        if scope.position is None:
            return weights @ states
        return (weights[:, None] @ states)[:, 0]

    def explain(self, reader: Reader, address: str, index: tuple[int, ...]) -> Arithmetic:
        """Token by token of the source, weight × state."""
        position, unit = index
        weights = value_line(reader, self.weights, (position, 0), axis=1)
        states = value_line(reader, self.states, (0, unit), axis=0)
        terms = Terms("weight × state", (weights, states))
        return explained(reader, address, index, "weighted mean", (terms,))
