"""Interventions carried out on tensors, on their way through the explicit path."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from lmviz.errors import LmvizError
from lmviz.inspection.intervention import Intervention
from lmviz.inspection.names import POSITIONAL


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
    """What an intervention means on an axis of a size; LmvizError for a unit or head that there is not."""
    place = intervention.where.get(axis, slice(None))
    if isinstance(place, slice):
        indices = np.arange(*place.indices(size))
        return Selection(indices, np.arange(len(indices)), len(indices), single=False)
    stated = np.atleast_1d(np.array(place, dtype=np.int64))
    indices = np.where(stated < 0, stated + size, stated)
    there = (indices >= 0) & (indices < size)
    if not there.all() and axis not in POSITIONAL:
        raise LmvizError(f"There is no {axis} {stated[~there][0]}: there are {size}, counted from 0.")
    return Selection(indices[there], np.flatnonzero(there), len(stated), isinstance(place, int))


def changed(
    intervention: Intervention,
    axes: Sequence[str],
    value: torch.Tensor,
    *,
    operand: torch.Tensor | None = None,
    step: tuple[int, int] | None = None,
) -> torch.Tensor:
    """A tap's value (batch, *axes) after an intervention; the value that was given stays as it is.

    `operand` is what "bypass" puts in its place. `step` is (position, positions) inside a scan, where the
    value lacks its first axis, the position. LmvizError when the intervention does not fit the axes.
    """
    unknown = set(intervention.where) - set(axes)
    if unknown:
        known = ", ".join(axes)
        raise LmvizError(f"{intervention.address} has no axis {min(unknown)!r}: its axes are {known}.")
    sizes = value.shape[1:] if step is None else (step[1], *value.shape[1:])
    selections = [select(intervention, axis, size) for axis, size in zip(axes, sizes, strict=True)]
    if step is not None:
        selections[0] = _only(selections[0], step[0])
        value = value[:, None]
        operand = None if operand is None else operand[:, None]
    if all(len(selection.indices) for selection in selections):
        grid = torch.meshgrid([torch.from_numpy(chosen.indices) for chosen in selections], indexing="ij")
        region = (slice(None), *grid)
        new = _computed(intervention, value[region], selections, None if operand is None else operand[region])
        value = value.clone()
        value[region] = new
    return value if step is None else value[:, 0]


def amount_at(
    intervention: Intervention, axes: Sequence[str], sizes: Sequence[int], index: Sequence[int]
) -> float | None:
    """The intervention's value for one cell of an array (*sizes); None where it leaves the cell alone."""
    ranks = []
    selections = [select(intervention, axis, size) for axis, size in zip(axes, sizes, strict=True)]
    for selection, place in zip(selections, index, strict=True):
        found = np.flatnonzero(selection.indices == place)
        if not len(found):
            return None
        ranks.append(0 if selection.single else int(found[-1]))
    amounts = _amount(intervention, selections)
    return float(amounts[tuple(min(rank, size - 1) for rank, size in zip(ranks, amounts.shape, strict=True))])


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
    """The selection of the one position that is at hand in a scan; there its index is 0."""
    ranks = selection.ranks[selection.indices == position]
    return Selection(np.zeros(len(ranks), dtype=np.int64), ranks, selection.stated, selection.single)


def _computed(
    intervention: Intervention,
    region: torch.Tensor,
    selections: Sequence[Selection],
    operand: torch.Tensor | None,
) -> torch.Tensor:
    """The new values of a region (batch, *selections)."""
    if intervention.kind == "bypass":
        if operand is None:
            raise LmvizError(f"{intervention.address} cannot be switched off: nothing of its shape goes in.")
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
