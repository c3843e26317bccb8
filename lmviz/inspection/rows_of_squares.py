"""Computes squares of attention a few queries at a time: no step is ever held whole.

The squares (head, query, key) of 25 heads and 1,024 tokens take 105 MB at each step. Memory of that size is
fetched from the system and given back every time, which takes longer than computing what stands in it; a
few rows stay in the processor's cache.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

import torch

from lmviz.models.explicit import ForwardPass
from lmviz.models.tap import Tap, Value

ROWS_OF = ("query", "position")

AT_ONCE = 2 * 2**20
"""Bytes of a square that are computed at once."""


class RowsPass(ForwardPass):
    """A forward pass in which operations find the queries from `first` to `end`, and the first `keys`.

    Without that number all keys. `given` are whole values (batch, *axes) by address; `axes` are those of all
    taps that are read.
    """

    def __init__(
        self,
        tokens: torch.Tensor,
        parameters: Mapping[str, torch.Tensor],
        given: Mapping[str, torch.Tensor],
        axes: Mapping[str, tuple[str, ...]],
        first: int,
        end: int,
        keys: int | None = None,
    ) -> None:
        super().__init__(tokens, parameters)
        self.give(given)
        self.first, self._end, self._keys, self._named = first, end, keys, axes
        self._made: set[str] = set()
        self._shared: set[Value] = set()

    def read(self, operand: Value) -> torch.Tensor:
        if operand.address in self._made:
            return self._values[operand.address]
        return self.own_rows(operand.address, self._values[operand.address])

    def own_rows(self, address: str, value: torch.Tensor) -> torch.Tensor:
        """What of a whole value belongs to the queries and keys of this pass."""
        names = self._named[address]
        axis = next((place for place, name in enumerate(names, start=1) if name in ROWS_OF), None)
        value = value if axis is None else value.narrow(axis, self.first, self._end - self.first)
        return value[..., : self._keys] if names[-1] == "key" else value

    def read_keys(self, operand: Value) -> torch.Tensor:
        return self.own_keys(operand.address, self._values[operand.address])

    def own_keys(self, address: str, value: torch.Tensor) -> torch.Tensor:
        """What of a whole value belongs to the keys of this pass."""
        return value.narrow(self._named[address].index("position") + 1, 0, self._keys or value.shape[-2])

    def is_spare(self, operand: Value) -> bool:
        """A square is, that is made for one step alone, if that leaves no record of it."""
        return operand.address in self._made and operand not in self._shared and not torch.is_grad_enabled()

    def make(self, taps: Sequence[Tap]) -> torch.Tensor:
        """Compute taps in order; the rows of the last one, (batch, head, row, key or channel)."""
        read = Counter(operand for tap in taps for operand in tap.operation.operands)
        self._shared = {operand for operand, readers in read.items() if readers > 1}
        for tap in taps:
            self._values[tap.address] = self.handed_on(tap, tap.operation.compute(self))
            self._made.add(tap.address)
        return self._values[taps[-1].address]

    def handed_on(self, tap: Tap, rows: torch.Tensor) -> torch.Tensor:
        """The rows with which to go on; another pass may put a tensor of its own in their place."""
        return rows


class PassByRows(ForwardPass):
    """A forward pass that goes by the `unkept` squares: whatever reads them makes them again, by rows.

    `run` is given the other taps alone.
    """

    def __init__(
        self,
        tokens: torch.Tensor,
        parameters: Mapping[str, torch.Tensor],
        taps: Sequence[Tap],
        unkept: Collection[str],
        **further: torch.Tensor,
    ) -> None:
        super().__init__(tokens, parameters, **further)
        self._unkept = {tap.address: tap for tap in taps if tap.address in unkept}
        self._named = {tap.address: tap.axes for tap in taps}

    def computed(self, tap: Tap) -> torch.Tensor:
        steps = steps_before(tap, self._unkept)
        return self.by_rows(tap, steps) if steps else super().computed(tap)

    def reads(self, tap: Tap) -> set[str]:
        steps = steps_before(tap, self._unkept)
        found = super().reads(tap).union(*(super(PassByRows, self).reads(step) for step in steps))
        return found - self._unkept.keys()

    def by_rows(self, tap: Tap, steps: Sequence[Tap]) -> torch.Tensor:
        """The value of a tap that reads unkept squares, of which the last of some steps are made."""
        by_rows = [step for step in steps if not is_made_whole(step)]
        whole = {step.address: step.operation.compute(self) for step in steps if is_made_whole(step)}
        given = self._values | whole
        return self.joined(given, [*by_rows, tap])

    def joined(self, given: Mapping[str, torch.Tensor], taps: Sequence[Tap]) -> torch.Tensor:
        """All rows of the last of some taps, (batch, head, query, channel), made of `given` whole values.

        They are put into their place at once. Small tensors that outlive the squares between them would lie
        in the memory that these leave, so that no later square has room there: of 48 layers of 25 heads and
        1,024 tokens gigabytes were taken and could not be used again.
        """
        found: torch.Tensor | None = None
        positions, hides = self.tokens.shape[1], hides_later(taps)
        for first, end in self.blocks(given, taps):
            keys = end if hides else None
            rows = RowsPass(self.tokens, self._parameters, given, self._named, first, end, keys).make(taps)
            if found is None:
                width = positions if taps[-1].axes[-1] == "key" else rows.shape[3]
                found = rows.new_empty(*rows.shape[:2], positions, width)
            found[:, :, first:end, : rows.shape[3]] = rows
            later = taps[-1].operation.growth.later
            if later is not None and rows.shape[3] < found.shape[3]:
                found[:, :, first:end, rows.shape[3] :] = later
        assert found is not None  # a text has a position
        return found

    def blocks(self, given: Mapping[str, torch.Tensor], taps: Sequence[Tap]) -> Iterator[tuple[int, int]]:
        """The queries, as many at a time as are made at once."""
        batch, heads = given[taps[0].operation.operands[0].address].shape[:2]
        return blocks(batch * heads, self.tokens.shape[1])


def is_made_whole(tap: Tap) -> bool:
    """Whether a square does not follow row by row from what it reads, such as a bias by distance."""
    return tap.operation.growth.by == "whole"


def hides_later(taps: Sequence[Tap]) -> bool:
    """Whether the last of some taps follows of keys up to its query alone; later ones have a known value.

    Each tap is read by those after it only. What the mask hides need not be computed then.
    """
    masked: set[str] = set()
    made = {tap.address for tap in taps}
    for tap in taps:
        growth, read = tap.operation.growth, {operand.address for operand in tap.operation.operands}
        if growth.later is not None and (growth.by == "square" or read <= masked):
            masked.add(tap.address)
    last = taps[-1]
    if last.axes[-1] == "key":
        return last.address in masked
    return {operand.address for operand in last.operation.operands} & made <= masked


def steps_before(tap: Tap, unkept: Mapping[str, Tap]) -> list[Tap]:
    """What of `unkept` a tap is made of, in order of computation."""
    found: dict[str, Tap] = {}
    for operand in tap.operation.operands:
        if operand.address in unkept:
            step = unkept[operand.address]
            found |= {earlier.address: earlier for earlier in steps_before(step, unkept)}
            found[step.address] = step
    return list(found.values())


def blocks(heads: int, positions: int, multiple: int = 1) -> Iterator[tuple[int, int]]:
    """The queries as stretches (first, end), each small enough to be computed at once.

    All but the last are as long as a `multiple`.
    """
    length = multiple * max(1, AT_ONCE // (4 * heads * positions * multiple))
    for first in range(0, positions, length):
        yield first, min(first + length, positions)
