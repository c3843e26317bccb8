"""Vectors of several taps one after the other."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from lmviz.models.arithmetic import Arithmetic, Terms
from lmviz.models.growth import ROWS
from lmviz.models.operations.factors import explained, value_cell
from lmviz.models.tap import Operation, Reader, Scope, Value


@dataclass(frozen=True, eq=False)
class Joined(Operation):
    """The units of taps (position, unit) one after the other; axes (position, unit)."""

    addresses: tuple[str, ...]

    growth = ROWS

    @property
    def operands(self) -> tuple[Value, ...]:
        return tuple(Value(address) for address in self.addresses)

    def compute(self, scope: Scope) -> torch.Tensor:
        """(batch, position, unit), or (batch, unit) inside a scan."""
        return torch.cat([scope.read(operand) for operand in self.operands], dim=-1)

    def explain(self, reader: Reader, address: str, index: tuple[int, ...]) -> Arithmetic:
        """The unit of which it is a copy."""
        position, unit = index
        for operand in self.operands:
            width = reader.array(operand.address).shape[-1]
            if unit < width:
                cell = value_cell(reader, operand, (position, unit))
                return explained(reader, address, index, "joined", (Terms("state", (cell,)),))
            unit -= width
        raise IndexError(index)
