"""Operations in which each cell depends on a whole row: softmax and normalisation."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch.nn import functional

from lmviz.models.arithmetic import Arithmetic, Terms, constant
from lmviz.models.growth import ROWS, WHOLE, Growth
from lmviz.models.operations.factors import explained, part, value_line, weight_cell
from lmviz.models.tap import Operation, Reader, Scope, Value, Weight


@dataclass(frozen=True, eq=False)
class Softmax(Operation):
    """Shares that sum to one along the last axis; a score of -inf gets none.

    `over_text` says that the last axis is the text itself, so that a longer one changes every share.
    """

    address: str
    over_text: bool = False

    @property
    def growth(self) -> Growth:
        return WHOLE if self.over_text else Growth("rows", later=0.0)

    @property
    def operands(self) -> tuple[Value, ...]:
        return (Value(self.address),)

    def compute(self, scope: Scope) -> torch.Tensor:
        """The shape of the operand."""
        return scope.read(Value(self.address)).softmax(dim=-1)

    def explain(self, reader: Reader, address: str, index: tuple[int, ...]) -> Arithmetic:
        """exp of the cell's own score over the sum of exp of all scores of its row."""
        row = value_line(reader, self.address, index, axis=len(index) - 1)
        groups = (Terms("own score", (part(row, index[-1], 1),)), Terms("all scores", (row,)))
        return explained(reader, address, index, "softmax", groups, rule="softmax")


@dataclass(frozen=True, eq=False)
class LayerNorm(Operation):
    """Each position's channels brought to mean 0 and variance 1, then scaled and shifted (Ba et al. 2016)."""

    address: str
    gain: Weight
    bias: Weight | None
    epsilon: float

    growth = ROWS

    @property
    def operands(self) -> tuple[Value, ...]:
        return (Value(self.address),)

    def compute(self, scope: Scope) -> torch.Tensor:
        """(batch, position, channel)."""
        gain = scope.weight(self.gain)
        bias = scope.weight(self.bias) if self.bias else None
        return functional.layer_norm(scope.read(Value(self.address)), gain.shape, gain, bias, self.epsilon)

    def explain(self, reader: Reader, address: str, index: tuple[int, ...]) -> Arithmetic:
        """(own value - mean) / √(variance + ε) × gain + bias."""
        row = value_line(reader, self.address, index, axis=1)
        bias = (Terms("bias", (weight_cell(reader, self.bias, index[1]),)),) if self.bias else ()
        groups = (
            Terms("own value", (part(row, index[1], 1),)),
            Terms("all channels", (row,)),
            Terms("gain", (weight_cell(reader, self.gain, index[1]),)),
            *bias,
            Terms("epsilon", (constant(self.epsilon),)),
        )
        return explained(reader, address, index, "layer normalisation", groups, rule="layer norm")


@dataclass(frozen=True, eq=False)
class RMSNorm(Operation):
    """Each position's channels brought to a mean square of 1, then scaled (Zhang & Sennrich 2019)."""

    address: str
    gain: Weight
    epsilon: float

    growth = ROWS

    @property
    def operands(self) -> tuple[Value, ...]:
        return (Value(self.address),)

    def compute(self, scope: Scope) -> torch.Tensor:
        """(batch, position, channel)."""
        gain = scope.weight(self.gain)
        return functional.rms_norm(scope.read(Value(self.address)), gain.shape, gain, self.epsilon)

    def explain(self, reader: Reader, address: str, index: tuple[int, ...]) -> Arithmetic:
        """Own value / √(mean square + ε) × gain."""
        row = value_line(reader, self.address, index, axis=1)
        groups = (
            Terms("own value", (part(row, index[1], 1),)),
            Terms("all channels", (row,)),
            Terms("gain", (weight_cell(reader, self.gain, index[1]),)),
            Terms("epsilon", (constant(self.epsilon),)),
        )
        return explained(reader, address, index, "RMS normalisation", groups, rule="rms norm")
