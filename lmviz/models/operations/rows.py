"""Operations in which each cell depends on a whole row: softmax and normalisation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch

from lmviz.models.address import gradient_of
from lmviz.models.arithmetic import Arithmetic, Factor, Terms, constant
from lmviz.models.growth import ROWS, WHOLE, Growth
from lmviz.models.norms import NormForm
from lmviz.models.operations.factors import (
    along,
    constants,
    explained,
    gradient_line,
    part,
    repeated,
    value_cells,
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

    def sent_back(self, scope: Scope, own: Value, sent: torch.Tensor) -> Mapping[str, torch.Tensor]:
        """Each share × (its gradient less the mean of all gradients by their shares)."""
        shares = scope.read(own)
        found = sent * shares
        torch.sub(sent, found.sum(dim=-1, keepdim=True), out=found)
        return {self.address: found.mul_(shares)}

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
class Norm(Operation):
    """Numbers that belong together brought to one scale, as `form` says, then scaled and shifted."""

    address: str
    form: NormForm
    gain: Weight | None
    bias: Weight | None = None

    growth = ROWS

    @property
    def operands(self) -> tuple[Value, ...]:
        return (Value(self.address),)

    def compute(self, scope: Scope) -> torch.Tensor:
        """The shape of the operand."""
        gain, bias = (scope.weight(weight) if weight else None for weight in (self.gain, self.bias))
        return self.form.of(scope.read(Value(self.address)), gain, bias)

    def explain(self, reader: Reader, address: str, index: tuple[int, ...]) -> Arithmetic:
        """(own value - mean) / √(variance + ε) × gain + bias, or own value / √(mean square + ε) × gain."""
        array = reader.array(self.address)
        row = value_cells(reader, self.address, self._row(array, index))
        number = self._number(array, index)
        bias = (Terms("bias", (weight_cell(reader, self.bias, number),)),) if self.bias else ()
        groups = (
            Terms("own value", (part(row, self._place(array, index), 1),)),
            Terms("all channels", (row,)),
            Terms("gain", (self._gains(reader, slice(number, number + 1), 1),)),
            *bias,
            Terms("epsilon", (constant(self.form.epsilon),)),
        )
        if self.form.kind == "rms":
            return explained(reader, address, index, "RMS normalisation", groups, rule="rms norm")
        return explained(reader, address, index, "layer normalisation", groups, rule="layer norm")

    def passed_back(
        self, reader: GradientReader, address: str, source: str, index: tuple[int, ...]
    ) -> tuple[Terms, ...]:
        """To a channel every channel's gradient × gain × slope; to gain and bias position by position."""
        array = reader.array(self.address)
        if source == self.address:
            cells = self._row(array, index)
            first = self._number(array, (*index[:-1], 0)) if self.form.over != "all" else 0
            gradients = value_cells(reader, gradient_of(address), cells)
            gains = self._gains(reader, slice(first, first + len(cells)), len(cells))
            slopes = constants(self._slopes(array[tuple(cells.T)], self._place(array, index)))
            return (Terms("normalised channels", (gradients, gains, slopes)),)
        is_bias = self.bias is not None and source == self.bias.name
        if not is_bias and (self.gain is None or source != self.gain.name):
            return ()
        cells = self._readers(array, index[0])
        gradients = value_cells(reader, gradient_of(address), cells)
        if is_bias:
            return (Terms("bias", (gradients,)),)
        normal = self._normalised(array.astype(np.float64))[tuple(cells.T)]
        return (Terms("gain", (gradients, constants(normal))),)

    def _row(self, array: np.ndarray, index: tuple[int, ...]) -> np.ndarray:
        """The cells that are normalised together with one, in the order of their gains, (cell, axis)."""
        if self.form.over != "all":
            return along(index, array.ndim - 1, array.shape[-1])
        heads, _, channels = array.shape
        head, channel = np.divmod(np.arange(heads * channels), channels)
        return np.column_stack([head, np.full_like(head, index[1]), channel])

    def _place(self, array: np.ndarray, index: tuple[int, ...]) -> int:
        """Which one of its row a cell is."""
        return index[-1] + (index[0] * array.shape[-1] if self.form.over == "all" else 0)

    def _number(self, array: np.ndarray, index: tuple[int, ...]) -> int:
        """Which gain, and which bias, belongs to a cell."""
        return index[-1] + (index[0] * array.shape[-1] if self.form.over in ("heads", "all") else 0)

    def _readers(self, array: np.ndarray, number: int) -> np.ndarray:
        """The cells that a gain belongs to, (cell, axis)."""
        if array.ndim == 2:
            return along((0, number), 0, len(array))
        of_all = range(len(array)) if self.form.over == "head" else (number // array.shape[-1],)
        channel = number % array.shape[-1]
        return np.concatenate([along((head, 0, channel), 1, array.shape[1]) for head in of_all])

    def _gains(self, reader: Reader, which: slice, count: int) -> Factor:
        """Some of the gains; ones where there are none."""
        if self.gain is None:
            return constant(1.0, count)
        values = reader.weight(Weight(self.gain.name, (which.start, which.stop)))
        indices = np.arange(which.start, which.stop)[:, None]
        function = "one plus" if self.form.one_plus else ""
        return Factor(self.gain.name, indices, values.astype(np.float64), function)

    def _slopes(self, row: np.ndarray, place: int) -> np.ndarray:
        """The derivative of every normalised number of a row by one of them, (channel,)."""
        normal, size = self._of_rows(row.astype(np.float64))
        own = np.arange(len(normal)) == place
        taken = normal * normal[place] + (1 if self.form.kind == "layer" else 0)
        return (own - taken / len(normal)) / size

    def _normalised(self, array: np.ndarray) -> np.ndarray:
        """All numbers before gain and bias, in the shape of the operand."""
        if self.form.over != "all":
            return self._of_rows(array)[0]
        heads, positions, channels = array.shape
        rows = array.transpose(1, 0, 2).reshape(positions, -1)
        return self._of_rows(rows)[0].reshape(positions, heads, channels).transpose(1, 0, 2)

    def _of_rows(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rows (..., channel) brought to one scale, and what they were divided by (..., 1)."""
        if self.form.kind == "layer":
            values = values - values.mean(axis=-1, keepdims=True)
        size = np.sqrt((values**2).mean(axis=-1, keepdims=True) + self.form.epsilon)
        return values / size, size
