"""A forward pass that is kept, so that others go on from where something was changed in it.

Several texts may be read side by side in one such pass, and each row of what goes on is then of one of them.

A grid of patches asks the same model about the same text hundreds of times, each time with one state changed.
All of these share what comes before the change: they go on from the kept values, many at once in the rows of
a batch, and compute only what depends on the change and what the measure depends on.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby

import torch

from lmviz.inspection.recording import PreparedReading, TapRecorder
from lmviz.inspection.scalar import Scalar, in_range
from lmviz.models.batches_of_texts import side_by_side
from lmviz.models.explicit import ForwardPass
from lmviz.models.interruption import look_up, uncounted_work
from lmviz.models.model import Model
from lmviz.models.read_weights import weights_of
from lmviz.models.reading import evaluation, on_device
from lmviz.models.sequences import ALONG, TEXT
from lmviz.models.tap import Listener, Tap, Value

Rows = int | torch.Tensor
"""How many rows of a batch are of the one text; or of which text each is, (row,) int64."""

OVER_TEXT = ("position", "query")
"""The axes along which a value may be computed from some position on; keys are always read whole."""


@dataclass(frozen=True, eq=False)
class Edit:
    """What stands in the place of some cells of a tap, row by row of a batch.

    `where` says which, bool (row, *axes), and `values` (row or 1, *axes) what they are then.
    """

    where: torch.Tensor
    values: torch.Tensor

    def made(self, value: torch.Tensor) -> torch.Tensor:
        """A value (row or 1, *axes) with the edit made."""
        return torch.where(self.where, self.values.to(value), value)

    def part(self, axis: int, first: int, count: int) -> Edit:
        """The edit of some places along an axis of the tensors."""
        return Edit(self.where.narrow(axis, first, count), self.values.narrow(axis, first, count))

    def step(self, position: int) -> Edit:
        """The edit of one position of a recurrence, without that axis."""
        return Edit(self.where[:, position], self.values[:, position])


class CachedPass:
    """One reading of a model with the value of every tap, (1, *axes), from which others go on.

    The interventions of the reading are in force here and in all that goes on from here. `span` is how many
    tokens are read at most: of a causal model nothing after the measure matters. With `further` readings and
    their spans, values are (text, *axes), or (1, *axes) where they are the same for all; shorter texts are
    filled up behind. They must be such as the model may read together: see `batches_of_texts`.
    """

    def __init__(
        self,
        model: Model,
        reading: PreparedReading,
        span: int | None = None,
        further: Sequence[tuple[PreparedReading, int | None]] = (),
    ) -> None:
        self.model, self.reading = model, reading
        self._readings = (reading, *(one for one, _ in further))
        self.ids = reading.ids[:span] if model.causal else reading.ids
        read = [one.ids[:end] if model.causal else one.ids for one, end in further]
        self.lengths = (len(self.ids), *map(len, read))
        self.tokens = on_device(model, side_by_side([self.ids, *read]))
        self.others = reading.others(model)
        if further:
            beside = [one.others(model) for one, _ in further]
            self.others = {
                name: torch.cat([ids, *(one[name] for one in beside)]) for name, ids in self.others.items()
            }
        self.taps = model.taps()
        self.interventions = reading.interventions
        self.axes = {tap.address: tap.axes for tap in self.taps}
        self._after, self._before = _neighbours(self.taps)
        with evaluation(model), uncounted_work():
            scope = _NotingPass(self.tokens, model.tensors(), **self.others)
            self.values = scope.run(self.taps, self.listener({}, 1))
        self._keys = scope.keys

    def __len__(self) -> int:
        """How many tokens are read, of the longest text."""
        return int(self.tokens.shape[1])

    def measure(self, scalar: Scalar) -> float:
        """The number in this reading."""
        with evaluation(self.model):
            scalar = in_range(scalar, self.values, self.interventions)
            return float(scalar.numbers(self.values, self._as_it_is)[0])

    def measured_with(
        self, edits: Mapping[str, Edit], scalar: Scalar, first: int = 0, *, alone: bool = False
    ) -> torch.Tensor:
        """The number in each row of edits, (row,) float64; no position before `first` is edited.

        Where the edits stand `alone`, no edited tap sees what another does: each is as its edit says.
        """
        with evaluation(self.model):
            if scalar.function is not None:
                values = self._gone_on(edits, dict.fromkeys(scalar.reads, 0), first, alone)
                return scalar.numbers(values, self._as_it_is).cpu().double()
            axis, start = _axis_over_text(self.axes[scalar.address]), 0
            if axis is not None:
                start = min(cell[axis - 1] for cell in (*scalar.cells, *scalar.against))
                scalar = _shifted(scalar, axis - 1, start)
            values = self._gone_on(edits, dict.fromkeys(scalar.addresses, start), first, alone)
            scalar = in_range(scalar, values, self.interventions)
            return scalar.compute(values[scalar.address]).cpu().double()

    def measures(self, scalars: Sequence[Scalar]) -> list[float]:
        """The number of each text."""
        found = []
        with evaluation(self.model):
            for text, scalar in enumerate(scalars):
                own = self.of_text(text, scalar.addresses)
                scalar = in_range(scalar, own, self.interventions)
                found.append(float(scalar.numbers(own, partial(self.of_text, text))[0]))
        return found

    def of_text(self, text: int, addresses: Iterable[str] | None = None) -> dict[str, torch.Tensor]:
        """The values (1, *axes) of one text alone."""
        found = {}
        for address in self.axes if addresses is None else addresses:
            value = self.values[address]
            value = value[text : text + 1] if value.shape[0] > 1 else value
            found[address] = self._own(address, value, text)
        return found

    def alone(self, text: int) -> CachedPass:
        """The pass of one text, as if it had been read without the others, in the same memory."""
        found = copy(self)
        found.reading, found.lengths = self._readings[text], (self.lengths[text],)
        found._readings = (found.reading,)
        found.ids = found.reading.ids[: self.lengths[text]]
        found.tokens = self.tokens[text : text + 1, : self.lengths[text]]
        found.others = {name: ids[text : text + 1] for name, ids in self.others.items()}
        found.values = self.of_text(text)
        return found

    def measured_by_row(
        self, edits: Mapping[str, Edit], scalars: Sequence[Scalar], texts: torch.Tensor, first: int = 0
    ) -> torch.Tensor:
        """In each row of edits the number of the text that `texts` (row,) names, (row,) float64.

        No position before `first` is edited.
        """
        with evaluation(self.model):
            asked = texts.unique().tolist()
            starts = {text: self._start(scalars[text]) for text in asked}
            wanted: dict[str, int] = {}
            for text in asked:
                for address in scalars[text].addresses:
                    wanted[address] = min(wanted.get(address, starts[text]), starts[text])
            values = self._gone_on(edits, wanted, first, False, texts if len(self.lengths) > 1 else None)
            found = torch.zeros(len(texts), dtype=torch.float64)
            for text in asked:
                rows, scalar, start = texts == text, scalars[text], starts[text]
                own = {
                    address: self._own(
                        address, values[address][rows.to(values[address].device)], text, start, at
                    )
                    for address, at in wanted.items()
                    if address in scalar.addresses
                }
                if scalar.function is None:
                    axis = _axis_over_text(self.axes[scalar.address])
                    scalar = scalar if axis is None else _shifted(scalar, axis - 1, start)
                    scalar = in_range(scalar, own, self.interventions)
                found[rows] = scalar.numbers(own, partial(self.of_text, text)).cpu().double()
            return found

    def _start(self, scalar: Scalar) -> int:
        """The first position that a number is read off; 0 where it is none of a cell."""
        axis = None if scalar.function is not None else _axis_over_text(self.axes[scalar.address])
        return 0 if axis is None else min(cell[axis - 1] for cell in (*scalar.cells, *scalar.against))

    def _own(
        self, address: str, value: torch.Tensor, text: int, start: int = 0, begun: int = 0
    ) -> torch.Tensor:
        """Of a value that begins at the position `begun`, what a text has from `start` up to its own end."""
        over = _axis_over_text(self.axes[address])
        for place, name in enumerate(self.axes[address], start=1):
            if ALONG.get(name) == TEXT:
                ahead, end = (
                    (start - begun, self.lengths[text] - begun) if place == over else (0, self.lengths[text])
                )
                value = value.narrow(place, ahead, end - ahead)
        return value

    def measured_under(self, parameters: Mapping[str, torch.Tensor], scalar: Scalar) -> float:
        """The number where some parameters, by name, are those of another model of the same shape.

        What does not depend on them is taken from here; all else is computed as a pass of its own would, so
        that with all parameters of the other model it is that model's number to the last bit.
        """
        begun = [
            tap.address
            for tap in self.taps
            if any(weight.name in parameters for weight in weights_of(tap.operation))
        ]
        if not begun:
            return self.measure(scalar)
        addresses = scalar.addresses
        reached = self._closure(begun, self._after) & self._closure(addresses, self._before)
        if not reached & set(addresses):
            return self.measure(scalar)
        with evaluation(self.model):
            scope = _RowsPass(self, 1, 0, dict.fromkeys(self.axes, 0), self.listener({}, 1), parameters)
            self._run(scope, [tap for tap in self.taps if tap.address in reached], addresses)
            values = {address: scope.part(address, 0) for address in addresses}
            scalar = in_range(scalar, values, self.interventions)
            return float(scalar.numbers(values, self._as_it_is)[0])

    def _as_it_is(self) -> dict[str, torch.Tensor]:
        """The values to which a measure holds others."""
        return self.values

    def values_with(
        self, edits: Mapping[str, Edit], wanted: Collection[str], *, alone: bool = False
    ) -> dict[str, torch.Tensor]:
        """The values (row, *axes) of some taps in each row of edits."""
        with evaluation(self.model):
            return self._gone_on(edits, dict.fromkeys(wanted, 0), 0, alone)

    def _gone_on(
        self,
        edits: Mapping[str, Edit],
        wanted: Mapping[str, int],
        first: int,
        alone: bool,
        texts: torch.Tensor | None = None,
    ) -> dict[str, torch.Tensor]:
        """The values of some taps, each from the position on that it is wanted from."""
        rows: Rows = max(edit.where.shape[0] for edit in edits.values()) if texts is None else texts
        first = 0 if self.interventions or not self.model.causal else first
        after = self._after | {address: set() for address in edits} if alone else self._after
        begun = {reader for address in edits for reader in self._after[address]} if alone else ()
        reached = self._closure([*edits, *begun], after) & self._closure(wanted, self._before)
        run = [tap for tap in self.taps if tap.address in reached]
        roots = set(edits) if alone else self._roots(edits)
        scope = _RowsPass(self, rows, first, self._firsts(run, wanted, first), self.listener(edits, rows))
        for address in roots:
            scope.given[address] = edits[address].made(_in_rows(self.values[address], rows, widen=False))
        self._run(scope, run, wanted)
        return {address: scope.part(address, start) for address, start in wanted.items()}

    def _run(self, scope: _RowsPass, run: Sequence[Tap], wanted: Collection[str]) -> None:
        """Compute some taps in their order, each let go once nothing reads it any more."""
        unread = _last_reads(run, wanted)
        for scan, group in groupby(run, key=lambda tap: tap.scan):
            look_up()
            if scan:
                together = list(group)
                scope.scan(together)
                scope.let_go(address for tap in together for address in unread.get(tap.address, ()))
                continue
            for tap in group:
                scope.make(tap)
                scope.let_go(unread.get(tap.address, ()))

    def listener(self, edits: Mapping[str, Edit], rows: Rows) -> Listener:
        """What carries the surgery out, and then the edits; values have all positions, or are one step."""
        recorder: Listener | None = None
        if self.interventions:
            recorder = TapRecorder(self.taps, self.interventions, self.reading.lengths | {TEXT: len(self)})
            if edits:
                recorder.values.update({name: _in_rows(value, rows) for name, value in self.values.items()})

        def listen(tap: Tap, value: torch.Tensor, position: int | None) -> torch.Tensor:
            value = value if recorder is None else recorder(tap, value, position)
            edit = edits.get(tap.address)
            if edit is None:
                return value
            if position is not None:
                return edit.step(position).made(value)
            axis = _axis_over_text(self.axes[tap.address])
            if axis is not None and value.shape[axis] < edit.where.shape[axis]:
                count = value.shape[axis]
                edit = edit.part(axis, edit.where.shape[axis] - count, count)
            return edit.made(value)

        return listen

    def _roots(self, edits: Mapping[str, Edit]) -> set[str]:
        """The edited taps that no other edit reaches, so that they need not be computed again."""
        scanned = {tap.address for tap in self.taps if tap.scan}
        return {
            address
            for address in edits
            if address not in scanned
            and address not in self._closure([other for other in edits if other != address], self._after)
        }

    def _closure(self, addresses: Iterable[str], neighbours: Mapping[str, Collection[str]]) -> set[str]:
        """These taps and all that are reached from them."""
        found: set[str] = set()
        left = list(addresses)
        while left:
            address = left.pop()
            if address not in found:
                found.add(address)
                left += neighbours[address]
        return found

    def _firsts(self, run: Sequence[Tap], wanted: Mapping[str, int], first: int) -> dict[str, int]:
        """From which position on each tap is needed at all.

        Where a number is read off the last position, what stands above the last keys is needed there alone.
        """
        if self.interventions or not self.model.causal:
            return dict.fromkeys((tap.address for tap in run), 0)
        needed = dict.fromkeys(self.axes, len(self)) | dict(wanted)
        found = {}
        for tap in reversed(run):
            over_text = _axis_over_text(tap.axes) is not None
            by_rows = over_text and not tap.scan and tap.operation.growth.by != "whole"
            here = needed[tap.address] if by_rows else 0
            found[tap.address] = max(here, first) if by_rows else 0
            for operand in tap.operation.operands:
                whole = (tap.address, operand.address) in self._keys
                needed[operand.address] = min(needed[operand.address], 0 if whole else here)
        return found


class _NotingPass(ForwardPass):
    """A forward pass that notes which operations read which operands whole, as keys are."""

    def __init__(
        self, tokens: torch.Tensor, parameters: Mapping[str, torch.Tensor], **further: torch.Tensor
    ) -> None:
        super().__init__(tokens, parameters, **further)
        self.keys: set[tuple[str, str]] = set()
        self._now = ""

    def computed(self, tap: Tap) -> torch.Tensor:
        self._now = tap.address
        return super().computed(tap)

    def read_keys(self, operand: Value) -> torch.Tensor:
        self.keys.add((self._now, operand.address))
        return super().read_keys(operand)


class _RowsPass(ForwardPass):
    """Rows of a batch that go on from a cached pass: each as it is but for its edits.

    Positions before `edited` are as they were; `firsts` say from which position on a tap is computed.
    `parameters` stand in the place of the model's own, and what is `given` need not be computed.
    """

    def __init__(
        self,
        base: CachedPass,
        rows: Rows,
        edited: int,
        firsts: Mapping[str, int],
        listener: Listener,
        parameters: Mapping[str, torch.Tensor] | None = None,
    ) -> None:
        super().__init__(
            _in_rows(base.tokens, rows),
            base.model.tensors() | dict(parameters or {}),
            **{name: _in_rows(ids, rows) for name, ids in base.others.items()},
        )
        self.given: dict[str, torch.Tensor] = {}
        self._starts: dict[str, int] = {}
        self._axes = dict(base.axes)
        self._base, self._count, self._edited = base.values, rows, edited
        self._firsts, self._listener = firsts, listener

    def take(self, address: str, value: torch.Tensor) -> None:
        """A whole value (row, *axes) that need not be computed."""
        self._values[address] = value
        self._starts[address] = 0

    def make(self, tap: Tap) -> None:
        """Compute a tap outside scans, from its first position on; take it whole where it is given."""
        if tap.address in self.given:
            self.take(tap.address, self.given[tap.address])
            return
        self.first = self._firsts[tap.address]
        self._values[tap.address] = self._listener(tap, tap.operation.compute(self), None)
        self._starts[tap.address] = self.first

    def scan(self, taps: list[Tap]) -> None:
        """Go through a recurrence; of one along the text what lies before the edits is known."""
        made = {tap.address for tap in taps}
        for address in {operand.address for tap in taps for operand in tap.operation.operands} - made:
            self.take(address, self.part(address, 0))
        self.first = 0
        begun = None
        if self._edited and taps[0].axes[0] == "position" and not taps[0].reverse:
            begun = {
                address: [
                    _in_rows(self._base[address][:, place], self._count) for place in range(self._edited)
                ]
                for address in made
            }
        self._scan(taps, self._listener, begun)
        self._starts.update(dict.fromkeys(made, 0))

    def let_go(self, addresses: Iterable[str]) -> None:
        """Values that nothing reads any more."""
        for address in addresses:
            self._values.pop(address, None)

    def part(self, address: str, first: int) -> torch.Tensor:
        """A value from a position on; what lies before the edits is as it was."""
        if address not in self._values:  # no edit reaches it
            self.take(address, _in_rows(self._base[address], self._count))
        value, axis = self._values[address], _axis_over_text(self._axes[address])
        if axis is None:
            return value
        ahead = first - self._starts[address]
        if ahead < 0:
            before = _in_rows(self._base[address].narrow(axis, first, -ahead), self._count)
            return torch.cat([before, value], dim=axis)
        return value.narrow(axis, ahead, value.shape[axis] - ahead) if ahead else value

    def read(self, operand: Value) -> torch.Tensor:
        if self.position is not None:
            return super().read(operand)
        return self.part(operand.address, self.first)

    def read_keys(self, operand: Value) -> torch.Tensor:
        return self.part(operand.address, 0)


def _neighbours(taps: Sequence[Tap]) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """For each tap those that read it and those that it reads; those of a scan belong together."""
    after: dict[str, set[str]] = {tap.address: set() for tap in taps}
    before: dict[str, set[str]] = {tap.address: set() for tap in taps}
    scans: dict[str, set[str]] = {}
    for tap in taps:
        for operand in tap.operation.operands:
            after[operand.address].add(tap.address)
            before[tap.address].add(operand.address)
        if tap.scan:
            scans.setdefault(tap.scan, set()).add(tap.address)
    for together in scans.values():
        for address in together:
            after[address] |= together
            before[address] |= together
    return after, before


def _last_reads(run: Sequence[Tap], kept: Collection[str]) -> dict[str, list[str]]:
    """For each tap those that nothing reads after it."""
    last = {tap.address: tap.address for tap in run}
    for tap in run:
        last |= {operand.address: tap.address for operand in tap.operation.operands}
    found: dict[str, list[str]] = {}
    for address, reader in last.items():
        if address not in kept:
            found.setdefault(reader, []).append(address)
    return found


def _axis_over_text(axes: tuple[str, ...]) -> int | None:
    """The axis of a tap's tensor, whose first is the batch, along which it may be computed in part."""
    return next((place for place, name in enumerate(axes, start=1) if name in OVER_TEXT), None)


def _in_rows(value: torch.Tensor, rows: Rows, *, widen: bool = True) -> torch.Tensor:
    """A value (1 or text, *axes) in every row of a batch; of a single text that takes no memory.

    Without `widen`, what is the same in all rows stays one row.
    """
    if not isinstance(rows, int) and value.shape[0] > 1:
        return value[rows.to(value.device)]
    return value.expand(rows if isinstance(rows, int) else len(rows), *value.shape[1:]) if widen else value


def _shifted(scalar: Scalar, axis: int, start: int) -> Scalar:
    """The same number in a value that begins at a later position."""

    def moved(cells: tuple[tuple[int, ...], ...]) -> tuple[tuple[int, ...], ...]:
        return tuple((*cell[:axis], cell[axis] - start, *cell[axis + 1 :]) for cell in cells)

    return replace(scalar, cells=moved(scalar.cells), against=moved(scalar.against))
