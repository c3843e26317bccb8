"""The explicit path: computes a model's taps one by one and passes each value to a listener.

The fused `forward` of a model is used for training; this is the same computation with every intermediate
value visible. A test compares the two for every family.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, TypeVar

import torch

from lmviz.base.errors import LmvizError
from lmviz.models.interruption import look_up
from lmviz.models.sequences import ALONG, TEXT
from lmviz.models.tap import Listener, Operation, Scope, Tap, Value, Weight, inside

T = TypeVar("T")


class ForwardPass(Scope):
    """A forward pass over tokens (batch, position) int64, from which operations read their operands.

    `further` are the other sequences that are read beside them, by name.
    """

    def __init__(
        self, tokens: torch.Tensor, parameters: Mapping[str, torch.Tensor], **further: torch.Tensor
    ) -> None:
        self.tokens = tokens
        self.sequences = {TEXT: tokens, **further}
        self.first = 0
        self.position: int | None = None
        self._parameters = parameters
        self._rows: dict[Weight, torch.Tensor] = {}
        self._values: dict[str, torch.Tensor] = {}
        self._axes: dict[str, tuple[str, ...]] = {}
        self._scanned = ""  # the axis that the scan under way runs along
        self._steps: dict[str, dict[int, torch.Tensor]] = {}
        self._prepared: dict[Operation, Any] = {}

    def read(self, operand: Value) -> torch.Tensor:
        if self.position is None:
            if operand.shift:
                raise LmvizError(
                    f"{operand.address} is read {operand.shift:+d} positions away, which only taps of a scan "
                    "can do: give the tap that reads it a scan."
                )
            return self._values[operand.address]
        if not self._is_scanned(operand):
            return self._values[operand.address]
        position = self.position + operand.shift
        if not inside(position, self._length(self._scanned)):
            parameter = next(iter(self._parameters.values()))
            return parameter.new_zeros(self.tokens.shape[0], operand.width)
        if operand.address in self._steps:
            return self._steps[operand.address][position]
        return self._values[operand.address][:, position]

    def read_keys(self, operand: Value) -> torch.Tensor:
        return self.read(operand)

    def is_spare(self, operand: Value) -> bool:
        return False

    def is_given(self, operand: Value) -> bool:
        return operand.shift == 0 and operand.address not in self._steps and self._is_scanned(operand)

    def _is_scanned(self, operand: Value) -> bool:
        """Whether a tap runs along the same axis as the scan under way, which goes through it."""
        return self._axes[operand.address][:1] == (self._scanned,)

    def _length(self, axis: str) -> int:
        """How many positions the sequence has that an axis runs along."""
        return self.sequences[ALONG[axis]].shape[1]

    def weight(self, operand: Weight) -> torch.Tensor:
        if operand.rows is None:
            return self._parameters[operand.name]
        if operand not in self._rows:
            self._rows[operand] = self._parameters[operand.name][slice(*operand.rows)]
        return self._rows[operand]

    def rows_of(self, operand: Weight, chosen: torch.Tensor) -> torch.Tensor:
        return self.weight(operand)[chosen]

    def prepare(self, operation: Operation, make: Callable[[Scope], T]) -> T:
        if operation not in self._prepared:
            position, self.position = self.position, None
            self._prepared[operation] = make(self)
            self.position = position
        return self._prepared[operation]

    def run(
        self, taps: Iterable[Tap], listener: Listener, *, keep: Collection[str] | None = None
    ) -> dict[str, torch.Tensor]:
        """Compute the taps in order; the values by address.

        With `keep` only these are given, and each other value is let go once nothing reads it any more.
        """
        ordered = list(taps)
        unread = self._last_readers(ordered) if keep is not None else {}
        begun = 0
        for scan, group in groupby(ordered, key=lambda tap: tap.scan):
            taps_together = list(group)
            if scan:
                look_up(begun / len(ordered))
                self._scan(taps_together, listener)
            else:
                for number, tap in enumerate(taps_together, begun):
                    look_up(number / len(ordered))
                    self._axes[tap.address] = tap.axes
                    self._values[tap.address] = listener(tap, self.computed(tap), None)
                    for address in unread.get(tap.address, ()):
                        if keep is not None and address not in keep:
                            self._values.pop(address, None)
            begun += len(taps_together)
        return self._values

    def computed(self, tap: Tap) -> torch.Tensor:
        """The value (batch, *axes) of a tap outside scans."""
        return tap.operation.compute(self)

    def reads(self, tap: Tap) -> set[str]:
        """The addresses whose values are read where a tap is computed."""
        return {operand.address for operand in tap.operation.operands}

    def _last_readers(self, taps: Sequence[Tap]) -> dict[str, list[str]]:
        """For each tap outside scans the addresses that nothing reads after it, its own if nothing does."""
        last = {tap.address: tap.address for tap in taps}
        for tap in taps:
            last |= dict.fromkeys(self.reads(tap), tap.address)
        found: dict[str, list[str]] = {}
        for address, reader in last.items():
            found.setdefault(reader, []).append(address)
        return found

    def give(self, values: Mapping[str, torch.Tensor]) -> None:
        """Take values (batch, *axes) as those of taps that need not be computed."""
        self._values |= values

    def _scan(
        self, taps: list[Tap], listener: Listener, begun: Mapping[str, Sequence[torch.Tensor]] | None = None
    ) -> None:
        """Go through the positions; `begun` has each tap's values at those that are behind already."""
        self._steps = {tap.address: dict(enumerate(begun[tap.address])) if begun else {} for tap in taps}
        self._axes |= {tap.address: tap.axes for tap in taps}
        self._scanned = taps[0].axes[0]
        positions = range(len(self._steps[taps[0].address]), self._length(self._scanned))
        for position in reversed(positions) if taps[0].reverse else positions:
            look_up()
            self.position = position
            for tap in taps:
                value = tap.operation.compute(self)
                self._steps[tap.address][position] = listener(tap, value, position)
        self.position = None
        for address, steps in self._steps.items():
            self._values[address] = in_order(steps)
        self._steps = {}
        self._prepared = {}


def in_order(steps: Mapping[int, torch.Tensor]) -> torch.Tensor:
    """The values (batch, *axes) of a scan by position, as (batch, position, *axes)."""
    return torch.stack([steps[position] for position in sorted(steps)], dim=1)
