"""Taps and stages: the named values inside a model, and the order in which they are shown.

A model describes its computation a second time as an ordered list of taps. Each tap has an address, named
axes, and the operation with its operands that computes its value. `lmviz.models.explicit` computes the
list; a listener receives every value and may replace it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol, TypeVar

import numpy as np

from lmviz.models.growth import Growth
from lmviz.models.sequences import TEXT

if TYPE_CHECKING:
    import torch

    from lmviz.models.arithmetic import Arithmetic, Terms

T = TypeVar("T")

SCALES = ("signed", "share", "score", "count", "token")
"""What the numbers of a tap are, which decides their colours: signed values around zero; shares
between 0 and 1 (gates, attention, probabilities); scores with -inf; counts from 0; token ids."""


def place_of(index: Sequence[int]) -> str:
    """The place of a number in an array as a person counts, from 1: "(2, 1)"; in Python that is [1, 0]."""
    return f"({', '.join(str(at + 1 if at >= 0 else at) for at in index)})"


@dataclass(frozen=True)
class Value:
    """An operand: the value of another tap, at the same position or `shift` positions away.

    Where that is outside the text (see `inside`), a shifted operand is a row of `width` zeros, the initial
    state.
    """

    address: str
    shift: int = 0
    width: int = 0


def inside(position: int, positions: int) -> bool:
    """Whether there is such a position in a text of so many; a shift may lead before or behind it."""
    return 0 <= position < positions


@dataclass(frozen=True)
class Weight:
    """An operand: a parameter by its name in the state dict, or some of its rows."""

    name: str
    rows: tuple[int, int] | None = None


class Reader(Protocol):
    """Where `explain` finds numbers: a trace together with the model's parameters, as numpy."""

    def array(self, address: str) -> np.ndarray:
        """The value of a tap, without a batch axis."""

    def weight(self, weight: Weight) -> np.ndarray:
        """The rows of a parameter that a Weight names."""

    def ids(self, sequence: str = TEXT) -> np.ndarray:
        """The token ids of a sequence that was read, (position,)."""


class GradientReader(Reader, Protocol):
    """The same for gradients: `array` also knows the gradient of each tap, as "gradient/ADDRESS"."""

    def is_changed(self, address: str) -> bool:
        """Whether an intervention has put other values in the place of those that were computed."""


class Scope(Protocol):
    """Where `compute` finds operands while a forward pass is under way.

    `tokens`, the text, is (batch, position) int64; `sequences` has it and all others that are read, by the
    names of `lmviz.models.sequences`. Inside a scan `position` is the one that is being computed, and
    operands come without the axis that the scan runs along, if they have it; outside it is None. Where the
    values before the position `first` of the text are known already, operations that grow by rows or by a
    square give those from there on.
    """

    tokens: torch.Tensor
    sequences: Mapping[str, torch.Tensor]
    first: int
    position: int | None

    def read(self, operand: Value) -> torch.Tensor:
        """The operand's value: (batch, *axes), or (batch, *axes without position) inside a scan.

        LmvizError where another position is asked for outside a scan.
        """

    def read_keys(self, operand: Value) -> torch.Tensor:
        """The operand's value, (batch, *axes), at every position that those from `first` on look at."""

    def is_spare(self, operand: Value) -> bool:
        """Whether the operand's value may be written over, because nobody reads it afterwards."""

    def is_given(self, operand: Value) -> bool:
        """Whether the operand is known for all positions already, because no scan under way makes it."""

    def weight(self, operand: Weight) -> torch.Tensor:
        """The parameter, or its selected rows."""

    def rows_of(self, operand: Weight, chosen: torch.Tensor) -> torch.Tensor:
        """The rows (*chosen, column) of a parameter whose numbers are `chosen`."""

    def prepare(self, operation: Operation, make: Callable[[Scope], T]) -> T:
        """What `make` gives, made once for the scan under way; operands have all positions meanwhile."""


class Operation(ABC):
    """The base of operations, which compute a tap's value, explain its cells, and declare what they read.

    `growth` says what must be computed when the text grows; where nothing better holds it is `WHOLE`.
    An operation without one of the four cannot be made. What grows and what is read follow from what an
    operation is, and are worked out once: both are asked for with every token that is typed.
    """

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for name in ("growth", "operands"):
            stated = cls.__dict__.get(name)
            if isinstance(stated, property) and stated.fget is not None:
                once = cached_property(stated.fget)
                once.__set_name__(cls, name)
                setattr(cls, name, once)

    @property
    @abstractmethod
    def growth(self) -> Growth:
        """How the value grows with the text; a class attribute where it is the same for all."""

    @property
    @abstractmethod
    def operands(self) -> tuple[Value, ...]:
        """Every tap that is read, the main one first: what passes through where the operation is bypassed."""

    @abstractmethod
    def compute(self, scope: Scope) -> torch.Tensor:
        """The value, (batch, *axes); inside a scan without the position axis."""

    @abstractmethod
    def explain(self, reader: Reader, address: str, index: tuple[int, ...]) -> Arithmetic:
        """The arithmetic of one cell, whose index follows the tap's axes."""

    def sent_back(self, scope: Scope, own: Value, sent: torch.Tensor) -> Mapping[str, torch.Tensor] | None:
        """The gradients (batch, *axes) of operands by address, where that of the operation's value is `sent`.

        `own` is the tap of that value, which `scope` gives as it gives the operands; nothing of `sent` may be
        changed. None where the operation does not state it: then torch finds it, by a record of every step.
        """
        return None

    def passed_back(
        self, reader: GradientReader, address: str, source: str, index: tuple[int, ...]
    ) -> tuple[Terms, ...] | None:
        """What the tap at `address` adds to the gradient of one cell of an operand or a parameter.

        For each of its cells that reads that cell, the gradient of the former × the local derivative, of
        which the first factor is the gradient. None where the operation does not state it: then the
        derivative is computed, and shown as one number.
        """
        return None


@dataclass(frozen=True)
class Tap:
    """A named place inside a model, which others call a hook.

    `axes` name the axes of its value, without the batch. Neighbouring taps with the same `scan` form a
    recurrence: they are computed together, position by position, and may read `Value(..., shift=-1)` of
    one another; their first axis is then the one that they run along, "position" or "source". With
    `reverse`, which all taps of a scan share, it goes from the last position to the first, and they read
    `shift=1`.
    """

    address: str
    axes: tuple[str, ...]
    operation: Operation
    scale: str = "signed"
    scan: str = ""
    reverse: bool = False


@dataclass(frozen=True)
class Stage:
    """One step of the explanation, in the order of computation.

    `equation` is LaTeX. `results` and `operands` are tap addresses. `place` is where in the model one
    is, for the picture: "embedding", "layers/0/attention", "layers/0/feedforward", "layers/0", "output".
    `by_position` is true where the stage belongs to one position of a recurrence, which the stepper
    then walks position by position. `spans`, where it is not empty, says for each operand at how many
    positions it is read, the stage's own and those before it. `shifts`, where it is not empty, says for
    each operand how many positions away it is read: -1 for what the position before has handed on.
    `at_end` is true where the operands are read at one position alone, the one where their recurrence ends.
    """

    title: str
    equation: str
    results: tuple[str, ...]
    operands: tuple[str, ...]
    place: str
    by_position: bool = False
    spans: tuple[int, ...] = ()
    shifts: tuple[int, ...] = ()
    at_end: bool = False


class Listener(Protocol):
    """Sees each tap's value as it is computed, and returns the value with which to go on.

    `position` is None outside a scan; inside, it is the position that was just computed, and `value`
    has no position axis.
    """

    def __call__(self, tap: Tap, value: torch.Tensor, position: int | None) -> torch.Tensor: ...
