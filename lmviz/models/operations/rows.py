"""Operations in which each cell depends on a whole row: softmax and normalisation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch.nn import functional

from lmviz.models.arithmetic import Arithmetic, Factor, Terms, constant
from lmviz.models.growth import ROWS, WHOLE, Growth
from lmviz.models.operations.factors import (
    along,
    constants,
    explained,
    gradient_line,
    part,
    repeated,
    value_line,
    weight_cell,
)
from lmviz.models.tap import GradientReader, Operation, Reader, Scope, Value, Weight


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

    def passed_back(
        self, reader: GradientReader, address: str, source: str, index: tuple[int, ...]
    ) -> tuple[Terms, ...]:
        """The own share's gradient × the own share, less every share's gradient × it × the own share."""
        if source != self.address:
            return ()
        place = index[-1]
        shares = self._shares(reader, address, index)
        gradients = gradient_line(reader, address, index, axis=len(index) - 1)
        own = part(shares, place, 1)
        taken = (gradients, shares, repeated(own, len(shares.values)), constant(-1.0, len(shares.values)))
        return (Terms("own share", (part(gradients, place, 1), own)), Terms("taken from all", taken))

    def _shares(self, reader: GradientReader, address: str, index: tuple[int, ...]) -> Factor:
        """The shares of a row; where they have been changed, those that the scores give."""
        axis = len(index) - 1
        if not reader.is_changed(address):
            return value_line(reader, address, index, axis)
        scores = value_line(reader, self.address, index, axis).values
        powers = np.exp(scores - scores.max())
        return constants(powers / powers.sum())


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

    def passed_back(
        self, reader: GradientReader, address: str, source: str, index: tuple[int, ...]
    ) -> tuple[Terms, ...]:
        """To a channel every channel's gradient × gain × slope; to gain and bias position by position."""
        if source == self.address:
            return _to_channels(reader, address, index, self.gain, self._slopes(reader, index))
        bias = self.bias.name if self.bias else ""
        if source not in (self.gain.name, bias):
            return ()
        if source == bias:
            return (Terms("bias", (gradient_line(reader, address, (0, *index), axis=0),)),)
        normal, _ = self._normal(reader.array(self.address).astype(np.float64))
        return _to_gain(reader, address, index, normal)

    def _slopes(self, reader: Reader, index: tuple[int, ...]) -> np.ndarray:
        """The derivative of every normalised channel of a row by one channel of it, (channel,)."""
        position, channel = index
        normal, deviation = self._normal(reader.array(self.address)[position].astype(np.float64))
        own = np.arange(len(normal)) == channel
        return (own - (1 + normal * normal[channel]) / len(normal)) / deviation

    def _normal(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rows (..., channel) brought to mean 0 and variance 1, and their deviations (..., 1)."""
        deviation = np.sqrt(values.var(axis=-1, keepdims=True) + self.epsilon)
        return (values - values.mean(axis=-1, keepdims=True)) / deviation, deviation


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

    def passed_back(
        self, reader: GradientReader, address: str, source: str, index: tuple[int, ...]
    ) -> tuple[Terms, ...]:
        """To a channel every channel's gradient × gain × slope; to the gain position by position."""
        if source == self.address:
            return _to_channels(reader, address, index, self.gain, self._slopes(reader, index))
        if source != self.gain.name:
            return ()
        normal, _ = self._normal(reader.array(self.address).astype(np.float64))
        return _to_gain(reader, address, index, normal)

    def _slopes(self, reader: Reader, index: tuple[int, ...]) -> np.ndarray:
        """The derivative of every normalised channel of a row by one channel of it, (channel,)."""
        position, channel = index
        normal, size = self._normal(reader.array(self.address)[position].astype(np.float64))
        own = np.arange(len(normal)) == channel
        return (own - normal * normal[channel] / len(normal)) / size

    def _normal(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rows (..., channel) brought to a mean square of 1, and their root mean squares (..., 1)."""
        size = np.sqrt((values**2).mean(axis=-1, keepdims=True) + self.epsilon)
        return values / size, size


def _to_channels(
    reader: GradientReader, address: str, index: tuple[int, ...], gain: Weight, slopes: np.ndarray
) -> tuple[Terms, ...]:
    """The gradient of a channel before a norm: of every channel after it, × its gain × its slope."""
    gradients = gradient_line(reader, address, index, axis=1)
    return (Terms("normalised channels", (gradients, _all_of(reader, gain), constants(slopes))),)


def _to_gain(
    reader: GradientReader, address: str, index: tuple[int, ...], normal: np.ndarray
) -> tuple[Terms, ...]:
    """The gradient of a channel's gain, position by position; `normal` is (position, channel)."""
    gradients = gradient_line(reader, address, (0, *index), axis=0)
    return (Terms("gain", (gradients, constants(normal[:, index[0]]))),)


def _all_of(reader: Reader, operand: Weight) -> Factor:
    """Every number of a parameter with one axis."""
    values = reader.weight(operand)
    return Factor(operand.name, along((0,), 0, len(values)), values.astype(np.float64))
