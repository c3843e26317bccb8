"""Ablation: a part set to zero, or to its mean over a text, and what the measure or the loss becomes.

Zero is a value that a part may never have, which breaks more than the part's own work; its mean leaves what
it always says and takes away what it says about this text (Wang et al. 2023). An order of an n-gram is left
to the order below it, as if its contexts had never been seen. What changes little alone may still matter,
where another part does the same.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from lmviz.base.arguments import whole_number, words
from lmviz.base.errors import LmvizError
from lmviz.circuits.by_row import band
from lmviz.circuits.cached_pass import CachedPass, Edit
from lmviz.circuits.contrast import Contrast
from lmviz.circuits.places import axis_of, carried, matching
from lmviz.circuits.read_contrast import check_is_number, read_contrast
from lmviz.circuits.result import Numbers
from lmviz.circuits.together import AT_ONCE, read_together, texts_together
from lmviz.inspection.backpropagation import unchanged
from lmviz.inspection.intervention import Intervention
from lmviz.inspection.recording import PreparedReading, prepared
from lmviz.inspection.scalar import Scalar, read_scalar, targets_of
from lmviz.models.address import Address
from lmviz.models.float64 import in_float64
from lmviz.models.interruption import look_up, part_of_work, uncounted_work
from lmviz.models.model import Model
from lmviz.models.ngram.tables import NgramTables
from lmviz.models.sequences import ALONG
from lmviz.models.tap import Tap

BY = ("zero", "mean", "lower")

LENGTH = 128
"""A text is read in stretches of at most so many tokens."""

ANSWERS_AT_ONCE = 2**24
"""So many logits are computed at once at most."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Ablation(Numbers):
    """By how much the measure changes without each part: with it less than without it where that is positive.

    `intact` is the measure of the whole model, a mean over what was asked about; of a text it is the loss in
    nats per token, over `tokens` of them. `low` and `high` hold the change in 95 of 100 samples of texts
    drawn anew from these (bootstrap; Efron 1979); None where there is one text alone. `addresses` are the
    taps along the first axis. `rows` (row, …) has the change in each text, per token, and `intact_rows`
    (row,) the measure of the whole model there.
    """

    intact: float
    measure: str
    by: str
    tokens: int
    addresses: tuple[str, ...]
    rows: np.ndarray
    intact_rows: np.ndarray
    low: np.ndarray | None = None
    high: np.ndarray | None = None

    @property
    def agreeing(self) -> np.ndarray:
        """The share of the rows whose change has the sign of the mean change, in the shape of `array`."""
        return np.asarray((np.sign(self.rows) == np.sign(self.array)).mean(axis=0))


@dataclass(frozen=True, eq=False)
class _Example:
    """One text, the number that is asked of it, and how many tokens that is about."""

    reading: PreparedReading
    scalar: Scalar
    span: int
    weight: int


def ablate(
    model: Model,
    given: Contrast | Sequence[Contrast] | Sequence[np.ndarray],
    parts: str | Collection[str] | None = None,
    *,
    by: str = "",
    each: Sequence[str] | None = None,
    units: Sequence[Sequence[int]] | None = None,
    over: Sequence[np.ndarray] | None = None,
    interventions: Sequence[Intervention] = (),
) -> Ablation:
    """The change of a measure, or of the loss over stretches of ids, without each part in turn.

    `parts` are patterns of addresses, "layers/*/attention/heads" among them; by default heads, or the units
    of hidden states. `each` names the axes along which they go one by one: ("head",) by default where there
    are heads, ("unit",) for single units, () for whole layers. `units` are groups of units that go together
    instead. With `by` "mean" a part says what it says on average over all positions of the texts asked about,
    or of those `over` which it is taken; with "lower" an order of an n-gram says what the order below it
    does, the lowest that all tokens are alike. Without `by` it is "lower" for orders and "zero" for all else.
    LmvizError where a part or an axis is none.
    """
    plan = AblationPlan.of(
        model, given, parts, by=by, each=each, units=units, over=over, interventions=interventions
    )
    rows: dict[int, AblatedRow] = {}
    batches = list(plan.batches())
    for number, batch in enumerate(batches):
        with part_of_work(number, len(batches)):
            rows |= plan.rows(batch)
    return plan.result([rows[number] for number in range(len(plan))])


def ablating(
    model: Model,
    given: Contrast | Sequence[np.ndarray],
    *,
    by: str = "",
    interventions: Sequence[Intervention] = (),
) -> Iterator[Ablation]:
    """What `ablate` gives, as it grows: of one text tap by tap, NaN where nothing has been measured yet; of
    several, a batch of texts at a time, as of the texts so far. The last is the whole. LmvizError as of
    `ablate`.
    """
    plan = AblationPlan.of(model, given, by=by, interventions=interventions)
    if len(plan) == 1:
        for row in plan.growing_row(0):
            yield plan.result([row])
        return
    rows: dict[int, AblatedRow] = {}
    for batch in plan.batches():
        rows |= plan.rows(batch)
        numbers = sorted(rows)
        yield plan.result([rows[number] for number in numbers], numbers)


@dataclass(frozen=True)
class AblatedRow:
    """One text: the measure of the whole model, and its change without each part, as a result has it."""

    intact: float
    changes: np.ndarray


@dataclass(frozen=True, eq=False)
class AblationPlan:
    """What is to be ablated in which texts, all of it checked, so that it can be done batch by batch.

    While it is done, the readings of one batch of texts are in memory: see `texts_together`.
    """

    model: Model
    examples: Sequence[_Example]
    chosen: Sequence[Tap]
    axes: tuple[str, ...]
    groups: Sequence[tuple[int, ...]] | None
    by: str
    measure: str
    means: dict[str, torch.Tensor]
    sizes: tuple[int, ...]
    first: CachedPass

    @classmethod
    def of(
        cls,
        model: Model,
        given: Contrast | Sequence[Contrast] | Sequence[np.ndarray],
        parts: str | Collection[str] | None = None,
        *,
        by: str = "",
        each: Sequence[str] | None = None,
        units: Sequence[Sequence[int]] | None = None,
        over: Sequence[np.ndarray] | None = None,
        interventions: Sequence[Intervention] = (),
    ) -> AblationPlan:
        """The plan of `ablate`; LmvizError as there."""
        model, interventions = unchanged(model, interventions)
        chosen = matching(model, parts if parts is not None else _usual(model))
        are_orders = all(Address.parse(tap.address).order for tap in chosen)
        by = by or ("lower" if are_orders else "zero")
        if by not in BY or (by == "lower" and not are_orders):
            lower = ", an order of an n-gram to what is 'lower'" if by != "lower" else ""
            raise LmvizError(f"A part is set to 'zero' or to its 'mean'{lower}, and not to {by!r}.")
        groups = None if units is None else _groups(units)
        examples = _examples(model, given, interventions)
        measure = _measure([one.scalar for one in examples])
        usual = ("head",) if "head" in chosen[0].axes else ()
        axes = words("axis", each, "unit") if each is not None else usual
        axes = tuple(axis for axis in axes if axis != "unit") if groups is not None else axes
        first = CachedPass(model, examples[0].reading, examples[0].span)
        sizes = [_sizes(first, tap, axes, groups) for tap in chosen]
        if any(size != sizes[0] for size in sizes):
            raise LmvizError("These parts differ in how many cells they have: ask about one kind at a time.")
        means = {}
        if by == "mean":
            with uncounted_work():
                means = _means(model, examples, over, chosen)
        return cls(model, examples, chosen, axes, groups, by, measure, means, sizes[0], first)

    def __len__(self) -> int:
        """The number of texts."""
        return len(self.examples)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of a result."""
        return (len(self.chosen), *self.sizes)

    def batches(self, numbers: Sequence[int] | None = None) -> Iterator[list[int]]:
        """The numbers of the texts that are asked together, batch after batch; of some texts, or of all."""
        numbers = range(len(self)) if numbers is None else numbers
        asked = [(self.examples[number].reading, self.examples[number].span) for number in numbers]
        by_position = any(axis in ALONG for axis in self.axes)
        cells = int(np.prod(self.sizes))
        for batch in texts_together(self.model, asked, self.first, cells, same_length=by_position):
            yield [numbers[place] for place in batch]

    def rows(self, numbers: Sequence[int]) -> dict[int, AblatedRow]:
        """What comes of the texts of one of the `batches`; LmvizError where there is no measure without a
        part."""
        some = [self.examples[number] for number in numbers]
        read = self._read(some)
        intact = np.array(read.measures([one.scalar for one in some]))
        for one, number in zip(some, intact, strict=True):
            check_is_number(self.model, one.scalar.name, float(number))
        changes = np.zeros((len(some), *self.shape))
        for row, tap in enumerate(self.chosen):
            with part_of_work(row, len(self.chosen)):
                look_up(0.0)
                found = self._measured_without(tap, read, some)
                changes[:, row] = found - intact.reshape(-1, *([1] * len(self.sizes)))
        for one, change in zip(some, changes, strict=True):
            self._check_finite(change, one)
        return {
            number: AblatedRow(float(intact[place]), changes[place]) for place, number in enumerate(numbers)
        }

    def row(self, number: int) -> AblatedRow:
        """What comes of one text alone."""
        return self.rows([number])[number]

    def growing_row(self, number: int) -> Iterator[AblatedRow]:
        """The same tap by tap: what has not been measured yet is NaN. LmvizError as of `row`."""
        one = self.examples[number]
        read = self._read([one])
        intact = read.measure(one.scalar)
        check_is_number(self.model, one.scalar.name, intact)
        changes = np.full(self.shape, np.nan)
        for row, tap in enumerate(self.chosen):
            look_up()
            changes[row] = self._measured_without(tap, read, [one])[0] - intact
            self._check_finite(changes[row : row + 1], one, row)
            yield AblatedRow(intact, changes.copy())

    def _read(self, some: Sequence[_Example]) -> CachedPass:
        read = read_together(self.model, [(one.reading, one.span) for one in some])
        if _sizes(read, self.chosen[0], self.axes, self.groups) != self.sizes:
            raise LmvizError("These texts differ in length, so parts by position have no mean: leave it out.")
        return read

    def _measured_without(self, tap: Tap, read: CachedPass, some: Sequence[_Example]) -> np.ndarray:
        """The measure of each of some texts without each part of a tap, (text, *sizes)."""
        mean = self.means.get(tap.address, torch.zeros(()))
        values = _lower(read, tap) if self.by == "lower" else mean
        scalars = [one.scalar for one in some]
        found = [
            read.measured_by_row(
                {tap.address: Edit(where, values.expand(1, *where.shape[1:]))}, scalars, texts
            )
            for where, texts in _rows(self.model, read, tap, self.axes, self.groups)
        ]
        return torch.cat(found).numpy().reshape(len(some), *self.sizes)

    def _check_finite(self, changes: np.ndarray, one: _Example, first: int = 0) -> None:
        """LmvizError where a change of the taps from `first` on is no number."""
        if not np.isfinite(changes).all():
            address = self.chosen[first + int(np.argwhere(~np.isfinite(changes))[0][0])].address
            raise LmvizError(
                f"Without {address} there is no {one.scalar.name}, so no change can be measured: choose "
                "another part."
            )

    def result(self, rows: Sequence[AblatedRow], numbers: Sequence[int] | None = None) -> Ablation:
        """What some rows come to: all of them, or those of the texts of these `numbers`."""
        examples = self.examples if numbers is None else [self.examples[number] for number in numbers]
        changes = np.stack([row.changes for row in rows])
        weights = np.array([one.weight for one in examples], dtype=np.float64)
        change, low, high = _with_band(changes, weights)
        addresses = [tap.address for tap in self.chosen]
        leading, labels = axis_of(addresses)
        names = {leading: labels} if labels else {}
        if self.groups is not None:
            names["group"] = tuple(",".join(map(str, group)) for group in self.groups)
        return Ablation(
            array=change,
            axes=(leading, *self.axes, *(("group",) if self.groups is not None else ())),
            names=names,
            intact=float(sum(row.intact for row in rows) / weights.sum()),
            measure=self.measure,
            by=self.by,
            tokens=int(weights.sum()),
            addresses=tuple(addresses),
            low=low,
            high=high,
            rows=changes / weights.reshape(-1, *([1] * change.ndim)),
            intact_rows=np.array([row.intact for row in rows]) / weights,
        )


def missed_since(found: Mapping[int, Ablation], cell: tuple[int, ...]) -> int | None:
    """The first of some snapshots, by step, from which on the loss is higher without a part, band and all.

    None where it is not at the last, or where there is no band.
    """
    since = None
    for step in sorted(found, reverse=True):
        low = found[step].low
        if low is None or low[cell] <= 0:
            break
        since = step
    return since


def stretches(ids: Sequence[np.ndarray], context: int | None, most: int | None = None) -> list[np.ndarray]:
    """Documents (token,) cut so that a model can read them at once, `most` tokens of them at most.

    A stretch begins with the last token of the one before, so that every token but a document's first is
    predicted once.
    """
    length = LENGTH if context is None else min(LENGTH, context)
    found: list[np.ndarray] = []
    left = most
    for document in ids:
        for first in range(0, max(len(document) - 1, 1), max(length - 1, 1)):
            stretch = document[first : first + length]
            stretch = stretch if left is None else stretch[: left + 1]
            if len(stretch) < 2:
                break
            found.append(stretch)
            left = left if left is None else left - (len(stretch) - 1)
            if left is not None and left <= 0:
                return found
    return found


@uncounted_work()
def _examples(
    model: Model,
    given: Contrast | Sequence[Contrast] | Sequence[np.ndarray],
    interventions: Sequence[Intervention],
) -> list[_Example]:
    several: list[Contrast | np.ndarray] = [given] if isinstance(given, Contrast) else list(given)
    found = []
    for one in several:
        if isinstance(one, Contrast):
            question = read_contrast(model, one, interventions)
            found.append(_Example(question.clean, question.scalar, question.span, 1))
        else:
            reading = prepared(model, one, interventions, {})
            scalar = read_scalar("loss", model, reading.ids, {})
            found.append(_Example(reading, scalar, len(reading.ids), len(targets_of(model, reading.ids))))
    if not found:
        raise LmvizError("There is nothing to ask about: give a contrast, or a text of at least two tokens.")
    return found


def _measure(scalars: Sequence[Scalar]) -> str:
    """The name of the number that a mean is taken of; of several numbers, of which kind they all are.

    LmvizError where they are of several kinds, which have no mean.
    """
    names = {scalar.name for scalar in scalars}
    if len(names) == 1:
        return names.pop()
    kinds = {
        "loss" if one.is_loss else one.name.partition(":")[0] if ":" in one.name else one.address
        for one in scalars
    }
    if len(kinds) > 1:
        raise LmvizError(
            f"These are numbers of several kinds ({', '.join(sorted(kinds))}), which have no mean: ask about "
            "one kind at a time."
        )
    return kinds.pop()


def _groups(units: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    """Groups of units that go together; LmvizError where they are none."""
    groups = [
        tuple(whole_number("A unit", unit) for unit in group) if isinstance(group, Iterable) else ()
        for group in (units if isinstance(units, Iterable) else ())
    ]
    if not groups or not all(groups):
        raise LmvizError(
            f"{units!r} has no groups of units: give at least one, such as units=[(0, 1), (2,)]."
        )
    return groups


def _text(model: Model, ids: np.ndarray) -> CachedPass:
    return CachedPass(model, prepared(model, ids, (), {}))


def _means(
    model: Model, examples: Sequence[_Example], over: Sequence[np.ndarray] | None, taps: Sequence[Tap]
) -> dict[str, torch.Tensor]:
    """The mean of each tap over all positions of all texts, (1, *axes) with one place along each sequence.

    The texts are those asked about, or others `over` which it is taken; one at a time is in memory.
    """
    sums: dict[str, torch.Tensor] = {}
    counts = dict.fromkeys((tap.address for tap in taps), 0)
    for number in range(len(examples) if over is None else len(over)):
        look_up()
        if over is None:
            read = CachedPass(model, examples[number].reading, examples[number].span)
        else:
            read = _text(model, over[number])
        for tap in taps:
            along = [place for place, axis in enumerate(tap.axes, start=1) if axis in ALONG]
            value = in_float64(read.values[tap.address])
            summed = value.sum(dim=along, keepdim=True) if along else value
            sums[tap.address] = sums[tap.address] + summed if number else summed
            counts[tap.address] += int(np.prod([value.shape[place] for place in along]))
    return {address: total / counts[address] for address, total in sums.items()}


def _lower(read: CachedPass, tap: Tap) -> torch.Tensor:
    """What the order below an order of an n-gram says, (1, *axes)."""
    order, value = Address.parse(tap.address).order or 1, read.values[tap.address]
    if order > 1:
        return read.values[tap.address.replace(f"orders/{order}/", f"orders/{order - 1}/")]
    tables = getattr(tap.operation, "tables", None)
    uniform = tables.uniform if isinstance(tables, NgramTables) else np.full(1, 1 / value.shape[-1])
    return torch.from_numpy(uniform).to(value).expand(value.shape)


def _sizes(
    read: CachedPass, tap: Tap, axes: Sequence[str], units: Sequence[Sequence[int]] | None
) -> tuple[int, ...]:
    missing = [axis for axis in axes if axis not in tap.axes]
    if missing:
        raise LmvizError(f"{tap.address} has no axis {missing[0]!r}: its axes are {', '.join(tap.axes)}.")
    shape = read.values[tap.address].shape[1:]
    if units is not None and any(not 0 <= unit < shape[-1] for group in units for unit in group):
        raise LmvizError(f"{tap.address} has {shape[-1]} units, counted from 0: choose groups among those.")
    return (*(shape[tap.axes.index(axis)] for axis in axes), *(() if units is None else (len(units),)))


def _rows(
    model: Model, read: CachedPass, tap: Tap, axes: Sequence[str], units: Sequence[Sequence[int]] | None
) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Which cells each part of each text has, bool (row, *axes), and of which text it is, (row,): some at a
    time."""
    shape = read.values[tap.address].shape[1:]
    groups: list[slice | list[int]] = [slice(None)] if units is None else [list(group) for group in units]
    sizes = [shape[tap.axes.index(axis)] for axis in axes]
    cells = [(cell, group) for cell in np.ndindex(*sizes) for group in groups]
    fits = min(AT_ONCE // len(read), ANSWERS_AT_ONCE // (len(read) * model.outputs))
    left = itertools.product(range(len(read.lengths)), cells)
    while some := list(itertools.islice(left, max(1, fits))):
        where = torch.zeros((len(some), *shape), dtype=torch.bool)
        for row, (_, (cell, group)) in enumerate(some):
            index: list[int | slice | list[int]] = [slice(None)] * len(shape)
            for axis, at in zip(axes, cell, strict=True):
                index[tap.axes.index(axis)] = at
            if units is not None:
                index[-1] = group
            where[(row, *index)] = True
        yield where.to(read.values[tap.address].device), torch.tensor([text for text, _ in some])


def _with_band(
    changes: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray | None, np.ndarray | None]:
    """The change per token, and how far it goes when texts (example, …) are drawn anew."""
    return (changes.sum(axis=0) / weights.sum(), *band(changes, weights))


def _usual(model: Model) -> tuple[str, ...]:
    kinds = carried(model)
    for kind in ("head", "hidden", "order"):
        if kind in kinds:
            return kinds[kind]
    return next(iter(kinds.values()))
