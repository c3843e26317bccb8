"""Gradients of the squares of attention in a long text: swept by rows, and computed when they are looked at.

Of a model with 48 layers of 25 heads the squares of 1,024 tokens take 20 GB, and their gradients as much
again. So the sweep forward lets each square go, and the sweep back makes a few of its rows again where it
needs them (T. Chen et al. 2016, "Training Deep Nets with Sublinear Memory Cost"). Where all steps state what
comes back through them, that is only where one of them asks for such a row. The gradient of a square
that somebody reads follows in the same way from that of the first tap behind it that is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
import torch
from torch.utils.checkpoint import checkpoint

from lmviz.inspection.computed_square import ComputedSquare, Rows
from lmviz.inspection.deferred_array import as_batch
from lmviz.inspection.rows_of_squares import (
    PassByRows,
    RowsPass,
    hides_later,
    is_made_whole,
    steps_before,
)
from lmviz.inspection.traced_array import TracedArray, scores_behind
from lmviz.models.tap import Tap, Value, Weight


class DifferentiableByRows(PassByRows):
    """A forward pass by whose values one can differentiate, though it keeps no row of an unkept square.

    Rows of a parameter that are read alone are tensors of their own, in `stretches` by what names them and in
    `lookups` with the name of the table and the numbers of the rows: torch would make a gradient of the whole
    for each of them, and add them up.
    """

    def __init__(
        self,
        tokens: torch.Tensor,
        parameters: Mapping[str, torch.Tensor],
        taps: Sequence[Tap],
        unkept: Collection[str],
        **further: torch.Tensor,
    ) -> None:
        super().__init__(tokens, parameters, taps, unkept, **further)
        self.stretches: dict[Weight, torch.Tensor] = {}
        self.lookups: list[tuple[str, torch.Tensor, torch.Tensor]] = []

    def weight(self, operand: Weight) -> torch.Tensor:
        whole = self._parameters[operand.name]
        if operand.rows is None or not whole.requires_grad:
            return super().weight(operand)
        if operand not in self.stretches:
            self.stretches[operand] = whole.detach()[slice(*operand.rows)].requires_grad_()
        return self.stretches[operand]

    def rows_of(self, operand: Weight, chosen: torch.Tensor) -> torch.Tensor:
        whole = self._parameters[operand.name]
        if operand.rows is not None or not whole.requires_grad:
            return super().rows_of(operand, chosen)
        rows = whole.detach()[chosen].requires_grad_()
        self.lookups.append((operand.name, chosen, rows))
        return rows

    def by_rows(self, tap: Tap, steps: Sequence[Tap]) -> torch.Tensor:
        if not any(is_made_whole(step) for step in steps):
            return super().by_rows(tap, steps)
        whole: torch.Tensor = checkpoint(super().by_rows, tap, steps, use_reentrant=False)
        return whole

    def joined(self, given: Mapping[str, torch.Tensor], taps: Sequence[Tap]) -> torch.Tensor:
        made = {tap.address for tap in taps}
        read = {operand.address for tap in taps for operand in tap.operation.operands} - made
        values = {address: given[address] for address in sorted(read)}
        apply: Callable[..., torch.Tensor] = _ByRows.apply
        return apply(self, taps, tuple(values), *values.values())

    def joined_without_record(self, given: Mapping[str, torch.Tensor], taps: Sequence[Tap]) -> torch.Tensor:
        """As `joined`, with nothing written down by which one could differentiate."""
        return super().joined(given, taps)

    def back(
        self,
        given: Mapping[str, torch.Tensor],
        taps: Sequence[Tap],
        made: torch.Tensor,
        sent: torch.Tensor,
    ) -> list[torch.Tensor]:
        """The gradients of `given`, where the last of some taps is `made` and its gradient `sent`."""
        return self._stated(given, taps, made, sent) or self._recorded(given, taps, sent)

    def _stated(
        self,
        given: Mapping[str, torch.Tensor],
        taps: Sequence[Tap],
        made: torch.Tensor,
        sent: torch.Tensor,
    ) -> list[torch.Tensor] | None:
        """The same as the operations state it; None where one does not."""
        found = {address: torch.zeros_like(value) for address, value in given.items()}
        hides = hides_later(taps)
        for first, end in self.blocks(given, taps):
            keys = end if hides else None
            pass_ = _RowsBack(self.tokens, given, self._named, first, end, keys, taps, made)
            if not pass_.back(sent, found):
                return None
        return list(found.values())

    def _recorded(
        self, given: Mapping[str, torch.Tensor], taps: Sequence[Tap], sent: torch.Tensor
    ) -> list[torch.Tensor]:
        """The same as torch finds it."""
        leaves = {address: value.detach().requires_grad_() for address, value in given.items()}
        found = [torch.zeros_like(value) for value in given.values()]
        for first, end in self.blocks(given, taps):
            with torch.enable_grad():
                rows = RowsPass(self.tokens, {}, leaves, self._named, first, end).make(taps)
            parts = torch.autograd.grad(rows, list(leaves.values()), sent[:, :, first:end])
            for whole, part in zip(found, parts, strict=True):
                whole += part
        return found


class _ByRows(torch.autograd.Function):
    """The rows of a tap, whose way back makes each of them again."""

    @staticmethod
    def forward(
        ctx: Any,
        pass_: DifferentiableByRows,
        taps: Sequence[Tap],
        addresses: tuple[str, ...],
        *values: torch.Tensor,
    ) -> torch.Tensor:
        ctx.pass_, ctx.taps, ctx.addresses = pass_, taps, addresses
        made = pass_.joined_without_record(dict(zip(addresses, values, strict=True)), taps)
        ctx.save_for_backward(made, *values)
        return made

    @staticmethod
    def backward(ctx: Any, *sent: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        made, *values = ctx.saved_tensors
        given = dict(zip(ctx.addresses, values, strict=True))
        return None, None, None, *ctx.pass_.back(given, ctx.taps, made, sent[0])


class _RowsBack(RowsPass):
    """The way back through rows of some taps, of which the last is `made`; others are made if asked for."""

    def __init__(
        self,
        tokens: torch.Tensor,
        given: Mapping[str, torch.Tensor],
        axes: Mapping[str, tuple[str, ...]],
        first: int,
        end: int,
        keys: int | None,
        taps: Sequence[Tap],
        made: torch.Tensor,
    ) -> None:
        super().__init__(tokens, {}, {**given, taps[-1].address: made}, axes, first, end, keys)
        self._taps = {tap.address: tap for tap in taps}
        self._by_keys: set[str] = set()

    def read(self, operand: Value) -> torch.Tensor:
        if operand.address not in self._values:
            self.make([self._taps[operand.address]])
        return super().read(operand)

    def read_keys(self, operand: Value) -> torch.Tensor:
        self._by_keys.add(operand.address)
        return super().read_keys(operand)

    def is_spare(self, operand: Value) -> bool:
        return False

    def back(self, sent: torch.Tensor, found: Mapping[str, torch.Tensor]) -> bool:
        """Add to `found`, the gradients of whole values; whether all of the taps state theirs."""
        last = list(self._taps)[-1]
        waiting = {last: self.own_rows(last, sent)}
        for tap in reversed(self._taps.values()):
            parts = tap.operation.sent_back(self, Value(tap.address), waiting.pop(tap.address))
            if parts is None:
                return False
            for address, part in parts.items():
                if address in self._taps:
                    waiting[address] = waiting[address] + part if address in waiting else part
                else:
                    own = self.own_keys if address in self._by_keys else self.own_rows
                    own(address, found[address]).add_(part)
        return True


@dataclass(frozen=True, eq=False)
class _Way:
    """How an unkept square counts: through `steps`, in order of computation, in the value of a kept tap.

    `given` are the values (1, *axes) that those read, `sent` the gradient (1, *axes) of the kept tap.
    """

    steps: tuple[Tap, ...]
    given: Mapping[str, torch.Tensor]
    sent: torch.Tensor


class DeferredGradient(ComputedSquare):
    """The gradient of an unkept square, from those of the kept taps that read it, directly or not.

    `values` are those of all taps and `gradients` those of the kept ones, by address. No intervention changes
    those readers. NaN stands where a mask keeps a cell out of the computation.
    """

    def __init__(
        self,
        tap: Tap,
        taps: Sequence[Tap],
        unkept: Collection[str],
        ids: np.ndarray,
        values: Mapping[str, TracedArray],
        gradients: Mapping[str, TracedArray],
    ) -> None:
        super().__init__(tap.address, tap.axes, "signed", values[tap.address].shape)
        squares = {each.address: each for each in taps if each.address in unkept}
        readers = [each for each in taps if each.address not in unkept]
        ways = ((reader, steps_before(reader, squares)) for reader in readers)
        object.__setattr__(self, "_tap", tap)
        object.__setattr__(self, "_ids", ids)
        object.__setattr__(self, "_named", {each.address: each.axes for each in taps})
        object.__setattr__(self, "_ways", tuple(way for way in ways if tap in way[1]))
        object.__setattr__(self, "_values", values)
        object.__setattr__(self, "_gradients", gradients)

    _tap: Tap
    _ids: np.ndarray
    _named: Mapping[str, tuple[str, ...]]
    _ways: tuple[tuple[Tap, list[Tap]], ...]
    _values: Mapping[str, TracedArray]
    _gradients: Mapping[str, TracedArray]

    def prepared(self) -> Rows:
        ways = [self._way(reader, steps) for reader, steps in self._ways]
        scores = scores_behind(self._values, self._address)
        made = scores.prepared() if isinstance(scores, ComputedSquare) else None

        def rows(first: int, end: int) -> np.ndarray:
            with torch.inference_mode(False), torch.enable_grad():
                found = reduce(np.add, (self._back(way, first, end) for way in ways))
            if scores is None:
                return found
            decisive = scores.array[:, first:end] if made is None else made(first, end)
            return np.where(np.isneginf(decisive), np.float32(np.nan), found)

        return rows

    def computed(self) -> np.ndarray:
        return self._of_rows(self.prepared())

    def _way(self, reader: Tap, steps: Sequence[Tap]) -> _Way:
        by_rows = [step for step in steps if not is_made_whole(step)]
        made = {step.address for step in by_rows}
        read = {operand.address for step in (*by_rows, reader) for operand in step.operation.operands}
        given = {address: as_batch(self._values[address].array) for address in read - made}
        # Nothing comes back through a masked cell.
        sent = np.nan_to_num(self._gradients[reader.address].array)
        return _Way((*by_rows, reader), given, as_batch(sent))

    def _back(self, way: _Way, first: int, end: int) -> np.ndarray:
        """The rows of the gradient that comes this way, (head, query, key)."""
        pass_ = _WatchedRows(as_batch(self._ids), way.given, self._named, first, end, self._tap)
        found = pass_.make(way.steps)
        (back,) = torch.autograd.grad(found, pass_.watched, way.sent[:, :, first:end])
        return back[0].numpy()


class _WatchedRows(RowsPass):
    """Rows by which one can differentiate by those of one square, `watched`."""

    watched: torch.Tensor

    def __init__(
        self,
        tokens: torch.Tensor,
        given: Mapping[str, torch.Tensor],
        axes: Mapping[str, tuple[str, ...]],
        first: int,
        end: int,
        square: Tap,
    ) -> None:
        super().__init__(tokens, {}, given, axes, first, end)
        self._square = square
        if square.address in given:  # one that is made whole
            self.watched = given[square.address][:, :, first:end].clone().requires_grad_()
            self.give({square.address: self.watched})
            self._made.add(square.address)

    def handed_on(self, tap: Tap, rows: torch.Tensor) -> torch.Tensor:
        if tap is not self._square:
            return rows
        self.watched = rows.detach().requires_grad_()
        return self.watched
