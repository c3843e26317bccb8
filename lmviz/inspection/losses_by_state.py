"""The gradient of every loss of a text with respect to every earlier state, as sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from lmviz.inspection.backpropagation import (
    DifferentiablePass,
    check_differentiable,
    differentiating,
    unchanged,
)
from lmviz.inspection.intervention import Intervention
from lmviz.inspection.recording import prepared
from lmviz.inspection.scalar import leaves_float32, targets_of
from lmviz.models.model import Model

ROWS = 16
"""How many losses are swept back at once, each in a row of the batch."""

DEEPEST = 12
"""At most so many powers of ten below a row's largest norm are told apart."""


@dataclass(frozen=True, eq=False)
class LossesByState:
    """‖∂ℓ_t/∂h_k‖ in `norms` (loss, position): a row for each token that the text gives as a target.

    `targets` (loss,) are the positions of those tokens, and `values` (loss,) their losses in nats. A row
    ends at the position before its token, from which that is predicted.
    """

    address: str
    targets: np.ndarray
    values: np.ndarray
    norms: np.ndarray

    @property
    def depth(self) -> int:
        """By how many powers of ten the smallest norm lies below its row's largest, from 1 to 12."""
        shares = self._shares[self._shares > 0]
        smallest = float(shares.min()) if len(shares) else 1.0
        return int(np.clip(np.ceil(-np.log10(smallest)), 1, DEEPEST))

    @property
    def decades(self) -> np.ndarray:
        """How many powers of ten each norm lies above 10^−depth of its row's largest, (loss, position).

        0 for those below it, NaN after the row's end.
        """
        raised = np.log10(np.maximum(self._shares, 10.0**-self.depth)) + self.depth
        return np.where(self.within(self.norms.shape[1]), raised, np.nan)

    @property
    def _shares(self) -> np.ndarray:
        """Each norm beside its row's largest."""
        norms = self.norms.astype(np.float64)
        largest = norms.max(axis=1, keepdims=True)
        return norms / np.where(largest > 0, largest, 1)

    def within(self, truncation: int) -> np.ndarray:
        """Whether a state is one of the last so many that a loss reads, (loss, position).

        Truncated backpropagation through time leaves out the others: a band remains of the triangle.
        """
        ends = self.targets[:, None] - 1
        places = np.arange(self.norms.shape[1])[None]
        return (places <= ends) & (places > ends - truncation)


def losses_by_state(
    model: Model,
    text_or_ids: str | Sequence[int] | np.ndarray,
    address: str,
    *,
    interventions: Sequence[Intervention] = (),
    **further: str | Sequence[int] | np.ndarray,
) -> LossesByState:
    """The size of the gradient of each loss at each position of a tap (position, …).

    One sweep forward and one back serve 16 losses, as no row of a batch depends on another. LmvizError as
    `gradient` raises it.
    """
    model, interventions = unchanged(model, interventions)
    check_differentiable(model)
    reading = prepared(model, text_or_ids, interventions, further)
    targets = targets_of(model, reading.ids)
    norms, values = [], []
    for first in range(0, len(targets), ROWS):
        some = torch.tensor(targets[first : first + ROWS])
        with differentiating():
            swept = DifferentiablePass(model, reading, rows=len(some))
            cells = torch.arange(len(some)), some - 1, torch.from_numpy(reading.ids)[some]
            probabilities = swept.values["probabilities"][cells]  # (row,)
            if leaves_float32(probabilities, reading.interventions):
                losses = cross_entropy(
                    swept.values["logits"][cells[:2]], cells[2].to(probabilities.device), reduction="none"
                )
            else:
                losses = -probabilities.log()
            found = swept.back_to(losses.sum(), address)
        norms.append(found.flatten(2).norm(dim=2).cpu().numpy())
        values.append(losses.detach().cpu().numpy())
    return LossesByState(address, np.array(targets), np.concatenate(values), np.concatenate(norms))
