"""Activation patching: carry one state from one text into the other, and see how much of the measure comes.

Also called causal tracing or interchange intervention (Vig et al. 2020; Meng et al. 2022). The share is 0
where the state makes no difference and 1 where it alone brings the whole answer; it may be less or more. That
a state suffices does not say that the model needs it: others may carry the same.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from lmviz.base.arguments import words
from lmviz.base.errors import LmvizError
from lmviz.circuits.cached_pass import CachedPass, Edit
from lmviz.circuits.contrast import Contrast
from lmviz.circuits.growing import Growing
from lmviz.circuits.places import axis_of, carried, matching
from lmviz.circuits.read_contrast import ReadContrast, check_is_number, read_contrast
from lmviz.circuits.result import Numbers
from lmviz.circuits.together import AT_ONCE, read_together, texts_together
from lmviz.inspection.backpropagation import DifferentiablePass, differentiating
from lmviz.inspection.intervention import Intervention
from lmviz.inspection.scalar import in_range
from lmviz.models.float64 import in_float64
from lmviz.models.interruption import look_up, part_of_work, uncounted_work
from lmviz.models.model import Model
from lmviz.models.sequences import ALONG, TEXT
from lmviz.models.tap import Tap

INTO = ("changed", "clean")

Cell = tuple[int, ...]

SQUARES_AT_ONCE = 2**23
"""So many numbers of one square of attention are computed at once at most."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Patches(Numbers):
    """The share of the measure that comes back, for each state carried over alone; NaN if not yet measured.

    `measured` has the measure itself, in the same shape, `clean` and `changed` what it is in the two texts as
    they are. `addresses` are the taps along the first axis. `into` is the text that states were carried into.
    `estimate` is the fast estimate of the shares where it was asked for: difference × gradient, to first
    order (Nanda 2023).
    """

    measured: np.ndarray
    clean: float
    changed: float
    measure: str
    addresses: tuple[str, ...]
    into: str = "changed"
    estimate: np.ndarray | None = None

    @property
    def compared(self) -> np.ndarray:
        """Where the estimate can be right or wrong: what is alike in both texts is 0 by either."""
        if self.estimate is None:
            return np.zeros(self.array.shape, dtype=bool)
        return ~np.isnan(self.array) & ((self.array != 0) | (self.estimate != 0))

    @property
    def agreement(self) -> float:
        """Pearson's correlation of the estimate with what was measured, NaN where either is missing."""
        if self.estimate is None or self.compared.sum() < 2:
            return float("nan")
        pair = self.estimate[self.compared], self.array[self.compared]
        if min(pair[0].std(), pair[1].std()) <= 0:
            return float("nan")
        return float(np.corrcoef(*pair)[0, 1])

    @property
    def error(self) -> float:
        """By how much the estimate is wrong on average, as a share; NaN where there is none."""
        if self.estimate is None or not self.compared.any():
            return float("nan")
        return float(np.abs(self.estimate - self.array)[self.compared].mean())


def patch(
    model: Model,
    contrast: Contrast,
    taps: str | Collection[str] | None = None,
    *,
    each: Sequence[str] | None = None,
    into: str = "changed",
    estimate: bool = False,
    interventions: Sequence[Intervention] = (),
) -> Patches:
    """How much of the measure each state brings, carried over alone: a grid of shares.

    See `patching`, which gives the same while it grows.
    """
    *_, last = patching(
        model, contrast, taps, each=each, into=into, estimate=estimate, interventions=interventions
    )
    return last


def patching(
    model: Model,
    contrast: Contrast,
    taps: str | Collection[str] | None = None,
    *,
    each: Sequence[str] | None = None,
    into: str = "changed",
    estimate: bool = False,
    interventions: Sequence[Intervention] = (),
) -> Iterator[Patches]:
    """The grid of patches after each batch of cells; the last one has all.

    `taps` are patterns of addresses, by default the stream or the hidden states. `each` names the axes along
    which states are carried over one by one, beside the taps themselves: ("position",), of a tap with heads
    ("head",), or ("head", "position"). `into` is "changed" where clean states go into the changed text, which
    shows what suffices, and "clean" where it is the other way round, which shows what is needed. LmvizError
    where the texts do not line up, where the measure is the same in both, or where taps differ in shape.
    """
    question = read_contrast(model, contrast, interventions)
    chosen, axes = _asked(question.model, taps, each, into)
    clean, changed = question.passes()
    grids = _Grids.of([question], clean, changed, chosen, axes, into, estimate)
    yield grids.found(0)
    for _ in grids.growing():
        yield grids.found(0)
    yield grids.found(0)


def patch_each(
    model: Model,
    contrasts: Sequence[Contrast],
    taps: str | Collection[str] | None = None,
    *,
    each: Sequence[str] | None = None,
    into: str = "changed",
    estimate: bool = False,
    interventions: Sequence[Intervention] = (),
) -> list[Patches]:
    """The grid of each of several contrasts, in their order, texts that fit together in one batch.

    All contrasts are read and checked before the first cell is measured. The readings of one batch of texts
    are in memory: see `texts_together`. LmvizError as of `patching`.
    """
    questions = [read_contrast(model, contrast, interventions) for contrast in contrasts]
    if not questions:
        return []
    chosen, axes = _asked(questions[0].model, taps, each, into)
    with uncounted_work():
        first = questions[0].passes()[0]
    cells = int(np.prod([_size(questions[0], first, chosen[0], axis) for axis in axes]))
    asked = [(question.clean, question.span) for question in questions]
    batches = list(texts_together(questions[0].model, asked, first, cells))
    found: dict[int, Patches] = {}
    for number, batch in enumerate(batches):
        with part_of_work(number, len(batches)):
            some = [questions[place] for place in batch]
            grids = _Grids.of(some, *_passes(some), chosen, axes, into, estimate)
            for _ in grids.growing():
                pass
        found |= {place: grids.found(text) for text, place in enumerate(batch)}
    return [found[number] for number in range(len(questions))]


def _asked(
    model: Model, taps: str | Collection[str] | None, each: Sequence[str] | None, into: str
) -> tuple[Sequence[Tap], tuple[str, ...]]:
    """The taps whose states are carried over, and the axes along which they go one by one; LmvizError."""
    if into not in INTO:
        raise LmvizError(f"States are carried into 'changed' or 'clean', and not into {into!r}.")
    chosen = matching(model, taps if taps is not None else _usual(model))
    axes = words("axis", each, "position") if each is not None else usual_axes(chosen[0])
    _check_axes(chosen, axes)
    return chosen, axes


def _passes(questions: Sequence[ReadContrast]) -> tuple[CachedPass, CachedPass]:
    """Both readings of some questions, computed; LmvizError where one is no pair."""
    if len(questions) == 1:
        return questions[0].passes()
    model = questions[0].model
    changed = [(question.check_is_pair(), question.span) for question in questions]
    clean = [(question.clean, question.span) for question in questions]
    return read_together(model, clean), read_together(model, changed)


@dataclass(frozen=True, eq=False)
class _Grid:
    """What is measured of one question: `measured` (tap, *sizes), NaN where it is not known yet.

    `numbers` is the measure in the text and in the changed one, `start` in the text that states are carried
    into, and `end` in the other. `share` is the estimate of the shares.
    """

    question: ReadContrast
    numbers: tuple[float, float]
    start: float
    end: float
    measured: np.ndarray
    share: np.ndarray | None


@dataclass(frozen=True, eq=False)
class _Grids:
    """The grids of questions that are read side by side; `other` is where the states come from."""

    grids: Sequence[_Grid]
    base: CachedPass
    other: CachedPass
    chosen: Sequence[Tap]
    axes: tuple[str, ...]
    into: str

    @classmethod
    def of(
        cls,
        questions: Sequence[ReadContrast],
        clean: CachedPass,
        changed: CachedPass,
        chosen: Sequence[Tap],
        axes: tuple[str, ...],
        into: str,
        estimate: bool,
    ) -> _Grids:
        """Grids of which nothing is measured yet; LmvizError where there is nothing to bring back."""
        base, other = (changed, clean) if into == "changed" else (clean, changed)
        scalars = [question.scalar for question in questions]
        grids = []
        for question, *numbers in zip(
            questions, clean.measures(scalars), changed.measures(scalars), strict=True
        ):
            start, end = reversed(numbers) if into == "changed" else numbers
            check_is_number(question.model, question.scalar.name, *numbers)
            if start == end:
                raise LmvizError(
                    f"{question.scalar.name} is {numbers[0]:.4g} in the text and {numbers[1]:.4g} in the "
                    "other, so there is no difference to bring back: choose another number, or change "
                    "another place."
                )
            sizes = tuple(_size(question, base, chosen[0], axis) for axis in axes)
            if any(tuple(_size(question, base, tap, axis) for axis in axes) != sizes for tap in chosen):
                raise LmvizError(
                    "These taps differ in how many cells they have: ask about one kind at a time."
                )
            share = None
            if estimate:
                one, two = question.passes() if len(questions) > 1 else (clean, changed)
                ends = (two, one) if into == "changed" else (one, two)
                share = _estimated(question, *ends, chosen, axes, sizes)
            if share is not None:
                share /= end - start
            measured = np.full((len(chosen), *sizes), np.nan)
            grids.append(_Grid(question, (numbers[0], numbers[1]), start, end, measured, share))
        return cls(grids, base, other, chosen, axes, into)

    def growing(self) -> Iterator[None]:
        """Measure everything; something more is known after each batch of cells."""
        for number, tap in enumerate(self.chosen):
            cells = []
            for text, grid in enumerate(self.grids):
                own = self._differing(tap, text)
                grid.measured[number] = grid.start  # where both are alike, and behind the measure
                for cell in own:
                    grid.measured[(number, *cell)] = np.nan
                cells += [(text, cell) for cell in own]
            for some in _batches(self.base, cells):
                look_up(number / len(self.chosen))
                with part_of_work(number, len(self.chosen)):
                    rows = self._carried_over(tap, some)
                for (text, cell), carried_over in zip(some, rows, strict=True):
                    self.grids[text].measured[(number, *cell)] = carried_over
                yield

    def found(self, text: int) -> Patches:
        """What is known of one question."""
        grid = self.grids[text]
        leading, labels = axis_of([tap.address for tap in self.chosen])
        return Patches(
            array=(grid.measured - grid.start) / (grid.end - grid.start),
            axes=(leading, *self.axes),
            names=({leading: labels} if labels else {})
            | {axis: tokens_along(grid.question, axis) for axis in self.axes if axis in ALONG},
            measured=grid.measured.copy(),
            clean=grid.numbers[0],
            changed=grid.numbers[1],
            measure=grid.question.scalar.name,
            addresses=tuple(tap.address for tap in self.chosen),
            into=self.into,
            estimate=grid.share,
        )

    def _differing(self, tap: Tap, text: int) -> list[Cell]:
        """The cells that are not the same in both readings of a text."""
        base, other = (read.of_text(text, [tap.address])[tap.address] for read in (self.base, self.other))
        differs = (base != other)[0]
        for place in reversed(range(len(tap.axes))):
            if tap.axes[place] not in self.axes:
                differs = differs.any(dim=place)
        kept = [axis for axis in tap.axes if axis in self.axes]
        ordered = differs.permute([kept.index(axis) for axis in self.axes]) if self.axes else differs
        return [tuple(cell) for cell in ordered.nonzero().tolist()]

    def _carried_over(self, tap: Tap, cells: Sequence[tuple[int, Cell]]) -> np.ndarray:
        """The measure with each of some cells of texts carried over, a row of a batch for each, (row,)."""
        shape = self.base.values[tap.address].shape[1:]
        where = torch.zeros((len(cells), *shape), dtype=torch.bool)
        for row, (_, cell) in enumerate(cells):
            index = dict(zip(self.axes, cell, strict=True))
            where[(row, *(index.get(axis, slice(None)) for axis in tap.axes))] = True
        values, texts = self.other.values[tap.address], torch.tensor([text for text, _ in cells])
        if values.shape[0] > 1:
            values = values[texts.to(values.device)]
        edit = Edit(where.to(values.device), values)
        scalars = [grid.question.scalar for grid in self.grids]
        found: np.ndarray = self.base.measured_by_row(
            {tap.address: edit}, scalars, texts, self._first(tap, cells)
        ).numpy()
        return found

    def _first(self, tap: Tap, cells: Sequence[tuple[int, Cell]]) -> int:
        """The first position of the text at which something is carried over."""
        if not any(ALONG.get(axis) == TEXT for axis in tap.axes):
            return 0
        first = min(self.grids[text].question.first for text, _ in cells)
        if "position" in self.axes and "position" in tap.axes:
            first = max(first, min(cell[self.axes.index("position")] for _, cell in cells))
        return first


class GrowingPatches(Growing[Patches]):
    """A grid of patches that a window has made bit by bit.

    `kinds` are the kinds of states that the model has, and `kind` the one that is carried over: the one that
    was asked for, if there is such a kind. LmvizError as of `patching`.
    """

    def __init__(
        self,
        model: Model,
        contrast: Contrast,
        kind: str = "",
        *,
        into: str = "changed",
        interventions: Sequence[Intervention] = (),
    ) -> None:
        known = carried(model)
        self.kinds = tuple(known)
        self.kind = kind if kind in known else self.kinds[0]
        super().__init__(
            model,
            lambda model: patching(
                model, contrast, known[self.kind], into=into, estimate=True, interventions=interventions
            ),
        )


def where_it_sits(patches: Patches) -> tuple[int, int, int, int] | None:
    """At which position what matters sits in the lower layers, and at which in the upper ones.

    (position, last row at which it is there, position, first row from which it stays there), rows being those
    of the grid; None where the grid is not by position or nothing moves.
    """
    if patches.axes[1:] not in (("position",), ("source",)) or np.isnan(patches.array).any():
        return None
    strongest = patches.array.argmax(axis=1)
    low, high = int(strongest[0]), int(strongest[-1])
    if low == high:
        return None
    leaves = int(np.flatnonzero(strongest != low)[0]) - 1
    arrives = int(np.flatnonzero(strongest != high)[-1]) + 1
    return low, leaves, high, arrives


def _batches(base: CachedPass, cells: Sequence[tuple[int, Cell]]) -> Iterator[list[tuple[int, Cell]]]:
    """Cells of texts in as many rows as are computed at once."""
    heads = max((value.shape[1] for value in base.values.values() if value.ndim == 4), default=1)
    rows = max(1, min(AT_ONCE // len(base), SQUARES_AT_ONCE // (heads * len(base) ** 2)))
    left = iter(cells)
    while some := list(itertools.islice(left, rows)):
        yield some


@uncounted_work()
def _estimated(
    question: ReadContrast,
    base: CachedPass,
    other: CachedPass,
    taps: Sequence[Tap],
    axes: tuple[str, ...],
    sizes: tuple[int, ...],
) -> np.ndarray | None:
    """By how much each cell would change the measure to first order; None for a model that counts."""
    if next(question.model.parameters(), None) is None:
        return None
    reading = question.changed if base.reading is question.changed else question.clean
    assert reading is not None
    addresses = [tap.address for tap in taps]
    with differentiating():
        swept = DifferentiablePass(question.model, reading, kept=addresses)
        scalar = in_range(question.scalar, swept.values, reading.interventions)
        number = scalar.numbers(swept.values)[0]
        gradients = swept.back_to_some(number, addresses)
    found = np.zeros((len(taps), *sizes))
    for row, tap in enumerate(taps):
        slopes = gradients[tap.address]
        for place, axis in enumerate(tap.axes, start=1):
            slopes = (
                slopes.narrow(place, 0, base.values[tap.address].shape[place]) if axis in ALONG else slopes
            )
        products = in_float64(other.values[tap.address] - base.values[tap.address]) * in_float64(slopes)
        others = [place for place, axis in enumerate(tap.axes) if axis not in axes]
        summed = products[0].sum(dim=others) if others else products[0]
        kept = [axis for axis in tap.axes if axis in axes]
        ordered = summed.permute([kept.index(axis) for axis in axes]).cpu().numpy()
        found[row] = np.pad(
            ordered, [(0, size - there) for size, there in zip(sizes, ordered.shape, strict=True)]
        )
    return found


def usual_axes(tap: Tap) -> tuple[str, ...]:
    """Along what a tap's states are carried over one by one: its heads, or the positions of a sequence."""
    if "head" in tap.axes:
        return ("head",)
    return tuple(axis for axis in tap.axes if axis in ALONG)[:1]


def _usual(model: Model) -> tuple[str, ...]:
    return next(iter(carried(model).values()))


def _check_axes(taps: Sequence[Tap], axes: tuple[str, ...]) -> None:
    for tap in taps:
        missing = [axis for axis in axes if axis not in tap.axes]
        if missing:
            raise LmvizError(
                f"{tap.address} has no axis {missing[0]!r}: its axes are {', '.join(tap.axes)}, so ask about "
                "it alone or with others of its kind."
            )


def _size(question: ReadContrast, base: CachedPass, tap: Tap, axis: str) -> int:
    """How many places a tap has along an axis; positions behind the measure are counted too."""
    if ALONG.get(axis) == TEXT:
        return len(question.clean.ids)
    return base.values[tap.address].shape[1 + tap.axes.index(axis)]


def tokens_along(question: ReadContrast, axis: str) -> tuple[str, ...]:
    """The tokens of the sequence that an axis runs along; where the texts differ, both."""
    name = ALONG[axis]
    clean, changed = question.clean, question.changed
    if name == TEXT:
        one, other = clean.prefix.tokens, None if changed is None else changed.prefix.tokens
    else:
        one = clean.beside[name].tokens
        other = None if changed is None else changed.beside[name].tokens
    if other is None:
        return one
    return tuple(a if a == b else f"{a}/{b}" for a, b in zip(one, other, strict=True))
