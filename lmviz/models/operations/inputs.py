"""Where an affine map reads its input vector: a tap at a position, joined heads, or a window of words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from torch.nn import functional

from lmviz.models.arithmetic import Factor, constant
from lmviz.models.growth import ROWS, WHOLE, Growth
from lmviz.models.operations.factors import value_cells, value_line
from lmviz.models.tap import Reader, Scope, Value, inside


class Input(Protocol):
    """The vector that an affine map multiplies, for every position."""

    @property
    def growth(self) -> Growth:
        """How the vectors grow with the text."""

    @property
    def operands(self) -> tuple[Value, ...]:
        """The taps that are read."""

    def read(self, scope: Scope) -> torch.Tensor:
        """(batch, position, feature), or (batch, feature) inside a scan."""

    def factors(self, reader: Reader, label: str, position: int) -> tuple[tuple[str, Factor], ...]:
        """The features at a position in order, in named stretches that each come from one place."""

    def readers(
        self, reader: Reader, source: str, index: tuple[int, ...], count: int
    ) -> list[tuple[int, int]]:
        """Where a cell of a tap is read: at which of `count` positions, and as which feature there."""

    def over_text(self, reader: Reader, feature: int, count: int) -> tuple[np.ndarray, Factor]:
        """A feature at every position that has it: these positions, and its values there, (position,)."""

    def is_given(self, scope: Scope) -> bool:
        """Whether it is known for all positions already, whatever scan is under way."""


@dataclass(frozen=True)
class Row:
    """The vector of a tap (position, feature) at the same position, or `value.shift` positions away.

    A tap (feature) has one vector for all positions.
    """

    value: Value

    growth = ROWS

    @property
    def operands(self) -> tuple[Value, ...]:
        return (self.value,)

    def read(self, scope: Scope) -> torch.Tensor:
        """(batch, position, feature); (batch, feature) inside a scan, and of a tap without positions."""
        return scope.read(self.value)

    def is_given(self, scope: Scope) -> bool:
        """False for a tap of the scan under way."""
        return scope.is_given(self.value)

    def factors(self, reader: Reader, label: str, position: int) -> tuple[tuple[str, Factor], ...]:
        """One stretch; zeros outside the text."""
        array = reader.array(self.value.address)
        if array.ndim == 1:
            return ((label, value_line(reader, self.value.address, (0,), axis=0)),)
        place = position + self.value.shift
        if not inside(place, len(array)):
            return ((label, constant(0.0, self.value.width)),)
        return ((label, value_line(reader, self.value.address, (place, 0), axis=1)),)

    def readers(
        self, reader: Reader, source: str, index: tuple[int, ...], count: int
    ) -> list[tuple[int, int]]:
        """The position that reads the cell's row; all of them that of a tap without positions."""
        if source != self.value.address:
            return []
        if len(index) == 1:
            return [(position, index[0]) for position in range(count)]
        position = index[0] - self.value.shift
        return [(position, index[1])] if inside(position, count) else []

    def over_text(self, reader: Reader, feature: int, count: int) -> tuple[np.ndarray, Factor]:
        """The column of the tap, without what would lie outside the text."""
        positions = np.arange(count)
        if reader.array(self.value.address).ndim == 1:
            return positions, value_cells(reader, self.value.address, np.full((count, 1), feature))
        places = positions + self.value.shift
        there = (places >= 0) & (places < count)
        return positions[there], _column(reader, self.value.address, places[there], feature)


@dataclass(frozen=True)
class JoinedHeads:
    """The vectors of all heads of a tap (head, position, channel), one after the other."""

    address: str

    growth = ROWS

    @property
    def operands(self) -> tuple[Value, ...]:
        return (Value(self.address),)

    def read(self, scope: Scope) -> torch.Tensor:
        """(batch, position, head × channel)."""
        return scope.read(Value(self.address)).transpose(1, 2).flatten(2)

    def is_given(self, scope: Scope) -> bool:
        """Always true: heads are in no scan."""
        return True

    def factors(self, reader: Reader, label: str, position: int) -> tuple[tuple[str, Factor], ...]:
        """One stretch per head."""
        heads = range(len(reader.array(self.address)))
        return tuple(
            (f"head {head + 1}", value_line(reader, self.address, (head, position, 0), axis=2))
            for head in heads
        )

    def readers(
        self, reader: Reader, source: str, index: tuple[int, ...], count: int
    ) -> list[tuple[int, int]]:
        """The same position, at which the heads lie one after the other."""
        if source != self.address:
            return []
        head, position, channel = index
        return [(position, head * reader.array(source).shape[2] + channel)]

    def over_text(self, reader: Reader, feature: int, count: int) -> tuple[np.ndarray, Factor]:
        """The channel of a head that the feature is."""
        head, channel = divmod(feature, reader.array(self.address).shape[2])
        place = (head, 0, channel)
        return np.arange(count), value_line(reader, self.address, place, axis=1)


@dataclass(frozen=True)
class Window:
    """The vectors of a tap (position, feature) at the last `size` positions, oldest first.

    Zeros stand where the text has not yet begun.
    """

    address: str
    size: int

    growth = WHOLE

    @property
    def operands(self) -> tuple[Value, ...]:
        return (Value(self.address),)

    def read(self, scope: Scope) -> torch.Tensor:
        """(batch, position, size × feature)."""
        padded = functional.pad(scope.read(Value(self.address)), (0, 0, self.size - 1, 0))
        return padded.unfold(1, self.size, 1).transpose(2, 3).flatten(2)

    def is_given(self, scope: Scope) -> bool:
        """Always true: a window needs all positions at once, so it is in no scan."""
        return True

    def factors(self, reader: Reader, label: str, position: int) -> tuple[tuple[str, Factor], ...]:
        """One stretch per word of the window."""
        array = reader.array(self.address)
        stretches = []
        for distance in reversed(range(self.size)):
            name = f"{label}, {distance} before" if distance else label
            if position < distance:
                stretches.append((name, constant(0.0, array.shape[1])))
            else:
                stretches.append((name, value_line(reader, self.address, (position - distance, 0), axis=1)))
        return tuple(stretches)

    def readers(
        self, reader: Reader, source: str, index: tuple[int, ...], count: int
    ) -> list[tuple[int, int]]:
        """The same position and those after it, as many as the window is long."""
        if source != self.address:
            return []
        (place, channel), width = index, reader.array(source).shape[1]
        distances = range(min(self.size, count - place))
        return [(place + distance, (self.size - 1 - distance) * width + channel) for distance in distances]

    def over_text(self, reader: Reader, feature: int, count: int) -> tuple[np.ndarray, Factor]:
        """The column of the tap, so many words before, without what lies before the text."""
        slot, channel = divmod(feature, reader.array(self.address).shape[1])
        distance = self.size - 1 - slot
        places = np.arange(max(0, count - distance))
        return places + distance, _column(reader, self.address, places, channel)


def _column(reader: Reader, address: str, places: np.ndarray, channel: int) -> Factor:
    """One channel of a tap (position, channel) at some positions."""
    return value_cells(reader, address, np.column_stack([places, np.full_like(places, channel)]))
