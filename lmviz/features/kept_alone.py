"""What some features and errors keep of a measure when all others are taken out, in runs of the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import torch

from lmviz.circuits.cached_pass import CachedPass, Edit
from lmviz.circuits.together import AT_ONCE
from lmviz.features.graph import FeatureNode, KeptAlone
from lmviz.features.state_parts import StateParts
from lmviz.models.interruption import look_up

if TYPE_CHECKING:
    from lmviz.features.coding import Coding
    from lmviz.inspection.scalar import Scalar

SIZES = 20
"""For about so many numbers of nodes it is measured how much they keep."""

CELLS = 20_000_000
"""So many activations are held at once."""


@dataclass(frozen=True, eq=False)
class KeepingEdit(Edit):
    """Of each state only some features and errors; all others are as they are in `values` and `errors`.

    `where` (row, position, feature) says which features stay as the run gives them, `error_where` (row,
    position, 1) which errors do. `noted` holds what a transcoder reads, once it is computed in the run.
    """

    coding: Coding
    errors: torch.Tensor
    error_where: torch.Tensor
    noted: dict[str, torch.Tensor] | None = None

    def made(self, value: torch.Tensor) -> torch.Tensor:
        states = value.float()
        read = states if self.noted is None else self.noted["read"][:, -states.shape[1] :].float()
        on = self.coding.encoded(read)
        written = self.coding.decoded(on)
        if self.coding.skip is not None:
            written = written + read @ self.coding.skip.T
        moved = (torch.where(self.where, on, self.values) - on) @ self.coding.decoder
        error = states - written
        moved = moved + torch.where(self.error_where, error, self.errors) - error
        return (states + moved).to(value)

    def step(self, position: int) -> KeepingEdit:
        return replace(
            self,
            where=self.where[:, position],
            values=self.values[:, position],
            errors=self.errors[:, position],
            error_where=self.error_where[:, position],
        )

    def part(self, axis: int, first: int, count: int) -> KeepingEdit:
        return replace(
            self,
            where=self.where.narrow(axis, first, count),
            values=self.values.narrow(axis, first, count),
            errors=self.errors.narrow(axis, first, count),
            error_where=self.error_where.narrow(axis, first, count),
        )


@dataclass(frozen=True, eq=False)
class NotingEdit(Edit):
    """Changes nothing, or what another edit does, and notes what a transcoder reads."""

    noted: dict[str, torch.Tensor] = field(default_factory=dict)
    before: Edit | None = None

    def made(self, value: torch.Tensor) -> torch.Tensor:
        made = value if self.before is None else self.before.made(value)
        self.noted["read"] = made
        return made

    def part(self, axis: int, first: int, count: int) -> NotingEdit:
        before = None if self.before is None else self.before.part(axis, first, count)
        return replace(self, where=self.where.narrow(axis, first, count), before=before)


def kept_alone(
    read: CachedPass,
    scalar: Scalar,
    parts: Sequence[StateParts],
    nodes: Sequence[FeatureNode],
    other: Sequence[StateParts] | None = None,
) -> KeptAlone:
    """The measure with the first nodes alone, for some numbers of them.

    The model is run: features that are kept have the activations that the run gives them. All others are off,
    and errors 0, or as in the `other` text. Words stay, and so does the first state of a text.
    """
    sizes = sorted({len(nodes), *np.geomspace(1, max(len(nodes), 1), SIZES).astype(int).tolist()} - {0})
    asked = [0, *sizes]
    largest = max(part.activations.size for part in parts)
    rows = max(1, min(AT_ONCE // max(len(read), 1), CELLS // max(largest, 1)))
    found: list[float] = []
    for first in range(0, len(asked), rows):
        look_up()
        edits = _edits(read, parts, _kept(parts, nodes, asked[first : first + rows]), other)
        found += read.measured_with(edits, scalar).tolist()
    rest = "off" if other is None else "changed"
    return KeptAlone(tuple(sizes), np.array(found[1:]), read.measure(scalar), found[0], rest)


def measured_with_taken(
    read: CachedPass, scalar: Scalar, parts: Sequence[StateParts], other: Sequence[StateParts]
) -> tuple[float, float]:
    """The measure with all features as in another text, and then with all errors."""
    kept = [
        (np.zeros((2, *part.activations.shape), dtype=bool), np.zeros((2, len(part.error), 1), dtype=bool))
        for part in parts
    ]
    for features, errors in kept:
        features[1] = errors[0] = True
    found = read.measured_with(_edits(read, parts, kept, other), scalar).tolist()
    return found[0], found[1]


def _kept(
    parts: Sequence[StateParts], nodes: Sequence[FeatureNode], counts: Sequence[int]
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Which features (row, position, feature) and errors (row, position, 1) stay, by number of nodes."""
    found = []
    for part in parts:
        keep = np.zeros((len(counts), *part.activations.shape), dtype=bool)
        errors = np.zeros((len(counts), len(part.error), 1), dtype=bool)
        for rank, node in enumerate(nodes):
            if node.tap == part.dictionary.target and node.kind != "word":
                rows = [row for row, count in enumerate(counts) if rank < count]
                if node.kind == "feature":
                    keep[rows, node.position, node.feature] = True
                else:
                    errors[rows, node.position] = True
        found.append((keep, errors))
    return found


def _edits(
    read: CachedPass,
    parts: Sequence[StateParts],
    kept: Sequence[tuple[np.ndarray, np.ndarray]],
    other: Sequence[StateParts] | None,
) -> Mapping[str, Edit]:
    """One row for each of what is kept; the first state of a text stays."""
    edits: dict[str, Edit] = {}
    readers: list[tuple[str, dict[str, torch.Tensor]]] = []
    for number, (part, (keep, errors)) in enumerate(zip(parts, kept, strict=True)):
        dictionary = part.dictionary
        target = dictionary.target
        device = read.values[target].device
        keep[:, : part.first] = errors[:, : part.first] = True
        given = None if other is None else other[number]
        activations = np.zeros_like(part.activations) if given is None else given.activations
        left = np.zeros_like(part.error) if given is None else given.error
        noted: dict[str, torch.Tensor] | None = None
        if dictionary.is_transcoder:
            noted = {}
            readers.append((dictionary.tap, noted))
        edits[target] = KeepingEdit(
            torch.tensor(keep, device=device),
            torch.tensor(activations[None], dtype=torch.float32, device=device),
            dictionary.coding(device),
            torch.tensor(left[None], dtype=torch.float32, device=device),
            torch.tensor(errors, device=device),
            noted,
        )
    for address, noted in readers:
        states = read.values[address]
        shape = (len(kept[0][0]), *states.shape[1:])
        edits[address] = NotingEdit(
            torch.zeros(shape, dtype=torch.bool, device=states.device), states, noted, edits.get(address)
        )
    return edits
