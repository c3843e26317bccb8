"""Applies interventions to tensors while the explicit path computes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from lmviz.base.errors import LmvizError
from lmviz.inspection.indices import from_start
from lmviz.inspection.intervention import Intervention, Where
from lmviz.inspection.names import POSITIONAL
from lmviz.models.sequences import ALONG


@dataclass(frozen=True)
class Selection:
    """The indices of one axis that an intervention means.

    `indices` are those that there are, `ranks` their places among all that were stated, of which there
    are `stated`. `single` is true where a single index was given, so that values lack this axis.
    """

    indices: np.ndarray
    ranks: np.ndarray
    stated: int
    single: bool


def select(intervention: Intervention, axis: str, size: int) -> Selection:
    """What an intervention means on an axis of a size; LmvizError for a unit or head that there is not.

    Positions that there are not are left out: see `check_positions`.
    """
    place = intervention.where.get(axis, slice(None))
    if axis not in POSITIONAL:
        _check_place(axis, place, size)
    if isinstance(place, slice):
        indices = np.arange(*place.indices(size))
        return Selection(indices, np.arange(len(indices)), len(indices), single=False)
    places = place if isinstance(place, tuple) else (place,)
    stated = np.array([min(max(index, -size - 1), size) for index in places], dtype=np.int64)
    indices = np.where(stated < 0, stated + size, stated)
    there = (indices >= 0) & (indices < size)
    return Selection(indices[there], np.flatnonzero(there), len(stated), isinstance(place, int))


def check_positions(interventions: Iterable[Intervention], positions: Mapping[str, int]) -> None:
    """LmvizError where an intervention requires a position that a sequence of so many has not."""
    for intervention in interventions:
        for axis in sorted(POSITIONAL & set(intervention.where)):
            if intervention.enabled and intervention.required and ALONG[axis] in positions:
                _check_place(axis, intervention.where[axis], positions[ALONG[axis]])


def _check_place(axis: str, place: Where, size: int) -> None:
    if isinstance(place, slice):
        if size and not len(range(*place.indices(size))):
            raise LmvizError(f"There is no {axis} from {place.start} to {place.stop}: there are {size}.")
    else:
        for index in place if isinstance(place, tuple) else (place,):
            from_start(axis, index, size)


def changed(
    intervention: Intervention,
    axes: Sequence[str],
    value: torch.Tensor,
    *,
    operand: torch.Tensor | None = None,
    step: tuple[int, int] | None = None,
    note: Callable[[Intervention], None] = lambda intervention: None,
) -> torch.Tensor:
    """A tap's value (batch, *axes) after an intervention; the given array is not modified.

    `operand` is what "bypass" puts in its place. `step` is (position, positions) inside a scan, where the
    value lacks its first axis, the position. Where the intervention's value is a function, `note` hears of
    the same intervention with the numbers that it gave, for each row of the batch. LmvizError when the
    intervention does not fit the axes, or when NaN comes of it.
    """
    if callable(intervention.value):
        rows = [value[row : row + 1] for row in range(len(value))]
        return torch.cat([_by_function(intervention, axes, row, step, note) for row in rows])
    selections, whole = _selected(intervention, axes, value, step)
    if not all(len(selection.indices) for selection in selections):
        return value
    if not intervention.required and _is_of_another_length(intervention, axes, selections):
        return value
    region: tuple[slice | torch.Tensor, ...] = (slice(None), *_grid(selections))
    if operand is not None:
        operand = (operand if step is None else operand[:, None])[region]
    new = _new(intervention, whole[region], selections, operand)
    if new.is_floating_point() and (new.isnan() & ~whole[region].isnan()).any():
        raise LmvizError(
            f"{intervention.describe()} makes values that are not numbers (NaN): choose another value."
        )
    whole = whole.clone()
    whole[region] = new
    return whole if step is None else whole[:, 0]


def _selected(
    intervention: Intervention, axes: Sequence[str], value: torch.Tensor, step: tuple[int, int] | None
) -> tuple[list[Selection], torch.Tensor]:
    """The selection on each axis, and the value (batch, *axes) with the position axis that a scan lacks."""
    unknown = set(intervention.where) - set(axes)
    if unknown:
        known = ", ".join(axes)
        raise LmvizError(f"{intervention.address} has no axis {min(unknown)!r}: its axes are {known}.")
    sizes = value.shape[1:] if step is None else (step[1], *value.shape[1:])
    selections = [select(intervention, axis, size) for axis, size in zip(axes, sizes, strict=True)]
    if step is None:
        return selections, value
    return [_only(selections[0], step[0]), *selections[1:]], value[:, None]


def _is_of_another_length(
    intervention: Intervention, axes: Sequence[str], selections: Sequence[Selection]
) -> bool:
    """Whether the value states a number for every position, and there are more positions or fewer."""
    kept = [(axis, chosen) for axis, chosen in zip(axes, selections, strict=True) if not chosen.single]
    shape = np.asarray(intervention.value).shape
    return any(
        axis in POSITIONAL
        and intervention.where.get(axis, slice(None)) == slice(None)
        and length not in (1, chosen.stated)
        for length, (axis, chosen) in zip(shape[::-1], kept[::-1], strict=False)
    )


def _grid(selections: Sequence[Selection]) -> tuple[torch.Tensor, ...]:
    """The index of the cells that are selected, (*selections) for each axis."""
    return torch.meshgrid([torch.from_numpy(chosen.indices) for chosen in selections], indexing="ij")


def _by_function(
    intervention: Intervention,
    axes: Sequence[str],
    row: torch.Tensor,
    step: tuple[int, int] | None,
    note: Callable[[Intervention], None],
) -> torch.Tensor:
    """A batch of one after an intervention whose value is a function."""
    assert callable(intervention.value)
    selections, whole = _selected(intervention, axes, row, step)
    if not all(len(selection.indices) for selection in selections):
        return row
    cells = whole[0][_grid(selections)].detach().cpu()
    given = (cells.float() if cells.is_floating_point() else cells).numpy().copy()
    given = given.squeeze(tuple(axis for axis, chosen in enumerate(selections) if chosen.single))
    computed = intervention.value(given.copy())
    try:
        numbers = np.broadcast_to(np.asarray(computed, dtype=np.float64), given.shape)
    except (TypeError, ValueError):
        raise LmvizError(
            f"The function of {intervention.address} gave {type(computed).__name__} of shape "
            f"{np.shape(computed)}, which does not fit the cells of shape {given.shape} that it was given."
        ) from None
    where: dict[str, Where] = dict(intervention.where)
    for axis, chosen in zip(axes, selections, strict=True):
        if not chosen.single and (axis in where or (step is not None and axis == axes[0])):
            at = chosen.indices if step is None or axis != axes[0] else [step[0]]
            where[axis] = tuple(map(int, at))
    stated = dataclasses.replace(intervention, value=numbers.tolist(), where=where)
    note(stated)
    return changed(stated, axes, row, step=step)


def joined(stated: Sequence[Intervention], axis: str, size: int) -> Intervention:
    """Interventions that were stated for one index of an axis after the other, as one for all of them."""
    if len(stated) == 1:
        return stated[0]
    stated = sorted(stated, key=lambda item: _listed(item.where[axis]))  # a scan may go from the end
    first = stated[0]
    places = tuple(place for item in stated for place in _listed(item.where[axis]))
    where = {name: place for name, place in first.where.items() if name != axis}
    if places != tuple(range(size)):
        where[axis] = places
    numbers = np.concatenate([np.asarray(item.value) for item in stated])
    return dataclasses.replace(first, value=numbers.tolist(), where=where)


def _listed(place: Where) -> tuple[int, ...]:
    """The indices of a place that names them one by one, as every stated place does."""
    assert isinstance(place, tuple)
    return place


def amount_at(
    intervention: Intervention, axes: Sequence[str], sizes: Sequence[int], index: Sequence[int]
) -> float | None:
    """The intervention's value for one cell of an array (*sizes); None where it leaves the cell alone."""
    ranks = []
    selections = [select(intervention, axis, size) for axis, size in zip(axes, sizes, strict=True)]
    if not intervention.required and _is_of_another_length(intervention, axes, selections):
        return None
    for selection, place in zip(selections, index, strict=True):
        found = np.flatnonzero(selection.indices == place)
        if not len(found):
            return None
        ranks.append(0 if selection.single else int(found[-1]))
    amounts = _amount(intervention, selections)
    return float(amounts[tuple(min(rank, size - 1) for rank, size in zip(ranks, amounts.shape, strict=True))])


def is_changed_at(
    interventions: Collection[Intervention],
    address: str,
    axes: Sequence[str],
    sizes: Sequence[int],
    places: Mapping[str, int],
) -> bool:
    """Whether interventions change a cell of an array (*sizes) at some places along some of its axes."""
    for intervention in interventions:
        if not intervention.enabled or not intervention.concerns(address):
            continue
        selections = [select(intervention, axis, size) for axis, size in zip(axes, sizes, strict=True)]
        is_left = not intervention.required and _is_of_another_length(intervention, axes, selections)
        meant = zip(axes, selections, strict=True)
        if not is_left and all(axis not in places or places[axis] in at.indices for axis, at in meant):
            return True
    return False


def changed_tokens(
    ids: np.ndarray, interventions: Collection[Intervention], vocabulary_size: int
) -> np.ndarray:
    """The token ids (position,) after the interventions that concern them."""
    for intervention in interventions:
        if not intervention.concerns_tokens:
            continue
        if intervention.kind == "swap":
            places = select(intervention, "position", len(ids)).indices
            if len(places) == 2:
                ids = ids.copy()
                ids[places] = ids[places[::-1]]
        else:
            ids = changed(intervention, ("position",), torch.from_numpy(ids)[None])[0].numpy()
    if ((ids < 0) | (ids >= vocabulary_size)).any():
        raise LmvizError("A token can only be replaced by another id of the model's vocabulary.")
    return ids


def _only(selection: Selection, position: int) -> Selection:
    """The selection within the one position that a scan computes; there its index is 0."""
    ranks = selection.ranks[selection.indices == position]
    return Selection(np.zeros(len(ranks), dtype=np.int64), ranks, selection.stated, selection.single)


def _new(
    intervention: Intervention,
    region: torch.Tensor,
    selections: Sequence[Selection],
    operand: torch.Tensor | None,
) -> torch.Tensor:
    """The new values of a region (batch, *selections)."""
    if intervention.kind == "bypass":
        if operand is None:
            raise LmvizError(f"{intervention.address} cannot be switched off: no input has its shape.")
        return operand
    amount = _amount(intervention, selections).to(region)
    if intervention.kind == "scale":
        return region * amount
    return region + amount if intervention.kind == "add" else amount.expand_as(region)


def _amount(intervention: Intervention, selections: Sequence[Selection]) -> torch.Tensor:
    """The intervention's value, to be broadcast over a region (*selections)."""
    amount = np.asarray(intervention.value, dtype=np.float64)
    kept = [selection for selection in selections if not selection.single]
    fits = amount.ndim <= len(kept) and all(
        length in (1, selection.stated)
        for length, selection in zip(amount.shape[::-1], kept[::-1], strict=False)
    )
    if not fits:
        wanted = " × ".join(str(selection.stated) for selection in kept) or "a single number"
        raise LmvizError(f"{intervention.address} takes {wanted}, but the value has shape {amount.shape}.")
    amount = amount.reshape((1,) * (len(kept) - amount.ndim) + amount.shape)
    for axis, selection in enumerate(kept):
        if amount.shape[axis] > 1:
            amount = amount.take(selection.ranks, axis=axis)
    shape = iter(amount.shape)
    return torch.from_numpy(amount.reshape([1 if chosen.single else next(shape) for chosen in selections]))
