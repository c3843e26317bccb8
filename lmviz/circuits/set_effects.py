"""What each part of a model does to a measure, text by text: ablation or patching over a set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.circuits.ablation import AblatedRow, AblationPlan
from lmviz.circuits.by_row import band
from lmviz.circuits.contrast import Contrast
from lmviz.circuits.patching import patch_each
from lmviz.circuits.places import carried
from lmviz.inspection.intervention import Intervention
from lmviz.models.model import Model

WAYS = ("mean", "zero", "lower", "patch")
"""A part is set to its mean or to zero, an order to the one below; or it is carried into the changed text."""


@dataclass(frozen=True, eq=False)
class SetEffects:
    """The effect of each part in each text so far: `rows` (row, layer, part), or (row, layer) without parts.

    `numbers` are the rows of the set that these are. `addresses` are the taps of the layers, and `each` is
    what the parts are, ("head",) or ("unit",). `by` says what was done: see `WAYS`; of "patch" the effects
    are shares of the measure that come back.
    """

    rows: np.ndarray
    numbers: tuple[int, ...]
    addresses: tuple[str, ...]
    by: str
    each: tuple[str, ...]

    @cached_property
    def mean(self) -> np.ndarray:
        """(layer, part) The mean over the rows."""
        return np.asarray(self.rows.mean(axis=0))

    @cached_property
    def agreeing(self) -> np.ndarray:
        """(layer, part) The number of rows whose effect has the sign of the mean."""
        return np.asarray((np.sign(self.rows) == np.sign(self.mean)).sum(axis=0))

    def of(self, cell: tuple[int, ...]) -> np.ndarray:
        """(row,) The effect of one part in each row."""
        return np.asarray(
            self.rows.reshape(len(self.rows), -1)[:, np.ravel_multi_index(cell, self.mean.shape)]
        )

    def band_of(self, cell: tuple[int, ...]) -> tuple[float, float] | None:
        """Between what the mean of one part lies in 95 of 100 samples of rows drawn anew."""
        low, high = band(self.of(cell)[:, None])
        return None if low is None or high is None else (float(low[0]), float(high[0]))

    @cached_property
    def strongest(self) -> tuple[tuple[int, ...], ...]:
        """The cells, the one with the largest mean effect first."""
        order = np.argsort(-np.abs(self.mean), axis=None, kind="stable")
        return tuple(tuple(int(at) for at in np.unravel_index(cell, self.mean.shape)) for cell in order)


@dataclass(frozen=True, eq=False)
class EffectsPlan:
    """What is to be done in which texts; `rows` does it in some of them."""

    model: Model
    contrasts: Sequence[Contrast]
    by: str
    addresses: tuple[str, ...]
    ablation: AblationPlan | None
    interventions: tuple[Intervention, ...] = ()

    @classmethod
    def of(
        cls,
        model: Model,
        contrasts: Sequence[Contrast],
        by: str = "",
        interventions: Sequence[Intervention] = (),
    ) -> EffectsPlan:
        """A plan for heads, or for the units of a network without heads, or for the orders of an n-gram.

        LmvizError where there is nothing of that kind.
        """
        if by == "patch":
            kinds = carried(model)
            kind = next((kind for kind in ("head", "hidden", "order") if kind in kinds), next(iter(kinds)))
            if not all(one.is_pair for one in contrasts):
                raise LmvizError(
                    "Only pairs of texts can be patched: give each row a changed text, or set parts to their "
                    "mean."
                )
            return cls(model, contrasts, by, kinds[kind], None, tuple(interventions))
        kinds = carried(model)
        each = ("unit",) if "head" not in kinds and "hidden" in kinds else None
        plan = AblationPlan.of(model, contrasts, by=by, each=each, interventions=interventions)
        return cls(
            model,
            contrasts,
            plan.by,
            tuple(tap.address for tap in plan.chosen),
            plan,
            tuple(interventions),
        )

    @property
    def each(self) -> tuple[str, ...]:
        """What the parts are: heads, or units."""
        axes = next(tap.axes for tap in self.model.taps() if tap.address == self.addresses[0])
        return tuple(axis for axis in ("head", "unit") if axis in axes)

    def rows(self, numbers: Sequence[int]) -> list[np.ndarray]:
        """The effect of each part in some texts, which are read in batches."""
        if self.ablation is not None:
            found: dict[int, AblatedRow] = {}
            for batch in self.ablation.batches(numbers):
                found |= self.ablation.rows(batch)
            return [found[number].changes for number in numbers]
        grids = patch_each(
            self.model,
            [self.contrasts[number] for number in numbers],
            self.addresses,
            each=self.each,
            interventions=self.interventions,
        )
        return [grid.array for grid in grids]

    def effects(self, rows: Sequence[np.ndarray], numbers: Sequence[int]) -> SetEffects:
        """What some rows come to; `numbers` are those of the set."""
        return SetEffects(np.stack(rows), tuple(numbers), self.addresses, self.by, self.each)
