"""Extends a trace when the text has only grown at its end: only new positions are computed.

Of a causal model no position depends on a later one, so values traced for a common beginning stay valid.
Every operation states how it grows (`lmviz.models.growth`): by rows, only new rows are computed;
attention's (query, key) squares gain rows, and columns that the mask hides; the others are recomputed
whole. This is what a key/value cache does, for every tap. A recurrence continues from its last states.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import attrgetter

import numpy as np
import torch

from lmviz.inspection.bordered_array import BorderedArray
from lmviz.inspection.deferred_array import deferred, deferred_taps, heads_of
from lmviz.inspection.freezing import freeze, storages
from lmviz.inspection.growing_array import GrowingArray
from lmviz.inspection.later_rows import later_rows
from lmviz.inspection.trace import Trace
from lmviz.inspection.traced_array import TracedArray, of_parts
from lmviz.models.explicit import ForwardPass
from lmviz.models.growth import ROWS, WHOLE, Growth
from lmviz.models.interruption import look_up
from lmviz.models.model import Model
from lmviz.models.precision import widened
from lmviz.models.prefix import Prefix
from lmviz.models.reading import evaluation, on_device
from lmviz.models.sequences import TEXT, is_along
from lmviz.models.tap import Tap, Value


def continued(
    model: Model,
    taps: Sequence[Tap],
    earlier: Trace,
    ids: np.ndarray,
    further: Mapping[str, Prefix],
    later: frozenset[str] = frozenset(),
) -> dict[str, TracedArray] | None:
    """The value of every tap for ids (position,), as far as possible from an earlier trace.

    `further` are the sequences read beside the text; what was made of them alone is taken over whole. The
    taps at the addresses `later` are made when they are read, row by row. None where the earlier trace is of
    no use: another model's, of another beginning, changed or incomplete.
    """
    apart = made_without_text(taps)
    known = _common_beginning(model, taps, earlier, ids, further)
    if known == len(ids) < len(earlier) and not all(
        is_along(tap.axes, TEXT) or tap.address in apart for tap in taps
    ):
        known -= 1  # what has no positions was made of the whole text, which was longer
    if not known:
        return None
    if known == len(ids):
        return {tap.address: earlier[tap.address].up_to(known) for tap in taps}
    parameters = model.tensors()
    beside = {name: on_device(model, read.ids) for name, read in further.items()}
    scope = ContinuedPass(taps, on_device(model, ids), parameters, **beside)
    scope.goes_on = known == len(earlier)
    borrowed = storages(parameters.values())
    heads = heads_of(taps, model.configuration)
    lazy = deferred_taps(taps, len(ids), heads)
    known_values = earlier.arrays
    with evaluation(model):
        scope.take_over({address: earlier[address] for address in apart})
        rest = [tap for tap in taps if tap.address not in apart]
        for scan, group in groupby(rest, key=attrgetter("scan")):
            if scan:
                scanned = list(group)
                begun = {tap.address: earlier[tap.address].beginning(known) for tap in scanned}
                scope.go_on(scanned, begun, borrowed)
                continue
            for tap in group:
                look_up()
                if tap.address in later:
                    begun_rows = known_values[tap.address].up_to(known)
                    rows = later_rows(tap, ids, model.outputs, scope.traced, parameters, begun_rows)
                    scope.take_over({tap.address: rows})
                    continue
                growth = scope.growth(tap)
                if tap.address in lazy:
                    scope.defer(tap, growth, known, ids, heads, parameters)
                    continue
                if growth.by == "square":
                    scope.border(tap, growth, known_values[tap.address].up_to(known), known)
                    continue
                alone = growth.by == "rows"
                scope.first = known if alone else 0
                value = tap.operation.compute(scope)
                scope.keep(tap, value, borrowed, known_values[tap.address] if alone else None)
    return {tap.address: scope.traced[tap.address] for tap in taps}


class ContinuedPass(ForwardPass):
    """A forward pass in which operations find the positions from `first` on.

    `traced` holds the whole values of the taps so far, by address.
    """

    def __init__(
        self,
        taps: Sequence[Tap],
        tokens: torch.Tensor,
        parameters: Mapping[str, torch.Tensor],
        **further: torch.Tensor,
    ) -> None:
        super().__init__(tokens, parameters, **further)
        self._axes = {tap.address: tap.axes for tap in taps}
        self.traced: dict[str, TracedArray] = {}
        self._masked: set[str] = set()
        self.goes_on = False  # whether the earlier text is a beginning of this one, so that more may come
        self._is_beside = False  # whether what is computed are the old queries with the new keys
        self._new_rows: dict[str, torch.Tensor] = {}
        self._new_columns: dict[str, torch.Tensor] = {}
        kind = next((value for value in parameters.values() if value.is_floating_point()), None)
        self._kind = None if kind is None else widened(kind[:0])

    def read(self, operand: Value) -> torch.Tensor:
        """The operand's value, (batch, *axes), from `first` on if it has positions or queries."""
        address = operand.address
        made = self._new_columns if self._is_beside else self._new_rows
        if self.first and address in made:
            return made[address]
        value = self._narrowed(address, self._read_whole(operand), ("position", "query"), self._is_beside)
        return self._narrowed(address, value, ("key",), False) if self._is_beside else value

    def read_keys(self, operand: Value) -> torch.Tensor:
        value = self._read_whole(operand)
        return self._narrowed(operand.address, value, ("position",), False) if self._is_beside else value

    def take_over(self, traced: Mapping[str, TracedArray]) -> None:
        """Whole values that a longer text leaves as they are."""
        self.traced.update(traced)

    def keep(self, tap: Tap, value: torch.Tensor, borrowed: set[int], begun: TracedArray | None) -> None:
        """The value (1, *axes) of a tap: whole, or its rows from `first` on where others have `begun`."""
        kept = self._values if begun is None else self._new_rows
        kept[tap.address], array = self._both(value, borrowed)
        self.traced[tap.address] = self._with_rows(tap, begun, array)

    def _with_rows(self, tap: Tap, begun: TracedArray | None, rows: np.ndarray) -> TracedArray:
        """What has begun as far as `first`, and rows behind it."""
        grown = begun.grown(rows, self.first) if isinstance(begun, GrowingArray) else None
        if grown is not None:
            return grown
        parts = () if begun is None else begun.beginning(self.first)
        return of_parts((*parts, rows), tap.axes, tap.scale)

    def growth(self, tap: Tap) -> Growth:
        """How a tap grows here: rows over keys form a square where those of their operands do."""
        growth = tap.operation.growth
        if growth.by == "square" and "position" in tap.axes:
            return ROWS  # its columns are those of another sequence, which does not grow
        if growth.by != "rows" or "position" in tap.axes:
            return growth
        if growth.later is None:
            return WHOLE
        over_keys = all(operand.address in self._masked for operand in tap.operation.operands)
        return Growth("square", growth.later) if over_keys else WHOLE

    def border(self, tap: Tap, growth: Growth, inner: TracedArray, known: int) -> None:
        """The value of a square, given that of the `known` positions."""
        self.first = known
        self._new_rows[tap.address], rows = self._both(tap.operation.compute(self), set())
        if growth.later is None:
            self._is_beside = True
            self._new_columns[tap.address], columns = self._both(tap.operation.compute(self), set())
            self._is_beside = False
        else:
            self._masked.add(tap.address)
            columns = self._same(growth.later, rows)
        self.traced[tap.address] = BorderedArray(inner, rows, columns)

    def defer(
        self,
        tap: Tap,
        growth: Growth,
        known: int,
        ids: np.ndarray,
        heads: int,
        parameters: Mapping[str, torch.Tensor],
    ) -> None:
        """A square of which the rows of new queries alone are made, for those who read them next."""
        self.first = 0 if growth.by == "whole" else known
        made = self._values if growth.by == "whole" else self._new_rows
        made[tap.address] = tap.operation.compute(self)
        if growth.later is not None:
            self._masked.add(tap.address)
        self.traced[tap.address] = deferred(tap, self.traced, ids, heads, parameters)

    def go_on(self, taps: list[Tap], begun: Mapping[str, Sequence[np.ndarray]], borrowed: set[int]) -> None:
        """The whole values of a recurrence's taps, given the parts (position, unit) of what is known."""
        self.first = 0
        known = {tap.address: np.concatenate(begun[tap.address]) for tap in taps}
        rows = {address: self._as_computed(array).unbind(dim=1) for address, array in known.items()}
        self._scan(taps, lambda tap, value, position: value, rows)
        for tap in taps:
            array = freeze(self._values[tap.address], borrowed)
            self.traced[tap.address] = TracedArray(array, tap.axes, tap.scale)

    def _same(self, value: float, rows: np.ndarray) -> np.ndarray:
        """One value at the new keys of all old queries; it stands in memory once."""
        shape = (*rows.shape[:-2], self.first, rows.shape[-1] - self.first)
        found = np.ndarray(shape, rows.dtype, np.array(value, rows.dtype), strides=(0,) * len(shape))
        found.flags.writeable = False
        return found

    def _read_whole(self, operand: Value) -> torch.Tensor:
        """The operand's value at all positions, joined if it is stored in parts."""
        address = operand.address
        if address not in self._values and address not in self._steps:
            known = self.traced[address]
            if "position" in known.axes and not isinstance(known, GrowingArray):
                parts = known.beginning(self.tokens.shape[1])
                known = self.traced[address] = self._joined(parts, known)
            if isinstance(known, GrowingArray):
                self._values[address] = self._ready(known.tensor[None])
            else:
                self._values[address] = self._as_computed(known.array)
        return super().read(operand)

    def _joined(self, parts: Sequence[np.ndarray], traced: TracedArray) -> TracedArray:
        """Parts along the positions as one, with room for more where a text goes on."""
        if self.goes_on:
            return GrowingArray.of_parts(parts, traced.axes, traced.scale)
        whole = np.concatenate(parts, axis=traced.axes.index("position"))
        return TracedArray(whole, traced.axes, traced.scale)

    def _narrowed(
        self, address: str, value: torch.Tensor, axes: tuple[str, ...], before: bool
    ) -> torch.Tensor:
        """What lies from `first` on, or before it, along whichever of the axes a tap has."""
        own = self.traced[address].axes if address in self.traced else ()
        axis = next((own.index(name) + 1 for name in axes if name in own), None)
        if not self.first or axis is None:
            return value
        first, end = (0, self.first) if before else (self.first, self.tokens.shape[1])
        return value.narrow(axis, first, end - first)

    def _both(self, value: torch.Tensor, borrowed: set[int]) -> tuple[torch.Tensor, np.ndarray]:
        """What was computed (1, *axes) as operations have it, and as a trace has it (*axes)."""
        value = value.contiguous()
        array = freeze(value, borrowed)
        kind = self._kind
        is_ready = kind is not None and value.dtype == kind.dtype and value.device == kind.device
        return value if is_ready else self._as_computed(array), array

    def _as_computed(self, array: np.ndarray) -> torch.Tensor:
        """An array of a trace (*axes) as operations have it, (1, *axes)."""
        return self._ready(torch.from_numpy(array if array.flags.writeable else array.copy())[None])

    def _ready(self, value: torch.Tensor) -> torch.Tensor:
        """A value in the precision that is computed in, and where it is computed."""
        return value.to(self._kind) if self._kind is not None and value.is_floating_point() else value


def made_without_text(taps: Sequence[Tap]) -> frozenset[str]:
    """The addresses of taps that come of other sequences alone, whatever the text is."""
    apart: set[str] = set()
    for scan, group in groupby(taps, key=attrgetter("scan")):
        for some in [list(group)] if scan else ([tap] for tap in group):
            if is_along(some[0].axes, TEXT) or any(is_along(tap.axes, TEXT) for tap in some):
                continue
            made = {tap.address for tap in some}
            read = {operand.address for tap in some for operand in tap.operation.operands}
            if read <= apart | made:
                apart |= made
    return frozenset(apart)


def _common_beginning(
    model: Model, taps: Sequence[Tap], earlier: Trace, ids: np.ndarray, further: Mapping[str, Prefix]
) -> int:
    """How many positions of ids the earlier trace has already; 0 if it cannot be used."""
    if earlier.origin is None or earlier.interventions or earlier.dropped:
        return 0
    if not earlier.arrays.keys() >= {tap.address for tap in taps}:
        return 0
    if not earlier.origin.is_of(model) or not (model.causal or np.array_equal(ids, earlier.ids)):
        return 0
    if not model.reads_alike(len(ids), len(earlier)):
        return 0
    if any(not np.array_equal(read.ids, earlier.sequences[name].ids) for name, read in further.items()):
        return 0
    length = min(len(ids), len(earlier))
    differing = np.flatnonzero(ids[:length] != earlier.ids[:length])
    return int(differing[0]) if len(differing) else length
