"""What a dictionary of features computes, as operations of taps: each cell is explained by its operands."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from lmviz.features.coding import BY_THRESHOLD, switched_on
from lmviz.models.arithmetic import Arithmetic, Factor, Terms, constant
from lmviz.models.growth import ROWS
from lmviz.models.operations.factors import (
    constants,
    explained,
    gradient_cell,
    gradient_line,
    value_cell,
    value_cells,
    value_line,
    weight_cell,
    weight_column,
    weight_row,
)
from lmviz.models.tap import GradientReader, Operation, Reader, Scope, Value, Weight


@dataclass(frozen=True, eq=False)
class SwitchedOn(Operation):
    """Activations (position, feature) of the scores at `address`: those that are on by the `kind`."""

    address: str
    kind: str
    k: int | None = None
    threshold: Weight | None = None

    growth = ROWS

    @property
    def operands(self) -> tuple[Value, ...]:
        return (Value(self.address),)

    def compute(self, scope: Scope) -> torch.Tensor:
        """The shape of the scores."""
        threshold = None if self.threshold is None else scope.weight(self.threshold)
        return switched_on(self.kind, scope.read(Value(self.address)), self.k, threshold)

    def on(self, reader: Reader, position: int) -> np.ndarray:
        """The numbers of the features that are on at a position, by their scores."""
        scores = torch.from_numpy(np.array(reader.array(self.address)[position], dtype=np.float32))
        threshold = None if self.threshold is None else torch.from_numpy(reader.weight(self.threshold))
        return np.flatnonzero(switched_on(self.kind, scores, self.k, threshold).numpy())

    def explain(self, reader: Reader, address: str, index: tuple[int, ...]) -> Arithmetic:
        """The score × 1 where the feature is on, and × 0 where it is not; and why."""
        position, feature = index
        is_on = feature in self.on(reader, position)
        score = value_cell(reader, Value(self.address), index)
        terms = (Terms("score", (score, constant(float(is_on)))),)
        return explained(reader, address, index, self._why(is_on), terms, function="relu")

    def _why(self, is_on: bool) -> str:
        if self.kind == "topk":
            return f"{'among' if is_on else 'not among'} the {self.k} largest scores above 0"
        border = "its threshold" if self.kind in BY_THRESHOLD else "0"
        return f"{'above' if is_on else 'not above'} {border}"

    def passed_back(
        self, reader: GradientReader, address: str, source: str, index: tuple[int, ...]
    ) -> tuple[Terms, ...]:
        """The gradient of what is on; nothing of what is not."""
        if source != self.address or index[1] not in self.on(reader, index[0]):
            return ()
        return (Terms("score", (gradient_cell(reader, address, index),)),)


@dataclass(frozen=True, eq=False)
class LeftByFeatures(Operation):
    """What features do not explain (position, channel): the state less what they write.

    It follows from the scores: where activations are changed afterwards, it stays as it is. `directions` are
    (channel, feature). `skip` (channel, channel) of the states at `read` is subtracted as well, if there is
    one.
    """

    states: str
    activations: SwitchedOn
    directions: Weight
    bias: Weight
    read: str = ""
    skip: Weight | None = None

    growth = ROWS

    @property
    def operands(self) -> tuple[Value, ...]:
        further = () if self.skip is None else (Value(self.read),)
        return (Value(self.states), Value(self.activations.address), *further)

    def compute(self, scope: Scope) -> torch.Tensor:
        """The shape of the states."""
        on = self.activations.compute(scope)
        written = on @ scope.weight(self.directions).T + scope.weight(self.bias)
        if self.skip is not None:
            written = written + scope.read(Value(self.read)) @ scope.weight(self.skip).T
        return scope.read(Value(self.states)) - written

    def explain(self, reader: Reader, address: str, index: tuple[int, ...]) -> Arithmetic:
        """The state, less each feature that is on times its weight, and less the bias."""
        position, channel = index
        row = weight_row(reader, self.directions, channel)
        on = self.activations.on(reader, position)
        cells = np.column_stack([np.full_like(on, position), on])
        weights = Factor(row.source, row.indices[on], row.values[on])
        groups = [
            Terms("state", (value_cell(reader, Value(self.states), index),)),
            Terms("bias", (weight_cell(reader, self.bias, channel), constant(-1.0))),
        ]
        if len(on):
            scores = value_cells(reader, self.activations.address, cells)
            groups.insert(1, Terms("features", (scores, weights, _less(len(on)))))
        if self.skip is not None:
            skipped = value_line(reader, self.read, (position, 0), axis=1)
            less = _less(len(skipped.values))
            groups.append(Terms("skip", (skipped, weight_row(reader, self.skip, channel), less)))
        return explained(reader, address, index, "what features leave", tuple(groups))

    def passed_back(
        self, reader: GradientReader, address: str, source: str, index: tuple[int, ...]
    ) -> tuple[Terms, ...] | None:
        """The gradient by the state as it is, and by a score or a skipped state × its weight, less."""
        found: list[Terms] = []
        if source == self.states:
            found.append(Terms("state", (gradient_cell(reader, address, index),)))
        if source == self.activations.address and index[1] in self.activations.on(reader, index[0]):
            found.append(self._through(reader, address, self.directions, "features", index))
        if source == self.read and self.skip is not None:
            found.append(self._through(reader, address, self.skip, "skip", index))
        is_parameter = source in (self.directions.name, self.bias.name, self.skip and self.skip.name)
        return None if is_parameter else tuple(found)

    def _through(
        self, reader: GradientReader, address: str, weight: Weight, label: str, index: tuple[int, ...]
    ) -> Terms:
        gradients = gradient_line(reader, address, (index[0], 0), axis=1)
        return Terms(
            label, (gradients, weight_column(reader, weight, index[1]), _less(len(gradients.values)))
        )


def _less(terms: int) -> Factor:
    """−1, for each of so many terms."""
    return constants(np.full(terms, -1.0))
