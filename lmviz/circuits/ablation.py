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
from lmviz.circuits.cached_pass import CachedPass, Edit
from lmviz.circuits.contrast import Contrast
from lmviz.circuits.patching import AT_ONCE
from lmviz.circuits.places import axis_of, carried, matching
from lmviz.circuits.read_contrast import read_contrast
from lmviz.circuits.result import Numbers
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

RESAMPLES, BAND = 2000, (2.5, 97.5)
"""How often stretches are drawn anew for the band, and the percentiles that it goes between."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Ablation(Numbers):
    """By how much the measure changes without each part: with it less than without it where that is positive.

    `intact` is the measure of the whole model, a mean over what was asked about; of a text it is the loss in
    nats per token, over `tokens` of them. `low` and `high` hold the change in 95 of 100 samples of texts
    drawn anew from these (bootstrap; Efron 1979); None where there is one text alone. `addresses` are the
    taps along the first axis.
    """

    intact: float
    measure: str
    by: str
    tokens: int
    addresses: tuple[str, ...]
    low: np.ndarray | None = None
    high: np.ndarray | None = None


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
    axes = words("axis", each, "unit") if each is not None else ("head",) if "head" in chosen[0].axes else ()
    axes = tuple(axis for axis in axes if axis != "unit") if groups is not None else axes
    passes = [CachedPass(model, one.reading, one.span) for one in examples]
    means = (
        _means(passes if over is None else [_text(model, ids) for ids in over], chosen)
        if by == "mean"
        else {}
    )
    leading, labels = axis_of([tap.address for tap in chosen])
    sizes = [_sizes(passes[0], tap, axes, groups) for tap in chosen]
    if any(size != sizes[0] for size in sizes):
        raise LmvizError("These parts differ in how many cells they have: ask about one kind at a time.")
    shape = (len(chosen), *sizes[0])
    changes = np.zeros((len(examples), *shape))
    intact = np.array([read.measure(one.scalar) for read, one in zip(passes, examples, strict=True)])
    for number, (read, one) in enumerate(zip(passes, examples, strict=True)):
        for row, tap in enumerate(chosen):
            with part_of_work(number * len(chosen) + row, len(examples) * len(chosen)):
                look_up(0.0)
                values = _lower(read, tap) if by == "lower" else means.get(tap.address, torch.zeros(()))
                found = [
                    read.measured_with(
                        {tap.address: Edit(where, values.expand(1, *where.shape[1:]))}, one.scalar
                    )
                    for where in _rows(model, read, tap, axes, groups)
                ]
            changes[number, row] = torch.cat(found).numpy().reshape(sizes[0]) - intact[number]
    if not np.isfinite(changes).all():
        address = chosen[int(np.argwhere(~np.isfinite(changes))[0][1])].address
        raise LmvizError(
            f"Without {address} there is no {examples[0].scalar.name}, so no change can be measured: choose "
            "another part."
        )
    weights = np.array([one.weight for one in examples], dtype=np.float64)
    change, low, high = _with_band(changes, weights)
    names = {leading: labels} if labels else {}
    if groups is not None:
        names["group"] = tuple(",".join(map(str, group)) for group in groups)
    return Ablation(
        array=change,
        axes=(leading, *axes, *(("group",) if groups is not None else ())),
        names=names,
        intact=float(intact.sum() / weights.sum()),
        measure=measure,
        by=by,
        tokens=int(weights.sum()),
        addresses=tuple(tap.address for tap in chosen),
        low=low,
        high=high,
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


def _means(passes: Sequence[CachedPass], taps: Sequence[Tap]) -> dict[str, torch.Tensor]:
    """The mean of each tap over all positions of all texts, (1, *axes) with one place along each sequence."""
    found = {}
    for tap in taps:
        along = [place for place, axis in enumerate(tap.axes, start=1) if axis in ALONG]
        sums = [
            in_float64(read.values[tap.address]).sum(dim=along, keepdim=True)
            if along
            else in_float64(read.values[tap.address])
            for read in passes
        ]
        counts = [int(np.prod([read.values[tap.address].shape[place] for place in along])) for read in passes]
        found[tap.address] = torch.stack(sums).sum(dim=0) / sum(counts)
    return found


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
) -> Iterator[torch.Tensor]:
    """Which cells each part has, bool (row, *axes), some parts at a time."""
    shape = read.values[tap.address].shape[1:]
    groups: list[slice | list[int]] = [slice(None)] if units is None else [list(group) for group in units]
    sizes = [shape[tap.axes.index(axis)] for axis in axes]
    cells = [(cell, group) for cell in np.ndindex(*sizes) for group in groups]
    fits = min(AT_ONCE // len(read), ANSWERS_AT_ONCE // (len(read) * model.outputs))
    left = iter(cells)
    while some := list(itertools.islice(left, max(1, fits))):
        where = torch.zeros((len(some), *shape), dtype=torch.bool)
        for row, (cell, group) in enumerate(some):
            index: list[int | slice | list[int]] = [slice(None)] * len(shape)
            for axis, at in zip(axes, cell, strict=True):
                index[tap.axes.index(axis)] = at
            if units is not None:
                index[-1] = group
            where[(row, *index)] = True
        yield where.to(read.values[tap.address].device)


def _with_band(
    changes: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray | None, np.ndarray | None]:
    """The change per token, and how far it goes when texts (example, …) are drawn anew."""
    mean = changes.sum(axis=0) / weights.sum()
    if len(changes) < 2:
        return mean, None, None
    drawn = np.random.default_rng(0).integers(len(changes), size=(RESAMPLES, len(changes)))
    counts = np.zeros((RESAMPLES, len(changes)))
    np.add.at(counts, (np.arange(RESAMPLES)[:, None], drawn), 1.0)
    resampled = np.tensordot(counts, changes, axes=1) / (counts @ weights).reshape(-1, *([1] * mean.ndim))
    low, high = np.percentile(resampled, BAND, axis=0)
    return mean, low, high


def _usual(model: Model) -> tuple[str, ...]:
    kinds = carried(model)
    for kind in ("head", "hidden", "order"):
        if kind in kinds:
            return kinds[kind]
    return next(iter(kinds.values()))
