"""Where an affine map reads its input vector: a tap at a position, joined heads, or a window of words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import torch
from torch.nn import functional

from lmviz.models.arithmetic import Factor, constant
from lmviz.models.growth import ROWS, WHOLE, Growth
from lmviz.models.operations.factors import value_line
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
            (f"head {head}", value_line(reader, self.address, (head, position, 0), axis=2)) for head in heads
        )


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
