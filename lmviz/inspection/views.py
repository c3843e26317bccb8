"""Selects what to draw of a tap: one position as a strip of cells, or the whole text as a matrix.

A view keeps for every drawn cell its index in the tap, so that the cell under the pointer can be
named, explained and changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.inspection.trace import Trace
from lmviz.inspection.traced_array import TracedArray
from lmviz.models.address import Address
from lmviz.models.largest import largest
from lmviz.models.sequences import ALONG, SOURCE, TEXT, is_along
from lmviz.models.tap import Stage, inside
from lmviz.text.pictures import SIDE

ANSWERS_SHOWN = 48
OVER_TEXT = ("position", "query")
OVER_SOURCE = ("source", "source_query")


@dataclass(frozen=True)
class View:
    """Cells of a tap: `values` (row, column), and where they come from.

    `row_axis` and `column_axis` name the axes drawn, "" for one that is not there; `rows` and
    `columns` are the indices drawn along them; `fixed` are the indices of all other axes. Where an axis is
    `folded`, so many of its columns stand in each row: the pixels of a picture.
    """

    address: str
    axes: tuple[str, ...]
    values: np.ndarray
    scale: str
    row_axis: str
    column_axis: str
    rows: tuple[int, ...]
    columns: tuple[int, ...]
    fixed: dict[str, int]
    folded: int = 0

    def index(self, row: int, column: int) -> tuple[int, ...]:
        """The index in the tap of a cell that is drawn."""
        places = dict(self.fixed)
        if self.row_axis:
            places[self.row_axis] = self.rows[row]
        if self.column_axis:
            places[self.column_axis] = self.columns[row * self.folded + column]
        return tuple(places[axis] for axis in self.axes)

    def cell(self, index: Sequence[int]) -> tuple[int, int] | None:
        """Where a cell of the tap is drawn; None when it is not among those shown.

        Nor is one of another model's tap of the same address, which may have other axes: a view stays
        drawn while the newer reading, in which a cell was pinned, is waited for.
        """
        if len(index) != len(self.axes):
            return None
        places = dict(zip(self.axes, index, strict=True))
        if any(places[axis] != value for axis, value in self.fixed.items()):
            return None
        try:
            row = self.rows.index(places[self.row_axis]) if self.row_axis else 0
            column = self.columns.index(places[self.column_axis]) if self.column_axis else 0
        except ValueError:
            return None
        return divmod(column, self.folded) if self.folded else (row, column)


def strip(trace: Trace, address: str, position: int, head: int, tokens: Sequence[int]) -> View:
    """A tap at one position (and head) as one row; along the vocabulary only `tokens` are shown.

    What has no positions, such as the class of a text, is the same at each.
    """
    traced = _traced(trace, address)
    fixed = _fixed(trace, address, position, head)
    free = [axis for axis in traced.axes if axis not in fixed]
    part = traced.at(**fixed)
    columns = tuple(tokens) if free == ["token"] else tuple(range(part.size))
    values = part.reshape(-1)[list(columns)][None, :] if free else part.reshape(1, 1)
    column_axis = free[0] if free else ""
    return View(address, traced.axes, values, traced.scale, "", column_axis, (0,), columns, fixed)


def matrix(
    trace: Trace,
    address: str,
    head: int,
    position: int,
    tokens: Sequence[int],
    order: Sequence[int] | None = None,
) -> View:
    """A tap over the whole text: units by positions; of attention a row for each word that looks; or a
    picture, row by row.

    `order` says in which order, or which, units are drawn. Along the vocabulary only `tokens` are.
    """
    traced = _traced(trace, address)
    fixed = _fixed_head(trace, address, head)
    part = traced.at(**fixed)
    free = [axis for axis in traced.axes if axis not in fixed]
    if len(free) == 2 and all(axis in ALONG for axis in free):
        rows, columns = (tuple(range(size)) for size in part.shape)
        return View(address, traced.axes, part, traced.scale, free[0], free[1], rows, columns, fixed)
    columns = tuple(range(part.shape[0]))
    if free == ["pixel"]:
        picture = part.reshape(SIDE, SIDE)
        return View(address, traced.axes, picture, traced.scale, "", "pixel", (0,), columns, fixed, SIDE)
    if len(free) == 1:
        return View(address, traced.axes, part[None, :], traced.scale, "", free[0], (0,), columns, fixed)
    rows = (
        tuple(tokens) if free[1] == "token" else tuple(order if order is not None else range(part.shape[1]))
    )
    values = part[:, list(rows)].T
    return View(address, traced.axes, values, traced.scale, free[1], free[0], rows, columns, fixed)


def likeliest_answers(trace: Trace, position: int, count: int = ANSWERS_SHOWN) -> tuple[int, ...]:
    """The ids of the likeliest answers at a position, next tokens or labels, likeliest first."""
    row = answer_at(trace, position)
    return tuple(largest(row, count).tolist())


def answer_at(trace: Trace, position: int, address: str = "probabilities") -> np.ndarray:
    """The answers at a position, (token) or (label), or their logits; of a text where it has but one."""
    found = trace[address]
    return found.at(position=position) if "position" in found.axes else found.array


def is_answer_known(trace: Trace, position: int, address: str = "probabilities") -> bool:
    """Whether `answer_at` has nothing to compute there."""
    return trace[address].is_known(position=position)


@dataclass(frozen=True)
class StagePart:
    """One line of a stage: a tap at a position, and whether the stage reads it, makes it, or neither.

    `shift` is not 0 in a recurrence for what another position has handed on: -1 for the one before, 1 for
    the one after. `is_one_of_several` is true for an operand that is read at several positions.
    """

    address: str
    position: int
    role: str  # "result", "operand" or "other"
    shift: int = 0
    is_one_of_several: bool = False


def stage_parts(trace: Trace, stage: int, position: int) -> tuple[StagePart, ...]:
    """What to show of a stage at a position: what it reads, then everything of its place in order.

    The position of a stage that runs along the source alone is a place of that.
    An operand that is read at several positions is there once for each of them that the text has.
    """
    here = trace.stages[stage]
    count = len(here.operands)
    axes = trace[here.results[0]].axes if here.results[0] in trace.arrays else ()
    is_of_source = is_along(axes, SOURCE) and not is_along(axes, TEXT)
    length = len(trace.sequences[SOURCE].tokens) if is_of_source else len(trace)
    parts = []
    for address, span, shift in zip(
        here.operands, here.spans or (1,) * count, here.shifts or (0,) * count, strict=True
    ):
        at = position + shift
        read = range(max(0, at - span + 1), at + 1) if inside(at, length) else ()
        parts += [StagePart(address, at, "operand", shift, is_one_of_several=span > 1) for at in read]
    known = {part.address for part in parts if not part.shift}
    neighbours = [address for item in _neighbours(trace, here) for address in item.results]
    for address in neighbours:
        if address in here.results:
            parts.append(StagePart(address, position, "result"))
        elif address not in known:
            parts.append(StagePart(address, position, "other"))
    order = {address: number for number, address in enumerate(neighbours)}
    # Gates keep their order, so that one sees them fill; elsewhere what the stage is about comes first.
    parts.sort(
        key=lambda part: (
            part.role == "other" and not here.by_position,
            order.get(part.address, -1),
            not part.shift,
        )
    )
    return tuple(part for part in parts if part.address in trace.arrays)


def _neighbours(trace: Trace, stage: Stage) -> list[Stage]:
    """The stages of the same place, such as one layer's gates, if there are several."""
    return [item for item in trace.stages if item.place == stage.place]


def _traced(trace: Trace, address: str) -> TracedArray:
    if address not in trace.arrays:
        raise LmvizError(f"This trace has no {address}: it was not recorded.")
    return trace[address]


def _fixed(trace: Trace, address: str, position: int, head: int) -> dict[str, int]:
    traced = trace[address]
    # what stands along the source alone is shown at the place of the same number there
    along = OVER_TEXT if any(axis in OVER_TEXT for axis in traced.axes) else OVER_SOURCE
    over_text = {
        axis: min(position, size - 1)
        for axis, size in zip(traced.axes, traced.shape, strict=True)
        if axis in along
    }
    return over_text | _fixed_head(trace, address, head)


def _fixed_head(trace: Trace, address: str, head: int) -> dict[str, int]:
    """The place of an attention head in a tap: its own, or that of the group whose keys it reads."""
    traced = trace[address]
    if "head" in traced.axes:
        return {"head": min(head, traced.shape[traced.axes.index("head")] - 1)}
    if "group" not in traced.axes:
        return {}
    groups = traced.shape[traced.axes.index("group")]
    queries = trace.arrays.get(Address.parse(address).beside("query"))
    heads = groups if queries is None else queries.shape[0]
    return {"group": min(head * groups // heads, groups - 1)}
